"""The commands train and parse as a user runs them: files, messages, exit status."""

from __future__ import annotations

import errno
import gzip
import io
import sys

import pytest

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.learners.network.learner import NetworkLearner
from tanglewood.measure.scores import evaluate
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.training.loop import Training
from tanglewood.treebank.conllu import read
from toy import small_network, toy_sentences, toy_text, train_parser

N_TRAIN = 60 if COMPILED else 10
QUICK = ["--epochs", "2", "--set", "batch_words=20", "--set", "rate=0.01"]
CYCLE = "# sent_id = bad\n1\twug\twug\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tzorps\tzorp\tVERB\t_\t_\t1\troot\t_\t_\n\n"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_network(monkeypatch)
    for library in ("OPENBLAS", "MKL", "OMP"):  # the commands set them; they are put back
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(toy_text(N_TRAIN))
    (tmp_path / "dev.conllu").write_text(toy_text(10, seed=2))
    return tmp_path


@pytest.fixture
def model(files):
    train_parser(toy_sentences(N_TRAIN)).save("model.tw")
    return files / "model.tw"


def interrupt_epoch(monkeypatch, number):
    """Press Ctrl-C in the middle of that epoch."""
    plain = NetworkLearner._learn

    def learn(self, *args):
        plain(self, *args)
        if self._epochs == number - 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(NetworkLearner, "_learn", learn)


def test_train_and_parse_end_to_end(files, capfd):
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "model.tw", *QUICK]) == 0
    captured = capfd.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0].startswith(f"{N_TRAIN} sentences, ")
    assert "swap, lazy oracle, network learner, " in lines[0]
    assert "epoch  1/2  loss " in captured.err
    assert "epoch  2/2  loss " in captured.err
    assert "dev LAS" in captured.err
    assert "crossing arcs on dev: " in lines[-2]
    assert lines[-1].startswith("model.tw: ")
    assert sorted(path.name for path in files.iterdir()) == ["dev.conllu", "model.tw", "train.conllu"]
    assert main(["parse", "-m", "model.tw", "dev.conllu", "-o", "out.conllu"]) == 0
    parser = Parser.load("model.tw")
    found = evaluate(list(read("dev.conllu")), list(read("out.conllu")))
    assert round(found.las, 4) == parser.description["dev"]["las"]
    assert [s.to_text() for s in read("out.conllu")] == [s.to_text() for s in parser.parse_all(read("dev.conllu"))]


def test_training_with_processes_gives_the_same_bytes(files, capfd):
    command = ["train", "train.conllu", "--dev", "dev.conllu", *QUICK, "-o"]
    for option, number, name in (("-j", 1, "one.tw"), ("--processes", 3, "three.tw"), ("--threads", 2, "two.tw")):
        assert main([*command, name, option, str(number)]) == 0
    assert (files / "one.tw").read_bytes() == (files / "three.tw").read_bytes() == (files / "two.tw").read_bytes()
    assert main([*command, "none.tw", "-j", "0"]) == 1
    assert "processes must be 1 or more" in capfd.readouterr().err


def test_parse_writes_to_standard_output_and_compressed_files_alike(model, capfdbinary):
    assert main(["parse", "-m", "model.tw", "dev.conllu"]) == 0
    captured = capfdbinary.readouterr()
    assert captured.err == b""
    assert captured.out.count(b"# sent_id") == 10
    assert main(["parse", "-m", "model.tw", "dev.conllu", "-o", "out.conllu.gz"]) == 0
    assert gzip.decompress((model.parent / "out.conllu.gz").read_bytes()) == captured.out


def test_parse_reads_several_files_and_standard_input(model, capfdbinary, monkeypatch):
    text = (model.parent / "dev.conllu").read_bytes()
    assert main(["parse", "-m", "model.tw", "dev.conllu", "dev.conllu"]) == 0
    twice = capfdbinary.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text + text)))
    assert main(["parse", "-m", "model.tw", "-"]) == 0
    assert capfdbinary.readouterr().out == twice


