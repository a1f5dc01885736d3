"""The compiled part of learning to tokenize: a linear classifier that goes through the places of a text."""

from __future__ import annotations

from array import array
from random import Random

from tanglewood.ml.linear_weights import LearningWeights
from tanglewood.text.hashed import Features
from tanglewood.text.sentences_core import SentenceScanner
from tanglewood.text.tokens_core import TokenScanner

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

BATCH = 200  # examples for which there is room in the table of weights
EXAMPLE = 5  # numbers per example, as in tokens_core: the place comes first, then what its features need
CUTS, STOPS, SPLITS = range(3)  # what is learnt: where tokens end, where sentences end, which tokens are several words


class Teacher:
    """Learns from the places of a text, in any order, by steps that are as large as the mistake (PA-I)."""

    def __init__(self, tokens: TokenScanner, sentences: SentenceScanner, margin: float, most: float) -> None:
        self.tokens = tokens
        self.sentences = sentences
        self.weights = LearningWeights(1)
        self.margin = margin
        self.most = most
        self.time = 1.0
        self.mistakes = 0
        self.score = array("f", bytes(4))

    def epoch(self, examples: array[int], gold: array[int], kind: int, rng: Random) -> tuple[int, int]:
        """Go through examples of one kind, shuffled; return how many were mistaken, out of how many.

        ``gold`` says of each place or token what is true of it.
        """
        order = list(range(len(examples) // EXAMPLE))
        rng.shuffle(order)
        before = self.mistakes
        for start in range(0, len(order), BATCH):
            self._learn_some(examples, gold, array("i", order[start : start + BATCH]), kind)
        return self.mistakes - before, len(order)

    def _learn_some(self, examples: array[int], gold: array[int], order: array[int], kind: int) -> None:
        count = len(order)
        self.weights.reserve()
        with cython.nogil:
            self._learn(examples, gold, order, count, kind)

    def _learn(self, examples: array[int], gold: array[int], order: array[int], count: int, kind: int) -> None:
        for n in range(count):
            at = EXAMPLE * order[n]
            place = examples[at]
            sign = 1.0 if gold[place] else -1.0
            if kind == CUTS:
                self.tokens._turn_to(examples[at + 1], examples[at + 2])
                self.tokens._cut_features(place, examples[at + 3], examples[at + 4])
                self._step(self.tokens.features, sign)
            else:
                if kind == STOPS:
                    self.sentences._stop_features(place, examples[at + 1], examples[at + 2], examples[at + 3])
                else:
                    self.sentences._split_features(place)
                self._step(self.sentences.features, sign)

    def _step(self, features: Features, sign: float) -> None:
        """Learn from the features of one place."""
        self.weights._score(features.keys, features.count, self.score)
        lead = sign * self.score[0]
        self.time += 1
        if lead <= 0:
            self.mistakes += 1
        if lead < self.margin:
            step = min(self.most, (self.margin - lead) / features.count)
            self.weights._change(features.keys, features.count, 0, sign * step, self.time)
