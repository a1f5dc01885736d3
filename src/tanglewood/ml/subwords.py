"""Pieces of forms, and the rows that fastText and floret keep their vectors in: of each piece a hash says which."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tanglewood.checks import Shape, Whole, check_settings
from tanglewood.errors import ModelError

FASTTEXT, FLORET = "fasttext", "floret"
LONGEST_FORM = 200  # letters; longer forms, which are no words, have no pieces
LONGEST_PIECE = 64  # letters
MOST_BUCKETS = (1 << 31) - 1
MOST_HASHES = 4  # of a piece, in floret
MOST_SEED = (1 << 32) - 1
ABOVE = 0xFFFFFF00  # the bits above a byte
MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
# Of MurmurHash3. They have names, and so C types, since Cython takes such large numbers for Python objects.
FIRST, SECOND = 0x87C37B91114253D5, 0x4CF5AD432745937F
LAST_FIRST, LAST_SECOND = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
SHAPE: Shape = {
    "kind": str,
    "buckets": Whole(1, MOST_BUCKETS),
    "least": Whole(1, LONGEST_PIECE),
    "most": Whole(1, LONGEST_PIECE),
    "hashes": Whole(1, MOST_HASHES),
    "seed": Whole(0, MOST_SEED),
    "begin": str,
    "end": str,
}


@dataclass(frozen=True, slots=True)
class Subwords:
    """How a form is taken apart: into pieces of ``least`` to ``most`` letters, with marks where it begins and ends.

    In floret the form itself is one more piece, and each piece has several hashes.
    """

    kind: str
    buckets: int  # rows
    least: int
    most: int
    hashes: int = 1
    seed: int = 0
    begin: str = "<"
    end: str = ">"

    def rows(self, form: str) -> array[int]:
        """Return the rows of all pieces of a form, in the order of where they begin."""
        found = self.room()
        return found[: Hasher(self).fill(found, form)]

    def room(self) -> array[int]:
        """Return an array with room for the rows of any form."""
        letters = 4 * (LONGEST_FORM + LONGEST_PIECE)  # in bytes
        return array("I", bytes(4 * ((self.most - self.least + 1) * letters + 1) * MOST_HASHES))

    def settings(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    @classmethod
    def load(cls, settings: Mapping[str, Any]) -> Subwords:
        """Rebuild it from such data, which is checked."""
        check_settings(settings, SHAPE, "subwords")
        if settings["kind"] not in (FASTTEXT, FLORET) or settings["least"] > settings["most"]:
            raise ModelError("the subwords should be those of fasttext or floret, and the shortest not the longest")
        if len(settings["begin"] + settings["end"]) > LONGEST_PIECE:
            raise ModelError("the marks of where a form begins and ends are too long")
        return cls(**settings)


class Hasher:
    """Takes forms apart."""

    def __init__(self, subwords: Subwords) -> None:
        self.floret = subwords.kind == FLORET
        self.buckets = subwords.buckets
        self.least = subwords.least
        self.most = subwords.most
        self.hashes = subwords.hashes
        self.seed = subwords.seed
        self.begin = subwords.begin
        self.end = subwords.end

    def fill(self, found: array[int], form: str) -> int:
        """Write the rows of the pieces of a form, and return how many there are."""
        if len(form) > LONGEST_FORM:
            return 0
        data = (self.begin + form + self.end).encode("utf-8", "surrogatepass")
        if self.floret:
            return fill_floret(found, data, len(data), self.least, self.most, self.buckets, self.hashes, self.seed)
        return fill_fasttext(found, data, len(data), self.least, self.most, self.buckets)


class Pieces:
    """The vectors of pieces of words, found by their rows, of which only some are there.

    They have eight bits a number and a scale each, so that those of one form lie in few lines of the cache.
    """

    def __init__(self, subwords: Subwords, buckets: Any, vectors: Any, scales: Any) -> None:  # noqa: ANN401 - of NumPy
        size = 1
        while size < 2 * len(buckets) + 2:
            size *= 2
        self.subwords = subwords
        self.hasher = Hasher(subwords)
        self.vectors = vectors
        self.scales = scales
        self.width = len(vectors[0]) if len(vectors) else 0
        self.buckets = buckets
        self.mask = size - 1
        self.slots = array("i", b"\xff" * (4 * size))
        for number in range(len(buckets)):
            self._put(number)

    def _put(self, number: int) -> None:
        slot = self.buckets[number] & self.mask
        while self.slots[slot] >= 0:
            slot = slot + 1 & self.mask
        self.slots[slot] = number

    def _find(self, bucket: int) -> int:
        """Return the number of a row that is there, else -1."""
        slot = bucket & self.mask
        while self.slots[slot] >= 0 and self.buckets[self.slots[slot]] != bucket:
            slot = slot + 1 & self.mask
        return self.slots[slot]

    def write_means(self, forms: list[str], nodes: Any, out: Any) -> None:  # noqa: ANN401 - arrays of NumPy
        """Write the mean of the vectors of each form's pieces to the row of its node; it stays where there are none."""
        rows = self.subwords.room()
        for place in range(len(forms)):
            self._write_mean(rows, self.hasher.fill(rows, forms[place]), out, nodes[place])

    def _write_mean(self, rows: array[int], count: int, out: Any, node: int) -> None:  # noqa: ANN401 - see above
        there = 0
        for place in range(count):
            number = self._find(rows[place])
            if number < 0:
                continue
            scale = self.scales[number]
            if there == 0:
                for k in range(self.width):
                    out[node, k] = self.vectors[number, k] * scale
            else:
                for k in range(self.width):
                    out[node, k] += self.vectors[number, k] * scale
            there += 1
        if there > 1:
            for k in range(self.width):
                out[node, k] /= there


