"""Training: it learns, the same every time, goes on where it stopped, and says what it cannot do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from exhaustive import COMPILED
from tanglewood.core.beam import MOST_WIDTH
from tanglewood.errors import ConfigError, ModelError, TanglewoodError, UndecidedError
from tanglewood.learners import LEARNERS
from tanglewood.learners.base import Votes
from tanglewood.measure.scores import evaluate
from tanglewood.parser import Parser
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.training import loop
from tanglewood.training.config import Config, read_config
from tanglewood.training.loop import Training
from toy import QUICK, sentences_of, small_network, toy_sentences, toy_text, train_parser

N_TRAIN = 20 if COMPILED else 6
slow_if_interpreted = pytest.mark.slow if not COMPILED else lambda test: test


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_network(monkeypatch)


def training(train=None, dev=(), **choices):
    settings = {**QUICK, **choices.pop("settings", {})}
    return Training(Config(settings=settings, **choices), train or toy_sentences(N_TRAIN), dev).prepare()


def bytes_of(parser, tmp_path):
    parser.save(tmp_path / "model.tw")
    return (tmp_path / "model.tw").read_bytes()


def finished(run):
    *_, last = run.run()
    return last.parser


# The same every time. ---------------------------------------------------------------------------------------------


def test_the_same_data_and_seed_give_the_same_bytes_and_another_seed_others(tmp_path):
    models = [bytes_of(finished(training(seed=seed)), tmp_path) for seed in (1, 1, 2)]
    assert models[0] == models[1]
    assert models[0] != models[2]


@pytest.mark.parametrize("name", ["swap", "covington", "three-step"])
def test_training_on_other_data_in_between_changes_nothing(name, tmp_path):
    before = bytes_of(finished(training(system=name)), tmp_path)
    finished(training(toy_sentences(4, seed=5), system=name, seed=3))
    assert bytes_of(finished(training(system=name)), tmp_path) == before


@slow_if_interpreted
def test_the_number_of_matrix_threads_and_the_hash_seed_change_nothing(tmp_path):
    """In the network's real size, by the command."""
    (tmp_path / "train.conllu").write_text(toy_text(60))
    models = []
    for threads in ("1", "2", "3"):
        command = [sys.executable, "-m", "tanglewood", "train", "train.conllu", "-o", "model.tw", "--epochs", "1"]
        env = os.environ | {"OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
        subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)
        models.append((tmp_path / "model.tw").read_bytes())
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("with_dev", [False, True])
@pytest.mark.parametrize("stop", [1, 2])
def test_a_resumed_run_ends_with_the_same_bytes_as_an_uninterrupted_one(tmp_path, stop, with_dev):
    dev = toy_sentences(5, seed=2) if with_dev else []
    settings = {"epochs": 3}
    whole = bytes_of(finished(training(dev=dev, settings=settings)), tmp_path)
    first = training(dev=dev, settings=settings)
    for progress in first.run():
        first.save_checkpoint(tmp_path / "checkpoint")
        if progress.epoch == stop:
            break
    second = training(dev=dev, settings=settings)
    second.resume(tmp_path / "checkpoint")
    assert second.epoch == stop
    rest = list(second.run())
    assert [progress.epoch for progress in rest] == list(range(stop + 1, 4))
    assert bytes_of(rest[-1].parser, tmp_path) == whole


def test_saving_a_checkpoint_and_asking_for_the_model_do_not_change_learning(tmp_path):
    plain = training()
    oracle = plain.actions.system.oracle(plain.oracle_name)
    for _ in range(2):
        plain.learner.epoch(plain.examples, oracle)
    asked = training()
    for _ in asked.run():
        asked.save_checkpoint(tmp_path / "checkpoint")
        asked.learner.model()
    for name, value in plain.learner.state()[0].items():
        if name.startswith("value/"):
            assert (value == asked.learner.state()[0][name]).all(), name


def test_a_model_does_not_change_when_learning_goes_on(tmp_path):
    run = training()
    epochs = run.run()
    parser = next(epochs).parser
    before = bytes_of(parser, tmp_path)
    next(epochs)
    assert bytes_of(parser, tmp_path) == before


