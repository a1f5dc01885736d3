"""planar and two-planar (Gómez-Rodríguez & Nivre 2010; MaltParser's planar and 2planar).

Arcs between words only: arcs from 0 are not drawn, words left without a head are attached to 0. Start ([], [1..n]),
end: empty buffer. Arcs remove nothing. Two-planar has a stack for each of two planes; SWITCH changes the active one.
"""

from __future__ import annotations

from array import array
from typing import ClassVar

from tanglewood.core.oracle import Oracle, ReachOracle
from tanglewood.core.state import State
from tanglewood.core.system import FrontArcSystem, Move, TransitionSystem, arc_move
from tanglewood.treebank.measures import two_planes, zeros

SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE, SWITCH = range(5)


class StaticOracle(Oracle):
    """Make the arcs of the active plane, REDUCE to get at more, SWITCH if the other plane has some, else SHIFT."""

    def _prepare(self) -> None:
        self.plane = two_planes(self.heads) if self.system.n_moves > SWITCH else zeros(self.n + 1)
        self.drawable = len(self.plane) > 0
        if not self.drawable:
            return
        nodes = array("i", [*range(self.n + 1), *range(self.n + 1)])
        # By plane: the leftmost dependent of each word, or the word itself.
        self.leftmost = memoryview(nodes).cast("B").cast("i", (2, self.n + 1))
        for word in range(1, self.n + 1):
            plane, head = self.plane[word], self.heads[word]
            self.leftmost[plane, head] = min(self.leftmost[plane, head], word)

    def _move(self, s: State) -> int:
        if not self.drawable:
            return -1
        active = s.count
        j = s.buffer[s.n_buffer - 1]
        if s.depth > 0:
            i = s.stack[s.depth - 1]
            if self.heads[i] == j and s.heads[i] < 0 and self.plane[i] == active:
                return LEFT_ARC
            if self.heads[j] == i and s.heads[j] < 0 and self.plane[j] == active:
                return RIGHT_ARC
            if self._waits(s, active, i):
                return REDUCE
        if self.system.n_moves > SWITCH and self._waits(s, 1 - active, j):
            return SWITCH
        return SHIFT

    def _waits(self, s: State, plane: int, below: int) -> bool:
        """Whether the buffer's front still lacks an arc of this plane with a node left of ``below``.

        Arcs to the left are made from near to far, so that looking at the farthest dependent is enough.
        """
        j = s.buffer[s.n_buffer - 1]
        if 0 < self.heads[j] < below and s.heads[j] < 0 and self.plane[j] == plane:
            return True
        farthest = self.leftmost[plane, j]
        return farthest < below and s.heads[farthest] < 0


