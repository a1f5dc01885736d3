"""choi-palmer: the hybrid of list-based and arc-eager parsing of Choi & Palmer 2011.

Covington's algorithm, with one move from arc-eager: LEFT-POP attaches a word to the right and drops it, so that no
later word looks at it again. Words left without a head are attached to 0; the paper looks for their best head by the
classifier's scores instead. The paper ("Getting the most out of transition-based dependency parsing") was not at hand:
rules and oracle follow the parser of its first author (ClearParser, class ShiftPopParser).
"""

from __future__ import annotations

from array import array
from typing import ClassVar

from tanglewood.core.oracle import Oracle, ReachOracle, leftmost_dependents
from tanglewood.core.short import ends_of
from tanglewood.core.state import State
from tanglewood.core.system import Move, TransitionSystem, arc_move
from tanglewood.systems.covington import Covington, DynamicOracle

SHIFT, LEFT_ARC, RIGHT_ARC, NO_ARC, LEFT_POP = range(5)


class StaticOracle(Oracle):
    """Link what is linked in the gold tree, and drop a word once nothing further right depends on it."""

    def _prepare(self) -> None:
        self.leftmost = leftmost_dependents(self.heads)
        self.rightmost = array("i", range(self.n + 1))
        for word in range(1, self.n + 1):
            self.rightmost[self.heads[word]] = max(self.rightmost[self.heads[word]], word)

    def _move(self, s: State) -> int:
        if s.depth == 0:
            return SHIFT
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        if self.heads[i] == j:
            return LEFT_POP if self.rightmost[i] < j else LEFT_ARC
        if self.heads[j] == i:
            return RIGHT_ARC
        return NO_ARC if self.heads[j] < i or self.leftmost[j] < i else SHIFT


class PopOracle(DynamicOracle):
    """Exact costs from any state: those of covington's dynamic oracle, with the arcs of dropped words out of reach.

    The argument of Gómez-Rodríguez & Fernández-González 2015 holds here too, since no continuation needs LEFT-POP: of
    the gold arcs within reach, all can be made but for one in every cycle that they would close.
    """

    def __init__(self, system: ChoiPalmer) -> None:
        ReachOracle.__init__(self, system)

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether the two nodes will still meet as the pair (i, j)."""
        front = s.n + 1 - s.n_buffer
        low = min(head, dependent)
        high = max(head, dependent)
        if s.marks[low]:
            return False
        return high > front or (high == front and low <= s._top())


class ChoiPalmer(TransitionSystem):
    """SHIFT, LEFT-ARC, RIGHT-ARC, NO-ARC and LEFT-POP between the top of the left list and the buffer's front.

    The stack is the left list λ1; the skipped nodes λ2 are kept aside, the leftmost last. ``marks`` has 1 for the words
    that LEFT-POP dropped.
    """

    name = "choi-palmer"
    covers = "all trees"
    paper = "Choi & Palmer 2011"
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "dynamic": PopOracle}
    trained_by = "dynamic"
    aside_name = "Skipped"
    nodes = Covington.nodes
    slots = Covington.slots
    label_slots = Covington.label_slots
    distance = Covington.distance
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT"),
        arc_move("LEFT-ARC"),
        arc_move("RIGHT-ARC"),
        Move("NO-ARC"),
        arc_move("LEFT-POP"),
    )

    def _start(self, s: State) -> None:
        self._fill(s, 0, 1)
        s._part()

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions: one head a word and no cycle; with single_root at most one arc from 0."""
        if s.n_buffer == 0:
            return False
        if move == SHIFT:
            return True
        if s.depth == 0:
            return False
        if move == NO_ARC:
            return True
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        if move == RIGHT_ARC:
            if s.heads[j] >= 0 or (i == 0 and self.single_root and s.n_deps[0] > 0):
                return False
        elif i == 0 or s.heads[i] >= 0:
            return False
        return s._root_of(i) != s._root_of(j)

    def _head(self, s: State, move: int, label: int) -> int:
        if move in (LEFT_ARC, LEFT_POP):
            return s._front()
        return s._top() if move == RIGHT_ARC else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        if move in (LEFT_ARC, LEFT_POP):
            return s._top()
        return s._front() if move == RIGHT_ARC else -1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects.

        SHIFT: (λ1, λ2, [j|β]) => ([λ1 λ2|j], [], β). LEFT-POP: ([λ1|i], λ2, [j|β]) => (λ1, λ2, [j|β]), arc j -> i.
        All others: ([λ1|i], λ2, [j|β]) => (λ1, [i|λ2], [j|β]).
        """
        if move == SHIFT:
            while s.aside_depth > 0:
                s.aside_depth -= 1
                s.stack[s.depth] = s.aside[s.aside_depth]
                s.depth += 1
            s._shift()
            return
        i = s.stack[s.depth - 1]
        s.depth -= 1
        if move != NO_ARC:
            s.component[s._root_of(i)] = s._root_of(s.buffer[s.n_buffer - 1])
        if move == LEFT_POP:
            s.marks[i] = 1
            return
        s.aside[s.aside_depth] = i
        s.aside_depth += 1

    def _finish(self, s: State) -> None:
        self._hang_left_over(s)

    def aside(self, s: State, short: bool = False) -> list[tuple[int, int]]:
        """Return the skipped nodes in the order of the sentence."""
        nodes = s.aside[: s.aside_depth][::-1]
        return [(node, -1) for node in (ends_of(nodes) if short else nodes)]

    def max_steps(self, n: int) -> int:
        """Return the number of pairs and shifts."""
        return n * (n + 1) // 2 + n
