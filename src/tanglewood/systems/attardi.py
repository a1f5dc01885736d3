"""attardi and its variants: the family of Attardi 2006, Cohen et al. 2011 and Shi & Lee 2018.

A system is SHIFT and an inventory of reduces h>m: the arc h -> m is made and m leaves the stack. Places are s0, s1,
s2, ... (the stack from its top) and b0 (the buffer's front, as a head only). Start ([], [0, 1..n]), end ([0], []).
Every derivation has n + 1 times SHIFT and n reduces; the stack is always in the order of the sentence.
"""

from __future__ import annotations

import re
from array import array
from typing import ClassVar

from tanglewood.core.oracle import GreedyOracle
from tanglewood.core.state import State
from tanglewood.core.system import Move, Option, TransitionSystem, arc_move, options_of
from tanglewood.decoders.exact import ExactDecoder
from tanglewood.decoders.exact_moves import ExactMoves
from tanglewood.errors import ConfigError, UndecidedError
from tanglewood.systems.attardi_oracle import DynamicOracle

SHIFT = 0
B0 = -1
DEGREE = options_of(
    Option("degree", int, 2, "highest distance on the stack between head and modifier", least=1, most=9, metavar="D")
)
REDUCES = Option("reduces", str, None, "an inventory of one's own, such as s0>s1,s1>s0,b0>s1", metavar="LIST")
Reduce = tuple[int, int]  # (place of the head, place of the modifier); s0, s1, ... are 0, 1, ..., b0 is B0
SEARCH_LIMIT = 50_000  # states the search for a derivation may visit


def attardi_reduces(degree: int) -> set[Reduce]:
    """Attardi 2006: s0>s1 s1>s0, then s0>s2 s2>s0, ... up to s0>sD sD>s0."""
    return {pair for place in range(1, degree + 1) for pair in ((0, place), (place, 0))}


def alldeg1_reduces(degree: int) -> set[Reduce]:
    """ALLDEG1: Attardi's and all reduces between neighbours: s1>s2 s2>s1 ... and b0>s0."""
    neighbours = {pair for place in range(degree) for pair in ((place, place + 1), (place + 1, place))}
    return attardi_reduces(degree) | neighbours | {(B0, 0)}


def all_reduces(degree: int) -> set[Reduce]:
    """ALL: every reduce among s0..sD and b0."""
    places = range(degree + 1)
    return {(head, modifier) for head in (B0, *places) for modifier in places if head != modifier}


def alls0s1_reduces(degree: int) -> set[Reduce]:
    """ALLs0s1: those of ALL that do not reduce sD (s0 and s1 for degree 2)."""
    return {(head, modifier) for head, modifier in all_reduces(degree) if modifier < degree}


def parse_reduces(text: str) -> set[Reduce]:
    """Read an inventory such as ``s0>s1,s1>s0,b0>s1``."""
    reduces = set()
    for item in text.replace(",", " ").split():
        match = re.fullmatch(r"(?:s(\d)|b0)>s(\d)", item)
        if not match or match[1] == match[2]:
            raise ConfigError(f"reduce {item!r} is not of the form s0>s1 (head>modifier; s0..s9, or b0 as head)")
        reduces.add((B0 if match[1] is None else int(match[1]), int(match[2])))
    if (1, 0) not in reduces:
        raise ConfigError(f"inventory {text!r} needs s1>s0: without it no word can ever hang on the root")
    return reduces


def deletion_closure(reduces: set[Reduce]) -> set[Reduce]:
    """Add what each reduce turns into when other nodes are taken out of the stack.

    In an inventory that is its own closure, an available gold reduce is always safe: from any derivation drop the
    modifier's later reduce, and all other pairs move down into the inventory. So the greedy oracle finds a derivation
    wherever there is one.
    """
    closure = set(reduces)
    agenda = list(reduces)
    while agenda:
        head, modifier = agenda.pop()
        for gone in range(max(head, modifier)):
            pair = (head - (head > gone), modifier - (modifier > gone))
            if gone not in {head, modifier} and pair not in closure:
                closure.add(pair)
                agenda.append(pair)
    return closure


def is_deletion_closed(reduces: set[Reduce]) -> bool:
    """Whether the inventory is its own deletion closure, so that the greedy oracle is complete."""
    return deletion_closure(reduces) == reduces


