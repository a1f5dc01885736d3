"""The best sequences of tags of a sentence, and which of them tagger and parser together find likeliest."""

from itertools import product
from operator import getitem

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanglewood as tw
from exhaustive import COMPILED
from tanglewood.errors import ConfigError, ModelError
from tanglewood.pipeline import Pipeline
from tanglewood.text.batches import Words
from tanglewood.text.tag_sequences import Change, cheapest
from tanglewood.text.tagger import MOST_BEHIND, Tags
from toy import toy_sentences, train_parser
from toy_pipeline import blocks, toy_pipeline, written

SENTENCES = [["Dax", "zorps", "mib", "."], ["Krell"], ["Wug", "fimps", "ta", "blick", "unknownly"]]


@given(st.lists(st.lists(st.integers(0, 20), max_size=3), max_size=4), st.integers(1, 12))
@settings(deadline=None)
def test_they_are_the_cheapest_of_all(costs, n):
    changes = [Change(cost, word, number) for word, some in enumerate(costs) for number, cost in enumerate(some)]
    found = cheapest(changes, n)
    assert found[0] == (0, [])
    everything = sorted(sum(choice) for choice in product(*([0, *some] for some in costs)))
    assert [cost for cost, _ in found] == everything[:n]
    for cost, made in found:
        assert cost == sum(change.cost for change in made)
        assert len({change.word for change in made}) == len(made)
    assert len({tuple(sorted(made)) for _, made in found}) == len(found)


def test_a_tagger_gives_all_sequences_in_order_of_their_probability():
    tagger = toy_pipeline().tagger
    worker = tagger.worker()
    scores, begins = worker._scores(SENTENCES)
    upos = tagger.classes["upos"]
    names = [tagger.classes[column] for column in ("upos", "xpos", "feats")]
    seen = {tuple(map(getitem, names, row)) for row in tagger.combinations.tolist()}
    for forms, begin, first, found in zip(
        SENTENCES, begins, worker.tag(SENTENCES), worker.best_sequences(SENTENCES, 30), strict=False
    ):
        assert found[0] == (0, first)
        rows = scores[begin + 1 : begin + 1 + len(forms), : len(upos)]
        gaps = [
            [gap for gap in np.maximum(row[upos.index(tags.upos)] - row, 0).tolist() if gap <= MOST_BEHIND]
            for row, tags in zip(rows, first, strict=True)
        ]
        everything = sorted(map(sum, product(*gaps)))
        assert [cost for cost, _ in found] == pytest.approx(everything[:30], abs=1e-4)
        for cost, tags in found:
            behind = [
                max(row[upos.index(own.upos)] - row[upos.index(one.upos)], 0)
                for row, own, one in zip(rows, first, tags, strict=True)
            ]
            assert cost == pytest.approx(sum(behind), abs=1e-4)
            assert all(one[1:4] in seen for one in tags)
        assert len({tuple(one.upos for one in tags) for _, tags in found}) == len(found)


def test_the_tags_are_those_that_tagger_and_parser_find_likeliest(monkeypatch):
    nlp = toy_pipeline()
    monkeypatch.setattr("tanglewood.text.tagger.MOST_BEHIND", 60)  # the toy tagger is very sure
    forms = [sentence.forms for sentence in written(20, 5)]
    every = nlp.tagger.worker().best_sequences(forms, 6)
    for choices in every:  # as if it were not
        choices[:] = [(cost / 50, tags) for cost, tags in choices]
    monkeypatch.setattr("tanglewood.text.tagger.TagWorker.best_sequences", lambda _worker, some, n: every[: len(some)])
    found = nlp.worker(tw.ParseOptions(tags_nbest=6)).tags_of(forms)
    judge = nlp.parser.worker(tw.ParseOptions(search="beam"))
    for words, choices, tags in zip(forms, every, found, strict=True):
        sums = [judge.nbest(sentence_of(words, some))[0][1] - cost for cost, some in choices]
        assert tags == choices[int(np.argmax(sums))][1]
    assert any(tags != choices[0][1] for tags, choices in zip(found, every, strict=True))


class Given:
    """Gives sentences the tags that are at hand."""

    def __init__(self, tags):
        self.tags = tags

    def tags_of(self, _forms):
        return [self.tags]


def sentence_of(words, tags):
    (sentence,) = Words([words]).tagged(Given(tags))
    return sentence


def test_the_tree_is_that_of_the_tags_that_were_chosen(monkeypatch):
    nlp = toy_pipeline()
    other = [Tags("dax", "VERB", "V", "_"), Tags("zorps", "NOUN", "N", "_")]
    monkeypatch.setattr("tanglewood.worker.Worker._likeliest", lambda *_: other)
    (parsed,) = nlp.parse_words([["Dax", "zorps"]], tags_nbest=2)
    assert parsed.upos == ["VERB", "NOUN"]
    assert parsed.tree == nlp.parser.parse(sentence_of(["Dax", "zorps"], other), beam=nlp.resolved().beam)


def test_it_is_off_unless_asked_for_and_the_same_in_processes(monkeypatch):
    nlp = toy_pipeline()
    forms = [sentence.forms for sentence in written(4, 7)]
    chosen = blocks(nlp.parse_words(forms, tags_nbest=3))
    assert chosen == blocks(nlp.parse_words(forms, tags_nbest=3, processes=2 if COMPILED else 1))
    monkeypatch.delattr("tanglewood.text.tagger.TagWorker.best_sequences")
    list(nlp.parse_words(forms))


def test_what_cannot_choose_says_so():
    nlp = toy_pipeline()
    with pytest.raises(ConfigError, match=r"tags_nbest should be from 1 to 100, not 0"):
        nlp.resolved(tags_nbest=0)
    sentences = toy_sentences(12)
    arcs = train_parser(sentences, learner="network", search="mst")
    with pytest.raises(ConfigError, match=r"tags_nbest needs a model that says how probable moves are"):
        Pipeline(arcs, nlp.tagger, nlp.tokenizer).resolved(tags_nbest=2)
    with pytest.raises(ModelError, match=r"words without tags"):
        Pipeline(nlp.parser).resolved(tags_nbest=2)
    joint = train_parser(sentences, system="joint-swap", learner="network")
    with pytest.raises(ConfigError, match=r"joint-swap chooses tags by its moves"):
        Pipeline(joint, nlp.tagger, nlp.tokenizer).resolved(tags_nbest=2)
