"""What a transition system says about itself, and its public interface, written once for all systems.

Whatever is true of one system only is declared in that system's file, with the classes defined here: its moves,
options, oracles, phases, the nodes that its arcs join, the addresses that a learner should look at, whether it gives
tags, which exact searches it has. No other module knows a system by name.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from tanglewood.core.kinds import TAGGED
from tanglewood.core.short import ends_of
from tanglewood.core.state import State
from tanglewood.errors import ConfigError, IllegalMove

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython


class Move(NamedTuple):
    """A kind of transition: its name, whether it makes an arc, whether it carries a label, and whether that is a tag.

    Tags have numbers of their own, apart from those of other labels.
    """

    name: str
    makes_arc: bool = False
    labelled: bool = False
    tags: bool = False


def arc_move(name: str) -> Move:
    """Return a move that makes a labelled arc."""
    return Move(name, makes_arc=True, labelled=True)


EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a system: a keyword of its constructor, from which command line, page and checks follow."""

    name: str
    kind: type  # bool, int, float or str
    default: Any  # None: not given
    help: str  # what it means, the default left out
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    metavar: str = "X"  # placeholder for the value in help texts

    def check(self, value: object) -> None:
        """Raise ConfigError if the option does not take this value."""
        if type(value) is not self.kind and not (self.kind is float and type(value) is int):
            raise ConfigError(f"option {self.name} is {value!r}; it should be {EXPECTED[self.kind]}")
        if self.choices and value not in self.choices:
            raise ConfigError(f"{self.name}={value!r}: choose from {', '.join(self.choices)}")
        low = float("-inf") if self.least is None else self.least
        high = float("inf") if self.most is None else self.most
        if isinstance(value, int | float) and not low <= value <= high:
            wanted = f"{low:g} or more" if self.most is None else f"from {low:g} to {high:g}"
            raise ConfigError(f"{self.name}={value}: it should be {wanted}")


def options_of(*options: Option) -> dict[str, Option]:
    """Return options by their names."""
    return {option.name: option for option in options}


SINGLE_ROOT = Option("single_root", bool, False, "whether exactly one word may depend on the root")  # for all systems

