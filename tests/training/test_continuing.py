"""Training that goes on with a model, on other data: what it knew it knows, and what is new it learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system
from tanglewood.text import tagger
from tanglewood.training.config import Config
from tanglewood.training.continuing import continued, joined
from tanglewood.training.loop import Training
from toy import small_network, toy_sentences, toy_text, train_parser

pytestmark = pytest.mark.filterwarnings("ignore:the training data has")
QUICK = {"epochs": 1, "batch_words": 20, "rate": 0.01}


def learnt(**choices):
    """A model of another learner, after one epoch."""
    *_, last = Training(Config(settings={"epochs": 1}, **choices), toy_sentences(15)).run()
    return last.parser


@pytest.fixture(autouse=True)
def _small(monkeypatch, tmp_path):
    small_network(monkeypatch)
    monkeypatch.chdir(tmp_path)


def renamed(sentences, old="nsubj", new="agent", form="wug", other="splorp"):
    """The same sentences with another label and another word."""
    text = "".join(sentence.to_text() for sentence in sentences)
    return text.replace(f"\t{old}\t", f"\t{new}\t").replace(form, other)


def begun(**choices):
    Path("new.conllu").write_text(renamed(toy_sentences(12, seed=3)))
    config = continued(Config(begin_from="old.tw", settings=QUICK, **choices))
    return Training(config, list(tw.read("new.conllu"))).prepare()


def test_it_begins_where_the_model_is(tmp_path):
    old = train_parser(toy_sentences(20))
    old.save("old.tw")
    training = begun()
    before, after = tw.load("old.tw").parser.model, training.learner
    assert training.actions.labels[: len(before.actions.labels)] == before.actions.labels
    assert "agent" in training.actions.labels
    for name, known in before.parameters.items():
        if name != "word.weight":
            assert np.array_equal(after._parameters[name][tuple(map(slice, known.shape))], known), name
    assert np.array_equal(after._parameters["word.weight"], before.parameters["word.weight"])
    for feature, numbers in before.vocabulary.numbers.items():
        assert list(after.vocabulary.numbers[feature])[: len(numbers)] == list(numbers)
    assert "splorp" in after.vocabulary.numbers["lower"]


def test_what_it_knew_is_not_forgotten_and_what_is_new_is_learnt(tmp_path):
    (tmp_path / "old.conllu").write_text(toy_text(40))
    (tmp_path / "new.conllu").write_text(renamed(toy_sentences(40, seed=3)))
    (tmp_path / "test.conllu").write_text(toy_text(15, seed=7))
    settings = {**QUICK, "epochs": 6}
    tw.train("old.conllu", **settings).save("old.tw")
    after = tw.train("new.conllu", begin_from="old.tw", **{**QUICK, "epochs": 1})
    fresh = tw.train("new.conllu", **{**QUICK, "epochs": 1})
    uas = {name: tw.evaluate("test.conllu", model.parse("test.conllu")).uas for name, model in
           (("after", after), ("fresh", fresh))}  # fmt: skip
    assert uas["after"] > uas["fresh"]
    assert after.description["begin_from"] == "old.tw"
    assert after.description["begin_from_sha256"] == tw.load("old.tw").checksum
    assert "agent" in {word.deprel for sentence in after.parse("new.conllu") for word in sentence}
    after.save("after.tw")
    assert tw.load("after.tw").parser.model.actions.labels == after.parser.model.actions.labels


def test_the_command_line_does_the_same(tmp_path, capsys):
    train_parser(toy_sentences(20)).save("old.tw")
    (tmp_path / "new.conllu").write_text(toy_text(12, seed=3))
    command = ["train", "new.conllu", "-o", "by-command.tw", "--from", "old.tw"]
    assert main([*command, *(f"--set={key}={value}" for key, value in QUICK.items())]) == 0
    assert "going on with old.tw" in capsys.readouterr().err
    tw.train("new.conllu", begin_from="old.tw", output="by-python.tw", **QUICK)
    assert (tmp_path / "by-command.tw").read_bytes() == (tmp_path / "by-python.tw").read_bytes()


def test_the_first_line_says_how_good_the_model_is_before(tmp_path, capsys):
    train_parser(toy_sentences(20)).save("old.tw")
    for name, seed in (("new", 3), ("dev", 4)):
        (tmp_path / f"{name}.conllu").write_text(toy_text(12, seed=seed))
    command = ["train", "new.conllu", "--dev", "dev.conllu", "-o", "new.tw", "--from", "old.tw", "--set=epochs=2"]
    assert main(command) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("epoch ")]
    before = tw.evaluate("dev.conllu", tw.load("old.tw").parser.parse_all(tw.read("dev.conllu"), beam=1))
    assert lines[0] == f"epoch  0/2  old.tw as it is  dev LAS {before.las:.2f}  UAS {before.uas:.2f}"
    assert [line[:9] for line in lines[1:]] == ["epoch  1/", "epoch  2/"]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"system": "covington"}, "system='covington': old.tw has 'swap'"),
        ({"learner": "linear"}, "learner='linear': old.tw has 'network'"),
        ({"vectors": "x.vec"}, "does not go with begin_from"),
        ({"settings": {"layers": 3}}, "layers=3: old.tw has 1"),
        ({"settings": {"arcs": False}}, "arcs=False: old.tw has True"),
    ],
)
def test_the_model_decides_what_the_new_one_is(choices, message):
    train_parser(toy_sentences(10), settings={"epochs": 1}).save("old.tw")
    with pytest.raises(ConfigError, match=message):
        continued(Config(begin_from="old.tw", **choices))
    assert continued(Config(begin_from="old.tw")).system == "swap"


def test_only_networks_go_on(tmp_path, capsys):
    learnt(learner="linear").save("old.tw")
    (tmp_path / "new.conllu").write_text(toy_text(5))
    assert main(["train", "new.conllu", "-o", "new.tw", "--from", "old.tw"]) == 1
    assert "training goes on with networks only, and this is a model of the linear learner" in capsys.readouterr().err
    assert main(["crossval", "new.conllu", "--folds", "2", "--from", "old.tw"]) == 1
    assert "may have learnt from the sentences that are held out" in capsys.readouterr().err


def test_a_pipeline_keeps_its_tokenizer_and_its_tagger(tmp_path, monkeypatch):
    from toy_pipeline import toy_pipeline, written

    monkeypatch.setattr(tagger, "SIZES", (16, 8))
    old = toy_pipeline()
    old.save("old.tw")
    new = tw.train(written(12, 5), begin_from="old.tw", **QUICK)
    assert new.tokenizer.settings() == old.tokenizer.settings()
    assert new.tagger.settings() == old.tagger.settings()
    assert new.parser.model.capabilities == old.parser.model.capabilities or not old.parser.model.calibrated
    assert len(new("Tawug zorps.")) >= 1


def test_labels_have_the_numbers_that_they_had():
    system = make_system("swap")
    old = Actions(system, ["b", "root", "a"], 1)
    for new, labels, root in (
        (Actions(system, ["a", "c", "root"], 2), ["b", "root", "a", "c"], 1),
        (Actions(system, ["a", "root"], -1), ["b", "root", "a"], -1),
        (Actions(system, ["a", "top"], 1), ["b", "root", "a", "top"], -1),
    ):
        both = joined(old, new)
        assert (both.labels, both.root_label) == (labels, root)
