"""Folds, experiments and teachers side by side: in processes or on a Dask cluster, with the same results."""

from __future__ import annotations

import importlib.util
import json
import operator
import pickle
from operator import methodcaller
from pathlib import Path

import pytest

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.run.dask_engine import Ear, as_done, cluster, in_order
from tanglewood.run.engine import Engine
from tanglewood.training.config import Config
from tanglewood.training.crossval import CrossValidation
from toy import toy_sentences, toy_text

pytestmark = [pytest.mark.one_build, pytest.mark.filterwarnings("ignore")]
LINEAR = ["--learner", "linear", "--epochs", "1"]
distributed = importlib.util.find_spec("distributed")


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    with cluster("local", 2) as client:
        yield client


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("toy").mkdir()
    for part, (size, seed) in {"train": (14, 1), "dev": (4, 2), "test": (8, 3)}.items():
        Path("toy", f"{part}.conllu").write_text(toy_text(size, seed))


# The cluster. -------------------------------------------------------------------------------------------------------


def test_results_come_in_order_and_everything_that_is_said_is_heard_once(client):
    assert list(in_order(client, operator.neg, range(40))) == [-number for number in range(40)]
    heard = []
    items = [methodcaller("__call__", number) for number in range(30)]  # each says its number
    assert list(in_order(client, operator.call, items, hear=heard.append)) == [None] * 30
    assert sorted(heard) == list(range(30))


class Wire:
    """Stands in for a client: passes on what is said when a test wants it to."""

    def subscribe_topic(self, topic, handler):
        self.topic, self.bring = topic, lambda *event: handler((0.0, event))

    def unsubscribe_topic(self, topic):
        assert topic == self.topic


def test_what_is_late_or_said_again_is_heard_once_and_before_the_result():
    wire, heard = Wire(), []
    said = [pickle.dumps(f"epoch {number}") for number in range(4)]
    with Ear(wire, heard.append) as ear:
        for number in (0, 1, 0, 1):  # done again by another worker
            wire.bring("a", number, said[number])
        ear.listen()
        assert heard == ["epoch 0", "epoch 1"]
        ear.catch_up("a", said)  # its result is here before the rest
        assert heard == ["epoch 0", "epoch 1", "epoch 2", "epoch 3"]
        wire.bring("a", 2, said[2])
        wire.bring("b", 0, said[0])
        ear.listen()
        assert heard[4:] == ["epoch 0"]


def test_what_is_not_asked_for_is_not_read(client):
    read = []

    def items():
        for number in range(1000):
            read.append(number)
            yield number

    found = as_done(client, operator.neg, items())
    assert next(found).result <= 0
    found.close()
    assert len(read) <= 12


def test_an_error_on_a_worker_is_raised_here(client):
    with pytest.raises(TypeError, match="bad operand"):
        list(in_order(client, operator.neg, [1, "x"]))


@pytest.mark.skipif(distributed is None, reason="dask and distributed are not installed")
def test_an_engine_of_nothing_starts_nothing(monkeypatch):
    monkeypatch.setattr("tanglewood.run.engine.cluster", None)
    assert list(Engine(2, "local").in_order(operator.neg, [], 0)) == []
    assert list(Engine(1).in_order(operator.neg, [1, 2], 2)) == [-1, -2]
    assert Engine().is_alone
    assert not Engine(2).is_alone
    assert not Engine(1, "local").is_alone


# Folds. -------------------------------------------------------------------------------------------------------------


def crossed(engine):
    validation = CrossValidation(Config(learner="linear", settings={"epochs": 1}), toy_sentences(14), 3, engine)
    return [scores.as_dict() for scores in validation.run()], validation.total.as_dict()