@pytest.mark.parametrize(
    "other",
    [
        {"train": toy_sentences(N_TRAIN, seed=7)},
        {"train": toy_sentences(N_TRAIN)[::-1]},
        {"train": toy_sentences(N_TRAIN - 1)},
        {"dev": toy_sentences(3, seed=8)},
        {"seed": 2},
        {"system": "covington"},
        {"oracle": "eager"},
        {"single_root": False},
        {"settings": {"rate": 0.02}},
    ],
    ids=["data", "order", "fewer", "dev", "seed", "system", "oracle", "roots", "rate"],
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, other):
    run = training()
    next(run.run())
    run.save_checkpoint(tmp_path / "checkpoint")
    with pytest.raises(ModelError, match=r"checkpoint: the checkpoint is of another .*; --restart removes it"):
        training(**other).resume(tmp_path / "checkpoint")


def test_a_model_or_a_damaged_file_is_no_checkpoint(tmp_path):
    run = training(settings={"epochs": 1})
    bytes_of(finished(run), tmp_path)
    with pytest.raises(ModelError):
        training(settings={"epochs": 1}).resume(tmp_path / "model.tw")
    run.save_checkpoint(tmp_path / "checkpoint")
    data = (tmp_path / "checkpoint").read_bytes()
    (tmp_path / "checkpoint").write_bytes(data[:-1])
    with pytest.raises(ModelError, match="damaged"):
        training(settings={"epochs": 1}).resume(tmp_path / "checkpoint")


@pytest.mark.parametrize("wanted", [0.5, 1.0, 2.0])
def test_what_votes_are_worth_is_found_on_dev(tmp_path, monkeypatch, wanted):
    dev = toy_sentences(6, seed=9)

    def judged(gold, parsed):
        """As if trees were the better, the closer the worth of votes is to the one wanted."""
        list(parsed)
        return SimpleNamespace(las=-abs(model.votes.greedy - 0.7 * wanted) - abs(model.votes.beam - 2.0 * wanted))

    run = training(dev=dev)
    *_, last = run.run()
    model = last.parser.model
    assert model.votes.greedy / 0.7 in (0.5, 1.0, 2.0)
    model.calibrated, model.votes = False, Votes()
    monkeypatch.setattr(loop, "evaluate", judged)
    parser = run.best_parser()
    assert parser.model.votes == Votes(0.7 * wanted, 2.0 * wanted)
    parser.save(tmp_path / "model.tw")
    assert Parser.load(tmp_path / "model.tw").model.votes == parser.model.votes


# Learning. --------------------------------------------------------------------------------------------------------


@slow_if_interpreted
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "choices",
    [{}, {"system": "covington"}, {"system": "two-planar"}, {"system": "arc-standard", "pseudo_projective": "head"}],
    ids=["swap", "covington", "two-planar", "pseudo-projective"],
)
def test_it_learns_the_toy_treebank_crossing_arcs_included(choices, seed):
    train = toy_sentences(120)
    parser = train_parser(train, settings={"epochs": 10, "batch_words": 10}, seed=seed, **choices)
    scores = evaluate(train, parser.parse_all(train))
    assert scores.las > 95
    assert scores.as_dict()["nonprojective_recall"] > 90
    assert scores.as_dict()["nonprojective_precision"] > 90
    new = toy_sentences(50, seed=6)
    assert evaluate(new, parser.parse_all(new)).las > 90


def test_the_loss_falls():
    losses = [
        progress.loss for progress in training(toy_sentences(40), settings={"epochs": 5, "drop_hidden": 0.1}).run()
    ]
    assert losses[-1] < 0.8 * losses[0]
    assert all(0 < loss < 2 for loss in losses)  # of a move and of its label


def fake_scores(monkeypatch, las):
    values = iter(las)

    def evaluate_epoch(*_):
        value = next(values)
        return SimpleNamespace(las=value, uas=value)

    monkeypatch.setattr(loop, "evaluate", evaluate_epoch)
    monkeypatch.setattr(Training, "_weigh_votes", lambda *_: None)  # which evaluates at the end


@pytest.mark.parametrize(("las", "best"), [([50, 70, 60], 2), ([50, 40, 30], 1), ([50, 60, 70], 3), ([50, 50, 50], 1)])
def test_the_best_epoch_on_dev_is_kept_and_of_equals_the_first(monkeypatch, las, best):
    fake_scores(monkeypatch, las)
    run = training(dev=toy_sentences(2, seed=3), settings={"epochs": 3})
    after = []
    for progress in run.run():
        assert progress.scores.las == las[progress.epoch - 1]
        assert progress.is_best == (progress.parser.description["epoch"] == progress.epoch)
        after.append({name: bytes(values) for name, values in progress.parser.model.arrays().items()})
    assert progress.parser.description["epoch"] == best
    assert progress.parser.description["dev"] == {"las": las[best - 1], "uas": las[best - 1]}
    assert after[-1] == after[best - 1]


