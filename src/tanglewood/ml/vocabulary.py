"""Numbers for the values of word features, counted in training data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tanglewood.checks import check_settings
from tanglewood.errors import ModelError
from tanglewood.ml.word_features import FEATURES
from tanglewood.ml.words import Word

if TYPE_CHECKING:
    from tanglewood.ml.contextual import Contextual
    from tanglewood.ml.knowledge import Knowledge
    from tanglewood.ml.lexicon import Lexicon

UNKNOWN, ROOT = "\tunknown", "\troot"  # no column can hold a tab
Numbers = list[list[int]]  # of the values of a word, a list for each feature of the vocabulary


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Numbers the values of each feature; 0 is for unknown ones, 1 for the root."""

    numbers: Mapping[str, Mapping[str, int]]
    counts: Mapping[str, Sequence[int]]
    lexicon: Lexicon | None = None  # of vectors that forms have besides
    contextual: Contextual | None = None  # vectors that words have besides, different in every sentence

    @classmethod
    def of(
        cls,
        words: Iterable[Word],
        features: Iterable[str],
        least: Mapping[str, int],
        knowledge: Knowledge | None = None,
    ) -> Vocabulary:
        """Count the values of words; those that occur less often than ``least`` says for their feature are left out.

        Values that are known have the numbers that they have there.
        """
        known = {} if knowledge is None else knowledge.values
        seen: dict[str, Counter[str]] = {name: Counter() for name in dict.fromkeys((*features, *known))}
        for word, times in Counter(words).items():
            for name, counter in seen.items():
                for value in FEATURES[name].values(word):
                    counter[value] += times
        numbers, counts = {}, {}
        for name, counter in seen.items():
            frequent = (value for value, count in counter.most_common() if count >= least.get(name, 1))
            _, _, *kept = dict.fromkeys((UNKNOWN, ROOT, *known.get(name, ()), *frequent))
            numbers[name] = {value: number for number, value in enumerate([UNKNOWN, ROOT, *kept])}
            counts[name] = [0, 1_000_000_000, *(counter[value] for value in kept)]
        if knowledge is None:
            return cls(numbers, counts)
        return cls(numbers, counts, knowledge.lexicon, knowledge.contextual)

    def number(self, word: Word) -> Numbers:
        """Return the numbers of a word's values."""
        return [[known.get(v, 0) for v in FEATURES[name].values(word)] for name, known in self.numbers.items()]

    def root(self) -> Numbers:
        """Return the numbers of node 0: those of the root for every value."""
        return [[1] * max(FEATURES[name].several, 1) for name in self.numbers]

    @property
    def given_width(self) -> int:
        """How many numbers a word has that are not learnt."""
        return sum(part.width for part in (self.lexicon, self.contextual) if part is not None)

    def settings(self) -> dict[str, Any]:
        """Return the values in the order of their numbers, as plain data."""
        return {name: list(numbers) for name, numbers in self.numbers.items()}

    @classmethod
    def load(
        cls,
        settings: Mapping[str, Any],
        features: Iterable[str],
        extra: Iterable[str] = (),
        lexicon: Lexicon | None = None,
        contextual: Contextual | None = None,
    ) -> Vocabulary:
        """Rebuild it from such data, without knowing how often values occurred; ``extra`` features may be missing."""
        names = [*features, *(name for name in extra if name in settings)]
        check_settings(settings, {name: [str] for name in names}, "vocabulary")
        if any(list(settings[name][:2]) != [UNKNOWN, ROOT] for name in names):
            raise ModelError(f"the vocabulary should number {', '.join(names)}, the unknown and the root first")
        numbers = {name: {value: number for number, value in enumerate(settings[name])} for name in names}
        if any(len(numbers[name]) != len(settings[name]) for name in names):
            raise ModelError("the vocabulary has a value twice")
        return cls(numbers, {}, lexicon, contextual)