class DynamicOracle(ReachOracle):
    """Approximate costs from any state (after Fernández-González & Gómez-Rodríguez 2018).

    As in covington, the loss of a state is taken to be the number of gold arcs that are out of reach, each looked at on
    its own, plus the number of cycles that the others would close with the arcs already built. Two arcs that are within
    reach may still rule each other out, by crossing where no second plane is left, so that this may be too small. A
    word left over counts as attached to 0, as it is before single_root repairs the tree.
    """

    def __init__(self, system: TransitionSystem) -> None:
        ReachOracle.__init__(self, system)
        self.static = StaticOracle(system)

    def _prepare(self) -> None:
        ReachOracle._prepare(self)
        self.static.bind(self.heads)
        self.stacked = zeros(self.n + 1)

    def _move(self, s: State) -> int:
        """Return the static oracle's move if it costs nothing, or else the first that does not."""
        best = self.static._move(s)
        self._costs(s, self.move_costs)
        if best >= 0 and self.move_costs[best] == 0:
            return best
        for move in range(self.system.n_moves):
            if self.move_costs[move] == 0:
                return move
        return -1

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether two words will still meet: both in the buffer, or one of them on a stack.

        If SWITCH has just led to an empty stack, only SHIFT is left, and the front word meets nothing.
        """
        front = s.n + 1 - s.n_buffer
        low = min(head, dependent)
        high = max(head, dependent)
        if low == 0 or high < front or (high == front and s.phase == 1 and s.depth == 0):
            return False
        return low >= front or self.stacked[low] == 1

    def _loss(self, s: State) -> int:
        for word in range(1, s.n + 1):
            self.stacked[word] = 0
        for place in range(s.depth):
            self.stacked[s.stack[place]] = 1
        for place in range(s.aside_depth):
            self.stacked[s.aside[place]] = 1
        return ReachOracle._loss(self, s)


class Planar(FrontArcSystem):
    """SHIFT, LEFT-ARC and RIGHT-ARC between the stack's top and the buffer's front, REDUCE."""

    name = "planar"
    covers = "trees without crossing arcs between words"
    projective = True
    paper = "Gómez-Rodríguez & Nivre 2010"
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "dynamic": DynamicOracle}
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT"),
        arc_move("LEFT-ARC"),
        arc_move("RIGHT-ARC"),
        Move("REDUCE"),
    )

    def _start(self, s: State) -> None:
        self._fill(s, 1, 1)
        s._part()

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions.

        SHIFT: (σ, [j|β]). REDUCE: ([σ|i], β). LEFT-ARC: ([σ|i], [j|β]), i has no head. RIGHT-ARC: the same, j has no
        head. No arc may close a cycle.
        """
        if s.n_buffer == 0:
            return False
        if move == SHIFT:
            return True
        if s.depth == 0:
            return False
        if move == REDUCE:
            return True
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        dependent = i if move == LEFT_ARC else j
        return s.heads[dependent] < 0 and s._root_of(i) != s._root_of(j)

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects.

        SHIFT: (σ, [j|β]) => ([σ|j], β). REDUCE: ([σ|i], β) => (σ, β). Arcs leave both lists as they are.
        """
        if move == SHIFT:
            s._shift()
        elif move == REDUCE:
            s.depth -= 1
        else:
            s.component[s._root_of(s.stack[s.depth - 1])] = s._root_of(s.buffer[s.n_buffer - 1])

    def _finish(self, s: State) -> None:
        self._hang_left_over(s)

    def max_steps(self, n: int) -> int:
        """Return 3n: every word is shifted and reduced at most once and gets at most one head."""
        return 3 * n


class TwoPlanar(Planar):
    """Planar with a second stack, kept aside, and SWITCH; ``count`` is the active plane, ``phase`` 1 after SWITCH."""

    name = "two-planar"
    covers = "trees whose arcs between words can be drawn in two planes without crossing"
    projective = False
    aside_name = "Other stack"
    # Of the other plane's stack, kept aside, the two topmost nodes.
    slots = (
        *("s0", "s1", "s2", "b0", "b1", "b2", "a0", "a1"),
        *("s0.left1", "s0.right1", "s1.left1", "s1.right1", "b0.left1", "a0.left1", "a0.right1", "s0.head"),
    )
    distance = ("s0", "b0")
    all_moves: ClassVar[tuple[Move, ...]] = (*Planar.all_moves, Move("SWITCH"))

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SWITCH: not directly after SWITCH, or it could go on forever."""
        if move == SWITCH:
            return s.n_buffer > 0 and s.phase == 0
        return Planar._is_legal(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        """SWITCH: (σ, τ, β) => (τ, σ, β). SHIFT pushes onto both stacks; all other moves use the active one."""
        s.phase = 1 if move == SWITCH else 0
        if move == SWITCH:
            s.count = 1 - s.count
            for place in range(max(s.depth, s.aside_depth)):
                node = s.stack[place]
                s.stack[place] = s.aside[place]
                s.aside[place] = node
            depth = s.depth
            s.depth = s.aside_depth
            s.aside_depth = depth
            return
        if move == SHIFT:
            s.aside[s.aside_depth] = s.buffer[s.n_buffer - 1]
            s.aside_depth += 1
        Planar._apply(self, s, move, label)

    def max_steps(self, n: int) -> int:
        """Return 8n + 1: a word leaves each of two stacks once, with at most one SWITCH between two other moves."""
        return 8 * n + 1
