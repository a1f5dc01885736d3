"""Sums over all derivations of the Attardi family, and scores of transitions beyond those of their arcs.

The rules are those of `chart_s2` with sums of exponentials for maxima, as logarithms in double precision. A tree counts
as often as it has derivations (its value is the same in all of them, if only arcs are scored). Probabilities go down
from the goal: a way to derive an item has the probability of the item times its share of the item's sum.

Besides its arc, a reduce of s0 or s1 may be scored by all of s2, s1, s0 and b0, the nodes of a join; a SHIFT
by s1, s0 and b0, at the join whose second premise it begins. A reduce of s2 is scored by its arc only: the hook that
keeps the time at O(n^7) does not see the other nodes. Nothing here is vectorized.
"""

from __future__ import annotations

from array import array
from math import comb
from random import Random

from tanglewood.decoders.base import Scores
from tanglewood.decoders.chart import node_at
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.decoders.maxplus import padded, pairs
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log

MINUS = float("-inf")
KINDS = 12


class TransitionScores:
    """Scores of moves by the nodes in view, in addition to those of arcs; all are 0 at first.

    ``reduces[kind of reduce, place]`` with ``place = place_of(s2, s1, s0, b0)``, s2 being -1 if the stack has two nodes
    and b0 being n + 1 if the buffer is empty, and ``shifts[shift_place(s1, s0, b0)]``, s1 being -1 if the stack is [0].
    The first SHIFT is not scored.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.size = comb(n + 3, 4)
        self.reduces = array("d", bytes(8 * KINDS * self.size))
        self.shifts = array("d", bytes(8 * comb(n + 2, 3)))

    def set_reduce(self, head_place: int, modifier_place: int, view: tuple[int, int, int, int], score: float) -> None:
        """Score the reduce of s0 or s1 by (s2, s1, s0, b0)."""
        if modifier_place not in (0, 1):
            raise ConfigError("only reduces of s0 and s1 can be scored by all nodes on view; score the arc")
        place = sum(comb(node + 1, number) for number, node in enumerate(view, 1))
        self.reduces[(3 * (head_place + 1) + modifier_place) * self.size + place] = score

    def set_shift(self, view: tuple[int, int, int], score: float) -> None:
        """Score the SHIFT of b0 by (s1, s0, b0)."""
        self.shifts[sum(comb(node + 1, number) for number, node in enumerate(view, 1))] = score


class ChartSum(ChartS2):
    """The chart of logarithms of sums or, with ``maximise``, of maxima."""

    def __init__(self, inventory: list[tuple[int, int]], single_root: bool) -> None:
        ChartS2.__init__(self, inventory, single_root)
        self.maximise = self.scored = False
        self.view_size = 0
        self.reduces = self.shifts = array("d")

    def score_transitions(self, transitions: TransitionScores) -> None:
        """Score transitions too, after `load`."""
        if transitions.n != self.n:
            raise ConfigError(f"the transitions are scored for {transitions.n} words, the arcs for {self.n}")
        self.scored = True
        self.view_size = transitions.size
        self.reduces = transitions.reduces
        self.shifts = transitions.shifts
        self.choose = array("i", [comb(node, number) for number in range(1, 5) for node in range(self.n + 3)])

    def size(self, n: int) -> int:
        """Return how many floats a sentence of n words needs: only the scores are floats here."""
        return 2 * (n + 2) * padded(n + 2)

    def memory(self, n: int) -> int:
        """Return how many bytes a sentence of n words needs; probabilities need all of them, sums and samples half."""
        return ChartS2.memory(self, n) + 16 * (self.items(n) + n * (n + 1) * (n + 2))

    def load(self, scores: Scores) -> None:
        """Take the scores of a sentence, which must have passed `words_in`."""
        n = len(memoryview(scores)) - 1
        if self.items(n) >= 2**31:
            raise ConfigError(f"a sentence of {n} words is too long for this chart: {self.memory(n):,} bytes")
        ChartS2.load(self, scores)

    def _plan(self, n: int) -> int:
        ChartS2._plan(self, n)
        self.by_head = 0
        self.by_modifier = (n + 2) * self.stride
        self.inside = array("d", bytes(8 * self.merged))
        self.expected = array("d")
        self.hooked = array("d", bytes(8 * n * (n + 1) * (n + 2)))
        self.hooked_expected = array("d")
        self.expected_bottom = array("d", bytes(8 * (n + 2)))
        self.arcs = array("d", bytes(8 * (n + 1) ** 2))
        self.uniform = array("d", [-1.0] * (2 * n + 2))
        return self.size(n)

    def _item(self, h1: int, i: int, h2: int, t: int, j: int) -> float:
        if h1 != h2 and not self.takes_s2:
            return MINUS
        return self.inside[self._place(h1, i, h2, t, j)]

    # Scores of transitions. -----------------------------------------------------------------------------------

    def _reduce_score(self, kind: int, s2: int, s1: int, s0: int, b0: int) -> float:
        """Score of a reduce beyond its arc's."""
        if not self.scored or kind % 3 == 2:
            return 0.0
        place = self.choose[s2 + 1] + self.choose[self.n + 3 + s1 + 1]
        place += self.choose[2 * (self.n + 3) + s0 + 1] + self.choose[3 * (self.n + 3) + b0 + 1]
        return self.reduces[kind * self.view_size + place]

    def _shift_score(self, s1: int, s0: int, b0: int) -> float:
        """Score of the SHIFT of b0."""
        if not self.scored:
            return 0.0
        place = self.choose[s1 + 1] + self.choose[self.n + 3 + s0 + 1] + self.choose[2 * (self.n + 3) + b0 + 1]
        return self.shifts[place]

    def _way_score(self, kind: int, h2: int, h3: int, k: int, h4: int, h5: int, j: int) -> float:
        score = ChartS2._way_score(self, kind, h2, h3, k, h4, h5, j)
        return score + self._reduce_score(kind, h2, h4, h5, j) + self._shift_score(h2, h3, k)

    def _bottom_score(self, kind: int, k: int, h5: int, j: int) -> float:
        score = ChartS2._bottom_score(self, kind, k, h5, j)
        return score + self._reduce_score(kind, -1, 0, h5, j) + self._shift_score(-1, 0, k)

    # Choosing at random. --------------------------------------------------------------------------------------

    def _begin(self, total: float) -> None:
        self.best = MINUS
        self.total = total
        self.mass = 0.0
        self.chosen = False
        self.drawn += 1

    def _offer(self, value: float) -> bool:
        """Choose each way with its share of the total: the one with which their sum passes a random number."""
        if self.maximise:
            return ChartS2._offer(self, value)
        if self.chosen or value == MINUS:
            return False
        self.mass += exp(value - self.total)
        self.chosen = self.mass >= self.uniform[self.drawn]
        return True

    # Sums. ----------------------------------------------------------------------------------------------------

    def _start(self, value: float) -> None:
        self.top = value
        self.sum = 1.0 if value > MINUS else 0.0

    def _add(self, value: float) -> None:
        if value == MINUS:
            return
        if self.maximise:
            self.top = max(self.top, value)
        elif value <= self.top:
            self.sum += exp(value - self.top)
        else:
            self.sum = self.sum * exp(self.top - value) + 1.0
            self.top = value

    def _log(self) -> float:
        return self.top if self.maximise or self.top == MINUS else self.top + log(self.sum)

    def _wplace(self, k: int, t: int, h2: int, h3: int) -> int:
        """Place of W[h2;h3,k,t,j]."""
        return ((k - h3 - 1) * (self.n + 1) + t - h3) * (self.n + 1) + h2

    def _last_k(self, t: int, h3: int, j: int) -> int:
        """Highest k with which t may stay above h2."""
        return j - 1 if t == h3 else t

    def _fill(self) -> None:
        for j in range(2, self.n + 2):
            for place in range(self.first[j], self.first[j + 1]):
                self.inside[place] = MINUS
            if self.takes_s2:
                for place in range(self.first_x[j], self.first_x[j + 1]):
                    self.inside[place] = MINUS
            for h in range(j - 1):
                self.inside[self._place(h, j - 1, h, j - 1, j)] = 0.0  # axioms
            for h3 in range(j - 2, 0, -1):
                self._reduced(j, h3, False)
                self._joined(j, h3, False)
                if self.takes_s2:
                    self._joined_s2(j, h3, False)
            self._close(j)
            if self.takes_s2 and j <= self.n:
                for t in range(1, j):
                    self._hooked(t, j, False)

    def _expect(self) -> None:
        """Give every item its probability, and every arc the sum of the probabilities of the ways that make it."""
        for j in range(self.n + 1, 1, -1):
            if self.takes_s2 and j <= self.n:
                for t in range(1, j):
                    self._hooked(t, j, True)
            for k in range(1, j):
                for h5 in range(k, j):
                    for place in range(-1, 2, 2):
                        value = self.bottom[k] + self._bottom_item(k, h5, j)
                        value += self._bottom_score(3 * (place + 1), k, h5, j)
                        if value > MINUS:
                            share = self.expected_bottom[j] * exp(value - self.bottom[j])
                            self.expected_bottom[k] += share
                            self.expected[self._place(0, k, 0, h5, j)] += share
                            self.arcs[(j if place < 0 else 0) * (self.n + 1) + h5] += share
            for h3 in range(1, j - 1):
                self._reduced(j, h3, False)
                for place in range(self._wplace(j, h3, 0, h3)):
                    self.hooked_expected[place] = 0.0
                self._joined(j, h3, True)
                if self.takes_s2:
                    self._joined_s2(j, h3, True)
                self._reduced(j, h3, True)

    def _close(self, j: int) -> None:
        self._start(MINUS)
        for k in range(1, j):
            for h5 in range(k, j):
                for place in range(-1, 2, 2):
                    score = self._bottom_score(3 * (place + 1), k, h5, j)
                    self._add(self.bottom[k] + self._bottom_item(k, h5, j) + score)
        self.bottom[j] = self._log()

    def _reduced(self, j: int, h3: int, down: bool) -> None:
        """W from Y (up), or the probabilities of Y and of arcs from those of W (down)."""
        for k in range(h3 + 1, j):
            for t in range(h3, j):
                if t > h3 and t < k:
                    continue
                for h2 in range(h3):
                    self._start(MINUS)
                    if t == h3 or self.takes_s2:  # s0 is reduced, t is h4
                        for h5 in range(max(t + 1, k), j):
                            self._reduce(j, h3, k, h2, t, h5, 0, t, down)
                    for h4 in range(h3, t):  # s1 is reduced, t is h5
                        if h4 == h3 or (h4 >= k and self.takes_s2):
                            self._reduce(j, h3, k, h2, h4, t, 1, t, down)
                    if not down:
                        self.hooked[self._wplace(k, t, h2, h3)] = self._log()

    def _reduce(
        self, j: int, h3: int, k: int, h2: int, h4: int, h5: int, modifier_place: int, t: int, down: bool
    ) -> None:
        """All heads of the node at one place."""
        y = self._item(h3, k, h4, h5, j)
        if y == MINUS:
            return
        modifier = h5 if modifier_place == 0 else h4
        whole = self._wplace(k, t, h2, h3)
        for place in range(-1, 3):
            head = node_at(place, h2, h4, h5, j)
            kind = 3 * (place + 1) + modifier_place
            value = y + self._score(kind, head, modifier) + self._reduce_score(kind, h2, h4, h5, j)
            if not down:
                self._add(value)
            elif value > MINUS and self.hooked_expected[whole] > 0:
                share = self.hooked_expected[whole] * exp(value - self.hooked[whole])
                self.expected[self._place(h3, k, h4, h5, j)] += share
                self.arcs[head * (self.n + 1) + modifier] += share

    def _joined(self, j: int, h3: int, down: bool) -> None:
        """Rules s0 and s1; h2 = 0 stands for h2 = h1."""
        for h2 in range(h3 if self.takes_s2 else 1):
            for t in range(h3, j):
                for i in range(1, (h3 if h2 == 0 else h2) + 1):
                    for h1 in range(i):
                        below = h1 if h2 == 0 else h2
                        place = self._place(h1, i, below, t, j)
                        if not down:
                            self._start(self.inside[place])
                        elif self.expected[place] <= 0:
                            continue
                        for k in range(h3 + 1, self._last_k(t, h3, j) + 1):
                            first = self._place(h1, i, below, h3, k)
                            weight = self._wplace(k, t, below, h3)
                            value = self.inside[first] + self.hooked[weight] + self._shift_score(below, h3, k)
                            if not down:
                                self._add(value)
                            elif value > MINUS:
                                share = self.expected[place] * exp(value - self.inside[place])
                                self.expected[first] += share
                                self.hooked_expected[weight] += share
                        if not down:
                            self.inside[place] = self._log()

    def _joined_s2(self, j: int, h3: int, down: bool) -> None:
        """Rule s2: the head is s0 (h5), s1 (h4) or b0 (j)."""
        for h5 in range(h3 + 1, j):
            for h4 in range(h3, h5):
                for i in range(1, h3 + 1):
                    for h1 in range(i):
                        place = self._place(h1, i, h4, h5, j)
                        if not down:
                            self._start(self.inside[place])
                        elif self.expected[place] <= 0:
                            continue
                        for k in range(h3 + 1, (h5 if h4 == h3 else h4) + 1):
                            y = self._place(h3, k, h4, h5, j)
                            for head_place in range(-1, 2):
                                if self.on[3 * (head_place + 1) + 2] != 0 or (head_place < 0 and j > self.n):
                                    continue
                                column = node_at(head_place, 0, h4, h5, j) - k + 1
                                if head_place == 1 and h4 == h3:
                                    column = 0
                                z = self._z(h3, k, column) + i * (i - 1) // 2 + h1
                                value = self.inside[y] + self.inside[z]
                                if not down:
                                    self._add(value)
                                elif value > MINUS:
                                    share = self.expected[place] * exp(value - self.inside[place])
                                    self.expected[y] += share
                                    self.expected[z] += share
                        if not down:
                            self.inside[place] = self._log()

    def _hooked(self, t: int, k: int, down: bool) -> None:
        """Z from X (up), or the probabilities of X and of arcs from those of Z (down)."""
        for column in range(self.n - k + 2):
            head = t if column == 0 else k + column - 1
            for i in range(1, t + 1):
                for h1 in range(i):
                    whole = self._z(t, k, column) + pairs(i - 1) + h1
                    if not down:
                        self._start(MINUS)
                    elif self.expected[whole] <= 0:
                        continue
                    for h2 in range(h1, t):
                        if h2 == 0 or (h2 != h1 and h2 < i):
                            continue
                        place = self._place(h1, i, h2, t, k)
                        value = self.inside[place] + self.arena[self.by_head + head * self.stride + h2]
                        value += self._shift_score(h2, t, k)
                        if not down:
                            self._add(value)
                        elif value > MINUS:
                            share = self.expected[whole] * exp(value - self.inside[whole])
                            self.expected[place] += share
                            self.arcs[head * (self.n + 1) + h2] += share
                    if not down:
                        self.inside[whole] = self._log()

    # The public interface. ------------------------------------------------------------------------------------

    def run(self) -> float:
        """Sum over all derivations; return the logarithm of the sum, -inf if there are none."""
        with cython.nogil:
            self.bottom[1] = 0.0
            self._fill()
        return self.bottom[self.n + 1]

    def search(self) -> float:
        """Find the best derivation and return its value, -inf if there is none; `heads` and `moves` then hold it."""
        self.maximise = True
        value = self.run()
        if value > MINUS:
            with cython.nogil:
                self.drawn = -1
                self._trace()
        return value

    def expect(self) -> memoryview[float]:
        """Return the probability of every arc, after `run`; all are 0 if there is no derivation."""
        size = self.n + 1
        self.expected = array("d", bytes(8 * self.merged))
        self.hooked_expected = array("d", bytes(8 * self.n * (self.n + 1) * (self.n + 2)))
        self.expected_bottom = array("d", bytes(8 * (self.n + 2)))
        self.arcs = array("d", bytes(8 * size * size))
        if self.bottom[size] > MINUS:
            with cython.nogil:
                self.expected_bottom[self.n + 1] = 1.0
                self._expect()
        return memoryview(self.arcs).cast("B").cast("d", (size, size))

    def draw(self, rng: Random) -> None:
        """Draw a derivation, after a `run` that found some: `heads` and `moves` then hold it."""
        self.uniform = array("d", [rng.random() for _ in range(2 * self.n + 2)])
        with cython.nogil:
            self.drawn = -1
            self._trace()
