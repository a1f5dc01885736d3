"""The tokenizer: what it learns, and what holds of any text whatever it has learnt."""

import json
import time
from functools import cache
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from raw_texts import row, treebank
from tanglewood import compiled
from tanglewood.errors import ConfigError
from tanglewood.store import load_model, save_model
from tanglewood.text.raw import gold_text
from tanglewood.text.tokenizer import PIECE, Tokenizer
from tanglewood.treebank.conllu import read
from toy import sentences_of

WORDS = [
    "Dr.",
    "didn't",
    "Hill",
    "9.30",
    "a.m.",
    '"',
    "(",
    "...",
    "hours",
    "We",
    ".",
    "!",
    "x@y.z",
    "😀",
    "é",
    "ß",
    "İ",
    "-",
]
GAPS = ["", " ", "  ", "\n", "\r\n", "\n\n", "\r\n\r\n", "\t", "\u00a0", "\n \n"]
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=30).map(
        lambda parts: "".join(word + gap for word, gap in parts)
    ),
)


@cache
def learnt():
    return Tokenizer.learn(treebank(), None, epochs=4)


def spelt(text, sentences):
    return [[(text[token.start : token.end], token.words) for token in sentence] for sentence in sentences]


def streamed(tokenizer, chunks):
    pieces = list(tokenizer.stream(chunks))
    return "".join(piece for piece, _ in pieces), [sentence for piece in pieces for sentence in spelt(*piece)]


def test_it_learns_its_treebank_by_heart():
    gold = gold_text(treebank())
    assert learnt().tokenize(gold.text) == gold.sentences


def test_it_has_learnt_more_than_the_text_itself():
    text = "Mr. Bell doesn't sleep.\nWe open at 7.15 today.\n\nBlue bags found"
    assert [[word for word, _ in sentence] for sentence in spelt(text, learnt().tokenize(text))] == [
        ["Mr.", "Bell", "doesn't", "sleep", "."],
        ["We", "open", "at", "7.15", "today", "."],
        ["Blue", "bags", "found"],
    ]
    assert learnt().tokenize("Bell hadn't")[0][1].words == ("had", "n't")


@given(texts)
@settings(max_examples=150, deadline=None)
def test_every_character_but_white_space_is_in_one_token_in_order(text):
    sentences = learnt().tokenize(text)
    end = 0
    for sentence in sentences:
        assert sentence
        for token in sentence:
            assert text[end : token.start].strip() == ""
            assert token.start < token.end
            assert not any(character.isspace() for character in text[token.start : token.end])
            assert all(token.words)
            end = token.end
    assert text[end:].strip() == ""


@given(texts)
@example("\n-")  # what looks like an item of a list, and has nothing after it
@example("\n1.")
@settings(max_examples=100, deadline=None)
def test_a_blank_line_ends_a_sentence_and_nothing_goes_over_it(text):
    whole = f"We{text}\n\nHill"
    parts = [f"We{text}", "Hill"]
    tokenizer = learnt()
    assert spelt(whole, tokenizer.tokenize(whole)) == [
        sentence for part in parts for sentence in spelt(part, tokenizer.tokenize(part))
    ]


@given(texts, st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=100, deadline=None)
def test_a_stream_is_what_the_whole_text_is(text, cuts):
    tokenizer = learnt()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert streamed(tokenizer, chunks) == (text, spelt(text, tokenizer.tokenize(text)))


