"""Searches over the scores of arcs, with what is asked of them: limits, probabilities of heads, heads that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tanglewood.core.system import TransitionSystem
from tanglewood.decoders import make_decoder, make_summing_decoder
from tanglewood.decoders.base import Decoder, Scores, Siblings, score_table, words_in
from tanglewood.decoders.crossing import CautiousDecoder
from tanglewood.decoders.kept import with_heads
from tanglewood.decoders.limits import table_memory
from tanglewood.learners.calibration import at_temperature
from tanglewood.options import ParseOptions
from tanglewood.treebank.sentence import Sentence

MOST_CAUTIOUS = 200  # words of a sentence in which crossing arcs must pay: the best projective tree takes cubic time
CROSSING_GAIN = 1.0  # what each crossing arc must add to the score of a tree that moves and arcs have voted for
AGREED_GAIN = 0.25  # the same if the moves lead to that arc, too: they are more precise about crossing arcs than scores
BY_HEADS = "heads"  # the proof of a tree that has the heads that were given, but is not of the kind searched for


class DecodedArcs(NamedTuple):
    """The heads of words that a search over arcs found, its proof and, if asked for, the probabilities of all arcs."""

    heads: Sequence[int]
    proof: str
    marginals: memoryview[float] | None = None


class Decoding:
    """A search over arcs: the best tree by a table of scores, and how probable its heads are."""

    def __init__(self, system: TransitionSystem, options: ParseOptions, search: str, *, cautious: bool = False) -> None:
        self.search = search
        self.options = options
        limits = {"max_words": options.max_length or None, "max_bytes": options.max_memory}
        self._decoder: Decoder = make_decoder(search, system, **limits)
        self._sums = make_summing_decoder(search, system)
        # Whatever heads a sentence has, there is a tree with them, but maybe not of the kind that is searched for.
        self._all_trees = make_decoder("mst", system)
        self._cautious: CautiousDecoder | None = None
        if cautious:
            self._cautious = CautiousDecoder(
                self._decoder, make_decoder("eisner", system), gain=CROSSING_GAIN, agreed_gain=AGREED_GAIN
            )

    def memory(self, n: int) -> int:
        """Return the bytes of the tables of n words for the best of all trees, and for sums if they are asked for."""
        return table_memory(n, sums=self.options.confidence or self.options.min_risk)

    def fits(self, n: int) -> bool:
        """Whether n words are within the limits of the search."""
        return self._decoder.fits(n)

    def decode(
        self,
        scores: Scores,
        temperature: float,
        believed: Scores | None = None,
        *,
        siblings: Siblings | None = None,
        kept: Sequence[int] | None = None,
        trusted: Sequence[int] | None = None,
    ) -> DecodedArcs:
        """Return the best tree by some scores; probabilities are by ``believed``, if these are other scores.

        In a second-order search, siblings have scores, too, if the sentence is within its limits. Words whose head is
        to be ``kept`` (by node, negative: any) have that one, even if the search then finds no tree of its own kind.
        Where crossing arcs have to pay, those of a ``trusted`` tree (heads by word) have to pay less.
        """
        believed = scores if believed is None else believed
        decoder, sums, proof = self._decoder, self._sums, ""
        if kept is not None:
            scores, believed = with_heads(scores, kept), with_heads(believed, kept)
            if not decoder.best(scores).found:
                decoder = sums = self._all_trees
                proof, siblings = BY_HEADS, None
        if siblings is not None:
            decoded = decoder.second_order_best(scores, siblings)
            return DecodedArcs(decoded.heads[1:].tolist(), decoded.proof)
        marginals = None
        if self.options.confidence or self.options.min_risk:
            marginals = sums.marginals(at_temperature(believed, temperature))
        if marginals is not None and self.options.min_risk:
            n = len(marginals) - 1
            scores = score_table(n)
            for head in range(n + 1):
                for word in range(1, n + 1):
                    scores[head, word] = marginals[head, word]
            scores = scores if kept is None else with_heads(scores, kept)
        careful = self._cautious if words_in(scores) <= MOST_CAUTIOUS and not proof else None
        decoded = decoder.best(scores) if careful is None else careful.best_beside(scores, trusted)
        return DecodedArcs(decoded.heads[1:].tolist(), proof or decoded.proof, marginals)

    def marginals(self, scores: Scores, temperature: float) -> memoryview[float]:
        """Return the probabilities of all arcs by their scores."""
        return self._sums.marginals(at_temperature(scores, temperature))


def with_confidence(sentence: Sentence, confidence: memoryview[float] | Sequence[float]) -> Sentence:
    """Return a parsed sentence with the probabilities of its heads in MISC: those of its words, or of all arcs."""
    found = confidence
    if isinstance(confidence, memoryview):
        found = [confidence[head, word] for word, head in enumerate(sentence.tree.heads) if word]
    return sentence.with_misc("Confidence", [f"{probability:.4f}" for probability in found])
