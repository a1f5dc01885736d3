"""Sentences that can be iterated over more than once, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import SentenceSource, sentences_from


class Source:
    """The sentences of a path, an open binary file or an iterable; each iteration starts with the first one.

    Paths are read again, and collections iterated over again. What can be read only once (a pipe, an open file, a
    generator) is remembered while it is read, as the bytes of its sentences.
    """

    def __init__(
        self, given: SentenceSource, read_file: Callable[[str | Path | BinaryIO], Iterator[Sentence]] = read
    ) -> None:
        self._again: Callable[[], Iterator[Sentence]] | None = None
        self._once: Iterator[Sentence] = iter(())
        self._kept: list[tuple[bytes, str | None, int, str]] = []
        if isinstance(given, str | Path):
            if str(given) != "-" and Path(given).is_file():
                self._again = lambda: read_file(given)
            else:
                self._once = read_file(given)
        elif hasattr(given, "read"):
            self._once = read_file(cast("BinaryIO", given))
        else:
            self._once = sentences_from(given)  # raises if these are not sentences
            if not isinstance(given, Iterator):
                self._again = lambda: sentences_from(given)

    def __iter__(self) -> Iterator[Sentence]:
        return self._again() if self._again is not None else self._from_kept()

    def _from_kept(self) -> Iterator[Sentence]:
        for data, file, line, format_ in self._kept[:]:
            yield Sentence(data, file=file, line=line, format=format_)
        for sentence in self._once:
            self._kept.append((sentence.to_bytes(), sentence.file, sentence.line, sentence.format))
            yield sentence
