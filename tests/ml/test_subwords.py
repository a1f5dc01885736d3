"""Pieces of forms: hashes against published values and against slow twins that follow the formats word by word."""

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanglewood.errors import ModelError
from tanglewood.ml.subwords import FASTTEXT, FLORET, LONGEST_FORM, Pieces, Subwords, fill_fasttext, murmur

MASK64 = 2**64 - 1
LETTERS = st.text(alphabet="ab\u00e9\u0434\u4e2d\U0001f438'", max_size=12)


def fnv(data: bytes) -> int:
    """FNV-1a, but with bytes as numbers that may be negative, as in C they are."""
    value = 2166136261
    for byte in data:
        signed = byte - 256 if byte > 127 else byte
        value = ((value ^ (signed % 2**32)) * 16777619) % 2**32
    return value


def slow_murmur(data: bytes, seed: int) -> list[int]:
    """MurmurHash3_x64_128, as its author wrote it."""

    def turn(x: int, r: int) -> int:
        return ((x << r) | (x >> (64 - r))) & MASK64

    def mix(k: int) -> int:
        k ^= k >> 33
        k = k * 0xFF51AFD7ED558CCD & MASK64
        k ^= k >> 33
        k = k * 0xC4CEB9FE1A85EC53 & MASK64
        return k ^ (k >> 33)

    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    n = len(data) // 16
    for i in range(n):
        k1, k2 = (int.from_bytes(data[16 * i + j : 16 * i + j + 8], "little") for j in (0, 8))
        h1 ^= turn(k1 * c1 & MASK64, 31) * c2 & MASK64
        h1 = ((turn(h1, 27) + h2) * 5 + 0x52DCE729) & MASK64
        h2 ^= turn(k2 * c2 & MASK64, 33) * c1 & MASK64
        h2 = ((turn(h2, 31) + h1) * 5 + 0x38495AB5) & MASK64
    tail = data[16 * n :]
    k1, k2 = int.from_bytes(tail[:8], "little"), int.from_bytes(tail[8:], "little")
    h2 ^= turn(k2 * c2 & MASK64, 33) * c1 & MASK64
    h1 ^= turn(k1 * c1 & MASK64, 31) * c2 & MASK64
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & MASK64
    h2 = (h1 + h2) & MASK64
    h1, h2 = mix(h1), mix(h2)
    h1 = (h1 + h2) & MASK64
    h2 = (h1 + h2) & MASK64
    return [h1 % 2**32, h1 >> 32, h2 % 2**32, h2 >> 32]


def slow_rows(subwords: Subwords, form: str) -> list[int]:
    whole = f"<{form}>"
    found = []
    if subwords.kind == FASTTEXT:
        for i in range(len(whole)):
            for size in range(subwords.least, subwords.most + 1):
                piece = whole[i : i + size]
                if i + size <= len(whole) and not (size == 1 and i in (0, len(whole) - 1)):
                    found.append(fnv(piece.encode()) % subwords.buckets)
        return found
    sizes = range(subwords.least, subwords.most + 1)
    cut = [whole[i : i + size] for i in range(len(whole)) for size in sizes if i + size <= len(whole)]
    for piece in [whole, *cut]:
        found += [h % subwords.buckets for h in slow_murmur(piece.encode(), subwords.seed)[: subwords.hashes]]
    return found


def hashed(data: bytes, seed: int, start: int = 0, end: int | None = None) -> list[int]:
    """What the compiled hash says, between numbers that it must leave alone."""
    found = array("I", [7] * 6)
    murmur(found, 1, data, start, len(data) if end is None else end, seed)
    assert (found[0], found[5]) == (7, 7)
    return found[1:5].tolist()


@pytest.mark.parametrize(
    ("text", "value"), [(b"a", 0xE40C292C), (b"b", 0xE70C2DE5), (b"foobar", 0xBF9CF968), (b"foob", 0x3F5076EF)]
)
def test_the_hash_of_fasttext_has_the_published_values_of_fnv(text, value):
    found = array("I", bytes(100))
    count = fill_fasttext(found, b"<" + text + b">", len(text) + 2, len(text), len(text), 2**32 - 1)
    assert count == (3 if len(text) > 1 else 1)
    assert found[len(text) > 1] == fnv(text) == value


