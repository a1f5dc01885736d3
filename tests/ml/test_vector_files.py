"""Files of vectors: every format is read as it was written, what is kept is what should be, and errors say where."""

import gzip
import lzma
import re
import tracemalloc

import numpy as np
import pytest

from exhaustive import COMPILED
from tanglewood.errors import ConfigError, FormatError
from tanglewood.ml.file_lexicon import SPREAD, lexicon_of, principal_components
from tanglewood.ml.lexicon import LEVELS, Lexicon
from tanglewood.ml.subwords import FASTTEXT, FLORET, Subwords
from tanglewood.ml.vector_files import read_vectors, wanted_forms
from tanglewood.ml.vector_source import Pruning, Source
from vector_writers import as_fasttext, as_floret, as_text, as_word2vec

WORDS = ["ta", "wug", "Dax", "zorps", "vijver", "d\u00e9j\u00e0", "\u0434\u0430", "krell\u00a0x"]
TABLE = np.random.default_rng(1).normal(0, 1, (len(WORDS), 5)).astype(np.float32)
BUCKETS = 40
PIECES = np.random.default_rng(2).normal(0, 1, (BUCKETS, 5)).astype(np.float32)
TABLES = np.concatenate([TABLE, PIECES])
ALL = Pruning((), 1000)
PLAIN = {
    "header": as_text(WORDS, TABLE),
    "no header": as_text(WORDS, TABLE, header=False),
    "fastText": as_text(WORDS, TABLE, end=" \n"),
    "Windows": as_text(WORDS, TABLE, end="\r\n"),
    "tabs": as_text(WORDS, TABLE).replace(b" ", b"\t"),
    "no last end": as_text(WORDS, TABLE)[:-1],
    "binary": as_word2vec(WORDS, TABLE),
    "gensim": as_word2vec(WORDS, TABLE, newline=b""),
}
SUBWORDS = {
    "fastText": as_fasttext(WORDS, TABLES, 2, 4),
    "floret": as_floret(PIECES, 2, 4, 2),
}


@pytest.fixture
def read(tmp_path):
    def read_bytes(data, pruning=ALL, name="vectors.any"):
        (tmp_path / name).write_bytes(data)
        return read_vectors(tmp_path / name, pruning)

    return read_bytes


@pytest.mark.parametrize("data", PLAIN.values(), ids=PLAIN)
def test_words_and_vectors_are_read_as_they_were_written(read, data):
    found = read(data)
    assert found.words == WORDS
    assert np.allclose(found.table, TABLE, rtol=1e-4)
    assert (found.total, found.skipped, found.subwords) == (len(WORDS), 0, None)


@pytest.mark.parametrize("data", [*PLAIN.values(), *SUBWORDS.values()], ids=[*PLAIN, *map("sub {}".format, SUBWORDS)])
@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "x.gz"), (lzma.compress, "x.xz")])
def test_compressed_files_are_read_too(read, data, pack, name):
    pruning = Pruning(("wug",), 1000)
    plain, packed = read(data, pruning), read(pack(data), pruning, name)
    assert (packed.words, packed.total) == (plain.words, plain.total)
    assert np.array_equal(packed.sample, plain.sample)


def test_the_vector_of_a_word_in_a_fasttext_model_is_the_mean_of_its_rows(read):
    found = read(SUBWORDS["fastText"])
    assert found.words == WORDS
    assert found.subwords == Subwords(FASTTEXT, BUCKETS, 2, 4)
    for word, own, vector in zip(WORDS, TABLE, found.table, strict=True):
        rows = [own, *(PIECES[row] for row in found.subwords.rows(word))]
        assert np.allclose(vector, np.mean(rows, axis=0), atol=1e-5)
    assert found.buckets.tolist() == list(range(BUCKETS))
    assert np.array_equal(found.pieces, PIECES)


def test_the_end_of_a_line_has_no_pieces_in_fasttext(read):
    found = read(as_fasttext(["</s>", *WORDS[1:]], TABLES, 2, 4))
    assert np.array_equal(found.table[0], TABLE[0])


@pytest.mark.parametrize(("least", "most", "version"), [(0, 0, 12), (3, 6, 11)])
def test_a_fasttext_model_without_pieces_has_words_alone(read, least, most, version):
    """Version 11 has pieces, but not in models that classify."""
    found = read(as_fasttext(WORDS, TABLES, least, most, version=version, model=3))
    assert found.subwords is None
    assert np.array_equal(found.table, TABLE)