def fill_fasttext(found: array[int], data: bytes, size: int, least: int, most: int, buckets: int) -> int:
    """Write the rows of the pieces of a form, and return how many there are; a mark alone is no piece.

    The hash is FNV-1a of 32 bits, but for bytes above 127, which count as negative numbers.
    """
    count = 0
    for begin in range(size):
        if data[begin] & 0xC0 == 0x80:
            continue
        value = 2166136261
        place = begin
        letters = 0
        while place < size and letters < most:
            first = place
            while place < size and (place == first or data[place] & 0xC0 == 0x80):
                byte = data[place]
                value ^= byte
                if byte > 127:
                    value ^= ABOVE
                value = value * 16777619 & MASK32
                place += 1
            letters += 1
            if letters >= least and not (letters == 1 and (begin == 0 or place == size)):
                found[count] = value % buckets
                count += 1
    return count


def fill_floret(
    found: array[int], data: bytes, size: int, least: int, most: int, buckets: int, hashes: int, seed: int
) -> int:
    """Write the rows of a form and its pieces, the first numbers of their hashes, and return how many there are."""
    count = add_murmur(found, 0, data, 0, size, buckets, hashes, seed)
    for begin in range(size):
        if data[begin] & 0xC0 == 0x80:
            continue
        place = begin
        letters = 0
        while place < size and letters < most:
            place += 1
            while place < size and data[place] & 0xC0 == 0x80:
                place += 1
            letters += 1
            if letters >= least:
                count = add_murmur(found, count, data, begin, place, buckets, hashes, seed)
    return count


def add_murmur(
    found: array[int], count: int, data: bytes, start: int, end: int, buckets: int, hashes: int, seed: int
) -> int:
    """Write the first numbers of the hash of a piece, modulo ``buckets``, behind others; return how many there are."""
    murmur(found, count, data, start, end, seed)
    for place in range(count, count + hashes):
        found[place] = found[place] % buckets
    return count + hashes


def murmur(found: array[int], at: int, data: bytes, start: int, end: int, seed: int) -> None:
    """Write MurmurHash3 (x64, 128 bits) of a part of the data, as four numbers of 32 bits."""
    first = second = seed
    place = start
    while end - place >= 16:
        first ^= mixed_first(word_at(data, place, place + 8))
        first = (rotated(first, 27) + second & MASK64) * 5 + 0x52DCE729 & MASK64
        second ^= mixed_second(word_at(data, place + 8, place + 16))
        second = (rotated(second, 31) + first & MASK64) * 5 + 0x38495AB5 & MASK64
        place += 16
    if end - place > 8:
        second ^= mixed_second(word_at(data, place + 8, end))
    if end > place:
        first ^= mixed_first(word_at(data, place, min(end, place + 8)))
    first ^= end - start
    second ^= end - start
    first = first + second & MASK64
    second = second + first & MASK64
    first = finished(first)
    second = finished(second)
    first = first + second & MASK64
    second = second + first & MASK64
    found[at] = first & MASK32
    found[at + 1] = first >> 32
    found[at + 2] = second & MASK32
    found[at + 3] = second >> 32


def word_at(data: bytes, start: int, end: int) -> int:
    """Return up to eight bytes as a number, the lowest first."""
    value = 0
    for place in range(end - 1, start - 1, -1):
        value = value << 8 | data[place]
    return value


def rotated(value: int, bits: int) -> int:
    """Return a number of 64 bits with its highest bits put behind its lowest."""
    return (value << bits | value >> (64 - bits)) & MASK64


def mixed_first(word: int) -> int:
    """Return what a word contributes to the first half of the hash."""
    return rotated(word * FIRST & MASK64, 31) * SECOND & MASK64


def mixed_second(word: int) -> int:
    """Return what a word contributes to the second half of the hash."""
    return rotated(word * SECOND & MASK64, 33) * FIRST & MASK64


def finished(value: int) -> int:
    """Return one half of the hash with every bit depending on all others."""
    value = (value ^ value >> 33) * LAST_FIRST & MASK64
    value = (value ^ value >> 33) * LAST_SECOND & MASK64
    return value ^ value >> 33
