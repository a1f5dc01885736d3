"""Doc: a text and its sentences, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, overload

from tanglewood.errors import ArgumentError, given
from tanglewood.treebank.conllu import joined
from tanglewood.treebank.record import sentence_rows
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import sentences_from

if TYPE_CHECKING:
    from tanglewood.files import Source
    from tanglewood.show.drawing import Drawing


class Doc:
    """A text that was split into sentences; ``text`` is the raw text as it was given.

    Iterating over a document gives its sentences, and so does indexing it from 0.
    """

    __slots__ = ("sentences", "text")

    def __init__(self, text: str, sentences: Iterable[Sentence]) -> None:
        if not isinstance(text, str):
            raise ArgumentError(f"the text of a document should be a str, not {given(text)}")
        self.text = text
        self.sentences = list(sentences_from(sentences))

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def __bool__(self) -> bool:
        return True  # an empty document is one, so that `if doc` asks for None only

    @overload
    def __getitem__(self, place: int) -> Sentence: ...

    @overload
    def __getitem__(self, place: slice) -> list[Sentence]: ...

    def __getitem__(self, place: int | slice) -> Sentence | list[Sentence]:
        return self.sentences[place]

    def __repr__(self) -> str:
        start = " ".join(self.text[:60].split()) + ("..." if len(self.text) > 60 else "")
        words = sum(map(len, self.sentences))
        return f"<Doc of {len(self)} sentence{'s' * (len(self) != 1)}, {words} words: {start}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain data for JSON."""
        return {"text": self.text, "sentences": [sentence.to_dict() for sentence in self.sentences]}

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per word, all with the same keys; ``sentence`` counts the sentences from 1."""
        return [row for number, sentence in enumerate(self.sentences, 1) for row in sentence_rows(sentence, number)]

    def to_conllu(self) -> str:
        """Return the sentences as the text of a CoNLL-U file."""
        return b"".join(joined(sentence.to_bytes() for sentence in self.sentences)).decode()

    def draw(self, *, width: int | None = None, tags: bool = False, title: str | None = None) -> Drawing:
        """Return a drawing of all trees, one below the other; see :meth:`Sentence.draw`."""
        from tanglewood.show.drawing import draw_sentences

        return draw_sentences(self.sentences, width=width, tags=tags, title=title)

    def save(self, target: Source, format: str | None = None, *, tags: bool = False) -> None:  # noqa: A002
        """Write the sentences to a file in the format that its name ends in (``.conllu``, ``.json``, ``.html``, ...).

        ``format`` names another one; a path is replaced only if all goes well. ``tags`` is for drawings.
        """
        from tanglewood.show.formats import Look, save

        save(self.sentences, target, format, Look(tags=tags))

    def _repr_html_(self) -> str:
        from tanglewood.show.html import fragment

        return fragment(self.sentences, tags=True)
