"""Scores of neighbouring dependents, for second-order search (McDonald & Pereira 2006).

The dependents of a head on one side are a list, the nearest first. Each of them, d, forms a part of the tree with its
head h and the one before it, n. Scores of parts are a C-contiguous float32 buffer of shape (n + 1, n + 1, n + 1), read
as ``siblings[h, n, d]``; where d is the nearest itself, n is h. Only such n count that are h or between h and d.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.base import Decoded, Decoder, Scores, Siblings, words_in
from tanglewood.errors import ConfigError


def sibling_table(n: int, score: float = 0.0) -> memoryview[float]:
    """Return a writable table of the scores of siblings among n words, all the same at first."""
    shape = (n + 1, n + 1, n + 1)
    return memoryview(array("f", [score]) * (n + 1) ** 3).cast("B").cast("f", shape)


def sibling_memory(n: int) -> int:
    """Return the bytes of such a table."""
    return 4 * (n + 1) ** 3


def find_nearer(heads: array[int], out: array[int]) -> None:
    """Write for every word of a tree the dependent of its head next to it on the head's side, or the head.

    ``out`` has two places for each node; the second half is used on the way.
    """
    size = len(heads)
    for node in range(size):
        out[size + node] = node
    for word in range(1, size):
        if heads[word] < word:
            out[word] = out[size + heads[word]]
            out[size + heads[word]] = word
    for node in range(size):
        out[size + node] = node
    for word in range(size - 1, 0, -1):
        if heads[word] > word:
            out[word] = out[size + heads[word]]
            out[size + heads[word]] = word


def second_order_value(
    scores: memoryview[float], siblings: memoryview[float], heads: array[int], nearer: array[int]
) -> float:
    """Return the sum of the scores of a tree's arcs and siblings; ``nearer`` is space for `find_nearer`."""
    find_nearer(heads, nearer)
    total = 0.0
    for word in range(1, len(heads)):
        total += scores[heads[word], word]
        total += siblings[heads[word], nearer[word], word]
    return total


class SiblingDecoder(Decoder):
    """A decoder that takes scores of siblings beside those of arcs."""

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree by scores of arcs alone: all those of siblings are 0."""
        return self.second_order_best(scores, sibling_table(words_in(scores)))

    def second_order_best(self, scores: Scores, siblings: Siblings) -> Decoded:
        """Return the best tree; its value is the sum of the scores of its arcs and siblings."""
        n = words_in(scores)
        view: memoryview[float] = memoryview(siblings)
        if view.format != "f" or not view.c_contiguous or view.shape != (n + 1,) * 3:
            raise ConfigError(
                f"scores of siblings of {n} words are a C-contiguous float32 table of shape {(n + 1,) * 3}, not one of "
                f"shape {view.shape} and format {view.format!r}"
            )
        return self._best(memoryview(scores), view)

    def _best(self, scores: memoryview[float], siblings: memoryview[float]) -> Decoded:
        raise NotImplementedError
