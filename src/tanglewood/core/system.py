"""What a transition system must say about itself, and its public face, written once for all of them."""

from __future__ import annotations

from array import array
from typing import ClassVar, NamedTuple

from tanglewood.core.kinds import TAGGED
from tanglewood.core.state import State
from tanglewood.errors import ConfigError, IllegalMove


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


class TransitionSystem:
    """Base of all systems: stateless, so that one instance serves all threads.

    A system's file gives the methods with a leading underscore; they return ints only, know no Python objects and
    compile to C. A label of -1 means "whatever it is"; only systems with ``label_matters`` look at it.
    """

    name: ClassVar[str] = ""
    covers: ClassVar[str] = ""  # the trees it can derive, in words
    paper: ClassVar[str] = ""
    options: ClassVar[dict[str, str]] = {}  # option -> what it means; the constructor's keywords besides single_root
    oracles: ClassVar[dict[str, type]] = {}  # the first is the default
    label_matters: ClassVar[bool] = False
    aside_name: ClassVar[str] = ""  # what the second list of its configurations is called, if it has one
    all_moves: ClassVar[tuple[Move, ...]] = ()

    def __init__(self, *, single_root: bool = False) -> None:
        self.single_root = single_root
        self.tag_column = ""  # the column whose tags it gives, in systems that give tags
        self._set_moves(self.all_moves)

    def _set_moves(self, moves: tuple[Move, ...]) -> None:
        """Set the moves, for systems whose options decide on them."""
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
        """Head of the arc the move would add, or -1 (also where the nodes it speaks of are missing)."""
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

    def _hang_left_over(self, s: State) -> None:
        """Hang words without a head on 0; with single_root on the root word, the first left over if there is none."""
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

    # The public face. -----------------------------------------------------------------------------------------

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

    def aside(self, s: State) -> list[tuple[int, int]]:
        """Return the second list of the configuration, if the system has one, as pairs of node and label (or -1)."""
        return [(node, -1) for node in s.aside_nodes()]

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

    def _head(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._front()
        return s._top() if move == RIGHT_ARC else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._top()
        return s._front() if move == RIGHT_ARC else -1
