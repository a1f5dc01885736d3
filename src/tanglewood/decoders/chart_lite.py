"""Exact search for a class a little within attardi-alls0s1 in O(n^5): its derivations without one kind of join.

The items of `chart` are split by whether h1 has been given a dependent: N[i,t,j] has none, so that h1 does not matter;
U[h1,i,t,j] has at least one; I is the better of the two. Then every rule takes O(n^5), once reduced nodes are maximized
out first, except rule s1 with two premises U. Leaving out just that gives the class:

    s0      N[i,h3,j]    <- N[i,h3,k]    + R[k]        R[k]      = max_h5 I[h3,k,h5,j] + max(s[h3,h5], s[j,h5])
            U[h1,i,h3,j] <- U[h1,i,h3,k] + R[k]
            U[h1,i,h3,j] <- I[h1,i,h3,k] + R1[h1;k]    R1[h1;k]  = max_h5 I[h3,k,h5,j] + s[h1,h5]
    s1      N[i,h5,j]    <- V[i,h5] + max(s[h5,h3], s[j,h3])
            U[h1,i,h5,j] <- V[i,h5] + s[h1,h3]         V[i,h5]   = max_k N[i,h3,k] + I[h3,k,h5,j]
            U[h1,i,h5,j] <- N[k,h5,j] + max(Q[h1,i,k;h1], Q[h1,i,k;h5], Q[h1,i,k;j])
                                                       Q[h1,i,k;g] = max_h3 U[h1,i,h3,k] + s[g,h3]

Of the non-projective trees of treebanks it loses a few in a thousand. It is a class of derivations of attardi-alls0s1,
not the trees of some inventory of reduces.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.chart import Chart, block_sums, node_at
from tanglewood.decoders.maxplus import maximum, outer, padded, pairs, product, row_product
from tanglewood.errors import ConfigError

MINUS = float("-inf")
B0_S0, B0_S1 = 0, 1
S0_S1 = 4
S1_S0 = 6
UNUSED, USED = 1, 2  # types of items: N and U
REDUCES = {(-1, 0), (-1, 1), (0, 1), (1, 0), (2, 0), (2, 1)}


class ChartLite(Chart):
    """The split chart, for the inventory of attardi-alls0s1."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        Chart.__init__(self, inventory, single_root)
        if set(inventory) != REDUCES:
            raise ConfigError("the lite chart is one of attardi-alls0s1, of degree 2; it needs that inventory")

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        block, stride = block_sums(n, 1), padded(n + 2)
        hooks = sum((n - k + 2) * padded(pairs(k - 1)) for k in range(2, n + 1))
        tables = (n + 2) ** 2 * stride + (6 * n + 4) * stride + padded((n + 1) ** 2)
        return block_sums(n, 2)[n + 2] + hooks + block[n + 1] - block[n] + tables

    def _plan(self, n: int) -> int:
        self.block = array("i", block_sums(n, 1))
        self.first = array("i", block_sums(n, 2))
        self.first_q = array("i", bytes(4 * (n + 2)))
        place = self.first[n + 2]
        for k in range(2, n + 1):
            self.first_q[k] = place
            place += (n - k + 2) * padded(pairs(k - 1))
        self.merged = place
        self.unused = self.merged + self.block[n + 1] - self.block[n]
        self.by_head = self.unused + (n + 2) ** 2 * self.stride
        self.by_modifier = self.by_head + (n + 2) * self.stride
        self.r = self.by_modifier + (n + 2) * self.stride
        self.w = self.r + n * self.stride
        self.v = self.w + n * self.stride
        self.u = self.v + n * self.stride
        self.y = self.u + n * self.stride
        return self.y + padded((n + 1) ** 2)

    def _u(self, t: int, j: int) -> int:
        """Place of the block of U[*,*,t,j]."""
        return self.first[j] + self.block[t]

    def _n(self, t: int, j: int) -> int:
        """Place of the row of N[*,t,j]."""
        return self.unused + (t * (self.n + 2) + j) * self.stride

    def _q(self, k: int, column: int) -> int:
        """Place of the block of Q[*,*,k;g]: column 0 is g = h1, the others are g = k..n."""
        return self.first_q[k] + column * padded(pairs(k - 1))

    def _item(self, kind: int, h1: int, i: int, t: int, j: int) -> float:
        if kind == UNUSED:
            return self.arena[self._n(t, j) + i]
        return self.arena[self._u(t, j) + i * (i - 1) // 2 + h1]

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        return max(self._item(UNUSED, 0, k, h5, j), self._item(USED, 0, k, h5, j))

    def _fill(self) -> None:
        for j in range(2, self.n + 2):
            self._clear(self.first[j], self.first[j + 1])
            for t in range(1, j):
                self._clear(self._n(t, j), self._n(t, j) + self.stride)
            self.arena[self._n(j - 1, j) + j - 1] = 0.0  # axiom
            for h3 in range(j - 2, 0, -1):
                self._join_hooked(j, h3 + 1)
                self._join(j, h3)
            self._close(j)
            if j <= self.n:
                self._hook(j)

    def _join_hooked(self, j: int, k: int) -> None:
        """Rule s1 for the premises N[k,*,j] and all U that end in front of k."""
        rows = padded(pairs(k - 1))
        if j <= self.n:
            maximum(self.arena, self.merged, self._q(k, 0), self._q(k, j - k + 1), rows)
        self.a[0] = self.merged if j <= self.n else self._q(k, 0)
        for h5 in range(k, j):
            self.out[h5 - k] = self._u(h5, j)
            self.arena[self.y + h5 - k] = self.arena[self._n(h5, j) + k]
        product(self.arena, self.a, self.out, self.y, 0, 1, j - k, 0, rows, 1, 0, -1, 0)
        for h5 in range(k, j):
            self.a[0] = self._q(k, h5 - k + 1)
            self.out[0] = self._u(h5, j)
            product(self.arena, self.a, self.out, self.y + h5 - k, 0, 0, 1, 0, rows, 1, 0, -1, 0)

    def _join(self, j: int, h3: int) -> None:
        """Both rules for second premises I[h3,*,*,j], the one with a first premise U left out in rule s1."""
        width = j - 1 - h3
        for c in range(width):
            h5 = h3 + 1 + c
            for term in range(c + 1):
                k = h3 + 1 + term
                self.arena[self.y + term * width + c] = max(
                    self.arena[self._n(h5, j) + k], self.arena[self._u(h5, j) + k * (k - 1) // 2 + h3]
                )
            self.a[c] = self._n(h3, h5)
            self.out[c] = self.v + c * self.stride
            self.a2[width - 1 - c] = self.by_modifier + h5 * self.stride
            self.out2[width - 1 - c] = self.r + c * self.stride
            self._clear(self.out[c], self.out[c] + self.stride)
            self._clear(self.r + c * self.stride, self.r + c * self.stride + padded(h3))
        # V: rows i, columns h5.  R1: rows h1; terms h5 and columns k are counted downwards.
        product(self.arena, self.a, self.out, self.y, width, 1, width, 0, padded(h3 + 1), 1, 1, -1, 0)
        last = self.y + width * width - 1
        product(self.arena, self.a2, self.out2, last, -1, -width, width, 0, padded(h3), 1, 1, -1, 0)
        for c in range(width):
            h5 = h3 + 1 + c
            score = max(self._score(S0_S1, h5, h3), self._score(B0_S1, j, h3))
            for i in range(1, h3 + 1):
                self.arena[self._n(h5, j) + i] = max(
                    self.arena[self._n(h5, j) + i], self.arena[self.out[c] + i] + score
                )
            outer(self.arena, self._u(h5, j), self.out[c], self.by_modifier + h3 * self.stride, h3)
        # Rule s0.
        for term in range(width):
            best = MINUS
            for c in range(term, width):
                h5 = h3 + 1 + c
                score = max(self._score(S1_S0, h3, h5), self._score(B0_S0, j, h5))
                best = max(best, self.arena[self.y + term * width + c] + score)
            row = term * self.stride
            for h in range(h3):
                self.arena[self.w + row + h] = max(self.arena[self.r + row + h], best)
            for i in range(1, h3 + 1):
                self.arena[self._n(h3, j) + i] = max(
                    self.arena[self._n(h3, j) + i], self.arena[self._n(h3, h3 + 1 + term) + i] + best
                )
            self.a[term] = self._u(h3, h3 + 1 + term)
            self.a2[term] = self.r + row
        self.out[0] = self._u(h3, j)
        row_product(self.arena, self.a, self.out, self.w, self.stride, 0, 1, width, 0, h3)
        for i in range(1, h3 + 1):
            self.out2[i - 1] = self.u + (i - 1) * self.stride
            self._clear(self.out2[i - 1], self.out2[i - 1] + padded(h3))
        first = self._n(h3, h3 + 1) + 1
        product(self.arena, self.a2, self.out2, first, self.stride, 1, h3, 0, padded(h3), width, 0, -1, 0)
        for i in range(1, h3 + 1):
            row = self._u(h3, j) + i * (i - 1) // 2
            for h in range(i):
                self.arena[row + h] = max(self.arena[row + h], self.arena[self.out2[i - 1] + h])

    def _hook(self, k: int) -> None:
        """Compute Q[*,*,k;g] for all g."""
        columns = self.n - k + 1
        self._clear(self._q(k, 0), self._q(k, columns + 1))
        for c in range(columns):
            self.out[c] = self._q(k, c + 1)
        self.out2[0] = self._q(k, 0)
        of_k = self.by_head + k * self.stride
        for i in range(1, k):
            self.a2[0] = self._u(i, k)  # h3 = i
            row_product(self.arena, self.a2, self.out2, self.by_modifier + i * self.stride, 0, 0, 1, 1, 0, i)
            begin = padded(pairs(i - 1))  # all rows of a vector whose first one is a pair with this i: h3 >= i
            end = padded(pairs(i))
            if begin < end:
                for h3 in range(i, k):
                    self.a[h3 - i] = self._u(h3, k)
                product(self.arena, self.a, self.out, of_k + i, 1, self.stride, columns, begin, end, k - i, 0, -1, 0)

    def _unfold(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        """As in the other charts; h2 is the type of the item, or 0 for the better one."""
        if h2 == 0:
            h2 = USED if self._item(USED, h1, i, t, j) > self._item(UNUSED, h1, i, t, j) else UNUSED
        if h2 == UNUSED and i == t and j == t + 1:
            self._emit(-1, -1, t)
            return
        self._begin(self._item(h2, h1, i, t, j))
        best_k = best_h3 = best_h5 = best_first = best_second = best_place = modifier = 0
        for h3 in range(i, t + 1):
            for k in range(h3 + 1, (j - 1 if h3 == t else t) + 1):
                for h5 in range(k if h3 == t else t, j if h3 == t else t + 1):
                    reduced = h5 if h3 == t else h3
                    for place in range(-1, 3):
                        score = self._score(3 * (place + 1) + (h3 != t), node_at(place, h1, h3, h5, j), reduced)
                        for first in range(1, 3):
                            for second in range(1, 3):
                                used = first == USED or place == 2
                                if used == (h2 == USED) and (h3 == t or first + second < 4):
                                    value = self._item(first, h1, i, h3, k) + self._item(second, h3, k, h5, j) + score
                                    if self._offer(value):
                                        best_k, best_h3, best_h5 = k, h3, h5
                                        best_first, best_second, best_place = first, second, place
                                        modifier = reduced
        head = node_at(best_place, h1, best_h3, best_h5, j)
        self._emit(3 * (best_place + 1) + (best_h3 != t), head, modifier)
        self._push(h1, i, best_first, best_h3, best_k)
        self._push(best_h3, best_k, best_second, best_h5, j)