def test_folds_have_the_same_scores_in_processes_and_on_a_cluster(client, capsys):
    alone = crossed(Engine())
    assert crossed(Engine(2)) == alone
    assert crossed(Engine(1, client.scheduler.address)) == alone
    command = ["crossval", "toy/train.conllu", "--folds", "2", "--json", *LINEAR]
    shown = []
    for more in ([], ["--dask", client.scheduler.address]):
        assert main([*command, *more]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[0] == shown[1]
    assert [row["fold"] for row in shown[0]] == [1, 2, "all"]


# Teachers. ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not COMPILED, reason="learns networks of full size")
def test_teachers_on_a_cluster_are_those_of_one_process(client, capfd):
    Path("few.conllu").write_text(toy_text(12))
    command = ["train", "few.conllu", "--dev", "toy/dev.conllu", "--distil", "3", "--epochs", "2"]
    assert main([*command, "-o", "one.tw"]) == 0
    capfd.readouterr()
    assert main([*command, "-o", "two.tw", "--dask", client.scheduler.address]) == 0
    err = capfd.readouterr().err
    assert all(err.count(f"teacher {number}/3: epoch  1/1  loss ") == 1 for number in (1, 2, 3))
    assert Path("one.tw").read_bytes() == Path("two.tw").read_bytes()
    assert not Path("two.tw.parts").exists()


# Experiments. -------------------------------------------------------------------------------------------------------


def results_of(folder):
    """The results, without times."""
    found = json.loads(Path(folder, "results.json").read_text())

    def settled(data):
        if isinstance(data, dict):
            return {key: settled(value) for key, value in data.items() if not key.startswith("seconds")}
        return [settled(item) for item in data] if isinstance(data, list) else data

    return settled(found)


COMMANDS = {
    "nivre2009": ["--treebank", "toy", "--epochs", "1", "--graph"],  # one part needs another's model
    "lacroix2014": ["--treebank", "toy", "--epochs", "1", "--folds", "2", "--tagger-epochs", "1"],  # and its tags
    "shi2018": ["toy/train.conllu", "toy/test.conllu", "--longest", "5"],
}


@pytest.mark.skipif(not COMPILED, reason="learns taggers")
@pytest.mark.parametrize("paper", COMMANDS)
def test_experiments_have_the_same_results_on_a_cluster(client, paper, capsys):
    command = ["reproduce", paper, *COMMANDS[paper]]
    assert main([*command, "-o", "one"]) == 0
    capsys.readouterr()
    assert main([*command, "-o", "two", "--dask", client.scheduler.address]) == 0
    err = capsys.readouterr().err
    parts = sorted(path.name for path in Path("one/parts").glob("*.json"))
    assert parts
    for name in parts:
        assert f"{name.removesuffix('.json')} done\n" in err
    assert results_of("one") == results_of("two")
    kept = [{path.name: path.read_bytes() for path in Path(one, "parsed").iterdir()} for one in ("one", "two")]
    assert kept[0] == kept[1]


def test_experiments_go_on_in_processes_where_they_stopped(capsys):
    command = ["reproduce", "nivre2007", "--treebank", "toy", "--epochs", "1"]
    assert main([*command, "-o", "one"]) == 0
    assert main([*command, "-o", "two"]) == 0
    for name in ("mst", "pseudo"):
        Path("two/parts", f"{name}.json").unlink()
        Path("two/parsed", f"{name}.conllu").unlink()
    capsys.readouterr()
    assert main([*command, "-o", "two", "-j", "2"]) == 0
    err = capsys.readouterr().err
    assert "mst done\n" in err
    assert "pseudo done\n" in err
    assert "covington done\n" not in err
    assert results_of("one") == results_of("two")


# What is wrong. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["train", "toy/train.conllu", "-o", "x.tw", "--dask", "local"], "--dask local: it is for --distil only"),
        (["crossval", "toy/train.conllu", "-j", "0"], "the number of processes must be 1 or more"),
        (["reproduce", "nivre2007", "--treebank", "toy", "-j", "0"], "the number of processes must be 1 or more"),
    ],
)
def test_arguments_that_are_wrong(arguments, told, capsys):
    assert main(arguments) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["crossval", "toy/train.conllu"], ["reproduce", "nivre2007", "--treebank", "toy"]], ids=["fold", "part"]
)
def test_without_the_package_an_error_says_what_to_install(command, capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "distributed" else found(name, *more)
    )
    assert main([*command, "--dask", "local"]) == 1
    assert "pip install 'tanglewood[dask]'" in capsys.readouterr().err