def test_labels_of_a_fasttext_model_are_no_words(read):
    found = read(as_fasttext([*WORDS, "__label__x"], TABLES, 0, 0, labels=1))
    assert (found.words, found.total) == (WORDS, len(WORDS))


def test_words_of_floret_have_the_mean_of_their_rows_and_need_none_of_their_own(read):
    found = read(SUBWORDS["floret"], Pruning(WORDS, 1000))
    assert found.subwords == Subwords(FLORET, BUCKETS, 2, 4, 2, 2166136261)
    assert found.words == []
    for word, vector in zip(WORDS, found.sample, strict=True):
        assert np.allclose(vector, PIECES[found.subwords.rows(word)].mean(axis=0), atol=1e-4)
    assert np.allclose(found.pieces, PIECES, rtol=1e-4)


def test_a_table_of_floret_is_read_without_any_word(read):
    found = read(SUBWORDS["floret"])
    assert np.array_equal(found.sample, found.pieces)
    assert len(lexicon_of(found, 3).buckets) == BUCKETS


def test_the_end_of_a_model_is_missed_even_if_it_is_not_needed(read):
    data = as_fasttext(WORDS, TABLES, 0, 0)
    with pytest.raises(FormatError, match="breaks off"):
        read(gzip.compress(data[:-400]), name="x.gz")


def test_where_not_all_rows_of_floret_have_room_words_have_some_of_their_own(read):
    found = read(SUBWORDS["floret"], Pruning(WORDS, 8))
    assert found.words == WORDS[:4]
    assert 0 < len(found.buckets) < BUCKETS
    assert np.allclose(found.pieces, PIECES[found.buckets], rtol=1e-4)
    times = np.bincount([row for word in WORDS for row in found.subwords.rows(word)], minlength=BUCKETS)
    assert times[found.buckets].min() >= np.delete(times, found.buckets).max()


@pytest.mark.parametrize("kind", ["header", "binary", "fastText"])
def test_wanted_words_come_first_then_the_first_of_the_file(read, kind):
    data = {**PLAIN, "fastText": SUBWORDS["fastText"]}[kind]
    found = read(data, Pruning(("vijver", "blick", "zorps"), 4))
    assert found.words == ["vijver", "zorps", "ta", "wug"]
    whole = read(data)
    assert np.array_equal(found.table, whole.table[[WORDS.index(word) for word in found.words]])
    assert read(data, Pruning(("vijver", "wug", "zorps"), 2)).words == ["vijver", "wug"]


def test_long_words_leave_room_for_fewer():
    pruning = Pruning((), 100, 64)
    assert len(pruning.kept([f"{number:08}" for number in range(200)], 300)) == 100
    words = pruning.kept([f"{number:0100}" for number in range(200)], 300)
    assert 40 < len(words) < 60
    assert pruning.buckets(words, 300) < 3


@pytest.mark.parametrize("write", [as_text, as_word2vec])
def test_of_a_word_that_comes_twice_the_first_counts(read, write):
    found = read(write(["ta", "wug", "ta"], TABLE[:3]))
    assert found.words == ["ta", "wug"]
    assert np.allclose(found.table, TABLE[:2], rtol=1e-4)


@pytest.mark.parametrize("data", [PLAIN["header"], PLAIN["binary"], SUBWORDS["fastText"]])
def test_words_that_are_not_utf8_are_left_out_and_counted(read, data):
    found = read(data.replace(b"wug", b"w\xffg"))
    assert found.words == [word for word in WORDS if word != "wug"]
    assert found.skipped == 1


def test_words_with_spaces_and_lines_with_several(read):
    found = read(b"ta 1 2\n. . . 3 4\nwug  5  6\n\n")
    assert found.words == ["ta", ". . .", "wug"]
    assert found.table.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_forms_are_wanted_in_every_way_they_are_looked_up():
    assert wanted_forms(["Wug", "1984"]) == ["Wug", "1984", "wug", "0000"]


# What is wrong with a file. -----------------------------------------------------------------------------------------

TEXT = b"3 2\nta 1 2\nwug 3 4\ndax 5 6\n"
BINARY = PLAIN["binary"]
FAST = SUBWORDS["fastText"]

