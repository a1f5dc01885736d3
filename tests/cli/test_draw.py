"""The command `draw`: what it draws, from what, into what, and how it says that something is wrong."""

import io
import sys
from pathlib import Path

import pytest

from fake_pipeline import fake_pipeline
from tanglewood.cli import main

WORDS = """# sent_id = {0}
# text = Birds sing
1	Birds	bird	NOUN	_	_	{1}	nsubj	_	_
2	sing	sing	VERB	_	_	{2}	root	_	_

"""


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(WORDS.format("a", 2, 0) + WORDS.format("b", 0, 1))
    return path


@pytest.fixture
def pipeline(monkeypatch):
    """What parses text makes one chain of each line; it notes which model was asked for."""
    return fake_pipeline(monkeypatch)


def test_text_is_parsed_and_drawn(capsys, pipeline):
    assert main(["draw", "Birds sing"]) == 0
    out = capsys.readouterr().out
    assert "Birds" in out
    assert "▼" in out
    assert main(["draw", "Birds sing", "-m", "cs.tw"]) == 0
    assert pipeline == [None, "cs.tw"]
    assert capsys.readouterr().err == "text parsed with cs.tw\n"


def test_a_text_file_and_standard_input_are_parsed_and_one_sentence_is_drawn(capsys, pipeline, tmp_path, monkeypatch):
    path = tmp_path / "birds.txt"
    path.write_text("One bird\nTwo birds\n")
    assert main(["draw", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out.count("▼") == 2
    assert err == f"{path}: text parsed with the English model of tanglewood (-m names another)\n"
    assert main(["draw", str(path), "--all"]) == 0
    assert capsys.readouterr().out.count("▼") == 4
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Three birds\n")))
    assert main(["draw", "-"]) == 0
    out, err = capsys.readouterr()
    assert "Three" in out
    assert err.startswith("<stdin>: text parsed with")


def test_all_sentences_of_a_text_are_drawn_or_one_is_chosen(capsys, pipeline, tmp_path):
    assert main(["draw", "One bird\nTwo birds"]) == 0
    assert capsys.readouterr().out.count("▼") == 4
    assert main(["draw", "One bird\nTwo birds", "--sentence", "2"]) == 0
    assert "One" not in capsys.readouterr().out
    assert main(["draw", "One bird\nTwo birds", "-o", str(tmp_path / "x.svg")]) == 1
    assert "2 sentences do not go into one svg picture; --sentence should choose one" in capsys.readouterr().err
    assert main(["draw", "One bird", "--sentence", "2"]) == 1
    assert "the text: there is no sentence 2 among its 1 sentence" in capsys.readouterr().err


def test_a_model_for_a_file_and_a_missing_file_are_errors(capsys, treebank):
    assert main(["draw", str(treebank), "-m", "model.tw"]) == 1
    assert f"{treebank} is a treebank; -m is for text" in capsys.readouterr().err
    assert main(["draw", "missing.conllu"]) == 1
    assert "missing.conllu: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("x.svg", b"<svg"),
        ("x.html", b"<!DOCTYPE html>"),
        ("x.tex", b"% \\usepackage"),
        ("x.txt", b"  "),
        ("x.png", b"\x89PNG"),
    ],
)
def test_the_format_follows_from_the_ending(treebank, tmp_path, name, start):
    if name.endswith("png"):
        pytest.importorskip("resvg_py", reason="needs the extra png")
    assert main(["draw", str(treebank), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_ending_is_an_error_unless_the_format_is_given(capsys, treebank, tmp_path):
    target = str(tmp_path / "x.pdf")
    assert main(["draw", str(treebank), "-o", target]) == 1
    assert "should end in one of .txt, .html, .htm, .svg, .png, .tex, or --format say" in capsys.readouterr().err
    assert main(["draw", str(treebank), "-o", target, "--format", "tikz"]) == 0
    assert main(["draw", str(treebank), "-o", str(tmp_path / "noending")]) == 0


def test_all_sentences(capsys, treebank):
    assert main(["draw", str(treebank), "--all"]) == 0
    assert capsys.readouterr().out.count("Birds") == 2
    assert main(["draw", str(treebank), "--all", "--format", "html"]) == 0
    assert capsys.readouterr().out.count("<figure") == 2
    assert main(["draw", str(treebank), "--all", "--format", "svg"]) == 1
    assert "do not go into one svg" in capsys.readouterr().err
    assert main(["draw", str(treebank), "--all", "--sentence", "1"]) == 1
    assert "exclude each other" in capsys.readouterr().err


def test_all_sentences_go_into_a_folder_each_in_a_file_of_its_own(capsys, treebank, tmp_path):
    path = tmp_path / "three.conllu"
    path.write_text(
        treebank.read_text() + WORDS.format("../x y", 2, 0) + WORDS.format("A", 2, 0).replace("# sent_id = A\n", "")
    )
    assert main(["draw", str(path), "--all", "-o", f"{tmp_path / 'new'}/"]) == 0
    names = ["_x_y.svg", "a.svg", "b.svg", "sentence-4.svg"]
    assert sorted(one.name for one in (tmp_path / "new").iterdir()) == names
    assert (tmp_path / "new" / "a.svg").read_bytes().startswith(b"<svg")
    assert f"4 drawings in {tmp_path / 'new'}\n" in capsys.readouterr().err
    assert main(["draw", str(treebank), "--sent-id", "b", "-o", str(tmp_path / "b.svg")]) == 0
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "new" / "b.svg").read_bytes()
    assert main(["draw", str(path), "--all", "--format", "tikz", "-o", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "b.tex").exists()
    assert main(["draw", str(path), "--all", "--format", "svg", "-o", str(tmp_path / "svg")]) == 0
    assert len([*(tmp_path / "svg").iterdir()]) == 4


def test_a_name_without_an_ending_is_a_folder_if_all_sentences_are_drawn(capsys, treebank, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", str(treebank), "--all", "-o", "pics"]) == 0
    assert sorted(one.name for one in Path("pics").iterdir()) == ["a.svg", "b.svg"]
    assert main(["draw", str(treebank), "--all", "-o", "drawings", "--format", "tree"]) == 0
    assert "Birds" in Path("drawings").read_text()
    for name in ("drawings", "drawings/"):
        assert main(["draw", str(treebank), "--all", "-o", name]) == 1
        assert f"{name}: this is a file, not a folder" in capsys.readouterr().err
    assert main(["draw", str(treebank), "--all", "-o", "none/pics/"]) == 1
    assert "there is no folder none" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pics", "pics/", "new/"])
def test_a_folder_takes_all_sentences_not_one(capsys, treebank, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("pics").mkdir()
    assert main(["draw", str(treebank), "-o", name]) == 1
    assert f"{name} is a folder: with --all each sentence gets a file of its own there" in capsys.readouterr().err


def test_sentences_of_one_name_do_not_overwrite_each_other(treebank, tmp_path):
    path = tmp_path / "same.conllu"
    path.write_text(WORDS.format("a", 2, 0) + WORDS.format("A", 0, 1) + WORDS.format("a", 2, 0))
    assert main(["draw", str(path), "--all", "--compare", str(path), "-o", f"{tmp_path / 'same'}/"]) == 0
    assert sorted(one.name for one in (tmp_path / "same").iterdir()) == ["A-2.svg", "a-3.svg", "a.svg"]


def test_scripts_without_glyphs_are_told_in_one_line(capsys, treebank, tmp_path, monkeypatch):
    pytest.importorskip("resvg_py", reason="needs the extra png")
    monkeypatch.setattr("tanglewood.show.png._has_glyph", lambda letter: False)
    path = tmp_path / "hebrew.conllu"
    path.write_text(treebank.read_text().replace("Birds", "\u05e1\u05e4\u05e8"))
    assert main(["draw", str(path), "-o", str(tmp_path / "x.png")]) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: no font here has letters of the script ")
    assert "Hebrew" in err
    assert err.count("\n") == 1


def test_the_width_breaks_lines(capsys, tmp_path):
    rows = "".join(f"{i}\tword\t_\t_\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in range(1, 31))
    path = tmp_path / "long.conllu"
    path.write_text(rows + "\n")
    for form, widths in (("tree", (40, 0)), ("svg", (400, 0))):
        found = []
        for width in widths:
            assert main(["draw", str(path), "--format", form, "--width", str(width)]) == 0
            found.append(capsys.readouterr().out)
        assert found[0] != found[1]
        assert ("30</text>" in found[0]) if form == "svg" else max(map(len, found[0].split("\n"))) <= 40
    assert main(["draw", str(path), "--width", "9"]) == 1
    assert "--width 9: it should be 10 columns or more, or 0 for no limit" in capsys.readouterr().err
    assert main(["draw", str(path), "--format", "svg", "--width", "100"]) == 1
    assert "200 pixels or more" in capsys.readouterr().err
    assert main(["draw", str(path), "--format", "tikz", "--width", "100"]) == 1
    assert "not broken into lines" in capsys.readouterr().err


def test_two_analyses_are_compared_by_name_or_else_by_place(capsys, treebank, tmp_path):
    other = tmp_path / "mine.conllu"
    other.write_text(WORDS.format("b", 2, 0) + WORDS.format("x", 0, 1))
    assert main(["draw", str(treebank), "--compare", str(other), "--sent-id", "b"]) == 0
    out = capsys.readouterr().out
    assert "−root" in out
    assert "+root" in out
    assert "− only gold.conllu\n+ only mine.conllu\n" in out
    assert main(["draw", str(treebank), "--compare", str(other)]) == 0  # a is not there: the first sentence
    assert "−" not in capsys.readouterr().out.split("− only")[0]
    for form in ("svg", "html", "tikz"):
        assert main(["draw", str(treebank), "--compare", str(other), "--sentence", "2", "--format", form]) == 0
        assert "first" in (out := capsys.readouterr().out) or "edge below" in out
    assert main(["draw", str(treebank), "--compare", str(other), "--all", "--format", "html"]) == 0
    assert capsys.readouterr().out.count("<figure") == 2


def test_sentences_that_cannot_be_compared_are_named(capsys, treebank, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text(WORDS.format("z", 2, 0).replace("sing", "fly"))
    assert main(["draw", str(treebank), "--compare", str(other)]) == 1
    assert (
        f"{other}:1: this is another sentence than a: word 2 is 'fly' there and 'sing' here" in capsys.readouterr().err
    )
    assert main(["draw", str(treebank), "--compare", str(other), "--sentence", "2"]) == 1
    assert "there is no sentence 2 and no sent_id b to compare with" in capsys.readouterr().err
    other.write_text("1\tBirds\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert main(["draw", str(treebank), "--compare", str(other)]) == 1
    assert "it has 1 words there and 2 here" in capsys.readouterr().err


def test_files_of_one_name_are_told_apart_by_their_folders(capsys, treebank, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "gold.conllu").write_text(treebank.read_text())
    assert main(["draw", str(treebank), "--compare", str(folder / "gold.conllu")]) == 0
    assert f"+ only {folder / 'gold.conllu'}" in capsys.readouterr().out
