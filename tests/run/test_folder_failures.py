"""A corpus of many files: what goes wrong with inputs, disks, processes and models, and what a user is told."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path

import pytest
from corpora import SMALL, documents, outputs, paragraphs, parse_corpus

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import WorkerError
from tanglewood.run import units
from tanglewood.run.records import verified
from tanglewood.run.units import read_record
from toy import sentences_of

pytestmark = pytest.mark.usefixtures("corpus_here")


def errors():
    return [json.loads(line) for line in Path("out/errors.jsonl").read_text().splitlines()]


def run_corpus(capsys, model, *more):
    status = main(["corpus", "in", "-o", "out", "-m", str(model), "-j", "1", *more])
    return status, capsys.readouterr().err


def test_bad_documents_do_not_stop_a_run_and_are_told(model, capsys):
    lines = documents(2, 1).splitlines()
    deep = "[" * 100_000
    Path("in/bad docs.jsonl").write_bytes(
        "\n".join([lines[0], "{", "[1]", '{"id": 1}', "", '{"text": "Dax.", "sentences": 1}', deep]).encode()
        + b'\n{"text": "Wug \xff."}\n'
        + lines[1].encode()
    )
    Path("in/bad text.txt").write_bytes(b"Dax.\n\nWug \xff.\n")
    Path("in/bad trees.conllu").write_text("1\tx\n\n" + Path("in/trees.conllu").read_text())
    status, err = run_corpus(capsys, model)
    assert status == 0
    assert "0 files failed, 8 errors in others; out/errors.jsonl says where" in err
    found = errors()
    assert [(e["file"], e["line"]) for e in found] == [
        *(("bad docs.jsonl", line) for line in (2, 3, 4, 6, 7, 8)),
        ("bad text.txt", 3),
        ("bad trees.conllu", 1),
    ]
    told = ("not JSON", "no object", "--text-field names another", "'sentences' already", "", "0xff is not UTF-8")
    for error, reason in zip(found, (*told, "are not UTF-8", "2 columns"), strict=True):
        assert reason in error["reason"]
    counts = [read_record(Path("out", f"bad {name}.conllu")) for name in ("docs", "text", "trees")]
    assert [(one["documents"], one["errors"]) for one in counts] == [(2, 6), (1, 1), (1, 1)]
    status, err = run_corpus(capsys, model, "--on-error", "stop")
    assert status == 1
    assert "3 files failed" in err
    assert [(e["file"], e["line"], e["failed"]) for e in errors()] == [
        ("bad docs.jsonl", 2, True),
        ("bad text.txt", 3, True),
        ("bad trees.conllu", 1, True),
    ]


def test_bytes_may_be_replaced_and_other_encodings_read(model, capsys):
    Path("in/bad.jsonl").write_bytes(b'{"id": "x", "text": "Wug \xff."}\n')
    Path("in/wide.txt").write_text("Dax é zorps.", encoding="utf-16")
    assert run_corpus(capsys, model, "--on-error", "replace")[0] == 0
    assert "\ufffd" in Path("out/bad.conllu").read_text()
    assert "é" in Path("out/wide.conllu").read_text()
    assert [e["file"] for e in errors()] == ["bad.jsonl"]


def test_a_corrupt_gz_fails_alone_and_is_tried_again(model, capsys):
    whole = gzip.compress(paragraphs(2000, 5).encode())
    middle = len(whole) // 2
    Path("in/corrupt.txt.gz").write_bytes(whole[:middle] + bytes(200) + whole[middle + 200 :])
    Path("in/cut.txt.gz").write_bytes(whole[:middle])
    status, err = run_corpus(capsys, model)
    assert status == 1
    assert "corrupt.txt.gz:" in err
    assert "the compressed data is damaged or breaks off here" in err
    assert "2 files failed, 0 errors in others" in err
    assert [(e["file"], e["failed"]) for e in errors()] == [("corrupt.txt.gz", True), ("cut.txt.gz", True)]
    assert not Path("out/corrupt.conllu").exists()
    assert Path("out/long.conllu").exists()
    for name in ("corrupt", "cut"):
        Path(f"in/{name}.txt.gz").write_bytes(gzip.compress(b"Dax zorps."))
    assert run_corpus(capsys, model)[0] == 0
    assert errors() == []


def test_a_corrupt_gz_in_the_middle_of_a_large_file_fails_alone(model):
    whole = gzip.compress(paragraphs(2000, 5).encode())
    Path("in/corrupt.txt.gz").write_bytes(whole[: len(whole) // 2])
    summary, told = parse_corpus(model, Path("in"), Path("out"), part_size=3000)
    assert summary.failed == 1
    assert "corrupt.txt.gz:" in told[0]
    assert "breaks off here" in told[0]


def test_an_input_that_vanishes_fails_alone(model, capsys, monkeypatch):
    whole = units.checksum

    def vanishing(path):
        if str(path).endswith("long.txt"):
            Path("in/long.txt").unlink(missing_ok=True)
        return whole(path)

    monkeypatch.setattr(units, "checksum", vanishing)
    status, err = run_corpus(capsys, model)
    assert status == 1
    assert "long.txt: No such file or directory" in err
    assert errors() == [{"file": "long.txt", "failed": True, "reason": "No such file or directory"}]
    assert Path("out/trees.conllu").exists()


def test_an_input_that_vanishes_before_its_parts_are_joined_fails_alone(model, monkeypatch):
    whole = units.Job.do

    def done(self, unit, say):
        result = whole(self, unit, say)
        if unit.input.name == "long.txt" and unit.part == unit.parts - 1:
            Path("in/long.txt").unlink()
        return result

    monkeypatch.setattr(units.Job, "do", done)
    summary, told = parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert summary.failed == 1
    assert told == ["long.txt: No such file or directory"]


def test_a_folder_of_parts_that_another_run_has_taken_away_is_no_failure(model, monkeypatch):
    whole = units.Job._write
    once = []

    def write(self, unit, out, counts, say):
        if unit.input.name == "long.txt" and unit.part == 1 and not once:
            once.append(1)
            raise FileNotFoundError(errno.ENOENT, "gone", str(self.target(unit).resolve()))
        whole(self, unit, out, counts, say)

    monkeypatch.setattr(units.Job, "_write", write)
    summary, told = parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert (summary.failed, summary.left, told) == (0, 1, [])
    summary, told = parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert (summary.finished, summary.skipped, told) == (1, 9, [])


def test_an_input_that_changes_while_it_is_read_fails(model, monkeypatch):
    whole = units.Job._write

    def write(self, unit, out, counts, say):
        whole(self, unit, out, counts, say)
        if unit.input.name == "long.txt":
            Path("in/long.txt").write_text("Dax.")

    monkeypatch.setattr(units.Job, "_write", write)
    summary, told = parse_corpus(model, Path("in"), Path("out"))
    assert summary.failed == 1
    assert told == ["long.txt: the file was changed while it was read; the next run does it again"]
    assert not Path("out/long.conllu").exists()


@pytest.mark.parametrize(("change", "back"), [(1, None), (-1, None), (1, 2)])
def test_an_input_that_changes_between_two_of_its_parts_fails(model, monkeypatch, change, back):
    """It would be made of parts of two files, with the checksum of the first; also if it becomes what it was."""
    whole = units.Job.do
    given = Path("in/long.txt")
    given.write_text(paragraphs(40, 1))
    before, text = given.stat(), given.read_text()

    def done(self, unit, say):
        result = whole(self, unit, say)
        if unit.input.name == "long.txt" and unit.part == change % unit.parts:
            given.write_text(paragraphs(40, 99))
        elif unit.input.name == "long.txt" and unit.part == back:
            given.write_text(text)
            os.utime(given, ns=(before.st_atime_ns, before.st_mtime_ns))
        return result

    with monkeypatch.context() as patch:
        patch.setattr(units.Job, "do", done)
        summary, told = parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert summary.failed == 1
    assert told == ["long.txt: the file was changed while it was read; the next run does it again"]
    assert not Path("out/long.conllu").exists()
    assert parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)[0].finished == 1
    parse_corpus(model, Path("in"), Path("whole"))
    assert outputs(Path("out")) == outputs(Path("whole"))


def test_an_output_that_is_removed_while_it_is_written_is_a_failure_that_is_told(model, monkeypatch):
    whole = units.Job._write

    def write(self, unit, out, counts, say):
        whole(self, unit, out, counts, say)
        if unit.input.name == "long.txt":
            for path in Path("out").glob(".long.conllu.*.part"):
                path.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(units.Job, "_write", write)
        summary, told = parse_corpus(model, Path("in"), Path("out"))
    assert (summary.failed, summary.finished) == (1, 9)
    assert told == [f"long.txt: {units.REMOVED}"]
    assert errors() == [{"file": "long.txt", "failed": True, "reason": units.REMOVED}]
    assert parse_corpus(model, Path("in"), Path("out"))[0].finished == 1


@pytest.mark.parametrize("format_", ["conllu", "json", "parquet"])
def test_names_that_are_no_utf_8_are_kept(model, capsys, format_):
    if format_ == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = Path(os.fsdecode(b"in/caf\xe9.txt"))
    try:
        path.write_text("Dax zorps.")
    except OSError:
        pytest.skip("this system has no such names")
    assert run_corpus(capsys, model, "--format", format_)[0] == 0
    assert main(["corpus", "status", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"done": 11, "failed": 0, "to do": 0}
    path.write_text("Wug.")
    assert main(["corpus", "verify", "out"]) == 1
    assert "the input has changed since" in capsys.readouterr().out


@pytest.mark.parametrize(("length", "failed"), [(246, 0), (251, 1)])
def test_names_that_are_too_long_for_their_records_or_outputs_stop_nothing(model, capsys, length, failed):
    """In the first case only the record needs a shorter name; in the second the output cannot be written, either."""
    name = "x" * length
    Path(f"in/{name}.txt").write_text("Dax zorps.")
    for _ in range(2):
        status, err = run_corpus(capsys, model)
        assert status == failed
        assert [(e["file"], e["reason"]) for e in errors()] == [(f"{name}.txt", "File name too long")] * failed
    assert f"0 files done, {11 - failed} were finished before" in err
    assert main(["corpus", "status", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"done": 11 - failed, "failed": failed, "to do": 0}
    assert main(["corpus", "verify", "out"]) == failed
    assert [(found, problem) for found, problem in verified(Path("out")) if found.startswith("x")] == [
        (f"{name}.conllu", "failed: File name too long" if failed else "")
    ]


def test_a_bom_in_json_lines_costs_nothing(model, capsys):
    """In parts that are not the first, nothing is taken for one."""
    lines = Path("in/sub/docs.jsonl").read_bytes()
    Path("in/bom.jsonl").write_bytes(b"\xef\xbb\xbf" + lines)
    parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert Path("out/bom.conllu").read_bytes() == Path("out/sub/docs.conllu").read_bytes()
    assert errors() == []
    Path("in/bom.jsonl").write_bytes(lines.replace(b"\n", b"\n\xef\xbb\xbf", 1))
    parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert [(e["file"], e["line"]) for e in errors()] == [("bom.jsonl", 2)]


@pytest.fixture
def forking(monkeypatch):
    """Have processes forked, so that they inherit what a test patches, also where other tests have left threads."""
    monkeypatch.setattr("tanglewood.run.processes.threading.active_count", lambda: 1)


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize(
    ("number", "told"),
    [(errno.ENOSPC, "No space left on device"), (errno.EROFS, "Read-only file system")],
)
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_disk_that_is_full_or_read_only_ends_the_run_and_what_is_finished_is_kept(
    model, capsys, monkeypatch, number, told, processes
):
    parse_corpus(model, Path("in"), Path("whole"))
    whole = units.writing_at

    def failing(target, **more):
        if "packed" in str(target):
            raise OSError(number, os.strerror(number), str(Path(target).resolve()))
        return whole(target, **more)

    monkeypatch.setattr(units, "writing_at", failing)
    status = main(["corpus", "in", "-o", "out", "-m", str(model), "-j", processes])
    assert status == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("tanglewood corpus: ")
    assert last.endswith(f"packed.conllu: {told}")
    assert outputs(Path("out")).items() <= outputs(Path("whole")).items()
    assert outputs(Path("out"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(model, capsys):
    Path("out").mkdir(mode=0o555)
    status, err = run_corpus(capsys, model)
    assert status == 1
    assert "out" in err
    assert "Permission denied" in err


def test_a_model_that_is_replaced_during_the_run_changes_nothing_and_is_told(model, capsys, monkeypatch, tmp_path):
    own = tmp_path / "own.tw"
    own.write_bytes(model.read_bytes())
    parse_corpus(model, Path("in"), Path("whole"))
    whole = units.Job._write

    def write(self, unit, out, counts, say):
        own.write_bytes(b"another model")
        os.utime(own, (1, 1))
        whole(self, unit, out, counts, say)

    monkeypatch.setattr(units.Job, "_write", write)
    status, err = run_corpus(capsys, own)
    assert status == 0
    assert "own.tw was replaced during the run; this run used the model it began with" in err
    assert outputs(Path("out")) == outputs(Path("whole"))


@pytest.mark.skipif(not COMPILED, reason="millions of letters")
@pytest.mark.parametrize("ending", ["txt", "jsonl"])
@pytest.mark.parametrize("size", [1_000_000, pytest.param(50_000_000, marks=pytest.mark.slow)])
def test_a_document_without_a_space_is_parsed(model, capsys, ending, size):
    text = "x" * size
    Path(f"in/one.{ending}").write_text(text if ending == "txt" else json.dumps({"id": "a", "text": text}))
    assert run_corpus(capsys, model)[0] == 0
    forms = [form for sentence in sentences_of(Path("out/one.conllu").read_bytes()) for form in sentence.forms]
    assert "".join(forms) == text


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize("lethal", ["long.txt", "trees.conllu"])  # one of the first and the last
def test_a_process_that_dies_has_its_work_done_by_others_but_not_for_ever(model, monkeypatch, lethal):
    parse_corpus(model, Path("in"), Path("whole"))
    whole = units.Job._write
    deaths = Path("deaths")

    def dying(self, unit, out, counts, say):
        if unit.input.name == lethal and len(deaths.read_text() if deaths.exists() else "") < limit:
            with deaths.open("a") as file:
                file.write("x")
            os._exit(1)
        whole(self, unit, out, counts, say)

    monkeypatch.setattr(units.Job, "_write", dying)
    limit = 1
    summary, told = parse_corpus(model, Path("in"), Path("out"), processes=2)
    assert summary.failed == 0
    assert told == ["a process ended without a word; what it was doing is done again"]
    assert outputs(Path("out")) == outputs(Path("whole"))
    limit = 1000
    summary, told = parse_corpus(model, Path("in"), Path("other"), processes=2)
    assert (summary.failed, summary.finished) == (1, 9)
    reason = "the processes that parsed it died; memory may have run out"
    again = "a process ended without a word; what it was doing is done"
    assert told[-2:] == [f"{again} one by one", f"{lethal}: {reason}"]
    (error,) = map(json.loads, Path("other/errors.jsonl").read_text().splitlines())
    assert error == {"file": lethal, "failed": True, "reason": reason}
    assert outputs(Path("other")).items() < outputs(Path("whole")).items()
    assert not list(Path("other").rglob("*.part"))


@pytest.mark.usefixtures("forking")
def test_processes_that_die_whatever_they_do_end_the_run(model, monkeypatch):
    monkeypatch.setattr(units.Job, "_write", lambda *_: os._exit(1))
    with pytest.raises(WorkerError, match="memory"):
        parse_corpus(model, Path("in"), Path("out"), processes=2)
    assert {e["reason"] for e in errors()} == {"the processes that parsed it died; memory may have run out"}
    assert len(errors()) < 10  # of as many files


# Looking at it. -----------------------------------------------------------------------------------------------------
