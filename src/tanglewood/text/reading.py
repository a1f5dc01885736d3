"""Files of raw text: read piece by piece, decoded, and told apart from treebanks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from tanglewood.errors import ConfigError, FormatError
from tanglewood.files import DAMAGED, READ_SIZE, damaged, unpacked_name
from tanglewood.treebank.sentence import BOM

TREEBANK_NAMES = (".conllu", ".conll", ".conllx")
WORD_LINE = re.compile(rb"\d+([-.]\d+)?\t[^\t]*\t")
COMMENT = re.compile(rb"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")
MOST_SEEN = 1 << 20  # bytes after which the beginning of a file has to tell what it is
MARKS = {  # what a text may begin with -> its encoding; the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    BOM: "utf-8",
}
LONGEST_MARK = max(map(len, MARKS))
SHOWN = 8  # most bytes that cannot be decoded in a message
SLICE = 1 << 14  # bytes that are decoded at once
SURROGATES = re.compile("[\ud800-\udfff]+")
Note = Callable[[FormatError], object]


def checked_encoding(name: str) -> str:
    """Return the name of an encoding as Python has it; a ConfigError if there is none of that name."""
    try:
        with suppress(UnicodeDecodeError):
            b"tree".decode(name)  # which only encodings of text can do
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        pass
    raise ConfigError(f"{name}: there is no such encoding of text; utf-8, utf-16, latin-1 or cp1252 would be some")


def mark_of(start: bytes, encoding: str = "") -> tuple[bytes, str]:
    """Return the mark that a text begins with, perhaps none, and its encoding: that of the mark, or the one given.

    A mark counts if no encoding is given, or one that has it ("utf-16" alone does not say which of its two it is).
    """
    for mark, name in MARKS.items():
        if start.startswith(mark) and (not encoding or name.startswith(encoding.removesuffix("-sig"))):
            return mark, name
    return b"", encoding or "utf-8"


class Seen:
    """A binary stream whose beginning has been looked at; reading still starts with that beginning."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str = "") -> None:
        self.name = name
        self.encoding = encoding
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
        while kind is None and more and self._failure is None:
            try:
                fresh = self._read(READ_SIZE)
            except DAMAGED as error:
                self._failure = error  # raised when the rest is read; reading again might find nothing wrong
                break
            self._start += fresh
            more = bool(fresh)
            ended = not more or len(self._start) >= MOST_SEEN
            kind = is_treebank(self._in_utf8(), self.name, ended=ended)
        self.is_treebank = kind is not False

    def _in_utf8(self) -> bytes:
        """Return the beginning as it would be in UTF-8."""
        mark, encoding = mark_of(self._start, self.encoding)
        if encoding == "utf-8":
            return self._start
        return self._start[len(mark) :].decode(encoding, "replace").encode(errors="replace")

    def check_treebank(self) -> BinaryIO:
        """Return the stream of a treebank, which is in UTF-8 whatever texts are in; a FormatError if it is not."""
        _, encoding = mark_of(self._start)
        if encoding != "utf-8":
            problem = f"a treebank in {encoding}; it should be in UTF-8 (iconv -f {encoding} -t utf-8 makes it so)"
            raise FormatError(problem, file=self.name, line=1)
        return self.as_stream()

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
    if unpacked_name(name).endswith(TREEBANK_NAMES):
        return True
    lines = start.removeprefix(BOM).split(b"\n")
    comments = [line for line in (lines if ended else lines[:-1]) if line.strip()]
    for line in comments:
        if not line.startswith(b"#"):
            return WORD_LINE.match(line) is not None
    if not ended:
        return None
    return not comments or any(map(COMMENT.match, comments))


def read_text(
    stream: BinaryIO,
    name: str,
    *,
    encoding: str = "",
    on_error: Note | None = None,
    replaced: bool = False,
    line: int = 1,
    marked: bool = True,
) -> Iterator[str]:
    """Yield the text of a binary stream as it comes, its first line having the number ``line``.

    It is in the given encoding or, without one, in that of the mark it begins with, or in UTF-8. Bytes that are not
    raise a FormatError that says where; with ``on_error`` that is called with the error instead, and they are left out
    or, if they are to be ``replaced``, become U+FFFD. What is not the beginning of a file is not ``marked``.
    """
    read_some: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    decoder: Decoder | None = None
    start = b""
    more = True
    while more:
        try:
            data = read_some(READ_SIZE)
        except DAMAGED as error:
            raise damaged(error, name, line) from error
        more = bool(data)
        if decoder is None:
            start += data
            if more and marked and len(start) < LONGEST_MARK and any(mark.startswith(start) for mark in MARKS):
                continue
            mark, found = mark_of(start if marked else b"", encoding)
            decoder = Decoder(found, name, line, on_error, replaced=replaced)
            data = start[len(mark) :]
        text = decoder.decode(data, final=not more)
        line = decoder.line
        if text:
            yield text


class Decoder:
    """Decodes bytes as they come, counts lines, and goes on after what cannot be decoded if errors are listened to.

    Decoders of Python are fast with bytes that they cannot decode only if these become something: here surrogates,
    which no text can hold otherwise, and which are found again.
    """

    def __init__(self, encoding: str, name: str, line: int, on_error: Note | None, *, replaced: bool) -> None:
        self.line = line
        self._encoding = encoding
        self._name = name
        self._on_error = on_error
        self._mark = "\ufffd" if replaced else ""
        self._kept = "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding)(self._kept)

    def decode(self, data: bytes, *, final: bool) -> str:
        """Return the text of some more bytes; those of a character that is not complete yet come with the next."""
        parts: list[str] = []
        for begin in range(0, max(len(data), 1), SLICE):
            part = data[begin : begin + SLICE]
            last = final and begin + SLICE >= len(data)
            while True:
                try:
                    self._take(self._decoder.decode(part, last), parts)
                    break
                except UnicodeDecodeError as error:  # in encodings where not every byte can become something
                    self._decoder.reset()
                    self._take(error.object[: error.start].decode(self._encoding, self._kept), parts)
                    self._tell(error.object[error.start : error.end])
                    parts.append(self._mark)
                    part = error.object[error.end :]
        return "".join(parts)

    def _take(self, text: str, parts: list[str]) -> None:
        """Add text to the parts, without what was not decoded."""
        if not text.isascii() and SURROGATES.search(text):
            begin = 0
            for bad in SURROGATES.finditer(text):
                parts.append(text[begin : bad.start()])
                self.line += parts[-1].count("\n")
                self._tell(bad[0].encode(self._encoding, self._kept))
                parts.append(self._mark)
                begin = bad.end()
            text = text[begin:]
        self.line += text.count("\n")
        parts.append(text)

    def _tell(self, bad: bytes) -> None:
        """Raise an error about bytes that could not be decoded, or tell whoever listens."""
        shown = f"{bad[:SHOWN]!r}{f' and {len(bad) - SHOWN:,} more' if len(bad) > SHOWN else ''}"
        remedy = "" if self._on_error else "; --encoding names another, --on-error replace goes on"
        problem = f"bytes {shown} are not {self._encoding.upper()}, which the text should be{remedy}"
        error = FormatError(problem, file=self._name, line=self.line)
        if self._on_error is None:
            raise error
        self._on_error(error)
