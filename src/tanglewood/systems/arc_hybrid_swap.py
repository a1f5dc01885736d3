"""arc-hybrid-swap: arc-hybrid with SWAP and its static-dynamic oracle (de Lhoneux, Stymne & Nivre 2017).

As in the paper ("Arc-hybrid non-projective dependency parsing with a static-dynamic oracle"), 0 stands at the end of
the buffer: start ([], [1..n, 0]), end ([], [0]). All trees, 2n + 2k moves for k swaps. The paper was not at hand: rules
and costs follow its authors' parser (UUParser, arc_hybrid.py).
"""

from __future__ import annotations

from array import array
from typing import ClassVar

from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.core.system import FRONT, Move, TransitionSystem, arc_move
from tanglewood.treebank.measures import projective_order

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)


class StaticOracle(Oracle):
    """SWAP as soon as the stack's top comes after the buffer's front in the order <G, then arcs, else SHIFT."""

    def _prepare(self) -> None:
        self.order = array("i", bytes(4 * (self.n + 1)))
        for position, node in enumerate(projective_order(self.heads)):
            self.order[node] = position

    def _move(self, s: State) -> int:
        if self._must_swap(s):
            return SWAP
        for move in range(LEFT_ARC, SWAP):
            if self._is_gold(s, self.system._head(s, move, -1), self.system._dependent(s, move, -1)):
                return move
        return SHIFT

    def _must_swap(self, s: State) -> bool:
        return self.system._is_legal(s, SWAP, -1) and self.order[s._top()] > self.order[s._front()]


class StaticDynamicOracle(StaticOracle):
    """Static for SWAP, dynamic for all other moves: an arc costs the gold arcs that it puts out of reach, and so on.

    The paper keeps the reachable dependents of every word during a derivation; here they follow from the state, so
    that it may be any. Where every legal move has a cost, the cheapest are free.
    """

    explores = True

    def _prepare(self) -> None:
        StaticOracle._prepare(self)
        self.place = array("i", bytes(4 * (self.n + 1)))

    def _costs(self, s: State, out: array[int]) -> None:
        """Write 0 for SWAP and 1 for all others where the order <G wants SWAP; else what each move loses, SWAP 1."""
        forced = self._must_swap(s)
        for node in range(self.n + 1):
            self.place[node] = -1  # not on the stack
        for place in range(s.depth):
            self.place[s.stack[place]] = place
        least = self.n + 1
        for move in range(self.system.n_moves):
            out[move] = self.n + 1
            if self.system._is_legal(s, move, -1):
                if move == SWAP:
                    out[move] = 0 if forced else 1
                elif forced:
                    out[move] = 1
                else:
                    out[move] = self._loses_by_shift(s) if move == SHIFT else self._loses_by_arc(s, move)
                least = min(least, out[move])
        for move in range(self.system.n_moves):
            if out[move] <= self.n:
                out[move] -= least

    def _loses_by_arc(self, s: State, move: int) -> int:
        """How many gold arcs are lost when the stack's top leaves: those to its dependents, and that from its head."""
        top = s.stack[s.depth - 1]
        gold = self.heads[top]
        lost = 1 if gold != self.system._head(s, move, -1) and self._is_open(s, gold, top) else 0
        for word in range(1, self.n + 1):
            if self.heads[word] == top and self._is_open(s, top, word):
                lost += 1
        return lost

    def _loses_by_shift(self, s: State) -> int:
        """How many gold arcs are lost by SHIFT: those between the buffer's front and the stack, but for top -> front.

        None if the front will come back, swapped with a word behind it.
        """
        front = s.buffer[s.n_buffer - 1]
        if self._comes_back(s, front):
            return 0
        lost = 1 if 0 <= self.place[self.heads[front]] < s.depth - 1 else 0
        for word in range(1, self.n + 1):
            if self.heads[word] == front and self.place[word] >= 0:
                lost += 1
        return lost

    def _comes_back(self, s: State, node: int) -> bool:
        """Whether some word of the buffer is further right in the sentence but further left in the order <G."""
        for i in range(s.n_buffer):
            if s.buffer[i] > node and self.order[s.buffer[i]] < self.order[node]:
                return True
        return False

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether a gold arc can still be made.

        Between two nodes of the stack only if the dependent lies right above its head, or if the upper one of the two
        will be swapped back into the buffer.
        """
        if s.heads[head] >= 0 or s.heads[dependent] >= 0:
            return False
        if self.place[head] < 0 or self.place[dependent] < 0 or self.place[dependent] == self.place[head] + 1:
            return True
        return self._comes_back(s, head if self.place[head] > self.place[dependent] else dependent)


class ArcHybridSwap(TransitionSystem):
    """SHIFT, LEFT-ARC from the buffer's front to the stack's top, RIGHT-ARC between the two topmost nodes, SWAP."""

    name = "arc-hybrid-swap"
    covers = "all trees"
    paper = "de Lhoneux, Stymne & Nivre 2017"
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "static-dynamic": StaticDynamicOracle}
    trained_by = "static-dynamic"
    puts_back = True
    nodes = FRONT  # as in arc-hybrid
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT"),
        arc_move("LEFT-ARC"),
        arc_move("RIGHT-ARC"),
        Move("SWAP"),
    )

    def _start(self, s: State) -> None:
        self._fill(s, 0, 0)
        for i in range(s.n, 0, -1):  # 0 from the front of the buffer to its end
            s.buffer[i] = s.buffer[i - 1]
        s.buffer[0] = 0

    def _is_final(self, s: State) -> bool:
        return s.depth == 0 and s.n_buffer == 1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions.

        SHIFT: (σ, [b|β]) with b != 0. LEFT-ARC: ([σ|i], [j|β]). RIGHT-ARC: ([σ|i, j], β). SWAP: ([σ|i], [j|β]) with
        0 < i < j in the original order, so that a pair is swapped at most once.
        With single_root an arc from 0 only as the last move: ([i], [0]).
        """
        front = s.buffer[s.n_buffer - 1]
        if move == SHIFT:
            return front > 0
        if move == RIGHT_ARC:
            return s.depth >= 2
        if s.depth == 0:
            return False
        if move == SWAP:
            return s.stack[s.depth - 1] < front
        return front > 0 or s.depth == 1 or not self.single_root

    def _head(self, s: State, move: int, label: int) -> int:
        if move == LEFT_ARC:
            return s._front()
        return s.stack[s.depth - 2] if move == RIGHT_ARC and s.depth >= 2 else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        return s._top() if move in (LEFT_ARC, RIGHT_ARC) else -1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects.

        SHIFT: (σ, [b|β]) => ([σ|b], β). LEFT-ARC: ([σ|i], [j|β]) => (σ, [j|β]), arc j -> i. RIGHT-ARC: ([σ|i, j], β) =>
        ([σ|i], β), arc i -> j. SWAP: ([σ|i], [j|β]) => (σ, [j, i|β]).
        """
        if move == SHIFT:
            s._shift()
            return
        s.depth -= 1
        if move == SWAP:
            s.buffer[s.n_buffer] = s.buffer[s.n_buffer - 1]
            s.buffer[s.n_buffer - 1] = s.stack[s.depth]
            s.n_buffer += 1

    def swaps(self, s: State) -> int:
        """Return k where there are 2n + 2k transitions."""
        return (s.steps - 2 * s.n) // 2

    def max_steps(self, n: int) -> int:
        """Return n + n^2: every pair of words swapped once."""
        return n + n * n
