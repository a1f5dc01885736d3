"""What an argument of a command is taken for, and that every command that takes trees takes text, too."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from fake_pipeline import fake_pipeline
from tanglewood.cli import main
from tanglewood.cli.inputs import is_text, shown_name
from tanglewood.errors import ConfigError

TREEBANK = "1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tfalls\tfall\tVERB\t_\t_\t0\troot\t_\t_\n\n"
TAKE_TEXT = [
    ["draw"],
    ["trace", "--system", "arc-eager"],
    ["stats"],
    ["coverage", "--system", "swap", "--on-error", "stop"],
    ["oracle"],
    ["find", "--length", "1-", "--format", "tree"],
]
by_name = pytest.mark.parametrize("command", TAKE_TEXT, ids=[command[0] for command in TAKE_TEXT])


@pytest.fixture
def pipeline(monkeypatch):
    return fake_pipeline(monkeypatch)


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    """A folder with some files, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    Path("my trees.conllu").write_text(TREEBANK)
    Path("trees.conllu").write_text(TREEBANK)
    Path("odd").mkdir()
    Path("odd/trees").write_text(TREEBANK)
    Path("empty place").mkdir()
    return tmp_path


@pytest.mark.parametrize("text", ["Birds sing", "Birds\nsing", "word " * 5000, "yes/no questions", "a / b", "/ b c"])
def test_what_has_a_space_in_it_and_is_no_file_is_text(text):
    assert is_text(text, command="parse")


@pytest.mark.parametrize("text", ["Birds sing: ends.", "Read my letters.txt.", "odder/no such folder", "see\nmy x.txt"])
def test_what_only_looks_a_little_like_a_path_is_text(text):
    assert is_text(text, command="parse")


@pytest.mark.parametrize("name", ["my trees.conllu", "trees.conllu", "-", "odd/trees", "./trees.conllu"])
def test_a_file_is_no_text_even_if_text_is_forced(name):
    assert not is_text(name, command="parse")
    assert not is_text(name, command="parse", forced=True)


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("letters", "letters: there is no such file; text without a space in it needs --text"),
        ("letters.txt", "letters.txt: there is no such file; text without a space in it needs --text"),
        ("my letters.txt", "my letters.txt: there is no such file; if it is text, add --text"),
        ("my letters.TXT", "my letters.TXT: there is no such file; if it is text, add --text"),
        ("my trees.conllu.gz", "my trees.conllu.gz: there is no such file; if it is text, add --text"),
        ("odd/my trees", "odd/my trees: there is no such file; if it is text, add --text"),
        ("./my letters", "./my letters: there is no such file; if it is text, add --text"),
        ("", "an empty argument is neither a file nor text; - is standard input"),
        (" \n", "an empty argument is neither a file nor text; - is standard input"),
    ],
)
def test_a_mistake_is_named_and_text_can_be_forced(argument, problem):
    with pytest.raises(ConfigError) as caught:
        is_text(argument, command="parse")
    assert str(caught.value) == problem
    assert is_text(argument, command="parse", forced=True)
    with pytest.raises(ConfigError) as caught:
        is_text(argument, command="find", forcible=False)
    assert "--text" not in str(caught.value)


@pytest.mark.parametrize(
    ("folder", "command", "advice"),
    [
        (".", "parse", ". is a folder; name its files, as in: tanglewood parse ./*.conllu"),
        ("odd/", "stats", "odd/ is a folder; name its files, as in: tanglewood stats odd/*"),
        ("empty place", "draw", "one of its files, as in: tanglewood draw empty place/FILE"),
        (".", "draw", ". is a folder; name one of its files, as in: tanglewood draw my trees.conllu"),
        ("odd", "convert", "odd is a folder; name its files, as in: tanglewood convert odd/*"),
    ],
)
def test_a_folder_is_an_error_that_says_what_to_do(folder, command, advice, capsys):
    assert main([command, folder]) == 1
    assert advice in capsys.readouterr().err


@by_name
def test_every_command_takes_a_text(command, pipeline, capsys):
    assert main([*command, "One bird sings"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("text parsed with the English model of tanglewood (-m names another)\n")
    assert "bird" in out or "1 sentences" in out
    assert main([*command, "One bird sings", "-m", "nl.tw"]) == 0
    assert capsys.readouterr().err.startswith("text parsed with nl.tw\n")
    assert pipeline == [None, "nl.tw"]


@by_name
def test_every_command_takes_a_file_of_text_packed_or_from_a_pipe(command, pipeline, capsys, monkeypatch):
    data = b"One bird sings\n"
    Path("letter").write_bytes(data)
    Path("letter.txt.gz").write_bytes(gzip.compress(data))
    outputs = []
    for name, shown in (("letter", "letter"), ("letter.txt.gz", "letter.txt.gz"), ("-", "<stdin>")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main([*command, name]) == 0
        out, err = capsys.readouterr()
        assert err.startswith(f"{shown}: text parsed with the English model")
        outputs.append(out)
    assert pipeline == [None] * 3
    assert all("1" in out or "bird" in out for out in outputs)


@by_name
def test_treebanks_are_read_as_they_are_and_need_no_model(command, pipeline, capsys, monkeypatch):
    for name in ("trees.conllu", "my trees.conllu", "odd/trees", "-"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TREEBANK.encode())))
        assert main([*command, name]) == 0
        assert "parsed with" not in capsys.readouterr().err
    assert main([*command, "trees.conllu", "-m", "nl.tw"]) == 1
    assert "trees.conllu is a treebank; " in capsys.readouterr().err
    assert pipeline == []


@by_name
def test_a_misspelt_file_is_not_parsed(command, pipeline, capsys):
    assert main([*command, "my letters.txt"]) == 1
    assert "my letters.txt: there is no such file" in capsys.readouterr().err
    assert pipeline == []


@pytest.mark.parametrize("command", [command for command in TAKE_TEXT if command[0] != "find"], ids=lambda c: c[0])
def test_text_can_be_forced(command, pipeline, capsys):
    assert main([*command, "--text", "Birds"]) == 0
    assert main([*command, "--text", "odd/trees"]) == 0
    assert "odd/trees: text parsed with" in capsys.readouterr().err
    assert pipeline == [None, None]


def test_a_text_among_several_files_is_counted_for_itself(pipeline, capsys):
    long = "One bird and another one and many more of them sing"
    assert main(["stats", "trees.conllu", long]) == 0
    out = capsys.readouterr().out
    assert "One bird and another one and many mor...  " in out
    assert "all together" in out
    assert main(["stats", "trees.conllu", long, "--json"]) == 0
    assert [row["file"] for row in json.loads(capsys.readouterr().out)] == ["trees.conllu", long]


def test_a_model_that_parses_text_may_go_with_a_system(pipeline, capsys):
    assert main(["trace", "Birds sing", "-m", "nl.tw", "--system", "swap"]) == 0
    assert "2 words" in capsys.readouterr().out
    assert pipeline == ["nl.tw"]


def test_texts_are_shown_by_their_beginning():
    assert shown_name("my trees.conllu") == "my trees.conllu"
    assert shown_name("no-such-file") == "no-such-file"
    assert shown_name("Birds\n sing") == "Birds sing"
    assert len(shown_name("word " * 100)) == 40
    assert shown_name("\x1b[2J.conllu") == "\\x1b[2J.conllu"


def test_the_bundled_model_parses_what_is_counted(capsys):
    assert main(["stats", "I know what you are looking for. You do.", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["sentences"], row["words"]) == (2, 11)
