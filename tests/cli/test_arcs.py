"""Models of arcs as a user trains and uses them: searches, limits, confidence, guides, model files."""

from __future__ import annotations

import pytest

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError, LimitError, ModelError
from tanglewood.measure.scores import evaluate
from tanglewood.parser import Parser
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.treebank.conllu import read
from toy import small_network, toy_sentences, toy_text

N_TRAIN = 60 if COMPILED else 10
ARCS = {"epochs": 3}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for library in ("OPENBLAS", "MKL", "OMP"):  # the commands set them; they are put back
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    (tmp_path / "train.conllu").write_text(toy_text(N_TRAIN))
    (tmp_path / "dev.conllu").write_text(toy_text(10 if COMPILED else 4, seed=2))
    return tmp_path


def train(dev=(), sentences=None, **choices) -> Parser:
    settings = {**ARCS, **choices.pop("settings", {})}
    training = Training(Config(settings=settings, **choices), sentences or toy_sentences(N_TRAIN), dev)
    *_, last = training.run()
    return last.parser


@pytest.fixture(scope="module")
def parser():
    return train(search="exact", dev=toy_sentences(10 if COMPILED else 2, seed=3))


@pytest.fixture
def model(files, parser):
    parser.save("arcs.tw")
    return files / "arcs.tw"


def texts(sentences) -> list[str]:
    return [sentence.to_text() for sentence in sentences]


@pytest.mark.parametrize("search", ["mst", "eisner", "exact"])
def test_train_and_parse_end_to_end(files, capfd, search):
    options = ["--search", search, "--epochs", "3", "--system", "attardi-alls0s1"]
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "arcs.tw", *options]) == 0
    err = capfd.readouterr().err
    assert f"{search} search, arcs learner, " in err
    assert main(["parse", "-m", "arcs.tw", "dev.conllu", "-o", "out.conllu"]) == 0
    parser = Parser.load("arcs.tw")
    found = evaluate(list(read("dev.conllu")), list(read("out.conllu")))
    assert round(found.las, 4) == parser.description["dev"]["las"]
    assert found.uas > (50 if search == "eisner" else 60)
    if search == "eisner":
        assert all(sentence.tree.is_projective() for sentence in read("out.conllu"))


def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(files):
    choices = {"search": "mst", "settings": {"epochs": 3}}
    dev = toy_sentences(5 if COMPILED else 1, seed=2)
    straight = train(dev, **choices)
    training = Training(Config(**choices), toy_sentences(N_TRAIN), dev)
    progress = training.run()
    next(progress)
    next(progress)
    training.save_checkpoint("half.training")
    resumed = Training(Config(**choices), toy_sentences(N_TRAIN), dev)
    resumed.resume("half.training")
    *_, last = resumed.run()
    straight.save("straight.tw")
    last.parser.save("resumed.tw")
    assert (files / "straight.tw").read_bytes() == (files / "resumed.tw").read_bytes()


def test_a_loaded_model_parses_alike_with_any_number_of_threads(model, parser):
    dev = toy_sentences(30 if COMPILED else 4, seed=2)
    found = texts(parser.parse_all(dev))
    assert texts(Parser.load(model).parse_all(dev)) == found
    assert texts(parser.parse_all(dev * 3, threads=3)) == found * 3
    assert parser.parse(dev[0]).heads == next(parser.parse_all(dev)).tree.heads


def test_an_empty_and_a_one_word_sentence_are_parsed(parser):
    (one,) = toy_sentences(1)
    words = [("1", "wug", "wug", "NOUN", "_", "_", "_", "_", "_", "_")]
    short = type(one).build(words)
    assert parser.parse(short).heads.tolist() == [-1, 0]


def test_every_search_can_be_chosen_when_parsing(model, parser):
    dev = toy_sentences(20 if COMPILED else 5, seed=2)
    assert main(["parse", "-m", "arcs.tw", "dev.conllu", "--search", "eisner", "-o", "out.conllu"]) == 0
    assert all(sentence.tree.is_projective() for sentence in read("out.conllu"))
    for search, proof in (("exact", "spanning-tree"), ("lite", "chart"), ("mst", "spanning-tree")):
        shown = list(parser.parse_all(dev, search=search, show_search=True))
        assert any(f"search = {search}, proof: {proof}" in sentence.comments for sentence in shown)


