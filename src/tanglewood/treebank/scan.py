"""Finds sentences and their words in the bytes of a CoNLL file, so that columns are cut out only when asked for.

A word has seven numbers in ``spans``: the index of its line in the block, and the places in the bytes where the line,
FORM, HEAD, DEPREL and DEPS begin and where the line ends.
"""

from __future__ import annotations

from array import array

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

Bytes = bytes | bytearray
FIELDS = 7
TAB, NEWLINE, RETURN, SPACE, ZERO, UNDERSCORE = 9, 10, 13, 32, 48, 95
MISSING = -2  # the head "_"
TOO_LARGE = 2**31 - 1


def _find(data: Bytes, byte: int, start: int, end: int) -> int:
    """Return the first place of a byte, or ``end``."""
    if not cython.compiled:
        place = data.find(b"%c" % byte, start, end)
        return end if place < 0 else place
    while start < end and data[start] != byte:
        start += 1
    return start


def _column(data: Bytes, start: int, end: int, steps: int) -> int:
    """Return where the column that is ``steps`` columns further on begins; ``end + 1`` if there is none."""
    for _ in range(steps):
        start = _find(data, TAB, start, end) + 1
        if start > end:
            break
    return start


def _is_blank(data: Bytes, start: int, end: int) -> bool:
    """Whether there is nothing but white space."""
    for i in range(start, end):
        if data[i] != SPACE and (data[i] < TAB or data[i] > RETURN):
            return False
    return True


def decimal(data: bytes, start: int, end: int) -> int:
    """Return a decimal number without sign, space or leading zero; -1 for anything else."""
    if start >= end or (data[start] == ZERO and end - start > 1):
        return -1
    value = 0
    for i in range(start, end):
        if data[i] < ZERO or data[i] > ZERO + 9:
            return -1
        if i - start < 9:
            value = 10 * value + data[i] - ZERO
    return value if end - start < 10 else TOO_LARGE


class BlockFinder:
    """Finds where the blocks of a file end, in bytes of it that grow; however they grow, it looks at each once.

    Blank lines go with the block before them; with ``at_once`` a block ends at its first blank line. ``seen`` is how
    many of the bytes have been looked at, ``lines`` how many lines there are since the last block that was found.
    """

    def __init__(self, at_once: bool) -> None:
        self.at_once = at_once
        self.line = 0  # where the first line begins whose end has not been seen
        self.seen = self.lines = 0
        self.begun = self.ended = False
        self.said = False  # whether what was dropped of that line was not blank

    def ends(self, data: Bytes, skip: int, whole: bool) -> list[tuple[int, int]]:
        """Return where each further block that is surely complete ends, and how many lines it has.

        ``data`` is what was given before, less what was dropped, and then more. ``skip`` bytes at its beginning do not
        count. Unless it is the ``whole`` rest of the file, more will follow.
        """
        found = []
        size = len(data)
        while self.line < size:
            begin = max(self.line, self.seen, skip)
            end = _find(data, NEWLINE, self.seen, size)
            self.seen = end
            if end < size:
                end += 1
            elif not whole:
                if self.ended and not _is_blank(data, begin, end):
                    found.append((self.line, self.lines))
                    self.lines = 0
                    self.begun = self.ended = False
                break
            if self.said or not _is_blank(data, max(self.line, skip), end):
                if self.ended:
                    found.append((self.line, self.lines))
                    self.lines = 0
                    self.ended = False
                self.begun = True
                self.lines += 1
            else:
                self.lines += 1
                self.ended = self.begun
                if self.at_once and self.ended:
                    found.append((end, self.lines))
                    self.lines = 0
                    self.begun = self.ended = False
            self.said = False
            self.line = self.seen = end
        if whole and self.begun:
            found.append((size, self.lines))
        return found

    @property
    def passed(self) -> int:
        """How many of the bytes surely belong to blocks that were found, or to the next one."""
        return self.line if self.ended else self.seen

    def drop(self, data: Bytes, count: int) -> None:
        """Take note that the first ``count`` bytes, all of them seen, will be missing next time."""
        if count > self.line:
            self.said = self.said or not _is_blank(data, self.line, count)
        self.line = max(self.line - count, 0)
        self.seen -= count


def scan(data: bytes, start: int, n_lines: int) -> tuple[array[int], array[int], list[tuple[int, int, int, int]]]:
    """Return the spans of the words 1, 2, ... of a block, their heads, and all other lines.

    A head that is not a number is -1, "_" is MISSING; ``heads[0]`` is -1. Every other line is given by its index, the
    number of words before it, and where it begins and ends. The first ``start`` bytes are skipped.
    """
    all_spans = spans = array("q", bytes(8 * FIELDS * n_lines))
    all_heads = heads = array("i", bytes(4 * (n_lines + 1)))
    heads[0] = -1
    others = []
    size = 0
    stop = len(data)
    for place in range(n_lines):
        newline = _find(data, NEWLINE, start, stop)
        end = newline
        if end > start and data[end - 1] == RETURN:
            end -= 1
        form = _find(data, TAB, start, end) + 1
        misc = end + 1
        if form <= end and decimal(data, start, form - 1) == size + 1:
            head = _column(data, form, end, 5)
            label = _column(data, head, end, 1)
            deps = _column(data, label, end, 1)
            misc = _column(data, deps, end, 1)
        if misc <= end and _find(data, TAB, misc, end) == end:
            spans[FIELDS * size] = place
            spans[FIELDS * size + 1] = start
            spans[FIELDS * size + 2] = form
            spans[FIELDS * size + 3] = head
            spans[FIELDS * size + 4] = label
            spans[FIELDS * size + 5] = deps
            spans[FIELDS * size + 6] = end
            size += 1
            is_missing = label - head == 2 and data[head] == UNDERSCORE
            heads[size] = MISSING if is_missing else decimal(data, head, label - 1)
        else:
            others.append((place, size, start, end))
        start = newline + 1
    return all_spans[: FIELDS * size], all_heads[: size + 1], others


def slices(data: bytes, spans: array[int], first: int, last: int, less: int) -> list[bytes]:
    """Return for each word the bytes from one field of its span to another, the last ``less`` bytes left out."""
    return [data[spans[i + first] : spans[i + last] - less] for i in range(0, len(spans), FIELDS)]


def has_empty_column(data: bytes) -> bool:
    """Whether a tab stands before another one, before the end of a line or at the very end."""
    if not cython.compiled:
        return b"\t\t" in data or b"\t\n" in data or b"\t\r" in data or data.endswith(b"\t")
    size = len(data)
    for i in range(size):
        if data[i] == TAB:
            after = data[i + 1] if i + 1 < size else NEWLINE
            if after in (TAB, NEWLINE, RETURN):
                return True
    return False


def with_arcs(data: bytes, spans: array[int], heads: list[bytes], labels: list[bytes]) -> bytes:
    """Return the block with other heads, given with the tab after them, and other labels."""
    parts = []
    start = 0
    for word in range(len(heads)):
        parts.append(data[start : spans[FIELDS * word + 3]])
        parts.append(heads[word])
        parts.append(labels[word])
        start = spans[FIELDS * word + 5] - 1
    parts.append(data[start:])
    return b"".join(parts)
