"""Readers of files of vectors: word2vec as text and binary, fastText as text and binary, floret; also compressed.

What a file is its contents say, not its name. It is read once, from the beginning to the end, and held are only the
vectors that are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tanglewood.errors import ConfigError, FormatError
from tanglewood.files import DAMAGED, GZIP_MAGIC, XZ_MAGIC, damaged, opened
from tanglewood.ml.subword_files import FASTTEXT_MAGIC, read_fasttext, read_floret
from tanglewood.ml.vector_source import (
    MOST_LINE,
    MOST_WORD,
    Floats,
    Pruning,
    Source,
    Vectors,
    check_width,
    is_number,
    numbers_of,
    sound,
    word_of,
)

FLORET_FIELDS = 8  # of the first line
PRINTABLE = frozenset(range(0x20, 0x7F)) | {0x09, 0x0D}
KNOWN = "word2vec (text or binary), fastText (.vec or .bin) or floret"


def read_vectors(path: str | Path, pruning: Pruning) -> Vectors:
    """Read what is kept of a file; a FormatError says where it is wrong."""
    if Path(path).exists() and not Path(path).is_file():
        raise ConfigError(f"{path}: vectors should be in a file, and this is none")
    with opened(path) as (stream, name):
        with Path(path).open("rb") as file:
            packed = file.read(len(XZ_MAGIC)).startswith((GZIP_MAGIC, XZ_MAGIC))
        source = Source(stream, name, None if packed else Path(path).stat().st_size)
        try:
            return _read(source, pruning)
        except DAMAGED as error:
            raise damaged(error, name, source.line) from None


def _read(source: Source, pruning: Pruning) -> Vectors:
    """Find out what the file is, and read it."""
    start = source.ahead(len(FASTTEXT_MAGIC))
    if not start:
        raise FormatError(f"the file is empty; it should hold vectors: {KNOWN}", file=source.name)
    if start == FASTTEXT_MAGIC:
        return read_fasttext(source, pruning)
    first = source.ahead(MOST_LINE).partition(b"\n")[0]
    fields = first.split()
    if len(first) == MOST_LINE or len(fields) < 2 or b"\0" in first:
        raise source.line_error(f"this is not a file of vectors that is known: {KNOWN}")
    if len(fields) == FLORET_FIELDS and not any(map(is_number, fields[-2:])):
        source.take(min(len(first) + 1, len(source.ahead(len(first) + 1))))
        source.line += 1
        return read_floret(source, pruning, fields)
    if len(fields) == 2 and all(field.isdigit() and len(field) < 16 for field in fields):
        count, dim = map(int, fields)
        check_width(source, dim)
        if not count:
            raise source.line_error("the first line says that there are no vectors")
        source.take(min(len(first) + 1, len(source.ahead(len(first) + 1))))
        source.line += 1
        return (_read_text if _is_text(source, dim) else _read_binary)(source, pruning, dim, count)
    dim = len(fields) - 1
    check_width(source, dim)
    if not is_number(fields[-1]):
        raise source.line_error(f"this is not a file of vectors that is known: {KNOWN}")
    return _read_text(source, pruning, dim, None)


def _is_text(source: Source, dim: int) -> bool:
    """Whether what follows the first line is text: then the numbers after the first word can be read."""
    beginning = source.ahead(MOST_WORD + 4 * dim).lstrip(b"\n")
    numbers = beginning.replace(b"\t", b" ").partition(b" ")[2][: 4 * dim].partition(b"\n")[0]
    if not PRINTABLE.issuperset(numbers):
        return False
    fields = numbers.split()
    return len(numbers) >= 2 * dim - 1 or (bool(fields) and all(map(is_number, fields)))  # the latter if some lack


class _Gathered:
    """Vectors of words that are kept if there is room: all that are wanted, and the first of the others."""

    def __init__(self, pruning: Pruning) -> None:
        self.rows: dict[str, Floats] = {}
        self.skipped = self.total = 0
        self._pruning = pruning
        self._wanted = {word.encode() for word in pruning.wanted}
        self._others = pruning.rows

    def takes(self, data: bytes) -> str | None:
        """Count a word; return it if its vector is needed."""
        self.total += 1
        is_wanted = data in self._wanted
        if not is_wanted and self._others <= 0:
            return None
        word = word_of(data)
        if word is None:
            self.skipped += 1
        if word is None or word in self.rows:  # the first of several counts
            return None
        self._others -= not is_wanted
        return word

    def vectors(self, source: Source, kind: str, dim: int) -> Vectors:
        """Return what is kept."""
        words = self._pruning.kept(self.rows, dim)
        if not words:
            raise FormatError("the file has no vectors of words", file=source.name)
        table = np.array([self.rows[word] for word in words], np.float32)
        return Vectors(kind, self.total, self.skipped, words, table, table)


def _read_text(source: Source, pruning: Pruning, dim: int, count: int | None) -> Vectors:
    """Read lines of a word and its numbers; all are looked at, but only those that are needed are converted."""
    gathered = _Gathered(pruning)
    for line in source.lines():
        text = line.rstrip(b" \r\t")
        if b"\t" in text:
            text = text.replace(b"\t", b" ")
        data, _, numbers = text.partition(b" ")
        fields: Sequence[bytes] | None = None
        if numbers.count(b" ") + 1 != dim or not data or b"n" in numbers or b"N" in numbers:
            if not text:
                continue
            data, fields = _taken_apart(source, text, dim)
            numbers_of(source, fields)
        word = gathered.takes(data)
        if word is not None:
            gathered.rows[word] = numbers_of(source, numbers.split(b" ") if fields is None else fields)
        if count is not None and gathered.total > count:
            raise source.line_error(f"there are more vectors than the {count:,} of the first line")
    _check_count(source, gathered.total, count)
    return gathered.vectors(source, "text", dim)


def _taken_apart(source: Source, text: bytes, dim: int) -> tuple[bytes, Sequence[bytes]]:
    """Return word and numbers of a line that is unusual: with several spaces, or a word that has some."""
    fields = text.split()
    word, numbers = fields[:-dim], fields[-dim:]
    if not word or (len(word) > 1 and is_number(word[-1])):
        found = len(fields) - 1
        raise source.line_error(f"the line has {found} value{'' if found == 1 else 's'} after the word, not {dim}")
    return b" ".join(word), numbers


def _read_binary(source: Source, pruning: Pruning, dim: int, count: int) -> Vectors:
    """Read words, a space after each, and their numbers as floats of 32 bits."""
    source.check_left(count * (4 * dim + 1), f"{count:,} vectors of {dim} numbers")
    gathered = _Gathered(pruning)
    for _ in range(count):
        data = source.until(b" ", MOST_WORD).lstrip(b"\n")
        numbers = source.take(4 * dim)
        word = gathered.takes(data)
        if word is not None:
            row = np.frombuffer(numbers, "<f4").astype(np.float32)
            if not sound(row):
                raise source.error(
                    "a vector has numbers that are infinite, undefined or too large", source.offset - 4 * dim
                )
            gathered.rows[word] = row
    if source.ahead(16).strip():
        raise source.error(f"there is more after the {count:,} vectors of the first line")
    return gathered.vectors(source, "binary", dim)


def _check_count(source: Source, found: int, count: int | None) -> None:
    if count is not None and found < count:
        raise source.line_error(
            f"the file ends after {found:,} of the {count:,} vectors of its first line: it breaks off here, and should "
            "be fetched or made again"
        )


def wanted_forms(forms: Iterable[str]) -> list[str]:
    """Return all ways in which forms, the most important first, are looked up."""
    from tanglewood.ml.lexicon import folded

    given = list(forms)
    return list(dict.fromkeys([*given, *(form.lower() for form in given), *map(folded, given)]))