def test_beyond_a_limit_the_output_says_what_was_done(model, capfd):
    assert main(["parse", "-m", "arcs.tw", "dev.conllu", "--search", "eisner", "--max-length", "6"]) == 0
    out = capfd.readouterr().out
    long = sum(len(sentence) > 6 for sentence in read("dev.conllu"))
    assert 0 < long < sum(1 for _ in read("dev.conllu"))
    assert out.count("words are beyond the limit\n") == out.count("# search = mst instead of eisner: ") == long


def test_no_more_memory_is_asked_for_than_allowed(parser):
    dev = toy_sentences(5, seed=2)
    for sentence in parser.parse_all(dev, search="eisner", max_memory=1):
        assert sentence.comments[0].startswith("search = mst instead of eisner")
    with pytest.raises(ConfigError, match="let nothing through"):
        list(parser.parse_all(dev, max_memory=0))


def test_a_sentence_whose_tables_do_not_fit_is_named_before_they_are_made(model, parser, capfd, monkeypatch):
    monkeypatch.setattr("tanglewood.searches.MOST_MEMORY", 32 * 7**2 + 40 * 7)  # of six words
    dev = list(read("dev.conllu"))
    first = next(sentence for sentence in dev if len(sentence) > 6)
    monkeypatch.setattr("tanglewood.learners.arcs.learner.score_table", lambda n: pytest.fail("a table was made"))
    with pytest.raises(LimitError, match=r"words need 1 MB .* more than the 0 MB allowed; --max-memory 1 allows them"):
        list(parser.parse_all(dev, max_memory=1))
    with pytest.raises(LimitError, match=f"^dev.conllu:{first.line}, sent_id {first.sent_id}: {len(first)} words"):
        list(parser.parse_all(dev, max_memory=1))
    monkeypatch.undo()
    monkeypatch.chdir(model.parent)
    monkeypatch.setattr("tanglewood.searches.MOST_MEMORY", 32 * 7**2 + 40 * 7)
    monkeypatch.setattr("tanglewood.cli.searching.MOST_MEMORY", 1)
    assert main(["parse", "-m", "arcs.tw", "dev.conllu", "--on-error", "skip", "-o", "out.conllu"]) == 0
    assert [sentence.line for sentence in read("out.conllu")]
    assert len(list(read("out.conllu"))) == sum(len(sentence) <= 6 for sentence in dev)
    told = capfd.readouterr().err
    assert told.count("for the tables of a graph-based search") == sum(len(sentence) > 6 for sentence in dev)


def test_the_memory_that_is_named_is_what_the_tables_take():
    from tanglewood.decoders.limits import table_memory

    for n in (10, 100, 200):
        tables = 4 * (n + 1) ** 2 + 4 * (n + 1) ** 2  # scores and labels
        assert table_memory(n) == tables + SpanningTree().memory(n)
    assert table_memory(100, sums=True) > table_memory(100)
    assert table_memory(100_000) > 10**11


def test_a_sentence_too_long_to_learn_from_is_named(files, monkeypatch):
    monkeypatch.setattr("tanglewood.training.loop.MOST_MEMORY", 100)
    with pytest.raises(
        LimitError, match=r"^train.conllu:1, sent_id toy-1-1: \d+ words need 1 MB .* should be left out or broken up"
    ):
        Training(Config(search="mst"), list(read("train.conllu"))).prepare()


def test_confidence_is_a_probability_and_risk_may_be_minimized(parser):
    dev = toy_sentences(10 if COMPILED else 2, seed=2)
    for search in ("mst", "eisner"):
        for min_risk in (False, True):
            for sentence in parser.parse_all(dev, search=search, confidence=True, min_risk=min_risk):
                values = [float(misc.removeprefix("Confidence=")) for misc in sentence.misc]
                assert all(0 <= value <= 1 for value in values)
                assert sum(values) > 0.5 * len(values)


def test_a_temperature_is_found_on_dev_only(parser):
    assert parser.model.temperature != 1
    assert train(search="mst").model.temperature == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--search", "greedy"],
            "search 'greedy' is for models that score moves; this model is graph-based and takes exact, ",
        ),
        (["--beam", "4"], "there is no beam and no nbest"),
        (["--nbest", "2"], "there is no beam and no nbest"),
        (["--max-length", "-1"], "let nothing through"),
    ],
)
def test_what_a_model_of_arcs_cannot_do(model, capfd, options, message):
    assert main(["parse", "-m", "arcs.tw", "dev.conllu", *options, "-o", "out.conllu"]) == 1
    assert message in capfd.readouterr().err
    assert not (model.parent / "out.conllu").exists()


