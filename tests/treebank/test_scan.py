"""Finding sentences and words in bytes gives what splitting at line ends and tabs gives, wherever reading stops."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanglewood.ml.words import words_of
from tanglewood.treebank import conllu
from tanglewood.treebank.scan import BlockFinder, decimal, has_empty_column, scan, slices, with_arcs

WORD = "{}\tä{}\tb\tX\t_\tC=1\t{}\tdep\t_\t_"
pieces = st.sampled_from(
    [
        *(WORD.format(i, i, head) for i, head in ((1, 0), (2, 1), (2, "_"), (3, "x"), (3, 10**9), (12, "01"))),
        *(
            "# c\t1",
            "",
            " ",
            "\t",
            "1-2" + "\t_" * 9,
            "1.1" + "\t_" * 9,
            "2\tw",
            WORD.format(1, 1, 0) + "\tx",
            "\ufeff",
        ),
    ]
)
texts = st.lists(st.tuples(pieces, st.sampled_from(["\n", "\r\n", "\n\n", ""])), max_size=9).map(
    lambda parts: "".join(piece + end for piece, end in parts)
)


def number_by_int(text):
    """A number of ten digits or more is larger than any sentence is long: all of these are one."""
    if not re.fullmatch("0|[1-9][0-9]*", text):
        return -1
    return int(text) if len(text) < 10 else 2**31 - 1


@given(st.text(max_size=3) | st.integers(0, 10**12).map(str))
def test_a_number_has_no_sign_space_or_leading_zero(text):
    data = text.encode()
    found = decimal(data, 0, len(data))
    assert found == number_by_int(text)


@given(texts)
def test_words_are_the_lines_that_splitting_finds(text):
    data = text.encode()
    lines = text.split("\n")
    spans, heads, others = scan(data, 0, len(lines))
    words, rest = [], []
    for place, line in enumerate(lines):
        row = line.removesuffix("\r").split("\t")
        if len(row) == 10 and row[0] == str(len(words) + 1):
            words.append((place, row))
        else:
            rest.append((place, len(words), line.removesuffix("\r")))
    assert [(place, before, data[begin:end].decode()) for place, before, begin, end in others] == rest
    assert spans[::7].tolist() == [place for place, _ in words]
    assert [line.decode().split("\t") for line in slices(data, spans, 1, 6, 0)] == [row for _, row in words]
    assert [middle.decode().split("\t") for middle in slices(data, spans, 2, 3, 1)] == [row[1:6] for _, row in words]
    assert [label.decode() for label in slices(data, spans, 4, 5, 1)] == [row[7] for _, row in words]
    assert heads.tolist() == [-1, *(-2 if row[6] == "_" else number_by_int(row[6]) for _, row in words)]
    for place, row in words:
        row[6:8] = ["7", "new"]
        lines[place] = "\t".join(row) + ("\r" if lines[place].endswith("\r") else "")
    assert with_arcs(data, spans, [b"7\t"] * len(words), [b"new"] * len(words)).decode() == "\n".join(lines)


@given(texts, st.booleans())
def test_blocks_end_where_the_next_begins(text, at_once):
    data = text.encode()
    found = BlockFinder(at_once).ends(data, 0, True)
    blocks = []
    start = 0
    for end, n_lines in found:
        blocks.append(data[start:end])
        assert n_lines == data[start:end].count(b"\n") + (not data[start:end].endswith(b"\n"))
        start = end
    assert not data[start:].strip()  # blank lines at the end of a pipe are no sentence's
    for block in blocks:
        inner = re.split(rb"\n[ \t\r\x0b\x0c]*(?=\n)", block.strip())
        assert len(inner) == 1, "a blank line stands between words"
    assert len(blocks) == len(re.findall(r"(?:[^\n]*[^\s\x00-\x20][^\n]*\n?)+", text))


class Dripping(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data, size, *, seekable):
        self.data = io.BytesIO(data)
        self.size = size
        self._seekable = seekable

    def readable(self):
        return True

    def seekable(self):
        return self._seekable

    def seek(self, place, whence=0):
        return self.data.seek(place, whence)

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[: self.size])


@given(texts, st.integers(1, 40), st.booleans())
def test_it_does_not_matter_where_reading_stops(text, size, seekable):
    outcomes = []
    for step in (10**6, size):
        errors = []
        stream = Dripping(text.encode(), step, seekable=seekable)
        sentences = list(conllu.read(stream, on_error=errors.append, trees=False))
        outcomes.append(([(s.line, s.to_text()) for s in sentences], [str(error) for error in errors]))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("compiled_data", [b"", b"\n", b"1"])
def test_almost_nothing_is_scanned(compiled_data):
    spans, heads, others = scan(compiled_data, 0, compiled_data.count(b"\n") + 1)
    assert (len(spans), heads.tolist()) == (0, [-1])
    assert len(others) == compiled_data.count(b"\n") + 1


def test_words_for_scorers_are_the_middle_columns():
    (sentence,) = conllu.read(io.BytesIO(f"{WORD.format(1, 1, 0)}\n\n".encode()))
    assert words_of(sentence) == [("ä1", "b", "X", "_", "C=1")] == [sentence.words[0][1:6]]


@given(st.text("\t\n\rä_", max_size=12))
def test_a_column_is_empty_if_a_tab_or_the_end_of_the_line_follows_its_tab(text):
    columns = [column for line in text.split("\n") for column in line.split("\t")[1:]]
    assert has_empty_column(text.encode()) == any(column == "" or column[0] == "\r" for column in columns)
