"""Whether a paper's claim is found here: four verdicts, each by a test that was made for the claim.

A claim that one thing is more than another is *found* if it is so significantly, *found, not significantly* if it is so
at all, *contradicted* if the opposite is significant, and else *not found*. A claim that there is no loss is judged
against a margin, since a test of few items misses any loss: found if none is significant and the interval of the loss
stays below the margin; found, not significantly, if none is significant and the estimate stays below it; contradicted
if the loss is significant and the interval reaches the margin; and else not found. A size is judged by an interval:
found if all of it lies where the paper's size lies, contradicted if none of it does; between these, the estimate
decides. What has nothing to do with chance is found or contradicted. A claim that the data cannot decide is *open*, and
does not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tanglewood.experiments.running import Data, as_data
from tanglewood.measure.significance import paired_difference

FOUND, WEAKLY, NOT_FOUND, CONTRADICTED, OPEN = (
    "found",
    "found, not significantly",
    "not found",
    "contradicted",
    "open",
)
MARGIN = 1.0  # points by which scores of all words may differ and still be called equal
MARGIN_OF_FEW = 5.0  # the same for scores of non-projective arcs, of which systems find 20 to 60 points more or less
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


def no_loss(loss: float, most: float, margin: float, *, significant: bool) -> str:
    """Judge that a loss, which may be up to ``most`` by its interval, stays below a margin."""
    if loss > 0 and significant:
        return CONTRADICTED if most >= margin else NOT_FOUND
    return NOT_FOUND if loss >= margin else WEAKLY if most >= margin else FOUND


def gain(test: Data) -> Data | None:
    """Return by how many points the first of two systems is better, with its interval, or None without items."""
    return as_data(paired_difference(test["only_first"], test["only_second"], test["items"]))


def no_worse(test: Data, margin: float = MARGIN) -> str:
    """Judge by McNemar's test and the interval of the difference that the first of two systems is not worse."""
    gained = gain(test)
    if gained is None:
        return OPEN
    return no_loss(-gained["estimate"], -gained["low"], margin, significant=test["significant"])


def alike(test: Data, margin: float = MARGIN) -> str:
    """Judge that neither of two systems is worse than the other."""
    turned = {**test, "only_first": test["only_second"], "only_second": test["only_first"]}
    return together([no_worse(test, margin), no_worse(turned, margin)])


def sized(measured: Data | None, least: float = -math.inf, most: float = math.inf) -> str:
    """Judge by its interval that a number lies between two others."""
    if measured is None:
        return OPEN
    low, high = measured["low"], measured["high"]
    if least < measured["estimate"] < most:
        return FOUND if least < low and high < most else WEAKLY
    return CONTRADICTED if high < least or low > most else NOT_FOUND


def no_more(measured: Data | None, margin: float) -> str:
    """Judge by its interval that a number is not significantly above 0, and stays below a margin."""
    if measured is None:
        return OPEN
    return no_loss(measured["estimate"], measured["high"], margin, significant=measured["low"] > 0)


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


def interval(measured: Data | None, decimals: int = 1, unit: str = "") -> str:
    """Return a number with its interval, or alone if it has none; a dash for None."""
    if measured is None:
        return "-"
    if "low" not in measured:
        return f"{measured['estimate']:.{decimals}f}{unit}"
    estimate, low, high = (f"{measured[key]:.{decimals}f}" for key in ("estimate", "low", "high"))
    return f"{estimate}{unit} [{low}, {high}]"
