"""`tanglewood parse` of text, as a user runs it: what it takes, what it writes, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

from tanglewood.cli import main
from toy import sentences_of, toy_sentences
from toy_pipeline import TEXT


def run(capsys, *arguments):
    status = main(["parse", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_takes_text_files_and_standard_input(pipeline, model, tmp_path, capsys):
    wanted = "".join(s.to_text() for s in pipeline(TEXT))
    assert run(capsys, "-m", model, TEXT) == (0, wanted, "")
    file = tmp_path / "my text.txt"
    file.write_text(TEXT)
    status, out, err = run(capsys, "-m", model, file)
    assert (status, err) == (0, "")
    assert out == f"# newdoc id = {file}\n{wanted}"
    command = [sys.executable, "-m", "tanglewood", "parse", "-m", str(model)]
    done = subprocess.run(command, input=TEXT.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == wanted


def test_several_texts_have_sentences_of_different_names(model, tmp_path, capsys):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(TEXT)
    _, out, _ = run(capsys, "-m", model, tmp_path / "a.txt", tmp_path / "b.txt", "One more.")
    names = [s.sent_id for s in sentences_of(out)]
    assert names == [str(number) for number in range(1, len(names) + 1)]
    assert out.count("# newdoc") == 2


def test_lines_of_a_file_may_be_its_sentences(model, tmp_path, capsys):
    (tmp_path / "lines").write_text("Dax. Wug.\nTawug\nzorps\n")
    _, out, _ = run(capsys, "-m", model, "--sentences", "lines", tmp_path / "lines")
    assert [s.text for s in sentences_of(out)] == ["Dax. Wug.", "Tawug", "zorps"]


def test_a_missing_file_is_an_error_and_text_can_be_forced(model, capsys):
    status, out, err = run(capsys, "-m", model, "nosuchfile")
    assert (status, out) == (1, "")
    assert "nosuchfile" in err
    status, out, _ = run(capsys, "-m", model, "--text", "Dax.")
    assert status == 0
    assert [s.forms for s in sentences_of(out)] == [["Dax", "."]]


def test_damaged_archives_are_errors_that_say_so(model, tmp_path, capsys):
    for name, text in (("a.txt.gz", "Dax zorps.\n" * 50), ("a.conllu.gz", toy_sentences(3)[0].to_text())):
        whole = gzip.compress(text.encode())
        (tmp_path / name).write_bytes(whole[: len(whole) - 12])
        status, _, err = run(capsys, "-m", model, tmp_path / name)
        assert status == 1
        assert "damaged or breaks off" in err


def test_a_parser_without_a_tokenizer_refuses_text(pipeline, tmp_path, capsys):
    pipeline.parser.save(tmp_path / "parser.tw")
    for arguments in (["Dax zorps."], ["--tag", "examples/small.conllu"]):
        status, _, err = run(capsys, "-m", tmp_path / "parser.tw", *arguments)
        assert status == 1
        assert "train --pipeline" in err


def test_tag_fills_in_what_a_treebank_lacks(pipeline, model, tmp_path, capsys):
    bare = [s.with_columns(*[["_"] * len(s)] * 4) for s in pipeline.tag_text(TEXT)]
    file = tmp_path / "bare.conllu"
    file.write_bytes(b"".join(s.to_bytes() for s in bare))
    wanted = "".join(s.to_text() for s in pipeline(TEXT))
    assert run(capsys, "-m", model, "--tag", file) == (0, wanted, "")
    _, out, err = run(capsys, "-m", model, file)
    assert {u for s in sentences_of(out) for u in s.upos} == {"_"}
    assert "--tag fills them in" in err


def test_several_sentences_make_one_page_and_no_one_picture(model, tmp_path, capsys):
    _, out, _ = run(capsys, "-m", model, "--format", "html", TEXT)
    assert out.startswith("<!DOCTYPE html>")
    assert out.count("<figure") > 1
    for arguments in (["--format", "svg"], ["-o", tmp_path / "x.svg"], ["-o", tmp_path / "x.png"]):
        status, out, err = run(capsys, "-m", model, *arguments, TEXT)
        assert (status, out) == (1, "")
        assert "picture" in err or "should end in" in err
    assert not list(tmp_path.iterdir())


def test_json_holds_what_conllu_holds(pipeline, model, capsys):
    _, out, _ = run(capsys, "-m", model, "--format", "json", TEXT)
    lines = [json.loads(line) for line in out.splitlines()]
    for data, sentence in zip(lines, pipeline(TEXT), strict=True):
        assert [word["form"] for word in data["words"]] == sentence.forms
        assert [word["head"] for word in data["words"]] == list(sentence.tree.heads)[1:]
        assert [word["deprel"] for word in data["words"]] == sentence.deprels
        crossing = [word["id"] for word in data["words"] if word.get("nonprojective")]
        assert crossing == sentence.tree.nonprojective_arcs()
        for word in data["words"]:
            if "start" in word:
                assert TEXT[word["start"] : word["end"]] == word["form"]