DAMAGED = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n\n", r":1: this is not a file of vectors"),
    "prose": (b"We like the pond.\n", r":1: this is not a file of vectors"),
    "one word": (b"pond\n", r":1: this is not a file of vectors"),
    "zeros": (bytes(5000), r":1: this is not a file of vectors"),
    "long line": (b"a 1 " * 200_000, r"is not a file of vectors"),
    "no vectors": (b"0 5\n", r":1: the first line says that there are no vectors"),
    "no words": (b"2 2\n", r"breaks off"),
    "wide": (b"5 5000\n", r":1: vectors should have 1 to 4,096 numbers, not 5,000"),
    "narrow": (b"5 0\n", r":1: vectors should have"),
    "too few values": (TEXT.replace(b"3 4", b"3"), r":3: the line has 1 value after the word, not 2"),
    "too many values": (TEXT.replace(b"3 4", b"3 4 5"), r":3: the line has 3 values after the word, not 2"),
    "too few at once": (b"2 30\nta 1 2\nwug 3 4\n", r":2: the line has 2 values after the word, not 30"),
    "no value": (TEXT.replace(b" 3 4", b""), r":3: the line has 0 values after the word"),
    "a word for a number": (TEXT.replace(b"3 4", b"3 x"), r":3: 'x' is not a number"),
    "nan": (TEXT.replace(b"3 4", b"3 nan"), r":3: 'nan' is not a finite number"),
    "infinite": (TEXT.replace(b"3 4", b"-inf 4"), r":3: '-inf' is not a finite number"),
    "huge": (TEXT.replace(b"3 4", b"3e300 4"), r":3: '3e300' is not a finite number"),
    "cut": (TEXT[:-8], r":4: the file ends after 2 of the 3 vectors"),
    "too long": (TEXT + b"krell 7 8\n", r":5: there are more vectors than the 3 of the first line"),
    "binary, cut": (BINARY[:-10], r"breaks off"),
    "binary, too long": (BINARY + b"more", r"there is more after the 8 vectors"),
    "binary, absurd": (b"999999999999 300\n" + BINARY[4:], r"999,999,999,999 vectors of 300 numbers would take"),
    "binary, nan": (as_word2vec(WORDS, TABLE * np.float32(np.nan)), r"infinite, undefined or too large \(byte 7\)"),
    "binary, no space": (b"1 3\n" + b"\1" * 3000, r"a word of more than"),
    "fastText, header cut": (FAST[:50], r"breaks off"),
    "fastText, cut": (FAST[:-1000], r"48 vectors of 5 numbers would take 960 bytes"),
    "fastText, version": (as_fasttext(WORDS, TABLES, 2, 4, version=13), r"version 13, and 12 is read"),
    "fastText, quantized": (as_fasttext(WORDS, TABLES, 2, 4, quantized=1), r"quantized fastText model \(.ftz\)"),
    "fastText, pruned": (as_fasttext(WORDS, TABLES, 2, 4, pruned=0), r"quantized fastText model \(.ftz\)"),
    "fastText, absurd words": (as_fasttext(WORDS, TABLES, 2, 4, size=2**31 - 1, count=2**31 - 1), r"a dictionary of"),
    "fastText, absurd rows": (as_fasttext(WORDS, TABLES, 2, 4, rows=2**60), r"the matrix should have 48 rows"),
    "fastText, absurd both": (
        as_fasttext(WORDS, TABLES, 2, 4, rows=2**31 + 7, buckets=2**31 - 1),
        r"vectors of 5 numbers would take",
    ),
    "fastText, columns": (as_fasttext(WORDS, TABLES, 2, 4, columns=6), r"the matrix should have 48 rows of 5"),
    "fastText, negative": (as_fasttext(WORDS, TABLES, 2, 4, count=-1), r"do not make sense"),
    "fastText, long pieces": (as_fasttext(WORDS, TABLES, 2, 1000), r"do not make sense"),
    "fastText, nan": (as_fasttext(WORDS, TABLES * np.float32(np.inf), 2, 4), r"infinite, undefined or too large"),
    "floret, cut": (SUBWORDS["floret"][:-200], r"ends after 3\d of the 40 rows|values after its number"),
    "floret, order": (SUBWORDS["floret"].replace(b"\n7 ", b"\n8 "), r":9: the line should begin with 7"),
    "floret, sizes": (as_floret(PIECES, 4, 2, 2), r":1: the numbers of the first line are not those of a floret table"),
    "floret, hashes": (as_floret(PIECES, 2, 4, 5), r":1: the numbers of the first line"),
    "floret, words": (b"a b c d e f < >\n", r":1: the first line is not that of a floret table"),
    "floret, absurd": (b"2000000000 300 2 4 2 1 < >\n", r"2,000,000,000 rows of 300 numbers would take"),
    "floret, values": (SUBWORDS["floret"].replace(b"\n7 ", b"\n7 1 "), r":9: the line has 6 values after its number"),
    "floret, too long": (SUBWORDS["floret"] + b"40 1 2 3 4 5\n", r":42: there should be 40 rows"),
}


