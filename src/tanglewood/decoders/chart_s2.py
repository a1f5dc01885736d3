"""Exact search where s2 may be reduced too (attardi of degree 2, attardi-alldeg1, attardi-all): O(n^7), n^5/60 floats.

As in `chart`, but the node below may leave the stack before the one above it does, so an item says what is there now:

    item    X[h1,i,h2,t,j]   from a stack with h1 on top and i in front of the buffer to h2, t on top in its place and
                             j in front; h2 = h1, or i <= h2 < t: then h1 has been reduced
    axiom   X[h1,i,h1,i,i+1] = 0
    join    X[h1,i,h2,h3,k] and Y = X[h3,k,h4,h5,j], h4 = h3 or k <= h4 < h5: the stack is h2, h4, h5, in front is j
    s0      X[h1,i,h2,h4,j] <- join + max(s[h4,h5], s[h2,h5], s[j,h5])
    s1      X[h1,i,h2,h5,j] <- join + max(s[h5,h4], s[h2,h4], s[j,h4])
    s2      X[h1,i,h4,h5,j] <- join + max(s[h5,h2], s[h4,h2], s[j,h2]),  h2 != 0

Eight indices would make it O(n^8). The hook trick takes the reduced node out first:

    W[h2;h3,k,t,j] = the best of Y and a score of s0 or s1 over the node reduced; t is the one that stays above h2
    Z[h1,i,h3,k;g] = max over h2 of X[h1,i,h2,h3,k] + s[g,h2]
    s0, s1  X[h1,i,h2,t,j]  <- X[h1,i,h2,h3,k] + W[h2;h3,k,t,j]
    s2      X[h1,i,h4,h5,j] <- Y + max(Z[h1,i,h3,k;h5], Z[h1,i,h3,k;h4], Z[h1,i,h3,k;j])

Each of the two is a max-plus product over k again, once j, h3 and one node more (h2, h4 or h5) are fixed. Items with
h2 = h1 (D below) need a weight for every h1, so that their product runs row by row; there are fewer of them.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.chart import Chart, block_sums, node_at
from tanglewood.decoders.maxplus import maximum, padded, pairs, product, row_product

MINUS = float("-inf")
B0_S0, B0_S2 = 0, 2
S0_S1, S0_S2 = 4, 5
S1_S0, S1_S2 = 6, 8
S2_S0 = 9


class ChartS2(Chart):
    """The chart of five indices, for all inventories of degree 2; four are in use where s2 is never reduced."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        Chart.__init__(self, inventory, single_root)
        self.takes_s2 = self.keeps_hooks = any(modifier == 2 for _, modifier in inventory)

    def items(self, n: int) -> int:
        """Return how many places the items D, X and Z take."""
        if not self.takes_s2:
            return block_sums(n, 2)[n + 2]
        block = block_sums(n, 1)
        hooks = sum((n - k + 2) * block[k] for k in range(2, n + 1)) if self.keeps_hooks else 0
        return block_sums(n, 2)[n + 2] + block_sums(n, 3)[n + 2] + hooks

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        stride = padded(n + 2)
        merged = max((n + 1 - t) * padded(pairs(t)) for t in range(n + 1))
        return self.items(n) + merged + (3 * n + 4) * stride + (n + 1) ** 2 * stride + padded((n + 1) ** 3)

    def _plan(self, n: int) -> int:
        self.block = array(
            "i", block_sums(n, 1)
        )  # of (j, t) in D, counted from (j, 1); of (j, t, h2) in X, from h2 = 1
        self.first = array("i", block_sums(n, 2))  # of (j, 1) in D; of (j, t, 1) in X, counted from (j, 1, 1)
        self.first_x = array("i", bytes(4 * (n + 3)))  # of (j, 1, 1)
        self.first_z = array("i", bytes(4 * (n + 3)))
        place = self.first[n + 2]  # D comes first
        if self.takes_s2:
            for j in range(n + 2):
                self.first_x[j] = place
                place += self.first[j]
            self.first_x[n + 2] = place
            for k in range(2, n + 1 if self.keeps_hooks else 0):
                self.first_z[k] = place
                place += (n - k + 2) * self.block[k]
        self.merged = place
        self.by_head = self.merged + max((n + 1 - t) * padded(pairs(t)) for t in range(n + 1))
        self.by_modifier = self.by_head + (n + 2) * self.stride
        self.q = self.by_modifier + (n + 2) * self.stride
        self.w = self.q + n * self.stride
        self.y = self.w + (n + 1) ** 2 * self.stride
        return self.y + padded((n + 1) ** 3)

    def _d(self, t: int, j: int) -> int:
        """Place of the block of X[h1,*,h1,t,j]."""
        return self.first[j] + self.block[t]

    def _x(self, h2: int, t: int, j: int) -> int:
        """Place of the block of X[*,*,h2,t,j], h2 other than h1."""
        return self.first_x[j] + self.first[t] + self.block[h2]

    def _z(self, t: int, k: int, column: int) -> int:
        """Place of the block of Z[*,*,t,k;g]: column 0 is g = t, the others are g = k..n."""
        return self.first_z[k] + (self.n - k + 2) * self.block[t] + column * padded(pairs(t))

    def _place(self, h1: int, i: int, h2: int, t: int, j: int) -> int:
        return (self._d(t, j) if h1 == h2 else self._x(h2, t, j)) + i * (i - 1) // 2 + h1

    def _item(self, h1: int, i: int, h2: int, t: int, j: int) -> float:
        if h1 != h2 and not self.takes_s2:
            return MINUS
        return self.arena[self._place(h1, i, h2, t, j)]

    def _way_score(self, kind: int, h2: int, h3: int, k: int, h4: int, h5: int, j: int) -> float:
        """Score of a reduce after a join."""
        return self._score(kind, node_at(kind // 3 - 1, h2, h4, h5, j), node_at(kind % 3, h2, h4, h5, j))

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        return self._item(0, k, 0, h5, j)

    def _fill(self) -> None:
        for j in range(2, self.n + 2):
            self._clear(self.first[j], self.first[j + 1])
            self._clear(self.first_x[j], self.first_x[j + 1])
            for h in range(j - 1):
                self.arena[self._d(j - 1, j) + pairs(j - 2) + h] = 0.0  # axioms
            for h3 in range(j - 2, 0, -1):
                self.width = j - 1 - h3
                self._gather(j, h3)
                self._weigh(j, h3)
                self._join_s0_s1(j, h3)
                if self.takes_s2:
                    self._join_s2(j, h3)
            self._close(j)
            if j <= self.n:
                self._end_step(j)

    def _end_step(self, j: int) -> None:
        """Prepare the items with j in front for being first premises."""
        if self.takes_s2:
            for t in range(1, j):
                self._hook(t, j)

    def _gather(self, j: int, h3: int) -> None:
        """Gather Y[k,h4,h5], h3 being 0, at ((h5-1) (width+1) + h4) width + k-1; h4 = h3 also as h4 = h5."""
        for h5 in range(h3 + 1, j):
            start = self.y + (h5 - h3 - 1) * (self.width + 1) * self.width
            for k in range(h3 + 1, h5 + 1):
                value = self.arena[self._d(h5, j) + k * (k - 1) // 2 + h3]
                self.arena[start + k - h3 - 1] = value
                self.arena[start + (h5 - h3) * self.width + k - h3 - 1] = value
            for h4 in range(h3 + 1, h5):
                place = self._x(h4, h5, j) + h3
                for k in range(h3 + 1, h4 + 1):
                    value = self.arena[place + k * (k - 1) // 2] if self.takes_s2 else MINUS
                    self.arena[start + (h4 - h3) * self.width + k - h3 - 1] = value

    def _weights(self, row: int, h3: int, modifier_place: int, s1: int, s0: int, j: int) -> None:
        """Write row `row` of q: for every h2 < h3 as s2 the best score of reducing s0 (place 0) or s1 (place 1)."""
        self.a2[row] = self.q + row * self.stride
        reduced = s0 if modifier_place == 0 else s1
        score = max(
            self._score(S1_S0, s1, s0) if modifier_place == 0 else self._score(S0_S1, s0, s1),
            self._score(B0_S0 + modifier_place, j, reduced),
        )
        by_s2 = self.on[S2_S0 + modifier_place]
        for h2 in range(h3):
            self.arena[self.a2[row] + h2] = max(
                self.arena[self.by_modifier + reduced * self.stride + h2] + by_s2, score
            )

    def _weigh(self, j: int, h3: int) -> None:
        """Compute W[h2;h3,k,t,j] for all h2 at a time, at w + ((k-h3-1) (width+1) + t-h3) stride + h2."""
        width = self.width
        step = (width + 1) * self.stride
        for row in range(width * (width + 1)):
            self._clear(self.w + row * self.stride, self.w + row * self.stride + padded(h3))
        # t = h3: s0 is reduced. Columns k and terms h5 run downwards from j - 1.
        for term in range(width):
            h5 = j - 1 - term
            self._weights(term, h3, 0, h3, h5, j)
            self.out2[term] = self.w + (width - 1 - term) * step
        place = self.y + (width - 1) * (width + 1) * width + width - 1
        product(self.arena, self.a2, self.out2, place, -(width + 1) * width, -1, width, 0, padded(h3), 1, 1, -1, 0)
        for t in range(h3 + 1, j):
            for column in range(t - h3):
                self.out2[column] = self.w + column * step + (t - h3) * self.stride
            # s0 is reduced, t stays as h4: columns k upwards, terms h5 upwards from t + 1.
            for term in range(j - 1 - t):
                h5 = t + 1 + term
                self._weights(term, h3, 0, t, h5, j)
            if t < j - 1:
                place = self.y + ((t - h3) * (width + 1) + t - h3) * width
                product(
                    self.arena,
                    self.a2,
                    self.out2,
                    place,
                    (width + 1) * width,
                    1,
                    t - h3,
                    0,
                    padded(h3),
                    j - 1 - t,
                    0,
                    -1,
                    0,
                )
            # s1 is reduced, t stays as h5: columns k downwards from t, terms h4 = h3, then downwards from t - 1.
            for term in range(t - h3):
                h4 = h3 if term == 0 else t - term
                self._weights(term, h3, 1, h4, t, j)
                self.out2[term] = self.w + (t - h3 - 1 - term) * step + (t - h3) * self.stride
            place = self.y + ((t - h3 - 1) * (width + 1) + t - h3) * width + t - h3 - 1
            product(self.arena, self.a2, self.out2, place, -width, -1, t - h3, 0, padded(h3), 1, 1, -1, 0)

    def _join_s0_s1(self, j: int, h3: int) -> None:
        """Rules s0 and s1: first for t = h3, where k may be anything, then for t > h3, where k <= t."""
        step = (self.width + 1) * self.stride
        for h2 in range(h3 if self.takes_s2 else 1):
            for c in range(self.width):
                if h2 == 0:  # stands for h2 = h1
                    self.a[c] = self._d(h3, h3 + 1 + c)
                    self.out[c] = self._d(h3 + 1 + c, j)
                else:
                    self.a[c] = self._x(h2, h3, h3 + 1 + c)
                    self.out[c] = self._x(h2, h3 + 1 + c, j)
            if h2 == 0:
                self.out2[0] = self._d(h3, j)
                row_product(self.arena, self.a, self.out2, self.w, step, 0, 1, self.width, 0, h3)
                row_product(self.arena, self.a, self.out, self.w + self.stride, step, self.stride, self.width, 1, 1, h3)
            else:
                self.out2[0] = self._x(h2, h3, j)
                rows = padded(pairs(h2))
                product(self.arena, self.a, self.out2, self.w + h2, step, 0, 1, 0, rows, self.width, 0, -1, 0)
                place = self.w + self.stride + h2
                product(self.arena, self.a, self.out, place, step, self.stride, self.width, 0, rows, 1, 1, -1, 0)

    def _join_s2(self, j: int, h3: int) -> None:
        """Rule s2: heads s0 and b0 for fixed h5, head s1 for fixed h4; h4 = h3 by itself, since any k <= h5 will do."""
        width = self.width
        rows = padded(pairs(h3))
        from_s0 = self.on[S0_S2] == 0
        from_b0 = self.on[B0_S2] == 0 and j <= self.n
        for h5 in range(h3 + 1, j):
            if not from_s0 and not from_b0:
                break
            for term in range(h5 - h3):
                k = h3 + 1 + term
                self.a[term] = self._z(h3, k, (h5 if from_s0 else j) - k + 1)
                if from_s0 and from_b0:
                    maximum(self.arena, self.merged + term * rows, self.a[term], self._z(h3, k, j - k + 1), rows)
                    self.a[term] = self.merged + term * rows
            for h4 in range(h3 + 1, h5):
                self.out[h4 - h3 - 1] = self._x(h4, h5, j)
            place = self.y + (h5 - h3 - 1) * (width + 1) * width
            product(self.arena, self.a, self.out, place + width, 1, width, h5 - h3 - 1, 0, rows, 1, 1, -1, 0)
            self.out[0] = self._x(h3, h5, j)
            product(self.arena, self.a, self.out, place, 1, 0, 1, 0, rows, h5 - h3, 0, -1, 0)
        if self.on[S1_S2] != 0:
            return
        for h4 in range(h3, j - 1):
            columns = j - 1 - h4
            for term in range(width if h4 == h3 else h4 - h3):
                k = h3 + 1 + term
                self.a[term] = self._z(h3, k, 0 if h4 == h3 else h4 - k + 1)
            for c in range(columns):
                self.out[c] = self._x(h4, h4 + 1 + c, j)
            place = self.y + ((h4 - h3) * (width + 1) + h4 - h3) * width
            terms = 1 if h4 == h3 else h4 - h3
            column_step = (width + 1) * width
            product(self.arena, self.a, self.out, place, 1, column_step, columns, 0, rows, terms, h4 == h3, -1, 0)

    def _hook(self, t: int, k: int) -> None:
        """Compute Z[*,*,t,k;g] for all g."""
        columns = self.n - k + 1
        self.out2[0] = self._z(t, k, 0)
        for c in range(columns):
            self.out[c] = self._z(t, k, c + 1)
        self._clear(self.out2[0], self.out2[0] + (columns + 1) * padded(pairs(t)))
        self.a[0] = self._d(t, k)
        of_t = self.by_head + t * self.stride
        of_k = self.by_head + k * self.stride
        row_product(self.arena, self.a, self.out2, of_t, 0, 0, 1, 1, 0, t)
        row_product(self.arena, self.a, self.out, of_k, 0, self.stride, columns, 1, 0, t)
        for i in range(1, t):  # all rows of a vector whose first one is a pair with this i: h2 >= i
            begin = padded(pairs(i - 1))
            end = padded(pairs(i))
            if begin < end:
                for h2 in range(i, t):
                    self.a[h2 - i] = self._x(h2, t, k)
                product(self.arena, self.a, self.out2, of_t + i, 1, 0, 1, begin, end, t - i, 0, -1, 0)
                product(self.arena, self.a, self.out, of_k + i, 1, self.stride, columns, begin, end, t - i, 0, -1, 0)

    def _unfold(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        if h1 == h2 and i == t and j == t + 1:
            self._emit(-1, -1, t)
            return
        self._begin(self._item(h1, i, h2, t, j))
        best_k = best_h2 = best_h3 = best_h4 = best_h5 = kind = 0
        for h3 in range(max(i, h2 + 1), j - 1):
            for k in range(h3 + 1, j):
                inside = self._item(h1, i, h2, h3, k)
                if inside == MINUS:
                    continue
                if t == h3 or t >= k:  # s0 is reduced, t is h4
                    for h5 in range(max(t + 1, k), j):
                        for place in range(-1, 3):
                            value = inside + self._item(h3, k, t, h5, j)
                            value += self._way_score(3 * (place + 1), h2, h3, k, t, h5, j)
                            if self._offer(value):
                                best_k, best_h2, best_h3, best_h4 = k, h2, h3, t
                                best_h5, kind = h5, 3 * (place + 1)
                for h4 in range(h3, t):  # s1 is reduced, t is h5
                    if k <= t and (h4 == h3 or h4 >= k):
                        for place in range(-1, 3):
                            value = inside + self._item(h3, k, h4, t, j)
                            value += self._way_score(3 * (place + 1) + 1, h2, h3, k, h4, t, j)
                            if self._offer(value):
                                best_k, best_h2, best_h3, best_h4 = k, h2, h3, h4
                                best_h5, kind = t, 3 * (place + 1) + 1
        if h2 != h1:  # s2 is reduced, h2 is h4, t is h5
            for h3 in range(i, h2 + 1):
                for k in range(h3 + 1, (t if h3 == h2 else h2) + 1):
                    inside = self._item(h3, k, h2, t, j)
                    for gone in range(h1, h3):
                        if gone > 0 and (gone == h1 or gone >= i):
                            for place in range(-1, 3):
                                value = inside + self._item(h1, i, gone, h3, k)
                                value += self._way_score(3 * (place + 1) + 2, gone, h3, k, h2, t, j)
                                if self._offer(value):
                                    best_k, best_h2, best_h3, best_h4 = k, gone, h3, h2
                                    best_h5, kind = t, 3 * (place + 1) + 2
        head = node_at(kind // 3 - 1, best_h2, best_h4, best_h5, j)
        self._emit(kind, head, node_at(kind % 3, best_h2, best_h4, best_h5, j))
        self._push(h1, i, best_h2, best_h3, best_k)
        self._push(best_h3, best_k, best_h4, best_h5, j)