def name_of(pair: Reduce) -> str:
    """Write a reduce as head>modifier."""
    head, modifier = pair
    return f"{'b0' if head == B0 else f's{head}'}>s{modifier}"


class StaticOracle(GreedyOracle):
    """Reduce as soon as an arc is gold and its modifier complete; where that is not safe, follow a searched plan."""

    def __init__(self, system: Attardi) -> None:
        GreedyOracle.__init__(self, system)
        self.planned = not system.is_closed
        if self.planned:
            closure = Attardi(reduces=",".join(map(name_of, deletion_closure(set(system.inventory)))))
            self.closure = GreedyOracle(closure)

    def _prepare(self) -> None:
        if self.planned:
            self.plan = array("i", [-1])  # also where the search gives up
            self.plan_length = 1
            self.plan = array("i", self._search() or [-1])
            self.plan_length = len(self.plan)

    def _move(self, s: State) -> int:
        if self.planned:
            return self.plan[s.steps] if s.steps < self.plan_length else -1
        return GreedyOracle._move(self, s)

    def _search(self) -> list[int]:
        """Find the moves of some derivation of the gold tree by depth-first search; an empty list if there is none.

        Stack and buffer settle what has been built, so no configuration needs to be visited twice; nor does one from
        which not even the deletion-closed inventory around this one reaches the gold tree.
        """
        self.closure.bind(self.heads)
        system = self.system
        agenda: list[tuple[State, list[int]]] = [(system.start(self.n), [])]
        seen: set[tuple[int, ...]] = set()
        while agenda:
            s, path = agenda.pop()
            if system.is_final(s):
                return path
            choices = [SHIFT] if s.n_buffer else []
            for move in range(system.n_moves - 1, 0, -1):
                head, modifier = system.arc(s, move)
                if system.is_legal(s, move) and self._is_gold(s, head, modifier):
                    choices.append(move)
            for move in choices:
                successor = s.copy()
                system.apply(successor, move)
                key = (successor.n_buffer, *successor.stack_nodes())
                if key not in seen:
                    seen.add(key)
                    if self.closure.reaches_gold_from(successor.copy()):
                        agenda.append((successor, [*path, move]))
            if len(seen) > SEARCH_LIMIT:
                raise UndecidedError(
                    f"{system.name}: no derivation found in {SEARCH_LIMIT:,} configurations; the inventory is not "
                    "deletion-closed, so that the oracle has to search, and it gave up"
                )
        return []


class LazyOracle(StaticOracle):
    """The static oracle, but a word waits until its head is on the stack, unless that would lose an arc.

    Projective trees then get the derivation of arc-standard, which is easier to learn than one in which words leave as
    soon as their head is at the buffer's front.
    """

    def __init__(self, system: Attardi) -> None:
        StaticOracle.__init__(self, system)
        self.greedy = GreedyOracle(system)
        self.waits = array("i", [0] + [head == B0 for head, _ in system.inventory])  # by move

    def _prepare(self) -> None:
        StaticOracle._prepare(self)
        self.greedy.bind(self.heads)
        self.after = State(self.n)

    def _move(self, s: State) -> int:
        first = StaticOracle._move(self, s)
        if self.planned or not self.waits[first]:
            return first
        for move in range(first + 1, self.system.n_moves):
            if not self.waits[move] and self._is_gold_move(s, move):
                return move
        self.after._copy_from(s)
        self.system._take(self.after, SHIFT, -1)
        return SHIFT if self.greedy._follow(self.after) and self.greedy._matches(self.after) else first


