"""A decoder for sentences within limits of length and memory, and a fallback for those beyond."""

from __future__ import annotations

from tanglewood.decoders.base import Decoded, Decoder, Scores, words_in


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
