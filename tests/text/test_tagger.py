"""The tagger: its gradients, its choice of tags, what it learns, and that it comes back from a file as it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_network import Recorder, numerical_gradient

from tanglewood.errors import ConfigError, ModelError
from tanglewood.ml.losses import cross_entropy, one_hot
from tanglewood.ml.word_features import FEATURES
from tanglewood.ml.words import untagged
from tanglewood.text import tagger as module
from tanglewood.text.tagger import (
    COLUMNS,
    EMBEDDED,
    TaggerLearner,
    TaggerOptions,
    Tags,
    TagWorker,
    tag_scores,
    train_tagger,
)
from tanglewood.treebank.sentence import Sentence
from toy import log_softmax, toy_sentences

QUICK = TaggerOptions(epochs=6, layers=1, batch_words=30, rate=0.02, drop_input=0.1, drop_context=0.1)
TINY = {"lower": 3, "form": 2, "short_shape": 2, "last": 2, "pieces": 3, "affixes": 2}


@pytest.fixture(scope="module")
def small():
    """Smaller vectors than those of the product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SIZES", (16, 8))
        yield


@pytest.fixture(scope="module")
def learnt(small):
    *_, last = train_tagger(toy_sentences(60, seed=3), toy_sentences(20, seed=4), QUICK, 1)
    return last


def test_it_learns_a_toy_language_and_says_how_well(learnt):
    assert learnt.scores is not None
    assert learnt.scores.upos == 100
    assert learnt.scores.tags == 100
    assert learnt.scores.lemma > 95


def test_scores_are_shares_of_words():
    gold = toy_sentences(1, seed=1)
    right = [Tags(*tags) for tags in zip(gold[0].lemmas, gold[0].upos, gold[0].xpos, gold[0].feats, strict=True)]
    assert tag_scores(gold, [right]) == module.TagScores(100, 100, 100, 100, 100)
    n = len(right)
    wrong = [right[0]._replace(lemma="?", xpos="?"), right[1]._replace(feats="?"), *right[2:]]
    found = tag_scores(gold, [wrong])
    shares = [100, 100 * (n - 1) / n, 100 * (n - 1) / n, 100 * (n - 2) / n, 100 * (n - 1) / n]
    assert [found.upos, found.xpos, found.feats, found.tags, found.lemma] == pytest.approx(shares)


def test_the_gradient_of_the_cross_entropy_is_that_of_finite_differences():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 4))
    asked = one_hot(np.array([2, -1, 0, 3, -1]), 4)
    asked[3] = [0.25, 0, 0, 0.75]  # what teachers do not agree about
    wanted = numerical_gradient(lambda: cross_entropy(scores.copy(), asked), scores)
    loss = cross_entropy(found := scores.copy(), asked)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert not found[[1, 4]].any()
    rows = log_softmax(scores)
    assert loss == pytest.approx(-rows[0, 2] - rows[2, 0] - 0.25 * rows[3, 0] - 0.75 * rows[3, 3])


@pytest.mark.parametrize("taught", [False, True])
def test_every_gradient_is_that_of_the_loss(learnt, monkeypatch, taught):
    monkeypatch.setattr(module, "EMBEDDED", TINY)
    monkeypatch.setattr(module, "SIZES", (4, 2))
    options = TaggerOptions(epochs=1, batch_words=1000, drop_input=0.0, drop_context=0.0, drop_form=0.0)
    learner = TaggerLearner(toy_sentences(2, seed=3), options, seed=2, teachers=[learnt.tagger] if taught else [])
    places = [0, 1]
    noise = np.random.default_rng(2)
    for name in learner._parameters:
        learner._parameters[name] += noise.normal(0, 0.3, learner._parameters[name].shape).astype(np.float32)
    learner._adam = Recorder(learner._parameters)
    learner._learn(places)
    found = {name: gradient.copy() for name, gradient in learner._adam.gradients.items()}
    n_words = sum(len(learner._words[place]) for place in places)
    for name in (module.OUTPUT, module.BIAS, "word.bias", "lstm1.backward.recurrent", "embed.short_shape"):
        wanted = numerical_gradient(lambda: learner._learn(places) / n_words, learner._parameters[name], 1e-2)
        np.testing.assert_allclose(found[name], wanted, atol=1e-3, err_msg=name)
        assert np.abs(wanted).max() > 5e-3, name


