"""Exact search where s2 is never reduced (attardi-alls0s1 and what is within it): O(n^6) time, n^4/24 floats.

A reduce is named by the places of its head and its modifier on the stack (s0, s1, s2) or in the buffer (b0). From an
inventory of them follows a deduction system; s[h, m] is the score of an arc, maxima run over the reduces there are:

    item    I[h1,i,t,j]   0 <= h1 < i <= t < j <= n+1: from a stack with h1 on top and i in front of the buffer to
                          h1, t on top and j in front, h1 and what is below it never leaving the stack
    axiom   I[h1,i,i,i+1] = 0                                                               SHIFT of i
    s0      I[h1,i,h3,j] <- I[h1,i,h3,k] + I[h3,k,h5,j] + max(s[h3,h5], s[h1,h5], s[j,h5])  s1>s0, s2>s0, b0>s0
    s1      I[h1,i,h5,j] <- I[h1,i,h3,k] + I[h3,k,h5,j] + max(s[h5,h3], s[h1,h3], s[j,h3])  s0>s1, s2>s1, b0>s1
    bottom  G[1] = 0,  G[j] <- G[k] + I[0,k,h5,j] + max(s[0,h5], s[j,h5])                   s1>s0, b0>s0
    goal    G[n+1]

(Shi & Lee 2018; there h2 = h1 and h4 = h3 in this system.) With a single root, the arc from 0 is the last move: it is
allowed in the last bottom step only. Rule s1 is where the time goes. For fixed j and h3 it is a max-plus product of
matrices over k, since no score depends on k: rows are the pairs (i, h1), i <= h3, columns the h5. The block of t and j
holds its pairs in the order of `maxplus`, so that these rows are the first ones of every block involved.
No back-pointers are kept: the best derivation is read off by looking at all premises of its items again.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.base import NO_TREE, Scores
from tanglewood.decoders.maxplus import MOST_WORDS, new_arena, padded, pairs, product, row_product
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

MINUS = float("-inf")
SHIFT = 0

# Kinds of reduces: 3 * (place of the head + 1) + place of the modifier; b0 is place -1.
B0_S0, B0_S1 = 0, 1
S0_S1 = 4
S1_S0 = 6
S2_S0, S2_S1 = 9, 10
KINDS = 12
ITEM = 4 if cython.compiled else 8  # bytes of a float in the arena


def block_sums(n: int, times: int) -> array[int]:
    """Return for t = 0..n+2 how many places the blocks of pairs below t take, as running sums taken `times` times."""
    sums = array("q", [padded(pairs(t)) if t else 0 for t in range(n + 3)])
    for _ in range(times):
        total = 0
        for t in range(n + 3):
            sums[t], total = total, total + sums[t]
    return sums


def node_at(place: int, s2: int, s1: int, s0: int, b0: int) -> int:
    """Return the node at a place."""
    return b0 if place < 0 else s0 if place == 0 else s1 if place == 1 else s2


class Chart:
    """The working space of one sentence at a time: scores, items, bottom items, the derivation. Not thread-safe."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        self.single_root = single_root
        self.n = -1
        self.stride = self.by_head = self.by_modifier = 0
        self.arena = new_arena(0)
        self.on = array("f", [MINUS] * KINDS)  # 0 for the reduces in the inventory
        self.move_of = array("i", [-1] * KINDS)
        for number, (head, modifier) in enumerate(inventory):
            if head > 2 or modifier > 2:
                raise ConfigError("exact search knows the nodes s0, s1, s2 and b0 only: systems of degree 1 and 2")
            self.on[3 * (head + 1) + modifier] = 0.0
            self.move_of[3 * (head + 1) + modifier] = number + 1

    # Memory and scores. ---------------------------------------------------------------------------------------

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        raise NotImplementedError

    def memory(self, n: int) -> int:
        """Return how many bytes a sentence of n words needs, before they are allocated."""
        return ITEM * (self.size(n) + 2 * padded(1)) + 200 * (n + 3)

    def _plan(self, n: int) -> int:
        """Decide where everything goes in the arena; return its size."""
        raise NotImplementedError

    def load(self, scores: Scores) -> None:
        """Take the scores of a sentence, which must have passed `words_in`."""
        table: memoryview[float] = memoryview(scores)
        self._make_room(len(table) - 1)
        if not self._read(table):
            raise ConfigError("arc scores must be numbers or -inf; there is a NaN or +inf among them")

    def _make_room(self, n: int) -> None:
        """Allocate what a sentence of n words needs."""
        if n > MOST_WORDS or self.size(n) >= 2**31 - 2 * padded(1):
            raise ConfigError(f"a sentence of {n} words is too long for this chart: {self.memory(n):,} bytes")
        size = self.size(n)
        if len(self.arena) < size + padded(1):
            self.arena = new_arena(size)
        if n != self.n:
            self.n = n
            self.stride = padded(n + 2)
            self.a = array("i", bytes(4 * (n + 3)))
            self.a2 = array("i", bytes(4 * (n + 3)))
            self.out = array("i", bytes(4 * (n + 3)))
            self.out2 = array("i", bytes(4 * (n + 3)))
            self.stack = array("i", bytes(4 * 5 * (2 * n + 4)))
            self.bottom = array("d", bytes(8 * (n + 2)))
            self.root = array("d", bytes(8 * (n + 2)))
            self.heads = array("i", bytes(4 * (n + 1)))
            self.moves = array("i", bytes(4 * (2 * n + 1)))
            self._plan(n)

    def _read(self, scores: memoryview[float]) -> bool:
        """Copy the scores by head and by modifier, with -inf for what is not an arc; return whether they are valid."""
        fine = True
        for place in range(self.by_head, self.by_head + 2 * (self.n + 2) * self.stride):
            self.arena[place] = MINUS
        for modifier in range(1, self.n + 1):
            self.root[modifier] = scores[0, modifier]
            for head in range(self.n + 1):
                if head != modifier:
                    if not scores[head, modifier] < -MINUS:
                        fine = False  # NaN or +inf, which must stay out of the arena, where it would spread
                    elif head > 0 or not self.single_root:
                        self.arena[self.by_head + head * self.stride + modifier] = scores[head, modifier]
                        self.arena[self.by_modifier + modifier * self.stride + head] = scores[head, modifier]
        return fine

    def _score(self, kind: int, head: int, modifier: int) -> float:
        """Score of a reduce: -inf if it is not in the inventory."""
        return self.arena[self.by_head + head * self.stride + modifier] + self.on[kind]

    def _clear(self, start: int, end: int) -> None:
        for place in range(start, end):
            self.arena[place] = MINUS

    # Bottom items, and what the charts have in common in their last steps. ------------------------------------

    def _fill(self) -> None:
        """Compute all items."""

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        """Value of the item from stack [0], front k to stack [0, h5], front j."""
        return MINUS

    def _bottom_score(self, kind: int, k: int, h5: int, j: int) -> float:
        """Score of reducing h5 on the stack [0, h5], front j; k was in front when 0 was alone."""
        if kind == B0_S0:
            return self._score(B0_S0, j, h5)
        if self.single_root and j <= self.n:
            return MINUS
        return self.root[h5] + self.on[S1_S0]

    def _close(self, j: int) -> None:
        """Rule `bottom`."""
        self.bottom[j] = MINUS
        for k in range(1, j):
            if self.bottom[k] > MINUS:
                for h5 in range(k, j):
                    score = max(self._bottom_score(S1_S0, k, h5, j), self._bottom_score(B0_S0, k, h5, j))
                    self.bottom[j] = max(self.bottom[j], self.bottom[k] + self._bottom_item(k, h5, j) + score)

    def _trace(self) -> None:
        """Read off the best derivation: `moves` and `heads`."""
        self.steps = 2 * self.n + 1
        self.heads[0] = -1
        j = self.n + 1
        while j > 1:
            self._begin(self.bottom[j])
            best_k = best_h5 = kind = 0
            for k in range(1, j):
                for h5 in range(k, j):
                    inside = self.bottom[k] + self._bottom_item(k, h5, j)
                    for place in range(-1, 2, 2):
                        value = inside + self._bottom_score(3 * (place + 1), k, h5, j)
                        if self._offer(value):
                            best_k, best_h5, kind = k, h5, 3 * (place + 1)
            self._emit(kind, j if kind == B0_S0 else 0, best_h5)
            self.depth = 0
            self._push(0, best_k, 0, best_h5, j)
            while self.depth > 0:
                self.depth -= 5
                self._unfold(
                    self.stack[self.depth],
                    self.stack[self.depth + 1],
                    self.stack[self.depth + 2],
                    self.stack[self.depth + 3],
                    self.stack[self.depth + 4],
                )
            j = best_k
        self._emit(-1, -1, 0)

    def _begin(self, total: float) -> None:
        """Begin to choose among the ways to derive an item, which together have this value."""
        self.best = MINUS

    def _offer(self, value: float) -> bool:
        """Whether this way is to be chosen over those offered before; the first of the best is."""
        if value > self.best:
            self.best = value
            return True
        return False

    def _push(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        """Leave an item for later."""
        self.stack[self.depth] = h1
        self.stack[self.depth + 1] = i
        self.stack[self.depth + 2] = h2
        self.stack[self.depth + 3] = t
        self.stack[self.depth + 4] = j
        self.depth += 5

    def _emit(self, kind: int, head: int, modifier: int) -> None:
        """Write the last move that is not yet written: a reduce, or SHIFT (kind -1)."""
        self.steps -= 1
        if kind < 0:
            self.moves[self.steps] = SHIFT
        else:
            self.moves[self.steps] = self.move_of[kind]
            self.heads[modifier] = head

    def _unfold(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        """Write the last move of the item's best derivation and push its premises, the second on top."""

    def run(self) -> float:
        """Search; return the value of the best derivation, -inf if there is none. `heads` and `moves` then hold it."""
        with cython.nogil:
            self.bottom[1] = 0.0
            self._fill()
            if self.bottom[self.n + 1] > MINUS:
                self._trace()
        return self.bottom[self.n + 1] if self.bottom[self.n + 1] > MINUS else NO_TREE


class ChartS0S1(Chart):
    """The chart of four indices, for inventories that do not reduce s2."""

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs."""
        stride = padded(n + 2)
        return block_sums(n, 2)[n + 2] + block_sums(n, 1)[n + 1] + (4 * n + 5) * stride + padded((n + 1) ** 2)

    def _plan(self, n: int) -> int:
        self.block = array("i", block_sums(n, 1))  # of (j, t), counted from that of (j, 1)
        self.first = array("i", block_sums(n, 2))  # of (j, 1)
        self.row_scores = self.first[n + 2]  # of s2>s1, for all pairs
        self.by_head = self.row_scores + self.block[n + 1]
        self.by_modifier = self.by_head + (n + 2) * self.stride
        self.q = self.by_modifier + (n + 2) * self.stride
        self.r = self.q + n * self.stride
        self.column_scores = self.r + n * self.stride
        self.y = self.column_scores + self.stride
        return self.y + padded((n + 1) ** 2)

    def _item(self, h1: int, i: int, t: int, j: int) -> float:
        return self.arena[self.first[j] + self.block[t] + i * (i - 1) // 2 + h1]

    def _bottom_item(self, k: int, h5: int, j: int) -> float:
        return self._item(0, k, h5, j)

    def _fill(self) -> None:
        for t in range(1, self.n + 1):
            self._clear(self.row_scores + self.block[t], self.row_scores + self.block[t + 1])
            for i in range(1, t + 1):
                for h in range(i):
                    self.arena[self.row_scores + self.block[t] + i * (i - 1) // 2 + h] = self._score(S2_S1, h, t)
        for j in range(2, self.n + 2):
            last = self.first[j] + self.block[j - 1]
            self._clear(last, last + padded(pairs(j - 1)))
            for h in range(j - 1):
                self.arena[last + pairs(j - 2) + h] = 0.0  # axioms
            for h3 in range(j - 2, 0, -1):
                self._join(j, h3)
            self._close(j)

    def _join(self, j: int, h3: int) -> None:
        """Rules s1 and s0 for the second premises I[h3,*,*,j], which are all known by now."""
        width = j - 1 - h3
        for c in range(width):
            h5 = h3 + 1 + c
            self.a[c] = self.first[h5] + self.block[h3]  # as the k of the first premises
            self.out[c] = self.first[j] + self.block[h5]
            self.arena[self.column_scores + c] = max(self._score(S0_S1, h5, h3), self._score(B0_S1, j, h3))
            for term in range(c + 1):
                k = h3 + 1 + term
                self.arena[self.y + term * width + c] = self.arena[self.out[c] + k * (k - 1) // 2 + h3]
        product(
            self.arena,
            self.a,
            self.out,
            self.y,
            width,
            1,
            width,
            0,
            padded(pairs(h3)),
            1,
            1,
            self.row_scores + self.block[h3],
            self.column_scores,
        )
        # r[k][h1] is the best of I[h3,k,h5,j] + score over h5: a product too, with h5 and k counted downwards.
        for c in range(width):
            h5 = h3 + 1 + c
            score = max(self._score(S1_S0, h3, h5), self._score(B0_S0, j, h5))
            self.a2[width - 1 - c] = self.q + c * self.stride
            self.out2[width - 1 - c] = self.r + c * self.stride
            place = self.by_modifier + h5 * self.stride
            for h in range(h3):
                self.arena[self.a2[width - 1 - c] + h] = max(self.arena[place + h] + self.on[S2_S0], score)
            self._clear(self.r + c * self.stride, self.r + c * self.stride + padded(h3))
        product(
            self.arena,
            self.a2,
            self.out2,
            self.y + width * width - 1,
            -1,
            -width,
            width,
            0,
            padded(h3),
            1,
            1,
            -1,
            0,
        )
        self.out2[0] = self.first[j] + self.block[h3]
        self._clear(self.out2[0], self.out2[0] + padded(pairs(h3)))
        row_product(self.arena, self.a, self.out2, self.r, self.stride, 0, 1, width, 0, h3)

    def _unfold(self, h1: int, i: int, h2: int, t: int, j: int) -> None:
        if i == t and j == t + 1:
            self._emit(-1, -1, t)
            return
        self._begin(self._item(h1, i, t, j))
        best_k = best_h3 = best_h5 = kind = head = 0
        for k in range(t + 1, j):  # rule s0: h3 is t
            for h5 in range(k, j):
                inside = self._item(h1, i, t, k) + self._item(t, k, h5, j)
                for place in range(-1, 3):
                    node = node_at(place, h1, t, h5, j)
                    value = inside + self._score(3 * (place + 1), node, h5)
                    if self._offer(value):
                        best_k, best_h3, best_h5, kind, head = k, t, h5, 3 * (place + 1), node
        for h3 in range(i, t):  # rule s1: h5 is t
            for k in range(h3 + 1, t + 1):
                inside = self._item(h1, i, h3, k) + self._item(h3, k, t, j)
                for place in range(-1, 3):
                    node = node_at(place, h1, h3, t, j)
                    value = inside + self._score(3 * (place + 1) + 1, node, h3)
                    if self._offer(value):
                        best_k, best_h3, best_h5, kind, head = k, h3, t, 3 * (place + 1) + 1, node
        self._emit(kind, head, best_h5 if best_h3 == t else best_h3)
        self._push(h1, i, h1, best_h3, best_k)
        self._push(best_h3, best_k, best_h3, best_h5, j)
