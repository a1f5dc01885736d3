"""The compiled part of the classifiers of the papers: what LIBSVM and LIBLINEAR learnt, scored without them.

A class is a move with its label. The training data are split by a feature of the next token, and each part has a
classifier of its own, with features of its own.
"""

from __future__ import annotations

from array import array
from typing import Any, TypeAlias

from tanglewood.core.actions import Actions
from tanglewood.core.search import MoveScorer
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ConfigError
from tanglewood.learners.features import FeatureSet
from tanglewood.ml.word_table import WordTable

KEY_BITS = 31
KEY_MASK = (1 << KEY_BITS) - 1
APART = 0x9E3779B1  # distance of the slots of the same key in consecutive parts, modulo the number of slots
LOW = -1e30


Array: TypeAlias = Any  # anything with a buffer of numbers


class KeyTable:
    """Numbers the keys of features, one part after another; any number of threads may share it.

    The numbers of a part's features begin where ``starts`` says.
    """

    def __init__(self, keys: Array, starts: Array) -> None:
        self.n_keys = len(keys)
        self.size = max(4, 2 * self.n_keys)
        self.slots = array("i", b"\xff" * (12 * self.size))  # key, or -1, part, number
        for part in range(len(starts) - 1):
            for number in range(starts[part], starts[part + 1]):
                self._put(part, keys[number], number)

    def _slot(self, part: int, key: int) -> int:
        """Place of the slot of a key, or of the free one where it would be."""
        slot = (((key + part * APART) & KEY_MASK) * self.size) >> KEY_BITS
        while self.slots[3 * slot] >= 0 and (self.slots[3 * slot] != key or self.slots[3 * slot + 1] != part):
            slot = slot + 1 if slot + 1 < self.size else 0
        return 3 * slot

    def _put(self, part: int, key: int, number: int) -> None:
        place = self._slot(part, key)
        self.slots[place] = key
        self.slots[place + 1] = part
        self.slots[place + 2] = number

    def _find(self, part: int, key: int) -> int:
        """Number of a key in a part, or -1."""
        return self.slots[self._slot(part, key) + 2]


class Parts:
    """The parts of the data, and which classes each of them has, in LIBSVM's order: that of first occurrence.

    ``keys`` are those of the next token's feature, ``numbers`` the parts that they belong to; -1 stands for any other
    key, -2, -3, ... likewise in the second, third, ... phase of a system that has several. The classes of a part begin
    in ``classes`` where ``starts`` says. ``moves`` and ``labels`` are those of all classes, and ``prior`` the score of
    a class where its part never saw it.
    """

    def __init__(
        self,
        keys: Array,
        numbers: Array,
        starts: Array,
        classes: Array,
        moves: Array,
        labels: Array,
        prior: Array,
    ) -> None:
        self.keys = keys
        self.numbers: memoryview[int] = numbers
        self.n_keys = len(keys)
        self.starts = starts
        self.classes = classes
        self.moves = moves
        self.labels = labels
        self.prior = prior
        self.size = len(starts) - 1
        self.n_classes = len(prior)
        self.most_classes = 0
        for part in range(self.size):
            self.most_classes = max(self.most_classes, starts[part + 1] - starts[part])


class ClassScorer(MoveScorer):
    """Finds the part of the data that a configuration belongs to and lets a subclass score its classes.

    A move's score is that of its best class whose label fits.
    """

    def __init__(
        self, actions: Actions, features: FeatureSet, splitting: FeatureSet, parts: Parts, keys: KeyTable
    ) -> None:
        self.actions = actions
        self.system: TransitionSystem = actions.system
        self.by_phase = len(actions.system.phases) > 1
        self.features = features
        self.splitting = splitting
        self.parts = parts
        self.keys = keys
        self.values = array("d", bytes(8 * parts.most_classes + 8))  # of the classes of a part
        self.scores = array("f", bytes(4 * parts.n_classes + 4))  # of all classes
        self.found = array("i", bytes(4 * features.most_keys + 4))
        self.seen = array("i", bytes(4 * keys.n_keys + 4))
        self.time = 0

    def use(self, table: WordTable, offset: int) -> None:
        """Switch to the sentence whose node 0 is at this place in the table."""
        self.features.use(table, offset)
        self.splitting.use(table, offset)

    def _look_up(self, part: int, keys: array[int], count: int) -> int:
        """Fill ``found`` with the numbers of the known features, each once; return how many there are."""
        n_found = 0
        self.time = (self.time + 1) & KEY_MASK
        for i in range(count):
            number = self.keys._find(part, keys[i])
            if number >= 0 and self.seen[number] != self.time:
                self.seen[number] = self.time
                self.found[n_found] = number
                n_found += 1
        return n_found

    def _decide(self, part: int, keys: array[int], count: int) -> None:
        """Write a value for each class of the part."""

    def _part(self, s: State) -> int:
        step = s.phase if self.by_phase else 0
        others = 0
        key = self.splitting.keys[0] if self.splitting._extract(s, -1, -1, step) > 0 else -1 - step
        for i in range(self.parts.n_keys):
            if self.parts.keys[i] == key:
                return self.parts.numbers[i]
            if self.parts.keys[i] == -1 - step:
                others = self.parts.numbers[i]
        return others

    def _score_classes(self, s: State) -> None:
        part = self._part(s)
        for number in range(self.parts.n_classes):
            self.scores[number] = self.parts.prior[number]
        self._decide(part, self.features.keys, self.features._extract(s, -1, -1, 0))
        start = self.parts.starts[part]
        for i in range(self.parts.starts[part + 1] - start):
            self.scores[self.parts.classes[start + i]] = self.values[i]

    def _score_moves(self, s: State, out: array[float]) -> None:
        self._score_classes(s)
        for move in range(self.system.n_moves):
            out[move] = LOW
        for number in range(self.parts.n_classes):
            move = self.parts.moves[number]
            label = self.parts.labels[number]
            if self.scores[number] > out[move] and (
                label < 0 or self.actions._fits(s, move, label, self.system._head(s, move, -1))
            ):
                out[move] = self.scores[number]

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        for label in range(self.actions.n_labels):
            out[label] = LOW
        for number in range(self.parts.n_classes):
            if self.parts.moves[number] == move and self.parts.labels[number] >= 0:
                out[self.parts.labels[number]] = self.scores[number]

    def part_of(self, s: State) -> int:
        """Return the number of the part of the data that a configuration belongs to."""
        return self._part(s)

    def _check(self, part: int, keys: array[int]) -> int:
        """Raise ConfigError if there is no such part or no room for the features: compiled code would not notice."""
        if not 0 <= part < self.parts.size or len(keys) > len(self.found):
            raise ConfigError(f"there are {self.parts.size} parts and at most {len(self.found)} features")
        return 0

    def class_values(self, part: int, keys: array[int]) -> list[float]:
        """Return the values of the classes of a part for these features."""
        self._check(part, keys)
        self._decide(part, keys, len(keys))
        size = self.parts.starts[part + 1] - self.parts.starts[part]
        return [self.values[i] for i in range(size)]