def test_tags_are_the_likeliest_that_were_seen_together(learnt):
    worker = TagWorker(learnt.tagger)
    sizes = [len(learnt.tagger.classes[column]) for column in COLUMNS]
    together = {tuple(row) for row in learnt.tagger.combinations.tolist()}
    scores = np.random.default_rng(5).normal(size=(200, sum(sizes))).astype(np.float32)
    chosen = worker._choose(scores)
    parts = np.split(scores, np.cumsum(sizes)[:-1], axis=1)
    for row, (upos, xpos, feats, rule) in enumerate(chosen.tolist()):
        logs = [log_softmax(part[row : row + 1])[0] for part in parts]
        allowed = [tags for tags in product(*map(range, sizes[:3])) if tags in together]
        best = max(allowed, key=lambda tags: sum(log[tag] for log, tag in zip(logs, tags, strict=False)))
        assert (upos, xpos, feats) == best
        assert rule == logs[3].argmax()


def test_a_tagger_comes_back_as_it_was(learnt):
    tagger = learnt.tagger
    arrays = {name: memoryview(values) for name, values in tagger.arrays().items()}
    again = module.Tagger.load(arrays, tagger.settings())
    forms = [sentence.forms for sentence in toy_sentences(10, seed=8)]
    assert again.worker().tag(forms) == tagger.worker().tag(forms)
    assert again.settings() == tagger.settings()


@pytest.mark.parametrize("damage", ["vocabulary", "shape", "combination"])
def test_a_damaged_tagger_is_refused(learnt, damage):
    arrays, settings = dict(learnt.tagger.arrays()), learnt.tagger.settings()
    if damage == "vocabulary":
        settings["vocabulary"]["form"][:2] = ["a", "b"]
    elif damage == "shape":
        arrays[module.BIAS] = arrays[module.BIAS][1:]
    else:
        arrays["combinations"] = arrays["combinations"] + 1000
    with pytest.raises(ModelError, match="tagger's"):
        module.Tagger.load(arrays, settings)


def test_the_same_seed_learns_the_same_and_another_does_not(small):
    def learn(seed):
        *_, last = train_tagger(toy_sentences(10, seed=3), (), TaggerOptions(epochs=2, layers=1), seed)
        return {name: values.tobytes() for name, values in last.tagger.arrays().items()}

    assert learn(1) == learn(1) != learn(2)


def test_a_known_form_gets_its_lemma_and_a_new_one_a_rule(learnt):
    seen = dict.fromkeys(["wug\tNOUN"], "odd")
    tagger = module.Tagger(
        learnt.tagger.vocabulary, learnt.tagger.classes, learnt.tagger.combinations, seen, learnt.tagger.parameters
    )
    ((tags,),) = tagger.worker().tag([["wug"]])
    assert tags.lemma == ("odd" if tags.upos == "NOUN" else "wug")
    worker = TagWorker(learnt.tagger)
    assert worker._lemma("Zibs", "NOUN", "l/0//1/") == "zib"


def test_endless_forms_are_looked_at_in_part_only():
    seen = {name: FEATURES[name].values(untagged("x" * 100_000 + "|")) for name in ("short_shape", "last", "pieces")}
    assert all(sum(map(len, values)) < 500 for values in seen.values())
    assert FEATURES["pieces"].values(untagged("|"))
    assert [FEATURES[name].values(untagged("A")) for name in EMBEDDED][:5] == [["a"], ["A"], ["X"], ["a"], ["<a>"]]


def test_nothing_to_tag_and_nothing_to_learn_from(learnt):
    assert learnt.tagger.worker().tag([]) == []
    with pytest.raises(ConfigError, match="no sentence"):
        TaggerLearner([], QUICK, 1)


