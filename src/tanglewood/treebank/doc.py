"""Doc: a text and its sentences, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tanglewood.treebank.sentence import Sentence


class Doc:
    """A text that was split into sentences; ``text`` is the raw text as it was given."""

    __slots__ = ("sentences", "text")

    def __init__(self, text: str, sentences: Sequence[Sentence]) -> None:
        self.text = text
        self.sentences = list(sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)
