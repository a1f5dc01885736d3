"""Sentences that are parsed together: texts cut up, words and tags written down."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanglewood.text.batches import with_tags
from tanglewood.text.tagger import Tags
from toy import toy_sentences
from toy_pipeline import toy_pipeline


@pytest.fixture(scope="module")
def pipeline():
    return toy_pipeline()


def test_tags_are_filled_in_only_where_a_sentence_has_none():
    (sentence,) = toy_sentences(1)
    bare = sentence.with_columns(["_"] * len(sentence), sentence.upos, ["_"] * len(sentence), sentence.feats)
    tags = [Tags("l", "U", "X", "f")] * len(sentence)
    filled = with_tags(bare, tags)
    assert (filled.lemmas, filled.xpos) == (["l"] * len(sentence), ["X"] * len(sentence))
    assert (filled.upos, filled.feats, filled.tree) == (sentence.upos, sentence.feats, sentence.tree)
    assert with_tags(sentence, tags).to_bytes() == sentence.to_bytes()
    assert with_tags(sentence, tags, replaced=True).upos == ["U"] * len(sentence)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"ab. ", "Tawug zorps", "\n", "\n\n", " \n", "\u2028"])))
def test_with_lines_each_line_is_a_sentence(pipeline, parts):
    text = "".join(parts)
    pieces = list(pipeline.pieces(parts, sentences="lines"))
    found = [[range(t.start + p.begin, t.end + p.begin) for t in s] for p in pieces for s in p.sentences]
    begin = 0
    for line in text.split("\n"):
        if line.strip():
            tokens = found.pop(0)
            spans = [(start, start + len(word)) for start, word in _words_and_places(line, begin)]
            covered = {place for token in tokens for place in token}
            assert covered == {place for start, end in spans for place in range(start, end)}
        begin += len(line) + 1
    assert found == []


def test_half_characters_and_odd_names_do_no_harm(pipeline):
    (sentence,) = pipeline("Dax \ud800 zorps")
    assert sentence.forms[1] == "?"
    (piece,) = pipeline.pieces(["Dax."], document="odd\nname\udcff")
    assert piece.document == "odd name?"


def _words_and_places(line, begin):
    place = begin
    for word in re.split(r"(\s+)", line):
        if word.strip():
            yield place, word
        place += len(word)