def test_small_treebanks_are_gone_through_more_often():
    sizes = (0, 15_000, 20_000, 50_000, 150_000, 1_000_000)
    assert [TaggerOptions().resolved(words).epochs for words in sizes] == [40, 40, 30, 20, 13, 10]
    assert [TaggerOptions(most_epochs=12).resolved(words).epochs for words in sizes] == [12] * 5 + [10]
    assert TaggerOptions(epochs=50, most_epochs=12).resolved(20_000).epochs == 50


# Silver sentences, which another tagger has tagged. -----------------------------------------------------------------


def with_adverbs_renamed(sentences, **columns):
    """The same sentences with an adverb that no treebank has; columns are replaced."""
    renamed = []
    for sentence in sentences:
        names = ("form", "lemma", "upos", "xpos", "feats")
        words = [dict(zip(names, row[1:6], strict=True)) | columns for row in sentence.words]
        rows = [
            [str(place), word["form"].replace("vonly", "lorn"), *(word[name] for name in names[1:]), *row[6:]]
            for place, (word, row) in enumerate(zip(words, sentence.words, strict=True), 1)
        ]
        renamed.append(Sentence.build(rows))
    return renamed


def test_it_learns_a_word_from_silver_sentences_and_their_classes_from_the_treebank_alone(small):
    gold = toy_sentences(80, seed=3)
    silver = with_adverbs_renamed(toy_sentences(60, seed=4))
    odd = with_adverbs_renamed(toy_sentences(1, seed=5), upos="ODD", lemma="odd")
    test = [s.forms for s in with_adverbs_renamed(toy_sentences(40, seed=6)) if "lorn" in s.forms]
    options = replace(QUICK, epochs=8)
    right = []
    for more in ((), [*silver, *odd]):
        *_, last = train_tagger(gold, (), options, 1, silver=more)
        tagged = last.tagger.worker().tag(test)
        adverbs = [
            t.upos
            for forms, tags in zip(test, tagged, strict=True)
            for f, t in zip(forms, tags, strict=True)
            if f == "lorn"
        ]
        right.append(adverbs.count("ADV") / len(adverbs))
    assert right[1] == 1 > right[0]
    alone = TaggerLearner(gold, options, 1)
    learner = TaggerLearner(gold, options, 1, silver=[*silver, *odd])
    assert learner.classes == alone.classes
    assert learner.lemmas == alone.lemmas
    np.testing.assert_array_equal(learner.combinations, alone.combinations)
    assert "lorn" in learner.vocabulary.numbers["lower"]
    assert not learner._wanted(len(learner._words) - 1)[:, learner._sections[0]].any()  # nobody knows ODD


def test_silver_columns_that_are_empty_throughout_say_nothing(small):
    gold = toy_sentences(20, seed=3)
    assert "_" in {feats for sentence in gold for feats in sentence.feats}
    silver = with_adverbs_renamed(toy_sentences(5, seed=4), feats="_")
    learner = TaggerLearner(gold, QUICK, 1, silver=silver)
    upos, _, feats, _ = learner._sections
    wanted = learner._wanted(len(gold))
    assert wanted[1:, upos].sum() == len(silver[0])
    assert not wanted[:, feats].any()


def test_at_the_end_silver_sentences_are_left_out_and_teachers_are_not_asked_about_them(learnt, monkeypatch):
    gold, more = toy_sentences(4, seed=3), [s.forms for s in toy_sentences(2, seed=5)]
    silver = with_adverbs_renamed(toy_sentences(3, seed=4))
    learner = TaggerLearner(gold, replace(QUICK, epochs=20), 1, None, [learnt.tagger], more, silver)
    alone = TaggerLearner(gold, QUICK, 1, silver=silver)
    taught = TaggerLearner(gold, QUICK, 1, None, [learnt.tagger], more)
    for place in range(4, 7):
        np.testing.assert_array_equal(learner._wanted(place), alone._wanted(place))
    for place, other in ((0, 0), (3, 3), (7, 4), (8, 5)):
        np.testing.assert_array_equal(learner._wanted(place), taught._wanted(other))
    read = []
    monkeypatch.setattr(learner, "_learn", lambda places: read[-1].extend(places) or 1.0)
    for _ in range(20):
        read.append([])
        learner.epoch()
    assert [sorted(places) for places in read] == [list(range(9))] * 17 + [list(range(4))] * 3
