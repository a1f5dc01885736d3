"""The words of sentences as learners see them: five columns each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tanglewood.treebank.memo import Memo
from tanglewood.treebank.sentence import Sentence

OPTIONAL = ("LEMMA", "UPOS", "XPOS", "FEATS")  # columns that may hold nothing
MOST_BYTES = 40 << 20  # of words that are remembered: about 50,000
Word = tuple[str, str, str, str, str]  # form, lemma, UPOS, XPOS, FEATS as written


def untagged(form: str) -> Word:
    """Return a word of which nothing but the form is known."""
    return form, "_", "_", "_", "_"


class Columns:
    """Notes which of some columns hold nothing but "_"."""

    def __init__(self, names: Iterable[str] = OPTIONAL) -> None:
        self.empty = [name for name in OPTIONAL if name in names]

    def add(self, words: Sequence[Word]) -> None:
        """Look at some words; a column that held something needs no further look."""
        if self.empty:
            self.empty = [name for name in self.empty if all(word[OPTIONAL.index(name) + 1] == "_" for word in words)]


def _word(data: bytes) -> Word:
    """Cut the columns that a learner looks at out of their bytes."""
    form, lemma, upos, xpos, feats = data.decode().split("\t")
    return form, lemma, upos, xpos, feats


_WORDS = Memo(_word, MOST_BYTES)


def words_of(sentence: Sentence) -> list[Word]:
    """The words of a sentence, with the columns a learner looks at."""
    return list(map(_WORDS.__getitem__, sentence.form_to_feats()))
