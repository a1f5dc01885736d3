"""Vectors from elsewhere: how forms are looked up, what eight bits keep, what a network and a tagger do with them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tanglewood as tw
from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.network import learner as network
from tanglewood.learners.network.learner import NetworkLearner, NetworkModel, NetworkOptions, vocabulary_of
from tanglewood.ml.contexts import number_distinct
from tanglewood.ml.encoder import EMBED, number_words
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.lexicon import LEAST, LEVELS, Lexicon, folded
from tanglewood.ml.words import words_of
from tanglewood.store import dump_model, parse_model
from tanglewood.systems import make_system
from tanglewood.text.tagger import Tagger, TaggerLearner, TaggerOptions
from toy import QUICK, SMALL, small_network, toy_sentences

WORDS = ["wug", "Wug", "zorps", "dax0"]


def toy_actions():
    labels = sorted({label for sentence in toy_sentences(20) for label in sentence.tree.labels[1:]})
    return Actions(make_system("swap"), labels, labels.index("root"))


@pytest.fixture
def lexicon():
    rng = np.random.default_rng(1)
    return Lexicon.of(WORDS, rng.normal(0, 0.3, (len(WORDS) + 2, 5)).astype(np.float32))


@pytest.fixture
def knowledge(lexicon, monkeypatch):
    small_network(monkeypatch)
    rng = np.random.default_rng(2)
    values = {"affixes": ["-ug", "wu-", "-zz"], "short_shape": ["x", "Xx"]}
    parameters = {
        f"{EMBED}{name}": rng.normal(0, 1, (len(kept) + 2, width))
        for (name, kept), width in zip(values.items(), (32, 16), strict=True)
    }
    parameters["word.weight"] = rng.normal(0, 1, (32 + 16 + lexicon.width, SMALL.word))
    parameters["word.bias"] = rng.normal(0, 1, SMALL.word)
    for direction in ("forward", "backward"):
        for part, shape in (
            ("input", (SMALL.word, 4 * SMALL.lstm)),
            ("recurrent", (SMALL.lstm, 4 * SMALL.lstm)),
            ("bias", (4 * SMALL.lstm,)),
        ):
            parameters[f"lstm0.{direction}.{part}"] = rng.normal(0, 1, shape)
    return Knowledge(lexicon, values, {name: value.astype(np.float32) for name, value in parameters.items()})


@pytest.mark.parametrize(
    ("form", "latin", "found"),
    [
        ("Wug", False, "wug"),
        ("1984", False, "0000"),
        ("\u0663", False, "0"),
        ("don\u2019t", False, "don't"),
        ("Vt", True, "ut"),
        ("Vt", False, "vt"),
        ("j\u0101m", True, "iam"),
        ("\u03c4\u1f78", False, "\u03c4\u03cc"),  # grave becomes acute, in one letter
        ("voil\u00e0", False, "voil\u00e0"),  # but in Greek alone
    ],
)
def test_forms_are_folded(form, latin, found):
    assert folded(form, latin=latin) == found
    assert folded(found, latin=latin) == found


def test_a_form_is_looked_up_as_written_then_in_small_letters_then_folded(lexicon):
    found = lexicon.places([["wug", "Wug", "WUG", "ZORPS", "dax7", "krell"]])
    assert found.tolist() == [1, 2, 3, 2, 4, 5, 0]
    assert lexicon.knows("ZORPS")
    assert not lexicon.knows("krell")


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3), min_size=2, max_size=6))
@example([[0, 0, 2.617875e-30], [0, 1e-44, 0], [0, -LEAST, 0], [2e-30, 1e-30, 0]])
def test_eight_bits_are_off_by_half_a_step_at_most(rows):
    vectors = np.array(rows, np.float32)
    kept = Lexicon.of([f"w{i}" for i in range(len(rows) - 2)], vectors).vectors
    steps = np.abs(vectors).max(axis=1, keepdims=True) / LEVELS
    assert (np.abs(kept - vectors) <= 0.501 * steps + LEAST).all()


def test_batches_have_the_vectors_of_their_forms_whichever_way_they_are_made(lexicon):
    sentences = [words_of(sentence) for sentence in toy_sentences(4)]
    vocabulary = replace(vocabulary_of(toy_sentences(4)), lexicon=lexicon)
    batch = number_words(vocabulary, sentences)
    expected = [lexicon.vectors[p] for words in sentences for p in lexicon.places([[word[0] for word in words]])]
    assert np.array_equal(batch.given, expected)
    assert np.array_equal(number_distinct(vocabulary, sentences[0]).given, batch.given[: len(sentences[0]) + 1])


def test_what_is_known_stands_where_it_belongs(knowledge):
    sentences = list(toy_sentences(10))
    learner = NetworkLearner.begin(toy_actions(), sentences, NetworkOptions(**QUICK), 1, knowledge=knowledge)
    plain = NetworkLearner.begin(toy_actions(), sentences, NetworkOptions(**QUICK), 1)
    found, known = learner._parameters, knowledge.parameters
    features = list(learner.vocabulary.numbers)
    assert features == [*network.EMBEDDED, "short_shape"]
    widths = {name: found[f"{EMBED}{name}"].shape[1] for name in features}
    starts = dict(zip([*features, "lexicon"], np.cumsum([0, *widths.values()]).tolist(), strict=True))
    for place, (name, width) in enumerate([("affixes", 32), ("short_shape", 16), ("lexicon", 5)]):
        begin = (0, 32, 48)[place]
        rows = found["word.weight"][starts[name] : starts[name] + width]
        assert np.array_equal(rows, known["word.weight"][begin : begin + width])
    for name, kept in knowledge.values.items():
        assert list(learner.vocabulary.numbers[name])[2 : 2 + len(kept)] == list(kept)
        assert np.array_equal(found[f"{EMBED}{name}"][: len(kept) + 2], known[f"{EMBED}{name}"])
    assert "-ta" in learner.vocabulary.numbers["affixes"]  # of the treebank alone
    for name in ("word.bias", "lstm0.forward.input", "lstm0.backward.recurrent"):
        assert np.array_equal(found[name], known[name])
    assert not np.array_equal(plain._parameters["word.bias"], known["word.bias"])


def test_an_encoder_of_another_size_is_refused(knowledge):
    parameters = {**knowledge.parameters, "word.bias": np.zeros(3, np.float32)}
    with pytest.raises(ConfigError, match=r"other sizes: word.bias"):
        NetworkLearner.begin(
            toy_actions(),
            list(toy_sentences(4)),
            NetworkOptions(**QUICK),
            1,
            knowledge=replace(knowledge, parameters=parameters),
        )


def test_vectors_are_not_learnt_and_come_back_from_the_file(knowledge):
    sentences = list(toy_sentences(12))
    tagger = TaggerLearner(sentences, TaggerOptions(epochs=1, layers=1), 1, Knowledge(knowledge.lexicon))
    before = knowledge.lexicon.vectors.copy()
    tagger.epoch()
    assert np.array_equal(knowledge.lexicon.vectors, before)
    learnt = tagger.tagger()
    again = Tagger.load(*parse_model(dump_model(learnt.arrays(), learnt.settings()), "x")[:2])
    forms = [sentence.forms for sentence in sentences]
    assert again.worker().tag(forms) == learnt.worker().tag(forms)
    assert again.vocabulary.lexicon is not None
    assert np.array_equal(again.vocabulary.lexicon.vectors, before)


def test_a_model_with_a_lexicon_survives_its_file_and_a_damaged_one_is_refused(knowledge):
    actions = toy_actions()
    learner = NetworkLearner.begin(actions, list(toy_sentences(10)), NetworkOptions(**QUICK), 1, knowledge=knowledge)
    model = learner.model()
    arrays, settings = parse_model(dump_model(model.arrays(), model.settings()), "x")[:2]
    again = NetworkModel.load(actions, arrays, settings)
    assert again.settings() == model.settings()
    assert np.array_equal(again.vocabulary.lexicon.vectors, knowledge.lexicon.vectors)
    lexicon = settings["lexicon"]
    for wrong in (
        {"words": lexicon["words"][1:], "latin": False},
        {"words": ["wug"] * 4, "latin": False},
        {"words": lexicon["words"], "latin": 1},
        {"words": [1, 2, 3, 4], "latin": False},
    ):
        with pytest.raises(ModelError):
            NetworkModel.load(actions, arrays, {**settings, "lexicon": wrong})
    without = {name: value for name, value in settings.items() if name != "lexicon"}
    with pytest.raises(ModelError, match=r"lexicon.rows"):
        NetworkModel.load(actions, arrays, without)
    huge = {**arrays, "lexicon.scales": memoryview(np.full(6, 1e5, np.float32))}
    with pytest.raises(ModelError, match="too large"):
        NetworkModel.load(actions, huge, settings)


def test_hidden_forms_have_the_vector_of_unknown_ones(lexicon):
    given_vectors = np.ones((1000, lexicon.width), np.float32)
    lexicon.hide(given_vectors, 0.3, np.random.default_rng(1))
    hidden = (given_vectors == lexicon.vectors[0]).all(axis=1)
    assert 250 < hidden.sum() < 350
    assert (given_vectors[~hidden] == 1).all()


def test_a_pipelines_parser_and_tagger_have_one_lexicon_and_models_without_vectors_none():
    english = tw.load()  # learnt from raw text first
    assert english.parser.model.vocabulary.lexicon is not None
    assert english.parser.model.vocabulary.lexicon is english.tagger.vocabulary.lexicon
    assert vocabulary_of(toy_sentences(3)).lexicon is None
