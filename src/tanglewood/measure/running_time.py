"""Abstract running time: transitions by sentence length, a line through the origin (Nivre 2009, Figure 5), growth.

Whether time is linear is asked in two ways: by the exponent b of m = c n^b, and by the quadratic term q of
m = a n + q n^2. Both have bootstrap intervals over sentences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tanglewood.core.actions import LabelNumbers
from tanglewood.core.state import State
from tanglewood.errors import UndecidedError
from tanglewood.measure.significance import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanglewood.core.system import TransitionSystem
    from tanglewood.treebank.tree import Tree


def fit_through_origin(lengths: Sequence[int], transitions: Sequence[int]) -> tuple[float, float]:
    """Return slope and R2 of the least-squares line m = a n; R2 is taken about the mean of m."""
    if not lengths:
        return (0.0, 0.0)
    slope = sum(n * m for n, m in zip(lengths, transitions, strict=True)) / sum(n * n for n in lengths)
    mean = sum(transitions) / len(transitions)
    residual = sum((m - slope * n) ** 2 for n, m in zip(lengths, transitions, strict=True))
    total = sum((m - mean) ** 2 for m in transitions)
    return (slope, 1 - residual / total if total else 1.0)


def fit_slope(lengths: Sequence[int], transitions: Sequence[int]) -> Measured | None:
    """Return the slope a of the line m = a n with its interval, or None if there are no words."""
    rows = [(n * n, n * m) for n, m in zip(lengths, transitions, strict=True)]
    return measure(rows, lambda sums: sums[1] / sums[0] if sums[0] else None)


LOG_UNIT = 1 << 30  # logarithms are counted in parts of this size, since sums of samples are whole numbers


def fit_exponent(lengths: Sequence[int], transitions: Sequence[int]) -> Measured | None:
    """Return the exponent b of m = c n^b, fitted to logarithms by least squares, or None if all lengths are the same.

    Sentences without words or moves have no logarithm and are left out.
    """
    rows = []
    for n, m in zip(lengths, transitions, strict=True):
        if n > 0 and m > 0:
            x, y = round(LOG_UNIT * math.log(n)), round(LOG_UNIT * math.log(m))
            rows.append((1, x, y, x * x, x * y))
    return measure(rows, _exponent)


def _exponent(sums: Sequence[int]) -> float | None:
    count, x, y, xx, xy = sums
    spread = count * xx - x * x
    return (count * xy - x * y) / spread if spread else None


def fit_quadratic(lengths: Sequence[int], transitions: Sequence[int]) -> Measured | None:
    """Return the term q of m = a n + q n^2, fitted by least squares, or None if all lengths are the same."""
    pairs = zip(lengths, transitions, strict=True)
    return measure([(n**2, n**3, n**4, n * m, n * n * m) for n, m in pairs], _quadratic)


def _quadratic(sums: Sequence[int]) -> float | None:
    n2, n3, n4, nm, nnm = sums
    spread = n2 * n4 - n3 * n3
    return (n2 * nnm - n3 * nm) / spread if spread else None


def slope_difference(lengths: Sequence[int], first: Sequence[int], second: Sequence[int]) -> Measured | None:
    """Return by how much the slope of the line m = a n is larger for the first of two counts on the same sentences."""
    rows = [(n * n, n * one, n * other) for n, one, other in zip(lengths, first, second, strict=True)]
    return measure(rows, lambda sums: (sums[1] - sums[2]) / sums[0] if sums[0] else None)


def variance_difference(lengths: Sequence[int], first: Sequence[int], second: Sequence[int]) -> Measured | None:
    """Return by how much more the first of two counts on the same sentences varies around its own line m = a n.

    What is compared is the mean square of the distances from the line.
    """
    rows = [
        (1, n * n, n * one, one * one, n * other, other * other)
        for n, one, other in zip(lengths, first, second, strict=True)
    ]
    return measure(rows, _variance_difference)


def _variance_difference(sums: Sequence[int]) -> float | None:
    count, nn, nm, mm, nk, kk = sums
    return ((mm - nm * nm / nn) - (kk - nk * nk / nn)) / count if nn else None


class RunningTime:
    """Lengths and numbers of transitions of the sentences added, as the oracle derives them."""

    def __init__(self, system: TransitionSystem, oracle: str | None = None) -> None:
        self.system = system.name
        self.oracle = oracle or next(iter(system.oracles))
        self.lengths: list[int] = []
        self.transitions: list[int] = []
        self.sentences = 0
        self.swaps = 0
        self.max_swaps = 0
        self.uncovered = 0
        self.undecided = 0  # where an oracle that has to search gave up
        self._system = system
        self._oracle = system.oracle(oracle)
        self._labels = LabelNumbers()

    def add(self, tree: Tree) -> None:
        """Derive one tree; trees that the system does not cover are counted apart."""
        self.sentences += 1
        state = State(len(tree))
        try:
            self._oracle.bind(tree.heads, self._labels.of(tree))
        except UndecidedError:
            self.undecided += 1
            return
        if not self._oracle.reaches_gold(state):
            self.uncovered += 1
            return
        swaps = self._system.swaps(state)
        self.lengths.append(len(tree))
        self.transitions.append(state.steps)
        self.swaps += swaps
        self.max_swaps = max(self.max_swaps, swaps)

    def as_dict(self) -> dict[str, object]:
        """Return the counts as plain data for JSON; all but ``sentences`` are over covered trees only."""
        slope, r2 = fit_through_origin(self.lengths, self.transitions)
        return {
            "system": self.system,
            "oracle": self.oracle,
            "sentences": self.sentences,
            "words": sum(self.lengths),
            "transitions": sum(self.transitions),
            "swaps": self.swaps,
            "max_swaps": self.max_swaps,
            "slope": round(slope, 4),
            "r2": round(r2, 4),
            "uncovered": self.uncovered,
            "undecided": self.undecided,
        }
