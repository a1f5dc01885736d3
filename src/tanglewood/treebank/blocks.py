"""The blocks of a CoNLL file, one a sentence, as they are read; none may be longer than a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from tanglewood.errors import ArgumentError, ConfigError, FormatError, given
from tanglewood.files import DAMAGED, READ_SIZE, damaged
from tanglewood.treebank.scan import BlockFinder
from tanglewood.treebank.sentence import BLANK, BOM, comment_value

MAX_SENTENCE = 64 << 20  # bytes of a block by default: a million words
MEGABYTE = 1 << 20
Block = tuple[int, bytes | FormatError]  # the number of the first line, and the block or what is wrong with it


def checked_limit(max_sentence: object) -> int:
    """Return the limit of a block in bytes; raise an error if it is none."""
    if not isinstance(max_sentence, int) or isinstance(max_sentence, bool):
        raise ArgumentError(f"max_sentence should be a number of bytes, not {given(max_sentence)}")
    if max_sentence < 1:
        raise ConfigError(f"max_sentence={max_sentence}: a sentence should be allowed 1 byte or more")
    return max_sentence


def read_blocks(
    stream: BinaryIO, name: str, max_sentence: int = MAX_SENTENCE, *, number: int = 1
) -> Iterator[list[Block]]:
    """Yield the blocks of sentences: from a file many at a time, from a pipe as many as are there.

    Lines are counted from ``number`` on.

    Blank lines go with the sentence before them. From a pipe a sentence comes as soon as its blank line is there, since
    the writer may be waiting for our answer; further blank lines then go with the sentence after them.

    A block of more than ``max_sentence`` bytes is given as an error as soon as that is known; what follows of it is
    read and forgotten.
    """
    at_once = not stream.seekable()
    read_some: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    finder = BlockFinder(at_once)
    data = bytearray()
    more = True
    cut = False  # whether the beginning of this block was too long already
    failure: Exception | None = None
    while more:
        try:
            fresh = read_some(READ_SIZE)
            more = bool(fresh)
            data += fresh
            if more and not at_once and len(data) < READ_SIZE:
                continue
        except DAMAGED as error:
            failure = error
        skip = len(BOM) if number == 1 and not cut and data.startswith(BOM) else 0
        start = 0
        blocks: list[Block] = []
        with memoryview(data) as view:
            for end, lines in finder.ends(data, skip, not more):
                if not cut:
                    blocks.append((number, _checked(view[start:end], name, number, max_sentence)))
                number += lines
                start = end
                cut = False
            undecided = len(data) - finder.passed  # bytes of a line that has been blank so far, after the block
            if not cut and max(finder.passed - start, undecided) > max_sentence:
                blocks.append((number, _checked(view[start:], name, number, max_sentence)))
                cut = True
        if cut:
            start = finder.passed if undecided <= max_sentence else finder.seen
        finder.drop(data, start)
        del data[:start]
        if blocks:
            yield blocks
        if failure is not None:
            raise damaged(failure, name, number + finder.lines) from failure


def _checked(data: memoryview, name: str, number: int, limit: int) -> bytes | FormatError:
    """Return a block, or the error if it is longer than the limit."""
    if len(data) <= limit:
        return bytes(data)
    beginning = bytes(data[:READ_SIZE])
    blank = beginning[: len(beginning) - len(beginning.removeprefix(BOM).lstrip(BLANK.encode()))]
    shown = f"{limit // MEGABYTE:,} MB" if limit % MEGABYTE == 0 else f"{limit:,} bytes"
    problem = (
        f"this sentence has more than {shown}, the most that one may have; a blank line should stand after each "
        "(--max-sentence MB allows more, in Python read(..., max_sentence=BYTES))"
    )
    sent_id = comment_value(beginning.decode(errors="replace").split("\n"), "sent_id")
    return FormatError(problem, file=name, line=number + blank.count(b"\n"), sent_id=sent_id)
