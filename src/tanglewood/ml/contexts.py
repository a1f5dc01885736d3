"""The encoder at work: the vectors of words in their sentences, with what words have in common kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tanglewood.ml.encoder import DIRECTIONS, Batch, Encoder, Floats, Ints, Lengths, Wanted, given_vectors
from tanglewood.ml.kernels import Kernels
from tanglewood.ml.vocabulary import Vocabulary
from tanglewood.ml.word_features import ANY, FEATURES
from tanglewood.ml.words import Word
from tanglewood.treebank.memo import letters_in

MOST_KEPT = 30_000  # most words whose vectors are kept while parsing: 80 MB
MOST_LETTERS = 16 << 20  # of all of them together


def number_distinct(vocabulary: Vocabulary, words: Sequence[Word]) -> Batch:
    """Look up node 0 and some words as if they were one sentence, without what depends on their contexts.

    The same as `number_words`, but feature by feature: a list for each value of each word would cost more than to look
    it up.
    """
    single: list[Ints] = []
    several: dict[str, Ints] = {}
    bags: dict[str, tuple[Ints, Ints]] = {}
    for (name, numbers), root in zip(vocabulary.numbers.items(), vocabulary.root(), strict=True):
        values_of, kind = FEATURES[name]
        known = numbers.get
        if kind == ANY:
            found = list(map(values_of, words))
            flat = np.array([*root, *(known(value, 0) for values in found for value in values)], np.int32)
            starts = np.cumsum([0, len(root), *map(len, found)], dtype=np.int32)[:-1]
            bags[name] = flat, starts
        else:
            flat = np.array([*root, *[known(value, 0) for word in words for value in values_of(word)]], np.int32)
            if kind:
                several[name] = flat.reshape(-1, kind)
            else:
                single.append(flat)
    given = given_vectors(vocabulary, [words], contextual=False)
    return Batch([len(words) + 1], np.stack(single, axis=1), several, bags, given)


class _Places(dict[Word, int]):
    """Numbers words from 1 on as they are looked up; ``fresh`` are those that were met for the first time."""

    def __init__(self) -> None:
        dict.__init__(self)
        self.fresh: list[Word] = []

    def __missing__(self, word: Word) -> int:
        self.fresh.append(word)
        self[word] = place = len(self) + 1
        return place


class Contexts:
    """The vectors of words in their sentences, for one thread.

    Words come again and again, so what does not depend on their context is kept.
    """

    def __init__(self, vocabulary: Vocabulary, parameters: Mapping[str, Floats], kernels: Kernels) -> None:
        self._vocabulary = vocabulary
        self._encoder = Encoder(parameters, vocabulary.numbers, kernels)
        self._kept = self._vectors([])
        self._forget()

    def _forget(self) -> None:
        """Start over with node 0 alone."""
        self._places = _Places()
        self._letters = 0
        # There is room for all from the beginning: what is not used yet takes up no memory, and nothing has to move.
        if len(self._kept[0]) != MOST_KEPT:
            self._kept = [_grown(rows[:1], MOST_KEPT) for rows in self._kept]

    def _vectors(self, words: Sequence[Word]) -> list[Floats]:
        """Return a row for node 0 and one for each word: their vectors, and their contributions to both LSTMs.

        If vectors depend on contexts as well, it is what the words by themselves add to them.
        """
        embedded = self._encoder.embed(number_distinct(self._vocabulary, words))
        if self._vocabulary.contextual is not None:
            return [self._encoder.word_sums(embedded)]
        vectors = self._encoder.words(embedded)
        return [vectors, *(self._encoder.inputs(0, direction, vectors) for direction in DIRECTIONS)]

    def of(self, sentences: Sequence[Sequence[Word]]) -> tuple[Floats, list[int]]:
        """Return a row for every node, and where each sentence begins and the last one ends."""
        places = self._looked_up()
        order = [place for words in sentences for place in (0, *map(places.__getitem__, words))]
        self._keep_fresh()
        found = np.array(order, np.int32)
        lengths = [len(words) + 1 for words in sentences]
        contextual = self._vocabulary.contextual
        if contextual is None:
            contexts = self.at(found, lengths)
        else:
            given = contextual.given([[word[0] for word in words] for words in sentences])
            contexts = self._encoder.with_contextual(self._kept[0][found], given)
            gates = {direction: self._encoder.inputs(0, direction, contexts) for direction in DIRECTIONS}
            self._encoder.add_contexts(contexts, gates, np.arange(len(found), dtype=np.int32), lengths)
        return contexts, [0, *np.cumsum(lengths).tolist()]

    def number(self, words: Iterable[Word]) -> Ints:
        """Return the places of words, which `at` takes until others are looked up; that of node 0 is 0."""
        found = list(map(self._looked_up().__getitem__, words))
        self._keep_fresh()
        return np.array(found, np.int32)

    def at(self, places: Ints, lengths: Lengths, wanted: Wanted | None = None) -> Floats:
        """Return a row for every node of sentences of these lengths, node 0 included, whose words have these places.

        If only some are wanted, the rows of the others mean nothing.
        """
        vectors, *gates = self._kept
        contexts = vectors[places]
        self._encoder.add_contexts(contexts, dict(zip(DIRECTIONS, gates, strict=True)), places, lengths, wanted)
        return contexts

    def _looked_up(self) -> _Places:
        """Return the places of words, after all have been forgotten if there were too many."""
        if len(self._places) > MOST_KEPT or self._letters > MOST_LETTERS:
            self._forget()
        return self._places

    def _keep_fresh(self) -> None:
        """Compute what is kept of the words that were looked up for the first time."""
        fresh = self._places.fresh
        if not fresh:
            return
        self._places.fresh = []
        end = len(self._places) + 1
        begin = end - len(fresh)
        self._letters += sum(map(letters_in, fresh))
        if end > len(self._kept[0]):
            self._kept = [_grown(rows[:begin], 2 * end) for rows in self._kept]
        for rows, new in zip(self._kept, self._vectors(fresh), strict=True):
            rows[begin:end] = new[1:]


def _grown(rows: Floats, size: int) -> Floats:
    """Return an array with room for more rows, whose first ones are these."""
    more = np.empty((size, rows.shape[1]), np.float32)
    more[: len(rows)] = rows
    return more
