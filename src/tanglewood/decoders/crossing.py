"""Crossing arcs only where they pay: a decoder that prefers the best projective tree to one that is hardly better."""

from __future__ import annotations

from tanglewood.decoders.base import Decoded, Decoder, Scores
from tanglewood.errors import ConfigError
from tanglewood.treebank.measures import arc_degrees_2006


class CautiousDecoder(Decoder):
    """The best of all trees if it is projective, or if each of its non-projective arcs gains enough; else Eisner's.

    The gain is the difference between the values of the two trees, divided by the number of non-projective arcs.
    ``spanning`` and ``projective`` have the same rule about roots.
    """

    def __init__(self, spanning: Decoder, projective: Decoder, *, gain: float = 0.5) -> None:
        if spanning.single_root != projective.single_root:
            raise ConfigError("both decoders should have one root, or both several")
        if not gain >= 0:
            raise ConfigError(f"the gain of a non-projective arc should be 0 or more, not {gain}")
        Decoder.__init__(self, single_root=spanning.single_root)
        self.spanning = spanning
        self.projective = projective
        self.gain = gain

    def memory(self, n: int) -> int:
        """Return the bytes that both decoders need for n words."""
        return self.spanning.memory(n) + self.projective.memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the better tree; its proof is that of the decoder that found it."""
        tree = self.spanning.best(scores)
        degrees = arc_degrees_2006(tree.heads) if tree.found else tree.heads
        crossing = len(degrees) - degrees.count(0)  # an arc is non-projective if its degree is not 0
        if crossing == 0:
            return tree
        other = self.projective.best(scores)
        return other if tree.value - other.value < self.gain * crossing else tree
