"""What ends sentences beside the model: punctuation or blank lines alone, lists and other short lines, titles."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanglewood as tw
from hard_borders import found_sentences
from raw_texts import treebank
from tanglewood.errors import ConfigError
from tanglewood.text.tokenizer import RULES, Tokenizer


@cache
def bundled():
    return tw.load().tokenizer


@cache
def learnt():
    return Tokenizer.learn(treebank(), None, epochs=2)


def found(text, rule="model"):
    return found_sentences(text, bundled().tokenize(text, rule))


def test_punctuation_alone_can_end_sentences():
    text = 'The tide is low (it is.) and "why?" she said. Call Prof. Smith! No end here\nbut on\n\nand on...'
    assert found(text, "punctuation") == [
        "The tide is low (it is.)",
        'and "why?"',
        "she said.",
        "Call Prof. Smith!",
        "No end here\nbut on",
        "and on...",
    ]


def test_blank_lines_alone_can_end_sentences():
    text = "It rains. It pours.\n- No\n\nYes! Really."
    assert found(text, "blank-lines") == ["It rains. It pours.\n- No", "Yes! Really."]


def test_the_words_are_the_same_whatever_ends_sentences(pipeline):
    text = "Dax zorps. Wug blicks!\nTawug zorps\n\nDax."
    words = {rule: [w for s in pipeline(text, sentences=rule) for w in s.forms] for rule in (*RULES, "lines")}
    assert len({tuple(forms) for forms in words.values()}) == 1
    assert [s.text for s in pipeline(text, sentences="lines")] == text.replace("\n\n", "\n").split("\n")
    assert len(pipeline(text, sentences="blank-lines")) == 2
    assert [s.text for s in pipeline.parse_stream(["Dax. W", "ug."], sentences="blank-lines")] == ["Dax. Wug."]


def test_an_unknown_rule_is_an_error_that_names_the_others(pipeline):
    with pytest.raises(ConfigError, match="should be one of model, punctuation, lines, blank-lines"):
        pipeline("Dax.", sentences="line")


@pytest.mark.parametrize("rule", RULES)
@given(text=st.text("ab.!?\"')- \n1A\u2022", max_size=80), size=st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_a_stream_is_what_the_whole_text_is(rule, text, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanglewood.text.tokenizer.PIECE", 20)
        wanted = [[(t.start, t.end) for t in sentence] for sentence in learnt().tokenize(text, rule)]
        streamed, begin = [], 0
        for piece, some in learnt().stream((text[i : i + size] for i in range(0, len(text), size)), rule):
            streamed += [[(t.start + begin, t.end + begin) for t in sentence] for sentence in some]
            begin += len(piece)
    assert streamed == wanted
    assert begin == len(text)


def test_the_items_of_a_list_are_sentences_and_their_marks_stay_with_them():
    for mark in ("-", "*", "\u2022", "1.", "2)", "a)"):
        assert found(f"We need\n{mark} two apples\n{mark} bread") == ["We need", f"{mark} two apples", f"{mark} bread"]


def test_a_line_that_is_full_or_goes_on_in_lowercase_ends_no_sentence():
    for text in (
        "The people who live on the far side of the river have always said that\nMary knows the way through the hills.",
        "We went to\nParis in the spring.",
        "The shop sells nails, ropes,\nlamps and paint.",
    ):
        assert found(text) == [text]


@pytest.mark.parametrize("title", ["Prof.", "Dr.", "Mrs.", "Capt."])
def test_a_title_ends_no_sentence_before_a_name(title):
    text = f"We met {title} Alder at the gate. She waved."
    for rule in ("model", "punctuation"):
        assert found(text, rule) == [text[:-11], "She waved."]


def test_a_long_dash_is_a_token_of_its_own():
    text = "He said\u2014and I agree\u2014that the plan is weak."
    (sentence,) = bundled().tokenize(text)
    words = [text[token.start : token.end] for token in sentence]
    assert " ".join(words) == "He said \u2014 and I agree \u2014 that the plan is weak ."
