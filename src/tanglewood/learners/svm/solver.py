"""How the svm learns: the optimizer of LIBSVM for rows of 0/1 features, one pair of classes at a time.

It takes LIBSVM's steps in LIBSVM's order (Chang & Lin 2011, sections 4.1 and 5.1; Fan, Chen & Lin 2005), since at the
tolerance of the papers the result depends on them, so what is learnt is the same to the last bit. It is faster where
LIBSVM knows less: the kernel of 0/1 rows depends on how many features they share, and an index from features to rows
counts that for all rows at once.

A row's weight in the decision is beta: from 0 to the cost for rows of the first class, from minus the cost to 0 for
those of the second. The betas always sum to 0. (LIBSVM's alpha is the absolute value; its gradient has another sign
for rows of the second class.)
"""

from __future__ import annotations

from array import array
from typing import Any, TypeAlias

import numpy as np

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

TINY = 1e-12  # stands for a curvature that is not positive
PATIENCE = 1000  # most steps from one shrinking to the next
MOST_STEPS = 10_000_000  # or 100 for each row: then the betas are taken as they are
COMMON = 16  # a feature that more than one row in so many has is common
INFINITE = float("inf")

Array: TypeAlias = Any  # anything with a buffer of numbers


class Rows:
    """Rows of features, class by class, that any number of threads may share.

    The features of a row begin in ``features`` where ``starts`` says, and the rows of a class where ``classes`` says;
    the rows that have a feature are listed in ``index``, in order, from where ``index_starts`` says. A common feature
    also has a column in ``common``, a 0 or 1 for each row, the one that ``columns`` says (-1: none): to add a whole
    column is faster than to go through the index, except in the interpreter.
    """

    def __init__(self, starts: Array, features: Array, classes: Array, index_starts: Array, index: Array) -> None:
        self.starts = starts
        self.features = features
        self.classes = classes
        self.index_starts = index_starts
        self.index = index
        self.n_rows = len(starts) - 1
        held = np.diff(index_starts)
        chosen = np.flatnonzero(held * COMMON > self.n_rows) if cython.compiled else np.zeros(0, np.intp)
        columns = np.full(len(held), -1, np.int32)
        columns[chosen] = np.arange(len(chosen))
        common = np.zeros((len(chosen), self.n_rows), np.uint8)
        for column, feature in zip(common, chosen, strict=True):
            column[index[index_starts[feature] : index_starts[feature + 1]]] = 1
        self.columns = columns
        self.common = common.ravel()


