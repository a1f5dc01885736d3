"""The command `find`: which sentences it takes, what it writes, and how it says that something is wrong."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from fake_pipeline import fake_pipeline
from tanglewood.cli import main
from tanglewood.treebank.conllu import read
from toy import toy_text

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = str(EXAMPLES / "small.conllu")


def names(capsys, *argv):
    """The sent_ids of what is found."""
    assert main(["find", *argv, "--format", "json"]) == 0
    return [json.loads(line)["sent_id"] for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "toy.conllu"
    path.write_text(toy_text(40))
    return path


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--crossing", "--length", "5"], ["singer-en", "ship-la"]),
        (["--crossing", "--label", "punct"], ["wrong-comma-en"]),
        (["--label", "amod"], ["nap-en", "ship-la"]),
        (["--degree", "2"], ["three-verbs-nl"]),
        (["--not-covered-by", "attardi"], ["three-verbs-nl"]),
        (["--form", "^(She|puella)$"], ["ship-la", "wrong-comma-en"]),
        (["--text", "BUCH"], ["topic-de"]),
        (["--text=-nl"], ["two-verbs-nl", "three-verbs-nl"]),
        (["--length", "8-"], ["two-verbs-nl"]),
        (["--length", "-4"], []),
        (["--crossing", "--limit", "2"], ["singer-en", "topic-de"]),
    ],
    ids=" ".join,
)
def test_what_is_asked_for_is_found(capsys, argv, expected):
    assert names(capsys, SMALL, *argv) == expected


def test_everything_asked_for_has_to_hold(capsys, treebank):
    found = names(capsys, str(treebank), "--crossing", "--label", "acl", "--length", "5-6", "--form", "^zorps$")
    expected = [
        sentence.sent_id
        for sentence in read(treebank)
        if any(word.is_nonprojective and word.deprel == "acl" for word in sentence)
        and 5 <= len(sentence) <= 6
        and "zorps" in sentence.forms
    ]
    assert found == expected
    assert found


def test_what_is_found_is_written_as_it_stands_in_the_file(capfdbinary, tmp_path):
    first = b"# sent_id = a\r\n1\tBirds\t_\t_\t_\t_\t0\troot\t_\tX=1\r\n\r\n"
    second = b"# sent_id=b\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tca\t_\t_\t_\t_\t0\troot\t_\t_\n"
    second += b"2\tn't\t_\t_\t_\t_\t1\tneg\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    path = tmp_path / "two.conllu"
    path.write_bytes(first + second)
    assert main(["find", str(path), "--form", "Birds"]) == 0
    assert capfdbinary.readouterr() == (first, b"found 1 of 2 sentences\n")
    assert main(["find", str(path), "--length", "2", "-o", str(tmp_path / "out.conllu")]) == 0
    assert (tmp_path / "out.conllu").read_bytes() == second
    assert main(["find", str(path), str(path), "-o", str(path)]) == 0
    assert path.read_bytes() == first + second + first + second


def test_sentences_of_several_files_and_of_text_are_found(capsys, monkeypatch, tmp_path):
    fake_pipeline(monkeypatch)
    letter = tmp_path / "letter.txt"
    letter.write_text("Birds sing\nRain falls\n")
    assert names(capsys, SMALL, str(letter), "One dog barks", "--form", "^(dog|Rain)$") == ["nap-en", "2", "1"]


def test_on_a_terminal_sentences_are_drawn_with_their_places(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["find", SMALL, "--crossing", "--length", "5"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"^.*small\.conllu:\d+, sent_id .*$", out, re.MULTILINE) == [
        f"{SMALL}:9, sent_id singer-en",
        f"{SMALL}:27, sent_id ship-la",
    ]
    assert "╔══════amod═══════╪" in out
    assert err.replace("\r\x1b[K", "") == "found 2 of 7 sentences\n"


@pytest.mark.parametrize(
    ("name", "start"), [("x.html", b"<!DOCTYPE html>"), ("x.tsv", b"sentence\tsent_id"), ("x.tex", b"% \\usepackage")]
)
def test_the_ending_tells_the_format(tmp_path, capsys, name, start):
    assert main(["find", SMALL, "--crossing", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(start)
    assert capsys.readouterr() == ("", "found 6 of 7 sentences\n")


def test_one_picture_holds_one_sentence(tmp_path, capsys):
    target = tmp_path / "x.svg"
    assert main(["find", SMALL, "--crossing", "-o", str(target)]) == 1
    assert "svg holds one sentence: add --limit 1, or write html" in capsys.readouterr().err
    assert not target.exists()
    assert main(["find", SMALL, "--crossing", "--limit", "1", "-o", str(target)]) == 0
    assert "arrived" in target.read_text()
    assert capsys.readouterr().err == "found 1 in the first 2 sentences and stopped (--limit)\n"


def test_counting_prints_a_number_only(capsys):
    assert main(["find", SMALL, "--crossing", "--count"]) == 0
    assert capsys.readouterr() == ("6\n", "")
    assert main(["find", SMALL, SMALL, "--crossing", "--count"]) == 0
    assert capsys.readouterr().out == "12\n"
    assert main(["find", SMALL, "--text", "no such thing", "--count"]) == 0
    assert capsys.readouterr().out == "0\n"
    assert main(["find", SMALL, "--crossing", "--count", "--limit", "4"]) == 0
    assert capsys.readouterr().out == "4\n"


def test_after_the_limit_nothing_more_is_read(capsys, tmp_path):
    path = tmp_path / "half-bad.conllu"
    path.write_text(toy_text(3) + "this is no line of a treebank\n")
    assert main(["find", str(path), "--limit", "2"]) == 0
    assert capsys.readouterr().out.count("sent_id") == 2
    assert main(["find", str(path), "--limit", "9"]) == 1


def test_words_without_trees_can_be_searched_and_arcs_need_them(capsys, tmp_path):
    path = tmp_path / "words.conllu"
    path.write_text("1\tBirds\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tRain\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert main(["find", str(path), "--form", "Birds", "--count"]) == 0
    assert capsys.readouterr().out == "1\n"
    assert main(["find", str(path), "--form", "Birds", "--format", "tree"]) == 1
    assert f"{path}:1: word 1 has no head" in capsys.readouterr().err
    assert main(["find", str(path), "--crossing"]) == 1
    assert f"{path}:1: word 1 has no head" in capsys.readouterr().err
    assert main(["find", str(path), "--degree", "1", "--on-error", "report"]) == 1
    err = capsys.readouterr().err
    assert "found 0 of 2 sentences" in err
    assert "1 sentence left out because of errors" in err
    assert main(["find", str(path), "--format", "tree", "--on-error", "skip"]) == 0
    assert "Rain" in capsys.readouterr().out


def test_standard_input_can_be_searched(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(SMALL).read_bytes())))
    assert names(capsys, "-", "--degree", "2") == ["three-verbs-nl"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--length", "x"], "--length x: it should be MIN-MAX, such as 5-12, 5-, -12 or 7"),
        (["--length", "-"], "--length -: it should be MIN-MAX"),
        (["--length", "5-3"], "at least 5 and at most 3 words"),
        (["--form", "("], "form '(' is not a regular expression"),
        (["--not-covered-by", "swop"], "unknown system 'swop'; choose from arc-standard"),
        (["--degree", "-1"], "--degree -1: a degree is 0, 1, 2, ..."),
        (["--limit", "0"], "--limit 0: it should be 1 or more"),
        (["--count", "-o", "x.conllu"], "--count prints a number only"),
        (["--count", "--format", "tree"], "--count prints a number only"),
        (["-o", "x.jpg"], "x.jpg: the name should end in one of .conllu, .conll, .conllx, .json,"),
        (["--format", "tree", "--width", "3"], "--width 3: it should be 10 columns or more"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options_say_what_would_be_right(capsys, argv, message):
    assert main(["find", SMALL, *argv]) == 1
    assert message in capsys.readouterr().err
