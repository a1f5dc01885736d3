"""The temperature of a model of arcs: what its scores are divided by to be the logarithms of probabilities."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from tanglewood.decoders.base import Scores, words_in

BINS = 15  # of equal width, as in measure/calibration.py
FARTHEST = 6  # most powers of 2 from 1


def at_temperature(scores: Scores, temperature: float) -> Scores:
    """Return a table of scores divided by a temperature."""
    if not isinstance(scores, memoryview):  # but an array of NumPy
        return scores / temperature
    size = words_in(scores) + 1
    factor = 1 / temperature
    flat = array("f", [factor * score for score in memoryview(scores).cast("B").cast("f")])
    return memoryview(flat).cast("B").cast("f", (size, size))


def best_temperature(
    marginals: Callable[[Scores, float], Any], found: Sequence[tuple[Scores, Sequence[int], Sequence[int]]]
) -> float:
    """Return the temperature at which the probabilities of heads say best how many of them are right.

    That is where the expected calibration error is smallest over held-out sentences, ``found`` being the scores by
    which the heads of each are probable, the heads that parsing gives its words, and their gold heads. The temperature
    that makes gold heads most probable is higher: a few words of which the model is sure, and wrong, weigh most there,
    and all others get too little confidence.
    """

    def error(temperature: float) -> float:
        gaps = [0.0] * BINS  # confidence less right heads, summed up by confidence
        for scores, heads, gold in found:
            chances = marginals(scores, temperature)
            for word, (head, right) in enumerate(zip(heads, gold, strict=True), 1):
                confidence = chances[head, word]
                gaps[min(int(BINS * confidence), BINS - 1)] += confidence - (head == right)
        return sum(map(abs, gaps))

    power, least = 0.0, error(1.0)
    for step in (1.0, -1.0, 0.25, -0.25, 0.125, -0.125):  # by factors of 2 as long as that helps, then by smaller ones
        while abs(power + step) <= FARTHEST and (other := error(2 ** (power + step))) < least:
            power, least = power + step, other
    return float(2**power)
