"""What readers of vectors share: the bytes of a file as they come, which vectors are kept, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import MOST_WEIGHT
from tanglewood.errors import FormatError
from tanglewood.ml.subwords import Subwords

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
CHUNK = 1 << 20  # bytes that are read at a time
MOST_NUMBERS = 4096  # of a vector
MOST_WORD = 2000  # bytes
MOST_LINE = 64 * MOST_NUMBERS
AROUND = 6  # bytes that a word takes in a model file besides its letters
ROOM = 34  # bytes that each row may take besides its numbers: 4.9 MB in all for 50,000 rows of 64 numbers


class Source:
    """The bytes of a file, unpacked, of which only a little is held; ``length`` is how many there are, if known."""

    def __init__(self, stream: BinaryIO, name: str, length: int | None = None) -> None:
        self.name = name
        self.length = length
        self.line = 1
        self._stream = stream
        self._data = b""
        self._at = 0
        self._before = 0  # bytes that came before those held

    @property
    def offset(self) -> int:
        """How many bytes have been taken."""
        return self._before + self._at

    def _fill(self, size: int) -> None:
        """Hold at least so many bytes that have not been taken, if there are so many."""
        parts = [self._data[self._at :]]
        held = len(parts[0])
        while held < size and (more := self._stream.read(CHUNK)):
            parts.append(more)
            held += len(more)
        self._before += self._at
        self._data, self._at = b"".join(parts), 0

    def ahead(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end, without taking them."""
        if len(self._data) - self._at < size:
            self._fill(size)
        return self._data[self._at : self._at + size]

    def take(self, size: int) -> bytes:
        """Take the next bytes; an error if there are not so many."""
        data = self.ahead(size)
        if len(data) < size:
            raise self.error("the file breaks off; it should be fetched or made again", self.offset + len(data))
        self._at += size
        return data

    def until(self, mark: bytes, most: int) -> bytes:
        """Take the bytes before a mark, and the mark; an error if it does not come soon."""
        found = self._data.find(mark, self._at)
        if found < 0:
            self._fill(most + 1)
            found = self._data.find(mark, self._at)
        if not 0 <= found - self._at <= most:
            if len(self._data) - self._at <= most:
                raise self.error(
                    "the file breaks off; it should be fetched or made again", self._before + len(self._data)
                )
            raise self.error(f"there is a word of more than {most} bytes: this is not a file of vectors")
        data = self._data[self._at : found]
        self._at = found + len(mark)
        return data

    def lines(self) -> Iterator[bytes]:
        """Take the rest, line by line; the last one may have no end."""
        rest, more = self._data[self._at :], b""
        self._data, self._at = b"", 0
        while True:
            *whole, rest = (rest + more).split(b"\n")
            for line in whole:
                yield line
                self.line += 1
            if len(rest) > MOST_LINE:
                raise self.error(f"there is a line of more than {MOST_LINE} bytes: this is not a file of vectors")
            more = self._stream.read(CHUNK)
            if not more:
                break
        if rest:
            yield rest

    def check_left(self, size: int, what: str) -> None:
        """Raise an error, before anything is read, if so many bytes cannot be left."""
        if self.length is not None and size > self.length - self.offset:
            raise self.error(
                f"{what} would take {size:,} bytes and {max(self.length - self.offset, 0):,} are left: the file is "
                "damaged or breaks off"
            )

    def error(self, problem: str, offset: int | None = None) -> FormatError:
        """Return an error that says after how many bytes something is wrong."""
        return FormatError(f"{problem} (byte {self.offset if offset is None else offset:,})", file=self.name)

    def line_error(self, problem: str) -> FormatError:
        """Return an error that says in which line something is wrong."""
        return FormatError(problem, file=self.name, line=self.line)


@dataclass(frozen=True, slots=True)
class Pruning:
    """Which vectors are kept: those of wanted forms, the most wanted first, then the first of the file.

    There are at most ``rows``, and they take about as much room in a model as that many do in most languages.
    """

    wanted: Sequence[str]
    rows: int
    width: int = 0  # numbers that will be left of each vector; 0: all

    def numbers(self, dim: int) -> int:
        """Return how many numbers are left of vectors that have so many."""
        return min(self.width or dim, dim)

    def kept(self, found: Iterable[str], dim: int) -> list[str]:
        """Return the words that are kept, of those found, which are in the order of the file."""
        known = dict.fromkeys(found)
        ordered = dict.fromkeys([*(word for word in self.wanted if word in known), *known])
        words: list[str] = []
        room = self._room(dim)
        for word in list(ordered)[: self.rows]:
            room -= self._cost(word, dim)
            if room < 0:
                break
            words.append(word)
        return words

    def buckets(self, words: Iterable[str], dim: int) -> int:
        """Return for how many rows of subwords there is room beside those of words."""
        left = self._room(dim) - sum(self._cost(word, dim) for word in words)
        return max(0, left // (self.numbers(dim) + 8))  # a scale and a number of the bucket

    def _room(self, dim: int) -> int:
        return self.rows * (self.numbers(dim) + ROOM)

    def _cost(self, word: str, dim: int) -> int:
        return self.numbers(dim) + 4 + AROUND + len(word.encode())


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is kept of a file: words with their vectors and, if there are subwords, rows of their buckets.

    ``sample`` are vectors of words, of those kept or, where none have to be, of those wanted.
    """

    format: str
    total: int  # words, or buckets if there are no words, in the file
    skipped: int  # words that are not UTF-8, or that no form can be
    words: list[str]
    table: Floats
    sample: Floats
    subwords: Subwords | None = None
    buckets: Ints | None = None
    pieces: Floats | None = None


def word_of(data: bytes) -> str | None:
    """Return a word, or nothing if the bytes are not UTF-8 or no form can be so."""
    try:
        word = data.decode()
    except UnicodeDecodeError:
        return None
    return None if not word or any(letter in word for letter in "\t\n\r") else word


def sound(numbers: Floats) -> bool:
    """Whether all numbers are finite, and none is so large that it cannot be meant."""
    return bool(max(numbers.max(), -numbers.min()) <= MOST_WEIGHT)


def check_width(source: Source, dim: int) -> None:
    """Raise an error if vectors cannot have so many numbers."""
    if not 1 <= dim <= MOST_NUMBERS:
        raise source.line_error(f"vectors should have 1 to {MOST_NUMBERS:,} numbers, not {dim:,}")


def numbers_of(source: Source, fields: Sequence[bytes]) -> Floats:
    """Return the numbers of a line; an error if they are none, or not finite."""
    try:
        with np.errstate(over="ignore"):
            row = np.array(list(map(float, fields)), np.float32)
    except ValueError:
        odd = next(field for field in fields if not is_number(field))
        raise source.line_error(f"{_shown(odd)} is not a number") from None
    if not sound(row):
        odd = next(field for field, number in zip(fields, row, strict=True) if not abs(number) <= MOST_WEIGHT)
        raise source.line_error(f"{_shown(odd)} is not a finite number of a reasonable size")
    return row


def _shown(field: bytes) -> str:
    return repr(field[:40].decode(errors="replace"))


def is_number(field: bytes) -> bool:
    """Whether this can be read as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True
