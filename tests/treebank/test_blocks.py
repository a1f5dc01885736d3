"""Blocks of any length are found, each byte of them is looked at once, and those beyond the limit are named."""

import io
import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tanglewood as tw
from tanglewood.errors import ArgumentError, ConfigError, FormatError
from tanglewood.files import READ_SIZE
from tanglewood.treebank import blocks, conllu
from tanglewood.treebank.scan import BlockFinder, scan

WORD = b"1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n"
FAR = 2**31 + 10  # no 32-bit int counts so far


class Pipe(io.RawIOBase):
    """A stream that cannot be rewound and gives its pieces one by one."""

    def __init__(self, pieces):
        self.pieces = iter(pieces)

    def readable(self):
        return True

    def read(self, size=-1):
        return next(self.pieces, b"")

    read1 = read

    def peek(self, size):
        return b""


def pieces_of(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


# Bytes that are zero and only read take no memory, so that these tests need none.


def test_a_block_ends_beyond_two_gigabytes():
    finder = BlockFinder(False)
    data = bytes(FAR)
    finder.seen = FAR - 5
    assert finder.ends(data, 0, True) == [(FAR, 1)]


@pytest.mark.slow
def test_more_than_two_gigabytes_are_one_block():
    assert BlockFinder(False).ends(bytes(FAR), 0, True) == [(FAR, 1)]


def test_words_are_found_beyond_two_gigabytes():
    with mmap.mmap(-1, FAR + len(WORD), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as data:
        data[FAR:] = WORD
        spans, heads, _ = scan(data, FAR, 1)
        assert spans.tolist() == [0, *(FAR + place for place in (0, 2, 13, 15, 20, 23))]
        assert heads.tolist() == [-1, 0]


def looked_at(monkeypatch, pieces, *, seekable=False, **options):
    """Return how many bytes are looked at while all is read, by what the finder says it has seen."""
    total = 0

    class Counting:
        def __init__(self, at_once):
            self.finder = BlockFinder(at_once)

        def ends(self, data, skip, whole):
            nonlocal total
            total += len(data) - self.finder.seen
            return self.finder.ends(data, skip, whole)

        def __getattr__(self, name):
            return getattr(self.finder, name)

    monkeypatch.setattr(blocks, "BlockFinder", Counting)
    stream = Pipe(pieces)
    stream.seekable = lambda: seekable
    found = [block for some in blocks.read_blocks(stream, "x", **options) for _, block in some]
    return total, found


@pytest.mark.parametrize("seekable", [False, True])
@pytest.mark.parametrize("line", [WORD, b"x" * 5000, b" " * 5000])
def test_each_byte_of_a_long_block_is_looked_at_once(monkeypatch, line, seekable):
    data = WORD + line * (10 * READ_SIZE // len(line)) + b"\n\n" + WORD
    total, found = looked_at(monkeypatch, pieces_of(data, 1000), seekable=seekable)
    assert b"".join(found) == data
    assert total == len(data)


def test_what_was_seen_is_not_looked_at_again():
    finder = BlockFinder(False)
    assert finder.ends(b"1\tone\n2\tt", 0, False) == []
    assert finder.seen == 9
    assert finder.ends(b"\n\n\n\n\n\n\n\n\nwo\n\n3", 0, True) == [(13, 3), (14, 1)]  # else it would see blank lines


@given(st.binary(max_size=40).map(lambda data: bytes(b"\n ab"[byte % 4] for byte in data)), st.integers(1, 9))
def test_a_finder_of_growing_bytes_finds_what_one_of_all_bytes_finds(data, size):
    for at_once in (False, True):
        finder, grown, found, dropped = BlockFinder(at_once), bytearray(), [], 0
        for piece in [*pieces_of(data, size), b""]:
            grown += piece
            ends = finder.ends(grown, 0, not piece)
            found += [(dropped + end, lines) for end, lines in ends]
            count = ends[-1][0] if ends else finder.passed // 2  # also in the middle of a line
            finder.drop(grown, count)
            del grown[:count]
            dropped += count
        assert found == BlockFinder(at_once).ends(data, 0, True)


# The limit. ---------------------------------------------------------------------------------------------------


def long_sentence(size):
    return b"# sent_id = long\n" + b"".join(b"%d\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n" % i for i in range(1, size)) + b"\n"


SHORT = b"# sent_id = short\n" + WORD + b"\n"


@pytest.mark.parametrize("seekable", [False, True])
@pytest.mark.parametrize("step", [7, 1000, 10**6])
@pytest.mark.parametrize("last", [b"", SHORT])
def test_a_sentence_beyond_the_limit_is_left_out_and_the_next_is_read(step, seekable, last):
    data = SHORT + b"\n" + long_sentence(20) + SHORT + long_sentence(30) + last
    stream = Pipe(pieces_of(data, step))
    stream.seekable = lambda: seekable
    stream.name = "x.conllu"
    errors = []
    found = list(tw.read(stream, on_error=errors.append, max_sentence=200))
    assert [sentence.line for sentence in found] == [1, 26, *([60] if last else [])]
    assert [(error.file, error.line, error.sent_id) for error in errors] == [
        ("x.conllu", 5, "long"),
        ("x.conllu", 29, "long"),
    ]
    assert all("more than 200 bytes" in str(error) and "--max-sentence" in str(error) for error in errors)


@given(
    st.lists(st.sampled_from([b"\n", b" ", b"  \n", b"a\n", b"# sent_id = b\n", b"  c", WORD, b"\n\n"]), max_size=12),
    st.integers(1, 60),
    st.integers(1, 9),
    st.booleans(),
)
def test_what_is_beyond_the_limit_does_not_depend_on_where_reading_stops(parts, limit, size, seekable):
    data = b"".join(parts)
    outcomes = []
    for step in (1000, size):
        stream = Pipe(pieces_of(data, step))
        stream.seekable = lambda: seekable
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "READ_SIZE", step)
            found = [block for some in blocks.read_blocks(stream, "x", limit) for block in some]
        blank = 0 if seekable else len(data) - len(data.rstrip())  # at the end of a pipe it is no sentence's
        outcomes.append([(line, str(block)) for line, block in found if blank <= limit])
    # Errors of both kinds name the sentence, as far as its beginning was at hand.
    assert [line for line, _ in outcomes[0]] == [line for line, _ in outcomes[1]]
    assert [block for _, block in outcomes[0] if block[:2] == "b'"] == [
        block for _, block in outcomes[1] if block[:2] == "b'"
    ]


def test_the_limit_is_what_a_sentence_with_its_blank_line_may_have():
    assert len(list(tw.read(io.BytesIO(SHORT * 3), max_sentence=len(SHORT)))) == 3
    with pytest.raises(FormatError, match=r"<stream>:1, sent_id short: this sentence has more than 42 bytes"):
        list(tw.read(io.BytesIO(SHORT * 3), max_sentence=len(SHORT) - 1))


def test_a_line_without_end_is_an_error_before_it_fills_the_memory():
    given_out = 0

    def endless():
        nonlocal given_out
        while True:
            given_out += READ_SIZE
            yield b"x" * READ_SIZE

    with pytest.raises(FormatError, match="more than 1 MB"):
        list(tw.read(Pipe(endless()), max_sentence=1 << 20))
    assert given_out <= (1 << 20) + 2 * READ_SIZE


@pytest.mark.slow
def test_more_than_two_gigabytes_without_a_blank_line_are_passed_over():
    line = b"x" * (READ_SIZE - 1) + b"\n"
    lines = FAR // READ_SIZE + 1

    def stream():
        yield b"# sent_id = huge\n"
        for _ in range(lines):
            yield line
        yield b"\n" + SHORT

    errors = []
    (sentence,) = tw.read(Pipe(stream()), on_error=errors.append)
    assert sentence.line == lines + 3
    assert [(error.line, error.sent_id) for error in errors] == [(1, "huge")]


@pytest.mark.parametrize("limit", ["1", 1.5, True, None])
def test_a_limit_is_a_number(limit):
    with pytest.raises(ArgumentError, match="max_sentence should be a number of bytes"):
        tw.read(io.BytesIO(b""), max_sentence=limit)


def test_a_limit_is_more_than_zero():
    with pytest.raises(ConfigError, match="max_sentence=0"):
        tw.read(io.BytesIO(b""), max_sentence=0)


def test_batches_hold_the_error_in_its_place():
    data = io.BytesIO(long_sentence(20) + SHORT)
    (batch,) = conllu.read_batches(data, max_sentence=200)
    first, second = (block for _, block in batch.blocks)
    assert isinstance(first, FormatError)
    assert second == SHORT