@pytest.mark.parametrize(("data", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_a_wrong_file_is_refused(read, data, problem):
    with pytest.raises(FormatError, match=problem) as caught:
        read(data, Pruning(("wug",), 1000))
    assert "vectors.any" in str(caught.value)


def test_damage_in_vectors_that_are_not_kept_is_found_in_text(read):
    lines = [f"w{number} 0.5 0.25" for number in range(100)]
    lines[77] = "w77 0.5 NaN"
    with pytest.raises(FormatError, match=":79: 'NaN'"):
        read(("100 2\n" + "\n".join(lines)).encode(), Pruning((), 5))
    lines[77] = "w77 0.5"
    with pytest.raises(FormatError, match=":79: the line has 1 value after"):
        read(("100 2\n" + "\n".join(lines)).encode(), Pruning((), 5))


@pytest.mark.parametrize("data", [*PLAIN.values(), *SUBWORDS.values()], ids=[*PLAIN, *map("sub {}".format, SUBWORDS)])
def test_a_file_cut_anywhere_gives_an_error_or_fewer_words(read, data):
    """Never any other exception; text without a first line that says how many there are may end anywhere."""
    for size in range(0, len(data), 7):
        try:
            found = read(data[:size], Pruning(("wug",), 1000))
        except FormatError:
            continue
        assert len(found.words) <= len(WORDS)


def test_damaged_compression_is_an_error_with_its_name(read):
    with pytest.raises(FormatError, match=r"x\.gz:\d+: the compressed data is damaged or breaks off"):
        read(gzip.compress(PLAIN["header"] * 50)[:-20], name="x.gz")
    with pytest.raises(FormatError, match="not compressed so"):
        read(PLAIN["header"], name="x.gz")


def test_a_folder_is_refused_and_a_missing_file_named(tmp_path):
    with pytest.raises(ConfigError, match="this is none"):
        read_vectors(tmp_path, ALL)
    with pytest.raises(FileNotFoundError, match="missing"):
        read_vectors(tmp_path / "missing.vec", ALL)


class Endless:
    """A stream of text vectors that are made when they are read: as many bytes as one likes."""

    def __init__(self, dim, lines):
        self.first = f"{lines} {dim}\n".encode()
        self.row = (" " + " ".join(["0.12345"] * dim) + "\n").encode()
        self.left, self.number, self.size = lines, 0, 0

    def read(self, size):
        parts, held = [self.first], len(self.first)
        self.first = b""
        while held < size and self.left:
            self.number += 1
            self.left -= 1
            parts.append(f"w{self.number}".encode() + self.row)
            held += len(parts[-1])
        self.size += held
        return b"".join(parts)


def peak_of(lines):
    """The most memory that is held while so many lines are read, and the bytes read."""
    from tanglewood.ml.vector_files import _read

    stream = Endless(100, lines)
    tracemalloc.start()
    found = _read(Source(stream, "endless"), Pruning(("w7", f"w{lines}"), 500))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.total == lines
    assert found.words[:2] == ["w7", f"w{lines}"]
    return peak, stream.size


def test_memory_does_not_grow_with_the_file():
    small, few = peak_of(4_000)
    large, many = peak_of(16_000)
    assert many > 3.9 * few
    assert large < 1.1 * small


# The lexicon of a file. ---------------------------------------------------------------------------------------------


def test_vectors_are_reduced_to_the_directions_in_which_they_differ_most(read):
    rng = np.random.default_rng(3)
    flat = rng.normal(0, 1, (300, 3)) @ rng.normal(0, 1, (3, 20)) + 5  # three dimensions in twenty
    words = [f"w{number}" for number in range(300)]
    lexicon = lexicon_of(read(as_text(words, flat.astype(np.float32))), 3)
    assert lexicon.vectors.shape == (302, 3)
    found = lexicon.vectors[2:]
    apart = np.linalg.norm(flat[:50, None] - flat[None, :50], axis=2)
    scale = np.linalg.norm(found[:50, None] - found[None, :50], axis=2) / np.maximum(apart, 1e-9)
    others = ~np.eye(50, dtype=bool)
    assert np.allclose(scale[others], np.median(scale[others]), rtol=0.1)  # all distances are what they were
    assert found.std() == pytest.approx(SPREAD, rel=0.02)
    assert np.allclose(found.mean(axis=0), 0, atol=0.01)
    assert (lexicon.vectors[:2] == 0).all()


def test_principal_components_are_those_of_the_slow_way():
    rng = np.random.default_rng(4)
    table = (rng.normal(0, 1, (100, 6)) * [5, 4, 3, 2, 1, 0.5]).astype(np.float32)
    table -= table.mean(axis=0)
    found = principal_components(table, 2)
    for direction in found.T:  # a power method, with what was found before taken out
        v = rng.normal(0, 1, 6)
        for _ in range(500):
            v = table.T @ (table @ v)
            v /= np.linalg.norm(v)
        assert np.allclose(np.abs(v @ direction), 1, atol=1e-3)
        table = table - np.outer(table @ v, v)


@pytest.mark.parametrize("width", [0, 5, 64])
def test_narrow_vectors_keep_their_numbers(read, width):
    lexicon = lexicon_of(read(PLAIN["header"]), width)
    centred = TABLE - TABLE.mean(axis=0)
    wanted = centred * SPREAD / centred.std()
    assert np.allclose(lexicon.vectors[2:], wanted, atol=np.abs(wanted).max() / LEVELS)


@pytest.mark.parametrize("kind", SUBWORDS)
def test_unknown_forms_have_the_mean_of_their_pieces(read, kind):
    vectors = read(SUBWORDS[kind], Pruning(WORDS, 1000))
    lexicon = lexicon_of(vectors, 0)
    mean = vectors.sample.mean(axis=0)
    factor = SPREAD / (vectors.sample - mean).std()
    for form in ("blick", "\u00e9\u0434"):
        wanted = (PIECES[vectors.subwords.rows(form)].mean(axis=0) - mean) * factor
        root, found = lexicon.given([[form]])
        assert np.allclose(found, wanted, atol=0.05)
        assert (root == 0).all()
        assert not lexicon.knows(form)
    assert (lexicon.given([["blick" * 100]])[1] == 0).all()


def test_a_form_none_of_whose_pieces_is_kept_is_unknown(read):
    vectors = read(SUBWORDS["fastText"], Pruning((), 8, 5))
    assert 0 < len(vectors.buckets) < BUCKETS
    lexicon = lexicon_of(vectors, 5)
    rows = vectors.subwords.rows("b")
    assert not set(rows) & set(vectors.buckets.tolist()) or len(rows) > 3
    for form in ("b", "blick", "q", "zz"):
        kept = [row for row in vectors.subwords.rows(form) if row in vectors.buckets]
        assert (lexicon.given([[form]])[1] != 0).any() == bool(kept)


def test_vectors_that_are_all_the_same_say_nothing(read):
    lexicon = lexicon_of(read(b"2 2\nta 1 2\nwug 1 2\n"), 64)
    assert (lexicon.vectors == 0).all()


def test_a_lexicon_with_subwords_survives_its_file_and_pickling(read):
    import pickle

    lexicon = lexicon_of(read(SUBWORDS["fastText"]), 0)
    arrays = {name: memoryview(array) for name, array in lexicon.arrays().items()}
    for again in (Lexicon.load(arrays, lexicon.settings()), pickle.loads(pickle.dumps(lexicon))):
        assert again.same_as(lexicon)
        assert np.array_equal(again.given([["blick", "ta"]]), lexicon.given([["blick", "ta"]]))
    assert not lexicon.same_as(lexicon_of(read(PLAIN["header"]), 0))
    assert not lexicon.same_as(None)


@pytest.mark.skipif(not COMPILED, reason="so many words take long when interpreted")
def test_fifty_thousand_words_of_64_numbers_take_less_than_five_megabytes(read):
    from tanglewood.store import dump_model

    rng = np.random.default_rng(5)
    words = [f"{number * number:09}" for number in range(51_000)]
    table = rng.normal(0, 1, (len(words) + 100_000, 64)).astype(np.float32)
    vectors = read(as_fasttext(words, table, 5, 5), Pruning((), 50_000, 64))
    assert len(vectors.words) == 50_000
    assert len(vectors.buckets) > 10_000
    lexicon = lexicon_of(vectors, 64)
    assert len(dump_model(lexicon.arrays(), lexicon.settings())) < 5e6


def test_messages_are_short(read):
    with pytest.raises(FormatError) as caught:
        read(b"2 2\nta 1 " + b"x" * 100_000 + b"\n")
    assert len(str(caught.value)) < 1000
    assert re.search(r":2: .*is not a number", str(caught.value))
