"""Whether a paper's claim is found here: four verdicts, each by a test that was made for the claim.

A claim that one thing is more than another is *found* if it is so significantly, *found, not significantly* if it is so
at all, *contradicted* if the opposite is significant, and else *not found*. A claim that there is no loss is found
unless there is a significant one, which contradicts it. A size is judged by an interval: found if all of it lies where
the paper's size lies, contradicted if none of it does; between these, the estimate decides. What has nothing to do with
chance is found or contradicted. A claim that the data cannot decide is *open*, and does not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tanglewood.experiments.running import Data

FOUND, WEAKLY, NOT_FOUND, CONTRADICTED, OPEN = (
    "found",
    "found, not significantly",
    "not found",
    "contradicted",
    "open",
)
KINDS = (FOUND, WEAKLY, NOT_FOUND, CONTRADICTED)  # from best to worst


@dataclass(frozen=True, slots=True)
class Finding:
    """What a paper found, the verdict on it, and the numbers that show it."""

    claim: str
    verdict: str
    evidence: str


def more(difference: float, significant: bool) -> str:
    """Judge that a difference is positive."""
    if difference > 0:
        return FOUND if significant else WEAKLY
    return CONTRADICTED if difference < 0 and significant else NOT_FOUND


def better(test: Data) -> str:
    """Judge by McNemar's test that the first of two systems is better."""
    return more(test["only_first"] - test["only_second"], test["significant"])


def no_worse(test: Data) -> str:
    """Judge by McNemar's test that the first of two systems is not significantly worse."""
    return CONTRADICTED if more(test["only_second"] - test["only_first"], test["significant"]) == FOUND else FOUND


def sized(measured: Data | None, least: float = -math.inf, most: float = math.inf) -> str:
    """Judge by its interval that a number lies between two others."""
    if measured is None:
        return OPEN
    low, high = measured["low"], measured["high"]
    if least < measured["estimate"] < most:
        return FOUND if least < low and high < most else WEAKLY
    return CONTRADICTED if high < least or low > most else NOT_FOUND


def no_more(measured: Data | None, most: float) -> str:
    """Judge by its interval that a number is not significantly above another."""
    return OPEN if measured is None else CONTRADICTED if measured["low"] > most else FOUND


def true(holds: bool | None) -> str:
    """Judge what has nothing to do with chance; None: it cannot be decided."""
    return OPEN if holds is None else FOUND if holds else CONTRADICTED


def together(verdicts: Sequence[str]) -> str:
    """Judge a claim that has several parts: all of them have to hold, so it is as good as the worst."""
    return OPEN if OPEN in verdicts or not verdicts else max(verdicts, key=KINDS.index)


def any_of(verdicts: Sequence[str]) -> str:
    """Judge a claim of which one part has to hold: it is as good as the best."""
    known = [verdict for verdict in verdicts if verdict != OPEN]
    return min(known, key=KINDS.index, default=OPEN)


def counted(verdicts: Iterable[str]) -> str:
    """Return how many there are of each kind."""
    counts = Counter(verdicts)
    return "; ".join(f"{kind}: {counts[kind]}" for kind in KINDS if counts[kind]) or OPEN


def interval(measured: Data | None, decimals: int = 1, unit: str = "") -> str:
    """Return a number with its interval, or a dash for None."""
    if measured is None:
        return "-"
    estimate, low, high = (f"{measured[key]:.{decimals}f}" for key in ("estimate", "low", "high"))
    return f"{estimate}{unit} [{low}, {high}]"
