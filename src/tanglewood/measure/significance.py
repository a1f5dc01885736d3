"""Whether a difference between systems is more than chance: McNemar's test and bootstrap intervals."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations, compress
from operator import gt, lt, not_
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tanglewood.measure.scores import Comparison, Scores

ALPHA = 0.05
Z = 1.959964  # how many standard errors 95% of a normal distribution lie within
FEW = 25  # with fewer discordant pairs the chi-square distribution is too rough
TESTED = ("las", "uas", "exact_match")
TESTED_BY_CROSSING = ("projective_las", "nonprojective_las", "nonprojective_uas", "nonprojective_la")


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

    Words are counted for LAS and UAS, sentences for the labelled exact match. With ``by_crossing`` there are also tests
    on the words whose gold arc is projective, and on those whose gold arc is not.
    """

    def __init__(self, systems: int, *, by_crossing: bool = False) -> None:
        names = (*TESTED, *(TESTED_BY_CROSSING if by_crossing else ()))
        self._by_crossing = by_crossing
        self._counts = {pair: {name: [0, 0] for name in names} for pair in combinations(range(systems), 2)}

    def add(self, comparisons: Sequence[Comparison]) -> None:
        """Count one sentence, compared with gold for each system."""
        items = [self._items(comparison) for comparison in comparisons]
        for (one, other), counts in self._counts.items():
            for name, count in counts.items():
                a, b = items[one][name], items[other][name]
                if a != b:
                    count[0] += sum(map(gt, a, b))
                    count[1] += sum(map(lt, a, b))

    def _items(self, found: Comparison) -> dict[str, list[bool]]:
        """Return what is right in a sentence, by the names of the tests."""
        items = {"las": found.arc_right, "uas": found.head_right, "exact_match": [all(found.arc_right)]}
        if self._by_crossing:
            crossing = found.gold_crossing
            items["projective_las"] = list(compress(found.arc_right, map(not_, crossing)))
            items["nonprojective_las"] = list(compress(found.arc_right, crossing))
            items["nonprojective_uas"] = list(compress(found.head_right, crossing))
            items["nonprojective_la"] = list(compress(found.label_right, crossing))
        return items

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
    flat = scores.per_sentence
    rows = list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
    sums = list(drawn_sums(rows, samples=samples, seed=seed))
    las = [100 * arcs / words for words, _, arcs in sums]
    uas = [100 * heads / words for words, heads, _ in sums]
    return Intervals(_middle(las), _middle(uas))


@dataclass(frozen=True, slots=True)
class Measured:
    """A number computed from all items, and the bootstrap interval of 95% around it."""

    estimate: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return it as plain data for JSON."""
        return {"estimate": round(self.estimate, 6), "low": round(self.low, 6), "high": round(self.high, 6)}


def measure(
    rows: Sequence[Sequence[int]],
    statistic: Callable[[Sequence[int]], float | None],
    *,
    samples: int = 1000,
    seed: int = 1,
) -> Measured | None:
    """Return a statistic of the sums of the rows' columns, with its bootstrap interval.

    A row is a sentence; where several systems parsed it, their numbers stand in the same row, so that the bootstrap is
    a paired one. The statistic may be None where it is not defined: such samples are left out, and the result is None
    if that is so for all sentences together.
    """
    estimate = statistic([sum(column) for column in zip(*rows, strict=True)]) if rows else None
    if estimate is None:
        return None
    found = [value for sums in drawn_sums(rows, samples=samples, seed=seed) if (value := statistic(sums)) is not None]
    return Measured(estimate, *_middle(found or [estimate]))


def paired_difference(only_first: int, only_second: int, items: int) -> Measured | None:
    """Return by how many points the first of two systems is better, by what each alone got right of the items.

    The interval is that of Bonett & Price (2012), which has the right width also where the two hardly differ. As in
    McNemar's test, items are taken to be independent. None: there are no items.
    """
    if not items:
        return None
    first, second = (only_first + 1) / (items + 2), (only_second + 1) / (items + 2)
    middle, reach = first - second, Z * math.sqrt((first + second - (first - second) ** 2) / (items + 2))
    ends = (max(middle - reach, -1.0), min(middle + reach, 1.0))
    return Measured(100 * (only_first - only_second) / items, 100 * ends[0], 100 * ends[1])


def proportion(share: float, items: int) -> Measured | None:
    """Return a share of the items, in percent, with Wilson's interval, or None if there are no items."""
    if not items:
        return None
    p, z2 = share / 100, Z * Z / items
    middle, reach = p + z2 / 2, Z * math.sqrt(p * (1 - p) / items + z2 / (4 * items))
    return Measured(share, 100 * max(middle - reach, 0.0) / (1 + z2), 100 * min((middle + reach) / (1 + z2), 1.0))


def drawn_sums(rows: Sequence[Sequence[int]], *, samples: int = 1000, seed: int = 1) -> Iterator[list[int]]:
    """Yield the sums of the columns over rows drawn with replacement, as many as there are; no number is negative."""
    if samples < 1:
        raise ConfigError(f"{samples} bootstrap samples; there should be at least 1")
    if not rows:
        raise ConfigError("there are no sentences to draw samples from")
    # One number holds the columns of a row, so that one sum adds up all of them.
    bits = max(map(max, rows)).bit_length() + len(rows).bit_length()
    drawn = [sum(value << bits * place for place, value in enumerate(row)) for row in rows]
    generator = random.Random(seed)
    low = (1 << bits) - 1
    for _ in range(samples):
        total = sum(generator.choices(drawn, k=len(drawn)))
        yield [total >> bits * place & low for place in range(len(rows[0]))]


def _middle(values: list[float]) -> tuple[float, float]:
    """Return the ends of the middle 95% of the values."""
    values.sort()
    outside = int(len(values) * ALPHA / 2)
    return (values[outside], values[-1 - outside])
