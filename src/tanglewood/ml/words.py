"""Numbers for what is known of a word: form, lemma, tags, features, affixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tanglewood.treebank.sentence import Sentence

UNKNOWN, ROOT = "\tunknown", "\troot"  # no column can hold a tab
OPTIONAL = ("LEMMA", "UPOS", "XPOS", "FEATS")  # columns that may hold nothing
MOST_REMEMBERED = 50_000  # different words
FIELDS = ("form", "lemma", "upos", "xpos", "feats", "affixes")
Word = tuple[str, str, str, str, str]  # form, lemma, UPOS, XPOS, FEATS as written
Numbers = tuple[list[int], list[int], list[int]]  # of the single values, of the features, of the affixes


def affixes(form: str) -> list[str]:
    """Suffixes of 2, 3 and 4 characters and prefixes of 2 and 3."""
    return [f"-{form[-2:]}", f"-{form[-3:]}", f"-{form[-4:]}", f"{form[:2]}-", f"{form[:3]}-"]


def pieces(word: Word) -> tuple[str, str, str, str, list[str], list[str]]:
    """What the vocabularies number of a word, in the order of FIELDS; features are never an empty list."""
    form, lemma, upos, xpos, feats = word
    lower = form.lower()
    return lower, lemma, upos, xpos, ["_"] if feats == "_" else feats.split("|"), affixes(lower)


ROOT_PIECES = (ROOT, ROOT, ROOT, ROOT, [ROOT], [ROOT] * 5)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Numbers the values of each field; 0 is for unknown ones, 1 for the root."""

    numbers: Mapping[str, Mapping[str, int]]
    counts: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Vocabulary:
        """Count the values in training data; affixes that occur once are left out."""
        return cls.of_words((word for sentence in sentences for word in words_of(sentence)), {"affixes": 2})

    @classmethod
    def of_words(cls, words: Iterable[Word], least: Mapping[str, int]) -> Vocabulary:
        """Count the values of words; those that occur less often than ``least`` says for their field are left out."""
        seen: dict[str, Counter[str]] = {field: Counter() for field in FIELDS}
        for word, times in Counter(words).items():
            for field, value in zip(FIELDS, pieces(word), strict=True):
                for single in [value] if isinstance(value, str) else value:
                    seen[field][single] += times
        numbers, counts = {}, {}
        for field, counter in seen.items():
            kept = [value for value, count in counter.most_common() if count >= least.get(field, 1)]
            numbers[field] = {value: number for number, value in enumerate([UNKNOWN, ROOT, *kept])}
            counts[field] = [0, 1_000_000_000, *(counter[value] for value in kept)]
        return cls(numbers, counts)

    def number(self, values: tuple[str, str, str, str, list[str], list[str]]) -> Numbers:
        """Return the numbers of a word's single values, of its features and of its affixes."""
        single = [self.numbers[field].get(str(value), 0) for field, value in zip(FIELDS[:4], values[:4], strict=True)]
        feats = [self.numbers["feats"].get(value, 0) for value in values[4]]
        return single, feats, [self.numbers["affixes"].get(value, 0) for value in values[5]]


class Columns:
    """Takes note which of some columns hold nothing but "_"."""

    def __init__(self, names: Iterable[str] = OPTIONAL) -> None:
        self.empty = [name for name in OPTIONAL if name in names]

    def add(self, words: Sequence[Word]) -> None:
        """Look at some words; a column that held something needs no further look."""
        if self.empty:
            self.empty = [name for name in self.empty if all(word[OPTIONAL.index(name) + 1] == "_" for word in words)]


class _Words(dict[bytes, Word]):
    """Cuts the columns that a scorer looks at out of their bytes, and remembers them."""

    def __missing__(self, data: bytes) -> Word:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        form, lemma, upos, xpos, feats = data.decode().split("\t")
        word = self[data] = (form, lemma, upos, xpos, feats)
        return word


_WORDS = _Words()


def words_of(sentence: Sentence) -> list[Word]:
    """The words of a sentence, with the columns a scorer looks at."""
    return list(map(_WORDS.__getitem__, sentence.form_to_feats()))
