"""The best sequences of tags of a sentence: the tagger's own, and those in which a few words have other tags."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import NamedTuple


class Change(NamedTuple):
    """Another class for a word, and how much less likely it is, in log-probability."""

    cost: float
    word: int
    number: int


def cheapest(changes: Sequence[Change], n: int) -> list[tuple[float, list[Change]]]:
    """Return the n cheapest choices of changes, at most one of each word, and what they cost, nothing at all first.

    Costs are not negative. A change that is not among the n - 1 cheapest is in none of them, since each of those alone
    costs less; likewise, what is added to a choice that is not among the n cheapest so far.
    """
    found: list[tuple[float, list[Change]]] = [(0.0, [])]
    for change in nsmallest(n - 1, changes):
        more = [
            (cost + change.cost, [*made, change])
            for cost, made in found
            if all(change.word != other.word for other in made)
        ]
        found = nsmallest(n, [*found, *more], key=lambda choice: choice[0])
    return found
