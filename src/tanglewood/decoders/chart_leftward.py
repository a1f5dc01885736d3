"""Exact search where no reduce knows of s2 (the leftward inventory of Shi & Lee 2018): O(n^4) time, n^3/3 floats.

What is below s1 then never matters, so the items of `chart` need no h1:

    item    N[i,t,j]      1 <= i <= t < j <= n+1: from i in front of the buffer to t on the old stack and j in front
    axiom   N[i,i,i+1] = 0                                                                  SHIFT of i
    s0      N[i,h3,j] <- N[i,h3,k] + N[k,h5,j] + max(s[h3,h5], s[j,h5])                     s1>s0, b0>s0
    s1      N[i,h5,j] <- N[i,h3,k] + N[k,h5,j] + max(s[h5,h3], s[j,h3])                     s0>s1, b0>s1
    bottom  G[1] = 0,  G[j] <- G[k] + N[k,h5,j] + max(s[0,h5], s[j,h5])                     s1>s0, b0>s0
    goal    G[n+1]

These are five indices. The reduced node is in no conclusion and can be maximized out before the items are joined:

    s0      N[i,h3,j] <- N[i,h3,k] + R[h3]         R[h3] = max_h5 N[k,h5,j] + max(s[h3,h5], s[j,h5])  for each k, j
    s1      N[i,h5,j] <- N[k,h5,j] + max(H[i,k;h5], H[i,k;j])       H[i,k;g] = max_h3 N[i,h3,k] + s[g,h3]

Without b0 it is the chart of arc-standard (Kuhlmann et al. 2011). j goes up, k goes down: all contributions to N[k,*,j]
come from a larger k. Vectors run over i.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from tanglewood.decoders.chart import Chart
from tanglewood.decoders.maxplus import lift, padded, product
from tanglewood.errors import ConfigError

MINUS = float("-inf")
B0_S0, B0_S1 = 0, 1
S0_S1 = 4
S1_S0 = 6
VECTOR = padded(1)


def row_sums(n: int, times: int) -> list[int]:
    """Return for t = 0..n+2 how many places the rows N[*,u,j], u < t, take, as running sums taken `times` times."""
    sums = [padded(t + 1) if t else 0 for t in range(n + 3)]
    for _ in range(times):
        sums = [0, *accumulate(sums[: n + 2])]
    return sums


class ChartLeftward(Chart):
    """The chart of three indices, for inventories of s0, s1 and b0."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        Chart.__init__(self, inventory, single_root)
        if any(place > 1 for pair in inventory for place in pair):
            raise ConfigError("the leftward chart knows the nodes s0, s1 and b0 only")

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        hooks = sum((n - k + 1) * padded(k) for k in range(2, n + 1))
        return row_sums(n, 2)[n + 2] + hooks + (2 * n + 7) * padded(n + 2)

    def _plan(self, n: int) -> int:
        self.row = array("i", row_sums(n, 1))  # of (t, j), counted from that of (1, j)
        self.first = array("i", row_sums(n, 2))  # of (1, j)
        self.first_hook = array("i", bytes(4 * (n + 2)))
        place = self.first[n + 2]
        for k in range(2, n + 1):
            self.first_hook[k] = place
            place += (n - k + 1) * padded(k)
        self.by_head = place
        self.by_modifier = self.by_head + (n + 2) * self.stride
        self.r = self.by_modifier + (n + 2) * self.stride
        self.y = self.r + self.stride
        self.z = self.y + self.stride
        return self.z + self.stride

    def _n(self, t: int, j: int) -> int:
        """Place of the row N[*,t,j]."""
        return self.first[j] + self.row[t]

    def _h(self, k: int, g: int) -> int:
        """Place of the row H[*,k;g]."""
        return self.first_hook[k] + (g - k) * padded(k)

    def _item(self, i: int, t: int, j: int) -> float:
        return self.arena[self._n(t, j) + i]

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        return self._item(k, h5, j)

    def _fill(self) -> None:
        for j in range(2, self.n + 2):
            self._clear(self.first[j], self.first[j + 1])
            self.arena[self._n(j - 1, j) + j - 1] = 0.0  # axiom
            for k in range(j - 1, 1, -1):
                self._join(j, k)
            self._close(j)
            if j <= self.n:
                self._hook(j)

    def _join(self, j: int, k: int) -> None:
        """Both rules for the second premises N[k,*,j], which are all known by now."""
        width = j - k
        of_j = self.first[j]
        of_k = self.first[k]
        hooks = self.first_hook[k]
        size = padded(k)
        for c in range(width):
            place = of_j + self.row[k + c]
            self.arena[self.y + c] = self.arena[place + k]
            self.a[c] = hooks + c * size
            self.a2[c] = self.by_modifier + (k + c) * self.stride
            self.out[c] = place
        best = MINUS
        if self.on[B0_S0] > MINUS:
            place = self.by_head + j * self.stride + k
            for c in range(width):
                best = max(best, self.arena[self.y + c] + self.arena[place + c])
        # Rule s1: columns are h5.
        if self.on[S0_S1] > MINUS:
            from_j = self._h(k, j) if self.on[B0_S1] > MINUS and j <= self.n else -1
            lift(self.arena, self.a, self.out, from_j, self.y, width, k, 0)
        elif self.on[B0_S1] > MINUS and j <= self.n:
            for c in range(width):
                self.a[c] = self._h(k, j)
            lift(self.arena, self.a, self.out, -1, self.y, width, k, 0)
        # Rule s0: first R, whose rows are h3, then columns are h3.
        self._clear(self.r, self.r + size)
        self.out2[0] = self.r
        product(self.arena, self.a2, self.out2, self.y, 1, 0, 1, 0, size, width, 0, -1, 0)
        for h3 in range(1, k):
            self.arena[self.z + h3 - 1] = max(self.arena[self.r + h3] + self.on[S1_S0], best)
            self.a[h3 - 1] = of_k + self.row[h3]
            self.out[h3 - 1] = of_j + self.row[h3]
        lift(self.arena, self.a, self.out, -1, self.z, k - 1, 2, 1)

    def _close(self, j: int) -> None:
        """Rule `bottom`, as in the other charts."""
        self.bottom[j] = MINUS
        for h5 in range(1, j):
            self.arena[self.z + h5] = max(self._bottom_score(S1_S0, 0, h5, j), self._bottom_score(B0_S0, 0, h5, j))
        for k in range(1, j):
            if self.bottom[k] > MINUS:
                best = MINUS
                for h5 in range(k, j):
                    best = max(best, self.arena[self.first[j] + self.row[h5] + k] + self.arena[self.z + h5])
                self.bottom[j] = max(self.bottom[j], self.bottom[k] + best)

    def _hook(self, k: int) -> None:
        """Compute H[*,k;g] for all g, one vector of rows i after the other: each h3 has rows i <= h3 only."""
        columns = self.n - k + 1
        self._clear(self._h(k, k), self._h(k, self.n + 1))
        for c in range(columns):
            self.out[c] = self._h(k, k + c)
        for vector in range(padded(k) // VECTOR):
            begin = vector * VECTOR
            low = max(begin, 1)
            for h3 in range(low, k):
                self.a[h3 - low] = self._n(h3, k)
            scores = self.by_head + k * self.stride + low
            end = begin + VECTOR
            product(self.arena, self.a, self.out, scores, 1, self.stride, columns, begin, end, k - low, 0, -1, 0)

    def _unfold(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        if i == t and j == t + 1:
            self._emit(-1, -1, t)
            return
        self._begin(self._item(i, t, j))
        best_k = best_h3 = best_h5 = kind = head = 0
        for k in range(t + 1, j):  # rule s0: h3 is t
            inside = self._item(i, t, k)
            for h5 in range(k, j):
                value = inside + self._item(k, h5, j)
                if self._offer(value + self._score(S1_S0, t, h5)):
                    best_k, best_h3, best_h5, kind, head = k, t, h5, S1_S0, t
                if self._offer(value + self._score(B0_S0, j, h5)):
                    best_k, best_h3, best_h5, kind, head = k, t, h5, B0_S0, j
        for k in range(i + 1, t + 1):  # rule s1: h5 is t
            inside = self._item(k, t, j)
            for h3 in range(i, k):
                value = inside + self._item(i, h3, k)
                if self._offer(value + self._score(S0_S1, t, h3)):
                    best_k, best_h3, best_h5, kind, head = k, h3, t, S0_S1, t
                if self._offer(value + self._score(B0_S1, j, h3)):
                    best_k, best_h3, best_h5, kind, head = k, h3, t, B0_S1, j
        self._emit(kind, head, best_h5 if best_h3 == t else best_h3)
        self._push(0, i, 0, best_h3, best_k)
        self._push(0, best_k, 0, best_h5, j)