class SupportVectors:
    """The support vectors of all parts, which any number of threads may share.

    ``vectors`` says where those of a part begin, ``pairs`` where its pairs of classes begin. A vector has
    ``coef_values`` for the pairs in ``coef_pairs``; a feature is in the vectors listed in ``index``.
    """

    def __init__(
        self,
        kernel: Array,
        index_starts: Array,
        index: Array,
        vectors: Array,
        pairs: Array,
        intercepts: Array,
        coef_starts: Array,
        coef_pairs: Array,
        coef_values: Array,
    ) -> None:
        self.n_vectors = len(coef_starts) - 1
        self.kernel = kernel  # by the number of features in common
        self.vectors = vectors
        self.pairs = pairs
        self.intercepts = intercepts
        self.coef_starts = coef_starts
        self.coef_pairs = coef_pairs
        self.coef_values = coef_values
        self.index_starts = index_starts
        self.index = index


class SvmCore(ClassScorer):
    """One-versus-one voting over a kernel of degree 2, by an index from features to support vectors.

    Sums are taken in the order in which LIBSVM takes them, so that decision values are the same numbers. The value of
    a class is its number of votes; of equals the first comes first, as in LIBSVM's prediction.
    """

    def __init__(
        self,
        actions: Actions,
        features: FeatureSet,
        splitting: FeatureSet,
        parts: Parts,
        keys: KeyTable,
        learnt: SupportVectors,
    ) -> None:
        ClassScorer.__init__(self, actions, features, splitting, parts, keys)
        self.learnt = learnt
        self.common = array("i", bytes(4 * learnt.n_vectors + 4))
        self.sums = array("d", bytes(8 * (parts.most_classes * (parts.most_classes - 1) // 2 + 1)))

    def _decide(self, part: int, keys: array[int], count: int) -> None:
        n_classes = self.parts.starts[part + 1] - self.parts.starts[part]
        self._sum(part, keys, count)
        for i in range(n_classes):
            self.values[i] = -i / (n_classes + 1.0)
        pair = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                self.values[i if self.sums[pair] > 0 else j] += 1
                pair += 1

    def _sum(self, part: int, keys: array[int], count: int) -> None:
        """Fill ``sums`` with the decision value of each pair of classes."""
        count = self._look_up(part, keys, count)
        for i in range(count):
            number = self.found[i]
            for at in range(self.learnt.index_starts[number], self.learnt.index_starts[number + 1]):
                self.common[self.learnt.index[at]] += 1
        first = self.learnt.pairs[part]
        n_pairs = self.learnt.pairs[part + 1] - first
        for i in range(n_pairs):
            self.sums[i] = 0
        at = self.learnt.coef_starts[self.learnt.vectors[part]]
        for vector in range(self.learnt.vectors[part], self.learnt.vectors[part + 1]):
            value = self.learnt.kernel[self.common[vector]]
            self.common[vector] = 0
            end = self.learnt.coef_starts[vector + 1]
            while at < end:
                self.sums[self.learnt.coef_pairs[at]] += self.learnt.coef_values[at] * value
                at += 1
        for i in range(n_pairs):
            self.sums[i] += self.learnt.intercepts[first + i]

    def decisions(self, part: int, keys: array[int]) -> list[float]:
        """Return the decision values of the pairs of classes (0, 1), (0, 2), ..., (1, 2), ... for these features."""
        self._check(part, keys)
        self._sum(part, keys, len(keys))
        return [self.sums[i] for i in range(self.learnt.pairs[part + 1] - self.learnt.pairs[part])]


class LiblinearCore(ClassScorer):
    """Sums ``weights`` of features for the classes in ``places``; those of a feature begin where ``starts`` says."""

    def __init__(
        self,
        actions: Actions,
        features: FeatureSet,
        splitting: FeatureSet,
        parts: Parts,
        keys: KeyTable,
        starts: Array,
        places: Array,
        weights: Array,
    ) -> None:
        ClassScorer.__init__(self, actions, features, splitting, parts, keys)
        self.starts = starts
        self.places = places
        self.weights = weights

    def _decide(self, part: int, keys: array[int], count: int) -> None:
        count = self._look_up(part, keys, count)
        for i in range(self.parts.starts[part + 1] - self.parts.starts[part]):
            self.values[i] = 0
        for i in range(count):
            number = self.found[i]
            for at in range(self.starts[number], self.starts[number + 1]):
                self.values[self.places[at]] += self.weights[at]
