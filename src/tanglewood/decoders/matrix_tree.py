"""Sums over all trees by the matrix-tree theorem: the partition function, the probability of every arc, random trees.

The determinant of the theorem is found by taking one node after the other out of the graph. If w is taken out, every
other node gets, in addition to its own arcs, those that went through w: an arc i -> j grows by (i -> w)(w -> j) divided
by the sum D of all arcs into w, and the determinant is the product of these sums. Arcs from a node to itself are left
out. So nothing is ever subtracted, and no digit is lost however far apart the scores lie (Grassmann, Taksar & Heyman
1985 for Markov chains); weights are kept as logarithms. (Tutte 1984; for parsing Koo et al. 2007, McDonald & Satta
2007, Smith & Smith 2007.)

For trees with one root every arc from 0 costs a level and sums keep their highest level only: the leading term in t
if the arcs from 0 are multiplied by a t that goes to 0.
"""

from __future__ import annotations

from array import array
from random import Random

from tanglewood.decoders.base import Scores, score_table, words_in
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log, log1p

NOTHING = float("-inf")  # the logarithm of 0
LOWEST = -1e300
STEPS = 100  # of a random walk for each word, before sampling tries another way


class MatrixTree:
    """The arcs of one sentence as weights; node 0 stays, words from first to last - 1 are those not yet taken out.

    Tables lie one after the other, one for each depth of the recursion in `marginals`; the first keeps the scores.
    """

    def __init__(self, scores: Scores, single_root: bool) -> None:
        n = words_in(scores)
        self.n = n
        self.size = n + 1
        self.single_root = single_root
        self.depths = 2 + n.bit_length()
        cells = self.depths * self.size * self.size
        self.logs = array("d", [NOTHING]) * cells
        self.levels = array("i", bytes(4 * cells))
        # shares[w, i]: the arc i -> w divided by all arcs into w when w was taken out; order: when each went.
        self.shares = array("d", [NOTHING]) * (self.size * self.size)
        self.share_levels = array("i", bytes(4 * self.size * self.size))
        self.order = array("i", bytes(4 * self.size))
        # The arcs into one word as the others are taken out, one row after the other.
        self.history = array("d", [NOTHING]) * (self.size * self.size)
        self.history_levels = array("i", bytes(4 * self.size * self.size))
        self.probabilities = array("d", bytes(8 * self.size))
        self.sum = 0.0
        self.sum_level = 0
        self._fill(memoryview(scores))

    def _fill(self, scores: memoryview[float]) -> None:
        for head in range(self.size):
            for word in range(1, self.size):
                if head != word and scores[head, word] > LOWEST:
                    self.logs[head * self.size + word] = scores[head, word]
                if head == 0 and self.single_root:
                    self.levels[word] = -1

    def _add(self, logs: array[float], levels: array[int], place: int, value: float, level: int) -> None:
        """Add a weight to one in a table."""
        if value < LOWEST:
            return
        old = logs[place]
        if old < LOWEST or levels[place] < level:
            logs[place] = value
            levels[place] = level
        elif levels[place] == level:
            logs[place] = value + log1p(exp(old - value)) if value > old else old + log1p(exp(value - old))

    def _take_out(self, table: int, word: int, first: int, last: int) -> bool:
        """Take a word out of a table in which 0 and the words from first to last - 1 stay; False if it has no head.

        ``sum`` is then the weight of all arcs into the word.
        """
        size = self.size
        row = word * size
        level = 0
        for i in range(size):
            self.shares[row + i] = NOTHING
        top = NOTHING
        for i in range(first - 1, last):
            head = i if i >= first else 0
            place = table + head * size + word
            if self.logs[place] > LOWEST and (top < LOWEST or self.levels[place] > level):
                level = self.levels[place]
                top = self.logs[place]
            elif self.levels[place] == level and self.logs[place] > top:
                top = self.logs[place]
        if top < LOWEST:
            return False
        total = 0.0
        for i in range(first - 1, last):
            head = i if i >= first else 0
            place = table + head * size + word
            if self.logs[place] > LOWEST and self.levels[place] == level:
                total += exp(self.logs[place] - top)
        self.sum = top + log(total)
        self.sum_level = level
        for i in range(first - 1, last):
            head = i if i >= first else 0
            place = table + head * size + word
            if self.logs[place] > LOWEST:
                self.shares[row + head] = self.logs[place] - self.sum
                self.share_levels[row + head] = self.levels[place] - level
        for other in range(first, last):
            place = table + row + other
            if self.logs[place] < LOWEST:
                continue
            for i in range(first - 1, last):
                head = i if i >= first else 0
                if head != other and self.shares[row + head] > LOWEST:
                    self._add(
                        self.logs,
                        self.levels,
                        table + head * size + other,
                        self.logs[place] + self.shares[row + head],
                        self.levels[place] + self.share_levels[row + head],
                    )
        return True

    def _copy(self, table: int, first: int, last: int) -> int:
        """Copy what is left of a table to the next one; return where that begins."""
        size = self.size
        following = table + size * size
        for i in range(first - 1, last):
            head = i if i >= first else 0
            for word in range(first, last):
                self.logs[following + head * size + word] = self.logs[table + head * size + word]
                self.levels[following + head * size + word] = self.levels[table + head * size + word]
        return following

    def _log_partition(self) -> float:
        table = self._copy(0, 1, self.size)
        total = 0.0
        level = 0
        for word in range(self.n, 0, -1):
            if not self._take_out(table, word, 1, word):
                return LOWEST * 2
            total += self.sum
            level += self.sum_level
        return total if level >= -1 else LOWEST * 2

    def log_partition(self) -> float:
        """Return log of the sum of exp(value) over all trees; -inf if there is none."""
        with cython.nogil:
            total = self._log_partition()
        return total if total > LOWEST else NOTHING

    def _head_chances(self, word: int, gone: int) -> None:
        """Write the probability of each head of a word to ``probabilities``; all others have been taken out, in order.

        With the others out, its head is 0. Then they come back, the last first: an arc i -> word divides into the
        part that is its own and the part that came through the one that is back.
        """
        size = self.size
        for i in range(size):
            self.history[i] = self.logs[i * size + word]
            self.history_levels[i] = self.levels[i * size + word]
            self.probabilities[i] = 0
        for step in range(gone):
            row = step * size
            between = self.order[step]
            for i in range(size):
                self.history[row + size + i] = self.history[row + i]
                self.history_levels[row + size + i] = self.history_levels[row + i]
            for i in range(size):
                place = between * size + i
                if i != word and self.history[row + between] > LOWEST and self.shares[place] > LOWEST:
                    self._add(
                        self.history,
                        self.history_levels,
                        row + size + i,
                        self.history[row + between] + self.shares[place],
                        self.history_levels[row + between] + self.share_levels[place],
                    )
        self.probabilities[0] = 1
        for step in range(gone - 1, -1, -1):
            row = step * size
            between = self.order[step]
            through = 0.0
            for i in range(size):
                place = between * size + i
                if self.probabilities[i] == 0 or self.shares[place] < LOWEST or self.history[row + between] < LOWEST:
                    continue
                whole = self.history[row + size + i]
                level = self.history_levels[row + size + i]
                if self.history_levels[row + between] + self.share_levels[place] == level:
                    through += self.probabilities[i] * exp(self.history[row + between] + self.shares[place] - whole)
                if self.history[row + i] > LOWEST and self.history_levels[row + i] == level:
                    self.probabilities[i] *= exp(self.history[row + i] - whole)
                else:
                    self.probabilities[i] = 0
            self.probabilities[between] = through
        total = 0.0
        for i in range(size):
            total += self.probabilities[i]
        for i in range(size):
            self.probabilities[i] /= total

    def _all_chances(self, table: int, first: int, last: int, gone: int, out: memoryview[float]) -> None:
        """Write the probabilities of all arcs into the words from first to last - 1, the others having been taken out.

        One half of them is taken out for the sake of the other, so that making each the last one costs only O(n^3).
        """
        if last - first == 1:
            self._head_chances(first, gone)
            for head in range(self.size):
                out[head, first] = self.probabilities[head]
            return
        middle = (first + last) // 2
        half = self._copy(table, first, last)
        for word in range(first, middle):
            self._take_out(half, word, word + 1, last)
            self.order[gone + word - first] = word
        self._all_chances(half, middle, last, gone + middle - first, out)
        half = self._copy(table, first, last)
        for word in range(last - 1, middle - 1, -1):
            self._take_out(half, word, first, word)
            self.order[gone + last - 1 - word] = word
        self._all_chances(half, first, middle, gone + last - middle, out)

    def fill_marginals(self, out: memoryview[float]) -> None:
        """Write the probability of every arc."""
        with cython.nogil:
            if self.n > 0:
                self._all_chances(0, 1, self.size, 0, out)

    def marginals(self) -> memoryview[float]:
        """Return the probability of every arc; ConfigError if there is no tree."""
        self._check()
        out = score_table(self.n, 0.0, "d")
        self.fill_marginals(out)
        return out

    def _check(self) -> None:
        if self.log_partition() == NOTHING:
            raise ConfigError("every tree has the value -inf: there is no distribution over trees")

    def sample(self, rng: Random) -> array[int]:
        """Return the heads of a random tree, -1 for node 0.

        Wilson's (1996) random walks. How many steps they take says nothing about the tree, so they can be given up
        when they take too long, and the words drawn one by one instead.
        """
        self._check()
        heads = array("i", [-1] * self.size)
        first_head = 0
        if self.single_root and self.n > 0:
            out = score_table(self.n, 0.0, "d")
            self.fill_marginals(out)
            roots = [out[0, word] for word in range(1, self.size)]
            heads[rng.choices(range(1, self.size), roots)[0]] = 0
            first_head = 1
        return self._walk(heads, first_head, rng) or self._draw(heads, rng)

    def _walk(self, fixed: array[int], first_head: int, rng: Random) -> array[int] | None:
        """Return a tree found by random walks, if they end in time."""
        size = self.size
        heads = fixed[:]
        weights: list[list[float]] = [[]]
        for word in range(1, size):
            column = [self.logs[head * size + word] for head in range(first_head, size)]
            top = max(column)
            weights.append([exp(value - top) for value in column] if top > LOWEST else [])
        reached = [head >= 0 for head in heads]
        reached[0] = True
        candidates = range(first_head, size)
        steps = 0
        for start in range(1, size):
            word = start
            while not reached[word]:
                steps += 1
                if steps > STEPS * size or not weights[word]:
                    return None
                heads[word] = rng.choices(candidates, weights[word])[0]
                word = heads[word]
            word = start
            while not reached[word]:
                reached[word] = True
                word = heads[word]
        return heads

    def _draw(self, fixed: array[int], rng: Random) -> array[int]:
        """Return a tree drawn word by word, each from its probabilities given the heads of those before it."""
        heads = fixed[:]
        size = self.size
        for word in range(1, size):
            if heads[word] >= 0:
                self._fix(word, heads[word])
        for word in range(1, size):
            if heads[word] < 0:
                self._chances_of(word)
                heads[word] = rng.choices(range(size), list(self.probabilities))[0]
                self._fix(word, heads[word])
        return heads

    def _fix(self, word: int, head: int) -> None:
        """Rule out all other heads of the word."""
        for other in range(self.size):
            if other != head:
                self.logs[other * self.size + word] = NOTHING

    def _chances_of(self, word: int) -> None:
        """Write the probability of each head of one word to ``probabilities``."""
        table = self._copy(0, 1, self.size)
        gone = 0
        for other in range(1, word):
            self._take_out(table, other, other + 1, self.size)
            self.order[gone] = other
            gone += 1
        for other in range(self.size - 1, word, -1):
            self._take_out(table, other, word, other)
            self.order[gone] = other
            gone += 1
        self._head_chances(word, gone)