def test_bytes_above_127_are_negative_numbers():
    """As in fastText itself, whose rows those of plain FNV-1a would miss."""
    plain = 2166136261
    for byte in "\u00e9".encode():
        plain = (plain ^ byte) * 16777619 % 2**32
    rows = Subwords(FASTTEXT, 2**31 - 1, 1, 1).rows("\u00e9")
    assert rows.tolist() == [fnv("\u00e9".encode()) % (2**31 - 1)]
    assert rows.tolist() != [plain % (2**31 - 1)]


def test_murmurhash3_has_the_published_values():
    text = b"The quick brown fox jumps over the lazy dog"
    halves = hashed(text, 0)
    assert halves[1] << 32 | halves[0] == 0xE34BBC7BBC071B6C
    assert halves[3] << 32 | halves[2] == 0x7A433CA9C49A9347
    assert hashed(b"", 0) == [0, 0, 0, 0]


def test_murmurhash3_passes_the_verification_of_its_author():
    """SMHasher: keys 0, 01, 012..., the seeds falling from 256; the hash of all hashes is 0x6384BA69."""
    keys = [bytes(range(n)) for n in range(256)]
    hashes = b"".join(b"".join(number.to_bytes(4, "little") for number in hashed(key, 256 - len(key))) for key in keys)
    assert hashed(hashes, 0)[0] == 0x6384BA69


@settings(deadline=None)
@given(st.binary(max_size=50), st.integers(0, 2**32 - 1))
def test_murmurhash3_is_that_of_its_slow_twin(data, seed):
    assert hashed(b"x" + data + b"y", seed, 1, len(data) + 1) == slow_murmur(data, seed)


@settings(deadline=None)
@given(
    LETTERS,
    st.sampled_from([FASTTEXT, FLORET]),
    st.tuples(st.integers(1, 4), st.integers(0, 3)),
    st.integers(1, 4),
    st.sampled_from([1, 7, 50_000, 2_000_000, 2**31 - 1]),
)
def test_the_rows_of_a_form_are_those_of_the_slow_twin(form, kind, sizes, hashes, buckets):
    subwords = Subwords(kind, buckets, sizes[0], sum(sizes), hashes, 2166136261)
    assert subwords.rows(form).tolist() == slow_rows(subwords, form)


def test_floret_takes_the_example_of_its_readme_apart():
    found = Subwords(FLORET, 50_000, 4, 5, 2, 2166136261).rows("apple")
    entries = ["<apple>", "<app", "<appl", "appl", "apple", "pple", "pple>", "ple>"]
    assert found.tolist() == [h % 50_000 for entry in entries for h in slow_murmur(entry.encode(), 2166136261)[:2]]


def test_what_is_no_word_has_no_pieces():
    subwords = Subwords(FASTTEXT, 100, 3, 6)
    assert subwords.rows("a" * LONGEST_FORM)
    assert not subwords.rows("a" * (LONGEST_FORM + 1))
    assert subwords.rows("\ud800ab")  # half a character


@settings(deadline=None)
@given(st.lists(LETTERS, max_size=4), st.sampled_from([FASTTEXT, FLORET]), st.sets(st.integers(0, 30), max_size=20))
def test_means_are_those_of_the_rows_that_are_there(forms, kind, kept):
    subwords = Subwords(kind, 31, 2, 4, 2, 7)
    buckets = np.array(sorted(kept), np.int32)
    numbers = np.random.default_rng(1).integers(-127, 128, (len(kept), 3)).astype(np.int8)
    scales = np.linspace(0.1, 0.2, len(kept), dtype=np.float32)
    vectors = numbers * scales[:, None]
    out = np.full((len(forms) + 2, 3), 9, np.float32)
    nodes = np.arange(1, len(forms) + 1, dtype=np.int32)
    Pieces(subwords, buckets, numbers, scales).write_means(forms, nodes, out)
    assert (out[[0, -1]] == 9).all()
    for form, found in zip(forms, out[1:], strict=False):
        rows = [vectors[sorted(kept).index(row)] for row in slow_rows(subwords, form) if row in kept]
        assert np.allclose(found, np.mean(rows, axis=0) if rows else 9, atol=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "other"},
        {"least": 5, "most": 4},
        {"buckets": 0},
        {"buckets": 2**31},
        {"hashes": 5},
        {"most": 65},
        {"seed": -1},
        {"begin": "<" * 65},
        {"begin": 1},
        {"more": 1},
    ],
)
def test_settings_that_mislead_are_refused(wrong):
    right = Subwords(FLORET, 10, 2, 4, 2, 7)
    assert Subwords.load(right.settings()) == right
    with pytest.raises(ModelError):
        Subwords.load({**right.settings(), **wrong})
