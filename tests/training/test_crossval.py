"""Cross-validation: every sentence is scored once, by a parser that has not seen it."""

from __future__ import annotations

import pytest

from tanglewood.errors import ConfigError
from tanglewood.measure.scores import evaluate
from tanglewood.training import crossval
from tanglewood.training.config import Config
from tanglewood.training.crossval import CrossValidation
from toy import toy_sentences


def test_every_sentence_is_scored_once_by_a_parser_that_has_not_seen_it(monkeypatch):
    sentences = toy_sentences(11)
    seen = []

    class Fake:
        def __init__(self, _, train, *, knowledge, silver):
            assert knowledge is None
            assert not silver
            self.train = [s.sent_id for s in train]

        def run(self):
            return iter([])

        def best_parser(self):
            return self

        def parse_all(self, words, *, beam):
            words = list(words)
            seen.append((self.train, [s.sent_id for s in words], beam))
            return words

    monkeypatch.setattr(crossval, "begun", Fake)
    validation = CrossValidation(Config(beam=3), sentences, 4)
    scores = list(validation.run())
    assert len(scores) == 4
    assert sorted(name for _, held, _ in seen for name in held) == sorted(s.sent_id for s in sentences)
    for train, held, beam in seen:
        assert sorted(train + held) == sorted(s.sent_id for s in sentences)
        assert beam == 3
    assert validation.total.words == sum(one.words for one in scores) == sum(map(len, sentences))
    assert validation.total.las == 100


def test_folds_are_trained_and_parsed():
    sentences = toy_sentences(12)
    validation = CrossValidation(Config(learner="linear", settings={"epochs": 1}), sentences, 2)
    scores = list(validation.run())
    assert 0 < validation.total.las < 100
    assert evaluate(sentences, sentences).words == validation.total.words == scores[0].words + scores[1].words


def test_folds_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="folds"):
        next(CrossValidation(Config(), toy_sentences(3), 4).run())
