"""Exact search by scores of moves: O(n^7), or O(n^6) where s2 is never reduced, as for scores of arcs.

The items and rules are those of `chart_s2`. Where these have the score of an arc, here is that of a move in its view,
which is three nodes a < b < j, j being the front of the buffer (n + 1 if it is empty):

    view 0   s1, s0, b0   SHIFT, s1>s0, s0>s1, b0>s0, b0>s1
    view 1   s2, s0, b0   s2>s0, s0>s2, b0>s2
    view 2   s2, s1, b0   s2>s1, s1>s2

Why just these: h2, h4, h5 and j are s2, s1, s0 and b0 after a join, and no power of n is lost as long as each hook
knows what it needs. W[h2;h3,k,t,j] is a maximum over the node reduced, s0 or s1, and has all four among its indices. A
reduce of s2 is scored in Z, where h2 goes: with a third node x beside h2 and j, Z[h1,i,h3,k;x,j] is O(n^7) to compute,
and room for one j and h3 at a time is enough; with a fourth it would be O(n^8). SHIFT of k is the first move of a
second premise, whose context is known only when it is joined to X[h1,i,h2,h3,k], the first: s1, s0 and b0 are h2, h3
and k there. So the score of SHIFT is added to first premises, as soon as all items with k in front are known.

Moves that are forced have no score, as in a beam: the first SHIFT, any SHIFT on the stack [0], and the last reduce.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from tanglewood.decoders.chart import KINDS, node_at
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.decoders.maxplus import padded, pairs, product, row_product
from tanglewood.errors import ConfigError

MINUS = float("-inf")
B0_S0 = 0
S0_S1, S0_S2 = 4, 5
S1_S0, S1_S2 = 6, 8
B0_S2 = 2
S2_S0 = 9
VIEWS = 3
NEEDED = ((1, 0), (0, 1), (-1, 0))  # with these reduces, which moves are forced can be seen in view 0


def view_of(head: int, modifier: int) -> int:
    """Return the view that scores a reduce, by the places of head and modifier (s0, s1, s2 are 0, 1, 2, b0 is -1)."""
    if 2 not in (head, modifier):
        return 0
    return 2 if 1 in (head, modifier) else 1


def table_rows(n: int) -> int:
    """Return how many pairs b < j there are in views of n words: b < j is row j(j-1)/2 + b."""
    return pairs(n + 1)


class ChartMoves(ChartS2):
    """The chart of `chart_s2` with scores of moves in their views."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        ChartS2.__init__(self, inventory, single_root)
        if any(pair not in inventory for pair in NEEDED):
            raise ConfigError("exact search over moves needs the reduces s1>s0, s0>s1 and b0>s0")
        self.keeps_hooks = False
        self.n_moves = len(inventory) + 1
        self.kind_of = array("i", [-1] + [3 * (head + 1) + modifier for head, modifier in inventory])
        self.view_of_kind = array("i", [view_of(kind // 3 - 1, kind % 3) for kind in range(KINDS)])
        self.cost = 0.0
        self.closed = self.tables = self.z = 0

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        return ChartS2.size(self, n) + self._tables_size(n) + self._hooks_size(n)

    def _tables_size(self, n: int) -> int:
        return (self.n_moves + 1) * table_rows(n) * padded(n + 2)

    def _hooks_size(self, n: int) -> int:
        if not self.takes_s2:
            return 0
        return max((n - t) * (n - t + 1) * padded(pairs(t)) for t in range(n + 1))

    def _plan(self, n: int) -> int:
        self.tables = ChartS2._plan(self, n)
        self.z = self.tables + self._tables_size(n)
        return self.z + self._hooks_size(n)

    def load(self, scores: Any, gold: Sequence[int] = (), cost: float = 0.0) -> None:  # noqa: ANN401 - a table
        """Take the scores of a sentence, which must have passed `words_in_moves`.

        With gold heads, indexed by node, reduces that make other arcs get ``cost`` on top of their score.
        """
        table: memoryview[float] = memoryview(scores)
        self._make_room(table.shape[2] - 1)  # type: ignore[index]
        self.gold = array("i", gold if len(gold) else [-1] * (self.n + 1))
        self.cost = cost if len(gold) else 0.0
        self.closed = 0
        if not self._read_moves(table):
            raise ConfigError("scores of moves must be finite numbers; there is an infinite one or a NaN among them")

    def _read_moves(self, scores: memoryview[float]) -> bool:
        """Copy the scores, with -inf for what is not legal and 0 for what is forced; return whether all are finite."""
        fine = True
        for move in range(self.n_moves):
            kind = self.kind_of[move]
            for j in range(1, self.n + 2):
                for b in range(j):
                    place = self._row(move, b, j)
                    self._clear(place, place + self.stride)
                    for a in range(b):
                        score = scores[move, j * (j - 1) // 2 + b, a]
                        if not MINUS < score < -MINUS:
                            fine = False
                        elif kind < 0:
                            self.arena[place + a] = score
                        else:
                            self.arena[place + a] = self._legal(kind, a, b, j, score)
        merged = self.n_moves  # the best of s0>s2 and b0>s2
        for j in range(1, self.n + 2):
            for b in range(j):
                place = self._row(merged, b, j)
                self._clear(place, place + self.stride)
                for a in range(b):
                    self.arena[place + a] = max(self._at(S0_S2, a, b, j), self._at(B0_S2, a, b, j))
        return fine

    def _legal(self, kind: int, a: int, b: int, j: int, score: float) -> float:
        """Score of a reduce: -inf if it is not legal with these nodes, 0 if nothing else is."""
        view = self.view_of_kind[kind]
        s2 = a if view > 0 else -1
        s1 = a if view == 0 else b
        head = node_at(kind // 3 - 1, s2, s1, b, j)
        modifier = node_at(kind % 3, s2, s1, b, j)
        if modifier == 0 or head > self.n:
            return MINUS
        if head == 0 and kind == S1_S0 and j > self.n:
            score = 0.0
        elif head == 0 and self.single_root:
            return MINUS
        return score + (self.cost if self.gold[modifier] != head else 0.0)

    def _row(self, move: int, b: int, j: int) -> int:
        """Place of the scores of a move for all a, given b and j."""
        return self.tables + (move * pairs(self.n + 1) + j * (j - 1) // 2 + b) * self.stride

    def _at(self, kind: int, a: int, b: int, j: int) -> float:
        """Score of a reduce in its view; -inf if it is not in the inventory."""
        if self.move_of[kind] < 0:
            return MINUS
        return self.arena[self._row(self.move_of[kind], b, j) + a]

    def _move_score(self, kind: int, s2: int, s1: int, s0: int, j: int) -> float:
        """Score of a reduce by all nodes that there are."""
        if self.view_of_kind[kind] == 0:
            return self._at(kind, s1, s0, j)
        return self._at(kind, s2, s0 if self.view_of_kind[kind] == 1 else s1, j)

    def _charge(self, h2: int, t: int, j: int) -> float:
        """What has been added to items with h2, t on top and j in front."""
        return self.arena[self._row(0, t, j) + h2] if j <= self.closed else 0.0

    def _end_step(self, j: int) -> None:
        """Add the scores of SHIFT to all items with j in front, which from now on are first premises only."""
        for t in range(1, j):
            place = self._row(0, t, j)
            block = self._d(t, j)
            for i in range(1, t + 1):
                for h in range(i):
                    self.arena[block + i * (i - 1) // 2 + h] += self.arena[place + h]
            if self.takes_s2:
                for h2 in range(1, t):
                    block = self._x(h2, t, j)
                    for row in range(pairs(h2)):
                        self.arena[block + row] += self.arena[place + h2]
        self.closed = j

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        return self._item(0, k, 0, h5, j) - self._charge(0, h5, j)

    def _bottom_score(self, kind: int, k: int, h5: int, j: int) -> float:
        return self._at(kind, 0, h5, j)

    def _way_score(self, kind: int, h2: int, h3: int, k: int, h4: int, h5: int, j: int) -> float:
        return self._move_score(kind, h2, h4, h5, j) - self._charge(h4, h5, j)

    def _weights(self, row: int, h3: int, modifier_place: int, s1: int, s0: int, j: int) -> None:
        self.a2[row] = self.q + row * self.stride
        score = max(
            self._at(S1_S0 if modifier_place == 0 else S0_S1, s1, s0, j), self._at(B0_S0 + modifier_place, s1, s0, j)
        )
        move = self.move_of[S2_S0 + modifier_place]
        by_s2 = self._row(max(move, 0), s0 if modifier_place == 0 else s1, j)
        for h2 in range(h3):
            self.arena[self.a2[row] + h2] = score if move < 0 else max(self.arena[by_s2 + h2], score)

    # Reduces of s2. -------------------------------------------------------------------------------------------

    def _zplace(self, h3: int, k: int, column: int) -> int:
        """Place of the block of Z[*,*,h3,k;x,j]: column 0 is x = h3, the others are x = k..j-1."""
        return self.z + ((k - h3 - 1) * (self.width + 1) + column) * padded(pairs(h3))

    def _hook_at(self, j: int, h3: int, table: int) -> None:
        """Compute Z[*,*,h3,k;x,j] for all k and x by one of the tables."""
        for k in range(h3 + 1, j):
            columns = j - k
            self.out2[0] = self._zplace(h3, k, 0)
            for c in range(columns):
                self.out[c] = self._zplace(h3, k, c + 1)
            self._clear(self.out2[0], self.out2[0] + (columns + 1) * padded(pairs(h3)))
            self.a[0] = self._d(h3, k)
            of_h3 = self._row(table, h3, j)
            of_k = self._row(table, k, j)
            row_product(self.arena, self.a, self.out2, of_h3, 0, 0, 1, 1, 0, h3)
            row_product(self.arena, self.a, self.out, of_k, 0, self.stride, columns, 1, 0, h3)
            for i in range(1, h3):  # all rows of a vector whose first one is a pair with this i: h2 >= i
                begin = padded(pairs(i - 1))
                end = padded(pairs(i))
                if begin < end:
                    for h2 in range(i, h3):
                        self.a[h2 - i] = self._x(h2, h3, k)
                    terms, step = h3 - i, self.stride
                    product(self.arena, self.a, self.out2, of_h3 + i, 1, 0, 1, begin, end, terms, 0, -1, 0)
                    product(self.arena, self.a, self.out, of_k + i, 1, step, columns, begin, end, terms, 0, -1, 0)

    def _join_s2(self, j: int, h3: int) -> None:
        """Rule s2, as in `chart_s2`: heads s0 and b0 for fixed h5, head s1 for fixed h4."""
        width = self.width
        rows = padded(pairs(h3))
        if self.move_of[S0_S2] > 0 or self.move_of[B0_S2] > 0:
            self._hook_at(j, h3, self.n_moves)
            for h5 in range(h3 + 1, j):
                for term in range(h5 - h3):
                    k = h3 + 1 + term
                    self.a[term] = self._zplace(h3, k, h5 - k + 1)
                for h4 in range(h3 + 1, h5):
                    self.out[h4 - h3 - 1] = self._x(h4, h5, j)
                place = self.y + (h5 - h3 - 1) * (width + 1) * width
                product(self.arena, self.a, self.out, place + width, 1, width, h5 - h3 - 1, 0, rows, 1, 1, -1, 0)
                self.out[0] = self._x(h3, h5, j)
                product(self.arena, self.a, self.out, place, 1, 0, 1, 0, rows, h5 - h3, 0, -1, 0)
        if self.move_of[S1_S2] < 0:
            return
        self._hook_at(j, h3, self.move_of[S1_S2])
        for h4 in range(h3, j - 1):
            columns = j - 1 - h4
            for term in range(width if h4 == h3 else h4 - h3):
                k = h3 + 1 + term
                self.a[term] = self._zplace(h3, k, 0 if h4 == h3 else h4 - k + 1)
            for c in range(columns):
                self.out[c] = self._x(h4, h4 + 1 + c, j)
            place = self.y + ((h4 - h3) * (width + 1) + h4 - h3) * width
            terms = 1 if h4 == h3 else h4 - h3
            column_step = (width + 1) * width
            product(self.arena, self.a, self.out, place, 1, column_step, columns, 0, rows, terms, h4 == h3, -1, 0)
