"""Multiword tokens: the lines like ``3-4`` of a CoNLL-U sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tanglewood.treebank.sentence import Sentence

RANGE = re.compile(rb"^(?:\xef\xbb\xbf)?([1-9]\d*)-([1-9]\d*)\t([^\t\n]*)\t(?:[^\t\n]*\t){7}([^\t\n]*)$", re.MULTILINE)


def multiword_ranges(sentence: Sentence) -> Iterator[tuple[int, int, str, str]]:
    """Yield the first and the last word of each multiword token, its form and its last column."""
    for match in RANGE.finditer(sentence.to_bytes()):
        low, high, form, misc = match.groups()
        yield int(low), int(high), form.decode(), misc.removesuffix(b"\r").decode()
