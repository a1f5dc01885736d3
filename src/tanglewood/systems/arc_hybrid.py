"""arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): left arcs as in arc-eager, right arcs as in arc-standard.

Start ([0], [1..n]), end ([0], []). Exactly the projective trees, always 2n moves.
"""

from __future__ import annotations

from typing import ClassVar

from tanglewood.core.oracle import GreedyOracle
from tanglewood.core.state import State
from tanglewood.core.system import FRONT, Move, TransitionSystem, arc_move
from tanglewood.systems.projective_oracle import ProjectiveOracle

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)


class DynamicOracle(ProjectiveOracle):
    """Exact cost of every move from any state, for any gold tree."""

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """A node of the stack can still get the node below it or a buffer word; a buffer word may get any node."""
        return dependent >= s.depth or head >= s.depth or head == dependent - 1


class ArcHybrid(TransitionSystem):
    """SHIFT, LEFT-ARC from the buffer's front to the stack's top, RIGHT-ARC between the two topmost of the stack."""

    name = "arc-hybrid"
    covers = "the projective trees"
    projective = True
    paper = "Kuhlmann, Gómez-Rodríguez & Satta 2011"
    oracles: ClassVar[dict[str, type]] = {"static": GreedyOracle, "dynamic": DynamicOracle}
    trained_by = "dynamic"
    nodes = FRONT  # left arcs join them, and the papers' feature models are stated for them
    all_moves: ClassVar[tuple[Move, ...]] = (Move("SHIFT"), arc_move("LEFT-ARC"), arc_move("RIGHT-ARC"))

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0 and s.depth == 1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions.

        SHIFT: (σ, [b|β]). LEFT-ARC: ([σ|i], [j|β]) with i != 0. RIGHT-ARC: ([σ|i, j], β).
        With single_root an arc from 0 only as the last move: ([0, j], []).
        """
        if move == SHIFT:
            return s.n_buffer > 0
        if move == LEFT_ARC:
            return s.n_buffer > 0 and s.depth >= 2
        return s.depth > 2 or (s.depth == 2 and (s.n_buffer == 0 or not self.single_root))

    def _head(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._front()
        return s.stack[s.depth - 2] if move == RIGHT_ARC and s.depth >= 2 else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        return s.stack[s.depth - 1] if move != SHIFT and s.depth >= 2 else -1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects.

        SHIFT: (σ, [b|β]) => ([σ|b], β). LEFT-ARC: ([σ|i], [j|β]) => (σ, [j|β]), arc j -> i.
        RIGHT-ARC: [σ|i, j] => [σ|i], arc i -> j.
        """
        if move == SHIFT:
            s._shift()
        else:
            s.depth -= 1

    def max_steps(self, n: int) -> int:
        """Return 2n: n times SHIFT, n arcs."""
        return 2 * n
