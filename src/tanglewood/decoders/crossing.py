"""Crossing arcs only where they pay: a decoder that prefers the best projective tree to one that is hardly better."""

from __future__ import annotations

from collections.abc import Sequence

from tanglewood.decoders.base import Decoded, Decoder, Scores
from tanglewood.errors import ConfigError
from tanglewood.treebank.measures import arc_degrees_2006


class CautiousDecoder(Decoder):
    """The best of all trees if it is projective, or if each of its non-projective arcs gains enough; else Eisner's.

    The gain is the difference between the values of the two trees, divided by the number of non-projective arcs. Those
    of another tree that is trusted, if there is one, need not gain as much: ``agreed_gain``. ``spanning`` and
    ``projective`` have the same rule about roots.
    """

    def __init__(self, spanning: Decoder, projective: Decoder, *, gain: float = 0.5, agreed_gain: float = 0.0) -> None:
        if spanning.single_root != projective.single_root:
            raise ConfigError("both decoders should have one root, or both several")
        for least in (gain, agreed_gain):
            if not least >= 0:
                raise ConfigError(f"the gain of a non-projective arc should be 0 or more, not {least}")
        Decoder.__init__(self, single_root=spanning.single_root)
        self.spanning = spanning
        self.projective = projective
        self.gain = gain
        self.agreed_gain = agreed_gain

    def memory(self, n: int) -> int:
        """Return the bytes that both decoders need for n words."""
        return self.spanning.memory(n) + self.projective.memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the better tree; its proof is that of the decoder that found it."""
        return self.best_beside(scores, None)

    def best_beside(self, scores: Scores, trusted: Sequence[int] | None) -> Decoded:
        """Return the better tree, where non-projective arcs of a trusted tree (its heads by word) are to gain less."""
        tree = self.spanning.best(scores)
        degrees = arc_degrees_2006(tree.heads) if tree.found else []
        crossing = [word for word, degree in enumerate(degrees) if degree]  # an arc of degree 0 is projective
        if not crossing:
            return tree
        agreed = sum(trusted[word - 1] == tree.heads[word] for word in crossing) if trusted is not None else 0
        least = self.gain * (len(crossing) - agreed) + self.agreed_gain * agreed
        other = self.projective.best(scores)
        return other if tree.value - other.value < least else tree