def test_without_dev_the_last_epoch_is_kept():
    parser = finished(training(settings={"epochs": 3}))
    assert parser.description["epoch"] == 3
    assert "dev" not in parser.description


def test_the_description_says_what_the_parser_was_made_from():
    train = toy_sentences(N_TRAIN)
    described = finished(training(train, system="covington", options={"max_degree": 2}, seed=4)).description
    assert described["system"] == "covington"
    assert described["options"] == {"max_degree": 2}
    assert described["seed"] == 4
    assert described["learner"] == "network"
    assert described["settings"]["epochs"] == 2
    assert described["train_sentences"] == len(train)
    assert described["train_words"] == sum(map(len, train))
    assert described["single_root"] is True


@pytest.mark.parametrize("name", SYSTEMS)
def test_trees_that_a_system_does_not_cover_do_not_stop_training(name):
    text = "".join(
        f"{i}\tw\tw\tNOUN\tN\t_\t{head}\t{'root' if head == 0 else 'dep'}\t_\t_\n"
        for i, head in enumerate([3, 5, 0, 1, 4, 2], 1)
    )
    parser = finished(training(sentences_of((text + "\n") * 3), system=name, settings={"epochs": 1}))
    assert len(parser.parse(toy_sentences(1)[0]).roots()) == 1


@pytest.mark.parametrize(
    ("name", "options"), [("attardi", {"reduces": "s0>s1,s1>s0,b0>s1"}), ("stack-swap", {}), ("stack-swap-planar", {})]
)
def test_a_tree_for_which_an_oracle_gives_up_its_search_does_not_stop_training(monkeypatch, name, options):
    monkeypatch.setattr(f"{SYSTEMS[name].__module__}.SEARCH_LIMIT", 0)
    crossing = next(s for s in toy_sentences(300) if not s.tree.is_projective())
    with pytest.raises(UndecidedError, match="no derivation found in 0 configurations"):
        make_system(name, **options).oracle().bind(crossing.tree.heads)
    train = [crossing, *toy_sentences(N_TRAIN)]
    parser = finished(training(train, system=name, options=options, settings={"epochs": 1}))
    assert len(parser.parse(crossing).roots()) == 1


@pytest.mark.parametrize("column", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["<unknown>", "<root>"])
def test_words_called_like_the_unknown_or_the_root_can_be_learnt_and_saved(tmp_path, column, name):
    lines = [line.split("\t") for line in toy_text(N_TRAIN).splitlines()]
    for columns in lines:
        if columns[0] == "2":
            columns[column] = name
    train = sentences_of("\n".join("\t".join(columns) for columns in lines) + "\n\n")
    parser = finished(training(train))
    parser.save(tmp_path / "model.tw")
    loaded = type(parser).load(tmp_path / "model.tw")
    vocabularies = [p.model.vocabulary.numbers for p in (parser, loaded)]
    assert vocabularies[0] == vocabularies[1]
    parsed = [[s.to_text() for s in p.parse_all(train)] for p in (parser, loaded)]
    assert parsed[0] == parsed[1]


# Warnings and errors. ---------------------------------------------------------------------------------------------


def test_rare_crossing_arcs_are_warned_of():
    (warning,) = training(toy_sentences(10)).warnings
    crossing = sum(len(s.tree.nonprojective_arcs()) for s in toy_sentences(10))
    assert 0 < crossing < 50
    assert warning.startswith(f"the training data has only {crossing} non-projective arcs: ")
    projective = [s for s in toy_sentences(30) if s.tree.is_projective()]
    (warning,) = training(projective).warnings
    assert "no non-projective arc:" in warning
    assert training(toy_sentences(100)).warnings == []