@given(texts, st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_a_stream_without_blank_lines_is_cut_where_nothing_changes(text, size):
    """With a piece that is small, so that a short text has many."""
    text = " ".join(text.split()) + " We open. It's late. " * 3
    tokenizer = learnt()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanglewood.text.tokenizer.PIECE", size)
        chunks = [text[start : start + 7] for start in range(0, len(text), 7)]
        assert streamed(tokenizer, chunks) == (text, spelt(text, tokenizer.tokenize(text)))


def test_the_text_of_the_treebank_is_cut_into_pieces_that_change_nothing():
    gold = gold_text(treebank())
    text = gold.text.replace("\n\n", " ") + " "
    tokenizer = learnt()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanglewood.text.tokenizer.PIECE", 100)
        pieces = list(tokenizer.stream(text))  # a character at a time
    assert len(pieces) > 3
    assert "".join(piece for piece, _ in pieces) == text
    assert [sentence for piece in pieces for sentence in spelt(*piece)] == spelt(text, tokenizer.tokenize(text))


def test_a_piece_comes_as_soon_as_its_blank_line_does():
    def chunks():
        yield "It's late.\n"
        yield "\n"
        raise AssertionError("the first piece should have come")

    piece, sentences = next(learnt().stream(chunks()))
    assert piece == "It's late.\n\n"
    assert len(sentences) == 1


@pytest.mark.parametrize("unit", ["x", "- ", " ", "x\n", ".", "We open. "])
def test_an_endless_text_needs_little_memory(unit):
    if not compiled():
        pytest.skip("slow when interpreted")
    total = 12_000_000 if unit in {"x", "."} else 1_000_000
    chunk = unit * (PIECE // len(unit))
    largest = done = 0
    for piece, _ in learnt().stream(chunk for _ in range(total // len(chunk))):
        largest = max(largest, len(piece))
        done += len(piece)
    assert done == total // len(chunk) * len(chunk)
    assert largest < total / 2


@pytest.mark.parametrize("unit", ["x", ".", "a.", "1", "\U0001f600", "x@"])
def test_a_long_line_without_a_space_takes_time_in_proportion(unit):
    size = 100_000 if compiled() else 4_000
    times = []
    for n in (size, 4 * size):
        text = (unit * n)[:n]
        start = time.process_time()
        sentences = learnt().tokenize(text)
        times.append(time.process_time() - start)
        assert sum(token.end - token.start for sentence in sentences for token in sentence) == n
    assert times[1] < 16 * times[0] + 0.5


@pytest.mark.parametrize("text", ["", " ", "\n\n \r\n", "\u3000"])
def test_a_text_without_words_has_no_sentences(text):
    assert learnt().tokenize(text) == []
    assert not any(sentences for _, sentences in learnt().stream([text]))


def test_the_same_seed_gives_the_same_bytes():
    one, other = (Tokenizer.learn(treebank(), treebank(), seed=3, epochs=2) for _ in range(2))
    assert one.settings() == other.settings()
    assert {name: bytes(value) for name, value in one.arrays().items()} == {
        name: bytes(value) for name, value in other.arrays().items()
    }


def test_a_saved_tokenizer_does_the_same(tmp_path):
    text = gold_text(treebank()).text
    save_model(tmp_path / "model", learnt().arrays(), learnt().settings())
    again = Tokenizer.load(*load_model(tmp_path / "model"))
    assert again.tokenize(text) == learnt().tokenize(text)
    assert json.loads(json.dumps(again.settings())) == again.settings()


@cache
def learnt_numbers():
    rows = []
    for number in ("10 000", "25 000", "3 500", "1 200"):
        for forms in (("about", number, "men"), ("in", "1999", "12")):
            rows += [*(row(str(i), form, "_") for i, form in enumerate(forms, 1)), ""]
    sentences = list(read(BytesIO("\n".join([*rows, ""]).encode()), trees=False))
    return Tokenizer.learn(sentences, None), gold_text(sentences)


def test_tokens_with_spaces_between_digits_are_learnt():
    tokenizer, gold = learnt_numbers()
    assert tokenizer.tokenize(gold.text) == gold.sentences


@given(st.text("12 0a\n", max_size=80), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_tokens_with_spaces_are_streamed_too(text, size):
    tokenizer, gold = learnt_numbers()
    text = gold.text + text + " 12 000 1999 12 in 1999" * 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanglewood.text.tokenizer.PIECE", size)
        assert streamed(tokenizer, text) == (text, spelt(text, tokenizer.tokenize(text)))


@pytest.mark.parametrize("shift", range(3))
def test_a_token_never_ends_with_a_space(shift):
    tokenizer, _ = learnt_numbers()
    text = "x" * shift + "1 00 " * 2000
    for sentence in tokenizer.tokenize(text):
        assert all(text[token.start : token.end].strip() == text[token.start : token.end] != "" for token in sentence)


def test_nothing_can_be_learnt_from_nothing():
    with pytest.raises(ConfigError, match="no text"):
        Tokenizer.learn([], None)


def test_the_report_tells_the_mistakes_of_every_epoch():
    lines = []
    Tokenizer.learn(treebank(), treebank(), epochs=2, report=lines.append)
    assert [line.split(": ")[1] for line in lines[:4]] == [
        "cuts epoch  1",
        "cuts epoch  2",
        "stops epoch  1",
        "stops epoch  2",
    ]
    assert "F1" in lines[-1]


def test_only_spaces_may_stand_inside_a_token():
    rows = ["1\t10 000\t_\tNUM\t_\t_\t2\tnummod\t_\t_", "2\tdax\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No"]
    block = "\n".join([*rows, "3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_", "", ""])
    tokenizer = Tokenizer.learn(sentences_of(block * 30), None)
    for gap, tokens in ((" ", 3), ("\u00a0", 3), ("\t", 4), ("\r", 4), ("\x0b", 4), ("\u2028", 4)):
        assert sum(map(len, tokenizer.tokenize(f"10{gap}000 dax."))) == tokens, repr(gap)