def test_what_a_model_of_moves_cannot_do(files, capfd):
    train(learner="linear", settings={"epochs": 1}).save("moves.tw")
    for options, message in (
        (
            ["--search", "mst"],
            "search 'mst' is for models that score arcs; this model is transition-based and takes greedy, beam",
        ),
        (["--search", "greedy", "--beam", "2"], "greedy search has no beam of 2"),
        (["--min-risk"], "for models that score arcs"),
        (["--show-search"], "for models that score arcs"),
    ):
        assert main(["parse", "-m", "moves.tw", "dev.conllu", *options]) == 1
        assert message in capfd.readouterr().err
    assert main(["parse", "-m", "moves.tw", "dev.conllu", "--search", "beam", "-o", "beam.conllu"]) == 0
    assert main(["parse", "-m", "moves.tw", "dev.conllu", "--beam", "8", "-o", "eight.conllu"]) == 0
    assert (files / "beam.conllu").read_bytes() == (files / "eight.conllu").read_bytes()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"search": "oak"}, "unknown search 'oak' to train with; choose from exact, lite, mst, eisner"),
        ({"search": "mst", "learner": "linear"}, "search='mst' is for learners that score arcs, not for linear"),
        ({"stacked": "model.tw"}, "stacked='model.tw' is for learners that score arcs, not for network"),
        ({"search": "mst", "beam": 4}, "a graph-based one has an exact search"),
        ({"search": "mst", "oracle": "lazy"}, "a graph-based one has an exact search"),
        (
            {"search": "lite", "system": "attardi-all"},
            "no lite search for attardi-all, only exact and mst and eisner",
        ),
        ({"search": "exact", "system": "swap"}, "no exact search for swap, only mst and eisner"),
        ({"search": "mst", "settings": {"margin": 1.0}}, "the arcs learner has no setting 'margin'"),
        ({"search": "mst", "folds": 1}, "folds=1: it should be a whole number, 2 or more"),
    ],
)
def test_choices_that_do_not_fit_are_refused(choices, message):
    with pytest.raises(ConfigError, match=message):
        Training(Config(**choices), toy_sentences(4)).prepare()


# Guides. ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def stacked(files, monkeypatch):
    small_network(monkeypatch)
    train(learner="linear", settings={"epochs": 2}).save("guide.tw")
    reports = []
    config = Config(search="mst", stacked="guide.tw", folds=2, settings=ARCS)
    training = Training(config, toy_sentences(N_TRAIN), toy_sentences(2, seed=2), reports.append)
    *_, last = training.run()
    assert reports == ["stacked parser: fold 1 of 2 parsed", "stacked parser: fold 2 of 2 parsed"]
    return training, last.parser


def test_a_guide_is_asked_about_sentences_it_has_not_seen_and_becomes_part_of_the_model(stacked, files):
    training, parser = stacked
    assert all(example.stacked is not None for example in training.examples)
    parser.save("stacked.tw")
    (files / "guide.tw").unlink()
    loaded = Parser.load("stacked.tw")
    dev = toy_sentences(10, seed=4)
    assert texts(loaded.parse_all(dev)) == texts(parser.parse_all(dev))
    assert loaded.stacked.description == parser.stacked.description
    loaded.save("again.tw")
    assert (files / "again.tw").read_bytes() == (files / "stacked.tw").read_bytes()


def test_a_guided_model_cannot_be_a_guide_and_a_damaged_guide_is_noticed(stacked, files):
    _, parser = stacked
    parser.save("stacked.tw")
    with pytest.raises(ConfigError, match="is stacked itself"):
        Training(Config(search="mst", stacked="stacked.tw", folds=2), toy_sentences(6)).prepare()
    data = (files / "guide.tw").read_bytes()
    (files / "guide.tw").write_bytes(data[:-5])
    with pytest.raises(ModelError):
        Training(Config(search="mst", stacked="guide.tw", folds=2), toy_sentences(6)).prepare()


def test_the_guide_is_given_on_the_command_line(files, capfd):
    assert main(["train", "train.conllu", "-o", "guide.tw", "--learner", "linear", "--epochs", "1"]) == 0
    options = ["--search", "mst", "--guide", "guide.tw", "--set", "folds=2", "--epochs", "1"]
    assert main(["train", "train.conllu", "-o", "stacked.tw", *options]) == 0
    assert "stacked parser: fold 2 of 2 parsed" in capfd.readouterr().err
    assert main(["parse", "-m", "stacked.tw", "dev.conllu", "-o", "out.conllu"]) == 0
