"""Numbers for the values of word features, counted in training data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tanglewood.checks import check_settings
from tanglewood.errors import ModelError
from tanglewood.ml.word_features import FEATURES
from tanglewood.ml.words import Word

UNKNOWN, ROOT = "\tunknown", "\troot"  # no column can hold a tab
Numbers = list[list[int]]  # of the values of a word, a list for each feature of the vocabulary


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Numbers the values of each feature; 0 is for unknown ones, 1 for the root."""

    numbers: Mapping[str, Mapping[str, int]]
    counts: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, words: Iterable[Word], features: Iterable[str], least: Mapping[str, int]) -> Vocabulary:
        """Count the values of words; those that occur less often than ``least`` says for their feature are left out."""
        seen: dict[str, Counter[str]] = {name: Counter() for name in features}
        for word, times in Counter(words).items():
            for name, counter in seen.items():
                for value in FEATURES[name].values(word):
                    counter[value] += times
        numbers, counts = {}, {}
        for name, counter in seen.items():
            kept = [value for value, count in counter.most_common() if count >= least.get(name, 1)]
            numbers[name] = {value: number for number, value in enumerate([UNKNOWN, ROOT, *kept])}
            counts[name] = [0, 1_000_000_000, *(counter[value] for value in kept)]
        return cls(numbers, counts)

    def number(self, word: Word) -> Numbers:
        """Return the numbers of a word's values."""
        return [[known.get(v, 0) for v in FEATURES[name].values(word)] for name, known in self.numbers.items()]

    def root(self) -> Numbers:
        """Return the numbers of node 0: those of the root for every value."""
        return [[1] * max(FEATURES[name].several, 1) for name in self.numbers]

    def settings(self) -> dict[str, Any]:
        """Return the values in the order of their numbers, as plain data."""
        return {name: list(numbers) for name, numbers in self.numbers.items()}

    @classmethod
    def load(cls, settings: Mapping[str, Any], features: Iterable[str]) -> Vocabulary:
        """Rebuild it from such data, without knowing how often values occurred."""
        names = list(features)
        check_settings(settings, {name: [str] for name in names}, "vocabulary")
        if any(list(settings[name][:2]) != [UNKNOWN, ROOT] for name in names):
            raise ModelError(f"the vocabulary should number {', '.join(names)}, the unknown and the root first")
        numbers = {name: {value: number for number, value in enumerate(settings[name])} for name in names}
        if any(len(numbers[name]) != len(settings[name]) for name in names):
            raise ModelError("the vocabulary has a value twice")
        return cls(numbers, {})
