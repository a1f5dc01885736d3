"""Rules for lemmas: every pair of form and lemma has one, and it fits other words of the same kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanglewood.text.lemmas import _longest_common, apply_rule, lemma_rule

WORDS = st.text(st.sampled_from("abAB/!|ßİé"), min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_the_rule_of_a_form_and_a_lemma_makes_the_lemma_of_the_form(form, lemma):
    assert apply_rule(lemma_rule(form, lemma), form) == lemma


@given(st.text("ab", max_size=7), st.text("ab", max_size=7))
def test_the_longest_common_text_is_found(first, second):
    begin, length, place = _longest_common(first, second)
    assert first[begin : begin + length] == second[place : place + length]
    common = [first[i:j] for i in range(len(first) + 1) for j in range(i, len(first) + 1) if first[i:j] in second]
    assert length == max(map(len, common))


@pytest.mark.parametrize(
    ("form", "lemma", "other", "expected"),
    [
        ("walked", "walk", "jumped", "jump"),
        ("Walks", "walk", "JUMPS", "jump"),
        ("London", "London", "Paris", "Paris"),
        ("gegangen", "gehen", "gegangen", "gehen"),
        ("NATO", "NATO", "UNO", "UNO"),
        ("haus", "Haus", "bild", "Bild"),
    ],
)
def test_a_rule_learnt_from_one_word_serves_another(form, lemma, other, expected):
    assert apply_rule(lemma_rule(form, lemma), other) == expected


def test_a_rule_that_cuts_more_than_there_is_leaves_the_form():
    assert apply_rule(lemma_rule("walking", "walk"), "in") == "in"
