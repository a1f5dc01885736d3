"""Files of raw text: read piece by piece, and told from treebanks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from tanglewood.errors import FormatError
from tanglewood.treebank.conllu import READ_SIZE
from tanglewood.treebank.sentence import BOM

TREEBANK_NAMES = (".conllu", ".conll", ".conllx")
WORD_LINE = re.compile(rb"\d+([-.]\d+)?\t[^\t]*\t")


def is_treebank(start: bytes, name: str = "") -> bool:
    """Tell from its name and its first bytes whether a file is CoNLL-U or CoNLL-X; else it is text.

    The first line that is no comment begins with a number and a tab. A file without any such line is a treebank if
    there is nothing in it or only comments.
    """
    if name.removesuffix(".gz").removesuffix(".xz").endswith(TREEBANK_NAMES):
        return True
    for line in start.removeprefix(BOM).split(b"\n"):
        if line.strip() and not line.startswith(b"#"):
            return WORD_LINE.match(line) is not None
    return True


def read_text(stream: BinaryIO, name: str) -> Iterator[str]:
    """Give the text of a binary stream as it comes; bytes that are no UTF-8 raise a FormatError that says where."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    read_some: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    line = 1
    data = b"?"
    while data:
        data = read_some(READ_SIZE)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            problem = f"bytes {error.object[error.start : error.end]!r} are not UTF-8, which the text should be"
            raise FormatError(problem, file=name, line=line) from None
        line += text.count("\n")
        if text:
            yield text