def test_rare_decorated_labels_are_warned_of():
    choices = {"system": "arc-standard", "pseudo_projective": "head"}
    crossing = [s for s in toy_sentences(300) if not s.tree.is_projective()]
    assert training(crossing, **choices).warnings == []
    rare = next(s for s in crossing if "xcomp" in s.deprels)
    rest = [s for s in toy_sentences(300) if "xcomp" not in s.deprels]
    (warning,) = training([*rest, rare], **choices).warnings
    assert warning == (
        "1 of 2 decorated labels occur fewer than 5 times and will hardly be learnt: "
        + next(label for label in training([*rest, rare], **choices).actions.labels if label.startswith("obj|"))
    )


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"system": "oak"}, "unknown system 'oak'; choose from .*swap"),
        ({"oracle": "delphi"}, "swap has no oracle 'delphi'; it has .*lazy"),
        ({"learner": "oak"}, f"unknown learner 'oak'; choose from {', '.join(LEARNERS)}"),
        ({"options": {"degree": 2}}, "swap has no option 'degree'; it has single_root"),
        ({"settings": {"epoch": 2}}, "the network learner has no setting 'epoch'; it has epochs, .*rate"),
        ({"settings": {"epochs": "many"}}, "epochs='many': the setting should be of type int"),
        ({"settings": {"epochs": 1.5}}, "epochs=1.5: the setting should be of type int"),
        ({"settings": {"rate": "fast"}}, "rate='fast': the setting should be of type float"),
        ({"pseudo_projective": "tail"}, "unknown pseudo-projective scheme 'tail'; known: head, path"),
        ({"seed": "one"}, "seed"),
        ({"seed": -1}, "seed"),
        ({"settings": {"epochs": -1}}, "epochs"),
        ({"settings": {"drop_hidden": 1.0}}, "drop_hidden"),
    ],
)
def test_a_choice_that_does_not_exist_says_what_does(choices, message):
    with pytest.raises(ConfigError, match=message):
        training(**choices)


def test_no_sentence_to_train_on_is_an_error():
    with pytest.raises(ConfigError, match="no sentence to train on"):
        Training(Config(), []).prepare()


def test_a_sentence_without_a_tree_is_an_error_that_says_where():
    with pytest.raises(TanglewoodError, match="head"):
        training(sentences_of("1\twug\t_\t_\t_\t_\t_\t_\t_\t_\n\n", trees=False))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_oracle_chosen_may_be_asked_from_any_state_if_there_is_such_a_one(name):
    system = make_system(name)
    chosen = system.oracle(system.training_oracle())
    slow = name in ("arc-standard", "planar", "two-planar") or name.startswith("attardi")  # to train with, or rough
    assert chosen.explores == (not slow and any(system.oracle(oracle).explores for oracle in system.oracles))


def test_the_oracle_chosen_for_a_bounded_covington_exists():
    system = make_system("covington", max_degree=1)
    system.oracle(system.training_oracle())


# Configuration files. ---------------------------------------------------------------------------------------------


def test_a_file_and_overrides_give_the_choices(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text('system = "covington"\nseed = 7\nepochs = 3\nrate = 0.5\n[options]\nmax_degree = 2\n')
    assert read_config(str(path), []) == Config(
        system="covington", seed=7, options={"max_degree": 2}, settings={"epochs": 3, "rate": 0.5}
    )
    overrides = ["epochs=4", "options.max_degree=1", "seed = 8", "oracle=static", "rate=0.25", "beam=2"]
    assert read_config(str(path), overrides) == Config(
        system="covington",
        seed=8,
        oracle="static",
        beam=2,
        options={"max_degree": 1},
        settings={"epochs": 4, "rate": 0.25},
    )
    assert read_config(None, []) == Config()
    assert read_config(None, ['system="swap"', "single_root=false"]) == Config(system="swap", single_root=False)


@pytest.mark.parametrize("overrides", [["epochs"], ["options=3"], ["epochs=3", "epochs.more=1"]])
def test_an_override_that_makes_no_sense_is_refused(overrides):
    with pytest.raises(ConfigError, match=overrides[0].partition("=")[0]):
        read_config(None, overrides)


@pytest.mark.parametrize("width", [0, -1, MOST_WIDTH + 1, True, 2.0, "8"])
def test_a_beam_that_no_search_takes_is_refused_before_anything_is_read(width):
    with pytest.raises(ConfigError, match=re.escape(f"beam={width!r}: it should be a whole number")):
        Config(beam=width)
    assert Config(beam=MOST_WIDTH).dev_beam == MOST_WIDTH


def test_a_configuration_that_is_no_toml_is_named(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text("epochs: 3\n")
    with pytest.raises(ConfigError, match=r"my\.toml"):
        read_config(str(path), [])
