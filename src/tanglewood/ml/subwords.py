"""Pieces of forms, and the rows that fastText and floret keep their vectors in: of each piece a hash says which."""

from __future__ import annotations

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

    def rows(self, form: str) -> list[int]:
        """Return the rows of all pieces of a form, in the order of where they begin."""
        if len(form) > LONGEST_FORM:
            return []
        whole = self.begin + form + self.end
        data = whole.encode("utf-8", "surrogatepass")
        places = [place for place, byte in enumerate(data) if byte & 0xC0 != 0x80]  # where letters begin
        places.append(len(data))
        found: list[int] = []
        if self.kind == FASTTEXT:
            add_fasttext(found, data, places, self.least, self.most, self.buckets)
        else:
            add_floret(found, data, places, self.least, self.most, self.buckets, self.hashes, self.seed)
        return found

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


def add_fasttext(found: list[int], data: bytes, places: list[int], least: int, most: int, buckets: int) -> None:
    """Add the rows of the pieces of a form; a mark alone is none.

    The hash is FNV-1a of 32 bits, but for bytes above 127, which count as negative numbers.
    """
    letters = len(places) - 1
    for begin in range(letters):
        value = 2166136261
        for size in range(1, min(most, letters - begin) + 1):
            for place in range(places[begin + size - 1], places[begin + size]):
                byte = data[place]
                value ^= byte | 0xFFFFFF00 if byte > 127 else byte
                value = value * 16777619 & MASK32
            if size >= least and not (size == 1 and (begin == 0 or begin == letters - 1)):
                found.append(value % buckets)


def add_floret(
    found: list[int], data: bytes, places: list[int], least: int, most: int, buckets: int, hashes: int, seed: int
) -> None:
    """Add the rows of a form and its pieces: the first numbers of 32 bits of their MurmurHash3."""
    letters = len(places) - 1
    found += [number % buckets for number in murmur(data, 0, len(data), seed)[:hashes]]
    for size in range(least, min(most, letters) + 1):
        for begin in range(letters - size + 1):
            numbers = murmur(data, places[begin], places[begin + size], seed)
            found += [number % buckets for number in numbers[:hashes]]


def murmur(data: bytes, start: int, end: int, seed: int) -> list[int]:
    """Return MurmurHash3 (x64, 128 bits) of a part of the data, as four numbers of 32 bits."""
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
    return [first & MASK32, first >> 32, second & MASK32, second >> 32]


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
