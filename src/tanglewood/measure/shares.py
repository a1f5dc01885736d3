"""Scores from counts: percentages, and precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass


def percentage(part: int, whole: int) -> float | None:
    """Return a share in percent, or None if the whole is 0."""
    return 100 * part / whole if whole else None


def f1(right: int, gold: int, system: int) -> float | None:
    """Return the harmonic mean of precision and recall in percent, or None if there is neither gold nor system."""
    return percentage(2 * right, gold + system)


def rounded(scores: dict[str, int | float | None]) -> dict[str, int | float | None]:
    """Return the scores with four decimals."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in scores.items()}


@dataclass(frozen=True, slots=True)
class Metric:
    """How many items there are in gold and in the system, and how many of them are the same; scores are in percent.

    ``aligned`` is how many gold items have a partner in the system, where that is counted.
    """

    right: int
    gold: int
    system: int
    aligned: int | None = None

    @property
    def precision(self) -> float | None:
        """The share of the system's items that are right."""
        return percentage(self.right, self.system)

    @property
    def recall(self) -> float | None:
        """The share of gold items that were found."""
        return percentage(self.right, self.gold)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        return f1(self.right, self.gold, self.system)

    @property
    def aligned_accuracy(self) -> float | None:
        """Of the gold items that have a partner, the share whose partner is right."""
        return None if self.aligned is None else percentage(self.right, self.aligned)
