"""Large files cut into parts, at borders of documents or sentences, that can be worked on apart from each other."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple, cast

from tanglewood.files import DAMAGED, READ_SIZE, XzReader, ZstReader, damaged
from tanglewood.run.remote import opened_input
from tanglewood.text.reading import Decoder, mark_of

BLANK_LINE = re.compile(rb"\n[ \t\r\f\v]*\n")
LINE = re.compile(rb"\n")
UNPACKED = (gzip.GzipFile, XzReader, ZstReader)  # where a place can only be got at by reading up to it
MOST_PARTS = 64  # of a file: to get at a part, a compressed file is unpacked from its beginning


class Cut(NamedTuple):
    """Where a part of a file is: its bytes, unpacked, the number of its first line, and the characters before it."""

    begin: int = 0
    end: int = -1  # the end of the file
    line: int = 1
    letters: int = 0


def cuts_of(
    path: str, kind: str, size: int, *, encoding: str = "", replaced: bool = False, lines: bool = False
) -> list[Cut]:
    """Return the parts of a file, at most MOST_PARTS: the first border after ``size`` bytes ends a part.

    Borders are blank lines, but line ends where each line is a document or, with ``lines``, a sentence. A text in an
    encoding whose line ends are not those of ASCII is one part.
    """
    with opened_input(path) as (stream, name):
        start = _read(stream, name, 1)
        mark, found = mark_of(start, encoding if kind == "text" else "")
        if "\n".encode(found) != b"\n":
            return [Cut()]
        decoder = Decoder(found, name, 1, lambda _: None, replaced=replaced)
        border = LINE if kind == "json" or lines else BLANK_LINE
        cuts = [Cut()]
        place, letters = len(mark), 0
        data = start[len(mark) :]
        while data:
            found_at = border.search(data, max(0, cuts[-1].begin + size - place))
            if found_at is None:
                last = data.rfind(b"\n")  # which may begin a border
                done = len(data) if last < 0 else last
            else:
                done = found_at.end()
            letters += len(decoder.decode(data[:done], final=False))
            place += done
            data = data[done:]
            if found_at is not None:
                cuts.append(Cut(place, -1, decoder.line, letters))
                continue
            fresh = _read(stream, name, decoder.line)
            if not fresh:
                place += len(data)
                break
            data += fresh
    if len(cuts) > 1 and cuts[-1].begin >= place:
        del cuts[-1]  # nothing is left for it
    return ended(cuts)


def ended(cuts: Sequence[Cut], most: int = MOST_PARTS) -> list[Cut]:
    """Return parts each of which ends where the next begins; of more than ``most``, neighbours are put together."""
    count = min(len(cuts), most)
    kept = [cuts[len(cuts) * number // count] for number in range(count)]
    ends = [cut.begin for cut in kept[1:]]
    return [cut._replace(end=end) for cut, end in zip(kept, [*ends, -1], strict=True)]


class Range:
    """A part of a binary stream, which is read as if it were a file of its own."""

    def __init__(self, stream: BinaryIO, name: str, cut: Cut) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._left = cut.end - cut.begin if cut.end >= 0 else -1
        if not isinstance(getattr(stream, "raw", None), UNPACKED) and stream.seekable():
            stream.seek(cut.begin)
        else:
            _skip(stream, name, cut.begin)

    def read1(self, size: int = READ_SIZE) -> bytes:
        """Read some bytes."""
        data: bytes = self._read(size if self._left < 0 else min(size, self._left))
        if self._left >= 0:
            self._left -= len(data)
        return data

    read = read1

    def seekable(self) -> bool:
        """Tell that it is no pipe, whose writer may wait for an answer."""
        return True

    def lines(self, most: int) -> Iterator[bytes | None]:
        """Yield the lines; None in the place of one that has more bytes than that."""
        parts: list[bytes] = []
        size = 0
        while data := self.read1():
            *ended, rest = data.split(b"\n")
            for line in ended:
                yield None if size + len(line) > most else b"".join([*parts, line])
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size <= most else []
        if size:
            yield None if size > most else b"".join(parts)

    def as_stream(self) -> BinaryIO:
        """Return this object, typed as the binary file that readers expect."""
        return cast("BinaryIO", self)


def _skip(stream: BinaryIO, name: str, size: int) -> None:
    line = 1
    while size and (data := _read(stream, name, line, min(size, READ_SIZE))):
        size -= len(data)
        line += data.count(b"\n")


def _read(stream: BinaryIO, name: str, line: int, size: int = READ_SIZE) -> bytes:
    try:
        return stream.read(size)
    except DAMAGED as error:
        raise damaged(error, name, line) from error
