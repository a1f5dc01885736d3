"""Vectors of words in their sentences: found by their forms, kept in files, and what networks make of them."""

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.embedding import contextual_of, load_vectors, save_vectors
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.network.learner import NetworkLearner, NetworkOptions, vocabulary_of
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.contextual import Contextual, key_of
from tanglewood.ml.encoder import Encoder, number_words
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.words import words_of
from tanglewood.store import load_model, save_model
from toy import small_network, toy_sentences

WIDTH = 6

pytestmark = pytest.mark.usefixtures("small_training")


def telling(sentence):
    """Vectors that say where the head of each word is, and nothing else."""
    rows = np.zeros((len(sentence), WIDTH), np.float32)
    for word, head in enumerate(sentence.tree.heads[1:], 1):
        rows[word - 1, min(max(head - word + 3, 0), 5) if head else 5] = 1 + word % 2
    return rows


def written(path, sentences, name="tiny"):
    save_vectors(path, name, WIDTH, ((sentence.forms, telling(sentence)) for sentence in sentences))
    return path


def test_vectors_come_back_from_their_file_by_the_forms_of_the_sentence(tmp_path):
    sentences = toy_sentences(10)
    about, kept = load_vectors(written(tmp_path / "v.safetensors", sentences))
    assert (about.encoder, about.width) == ("tiny", WIDTH)
    by_forms = {tuple(s.forms): s for s in reversed(sentences)}  # of two sentences with the same forms the first counts
    for sentence in sentences:
        (rows,) = kept([sentence.forms])
        assert np.array_equal(rows, telling(by_forms[tuple(sentence.forms)]))
    given = about.given([sentences[0].forms, sentences[1].forms])
    assert given.shape == (len(sentences[0]) + len(sentences[1]) + 2, WIDTH)
    assert not given[0].any()
    with pytest.raises(ConfigError, match=r"v.safetensors has no vectors of the sentence 'nowhere met'"):
        kept([["nowhere", "met"]])


def test_keys_tell_where_words_begin():
    assert key_of(["a b", "c"]) != key_of(["a", "b c"]) != key_of(["a", "b", "c"])


def test_words_in_context_have_the_vectors_that_training_saw(monkeypatch):
    small_network(monkeypatch)
    sentences = toy_sentences(6)
    table = {tuple(s.forms): telling(s) for s in sentences}
    contextual = Contextual("tiny", WIDTH, lambda batch: [table[tuple(forms)] for forms in batch])
    words = [words_of(sentence) for sentence in sentences]
    learner = NetworkLearner.begin(
        actions_of(sentences), sentences, NetworkOptions(), 1, knowledge=Knowledge(contextual=contextual)
    )
    encoder = Encoder(learner._parameters, learner.vocabulary.numbers)
    trained = encoder.forward(number_words(learner.vocabulary, words), np.random.default_rng(1), 0, 0)
    found, starts = Contexts(learner.vocabulary, learner._parameters, kernels_for()).of(words)
    assert starts[-1] == len(trained)
    assert np.allclose(found, trained, atol=1e-5)
    plain = vocabulary_of(sentences)
    assert learner._parameters["word.weight"].shape[0] == encoder.embed(number_words(plain, words)).shape[1] + WIDTH


def actions_of(sentences):
    from tanglewood.core.actions import Actions
    from tanglewood.systems import make_system

    labels = sorted({label for sentence in sentences for label in sentence.tree.labels[1:]})
    return Actions(make_system("swap"), labels, labels.index("root"))


def test_a_parser_learns_from_them_and_needs_them(tmp_path):
    train, dev = toy_sentences(40), toy_sentences(15, seed=2)
    files = [written(tmp_path / f"{name}.safetensors", part) for name, part in (("train", train), ("dev", dev))]
    model = tw.train(train, dev, epochs=2, contextual=files)
    path = tmp_path / "model.tw"
    model.save(path)
    again = tw.load(path)
    with pytest.raises(ConfigError, match="needs those of what it parses"):
        list(again.parse(dev))
    parsed = list(again.parse(dev, contextual=str(files[1])))
    assert [s.to_text() for s in parsed] == [s.to_text() for s in model.parse(dev)]
    with pytest.raises(ConfigError, match="no vectors of the sentence"):
        list(again.parse(train, contextual=str(files[1])))
    other = written(tmp_path / "other.safetensors", dev, "another")
    with pytest.raises(
        ConfigError, match="vectors of another, 6 numbers each; the model has learnt from those of tiny"
    ):
        list(again.parse(dev, contextual=str(other)))
    with pytest.raises(ConfigError, match="has not learnt from vectors"):
        list(tw.load().parse(dev, contextual=str(files[1])))
    with pytest.raises(ConfigError, match=r"vectors of another, but .*train.safetensors has those of tiny"):
        contextual_of((str(files[0]), str(other)))


def test_teachers_in_processes_open_their_own(tmp_path):
    train = toy_sentences(12)
    file = written(tmp_path / "train.safetensors", train)
    model = tw.train(train, epochs=2, distil=2, contextual=file, processes=2)
    assert model.description["teachers"] == 2
    assert len(list(model.parse(train))) == 12


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays, settings: arrays.pop("keys"),
        lambda arrays, settings: arrays.update(starts=arrays["starts"][:-1]),
        lambda arrays, settings: settings["contextual"].update(width=7),
        lambda arrays, settings: settings.pop("contextual"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path, damage, capsys):
    path = written(tmp_path / "v.safetensors", toy_sentences(3))
    arrays, settings = load_model(path)
    damage(arrays, settings)
    save_model(path, arrays, settings)
    with pytest.raises(ModelError, match=r"v.safetensors: "):
        load_vectors(path)


def test_without_the_packages_embed_says_what_to_install(tmp_path, capsys):
    if all(map(__import__("importlib").util.find_spec, ("torch", "transformers"))):
        pytest.skip("they are installed")
    bank = tmp_path / "x.conllu"
    bank.write_bytes(b"".join(s.to_bytes() for s in toy_sentences(2)))
    assert main(["embed", str(bank), "--encoder", "nothing", "-o", str(tmp_path / "v.safetensors")]) == 1
    assert "pip install 'tanglewood[contextual]'" in capsys.readouterr().err


def test_a_pipeline_learns_and_parses_with_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentences = toy_sentences(12)
    dev = sentences[:4]
    written("v.safetensors", sentences)
    model = tw.train(sentences, dev, pipeline=True, folds=2, epochs=1, contextual="v.safetensors", output="m.tw")
    assert model.tagger.vocabulary.contextual.encoder == "tiny"
    found = [list(nlp.parse(dev, contextual="v.safetensors")) for nlp in (model, tw.load("m.tw"))]
    assert [s.to_bytes() for s in found[0]] == [s.to_bytes() for s in found[1]]
