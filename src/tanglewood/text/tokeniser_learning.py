"""The compiled part of learning to tokenise: a linear classifier that goes through the places of a text."""

from __future__ import annotations

from array import array

from tanglewood.scorers.linear_weights import LearningWeights
from tanglewood.text.tokeniser_core import Scanner

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

EXAMPLE = 5  # numbers an example, as in the core: the place comes first, then what its features need
DOUBLE_QUOTE, NEW_PARAGRAPH = 11, 4  # as in the core
CUTS, STOPS, SPLITS = range(3)  # what is learnt: where tokens end, where sentences end, which tokens are several words


class Teacher:
    """Learns from the places of a text, in any order, by steps that are as large as the mistake (PA-I)."""

    def __init__(self, scanner: Scanner, margin: float, most: float) -> None:
        self.scanner = scanner
        self.weights = LearningWeights(1)
        self.margin = margin
        self.most = most
        self.time = 1.0
        self.mistakes = 0
        self.score = array("f", bytes(4))

    def cut_examples(self, gold: array[int]) -> array[int]:
        """Find the tokens that gold says begin or end before each character; return the places looked at."""
        examples = array("i", bytes(4 * EXAMPLE * (len(gold) + 1)))
        self.scanner._find_tokens(gold, examples)
        self.scanner.prepare()
        return examples[: EXAMPLE * self.scanner.n_examples]

    def stop_examples(self, last: array[int]) -> array[int]:
        """Set what tokens end sentences; return those not at the end of a paragraph, with what their features need."""
        scanner = self.scanner
        examples = array("i")
        first = depth = quotes = 0
        for k in range(scanner.n_tokens):
            which = scanner.firsts[k]
            depth = scanner._depth(depth, which)
            quotes = quotes ^ 1 if which == DOUBLE_QUOTE else quotes
            at_end = scanner.gaps[k] == NEW_PARAGRAPH
            if not at_end:
                examples.extend((k, first, depth, quotes, 0))
            scanner.last[k] = last[k] or at_end
            if scanner.last[k]:
                first = k + 1
                depth = quotes = 0
        return examples

    def learn(self, examples: array[int], gold: array[int], order: array[int], kind: int) -> None:
        """Go through some examples of one kind in this order; gold says of each place or token whether it is an end."""
        count = len(order)
        self.weights.reserve()
        with cython.nogil:
            self._learn(examples, gold, order, count, kind)

    def _learn(self, examples: array[int], gold: array[int], order: array[int], count: int, kind: int) -> None:
        for n in range(count):
            at = EXAMPLE * order[n]
            place = examples[at]
            if kind == SPLITS:
                self.scanner._split_features(place)
            elif kind == STOPS:
                self.scanner._stop_features(place, examples[at + 1], examples[at + 2], examples[at + 3])
            else:
                self.scanner.begin = examples[at + 1]
                self.scanner.end = examples[at + 2]
                self.scanner._describe_chunk()
                self.scanner._cut_features(place, examples[at + 3], examples[at + 4])
            self.weights._score(self.scanner.keys, self.scanner.n_keys, self.score)
            sign = 1.0 if gold[place] else -1.0
            lead = sign * self.score[0]
            self.time += 1
            if lead <= 0:
                self.mistakes += 1
            if lead < self.margin:
                step = min(self.most, (self.margin - lead) / self.scanner.n_keys)
                self.weights._change(self.scanner.keys, self.scanner.n_keys, 0, sign * step, self.time)
