"""Training as a library: tw.train gives what the command gives, from any source, and says how it goes."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys

import pytest

import tanglewood as tw
from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ArgumentError, ConfigError, ModelError
from tanglewood.learners.network.learner import NetworkLearner
from tanglewood.pipeline import Pipeline
from tanglewood.training import loop
from tanglewood.training import session as session_module
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.training.progress import Progress, TaggerProgress
from tanglewood.training.session import Session
from toy import toy_sentences, toy_text
from toy_pipeline import written

N_TRAIN = 60 if COMPILED else 20
QUICK = {"epochs": 2, "batch_words": 20, "rate": 0.01}
LINEAR = {"learner": "linear", "epochs": 1}
pytestmark = pytest.mark.usefixtures("small_training")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(toy_text(N_TRAIN))
    (tmp_path / "dev.conllu").write_text(toy_text(5, seed=2))
    return tmp_path


def bytes_of(model, path):
    model.save(path)
    return path.read_bytes()


def command(*arguments):
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "command.tw", *arguments]) == 0


# The same as the command. -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        (["--set", "batch_words=20", "--set", "rate=0.01", "--epochs", "2"], QUICK),
        (["--learner", "linear", "--epochs", "1", "--seed", "4"], {**LINEAR, "seed": 4}),
        (["--search", "mst", "--epochs", "1"], {"search": "mst", "epochs": 1}),
        (
            ["--system", "covington", "--max-degree", "2", "--learner", "linear", "--epochs", "1", "--several-roots"],
            {**LINEAR, "system": "covington", "max_degree": 2, "single_root": False},
        ),
        (
            ["--system", "arc-eager", "--pseudo-projective", "head", "--learner", "linear", "--epochs", "1"],
            {**LINEAR, "system": "arc-eager", "pseudo_projective": "head"},
        ),
    ],
    ids=["network", "linear", "arcs", "covington", "pseudo-projective"],
)
def test_the_library_gives_the_bytes_that_the_command_gives(files, options, choices):
    command(*options)
    model = tw.train("train.conllu", "dev.conllu", **choices)
    assert isinstance(model, Pipeline)
    assert bytes_of(model, files / "library.tw") == (files / "command.tw").read_bytes()


def test_a_pipeline_has_the_bytes_that_the_command_gives(files):
    for part, seed in (("train", 1), ("dev", 2)):
        (files / f"{part}.conllu").write_bytes(b"".join(s.to_bytes() for s in written(N_TRAIN, seed)))
    command("--pipeline", "--epochs", "1", "--set", "folds=2", "--learner", "linear")
    model = tw.train("train.conllu", "dev.conllu", pipeline=True, folds=2, **LINEAR)
    assert bytes_of(model, files / "library.tw") == (files / "command.tw").read_bytes()
    assert sorted(path.name for path in files.iterdir()) == ["command.tw", "dev.conllu", "library.tw", "train.conllu"]
    assert model("Dax zorps.").sentences


@pytest.mark.skipif(not COMPILED or (os.cpu_count() or 1) < 2, reason="with one core there is one thread anyway")
def test_the_library_gives_them_however_many_threads_matrix_products_have(files):
    """In the network's real size, in a process of its own."""
    (files / "train.conllu").write_text(toy_text(60))
    script = """
import hashlib, numpy, warnings, tanglewood as tw
warnings.simplefilter("ignore")
model = tw.train("train.conllu", epochs=1, batch_words=400)
model.save("model.tw")
print(hashlib.sha256(open("model.tw", "rb").read()).hexdigest())
"""
    found = set()
    for threads in ("1", "2"):
        env = os.environ | {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "MKL", "OMP")}
        done = subprocess.run([sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_treebanks_come_from_anywhere(files):
    sentences = toy_sentences(N_TRAIN)
    wanted = bytes_of(tw.train("train.conllu", **LINEAR), files / "path.tw")
    with (files / "train.conllu").open("rb") as file:
        for source in (
            file,
            sentences,
            iter(sentences),
            [files / "train.conllu"],
            io.BytesIO(toy_text(N_TRAIN).encode()),
        ):
            assert bytes_of(tw.train(source, **LINEAR), files / "other.tw") == wanted
    half = toy_text(N_TRAIN).index("# sent_id = toy-1-5\n")
    (files / "one.conllu").write_text(toy_text(N_TRAIN)[:half])
    (files / "two.conllu").write_text(toy_text(N_TRAIN)[half:])
    assert bytes_of(tw.train(["one.conllu", "two.conllu"], **LINEAR), files / "other.tw") == wanted


def test_the_number_of_processes_changes_nothing(files):
    models = [
        bytes_of(tw.train("train.conllu", "dev.conllu", processes=n, **LINEAR), files / "model.tw") for n in (1, 2)
    ]
    assert models[0] == models[1]


# How it goes. -----------------------------------------------------------------------------------------------------


def test_a_function_hears_of_every_epoch(files, capfd):
    heard = []
    model = tw.train("train.conllu", "dev.conllu", progress=heard.append, **QUICK)
    assert [(type(p), p.part, p.epoch, p.epochs) for p in heard] == [(Progress, "parser", n, 2) for n in (1, 2)]
    best = [p for p in heard if p.is_best][-1]
    assert model.description["dev"]["las"] == round(best.scores.las, 4)
    assert heard[1].parser.description == model.description
    assert capfd.readouterr() == ("", "")


def test_it_hears_of_taggers_too(files):
    heard = []
    tw.train(written(N_TRAIN, 1), written(3, 2), pipeline=True, folds=2, progress=heard.append, **LINEAR)
    parts = list(dict.fromkeys(p.part for p in heard))
    assert parts == ["tagger of part 1/2", "tagger of part 2/2", "tagger", "parser"]
    last = [p for p in heard if p.part == "tagger"][-1]
    assert isinstance(last, TaggerProgress)
    assert last.epoch == last.epochs
    assert last.scores.upos > 0


def test_true_writes_what_the_command_prints(files, capfd):
    command("--learner", "linear", "--epochs", "2")
    printed = capfd.readouterr().err.splitlines()
    tw.train("train.conllu", "dev.conllu", learner="linear", epochs=2, progress=True)
    captured = capfd.readouterr()
    assert captured.out == ""

    def timeless(lines):
        return [line.partition("   ")[0].rpartition("  ")[0] if " s, " in line else line for line in lines]

    assert timeless(captured.err.splitlines()) == timeless(printed[:-1])  # the last is about the file
    (line,) = [line for line in printed if line.startswith("epoch  2/2  loss ")]
    assert "  dev LAS " in line


def test_warnings_are_warnings_or_lines(files, capfd, monkeypatch):
    monkeypatch.setattr(loop, "RARE_ARCS", 50)
    with pytest.warns(UserWarning, match="only .* non-projective arcs") as caught:
        tw.train(toy_sentences(10), **LINEAR)
    assert caught[0].filename == __file__
    tw.train(toy_sentences(10), progress=True, **LINEAR)
    assert "warning: the training data has only " in capfd.readouterr().err


def test_lines_of_progress_say_what_was_found(files):
    heard = []
    tw.train("train.conllu", "dev.conllu", progress=heard.append, **LINEAR)
    (one,) = heard
    text = f"epoch  1/1  loss {one.loss:.3f}  dev LAS {one.scores.las:.2f}  UAS {one.scores.uas:.2f}  *"
    assert str(one) == f"{text}  {one.seconds:.1f} s, 0:00 left"
    assert one.seconds_left == 0


# Interruptions. ---------------------------------------------------------------------------------------------------


def interrupt_epoch(monkeypatch, number):
    """Press Ctrl-C in the middle of that epoch."""
    plain = NetworkLearner._learn

    def learn(self, *args):
        plain(self, *args)
        if self._epochs == number - 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(NetworkLearner, "_learn", learn)


def test_an_interrupted_run_keeps_the_best_and_goes_on(files, monkeypatch):
    choices = {**QUICK, "epochs": 3}
    whole = bytes_of(tw.train("train.conllu", "dev.conllu", **choices), files / "whole.tw")
    with monkeypatch.context() as patch:
        interrupt_epoch(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            tw.train("train.conllu", "dev.conllu", output="model.tw", **choices)
    assert tw.load("model.tw").description["epoch"] == 1
    assert (files / "model.tw.training").exists()
    heard = []
    model = tw.train("train.conllu", "dev.conllu", output="model.tw", resume=True, progress=heard.append, **choices)
    assert [p.epoch for p in heard] == [2, 3]
    assert (files / "model.tw").read_bytes() == whole == bytes_of(model, files / "again.tw")
    assert not (files / "model.tw.training").exists()


def test_an_interrupted_run_without_an_output_keeps_nothing(files, monkeypatch):
    interrupt_epoch(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        tw.train("train.conllu", **QUICK)
    assert sorted(path.name for path in files.iterdir()) == ["dev.conllu", "train.conllu"]


def test_a_pipeline_goes_on_where_it_stopped(files, monkeypatch):
    train, dev = written(N_TRAIN, 1), written(3, 2)
    choices = {"pipeline": True, "folds": 2, **LINEAR}
    wanted = bytes_of(tw.train(train, dev, **choices), files / "whole.tw")

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Training, "prepare", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tw.train(train, dev, output="model.tw", **choices)
    assert sorted(p.name for p in (files / "model.tw.parts").iterdir()) == [
        *("fold1.tw", "fold2.tw", "tagger.tw", "tokenizer.tw")
    ]
    heard = []
    tw.train(train, dev, output="model.tw", resume=True, progress=heard.append, **choices)
    assert {p.part for p in heard} == {"parser"}
    assert (files / "model.tw").read_bytes() == wanted
    assert not (files / "model.tw.parts").exists()


def test_parts_of_an_older_run_are_not_taken_unasked(files):
    (files / "model.tw.parts").mkdir()
    (files / "model.tw.parts" / "tagger.tw").write_text("old")
    train = written(N_TRAIN, 1)
    with pytest.raises(ModelError, match=r"tagger\.tw"):
        tw.train(train, output="model.tw", pipeline=True, folds=2, resume=True, **LINEAR)
    with pytest.raises(ConfigError, match=r"model\.tw\.parts is of a run that was interrupted"):
        tw.train(train, output="model.tw", pipeline=True, folds=2, **LINEAR)
    tw.train(train, output="model.tw", pipeline=True, folds=2, restart=True, **LINEAR)


def test_a_model_that_cannot_be_written_is_kept_elsewhere(files, monkeypatch):
    plain = Pipeline.save

    def full(self, path):
        if path.name == "model.tw" and path.parent.name == "":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        plain(self, path)

    monkeypatch.setattr(Pipeline, "save", full)
    monkeypatch.setattr("tempfile.tempdir", str(files))
    with pytest.raises(OSError, match=r"No space left on device; the model is in .* instead"):
        tw.train("train.conllu", output="model.tw", **LINEAR)
    (kept,) = files.glob("tanglewood-*/model.tw")
    assert tw.load(kept).description["epoch"] == 1


# What is refused, before anything is read. ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"system": "oak"}, ConfigError, "unknown system 'oak'"),
        ({"learner": "oak"}, ConfigError, "unknown learner 'oak'"),
        ({"search": "oak"}, ConfigError, "unknown search 'oak'"),
        ({"epoch": 1}, ConfigError, "the network learner has no setting 'epoch'; it has epochs"),
        ({"epochs": "many"}, ConfigError, "epochs='many'"),
        ({"seed": -1}, ConfigError, "seed=-1"),
        ({"max_degree": 1}, ConfigError, "no setting 'max_degree'"),
        ({"processes": 0}, ConfigError, "processes must be 1 or more"),
        ({"output": "no/such/folder/model.tw"}, FileNotFoundError, "no folder no/such/folder"),
        ({"progress": "yes"}, ArgumentError, "progress should be True, or a function"),
    ],
)
def test_a_wrong_choice_is_an_error_at_once(monkeypatch, choices, error, message):
    monkeypatch.setattr(session_module, "sentences_from", lambda _: pytest.fail("read"))
    with pytest.raises(error, match=message):
        tw.train("train.conllu", **choices)


@pytest.mark.parametrize(
    "source", [None, 3, toy_sentences(1)[0], io.StringIO("x"), [1]], ids=lambda one: type(one).__name__
)
def test_what_is_no_treebank_is_refused(source):
    with pytest.raises(ArgumentError):
        tw.train(source)


def test_constructors_only_store(monkeypatch):
    monkeypatch.setattr("tanglewood.training.loop.make_system", lambda *_, **__: pytest.fail("worked"))
    Training(Config(), [])
    Session(Config(), [], output="no/such/folder/model.tw", processes=0)
    with pytest.raises(ConfigError, match="nothing was learnt"):
        Session(Config(), []).model()


def test_a_model_that_could_not_be_loaded_again_does_not_replace_the_old_one(files, monkeypatch):
    whole = Pipeline.contents

    def diverged(self):
        arrays, settings = whole(self)
        return {**arrays, "move.bias": arrays["move.bias"] * float("nan")}, settings

    monkeypatch.setattr(Pipeline, "contents", diverged)
    (files / "model.tw").write_text("old")
    with pytest.raises(ModelError, match=r"model\.tw: what was learnt could not be loaded again .*lower rate or cost"):
        tw.train("train.conllu", output="model.tw", **QUICK)
    assert (files / "model.tw").read_text() == "old"