class Attardi(TransitionSystem):
    """SHIFT and an inventory of reduces: by default Attardi's of degree 2."""

    name = "attardi"
    covers = "trees whose arcs skip at most degree - 1 subtrees of the stack"
    paper = "Attardi 2006; Cohen et al. 2011"
    options: ClassVar[dict[str, Option]] = DEGREE | options_of(REDUCES)
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "lazy": LazyOracle, "dynamic": DynamicOracle}
    trained_by = "lazy"
    exact_searches: ClassVar[tuple[str, ...]] = ("exact",)

    def __init__(self, *, degree: int = 2, reduces: str | None = None, single_root: bool = False) -> None:
        TransitionSystem.__init__(self, single_root=single_root)
        inventory = self._inventory(degree) if reduces is None else parse_reduces(reduces)
        self.is_closed = is_deletion_closed(inventory)
        # s0 before s1 before s2: the order does not change what is covered but fixes the derivation.
        self.inventory: list[Reduce] = sorted(inventory, key=lambda pair: (pair[1], pair[0]))
        self.head_place = array("i", [B0] + [head for head, _ in self.inventory])
        self.modifier_place = array("i", [B0] + [modifier for _, modifier in self.inventory])
        self._set_moves((Move("SHIFT"), *(arc_move(name_of(pair)) for pair in self.inventory)))

    def _inventory(self, degree: int) -> set[Reduce]:
        return attardi_reduces(degree)

    @property
    def projective(self) -> bool:  # type: ignore[override]
        """Whether all reduces are those of s0 and s1."""
        return set(self.inventory) <= attardi_reduces(1)

    def _start(self, s: State) -> None:
        self._fill(s, 0, 0)

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0 and s.depth == 1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SHIFT: (σ, [b|β]). A reduce: both nodes are there and the modifier is not 0.

        With single_root an arc from 0 only as the last move: ([0, j], []).
        """
        if move == SHIFT:
            return s.n_buffer > 0
        head = self._head(s, move, label)
        if head < 0 or self._dependent(s, move, label) <= 0:
            return False
        return head > 0 or not self.single_root or (s.n_buffer == 0 and s.depth == 2)

    def _node(self, s: State, place: int) -> int:
        """Node at a place of the stack (0 = top) or at the buffer's front; -1 if there is none."""
        if place == B0:
            return s._front()
        return s.stack[s.depth - 1 - place] if place < s.depth else -1

    def _head(self, s: State, move: int, label: int) -> int:
        return -1 if move == SHIFT else self._node(s, self.head_place[move])

    def _dependent(self, s: State, move: int, label: int) -> int:
        return -1 if move == SHIFT else self._node(s, self.modifier_place[move])

    def _apply(self, s: State, move: int, label: int) -> None:
        """SHIFT: (σ, [b|β]) => ([σ|b], β). A reduce h>m: arc h -> m, m is taken out of the stack."""
        if move == SHIFT:
            s._shift()
            return
        s.depth -= 1
        for place in range(s.depth - self.modifier_place[move], s.depth):
            s.stack[place] = s.stack[place + 1]

    def max_steps(self, n: int) -> int:
        """Return 2n + 1: n + 1 times SHIFT (0 too), n reduces."""
        return 2 * n + 1

    def exact(self, *, lite: bool = False) -> ExactDecoder:
        """Return a decoder for the best tree of this system, up to degree 2.

        Its deduction rules follow from the inventory: in decoders/, chart.py has those of s0 and s1, chart_s2.py all,
        chart_lite.py those of attardi-alls0s1 that take O(n^5).
        """
        return ExactDecoder(self.inventory, single_root=self.single_root, lite=lite)

    def exact_moves(self) -> ExactMoves:
        """Return a decoder for the best derivation by scores of moves, for inventories with s1>s0, s0>s1 and b0>s0."""
        return ExactMoves(self.inventory, single_root=self.single_root)


class AttardiAllDeg1(Attardi):
    """Variant 1 of Shi & Lee 2018: all reduces between neighbours."""

    name = "attardi-alldeg1"
    covers = "those of attardi and more, by reduces between any two neighbours"
    paper = "Shi & Lee 2018, ALLDEG1"
    options = DEGREE
    exact_searches = ("exact", "exact-moves")

    def _inventory(self, degree: int) -> set[Reduce]:
        return alldeg1_reduces(degree)


class AttardiAll(Attardi):
    """Variant 2 of Shi & Lee 2018: all nine reduces."""

    name = "attardi-all"
    covers = "those of the other three and more, by all reduces of degree 2 and from the buffer"
    paper = "Shi & Lee 2018, ALL"
    options = DEGREE
    exact_searches = ("exact", "exact-moves")

    def _inventory(self, degree: int) -> set[Reduce]:
        return all_reduces(degree)


class AttardiAllS0S1(Attardi):
    """Variant 3 of Shi & Lee 2018: all reduces of s0 and s1, exact inference in O(n^6)."""

    name = "attardi-alls0s1"
    covers = "those of attardi-all that need no reduce of s2"
    paper = "Shi & Lee 2018, ALLs0s1"
    options = DEGREE
    exact_searches = ("exact", "lite", "exact-moves")

    def _inventory(self, degree: int) -> set[Reduce]:
        return alls0s1_reduces(degree)
