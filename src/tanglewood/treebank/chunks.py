"""Sentences in chunks: about as many as are worked on together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

CHUNK_WORDS = 2500  # words that are encoded together
Item = TypeVar("Item")


def in_chunks(
    sentences: Iterable[Item],
    size: Callable[[Item], int] = len,  # type: ignore[assignment]
    *,
    most: int = CHUNK_WORDS,
) -> Iterator[list[Item]]:
    """Group sentences into chunks that are worked on together; the size of a sentence is its number of words."""
    chunk: list[Item] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += size(sentence)
        if words >= most:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
