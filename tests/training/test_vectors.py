"""Training with vectors from a file: everybody has the same, models are reproducible, and files are told apart."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import tanglewood as tw
from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ConfigError, FormatError, ModelError
from tanglewood.learners.network import learner as network
from tanglewood.learners.network.learner import NetworkLearner, Sizes
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.lexicon import SHARED
from tanglewood.store import load_model, save_model
from tanglewood.text import tagger
from tanglewood.text.tagger import TaggerLearner
from tanglewood.training import knowledge as knowledge_module
from tanglewood.training.config import Config
from tanglewood.training.crossval import CrossValidation
from tanglewood.training.knowledge import knowledge_for
from toy import TAGS, toy_sentences
from toy_pipeline import written
from vector_writers import as_fasttext, as_floret, as_text

N_TRAIN = 30 if COMPILED else 8
QUICK = {"epochs": 1, "batch_words": 20, "rate": 0.01}
pytestmark = pytest.mark.usefixtures("small_training")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A treebank, and vectors of its words and others in a file of text and in one with pieces."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_bytes(b"".join(s.to_bytes() for s in written(N_TRAIN, 1)))
    (tmp_path / "dev.conllu").write_bytes(b"".join(s.to_bytes() for s in written(5, 2)))
    rng = np.random.default_rng(1)
    words = [*TAGS, *(f"zq{number}" for number in range(20))]
    table = rng.normal(0, 1, (len(words) + 50, 12)).astype(np.float32)
    (tmp_path / "plain.vec").write_bytes(as_text(words, table[: len(words)]))
    (tmp_path / "other.vec").write_bytes(as_text(words, 1 - table[: len(words)]))
    (tmp_path / "pieces.bin").write_bytes(as_fasttext(words, table, 3, 5))
    (tmp_path / "pieces.floret").write_bytes(as_floret(table[:50], 2, 3, 2))
    return tmp_path


def train(**choices):
    return tw.train("train.conllu", "dev.conllu", **{**QUICK, **choices})


def bytes_of(model, path):
    model.save(path)
    return path.read_bytes()


def sha256_of(name):
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


# What is known before training. ---------------------------------------------------------------------------------------


def test_nothing_is_known_without_a_file():
    assert knowledge_for(Config(), toy_sentences(3)) is None


def test_what_is_known_is_told(files):
    heard = []
    config = Config(vectors="plain.vec", vectors_rows=15, vectors_width=4)
    known = knowledge_for(config, toy_sentences(20), heard.append)
    assert len(known.lexicon.words) == 15
    assert known.lexicon.words[-1] == "zq3"  # after all words of the data
    assert known.lexicon.width == 4
    assert known.sha256 == sha256_of("plain.vec")
    assert heard == [
        "plain.vec: vectors of 15 of 31 words are kept; 12 numbers each, reduced to 4; 100.0% of the words of the "
        "training data have a vector"
    ]


def test_words_that_are_left_out_and_tables_without_words_are_told_of(files):
    heard = []
    (files / "odd.vec").write_bytes(b"ta 1 2\nw\xff 3 4\n")
    knowledge_for(Config(vectors="odd.vec"), toy_sentences(3), heard.append)
    knowledge_for(Config(vectors="pieces.floret"), toy_sentences(3), heard.append)
    assert heard[0].endswith("; 1 words that are not UTF-8 are left out")
    assert heard[1].startswith("pieces.floret: 50 vectors of pieces of words; 12 numbers each; ")


# Models. --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectors", ["plain.vec", "pieces.bin", "pieces.floret"])
def test_a_parser_has_its_vectors_and_says_where_they_come_from(files, vectors):
    model = train(vectors=vectors, vectors_width=6)
    lexicon = model.parser.lexicon
    assert lexicon.width == 6
    about = model.description
    assert (about["vectors"], about["vectors_width"], about["vectors_rows"]) == (vectors, 6, 50_000)
    assert about["vectors_sha256"] == sha256_of(vectors)
    first, second = (
        bytes_of(model, files / "a.tw"),
        bytes_of(train(vectors=Path(vectors), vectors_width=6), files / "b.tw"),
    )
    assert first == second
    again = tw.load("a.tw")
    assert again.parser.lexicon.same_as(lexicon)
    sentences = list(tw.read("dev.conllu"))
    assert [s.tree for s in again.parse(sentences)] == [s.tree for s in model.parse(sentences)]
    assert bytes_of(train(vectors=vectors, vectors_width=5), files / "c.tw") != first


def test_models_without_vectors_do_not_speak_of_them(files):
    model = train()
    assert not [name for name in model.description if name.startswith("vectors")]
    assert model.parser.lexicon is None


def test_the_command_gives_the_same_bytes_and_says_what_it_read(files, capfd):
    options = ["--vectors", "pieces.bin", "--vectors-rows", "20", "--vectors-width", "8"]
    options += [f"--set={key}={value}" for key, value in QUICK.items()]
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "command.tw", *options]) == 0
    assert "pieces.bin: vectors of 20 of 31 words are kept; 12 numbers each, reduced to 8;" in capfd.readouterr().err
    model = train(vectors="pieces.bin", vectors_rows=20, vectors_width=8)
    assert bytes_of(model, files / "library.tw") == (files / "command.tw").read_bytes()
    again = ["--set", "vectors=pieces.bin", "--set", "vectors_rows=20", "--set", "vectors_width=8", *options[6:]]
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "set.tw", *again]) == 0
    assert (files / "set.tw").read_bytes() == (files / "command.tw").read_bytes()


@pytest.fixture
def counted(monkeypatch):
    """How often a file was read in this process."""
    found = []
    plain = knowledge_module._of_vectors
    monkeypatch.setattr(knowledge_module, "_of_vectors", lambda *given: found.append(1) or plain(*given))
    return found


def test_a_pipeline_reads_its_vectors_once_and_holds_them_once(files, monkeypatch, counted):
    begun = []
    plain = TaggerLearner.__init__
    monkeypatch.setattr(TaggerLearner, "__init__", lambda self, *given: begun.append(given[3]) or plain(self, *given))
    model = train(pipeline=True, folds=2, vectors="pieces.bin")
    assert counted == [1]
    assert len(begun) == 3
    assert all(isinstance(known, Knowledge) and known is begun[0] for known in begun)
    model.save("model.tw")
    arrays, settings = load_model("model.tw")
    assert [name for name in arrays if "lexicon" in name] == ["lexicon.buckets", "lexicon.rows", "lexicon.scales"]
    assert settings["tagger"]["lexicon"] == SHARED
    again = tw.load("model.tw")
    assert again.tagger.lexicon is again.parser.lexicon
    text = "Tawug zorps mib dax. Dax fimps krellish."
    assert again(text).to_conllu() == model(text).to_conllu()
    assert bytes_of(again, files / "again.tw") == (files / "model.tw").read_bytes()


def test_lexicons_that_differ_are_both_kept(files):
    one = train(pipeline=True, folds=2, vectors="plain.vec")
    other = train(vectors="other.vec")
    model = tw.Pipeline(other.parser, one.tagger, one.tokenizer)
    model.save("model.tw")
    again = tw.load("model.tw")
    assert again.tagger.lexicon.same_as(one.tagger.lexicon)
    assert again.parser.lexicon.same_as(other.parser.lexicon)
    alone = tw.Pipeline(train().parser, one.tagger, one.tokenizer)
    alone.save("model.tw")
    assert tw.load("model.tw").tagger.lexicon.same_as(one.tagger.lexicon)


def test_a_file_that_points_to_a_lexicon_that_is_not_there_is_refused(files):
    model = train(pipeline=True, folds=2, vectors="plain.vec")
    plain = train()
    model.save("model.tw")
    arrays, settings = load_model("model.tw")
    others, parser = plain.parser.contents()
    kept = {name: array for name, array in arrays.items() if "/" in name}
    save_model("misleading.tw", {**others, **kept}, {**settings, **parser})
    with pytest.raises(ModelError, match="tagger's part: the lexicon should be that of the parser, which has none"):
        tw.load("misleading.tw")
    for wrong in ("other", "", 3):
        save_model("misleading.tw", arrays, {**settings, "tagger": {**settings["tagger"], "lexicon": wrong}})
        with pytest.raises(ModelError, match=r"tagger's part: \S*lexicon should be"):
            tw.load("misleading.tw")


def test_processes_teachers_and_folds_have_the_same_vectors(files, counted):
    """The file is read in this process alone: what is known travels to the others."""
    one = train(pipeline=True, folds=2, distil=2, vectors="pieces.bin")
    assert counted == [1]
    about = one.description
    assert (about["teachers"], about["vectors_sha256"]) == (2, sha256_of("pieces.bin"))
    two = train(distil=1, vectors="pieces.bin")
    assert two.parser.lexicon.subwords is not None


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(files, monkeypatch):
    monkeypatch.setattr(network, "Sizes", Sizes)  # what is patched here is not in other processes
    monkeypatch.setattr(tagger, "SIZES", (128, 64))
    choices = {"pipeline": True, "folds": 2, "distil": 2, "vectors": "pieces.bin"}
    found = {bytes_of(train(**choices, processes=n), files / "model.tw") for n in (1, 2)}
    assert len(found) == 1


def test_cross_validation_takes_vectors_too(files, counted):
    validation = CrossValidation(Config(vectors="pieces.bin", settings=QUICK), toy_sentences(12), 2)
    assert len(list(validation.run())) == 2
    assert counted == [1, 1]  # which words are kept depends on the data without the fold


def test_a_system_that_gives_tags_takes_them_too(files):
    model = train(system="joint-swap", folds=2, vectors="plain.vec")
    assert model.tagger.lexicon.same_as(model.parser.lexicon)


def test_one_may_stack_on_a_parser_whose_file_of_vectors_is_gone(files):
    train(vectors="plain.vec", output="below.tw")
    Path("plain.vec").unlink()
    model = tw.train("train.conllu", search="mst", stacked="below.tw", folds=2, epochs=1)
    model.save("above.tw")
    assert tw.load("above.tw").parser.stacked.lexicon is not None


# Resuming. ------------------------------------------------------------------------------------------------------------


def interrupt(monkeypatch, kind, number):
    """Press Ctrl-C when this epoch of a parser or tagger begins, counted over all of them."""
    plain = kind.epoch
    begun = []

    def epoch(self, *given):
        begun.append(1)
        if len(begun) == number:
            raise KeyboardInterrupt
        return plain(self, *given)

    monkeypatch.setattr(kind, "epoch", epoch)


def test_a_resumed_run_ends_with_the_same_bytes_and_another_file_is_refused(files, monkeypatch):
    choices = {"vectors": "pieces.bin", "epochs": 2, "output": "model.tw"}
    wanted = bytes_of(train(**choices), files / "whole.tw")
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 2)
        with pytest.raises(KeyboardInterrupt):
            train(**choices)
    contents = Path("pieces.bin").read_bytes()
    Path("pieces.bin").write_bytes(Path("plain.vec").read_bytes())
    with pytest.raises(ModelError, match="another training run"):
        train(**choices, resume=True)
    Path("pieces.bin").write_bytes(contents)
    train(**choices, resume=True)
    assert (files / "model.tw").read_bytes() == wanted


def test_a_wrong_file_does_not_cost_what_an_interrupted_run_has_left(files, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 2)
        with pytest.raises(KeyboardInterrupt):
            train(epochs=2, output="model.tw")
    with pytest.raises(FileNotFoundError):
        train(epochs=2, output="model.tw", restart=True, vectors="none.vec")
    assert Path("model.tw.training").exists()


def test_finished_taggers_of_other_vectors_are_refused(files, monkeypatch):
    choices = {"vectors": "plain.vec", "pipeline": True, "folds": 2, "output": "model.tw"}
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 1)
        with pytest.raises(KeyboardInterrupt):
            train(**choices)
    with pytest.raises(ModelError, match="the part is of another training run"):
        train(**{**choices, "vectors": "other.vec"}, resume=True)
    with pytest.raises(ModelError, match="the part is of another training run"):
        train(**{**choices, "vectors": ""}, resume=True)
    assert train(**choices, resume=True).tagger.lexicon is not None


def test_finished_teachers_of_other_vectors_are_refused(files, monkeypatch):
    choices = {"vectors": "plain.vec", "distil": 2, "output": "model.tw"}
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 2)
        with pytest.raises(KeyboardInterrupt):
            train(**choices)
    with pytest.raises(ModelError, match="the teacher is of another training run"):
        train(**{**choices, "vectors": "other.vec"}, resume=True)


# What is refused. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"vectors": 3}, "vectors=3: it should be the name of a file"),
        ({"vectors_rows": 0}, "vectors_rows=0: it should be a whole number, 1 or more"),
        ({"vectors_rows": 10**9}, "at most 1,000,000 vectors can be kept"),
        ({"vectors_rows": 2.5}, "vectors_rows=2.5: it should be a whole number"),
        ({"vectors_width": -1}, "vectors_width=-1: it should be a whole number, 0 or more"),
        ({"vectors_width": True}, "vectors_width=True: it should be a whole number"),
    ],
)
def test_choices_that_cannot_be_are_refused(choices, message):
    with pytest.raises(ConfigError, match=message):
        Config(**choices)


@pytest.mark.parametrize("choices", [{"learner": "linear"}, {"learner": "arcs"}, {"search": "mst"}, {"learner": "svm"}])
def test_only_the_network_takes_vectors(choices):
    with pytest.raises(ConfigError, match=r"vectors='a\.vec' is for the network, not for the \w+ learner"):
        Config(vectors="a.vec", **choices).check()
    Config(vectors="a.vec", learner="network", search="mst").check()


def test_wrong_files_are_refused_in_one_line(files, capfd):
    (files / "wrong.vec").write_bytes(b"2 3\nta 1 2 3\nwug 1 nan 3\n")
    with pytest.raises(FormatError, match=r"wrong\.vec:3: 'nan' is not a finite number"):
        train(vectors="wrong.vec")
    for name, told in (("wrong.vec", "wrong.vec:3: 'nan' is not"), ("none.vec", "none.vec"), (".", "this is none")):
        assert main(["train", "train.conllu", "-o", "model.tw", "--vectors", name]) in (1, 2)
        (line,) = capfd.readouterr().err.splitlines()
        assert told in line
    assert not list(files.glob("model.tw*"))
