"""The value of a tree: the sum of its arcs' scores."""

from __future__ import annotations

from array import array


def tree_value(scores: memoryview[float], heads: array[int]) -> float:
    """Return the sum of the scores of a tree's arcs, added from left to right; heads are indexed by node."""
    total = 0.0
    for word in range(1, len(heads)):
        total += scores[heads[word], word]
    return total
