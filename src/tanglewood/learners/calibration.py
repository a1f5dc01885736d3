"""The temperature of a model of arcs: what its scores are divided by to be the logarithms of probabilities."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import log

from tanglewood.decoders.base import Decoder, Scores, words_in

TINY = 1e-9  # added to probabilities before their logarithm is taken


def at_temperature(scores: Scores, temperature: float) -> memoryview[float]:
    """Return a table of scores divided by a temperature."""
    size = words_in(scores) + 1
    factor = 1 / temperature
    flat = array("f", [factor * score for score in memoryview(scores).cast("B").cast("f")])
    return memoryview(flat).cast("B").cast("f", (size, size))


def best_temperature(decoder: Decoder, scored: Sequence[tuple[Scores, Sequence[int]]]) -> float:
    """Return the temperature that makes gold heads (indexed by node) of held-out sentences most probable."""

    def likelihood(temperature: float) -> float:
        total = 0.0
        for scores, heads in scored:
            marginals = decoder.marginals(at_temperature(scores, temperature))
            total += sum(log(marginals[head, word] + TINY) for word, head in enumerate(heads) if word)
        return total

    best = max(range(-2, 7), key=lambda power: likelihood(2.0**-power))
    near: list[float] = [2.0 ** -(best + step / 4) for step in range(-3, 4)]
    return max(near, key=likelihood)
