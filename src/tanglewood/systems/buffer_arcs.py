"""buffer-arcs: arc-eager with the non-projective buffer transitions of Fernández-González & Gómez-Rodríguez 2012.

Arcs between the stack's top and the second word of the buffer, over the first ("Improving transition-based dependency
parsing with buffer transitions"): the paper's NE+LNBA and NE+RNBA, or both together. Its other two transitions, for
arcs between the first two words of the buffer, derive nothing but projective trees and are left out. The paper was not
at hand: which nodes are joined is in its abstract; that the dependent of such an arc then leaves stack or buffer, as
that of an arc between two words of the buffer must, is our reading.
"""

from __future__ import annotations

from typing import ClassVar

from tanglewood.core.oracle import Oracle, leftmost_dependents
from tanglewood.core.state import State
from tanglewood.core.system import Option, arc_move, options_of
from tanglewood.systems.arc_eager import ArcEager

SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE, FIRST_EXTRA = range(5)
BOTH_SIDES, LEFT_ONLY, RIGHT_ONLY = "both", "left", "right"
SIDES = Option(
    "buffer_arcs",
    str,
    BOTH_SIDES,
    "which arcs may skip the buffer's front",
    choices=(BOTH_SIDES, LEFT_ONLY, RIGHT_ONLY),
    metavar="SIDE",
)


class StaticOracle(Oracle):
    """Arcs whose dependent leaves with nothing missing, then the moves of arc-eager; projective trees need only these.

    Such an arc is always safe: take its dependent out of any derivation, and what is left is one too, in which pairs of
    nodes have only come closer. So a tree is claimed exactly if it has a derivation.
    """

    def __init__(self, system: BufferArcs) -> None:
        Oracle.__init__(self, system)
        self.left_nonproj = system.left_nonproj
        self.right_nonproj = system.right_nonproj

    def _prepare(self) -> None:
        self.leftmost = leftmost_dependents(self.heads)

    def _move(self, s: State) -> int:
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        k = s.buffer[s.n_buffer - 2] if s.n_buffer > 1 else -1
        if self._is_gold(s, j, i):
            return LEFT_ARC
        # An arc with k can wait for the front to leave if that needs nothing but the same head.
        if self.left_nonproj > 0 and self._is_gold(s, k, i) and not self._is_gold(s, k, j):
            return self.left_nonproj
        if self.right_nonproj > 0 and self._is_gold(s, i, k) and not self._is_gold(s, i, j):
            return self.right_nonproj
        if self.heads[j] == i:
            return RIGHT_ARC
        if s.heads[i] >= 0 and s.n_deps[i] == self.n_deps[i] and self._reduces(s, i, j, k):
            return REDUCE
        return SHIFT

    def _reduces(self, s: State, i: int, j: int, k: int) -> bool:
        """Whether an arc that is due joins a node below i with the buffer's front j, or with k behind it."""
        if self.heads[j] < i or self.leftmost[j] < i:
            return True
        if k < 0:
            return False
        if self.heads[k] < i and s.n_deps[k] == self.n_deps[k]:
            return True
        return self.leftmost[k] < i and s.heads[self.leftmost[k]] < 0 and not self._is_gold(s, k, j)


class BufferArcs(ArcEager):
    """Arc-eager with LEFT-NONPROJ-BUFFER-ARC and RIGHT-NONPROJ-BUFFER-ARC, between the stack's top and b1."""

    name = "buffer-arcs"
    covers = "the projective trees and more, by arcs that skip the buffer's front"
    projective = False
    paper = "Fernández-González & Gómez-Rodríguez 2012"
    options: ClassVar[dict[str, Option]] = options_of(SIDES)
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle}
    trained_by = "static"

    def __init__(self, *, buffer_arcs: str = BOTH_SIDES, single_root: bool = False) -> None:
        ArcEager.__init__(self, single_root=single_root)
        self.left_nonproj = -1 if buffer_arcs == RIGHT_ONLY else FIRST_EXTRA
        self.right_nonproj = -1 if buffer_arcs == LEFT_ONLY else FIRST_EXTRA + (buffer_arcs == BOTH_SIDES)
        extra = [arc_move("LEFT-NONPROJ")] if self.left_nonproj > 0 else []
        extra += [arc_move("RIGHT-NONPROJ")] if self.right_nonproj > 0 else []
        self._set_moves((*self.all_moves, *extra))

    def _second(self, s: State) -> int:
        """Second word of the buffer, or -1."""
        return s.buffer[s.n_buffer - 2] if s.n_buffer > 1 else -1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions.

        LEFT-NONPROJ: ([σ|i], [j, k|β]) with i != 0 and no head for i. RIGHT-NONPROJ: ([σ|i], [j, k|β]); with
        single_root i != 0, since the words that such an arc from 0 skips could only become further roots.
        """
        if move < FIRST_EXTRA:
            return ArcEager._is_legal(self, s, move, label)
        if s.n_buffer < 2:
            return False
        i = s.stack[s.depth - 1]
        if move == self.left_nonproj:
            return i > 0 and s.heads[i] < 0
        return i > 0 or not self.single_root

    def _head(self, s: State, move: int, label: int) -> int:
        if move < FIRST_EXTRA:
            return ArcEager._head(self, s, move, label)
        return self._second(s) if move == self.left_nonproj else s._top()

    def _dependent(self, s: State, move: int, label: int) -> int:
        if move < FIRST_EXTRA:
            return ArcEager._dependent(self, s, move, label)
        return s._top() if move == self.left_nonproj else self._second(s)

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects.

        LEFT-NONPROJ: ([σ|i], [j, k|β]) => (σ, [j, k|β]), arc k -> i.
        RIGHT-NONPROJ: ([σ|i], [j, k|β]) => ([σ|i], [j|β]), arc i -> k.
        """
        if move < FIRST_EXTRA:
            ArcEager._apply(self, s, move, label)
        elif move == self.left_nonproj:
            s.depth -= 1
        else:
            s.n_buffer -= 1
            s.buffer[s.n_buffer - 1] = s.buffer[s.n_buffer]
