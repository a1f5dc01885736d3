"""Where `parse`, `find` and `draw` write, and in which format: by the name of the output, or as told."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from pathlib import Path

import pytest

from tanglewood.cli import main
from tanglewood.show.formats import DRAWINGS, FORMATS
from tanglewood.treebank.conllu import read

SMALL = str(Path(__file__).resolve().parents[2] / "examples" / "small.conllu")
ONE = ["--text", "ship-la"]
WRITERS = {"parse": ["parse", "You do."], "find": ["find", SMALL, *ONE], "draw": ["draw", SMALL]}
STARTS = {
    "conllu": b"# sent_id",
    "json": b'{"sent_id"',
    "tsv": b"sentence\tsent_id\tid\tform",
    "html": b"<!DOCTYPE html>",
    "svg": b"<svg",
    "png": b"\x89PNG",
    "tikz": b"% \\usepackage",
}


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_command_writes_every_format_that_it_should(command, name, tmp_path, capsys):
    if name == "png":
        pytest.importorskip("resvg_py")
    limited = ["--limit", "1"] if command == "find" else []
    for ending in FORMATS[name].endings:
        target = tmp_path / f"x{ending}"
        status = main([*WRITERS[command], *limited, "-o", str(target)])
        if command == "draw" and name not in DRAWINGS:
            assert status == 1
            assert f"x{ending}: the name should end in one of .txt, .html," in capsys.readouterr().err
            assert not target.exists()
        else:
            assert status == 0
            data = target.read_bytes()
            assert data.startswith(STARTS[name]) if name != "tree" else "▼" in data.decode()


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("name", ["x.jpg", "x.pdf.gz", "x.svgz", "x.docx"])
def test_an_unknown_ending_is_an_error_and_nothing_is_written(command, name, tmp_path, capsys):
    target = tmp_path / name
    assert main([*WRITERS[command], "-o", str(target)]) == 1
    err = capsys.readouterr().err
    assert f"{target}: the name should end in one of ." in err
    assert "or --format say what to write" in err
    assert main([*WRITERS[command], "-o", str(target), "--format", "tree"]) == 0
    assert list(tmp_path.iterdir()) == [target]


def test_without_an_ending_parse_and_find_write_conllu_and_draw_draws(tmp_path, capfdbinary):
    for command, start in (("parse", b"# sent_id"), ("find", b"# sent_id"), ("draw", b"  ")):
        for name in ("plain", "packed.gz"):
            target = tmp_path / name
            assert main([*WRITERS[command], "-o", str(target)]) == 0
            data = target.read_bytes()
            assert (gzip.decompress(data) if name.endswith(".gz") else data).startswith(start)
        capfdbinary.readouterr()
        assert main([*WRITERS[command], "-o", "-"]) == 0
        assert capfdbinary.readouterr().out.startswith(start)


def test_what_parse_writes_says_the_same_in_every_format(tmp_path):
    for name in ("x.conllu", "x.json", "x.tsv.gz"):
        assert main(["parse", 'I don\'t know "NA". You do.', "-o", str(tmp_path / name)]) == 0
    sentences = list(read(tmp_path / "x.conllu"))
    lines = (tmp_path / "x.json").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [sentence.to_dict() for sentence in sentences]
    with gzip.open(tmp_path / "x.tsv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    words = [word for sentence in sentences for word in sentence]
    assert [row["form"] for row in rows] == [word.form for word in words]
    assert [(row["start"], row["end"]) for row in rows] == [(str(word.start), str(word.end)) for word in words]
    assert {row["sentence"] for row in rows} == {"1", "2"}


def test_a_terminal_shows_no_png(capsys, monkeypatch):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["draw", SMALL, "--format", "png"]) == 1
    assert "a terminal shows no PNG; -o should name a file" in capsys.readouterr().err


def test_what_is_missing_for_png_is_said_before_the_work(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for command in WRITERS.values():
        assert main([*command, "--format", "png"]) == 1
        assert "pip install 'tanglewood[png]'" in capsys.readouterr().err