def test_threads_give_the_same_and_a_beam_may_give_another_tree(model, capfdbinary):
    outputs = []
    for options in (["--beam", "4"], ["--beam", "4", "-j", "2"], ["-j", "3"], []):
        assert main(["parse", "-m", "model.tw", "dev.conllu", *options]) == 0
        outputs.append(capfdbinary.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[2] == outputs[3]


@pytest.mark.parametrize(("option", "value"), [("--beam", "0"), ("--beam", "-1"), ("-j", "0"), ("--nbest", "0")])
def test_a_beam_threads_or_nbest_below_1_are_refused_and_leave_no_file(model, capfd, option, value):
    assert main(["parse", "-m", "model.tw", "dev.conllu", "-o", "out.conllu", option, value]) == 1
    assert "must be 1 or more" in capfd.readouterr().err
    assert not (model.parent / "out.conllu").exists()


def test_training_with_too_wide_a_beam_is_refused_before_any_file_is_read(tmp_path, capfd):
    for command in (["train", "nowhere.conllu", "-o", str(tmp_path / "new.tw")], ["crossval", "nowhere.conllu"]):
        assert main([*command, "--beam", "10001"]) == 1
        assert capfd.readouterr().err.endswith("beam=10001: it should be a whole number from 1 to 10000\n")


def test_nbest_and_confidence_widen_the_beam_by_themselves(model):
    assert main(["parse", "-m", "model.tw", "dev.conllu", "--nbest", "3", "--confidence", "-o", "out.conllu"]) == 0
    text = (model.parent / "out.conllu").read_text()
    assert text.count("# nbest = 1\n") == 10
    assert "# nbest = 2\n" in text
    assert "Confidence=" in text


def test_parse_needs_no_heads(model):
    text = "1\tta\tta\tDET\tD\t_\t_\t_\t_\t_\n2\twug\twug\tNOUN\tN\t_\t_\t_\t_\t_\n\n"
    (model.parent / "words.conllu").write_text(text)
    assert main(["parse", "-m", "model.tw", "words.conllu", "-o", "out.conllu"]) == 0
    (sentence,) = read("out.conllu")
    assert len(sentence.tree.roots()) == 1


# Interruptions. ---------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_the_best_so_far_and_resume_goes_on(files, capfd, monkeypatch):
    command = ["train", "train.conllu", "--dev", "dev.conllu", *QUICK, "--epochs", "3", "-o"]
    assert main([*command, "whole.tw"]) == 0
    with monkeypatch.context() as patch:
        interrupt_epoch(patch, 2)
        assert main([*command, "model.tw"]) == 130
    err = capfd.readouterr().err
    assert "interrupted: the best parser so far is kept; --resume goes on" in err
    assert Parser.load("model.tw").description["epoch"] == 1
    assert (files / "model.tw.training").exists()
    assert main(["parse", "-m", "model.tw", "dev.conllu", "-o", "out.conllu"]) == 0
    assert main([*command, "model.tw", "--resume"]) == 0
    err = capfd.readouterr().err
    assert "going on after epoch 1" in err
    assert "epoch  1/3" not in err
    assert (files / "model.tw").read_bytes() == (files / "whole.tw").read_bytes()
    assert not (files / "model.tw.training").exists()


def test_ctrl_c_in_the_first_epoch_leaves_nothing(files, capfd, monkeypatch):
    interrupt_epoch(monkeypatch, 1)
    assert main(["train", "train.conllu", "-o", "model.tw", *QUICK]) == 130
    assert "tanglewood train: interrupted" in capfd.readouterr().err
    assert sorted(path.name for path in files.iterdir()) == ["dev.conllu", "train.conllu"]


def test_an_interrupted_run_is_neither_gone_on_with_nor_removed_unasked(files, capfd, monkeypatch):
    command = ["train", "train.conllu", "-o", "model.tw", *QUICK]
    with monkeypatch.context() as patch:
        interrupt_epoch(patch, 2)
        assert main(command) == 130
    left = (files / "model.tw.training").read_bytes()
    capfd.readouterr()
    assert main(["train", "nowhere.conllu", *command[2:]]) == 1  # before anything is read
    assert capfd.readouterr().err == (
        "tanglewood train: model.tw.training is of a run that was interrupted: --resume goes on with it, --restart "
        "removes it\n"
    )
    assert (files / "model.tw.training").read_bytes() == left
    assert main([*command, "--resume", "--restart"]) == 1
    assert "choose one" in capfd.readouterr().err
    assert main([*command, "--restart"]) == 0
    assert "epoch  1/2" in capfd.readouterr().err
    assert not (files / "model.tw.training").exists()


def test_resume_without_a_checkpoint_begins_at_the_beginning(files, capfd):
    assert main(["train", "train.conllu", "-o", "model.tw", *QUICK, "--resume"]) == 0
    assert "epoch  1/2" in capfd.readouterr().err


def test_the_checkpoint_of_another_run_is_refused(files, capfd, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_epoch(patch, 2)
        assert main(["train", "train.conllu", "-o", "model.tw", *QUICK]) == 130
    before = (files / "model.tw").read_bytes()
    assert main(["train", "dev.conllu", "-o", "model.tw", *QUICK, "--resume"]) == 1
    assert "model.tw.training: the checkpoint is of another training run" in capfd.readouterr().err
    assert (files / "model.tw").read_bytes() == before


def test_a_checkpoint_that_cannot_be_written_costs_nothing_that_was_learnt(files, capfd, monkeypatch):
    command = ["train", "train.conllu", "--dev", "dev.conllu", *QUICK, "-o"]
    assert main([*command, "whole.tw"]) == 0

    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Training, "save_checkpoint", full)
    capfd.readouterr()
    assert main([*command, "model.tw"]) == 0
    err = capfd.readouterr().err
    assert err.count("warning: model.tw.training: No space left on device; training goes on without it\n") == 2
    assert (files / "model.tw").read_bytes() == (files / "whole.tw").read_bytes()
    interrupt_epoch(monkeypatch, 2)
    assert main([*command, "half.tw"]) == 130
    assert "interrupted: the best parser so far is kept\n" in capfd.readouterr().err
    assert Parser.load("half.tw").description["epoch"] == 1


def test_a_model_that_cannot_be_written_at_the_end_is_kept_elsewhere(files, capfd, monkeypatch):
    plain = Pipeline.save

    def full(self, path):
        if str(path) == "model.tw":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        plain(self, path)

    monkeypatch.setattr(Pipeline, "save", full)
    monkeypatch.setattr("tempfile.tempdir", str(files))
    assert main(["train", "train.conllu", "-o", "model.tw", *QUICK]) == 1
    last = capfd.readouterr().err.splitlines()[-1]
    (kept,) = files.glob("tanglewood-*/model.tw")
    assert last == f"tanglewood train: model.tw: No space left on device; the model is in {kept} instead"
    assert Parser.load(kept).description["epoch"] == 2
    assert (files / "model.tw.training").exists()


# Columns that are empty. ------------------------------------------------------------------------------------------


def without(text, *columns):
    """The text with some columns empty."""
    lines = []
    for line in text.split("\n"):
        row = line.split("\t")
        lines.append("\t".join("_" if len(row) > 1 and i in columns else value for i, value in enumerate(row)))
    return "\n".join(lines)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_parse_says_once_which_columns_the_input_lacks(model, capfd, threads):
    text = toy_text(5, seed=3)
    words = sum(line[:1].isdigit() for line in text.split("\n"))
    (model.parent / "bare.conllu").write_text(without(text, 2, 5))
    (model.parent / "whole.conllu").write_text(text)
    command = ["parse", "-m", "model.tw", "-o", "out.conllu", "-j", threads]
    assert main([*command, "bare.conllu"]) == 0
    wanted = f"warning: the input has no LEMMA, FEATS: 0 of {words} words; the model was trained with them\n"
    assert capfd.readouterr().err == wanted
    assert main([*command, "bare.conllu", "whole.conllu"]) == 0
    assert capfd.readouterr().err == ""
    (model.parent / "empty.conllu").write_text("")
    assert main([*command, "empty.conllu"]) == 0
    assert capfd.readouterr().err == ""


def test_a_model_trained_without_columns_does_not_miss_them(files, capfd):
    for name in ("train", "dev"):
        path = files / f"{name}.conllu"
        path.write_text(without(path.read_text(), 2, 4))
    assert main(["train", "train.conllu", "--dev", "dev.conllu", "-o", "model.tw", *QUICK]) == 0
    assert "warning: the training data has no LEMMA, XPOS: the parser will not use them\n" in capfd.readouterr().err
    assert Parser.load("model.tw").description["columns"] == ["UPOS", "FEATS"]
    assert main(["parse", "-m", "model.tw", "dev.conllu", "-o", "out.conllu"]) == 0
    assert capfd.readouterr().err == ""


# Options and errors. ----------------------------------------------------------------------------------------------


def test_choices_of_a_file_yield_to_set_and_set_to_options(files):
    (files / "my.toml").write_text('system = "covington"\nseed = 5\nepochs = 9\nbatch_words = 30\n')
    command = ["train", "train.conllu", "-o", "model.tw", "--config", "my.toml", "--set", "epochs=8", "--set", "seed=6"]
    assert main([*command, "--epochs", "1", "--max-degree", "2", "--several-roots", "--oracle", "static"]) == 0
    described = Parser.load("model.tw").description
    assert described["system"] == "covington"
    assert described["options"] == {"max_degree": 2}
    assert described["seed"] == 6
    assert described["settings"] == {"epochs": 1, "batch_words": 30}
    assert described["single_root"] is False
    assert described["oracle"] == "static"


def test_pseudo_projective_training_works_from_the_command_line(files, capfd):
    command = ["train", "train.conllu", "-o", "model.tw", *QUICK]
    assert main([*command, "--system", "arc-standard", "--pseudo-projective", "head+path"]) == 0
    assert main(["parse", "-m", "model.tw", "dev.conllu"]) == 0
    labels = {line.split("\t")[7] for line in capfd.readouterr().out.splitlines() if line[:1].isdigit()}
    assert labels
    assert not any("|" in label or "%" in label for label in labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "oak"], "unknown system 'oak'; choose from arc-standard"),
        (["--oracle", "oak"], "swap has no oracle 'oak'; it has"),
        (["--set", "epoch=1"], "the network learner has no setting 'epoch'; it has epochs"),
        (["--set", "learner=oak"], "unknown learner 'oak'; choose from network"),
        (["--set", "epochs"], "--set 'epochs' is not of the form key=value"),
        (["--degree", "2"], "swap has no option 'degree'"),
        (["--config", "none.toml"], "none.toml: No such file or directory"),
        (["--config", "train.conllu"], "train.conllu"),
        (["--seed", "-1"], "seed"),
        (["--epochs", "-1"], "epochs"),
    ],
)
def test_a_wrong_choice_is_an_error_of_one_line_and_leaves_no_model(files, capfd, options, message):
    command = ["train", "train.conllu", "-o", "model.tw", *QUICK]
    assert main([*command, *options]) == 1
    (line,) = capfd.readouterr().err.splitlines()[-1:]
    assert line.startswith("tanglewood train: ")
    assert message in line
    assert not (files / "model.tw").exists()