class PairSolver:
    """Finds the betas of the rows of two classes, and the intercept.

    ``kernel`` is that of two rows by the number of features that they share. The counts of the rows used last are
    kept, as many as there is ``room`` for (in numbers).
    """

    def __init__(
        self, rows: Rows, first: int, second: int, kernel: Array, cost: float, tolerance: float, room: int
    ) -> None:
        self.rows = rows
        self.first: int = self.rows.classes[first]
        self.n_first: int = self.rows.classes[first + 1] - self.first
        self.second: int = self.rows.classes[second]
        self.size: int = self.n_first + self.rows.classes[second + 1] - self.second
        self.cost = cost
        self.tolerance = tolerance
        self.kernel = kernel
        self.rounded = array("f", kernel)  # LIBSVM keeps kernels of two different rows in single precision
        self.n_kernel = len(kernel)
        self.intercept = 0.0

        self.betas = array("d", bytes(8 * self.size))
        self.slopes = array("d", bytes(8 * self.size))  # of the objective, by the beta of a row
        self.fixed = array("d", bytes(8 * self.size))  # the share of it that comes from betas as large as may be
        self.own = array("d", bytes(8 * self.size))  # kernel of each row with itself
        self.may_rise = array("b", bytes(self.size))
        self.may_fall = array("b", bytes(self.size))
        self.order = array("i", range(self.size))  # rows that may still move come first
        self.n_active = self.size
        self.is_full_again = False
        self.rising = 0  # the rows chosen for the next step
        self.falling = 0
        self.one_table = array("d", bytes(8 * self.n_kernel))  # what a step adds to slopes, by features shared
        self.other_table = array("d", bytes(8 * self.n_kernel))

        self.n_kept = max(2, min(self.size, room // self.size))
        self.kept: memoryview[int] = np.empty(self.n_kept * self.size, np.uint16).data  # pages are taken when written
        self.place = array("q", b"\xff" * (8 * self.size))  # where the counts of a row are kept, or -1
        self.owner = array("i", b"\xff" * (4 * self.n_kept))
        self.used = array("q", bytes(8 * self.n_kept))
        self.time = 0

    def solve(self) -> tuple[Array, Array]:
        """Return the rows whose beta is not 0, and these betas; ``intercept`` is there then."""
        with cython.nogil:
            self._solve()
        betas = np.asarray(self.betas)
        chosen = np.flatnonzero(betas)
        return np.where(chosen < self.n_first, self.first + chosen, self.second + chosen - self.n_first), betas[chosen]

    def _row(self, t: int) -> int:
        """Row of the data that row t of the pair is."""
        return self.first + t if t < self.n_first else self.second + t - self.n_first

    def _counts(self, t: int) -> int:
        """Return where in ``kept`` the numbers of features that row t shares with each row of the pair begin."""
        self.time += 1
        slot = self.place[t]
        if slot < 0:
            slot = 0
            for i in range(1, self.n_kept):
                if self.used[i] < self.used[slot]:
                    slot = i
            if self.owner[slot] >= 0:
                self.place[self.owner[slot]] = -1
            self.owner[slot] = t
            self.place[t] = slot
            self._count(t, slot * self.size)
        self.used[slot] = self.time
        start: int = slot * self.size
        return start

    def _count(self, t: int, start: int) -> None:
        for i in range(self.size):
            self.kept[start + i] = 0
        row = self._row(t)
        for i in range(self.rows.starts[row], self.rows.starts[row + 1]):
            feature = self.rows.features[i]
            if self.rows.columns[feature] >= 0:
                column: int = self.rows.columns[feature]
                column *= self.rows.n_rows
                self._add_column(column + self.first, self.n_first, start)
                self._add_column(column + self.second, self.size - self.n_first, start + self.n_first)
            else:
                self._count_class(feature, self.first, self.first + self.n_first, start)
                self._count_class(feature, self.second, self.second + self.size - self.n_first, start + self.n_first)

    def _add_column(self, begin: int, n: int, start: int) -> None:
        """Count the rows of a class that have a common feature."""
        for i in range(n):
            self.kept[start + i] += self.rows.common[begin + i]

    def _count_class(self, feature: int, begin: int, end: int, start: int) -> None:
        """Count the rows from ``begin`` to ``end`` that have the feature."""
        shift = start - begin
        for i in range(self._first_of(feature, begin), self._first_of(feature, end)):
            self.kept[shift + self.rows.index[i]] += 1

    def _first_of(self, feature: int, begin: int) -> int:
        """Where the rows that have the feature begin in the index, leaving out those before ``begin``."""
        low: int = self.rows.index_starts[feature]
        high: int = self.rows.index_starts[feature + 1]
        while low < high:
            middle = low + (high - low) // 2
            if self.rows.index[middle] < begin:
                low = middle + 1
            else:
                high = middle
        return low

    def _solve(self) -> None:
        for t in range(self.size):
            row = self._row(t)
            self.own[t] = self.kernel[self.rows.starts[row + 1] - self.rows.starts[row]]
            self.slopes[t] = -self._side(t)
            self._bound(t)
        patience = min(self.size, PATIENCE) + 1
        for _ in range(max(MOST_STEPS, 100 * self.size)):
            patience -= 1
            if patience == 0:
                patience = min(self.size, PATIENCE)
                self._shrink()
            if not self._choose():
                self._unshrink()
                if not self._choose():
                    break
                patience = 1
            self._step(self.rising, self.falling)
        self._unshrink()
        self._set_intercept()

    def _side(self, t: int) -> float:
        return 1.0 if t < self.n_first else -1.0

    def _bound(self, t: int) -> None:
        """See which ways the beta of a row may move."""
        self.may_rise[t] = self.betas[t] < (self.cost if t < self.n_first else 0)
        self.may_fall[t] = self.betas[t] > (0 if t < self.n_first else -self.cost)

    def _end(self, t: int) -> float:
        """The beta of a row at the end of its range that is not 0, if it is there, else 0."""
        if t < self.n_first:
            return 0 if self.may_rise[t] else self.cost
        return 0 if self.may_fall[t] else -self.cost

    def _choose(self) -> bool:
        """Choose the row to rise, of steepest slope, and the one to fall that then gains most; False: neither."""
        steepest = -INFINITE
        self.rising = -1
        for i in range(self.n_active):
            t = self.order[i]
            if self.may_rise[t] and -self.slopes[t] >= steepest:
                steepest = -self.slopes[t]
                self.rising = t
        if self.rising < 0:
            return False
        counts = self._counts(self.rising)
        own = self.own[self.rising]
        highest = -INFINITE
        best = INFINITE
        self.falling = -1
        for i in range(self.n_active):
            t = self.order[i]
            if self.may_fall[t]:
                slope = self.slopes[t]
                highest = max(slope, highest)
                gap = steepest + slope
                if gap > 0:
                    curvature = own + self.own[t] - 2.0 * self.rounded[self.kept[counts + t]]
                    gain = -(gap * gap) / (curvature if curvature > 0 else TINY)
                    if gain <= best:
                        best = gain
                        self.falling = t
        return self.falling >= 0 and steepest + highest >= self.tolerance

    def _step(self, one: int, other: int) -> None:
        """Raise one beta and lower the other by as much as is best, or as far as they may go."""
        first = self._counts(one)
        second = self._counts(other)
        curvature = self.own[one] + self.own[other] - 2.0 * self.rounded[self.kept[first + other]]
        step = (self.slopes[other] - self.slopes[one]) / (curvature if curvature > 0 else TINY)
        total = self.betas[one] + self.betas[other]
        risen = self.betas[one] + step
        fallen = self.betas[other] - step
        top = self.cost if one < self.n_first else 0.0
        bottom = 0.0 if other < self.n_first else -self.cost
        if risen > top:
            risen = top
            fallen = total - top
        if fallen < bottom:
            fallen = bottom
            risen = total - bottom
        one_change = risen - self.betas[one]
        other_change = fallen - self.betas[other]
        self.betas[one] = risen
        self.betas[other] = fallen
        for count in range(self.n_kernel):
            self.one_table[count] = self.rounded[count] * one_change
            self.other_table[count] = self.rounded[count] * other_change
        for i in range(self.n_active):
            t = self.order[i]
            self.slopes[t] += self.one_table[self.kept[first + t]] + self.other_table[self.kept[second + t]]
        self._moved(one, first)
        self._moved(other, second)

    def _moved(self, t: int, counts: int) -> None:
        """Keep up with a beta that came to an end of its range or left one."""
        before = self._end(t)
        self._bound(t)
        change = self._end(t) - before
        if change != 0:
            for i in range(self.size):
                self.fixed[i] += change * self.rounded[self.kept[counts + i]]

    def _shrink(self) -> None:
        """Leave alone, for now, the rows that will probably stay at the end of their range."""
        steepest = -INFINITE
        highest = -INFINITE
        for i in range(self.n_active):
            t = self.order[i]
            if self.may_rise[t] and -self.slopes[t] >= steepest:
                steepest = -self.slopes[t]
            if self.may_fall[t] and self.slopes[t] >= highest:
                highest = self.slopes[t]
        if not self.is_full_again and steepest + highest <= self.tolerance * 10:
            self.is_full_again = True
            self._unshrink()
        i = 0
        while i < self.n_active:
            if self._stays(self.order[i], steepest, highest):
                self.n_active -= 1
                while self.n_active > i and self._stays(self.order[self.n_active], steepest, highest):
                    self.n_active -= 1
                if self.n_active > i:
                    self.order[i], self.order[self.n_active] = self.order[self.n_active], self.order[i]
            i += 1

    def _stays(self, t: int, steepest: float, highest: float) -> bool:
        """Whether moving the row the one way that it may move would do harm, whatever row moves against it."""
        if not self.may_rise[t]:
            return -self.slopes[t] > steepest
        return self.slopes[t] > highest if not self.may_fall[t] else False

    def _unshrink(self) -> None:
        """Have all rows move again, with the slopes that they have by now."""
        if self.n_active == self.size:
            return
        n_free = 0
        for i in range(self.n_active, self.size):
            t = self.order[i]
            self.slopes[t] = self.fixed[t] - self._side(t)
        for i in range(self.n_active):
            t = self.order[i]
            n_free += self.may_rise[t] and self.may_fall[t]
        if n_free * self.size > 2 * self.n_active * (self.size - self.n_active):
            for i in range(self.n_active, self.size):
                t = self.order[i]
                counts = self._counts(t)
                for j in range(self.n_active):
                    u = self.order[j]
                    if self.may_rise[u] and self.may_fall[u]:
                        self.slopes[t] += self.betas[u] * self.rounded[self.kept[counts + u]]
        else:
            for j in range(self.n_active):
                u = self.order[j]
                if self.may_rise[u] and self.may_fall[u]:
                    counts = self._counts(u)
                    for i in range(self.n_active, self.size):
                        t = self.order[i]
                        self.slopes[t] += self.betas[u] * self.rounded[self.kept[counts + t]]
        self.n_active = self.size

    def _set_intercept(self) -> None:
        """The mean slope of the rows within their range, else the middle of what those at its ends allow."""
        high = INFINITE
        low = -INFINITE
        total = 0.0
        n_free = 0
        for i in range(self.size):
            t = self.order[i]
            slope = self.slopes[t]
            if self.may_rise[t] and self.may_fall[t]:
                n_free += 1
                total += slope
            elif self.may_rise[t]:
                high = min(high, slope)
            else:
                low = max(low, slope)
        self.intercept = -(total / n_free if n_free else (high + low) / 2)
