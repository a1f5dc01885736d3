"""What several taggers together find probable, and who learns from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tanglewood.text import opinions as module
from tanglewood.text import tagger
from tanglewood.text.lemmas import lemma_rule
from tanglewood.text.opinions import opinions
from tanglewood.text.tagger import COLUMNS, TaggerLearner, TaggerOptions, tag_scores, train_tagger
from toy import log_softmax, toy_sentences

QUICK = TaggerOptions(epochs=6, layers=1, batch_words=30, rate=0.02, drop_input=0.1, drop_context=0.1)


@pytest.fixture(scope="module")
def teachers():
    """Three taggers that have seen other sentences, some of them few, so that they know other classes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagger, "SIZES", (16, 8))
        treebanks = [toy_sentences(n, seed=seed) for n, seed in ((60, 3), (60, 4), (6, 5))]
        yield [list(train_tagger(treebank, (), QUICK, 1))[-1].tagger for treebank in treebanks]


def chances_by_name(one, forms):
    """What one tagger says about the words of a sentence: column, then word, then name of the class."""
    scores, _ = one.worker()._scores([forms])
    found, begin = {}, 0
    for column, names in one.classes.items():
        rows = np.exp(log_softmax(scores[1:, begin : begin + len(names)]))
        found[column] = [dict(zip(names, row, strict=True)) for row in rows]
        begin += len(names)
    return found


def test_they_are_means_of_what_taggers_say_by_the_names_of_classes(teachers):
    learner = TaggerLearner(toy_sentences(30, seed=9), QUICK, 1)
    classes = {column: names[:-1] if len(names) > 2 else names for column, names in learner.classes.items()}
    assert len({tuple(one.classes["feats"]) for one in teachers}) > 1
    sentences = [s.forms for s in toy_sentences(20, seed=7)]
    unsure = 0
    for forms, found in zip(sentences, opinions(teachers, classes, sentences), strict=True):
        said = [chances_by_name(one, forms) for one in teachers]
        wanted = []
        for column, names in classes.items():
            rows = [[sum(s[column][word].get(name, 0) for s in said) for name in names] for word in range(len(forms))]
            shares = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
            unsure += (shares.max(1) < 0.9).sum()
            shares[shares < module.LEAST] = 0
            wanted.append(shares / shares.sum(1, keepdims=True))
        table = found.table(len(forms), sum(map(len, classes.values())))
        np.testing.assert_allclose(table, np.concatenate(wanted, axis=1), atol=1e-5)
        assert found.chances.min() >= module.LEAST
    assert unsure > 10


def test_chunks_change_nothing(teachers, monkeypatch):
    sentences = [s.forms for s in toy_sentences(20, seed=7)]
    whole = opinions(teachers, teachers[0].classes, sentences)
    in_chunks = module.in_chunks
    monkeypatch.setattr(module, "in_chunks", lambda sentences: in_chunks(sentences, most=7))
    for one, other in zip(whole, opinions(teachers, teachers[0].classes, sentences), strict=True):
        size = (1 + one.words.max(), sum(map(len, teachers[0].classes.values())))
        np.testing.assert_allclose(one.table(*size), other.table(*size), atol=1e-5)


def test_the_treebank_and_its_teachers_count_alike(teachers):
    sentences, more = toy_sentences(30, seed=3), [s.forms for s in toy_sentences(2, seed=6)]
    first = sentences[0]
    odd = first.with_columns(["xyz", *first.lemmas[1:]], first.upos, first.xpos, first.feats)  # by a rule of its own
    learner = TaggerLearner([odd, *sentences[1:]], QUICK, 1, None, teachers, more)
    said = opinions(teachers, learner.classes, [*(s.forms for s in sentences), *more])
    names = [(column, name) for column in COLUMNS for name in learner.classes[column]]
    for place, sentence in enumerate([odd, *sentences[1:]]):
        found = learner._wanted(place)
        assert not found[0].any()
        table = said[place].table(len(sentence), len(names))
        rules = map(lemma_rule, sentence.forms, sentence.lemmas)
        for word, gold in enumerate(zip(sentence.upos, sentence.xpos, sentence.feats, rules, strict=True)):
            for number, (column, name) in enumerate(names):
                right = gold[COLUMNS.index(column)]
                known = right in learner.classes[column]
                assert known or (place, word, column) == (0, 0, "rule")
                wanted = (table[word, number] + (name == right)) / 2 if known else table[word, number]
                assert found[word + 1, number] == pytest.approx(wanted, abs=1e-6)
    for place, forms in enumerate(more, len(sentences)):
        table = said[place].table(len(forms), len(names))
        np.testing.assert_array_equal(learner._wanted(place), [np.zeros(len(names)), *table])


def test_where_teachers_say_nothing_the_treebank_counts_alone(teachers, monkeypatch):
    sentences, more = toy_sentences(5, seed=3), [s.forms for s in toy_sentences(2, seed=6)]
    alone = TaggerLearner(sentences, QUICK, 1)
    monkeypatch.setattr(module, "LEAST", 2)  # more than any probability
    taught = TaggerLearner(sentences, QUICK, 1, None, teachers, more)
    for place in range(len(sentences)):
        np.testing.assert_array_equal(taught._wanted(place), alone._wanted(place))
    assert not taught._wanted(len(sentences)).any()


def test_who_reads_sentences_that_only_teachers_know_learns_more(teachers):
    few, more = toy_sentences(60, seed=3)[:6], [s.forms for s in toy_sentences(60, seed=6)]
    test = toy_sentences(20, seed=8)
    upos = []
    for unlabelled in ((), more):
        *_, last = train_tagger(few, (), QUICK, 1, None, teachers[:2], unlabelled)
        upos.append(tag_scores(test, last.tagger.worker().tag([s.forms for s in test])).upos)
    assert upos[0] + 10 < upos[1]


def test_at_the_end_only_the_treebank_is_read(teachers, monkeypatch):
    few, more = toy_sentences(4, seed=3), [s.forms for s in toy_sentences(3, seed=6)]
    learner = TaggerLearner(few, replace(QUICK, epochs=20), 1, None, teachers, more)
    read = []
    monkeypatch.setattr(learner, "_learn", lambda places: read[-1].extend(places) or 1.0)
    for _ in range(20):
        read.append([])
        learner.epoch()
        learner._epochs = len(read)
    assert [sorted(places) for places in read] == [list(range(7))] * 17 + [list(range(4))] * 3


def test_chances_of_a_column_add_up_to_one(teachers):
    sizes = [len(teachers[0].classes[column]) for column in COLUMNS]
    sentences = [s.forms for s in toy_sentences(3, seed=7)]
    found = teachers[0].worker().chances(sentences)
    assert found.shape == (sum(map(len, sentences)), sum(sizes))
    for part in np.split(found, np.cumsum(sizes)[:-1], axis=1):
        np.testing.assert_allclose(part.sum(1), 1, atol=1e-5)
