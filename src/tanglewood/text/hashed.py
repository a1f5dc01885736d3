"""Hashed features of one place, compiled: a template and up to three numbers become a key of a table of weights."""

from __future__ import annotations

from array import array

from tanglewood.ml.linear_weights import Weights

MOST = 64
LOW_BITS = 0xFFFFFFFF
SPREAD, LAST_SPREAD = 0x9E3779B1, 0x85EBCA6B  # odd numbers without a pattern in their bits


class Features:
    """The keys of the features of the place looked at last; every thread has its own."""

    def __init__(self) -> None:
        self.keys = array("i", bytes(4 * MOST))
        self.count = 0
        self.places = array("i", bytes(4 * MOST))
        self.sums = array("i", bytes(8))
        self.out = array("f", bytes(4))

    def _clear(self) -> None:
        self.count = 0

    def _mix(self, hashed: int, value: int) -> int:
        hashed = ((hashed ^ value) * SPREAD) & LOW_BITS
        return hashed ^ (hashed >> 15)

    def _add(self, template: int, one: int, two: int, three: int) -> None:
        hashed = self._mix(self._mix(self._mix(template * LAST_SPREAD & LOW_BITS, one), two), three)
        self.keys[self.count] = ((hashed * LAST_SPREAD) & LOW_BITS) >> 1
        self.count += 1

    def _score(self, weights: Weights) -> float:
        """Score of the only class."""
        weights._score(self.keys, self.count, self.places, self.sums, self.out)
        return self.out[0]
