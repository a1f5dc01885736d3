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

FIELDS = 7
TAB, NEWLINE, RETURN, SPACE, ZERO, UNDERSCORE = 9, 10, 13, 32, 48, 95
MISSING = -2  # the head "_"
TOO_LARGE = 2**31 - 1


def _find(data: bytes, byte: int, start: int, end: int) -> int:
    """Return the first place of a byte, or ``end``."""
    if not cython.compiled:
        place = data.find(byte, start, end)
        return end if place < 0 else place
    while start < end and data[start] != byte:
        start += 1
    return start


def _column(data: bytes, start: int, end: int, steps: int) -> int:
    """Return where the column that is ``steps`` columns further on begins; ``end + 1`` if there is none."""
    for _ in range(steps):
        start = _find(data, TAB, start, end) + 1
        if start > end:
            break
    return start


def _is_blank(data: bytes, start: int, end: int) -> bool:
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


def block_ends(data: bytes, skip: int, at_once: bool, whole: bool) -> list[tuple[int, int]]:
    """Return where each block that is surely complete ends, and how many lines it has.

    Blank lines go with the block before them; with ``at_once`` a block ends at its first blank line. ``skip`` bytes at
    the beginning do not count. Unless the data is ``whole``, more will follow.
    """
    found = []
    size = len(data)
    start = lines = 0
    begun = ended = False
    while start < size:
        end = _find(data, NEWLINE, start, size)
        if end < size:
            end += 1
        elif not whole:
            break
        if not _is_blank(data, max(start, skip), end):
            if ended:
                found.append((start, lines))
                lines = 0
                ended = False
            begun = True
            lines += 1
        else:
            lines += 1
            ended = begun
            if at_once and ended:
                found.append((end, lines))
                lines = 0
                begun = ended = False
        start = end
    if whole and begun:
        found.append((size, lines))
    return found


def scan(data: bytes, start: int, n_lines: int) -> tuple[array[int], array[int], list[tuple[int, int, int, int]]]:
    """Return the spans of the words 1, 2, ... of a block, their heads, and all other lines.

    A head that is not a number is -1, "_" is MISSING; ``heads[0]`` is -1. Every other line is given by its index, the
    number of words before it, and where it begins and ends. The first ``start`` bytes are skipped.
    """
    all_spans = spans = array("i", bytes(4 * FIELDS * n_lines))
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
