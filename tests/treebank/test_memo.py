"""Caches are bounded in bytes: no text, however long, makes them grow beyond that."""

import sys
from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from tanglewood.measure import conll2018
from tanglewood.ml import word_features, word_table, words
from tanglewood.ml.words import words_of
from tanglewood.treebank import conllu, sentence
from tanglewood.treebank.memo import ENTRY, LARGEST, LETTER, Memo, letters_in


@given(st.lists(st.text(max_size=30), max_size=60))
def test_what_is_looked_up_is_what_the_function_makes_however_little_is_kept(keys):
    memo = Memo(str.upper, LARGEST * (ENTRY + 20 * LETTER))
    for key in keys:
        assert memo[key] == key.upper()
        assert memo.held == sum(ENTRY + LETTER * len(kept) for kept in memo) <= LARGEST * (ENTRY + 20 * LETTER)


def test_what_is_kept_is_not_made_again():
    made = []
    memo = Memo(lambda key: made.append(key) or key, 1 << 20)
    assert [memo["a"], memo["b"], memo["a"]] == ["a", "b", "a"]
    assert made == ["a", "b"]


def test_a_long_text_is_not_kept_and_drives_nothing_out():
    memo = Memo(str.upper, 1 << 20)
    assert memo["a"] == "A"
    assert memo["b" * 10_000] == "B" * 10_000
    assert list(memo) == ["a"]


def test_what_values_take_counts():
    memo = Memo(str.split, LARGEST * 2000, lambda found: 1000 * len(found))
    assert memo["a"] == ["a"]
    assert memo.held == ENTRY + LETTER + 1000
    assert memo["a a"] == ["a", "a"]
    assert list(memo) == ["a"]


def test_letters_of_texts_and_of_words():
    assert (letters_in("äb"), letters_in(b"abc"), letters_in(("a", "bc"))) == (2, 3, 3)


def test_long_words_do_not_stay(monkeypatch):
    numbers = word_table.WordNumbers()
    memos = [words._WORDS, word_features._PIECES, sentence._TEXTS, numbers.known]
    memos += [conll2018.universal_features.__self__, conll2018.universal_label.__self__]
    for memo in memos:  # they outlive this test
        memo.clear()
        monkeypatch.setattr(memo, "held", 0)
        monkeypatch.setattr(memo, "_most", 50 << 20)
    for number in range(12):
        long = f"{number}x" * 100_000
        text = f"1\t{long}\t{long}\tX\tX\tF={long}\t0\t{long}\t_\t_\n\n".encode()
        (one,) = conllu.read(BytesIO(text))
        assert words_of(one) == [(long, long, "X", "X", f"F={long}")]
        assert one.deprels == [long]
        numbers.table([words_of(one)])
        word_features.FEATURES["pieces"].values(words_of(one)[0])
        assert conll2018.universal_features(f"Case={long}") == f"Case={long}"
        assert conll2018.universal_label(f"{long}:x") == long
        for memo in memos:
            assert LETTER * sum(map(letters_in, memo)) <= memo.held <= 50 << 20
    for memo in memos:
        memo.clear()


def test_the_estimate_is_about_what_words_take():
    memo = Memo(words._word, 1 << 30)
    for number in range(2000):
        memo[f"form{number}\tlemma{number}\tNOUN\tNN{number}\tCase=Nom|Number=Sing|Id={number}".encode()]
    real = sys.getsizeof(dict(memo)) + sum(
        sys.getsizeof(key) + sys.getsizeof(word) + sum(map(sys.getsizeof, word)) for key, word in memo.items()
    )
    assert 0.5 * real < memo.held < 2 * real
