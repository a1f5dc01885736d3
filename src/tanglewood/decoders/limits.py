"""A decoder for sentences within limits of length and memory, and a fallback for those beyond."""

from __future__ import annotations

from tanglewood.decoders.base import Decoded, Decoder, Scores, Siblings, words_in
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import LimitError

MOST_ARC_WORDS = 1000  # of a sentence whose arcs a network scores: tables of arcs grow with the square of its length


def table_memory(n: int, *, sums: bool = False) -> int:
    """Return the bytes of the tables of n words: scores and labels, the best of all trees, maybe sums in logarithms."""
    cell = 8 + (40 + 12 * (2 + n.bit_length())) * sums
    return cell * (n + 1) ** 2 + SpanningTree().memory(n)


def too_long(n: int, needed: int, allowed: int, remedy: str) -> LimitError:
    """Return the error for a sentence whose tables would not fit."""
    return LimitError(
        f"{n:,} words need {(needed >> 20) + 1:,} MB for the tables of a graph-based search, more than the "
        f"{allowed >> 20:,} MB allowed; {remedy}"
    )


class LimitedDecoder(Decoder):
    """Decodes with the first decoder where it stays within the limits; else with the fallback."""

    def __init__(self, first: Decoder, fallback: Decoder, *, max_words: int | None, max_bytes: int | None) -> None:
        Decoder.__init__(self, single_root=first.single_root)
        self.first = first
        self.fallback = fallback
        self.max_words = max_words
        self.max_bytes = max_bytes

    def fits(self, n: int) -> bool:
        """Whether the first decoder may be used for n words."""
        return (self.max_words is None or n <= self.max_words) and (
            self.max_bytes is None or self.first.memory(n) <= self.max_bytes
        )

    def memory(self, n: int) -> int:
        """Return the bytes needed by the decoder that is used for n words."""
        return (self.first if self.fits(n) else self.fallback).memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree of the first decoder's class or, with the proof "fallback", of the other's."""
        if self.fits(words_in(scores)):
            return self.first.best(scores)
        return self.fallback.best(scores)._replace(proof="fallback")

    def second_order_best(self, scores: Scores, siblings: Siblings) -> Decoded:
        """Likewise; the fallback knows only the scores of arcs."""
        if self.fits(words_in(scores)):
            return self.first.second_order_best(scores, siblings)
        return self.best(scores)
