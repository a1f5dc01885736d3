"""How well confidence fits the heads that are right: of those with a confidence of 0.9, nine in ten should be."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tanglewood.errors import FormatError
from tanglewood.measure.alignment import Side, align
from tanglewood.measure.scores import Comparison, compare_files
from tanglewood.measure.shares import percentage, rounded
from tanglewood.treebank.record import confidence, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tanglewood.treebank.sentence import Sentence
    from tanglewood.treebank.sources import SentenceSource

BINS = 15
EDGES = [number / BINS for number in range(BINS + 1)]


def calibration(
    gold: SentenceSource, system: SentenceSource, *, punctuation: bool = True, align: bool = False
) -> Calibration:
    """Compare ``Confidence=`` in the system's last column with the heads that are right.

    Sources and options are those of :func:`tanglewood.evaluate`; where words differ, aligned ones are counted.
    """
    return compare_files(gold, system, _by_sentence, _by_characters, punctuation=punctuation, align=align)


@dataclass(slots=True)
class Bin:
    """The words whose confidence is at least ``low`` and less than ``high``; the last bin has 1 too.

    ``right`` of them have the right head; ``total`` is the sum of their confidence.
    """

    low: float
    high: float
    words: int = 0
    right: int = 0
    total: float = 0.0

    @property
    def mean_confidence(self) -> float | None:
        """The mean confidence in percent, None if there are no words."""
        return 100 * self.total / self.words if self.words else None

    @property
    def uas(self) -> float | None:
        """The share of right heads in percent, None if there are no words."""
        return percentage(self.right, self.words)

    def as_dict(self) -> dict[str, int | float | None]:
        """Return counts and shares as plain data for JSON, all but the counts in percent."""
        return rounded(
            {
                "from": 100 * self.low,
                "to": 100 * self.high,
                "words": self.words,
                "right": self.right,
                "mean_confidence": self.mean_confidence,
                "uas": self.uas,
            }
        )


class Calibration:
    """Running counts over the sentences added, by bins of confidence that are equally wide."""

    def __init__(self) -> None:
        self.bins = [Bin(EDGES[number], EDGES[number + 1]) for number in range(BINS)]

    def add(self, comparison: Comparison) -> None:
        """Count the scored words of one sentence."""
        sure = comparison.select(confidences(comparison.system))
        for value, right in zip(sure, comparison.head_right, strict=True):
            self.count(value, right=right)

    def add_aligned(self, gold: Side, system: Side) -> None:
        """Count the aligned words of two texts whose words may differ.

        The system's sentences are read a second time, so that no column of confidence has to be kept.
        """
        partners = align(gold, system)
        before = 0
        for sentence in system.sentences:
            for node, value in enumerate(confidences(sentence), before + 1):
                if partners[node] > 0:
                    right = gold.arcs.heads[partners[node]] == partners[system.arcs.heads[node]]
                    self.count(value, right=right)
            before += len(sentence)

    def count(self, value: float, *, right: bool) -> None:
        """Count one word: its confidence, from 0 to 1, and whether its head is right."""
        found = self.bins[bisect_right(EDGES, value, 1, BINS) - 1]
        found.words += 1
        found.right += right
        found.total += value

    @property
    def words(self) -> int:
        """The number of words counted."""
        return sum(found.words for found in self.bins)

    @property
    def uas(self) -> float | None:
        """The share of right heads in percent."""
        return percentage(sum(found.right for found in self.bins), self.words)

    @property
    def mean_confidence(self) -> float | None:
        """The mean confidence in percent."""
        return 100 * sum(found.total for found in self.bins) / self.words if self.words else None

    @property
    def ece(self) -> float | None:
        """The expected calibration error in percent: how far confidence and UAS are apart in the bin of a word."""
        gaps = (abs(found.total - found.right) for found in self.bins)  # of the means, times the words
        return 100 * sum(gaps) / self.words if self.words else None

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain data for JSON, scores rounded to four decimals."""
        scores = {"ece": self.ece, "mean_confidence": self.mean_confidence, "uas": self.uas}
        return {"words": self.words, **rounded({**scores}), "bins": [found.as_dict() for found in self.bins]}


def confidences(sentence: Sentence) -> list[float]:
    """Return the confidence of each word; a FormatError says where there is none or one that is no probability."""
    found = []
    for number, misc in enumerate(sentence.misc, 1):
        known = pairs(misc)
        value = confidence(known)
        if value is None or not 0 <= value <= 1:
            problem = "has no Confidence= in MISC, which tanglewood parse --confidence writes"
            if "Confidence" in known:
                problem = f"has Confidence={known['Confidence']}; it should be a number from 0 to 1"
            line = sentence.line_of(number)
            raise FormatError(f"word {number} {problem}", file=sentence.file, line=line, sent_id=sentence.sent_id)
        found.append(value)
    return found


def _by_sentence(comparisons: Iterable[Comparison]) -> Calibration:
    found = Calibration()
    for comparison in comparisons:
        found.add(comparison)
    return found


def _by_characters(gold: Side, system: Side) -> Calibration:
    found = Calibration()
    found.add_aligned(gold, system)
    return found
