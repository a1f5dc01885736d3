"""Whether a difference between systems is more than chance: McNemar's test and bootstrap intervals."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations
from operator import gt, lt
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanglewood.measure.scores import Comparison, Scores

ALPHA = 0.05
FEW = 25  # with fewer discordant pairs the chi-square distribution is too rough
TESTED = ("las", "uas", "exact_match")


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of two systems on the same items, by how many each of them alone got right.

    With fewer than 25 discordant items the p-value is that of the exact two-sided binomial test and ``chi_square`` is
    None; else it comes from the chi-square distribution with one degree of freedom, with continuity correction.
    """

    only_first: int
    only_second: int

    @property
    def chi_square(self) -> float | None:
        """The test statistic, or None where the exact test is used."""
        discordant = self.only_first + self.only_second
        if discordant < FEW:
            return None
        return max(abs(self.only_first - self.only_second) - 1, 0) ** 2 / discordant

    @property
    def p_value(self) -> float:
        """How likely a difference at least as large is if both systems are equally good."""
        chi_square = self.chi_square
        if chi_square is not None:
            return math.erfc(math.sqrt(chi_square / 2))
        discordant = self.only_first + self.only_second
        fewer = min(self.only_first, self.only_second)
        tail = sum(math.comb(discordant, k) for k in range(fewer + 1))
        return min(1.0, 2 * tail / (1 << discordant))

    @property
    def significant(self) -> bool:
        """Whether the p-value is below 0.05."""
        return self.p_value < ALPHA

    def as_dict(self) -> dict[str, int | float | bool | None]:
        """Return the test as plain data for JSON."""
        return {
            "only_first": self.only_first,
            "only_second": self.only_second,
            "chi_square": self.chi_square,
            "p_value": self.p_value,
            "significant": self.significant,
        }


class Pairs:
    """Running counts, for each pair of systems, of what only one of the two got right.

    Words are counted for LAS and UAS, sentences for the labelled exact match.
    """

    def __init__(self, systems: int) -> None:
        self._counts = {pair: {name: [0, 0] for name in TESTED} for pair in combinations(range(systems), 2)}

    def add(self, comparisons: Sequence[Comparison]) -> None:
        """Count one sentence, compared with gold for each system."""
        for (one, other), counts in self._counts.items():
            first, second = comparisons[one], comparisons[other]
            for name, a, b in (
                ("las", first.arc_right, second.arc_right),
                ("uas", first.head_right, second.head_right),
                ("exact_match", [all(first.arc_right)], [all(second.arc_right)]),
            ):
                if a != b:
                    counts[name][0] += sum(map(gt, a, b))
                    counts[name][1] += sum(map(lt, a, b))

    def tests(self) -> dict[tuple[int, int], dict[str, McNemar]]:
        """Return the tests by pair of systems, counted from 0, and score."""
        return {pair: {name: McNemar(*only) for name, only in counts.items()} for pair, counts in self._counts.items()}


@dataclass(frozen=True, slots=True)
class Intervals:
    """Bootstrap intervals of 95%: the lower and the upper end, in percent."""

    las: tuple[float, float]
    uas: tuple[float, float]


def bootstrap(scores: Scores, *, samples: int = 1000, seed: int = 1) -> Intervals:
    """Return percentile intervals of LAS and UAS over sentences drawn with replacement, as many as there are."""
    if samples < 1:
        raise ConfigError(f"{samples} bootstrap samples; there should be at least 1")
    if not scores.sentences:
        raise ConfigError("there are no sentences to draw samples from")
    flat = scores.per_sentence
    # One number holds the three counts of a sentence, so that one sum adds up all three.
    bits = scores.words.bit_length() + max(scores.sentences.bit_length(), 1)
    drawn = [
        words | heads << bits | arcs << 2 * bits
        for words, heads, arcs in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    ]
    generator = random.Random(seed)
    las, uas = [], []
    low = (1 << bits) - 1
    for _ in range(samples):
        total = sum(generator.choices(drawn, k=len(drawn)))
        words = total & low
        uas.append(100 * (total >> bits & low) / words)
        las.append(100 * (total >> 2 * bits) / words)
    return Intervals(_middle(las), _middle(uas))


def _middle(values: list[float]) -> tuple[float, float]:
    """Return the ends of the middle 95% of the values."""
    values.sort()
    outside = int(len(values) * ALPHA / 2)
    return (values[outside], values[-1 - outside])
