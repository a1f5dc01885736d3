"""arc-standard: the projective stack system Sp of Nivre 2009 (Figure 2 without SWAP); MaltParser's stackproj.

Start ([0], [1..n]), end ([0], []). Exactly the projective trees, always 2n moves.
"""

from __future__ import annotations

from typing import ClassVar

from tanglewood.core.oracle import GreedyOracle
from tanglewood.core.state import State
from tanglewood.core.system import Move, TransitionSystem, arc_move
from tanglewood.systems.arc_standard_oracle import DynamicOracle

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)


class ArcStandard(TransitionSystem):
    """SHIFT, LEFT-ARC and RIGHT-ARC between the two topmost nodes of the stack."""

    name = "arc-standard"
    covers = "the projective trees"
    projective = True
    paper = "Nivre 2009, Figure 2 (Sp)"
    oracles: ClassVar[dict[str, type]] = {"static": GreedyOracle, "dynamic": DynamicOracle}
    all_moves: ClassVar[tuple[Move, ...]] = (Move("SHIFT"), arc_move("LEFT-ARC"), arc_move("RIGHT-ARC"))

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0 and s.depth == 1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions of Figure 2.

        SHIFT: (σ, [i|β]). LEFT-ARC: ([σ|i, j], B) with i != 0. RIGHT-ARC: ([σ|i, j], B).
        With single_root an arc from 0 only as the last move: ([0, j], []).
        """
        if move == SHIFT:
            return s.n_buffer > 0
        if s.depth < 2:
            return False
        i = s.stack[s.depth - 2]
        if i > 0:
            return True
        return move == RIGHT_ARC and (not self.single_root or (s.n_buffer == 0 and s.depth == 2))

    def _head(self, s: State, move: int, label: int) -> int:
        if s.depth < 2 or move == SHIFT:
            return -1
        return s.stack[s.depth - 1] if move == LEFT_ARC else s.stack[s.depth - 2]

    def _dependent(self, s: State, move: int, label: int) -> int:
        if s.depth < 2 or move == SHIFT:
            return -1
        return s.stack[s.depth - 2] if move == LEFT_ARC else s.stack[s.depth - 1]

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects of Figure 2.

        SHIFT: (σ, [i|β]) => ([σ|i], β). LEFT-ARC: [σ|i, j] => [σ|j], arc j -> i. RIGHT-ARC: [σ|i, j] => [σ|i],
        arc i -> j.
        """
        if move == SHIFT:
            s._shift()
            return
        s.depth -= 1
        if move == LEFT_ARC:
            s.stack[s.depth - 1] = s.stack[s.depth]

    def max_steps(self, n: int) -> int:
        """Return 2n: n times SHIFT, n arcs."""
        return 2 * n
