"""A decoder for sentences up to a length and as much memory as is allowed, and another one for those beyond."""

from __future__ import annotations

from random import Random

from tanglewood.core.decoder import Decoded, Decoder, Scores, words_in
from tanglewood.core.searches import MOST_MEMORY
from tanglewood.errors import ConfigError


class Limited(Decoder):
    """Decodes with the first decoder where it stays within the limits, and with the fallback where it does not."""

    def __init__(
        self, first: Decoder, fallback: Decoder, *, max_length: int = 0, max_memory: int = MOST_MEMORY
    ) -> None:
        if max_length < 0 or max_memory < 1:
            raise ConfigError(f"a limit of {max_length} words and {max_memory} bytes lets nothing through")
        Decoder.__init__(self, single_root=first.single_root)
        self.first = first
        self.fallback = fallback
        self.max_length = max_length
        self.max_memory = max_memory

    def reason(self, n: int) -> str:
        """Say why a sentence of n words is left to the fallback; nothing if it is not."""
        if self.first is self.fallback:
            return ""
        if self.max_length and n > self.max_length:
            return f"{n} words, the limit is {self.max_length}"
        if self.first.memory(n) > self.max_memory:
            return f"{_megabytes(self.first.memory(n))} needed, the limit is {_megabytes(self.max_memory)}"
        return ""

    def choose(self, n: int) -> Decoder:
        """Return the decoder for sentences of n words."""
        return self.fallback if self.reason(n) else self.first

    def memory(self, n: int) -> int:
        """Return the bytes that the decoder asks for that is used for n words."""
        return self.choose(n).memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree of the class of the decoder that is used."""
        return self.choose(words_in(scores)).best(scores)

    def log_partition(self, scores: Scores) -> float:
        """Return that of the decoder that is used."""
        return self.choose(words_in(scores)).log_partition(scores)

    def marginals(self, scores: Scores) -> memoryview[float]:
        """Return those of the decoder that is used."""
        return self.choose(words_in(scores)).marginals(scores)

    def sample(self, scores: Scores, chance: Random) -> Decoded:
        """Return one of the decoder that is used."""
        return self.choose(words_in(scores)).sample(scores, chance)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
