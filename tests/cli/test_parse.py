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


BAD = b"Dax zorps.\n\nTawug \xff\xfe zorps. Wug fimps dax.\n"


def test_bytes_that_are_no_text_stop_are_left_out_or_replaced(model, tmp_path, capsys):
    file = tmp_path / "bad.txt"
    file.write_bytes(BAD)
    status, _, err = run(capsys, "-m", model, file)
    assert status == 1
    assert f"{file}:3: bytes b'\\xff\\xfe' are not UTF-8" in err
    forms = {}
    for way, expected in (("skip", 0), ("replace", 0), ("report", 1)):
        status, out, err = run(capsys, "-m", model, file, "--on-error", way)
        assert status == expected
        assert f"{file}:3: bytes b'\\xff\\xfe' are not UTF-8" in err
        assert "in 1 place" in err
        forms[way] = [form for s in sentences_of(out) for form in s.forms]
    assert "\ufffd" in forms["replace"]
    assert "\ufffd" not in forms["skip"]
    assert forms["skip"] == forms["report"]


def test_other_commands_take_bad_text_too(model, tmp_path, capsys):
    file = tmp_path / "bad.txt"
    file.write_bytes(BAD)
    assert main(["stats", "-m", str(model), str(file)]) == 1
    assert "--on-error replace goes on" in capsys.readouterr().err
    assert main(["stats", "-m", str(model), str(file), "--on-error", "replace"]) == 0
    assert "bytes that could not be decoded were replaced in 1 place" in capsys.readouterr().err
    assert main(["stats", "-m", str(model), str(file), "--encoding", "latin-1"]) == 0


def test_text_may_be_in_other_encodings(model, tmp_path, capsys):
    file = tmp_path / "text.txt"
    file.write_text(TEXT, encoding="utf-8")
    wanted = run(capsys, "-m", model, file)
    for encoding, more in (("utf-16", ()), ("utf-8-sig", ()), ("latin-1", ("--encoding", "latin-1"))):
        file.write_text(TEXT, encoding=encoding)
        assert run(capsys, "-m", model, *more, file) == wanted
    status, _, err = run(capsys, "-m", model, "--encoding", "nosuch", file)
    assert status == 1
    assert "nosuch: there is no such encoding" in err


def test_a_first_line_of_more_than_a_megabyte_is_text(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tanglewood.text.reading.MOST_SEEN", 100)
    monkeypatch.setattr("tanglewood.text.reading.READ_SIZE", 50)
    file = tmp_path / "line.txt"
    file.write_text("Dax zorps. " * 20)
    status, out, err = run(capsys, "-m", model, file)
    assert (status, err) == (0, "")
    assert len(sentences_of(out)) == 20


def test_a_sentence_without_end_is_not_parsed_with_a_beam(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tanglewood.searches.MOST_BEAM_WORDS", 500)  # text without full stops comes by the thousand
    file = tmp_path / "long.txt"
    file.write_text("dax " * 1200)
    status, out, err = run(capsys, "-m", model, "--sentences", "blank-lines", "--search", "beam", file)
    assert status == 0
    assert "were too long for the search" in err
    assert "# search = greedy instead of a beam of 8: " in out
