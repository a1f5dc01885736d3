"""Files of vectors in every format that is read, as bytes; the words are invented."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
MAGIC = 793712314


def _line(word: str, row: Sequence[float]) -> str:
    return f"{word} {' '.join(f'{number:.6g}' for number in row)}"


def as_text(words: Sequence[str], table: Floats, *, header: bool = True, end: str = "\n") -> bytes:
    """Return word2vec or fastText as text; fastText ends lines with a space."""
    first = [f"{len(words)} {table.shape[1]}"] if header else []
    lines = [_line(word, row.tolist()) for word, row in zip(words, table, strict=True)]
    return "".join(line + end for line in first + lines).encode()


def as_word2vec(words: Sequence[str], table: Floats, *, newline: bytes = b"\n") -> bytes:
    """Return word2vec's binary format; gensim writes it without the line breaks."""
    rows = (
        word.encode() + b" " + row.tobytes() + newline for word, row in zip(words, table.astype("<f4"), strict=True)
    )
    return f"{len(words)} {table.shape[1]}\n".encode() + b"".join(rows)


def as_fasttext(
    words: Sequence[str],
    table: Floats,
    least: int,
    most: int,
    *,
    labels: int = 0,
    **odd: Any,  # noqa: ANN401 - numbers
) -> bytes:
    """Return fastText's binary model; the last words may be labels, rows of the table after words are those of buckets.

    ``odd`` replaces numbers of the beginning, which then lie.
    """
    size, dim = len(words), table.shape[1]
    count = size - labels
    n = {"magic": MAGIC, "version": 12, "dim": dim, "model": 2, "buckets": len(table) - count, "labels": labels}
    n |= {"size": size, "count": count, "pruned": -1, "quantized": 0, "rows": len(table), "columns": dim, **odd}
    data = struct.pack("<ii", n["magic"], n["version"])
    data += struct.pack("<12i", n["dim"], 5, 5, 5, 5, 1, 1, n["model"], n["buckets"], least, most, 100)
    data += struct.pack("<d", 1e-4)
    data += struct.pack("<iiiqq", n["size"], n["count"], n["labels"], 1000, n["pruned"])
    for place, word in enumerate(words):
        data += word.encode() + b"\0" + struct.pack("<qb", 10, place >= count)
    data += struct.pack("<bqq", n["quantized"], n["rows"], n["columns"]) + table.astype("<f4").tobytes()
    return data + struct.pack("<bqq", 0, count, dim) + bytes(4 * count * dim)  # the output matrix


def as_floret(table: Floats, least: int, most: int, hashes: int, seed: int = 2166136261) -> bytes:
    """Return floret's table."""
    first = f"{len(table)} {table.shape[1]} {least} {most} {hashes} {seed} < >\n"
    return (first + "".join(_line(str(number), row.tolist()) + " \n" for number, row in enumerate(table))).encode()
