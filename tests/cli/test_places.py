"""Whatever is wrong with a sentence of a file, every command says in which file, line and sentence."""

from __future__ import annotations

import json

import pytest

from tanglewood.cli import main
from tanglewood.derivation import trace
from tanglewood.treebank.conllu import read

WORD = "{}\t{}\t_\tNOUN\t_\t_\t{}\t{}\t_\t{}"


def block(name, *words):
    rows = [WORD.format(number, *word, *["_"] * (4 - len(word))) for number, word in enumerate(words, 1)]
    return "\n".join([f"# sent_id = {name}", *rows, "", ""])


GOOD = block("good", ("wug", 0, "root"))  # three lines
BAD = {
    "columns": ("# sent_id = bad\n1\twug\n\n", 5),
    "head": (block("bad", ("wug", "zero", "root")), 5),
    "cycle": (block("bad", ("wug", 2, "x"), ("dax", 1, "x")), 5),
    "no head": (block("bad", ("wug", 0, "root"), ("dax", "_", "_")), 6),
    "bytes": (block("bad", ("w\udcffg", 0, "root")), 5),
    "long": (block("bad", *[("wug" * 100, 0, "root")] * 4000), 4),
}
READERS = {  # every command that reads treebanks, and what it takes besides the file
    "train": ["-o", "out.tw", "--learner", "linear", "--epochs", "1"],
    "crossval": ["--folds", "2"],
    "evaluate": ["bad.conllu"],
    "draw": ["--sentence", "2"],
    "find": ["--crossing"],
    "trace": ["--sentence", "2"],
    "stats": [],
    "coverage": [],
    "oracle": [],
    "convert": ["--projectivize", "head"],
    "parse": ["-m", "model.tw"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for library in ("OPENBLAS", "MKL", "OMP"):  # the commands set them; they are put back
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    (tmp_path / "good.conllu").write_text(GOOD * 3)
    return tmp_path


def write(folder, text):
    (folder / "bad.conllu").write_bytes((GOOD + text + GOOD).encode(errors="surrogateescape"))


def failing(capfd, *argv):
    assert main([*argv]) == 1
    return capfd.readouterr().err


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("command", READERS)
def test_every_command_says_where(folder, capfd, command, kind):
    text, line = BAD[kind]
    write(folder, text)
    if command == "parse":
        if kind in {"cycle", "no head"}:
            return  # it makes new ones
        assert main(["train", "good.conllu", "-o", "model.tw", "--learner", "linear", "--epochs", "1"]) == 0
        capfd.readouterr()
    told = failing(capfd, command, "bad.conllu", *READERS[command], "--max-sentence", "1")
    name = "" if kind == "bytes" else ", sent_id bad"
    assert f"tanglewood {command}: bad.conllu:{line}{name}: " in told
    assert "Traceback" not in told


def test_the_other_file_of_an_evaluation_is_named(folder, capfd):
    write(folder, BAD["cycle"][0])
    assert "bad.conllu:5, sent_id bad: " in failing(capfd, "evaluate", "good.conllu", "bad.conllu")
    write(folder, BAD["long"][0])
    told = failing(capfd, "evaluate", "good.conllu", "bad.conllu", "--max-sentence", "1")
    assert "bad.conllu:4, sent_id bad: this sentence has more than 1 MB" in told


@pytest.mark.parametrize("options", [["--to", "conllx"], ["--to", "conllx", "--projectivize", "baseline"]])
def test_a_carriage_return_in_a_column_cannot_be_converted(folder, capfd, options):
    write(folder, block("bad", ("wug", 0, "root"), ("d\rax", 1, "x")))
    told = failing(capfd, "convert", "bad.conllu", *options)
    assert "bad.conllu:6, sent_id bad: a column of word 2 holds a carriage return" in told
    assert main(["convert", "bad.conllu", *options, "--on-error", "skip", "-o", "out.conll"]) == 0
    assert len([*read("out.conll")]) == 2
    assert "1 sentence left out because of errors\n  bad.conllu:6, sent_id bad" in capfd.readouterr().err


@pytest.mark.parametrize("label", ["a|b", "a%b"])
def test_a_label_with_a_mark_is_named_with_its_place(folder, capfd, label):
    write(folder, block("bad", ("wug", 0, "root"), ("dax", 1, label)))
    told = failing(capfd, "convert", "bad.conllu", "--projectivize", "head")
    assert f"bad.conllu:4, sent_id bad: label {label!r} contains the separator" in told
    assert "--separator" in told


def test_a_tree_that_is_not_covered_is_named_with_its_place(folder, capfd):
    write(folder, block("bad", ("a", 3, "x"), ("b", 4, "x"), ("c", 0, "root"), ("d", 3, "x")))
    told = failing(capfd, "trace", "bad.conllu", "--sent-id", "bad", "--system", "arc-standard")
    assert "trace: bad.conllu:4, sent_id bad: arc-standard: no move leads on" in told


def test_white_space_that_is_none_is_named_with_its_place(folder, capfd):
    write(folder, block("bad", ("wug", 0, "root", "SpacesAfter=x")))
    told = failing(capfd, "train", "--pipeline", "bad.conllu", "-o", "out.tw")
    assert "bad.conllu:4, sent_id bad: 'SpacesAfter=x' is no white space" in told


def test_a_sentence_that_cannot_be_tagged_is_left_out(folder, capfd):
    write(folder, block("bad", ("w\rug", 0, "root")))
    assert "bad.conllu:5, sent_id bad: " in failing(capfd, "parse", "--tag", "bad.conllu", "-o", "out.conllu")
    assert main(["parse", "--tag", "bad.conllu", "--on-error", "skip", "-o", "out.conllu"]) == 0
    assert "  bad.conllu:5, sent_id bad: " in capfd.readouterr().err
    assert len([*read("out.conllu")]) == 2


@pytest.mark.parametrize("size", ["0", "-3"])
def test_a_limit_of_nothing_is_refused(folder, capfd, size):
    assert f"--max-sentence {size}: it should be 1 megabyte or more" in failing(
        capfd, "stats", "good.conllu", "--max-sentence", size
    )


def test_a_larger_limit_lets_a_long_sentence_through(folder, capfd):
    write(folder, BAD["long"][0])
    assert "4,002" in (main(["stats", "bad.conllu", "--max-sentence", "2"]), capfd.readouterr().out)[1]


def test_steps_are_printed_as_one_list(folder, capfd):
    assert main(["trace", "good.conllu", "--json"]) == 0
    (sentence, *_) = read("good.conllu")
    whole = [step.as_dict() for step in trace(sentence)]
    assert capfd.readouterr().out == json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
