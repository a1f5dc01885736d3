"""arc-eager (Nivre 2003, 2008; Table 2 of Lacroix & Béchet 2014).

Start ([0], [1..n]), end: empty buffer; words then left without a head are attached to 0. Exactly the projective trees,
at most 2n moves.
"""

from __future__ import annotations

from typing import ClassVar

from tanglewood.core.oracle import Oracle, leftmost_dependents
from tanglewood.core.state import State
from tanglewood.core.system import FrontArcSystem, Move, arc_move
from tanglewood.systems.projective_oracle import ProjectiveOracle

SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE = range(4)


class StaticOracle(Oracle):
    """Arcs as soon as they can be made; REDUCE when the buffer's front is linked to a node below the stack's top."""

    def _prepare(self) -> None:
        self.leftmost = leftmost_dependents(self.heads)

    def _move(self, s: State) -> int:
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        if self.heads[i] == j:
            return LEFT_ARC
        if self.heads[j] == i:
            return RIGHT_ARC
        if s.heads[i] >= 0 and (self.heads[j] < i or self.leftmost[j] < i):
            return REDUCE
        return SHIFT


class DynamicOracle(ProjectiveOracle):
    """Exact cost of every move from any state, for any gold tree (after Goldberg & Nivre 2012)."""

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """A node of the stack keeps the head it has or else gets a buffer word or 0; a buffer word may get any node."""
        if dependent >= s.depth:
            return True
        if s.heads[s.stack[dependent]] >= 0:
            return head == dependent - 1  # in arc-eager the head of a node lies right below it
        return head >= s.depth or head == 0


class ArcEager(FrontArcSystem):
    """SHIFT, LEFT-ARC and RIGHT-ARC between the stack's top and the buffer's front, REDUCE."""

    name = "arc-eager"
    covers = "the projective trees"
    projective = True
    paper = "Nivre 2008; Lacroix & Béchet 2014, Table 2"
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "dynamic": DynamicOracle}
    trained_by = "dynamic"
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT"),
        arc_move("LEFT-ARC"),
        arc_move("RIGHT-ARC"),
        Move("REDUCE"),
    )

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions of Table 2.

        LEFT-ARC: ([σ|i], [j|β]) with i != 0 and no head for i. RIGHT-ARC: ([σ|i], [j|β]). REDUCE: [σ|i] with a head
        for i. SHIFT: (σ, [j|β]).
        With single_root: never a second arc from 0; the child of 0 is not reduced; the last word is consumed only
        if exactly one word then depends on 0.
        """
        if s.n_buffer == 0:
            return False
        i = s.stack[s.depth - 1]
        if move == LEFT_ARC:
            return i > 0 and s.heads[i] < 0
        if move == REDUCE:
            return s.heads[i] > 0 or (s.heads[i] == 0 and not self.single_root)
        if not self.single_root:
            return True
        if move == RIGHT_ARC and i == 0 and s.n_deps[0] > 0:
            return False
        return s.n_buffer > 1 or self._may_consume_last(s, move)

    def _may_consume_last(self, s: State, move: int) -> bool:
        """Whether one word depends on 0 once the last word is on the stack: by an arc, or for want of a head."""
        headless = s.n - 1 - s.arcs  # no word of the buffer has a head
        roots = headless + s.n_deps[0]
        if move == SHIFT or s.stack[s.depth - 1] == 0:
            roots += 1
        return roots == 1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects of Table 2.

        LEFT-ARC: ([σ|i], [j|β]) => (σ, [j|β]), arc j -> i. RIGHT-ARC: ([σ|i], [j|β]) => ([σ|i, j], β), arc i -> j.
        REDUCE: ([σ|i], β) => (σ, β). SHIFT: (σ, [j|β]) => ([σ|j], β).
        """
        if move in (LEFT_ARC, REDUCE):
            s.depth -= 1
        else:
            s._shift()

    def _finish(self, s: State) -> None:
        self._hang_left_over(s)

    def max_steps(self, n: int) -> int:
        """Return 2n: every word enters and leaves the stack at most once."""
        return 2 * n
