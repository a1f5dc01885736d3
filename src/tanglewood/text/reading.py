"""Files of raw text: read piece by piece, and told apart from treebanks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from tanglewood.errors import FormatError
from tanglewood.files import DAMAGED, READ_SIZE, damaged
from tanglewood.treebank.sentence import BOM

TREEBANK_NAMES = (".conllu", ".conll", ".conllx")
WORD_LINE = re.compile(rb"\d+([-.]\d+)?\t[^\t]*\t")
COMMENT = re.compile(rb"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")
MOST_SEEN = 1 << 20  # bytes of comments after which a file is taken for a treebank


class Seen:
    """A binary stream whose beginning has been looked at; reading still starts with that beginning."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.is_treebank = True
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._seekable = stream.seekable()
        self._start = b""
        self._failure: Exception | None = None
        self._look()

    def _look(self) -> None:
        """Read until a line tells what the stream is."""
        more = True
        kind: bool | None = None
        while kind is None and more and len(self._start) < MOST_SEEN:
            try:
                fresh = self._read(READ_SIZE)
            except DAMAGED as error:
                self._failure = error  # raised when the rest is read; reading again might find nothing wrong
                break
            self._start += fresh
            more = bool(fresh)
            kind = is_treebank(self._start, self.name, ended=not more)
        self.is_treebank = kind is not False

    def read1(self, size: int = -1) -> bytes:
        """Read some bytes."""
        start, self._start = self._start, b""
        if not start and self._failure is not None:
            raise self._failure
        return start or self._read(size)

    read = read1

    def peek(self, size: int) -> bytes:
        """Return the next bytes, as far as they have been looked at."""
        return self._start[:size]

    def seekable(self) -> bool:
        """Tell whether it is a file rather than a pipe."""
        return self._seekable

    def as_stream(self) -> BinaryIO:
        """Return this object, typed as the binary file that readers expect."""
        return cast("BinaryIO", self)


def is_treebank(start: bytes, name: str = "", *, ended: bool = True) -> bool | None:
    """Tell from its name and its beginning whether a file is CoNLL-U or CoNLL-X; otherwise it is text.

    In a treebank the first line that is not a comment begins with a number and a tab. A file with nothing but comments
    is text unless one of them is a comment that treebanks have. None means that the beginning does not tell yet.
    """
    if name.removesuffix(".gz").removesuffix(".xz").endswith(TREEBANK_NAMES):
        return True
    lines = start.removeprefix(BOM).split(b"\n")
    comments = [line for line in (lines if ended else lines[:-1]) if line.strip()]
    for line in comments:
        if not line.startswith(b"#"):
            return WORD_LINE.match(line) is not None
    if not ended:
        return None
    return not comments or any(map(COMMENT.match, comments))


def read_text(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the text of a binary stream as it comes; bytes that are not UTF-8 raise a FormatError that says where."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    read_some: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    line = 1
    data = b"?"
    while data:
        try:
            data = read_some(READ_SIZE)
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            problem = f"bytes {error.object[error.start : error.end]!r} are not UTF-8, which the text should be"
            raise FormatError(problem, file=name, line=line) from None
        except DAMAGED as error:
            raise damaged(error, name, line) from error
        line += text.count("\n")
        if text:
            yield text