def test_warnings_are_printed(files, capfd):
    (files / "small.conllu").write_text(toy_text(4))
    assert main(["train", "small.conllu", "-o", "model.tw", *QUICK]) == 0
    assert "warning: the training data has only " in capfd.readouterr().err


def test_a_bad_sentence_stops_is_skipped_or_is_reported_in_training(files, capfd):
    (files / "half.conllu").write_text(toy_text(5) + CYCLE + toy_text(5, seed=3))
    command = ["train", "half.conllu", "-o", "model.tw", *QUICK]
    assert main(command) == 1
    assert "sent_id bad" in capfd.readouterr().err
    assert not (files / "model.tw").exists()
    for choice, status in (("skip", 0), ("report", 1)):
        assert main([*command, "--on-error", choice]) == status
        err = capfd.readouterr().err
        assert "10 sentences, " in err
        assert "1 sentence left out because of errors" in err
        assert "sent_id bad" in err
        assert Parser.load("model.tw").description["train_sentences"] == 10


def test_a_malformed_sentence_stops_is_skipped_or_is_reported_in_parsing(model, capfd):
    (model.parent / "half.conllu").write_text(toy_text(2) + "1\ttoo few columns\n\n" + toy_text(2, seed=3))
    command = ["parse", "-m", "model.tw", "half.conllu", "-o", "out.conllu"]
    for threads in ("1", "2"):
        assert main([*command, "-j", threads]) == 1
        assert "half.conllu:" in capfd.readouterr().err
        assert not (model.parent / "out.conllu").exists()
    for choice, status in (("skip", 0), ("report", 1)):
        assert main([*command, "--on-error", choice]) == status
        assert "1 sentence left out because of errors" in capfd.readouterr().err
        assert len(list(read("out.conllu"))) == 4


def test_a_missing_or_foreign_model_is_named(files, capfd):
    assert main(["parse", "-m", "none.tw", "dev.conllu"]) == 1
    assert capfd.readouterr().err == "tanglewood parse: none.tw: No such file or directory\n"
    assert main(["parse", "-m", "dev.conllu", "dev.conllu"]) == 1
    assert "tanglewood parse: dev.conllu: not a tanglewood model" in capfd.readouterr().err
    assert main(["parse", "-m", ".", "dev.conllu"]) == 1
    assert capfd.readouterr().err.startswith("tanglewood parse: .")


def test_a_model_that_cannot_be_written_is_said_before_training(files, capfd):
    assert main(["train", "train.conllu", "-o", "no/such/folder/model.tw", *QUICK]) == 1
    err = capfd.readouterr().err
    assert "no/such/folder" in err
    assert "loss" not in err


def test_a_model_may_be_called_anything(files):
    assert main(["train", "train.conllu", "-o", "model.gz", *QUICK]) == 0
    assert main(["parse", "-m", "model.gz", "dev.conllu", "-o", "out.conllu"]) == 0
