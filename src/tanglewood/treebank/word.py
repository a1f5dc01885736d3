"""Word: one word of a sentence, seen through it."""

from __future__ import annotations

from tanglewood.treebank.record import confidence, pairs
from tanglewood.treebank.sentence import DEPREL, FEATS, FORM, LEMMA, MISC, UPOS, XPOS, Sentence


class Word:
    """A word of a sentence: a view that has the sentence and the word's number, and looks up the rest when asked.

    ``id`` counts from 1, as in the file. Columns are given as they are there, with "_" for nothing. What needs a
    tree (``head``, ``children``, ``is_nonprojective``) raises a TreeError where the sentence has none. Two words are
    equal if they are the same word of the same sentence.
    """

    __slots__ = ("id", "sentence")

    def __init__(self, sentence: Sentence, id: int) -> None:  # noqa: A002 - the word for it
        self.sentence = sentence
        self.id = id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Word):
            return NotImplemented
        return self.sentence is other.sentence and self.id == other.id

    def __hash__(self) -> int:
        return hash((id(self.sentence), self.id))

    def __str__(self) -> str:
        return self.form

    def __repr__(self) -> str:
        return f"<Word {self.id}: {self.form}>"

    def _column(self, index: int) -> str:
        return self.sentence.words[self.id - 1][index]

    @property
    def form(self) -> str:
        """The word as it is written."""
        return self._column(FORM)

    @property
    def lemma(self) -> str:
        """The lemma."""
        return self._column(LEMMA)

    @property
    def upos(self) -> str:
        """The universal tag; in CoNLL-X the coarse-grained one."""
        return self._column(UPOS)

    @property
    def xpos(self) -> str:
        """The language-specific tag; in CoNLL-X the fine-grained one."""
        return self._column(XPOS)

    @property
    def feats(self) -> dict[str, str]:
        """The features by name, a new dictionary each time: ``word.feats.get("Number")``."""
        return pairs(self._column(FEATS))

    @property
    def misc(self) -> dict[str, str]:
        """The last column by name, a new dictionary each time; empty in CoNLL-X, which has another column there."""
        return {} if self.sentence.format == "conllx" else pairs(self._column(MISC))

    @property
    def deprel(self) -> str:
        """The label of the arc to this word."""
        return self._column(DEPREL)

    @property
    def head(self) -> Word | None:
        """The word that this one depends on, None for a root."""
        head = self.sentence.heads()[self.id]
        return Word(self.sentence, head) if head else None

    @property
    def children(self) -> list[Word]:
        """The words that depend on this one, from left to right."""
        heads = self.sentence.heads()
        return [Word(self.sentence, word) for word, head in enumerate(heads) if head == self.id]

    @property
    def is_nonprojective(self) -> bool:
        """Whether the arc to this word passes over a word that its head does not dominate."""
        return self.id in self.sentence.nonprojective

    @property
    def start(self) -> int | None:
        """Where the word, or its multiword token, begins in the raw text, in characters.

        None if the last column does not say so (``TokenRange=``).
        """
        place = self.sentence.offsets[self.id - 1]
        return None if place is None else place[0]

    @property
    def end(self) -> int | None:
        """Where the word, or its multiword token, ends in the raw text: the number of the character after it."""
        place = self.sentence.offsets[self.id - 1]
        return None if place is None else place[1]

    @property
    def confidence(self) -> float | None:
        """How probable the parser thinks the head is (``Confidence=`` in the last column), None if it was not asked."""
        return confidence(self.misc)
