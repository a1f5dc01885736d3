"""Sums over all trees in plain doubles, in O(n^3): what matrix_tree.py does in logarithms, where nothing gets lost.

Words are taken out one after the other, the last first, as described there. Before that each column is divided by its
sum: weights are then the probabilities of heads that are chosen independently, sums of columns never grow, and the sum
over all trees is the probability Z that such heads form a tree. A number that underflows is wrong by less than 1e-323,
and Z by at most n times that, whatever is still to be taken out. So the result is good exactly if Z is far above that.

For trees with one root the arcs from 0 stay out of the sums D by which is divided, except for the last word: this is
the leading term in t of matrix_tree.py. Columns are then divided by what they have without them, and the arcs from 0,
of which every tree has one, by their own sum.

The probability of an arc is its weight times the derivative of log Z by it, found by going back through the steps.
This subtracts, so that small probabilities are right to about 14 digits after the point, not to as many of their own.
"""

from __future__ import annotations

from array import array

from tanglewood.arithmetic import FAMILIES, chosen

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log

LOWEST = -1e300  # below any finite float32
LEAST = -575.0  # of log Z: 1e-250
TOLERANCE = 1e-6  # by which the probabilities of a word's heads may miss 1


class Elimination:
    """Space for one sentence at a time, which grows as needed.

    Tables have rows of heads and columns of words: ``weights`` as they were at first; ``arcs``, from each word to those
    before it when it was taken out; ``slopes``, the derivatives of log Z by weights, and ``turned``, the same
    transposed, so that all long loops go along rows. Until the derivatives of a word's row are known, its place in
    ``slopes`` holds the word's shares: the arcs into it when it was taken out, divided by their sum D.
    """

    def __init__(self) -> None:
        self.room = 0
        self.size = 1
        self.total = 0.0
        self.level = FAMILIES.index(chosen().family)
        self._make_room(1)

    def _make_room(self, size: int) -> None:
        """Allocate what this many nodes need."""
        self.room = size
        self.weights = array("d", bytes(8 * size * size))
        self.arcs = array("d", bytes(8 * size * size))
        self.slopes = array("d", bytes(8 * size * size))
        self.turned = array("d", bytes(8 * size * size))
        self.sums = array("d", bytes(8 * size))
        self.tops = array("d", bytes(8 * size))
        self.factors = array("d", bytes(8 * size))
        self.through = array("d", bytes(8 * size))

    def _raise_tops(self, scores: memoryview[float], head: int, first: int, last: int) -> None:
        """Let the tops of the words from first to last - 1 be no lower than the scores of a head."""
        for word in range(first, last):
            self.tops[word] = max(self.tops[word], scores[head, word])

    def _exponentials(self, scores: memoryview[float], head: int, first: int, last: int) -> None:
        """Set the weights of the words from first to last - 1 below a head, and add them to the sums."""
        row = head * self.size
        if cython.compiled:
            if first < last:
                tw_exp_row(  # type: ignore[name-defined]  # noqa: F821
                    self.level,
                    cython.address(self.weights[row + first]),
                    cython.address(scores[head, first]),
                    cython.address(self.tops[first]),
                    last - first,
                )
        else:
            for word in range(first, last):
                self.weights[row + word] = exp(scores[head, word] - self.tops[word])
        for word in range(first, last):
            self.sums[word] += self.weights[row + word]

    def _weigh(self, scores: memoryview[float], single_root: bool) -> bool:
        """Make weights of scores and set ``total`` to the logarithm of what they were divided by; False if in vain."""
        size = self.size
        first = 1 if single_root else 0
        for word in range(1, size):
            self.tops[word] = LOWEST
            self.sums[word] = 0
        for head in range(first, size):
            self._raise_tops(scores, head, 1, head)
            self._raise_tops(scores, head, head + 1, size)
        for head in range(first, size):
            self._exponentials(scores, head, 1, head)
            self._exponentials(scores, head, head + 1, size)
            self.weights[head * size + head] = 0
        self.total = 0
        for word in range(1, size):
            if self.tops[word] == LOWEST:
                return False
            self.tops[word] += log(self.sums[word])
            self.total += self.tops[word]
            self.sums[word] = 1 / self.sums[word]
        for head in range(first, size):
            for word in range(1, size):
                self.weights[head * size + word] *= self.sums[word]
        return self._weigh_roots(scores) if single_root else True

    def _weigh_roots(self, scores: memoryview[float]) -> bool:
        """Do the same for the arcs from 0, all of them together."""
        top = LOWEST
        for word in range(1, self.size):
            top = max(top, scores[0, word] - self.tops[word])
            self.sums[word] = 0
        if top == LOWEST:
            return False
        for word in range(1, self.size):
            self.tops[word] += top
        self._exponentials(scores, 0, 1, self.size)
        whole = 0.0
        for word in range(1, self.size):
            whole += self.weights[word]
        for word in range(1, self.size):
            self.weights[word] /= whole
        self.total += top + log(whole)
        return True

    def _add_rows(
        self,
        out: array[float],
        place: int,
        factors: array[float],
        first: int,
        rows: array[float],
        top: int,
        count: int,
        length: int,
    ) -> None:
        """Add so many rows of a table, each times its factor, to a row of this length; all begin at their places."""
        if count <= 0 or length <= 0:
            return
        if cython.compiled:
            tw_add_rows(  # type: ignore[name-defined]  # noqa: F821
                self.level,
                cython.address(out[place]),
                cython.address(factors[first]),
                cython.address(rows[top]),
                self.size,
                count,
                length,
            )
            return
        for k in range(count):
            for i in range(length):
                out[place + i] += factors[first + k] * rows[top + k * self.size + i]

    def _take_out(self, single_root: bool) -> bool:
        """Take out all words and add log Z to ``total``; False if Z is too small for plain doubles.

        The arcs of a word change only when it is its turn: then all that goes through those before it is added.
        """
        size = self.size
        log_z = 0.0
        for word in range(size - 1, 0, -1):
            row = word * size
            below = row + size
            gone = size - 1 - word
            for other in range(1, word):
                self.arcs[row + other] = self.weights[row + other]
            for k in range(gone):
                self.factors[k] = self.slopes[below + k * size + word]
            self._add_rows(self.arcs, row + 1, self.factors, 0, self.arcs, below + 1, gone, word - 1)
            for head in range(word):
                self.slopes[row + head] = self.weights[head * size + word]
            for k in range(gone):
                self.factors[k] = self.arcs[below + k * size + word]
            self._add_rows(self.slopes, row, self.factors, 0, self.slopes, below, gone, word)
            whole = 0.0
            for head in range(1 if single_root and word > 1 else 0, word):
                whole += self.slopes[row + head]
            if not whole > 0:
                return False
            self.sums[word] = whole
            log_z += log(whole)
            for head in range(word):
                self.slopes[row + head] /= whole
        self.total += log_z
        return LEAST < log_z < 1  # neither infinite nor NaN

    def _go_back(self, single_root: bool) -> None:
        """Find the derivative of log Z by every weight, taking the words in again."""
        size = self.size
        for word in range(1, size):
            row = word * size
            for head in range(word):
                self.factors[head] = self.slopes[row + head]
                self.slopes[row + head] = 0
                self.through[head] = 0
            self._add_rows(self.through, 0, self.arcs, row + 1, self.turned, size, word - 1, word)
            self._add_rows(self.slopes, row + 1, self.factors, 0, self.slopes, 1, word, word - 1)
            children = 0.0  # how many the word is expected to have among those that are in
            for head in range(word):
                children += self.factors[head] * self.through[head]
            for head in range(word):
                is_counted = head > 0 or word == 1 or not single_root
                slope = self.through[head] + (1 - children) if is_counted else self.through[head]
                slope /= self.sums[word]
                self.slopes[head * size + word] = slope
                self.turned[row + head] = slope
            self.slopes[row + word] = 0
            self.turned[row + word] = 0
            for other in range(1, word):
                self.turned[other * size + word] = self.slopes[row + other]

    def _finish(self) -> bool:
        """Make probabilities of the derivatives; False if those of some word do not sum to 1."""
        size = self.size
        for word in range(size):
            self.sums[word] = 0
        for head in range(size):
            self.slopes[head * size] = 0
            for word in range(1, size):
                place = head * size + word
                self.slopes[place] = max(0.0, self.weights[place] * self.slopes[place])
                self.sums[word] += self.slopes[place]
        for word in range(1, size):
            if not abs(self.sums[word] - 1) < TOLERANCE:
                return False
        return True

    def add_up(self, scores: memoryview[float], single_root: bool, with_arcs: bool) -> bool:
        """Set ``total`` to log of the sum over all trees, and find the probabilities of arcs; False if doubles fail."""
        self.size = len(scores)
        if self.size > self.room:
            self._make_room(self.size)
        several = not single_root or self.size <= 2  # the same for one word
        with cython.nogil:
            done = self._weigh(scores, not several) and self._take_out(not several)
            if done and with_arcs:
                self._go_back(not several)
                done = self._finish()
        return done

    def write_doubles(self, out: memoryview[float]) -> None:
        """Write the probabilities to a float64 table."""
        for head in range(self.size):
            for word in range(self.size):
                out[head, word] = self.slopes[head * self.size + word]

    def write_floats(self, out: memoryview[float]) -> None:
        """Write the probabilities to a float32 table."""
        for head in range(self.size):
            for word in range(self.size):
                out[head, word] = self.slopes[head * self.size + word]
