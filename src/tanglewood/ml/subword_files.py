"""Readers of files that have vectors of pieces of words, too: fastText's binary models, and floret's tables."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tanglewood.errors import FormatError
from tanglewood.ml.subwords import FASTTEXT, FLORET, LONGEST_PIECE, MOST_BUCKETS, MOST_HASHES, MOST_SEED, Subwords
from tanglewood.ml.vector_source import (
    CHUNK,
    MOST_WORD,
    Floats,
    Ints,
    Pruning,
    Source,
    Vectors,
    check_width,
    numbers_of,
    sound,
    word_of,
)

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
SUPERVISED = 3  # the kind of model that classifies texts
ENTRY = 10  # fewest bytes of a word in the dictionary
END_OF_LINE = "</s>"  # a word of fastText that has no pieces
QUANTIZED = "this is a quantized fastText model (.ftz), whose vectors are only approximate; the .bin or .vec is needed"


class _Sums:
    """The sums of the vectors of the pieces of words, and the rows that are kept of all pieces.

    They are added up while the rows go by, in the order of the file.
    """

    def __init__(self, words: Sequence[str], others: Iterable[str], subwords: Subwords, dim: int, most: int) -> None:
        parts = [() if word == END_OF_LINE else subwords.rows(word) for word in words]
        self.sizes = np.array([len(part) for part in parts], np.int64)
        buckets = np.fromiter(chain.from_iterable(parts), np.int64)
        order = np.argsort(buckets, kind="stable")
        self._buckets = buckets[order]
        self._owners = np.repeat(np.arange(len(words)), self.sizes)[order]
        self.kept = _most_frequent(buckets, others, subwords, most)
        self.table: Floats = np.zeros((len(words), dim), np.float32)
        self._rows: list[Floats] = [self.table[:0]]  # of kept buckets, as they come: a file may promise any number

    def add(self, start: int, block: Floats) -> None:
        """Take in the rows of some buckets, of which the first has this number."""
        ends = (start, start + len(block))
        begin, end = np.searchsorted(self._buckets, ends)
        np.add.at(self.table, self._owners[begin:end], block[self._buckets[begin:end] - start])
        begin, end = np.searchsorted(self.kept, ends)
        if end > begin:
            self._rows.append(block[self.kept[begin:end] - start])

    @property
    def pieces(self) -> Floats:
        """The rows of the buckets that are kept."""
        return np.concatenate(self._rows)


def _most_frequent(buckets: NDArray[np.int64], others: Iterable[str], subwords: Subwords, most: int) -> Ints:
    """Return the buckets that occur in most words, those given and others; all if there is room."""
    if subwords.buckets <= most:
        return np.arange(subwords.buckets, dtype=np.int32)
    more = np.fromiter(chain.from_iterable(map(subwords.rows, others)), np.int64)
    seen, times = np.unique(np.concatenate([buckets, more]), return_counts=True)
    return np.sort(seen[np.lexsort((seen, -times))[:most]]).astype(np.int32)


def read_fasttext(source: Source, pruning: Pruning) -> Vectors:
    """Read a binary model: settings, dictionary, and the matrix of words and, after them, of their pieces."""
    _, version = struct.unpack("<ii", source.take(8))
    if version not in VERSIONS:
        raise source.error(f"this is a fastText model of version {version}, and {VERSIONS[-1]} is read")
    dim, *_, model, buckets, least, most, _, _ = struct.unpack("<12id", source.take(56))
    size, n_words, n_labels, _, pruned = struct.unpack("<iiiqq", source.take(28))
    check_width(source, dim)
    if n_words < 1 or n_labels < 0 or size != n_words + n_labels or buckets < 0 or most > LONGEST_PIECE:
        raise source.error("the sizes at the beginning of the fastText model do not make sense")
    if pruned >= 0:
        raise source.error(QUANTIZED)
    source.check_left(size * ENTRY, f"a dictionary of {size:,} words")
    wanted = set(pruning.wanted)
    found: dict[str, int] = {}
    others, skipped = pruning.rows, 0
    for place in range(size):
        data = source.until(b"\0", MOST_WORD)
        kind = source.take(9)[8]
        if place >= n_words or kind != 0:
            continue
        word = word_of(data)
        if word is None:
            skipped += 1
        elif word not in found and (word in wanted or others > 0):
            others -= word not in wanted
            found[word] = place
    words = pruning.kept(found, dim)
    if not words:
        raise FormatError("the file has no vectors of words", file=source.name)
    if source.take(1) != b"\0":
        raise source.error(QUANTIZED, source.offset - 1)
    rows, columns = struct.unpack("<qq", source.take(16))
    if columns != dim or rows != n_words + buckets:
        raise source.error(f"the matrix should have {n_words + buckets:,} rows of {dim}, not {rows:,} of {columns:,}")
    source.check_left(4 * rows * columns, f"{rows:,} vectors of {dim} numbers")
    subwords = None
    if buckets and most > 0 and least <= most and not (version == VERSIONS[0] and model == SUPERVISED):
        subwords = Subwords(FASTTEXT, buckets, max(least, 1), most)
    return _read_matrix(source, pruning, {word: found[word] for word in words}, n_words, rows, dim, subwords, skipped)


def _read_matrix(
    source: Source,
    pruning: Pruning,
    places: dict[str, int],
    n_words: int,
    rows: int,
    dim: int,
    subwords: Subwords | None,
    skipped: int,
) -> Vectors:
    """Read the rows of words and of their pieces; the vector of a word is the mean of all its rows."""
    words = list(places)
    own = np.array(list(places.values()), np.int64)
    order = np.argsort(own)
    sums = None
    table: Floats = np.zeros((len(words), dim), np.float32)
    if subwords is not None:
        new = [word for word in pruning.wanted if word not in places]
        sums = _Sums(words, new, subwords, dim, pruning.buckets(words, dim))
        table = sums.table
    for start, block in _blocks(source, n_words, dim):
        begin, end = np.searchsorted(own, (start, start + len(block)), sorter=order)
        table[order[begin:end]] += block[own[order[begin:end]] - start]
    for start, block in _blocks(source, rows - n_words, dim):  # read to the end whether or not they are needed
        if sums is not None:
            sums.add(start, block)
    if sums is None:
        return Vectors("fastText", n_words, skipped, words, table, table)
    table /= (1 + sums.sizes)[:, None].astype(np.float32)
    return Vectors("fastText", n_words, skipped, words, table, table, subwords, sums.kept, sums.pieces)


def _blocks(source: Source, rows: int, dim: int) -> Iterator[tuple[int, Floats]]:
    """Yield the rows of a matrix, some at a time, each time with the number of the first."""
    at_once = max(1, CHUNK // (4 * dim))
    for start in range(0, rows, at_once):
        count = min(at_once, rows - start)
        block = np.frombuffer(source.take(4 * count * dim), "<f4").reshape(count, dim)
        if not sound(block):
            raise source.error(
                "a vector has numbers that are infinite, undefined or too large", source.offset - 4 * count * dim
            )
        yield start, block


def read_floret(source: Source, pruning: Pruning, header: Sequence[bytes]) -> Vectors:
    """Read a table of pieces; a word, which is a piece too, has the mean of all its rows.

    If all rows can be kept, no word needs one of its own.
    """
    *sizes, begin, end = header
    try:
        buckets, dim, least, most, hashes, seed = map(int, sizes)
        marks = begin.decode(), end.decode()
    except ValueError:
        raise FormatError("the first line is not that of a floret table", file=source.name, line=1) from None
    check_width(source, dim)
    if not (
        1 <= buckets <= MOST_BUCKETS
        and 1 <= least <= most <= LONGEST_PIECE
        and 1 <= hashes <= MOST_HASHES
        and 0 <= seed <= MOST_SEED
        and len("".join(marks)) <= LONGEST_PIECE
    ):
        raise FormatError(
            "the numbers of the first line are not those of a floret table: bucket dim minn maxn hashCount hashSeed",
            file=source.name,
            line=1,
        )
    source.check_left(buckets * (2 * dim + 1), f"{buckets:,} rows of {dim} numbers")
    subwords = Subwords(FLORET, buckets, least, most, hashes, seed, *marks)
    words = list(pruning.wanted[: pruning.rows])
    room = pruning.buckets((), dim)
    stored = [] if buckets <= room else words[: pruning.rows // 2]
    if stored:
        room = pruning.buckets(stored, dim)
    sums = _Sums(words, (), subwords, dim, room)
    block: list[Floats] = []
    at_once = max(1, CHUNK // (4 * dim))
    row = 0
    for line in source.lines():
        if not line.strip():
            continue
        number, *fields = line.split()
        if row >= buckets or number != str(row).encode():
            raise source.line_error(
                f"the line should begin with {row}" if row < buckets else f"there should be {buckets:,} rows"
            )
        if len(fields) != dim:
            raise source.line_error(f"the line has {len(fields)} values after its number, not {dim}")
        block.append(numbers_of(source, fields))
        row += 1
        if len(block) == at_once:
            sums.add(row - len(block), np.array(block))
            block = []
    if row < buckets:
        raise source.line_error(f"the file ends after {row:,} of the {buckets:,} rows that its first line promises")
    if block:
        sums.add(row - len(block), np.array(block))
    table = sums.table
    table /= np.maximum(sums.sizes, 1)[:, None].astype(np.float32)
    sample = table if words else sums.pieces
    return Vectors("floret", buckets, 0, stored, table[: len(stored)], sample, subwords, sums.kept, sums.pieces)
