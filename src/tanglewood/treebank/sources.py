"""Sentences from anywhere: a path, an open binary file, or an iterable of sentences or paths."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tanglewood.errors import ArgumentError, given
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import Sentence

SentenceSource = str | Path | BinaryIO | Iterable[Sentence | str | Path]


def sentences_from(source: SentenceSource, *, trees: bool = True) -> Iterator[Sentence]:
    """Yield the sentences one by one; what cannot hold sentences is refused at once, with an ArgumentError.

    With ``trees=False`` heads in files may be missing or not form a tree.
    """
    if isinstance(source, Sentence):
        raise ArgumentError("one sentence was given where several are expected; [sentence] is a list of one")
    if isinstance(source, io.TextIOBase):
        raise ArgumentError("a file of text was given; it should be opened in binary mode: open(name, 'rb')")
    if isinstance(source, str | Path) or hasattr(source, "read"):
        return read(cast("str | Path | BinaryIO", source), trees=trees)
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise ArgumentError(
            f"{given(source)} was given; it should be a path, an open binary file, or an iterable of sentences"
        )
    return _each(source, trees=trees)


def _each(items: Iterable[object], *, trees: bool) -> Iterator[Sentence]:
    for item in items:
        if isinstance(item, Sentence):
            yield item
        elif isinstance(item, str | Path):
            yield from read(item, trees=trees)
        else:
            raise ArgumentError(f"{given(item)} was given among the sentences; each should be a Sentence, or a path")