# The nodes that the next arc may join, as feature models call them: i is the left one, j the right one, below is the
# node under i on the stack, ahead1, ahead2, ... are the words after j.
FRONT = {"i": "s0", "j": "b0", "below": "s1", "ahead1": "b1", "ahead2": "b2", "ahead3": "b3"}
STACK = {"i": "s1", "j": "s0", "below": "s2", "ahead1": "u0", "ahead2": "u1", "ahead3": "u2"}


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a derivation with moves of its own; State.phase is its number in systems that have several."""

    name: str
    nodes: Mapping[str, str]  # the nodes that its arcs join: FRONT or STACK
    right_to_left: bool = False  # whether it goes through the sentence backwards

    @property
    def joins_front(self) -> bool:
        """Whether arcs join the stack's top and the buffer's front; else the two topmost nodes of the stack."""
        return self.nodes is FRONT


RULES = (  # what the compiled core calls in C
    *("_start", "_is_final", "_is_legal", "_head", "_dependent", "_apply", "_finish"),
    *("_take", "_fill", "_is_candidate", "_hang_left_over"),
)


def refuse_python_rules(thing: object, rules: tuple[str, ...]) -> None:
    """Raise ConfigError if a Python class overrides rules, which compiled code would silently ignore."""
    if not cython.compiled:
        return
    for kind in type(thing).__mro__:
        overridden = [rule for rule in rules if rule in vars(kind)]  # C methods are not in there
        if overridden:
            raise ConfigError(
                f"{kind.__name__} overrides {', '.join(overridden)} in Python, but the compiled core calls rules in C "
                "and would not see it; put the class into a module of tanglewood/systems with a .pxd beside it "
                "(docs/api.md, How to add a system), or install interpreted: TANGLEWOOD_PURE=1 pip install ."
            )


class TransitionSystem:
    """Base of all systems: stateless, so that one instance serves all threads.

    A system's file defines the methods with a leading underscore; they return ints only, use no Python objects and
    compile to C. A label of -1 means "any label"; only systems with ``label_matters`` look at it.
    """

    name: ClassVar[str] = ""
    covers: ClassVar[str] = ""  # the trees it can derive, in words
    paper: ClassVar[str] = ""
    options: ClassVar[dict[str, Option]] = {}  # the constructor's keywords besides single_root
    oracles: ClassVar[dict[str, type]] = {}  # the first is the default
    trained_by: ClassVar[str] = ""  # the oracle to learn from, if it is not the first
    exact_searches: ClassVar[tuple[str, ...]] = ()  # searches of decoders/ for the best tree that the system derives
    projective: ClassVar[bool] = False  # whether all or nearly all trees it derives are projective
    label_matters: ClassVar[bool] = False
    puts_back: ClassVar[bool] = False  # whether the buffer's front may be a word that was on the stack before
    aside_name: ClassVar[str] = ""  # what the second list of its configurations is called, if it has one
    all_moves: ClassVar[tuple[Move, ...]] = ()
    nodes: ClassVar[Mapping[str, str]] = STACK  # the nodes that its arcs join
    # The addresses that a learner should look at: words, labels, and the pair whose distance counts, among the words.
    slots: ClassVar[tuple[str, ...]] = (
        *("s0", "s1", "s2", "b0", "b1", "b2"),
        *("s0.left1", "s0.right1", "s1.left1", "s1.right1"),
    )
    label_slots: ClassVar[tuple[str, ...]] = (
        *("s0", "s1", "b0", "s0.left1", "s0.right1", "s1.left1", "s1.right1", "b0.left1"),
        *("s0.left2", "s0.right2", "s1.left2", "s1.right2"),
    )
    distance: ClassVar[tuple[str, str]] = ("s1", "s0")

    def __init__(self, *, single_root: bool = False) -> None:
        refuse_python_rules(self, RULES)
        self.single_root = single_root
        self.phases: tuple[Phase, ...] = (Phase(self.name, self.nodes),)
        # In systems that give tags: the column they are for, how many candidates a word has, and how far behind the
        # best they may be, in log-probability.
        self.tag_column = ""
        self.best_tags = 0
        self.tag_threshold = 0.0
        self._set_moves(self.all_moves)

    def _set_moves(self, moves: tuple[Move, ...]) -> None:
        """Set the moves, for systems whose options decide what they are."""
        self.moves = moves
        self.n_moves = len(moves)
        self.labelled = array("i", [TAGGED if move.tags else move.labelled for move in moves])

    # The rules: what a system's file must define. -------------------------------------------------------------

    def _start(self, s: State) -> None:
        """Fill stack and buffer of a cleared state; most systems begin with ([0], [1..n])."""
        self._fill(s, 0, 1)

    def _is_final(self, s: State) -> bool:
        return True

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        return False

    def _head(self, s: State, move: int, label: int) -> int:
        """Head of the arc the move would add, or -1 (also where the nodes it refers to are missing)."""
        return -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        """Dependent of the arc the move would add, or -1."""
        return -1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Change stack and buffer; the arc is attached already."""

    def _finish(self, s: State) -> None:
        """Do what the paper does after the last transition; nothing in most systems."""

    def max_steps(self, n: int) -> int:
        """Return an upper bound on the number of moves for n words."""
        raise NotImplementedError

    def exact_moves(self) -> Any:  # noqa: ANN401 - a decoder, which this room does not know
        """Return the decoder of the best derivation by scores of moves (decoders/exact_moves.py), if there is one."""
        raise ConfigError(
            f"there is no exact search over the moves of {self.name}; `tanglewood info --json` says which systems have "
            "one: their exact_searches name exact-moves"
        )

    # Pieces that rules share. ---------------------------------------------------------------------------------

    def _take(self, s: State, move: int, label: int) -> None:
        """Attach the move's arc, if it makes one, and apply it; the only way a state changes."""
        head = self._head(s, move, label)
        if head >= 0:
            s._attach(head, self._dependent(s, move, label), label)
        self._apply(s, move, label)
        s.steps += 1

    def _fill(self, s: State, first_stacked: int, first_buffered: int) -> None:
        """Put nodes first_stacked..first_buffered-1 on the stack and the rest into the buffer."""
        s.depth = first_buffered - first_stacked
        for i in range(s.depth):
            s.stack[i] = first_stacked + i
        s.n_buffer = s.n + 1 - first_buffered
        for i in range(s.n_buffer):
            s.buffer[i] = s.n - i

    def _is_candidate(self, s: State, word: int, tag: int) -> bool:
        """Whether a word may be given a tag: one of its candidates or, where it has none, any."""
        row = word * s.candidate_width
        if tag < 0 or s.candidate_width == 0 or s.tag_candidates[row] < 0:
            return True
        for i in range(row, row + s.candidate_width - 1):
            if s.tag_candidates[i] == tag:
                return True
        return False

    def _hang_left_over(self, s: State) -> None:
        """Attach words without a head to 0; with single_root to the root word, the first of them if there is none."""
        root = 0
        if self.single_root:
            for word in range(s.n, 0, -1):
                if s.heads[word] == 0 or (s.heads[word] < 0 and s.n_deps[0] == 0):
                    root = word
        for word in range(1, s.n + 1):
            if s.heads[word] < 0:
                if root in (0, word):
                    s._attach(0, word, -1)
                else:
                    s._attach(root, word, -1)
                    s.repaired += 1

    # The public interface. ------------------------------------------------------------------------------------

    def start(self, n: int) -> State:
        """Return the initial configuration for a sentence of n words."""
        s = State(n)
        self._start(s)
        return s

    def is_final(self, s: State) -> bool:
        """Whether the parse is over."""
        return bool(self._is_final(s))

    def is_legal(self, s: State, move: int, label: int = -1) -> bool:
        """Whether the move may be taken in this state; never in a final one."""
        return 0 <= move < self.n_moves and not self._is_final(s) and bool(self._is_legal(s, move, label))

    def legal_moves(self, s: State, label: int = -1) -> list[int]:
        """Return the numbers of all moves that may be taken in this state."""
        return [move for move in range(self.n_moves) if self.is_legal(s, move, label)]

    def arc(self, s: State, move: int, label: int = -1) -> tuple[int, int]:
        """Return (head, dependent) of the arc the move would add, or (-1, -1)."""
        return (self._head(s, move, label), self._dependent(s, move, label))

    def apply(self, s: State, move: int, label: int = -1) -> None:
        """Take a legal move and, if the parse is then over, the system's final step."""
        if not self.is_legal(s, move, label):
            known = ", ".join(self.moves[m].name for m in self.legal_moves(s, label)) or "none: the parse is over"
            name = self.moves[move].name if 0 <= move < self.n_moves else str(move)
            raise IllegalMove(
                f"{self.name}: {name} is not legal with stack {s.stack_nodes()} and buffer {s.buffer_nodes()}; "
                f"legal moves: {known}"
            )
        self._take(s, move, label)
        if self._is_final(s):
            self._finish(s)

    def aside(self, s: State, short: bool = False) -> list[tuple[int, int]]:
        """Return the second list of the configuration, if the system has one, as pairs of node and label (or -1).

        If ``short``, a long list has GAP for all but its ends (see core/short.py).
        """
        nodes = s.aside[: s.aside_depth]
        return [(node, -1) for node in (ends_of(nodes) if short else nodes)]

    def swaps(self, s: State) -> int:
        """Return how many words a finished derivation has put back."""
        return 0

    def training_oracle(self) -> str:
        """Return the name of the oracle to learn from."""
        return self.trained_by or next(iter(self.oracles))

    def exact(self, *, lite: bool = False) -> Any:  # noqa: ANN401 - a Decoder; decoders build on this module
        """Return a decoder for the best tree that the system derives."""
        raise ConfigError(f"there is no exact search for {self.name}")

    def oracle(self, name: str | None = None):  # type: ignore[no-untyped-def]  # noqa: ANN201 - oracle.py builds on this module
        """Return an unbound oracle of this system, by default the first it lists."""
        if name is None:
            name = next(iter(self.oracles))
        if name not in self.oracles:
            raise ConfigError(f"{self.name} has no oracle {name!r}; it has {', '.join(self.oracles)}")
        return self.oracles[name](self)


LEFT_ARC, RIGHT_ARC = 1, 2


class FrontArcSystem(TransitionSystem):
    """A system whose arcs join the stack's top i and the buffer's front j: move 1 is LEFT-ARC, move 2 RIGHT-ARC."""

    nodes = FRONT

    def _head(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._front()
        return s._top() if move == RIGHT_ARC else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._top()
        return s._front() if move == RIGHT_ARC else -1
