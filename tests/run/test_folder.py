"""A corpus of many files: what is made of it, what is done again, and by whom; always the same bytes."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from corpora import SMALL, job_for, outputs, paragraphs, parse_corpus

from tanglewood.cli import main
from tanglewood.errors import ConfigError
from tanglewood.run import folder, records, units
from tanglewood.run.folder import Task
from tanglewood.run.places import INSIDE
from tanglewood.run.records import Running, clear_away, is_alive, is_over, runs, verified
from tanglewood.run.units import read_record
from tanglewood.store import save_model
from toy import sentences_of

pytestmark = pytest.mark.usefixtures("corpus_here")


def test_each_file_becomes_one_of_the_same_name_with_its_record(model, capsys):
    assert main(["corpus", "in", "-o", "out", "-m", str(model), "-j", "1"]) == 0
    err = capsys.readouterr().err
    assert "1 files of other kinds are left out\n" in err
    assert "10 files done, 0 were finished before" in err
    found = outputs(Path("out"))
    wanted = ["empty", "long", "packed", "sub/deep/0", "sub/deep/1", "sub/deep/2", "sub/deep/3", "sub/docs"]
    assert sorted(found) == sorted(f"{name}.conllu" for name in [*wanted, "sub/packed", "trees"])
    for name, data in found.items():
        record = read_record(Path("out", name))
        sentences = sentences_of(data)
        assert record["sentences"] == len(sentences)
        assert record["words"] == sum(map(len, sentences))
        assert record["documents"] == data.count(b"# newdoc id = ") or name == "empty.conllu"
        assert record["errors"] == 0
        assert record["model"] == job_for(model, Path("out")).model
        assert record["options"]["format"] == "conllu"
    assert Path("out/errors.jsonl").read_bytes() == b""
    assert not list(Path("out").rglob("*.part"))
    assert all(problem == "" for _, problem in verified(Path("out")))


def test_the_output_for_a_text_is_that_of_parse(model):
    parse_corpus(model, Path("in"), Path("out"))
    for name in ("long.txt", "packed.txt.gz", "trees.conllu"):
        assert main(["parse", "-m", str(model), f"in/{name}", "-o", "one.conllu"]) == 0
        one = Path("one.conllu").read_bytes().replace(b"newdoc id = in/", b"newdoc id = ")
        assert Path("out", f"{name.split('.')[0]}.conllu").read_bytes() == one


@pytest.mark.parametrize(("format_", "rule"), [("conllu", "model"), ("json", "model"), ("conllu", "lines")])
def test_parts_of_any_size_give_the_same_bytes(model, format_, rule):
    reading = {"format": format_, "rule": rule}
    name = "long.conllu" if format_ == "conllu" else "long.jsonl"
    parse_corpus(model, Path("in"), Path("whole"), reading=reading)
    wanted = outputs(Path("whole"))
    parts = []
    for size in (60, 200, 2000):
        output = Path(f"out{size}")
        summary, _ = parse_corpus(model, Path("in"), output, reading=reading, part_size=size)
        assert outputs(output) == wanted
        assert summary.counts.words == sum(read_record(Path("whole", name))["words"] for name in wanted)
        parts.append(read_record(output / name).get("parts", 1))
        assert not [path for path in (output / INSIDE / "parts").rglob("*") if path.is_file()]
    assert parts[0] > parts[1] > parts[2] == 1


def test_any_number_of_processes_gives_the_same_bytes(model):
    parse_corpus(model, Path("in"), Path("whole"))
    parse_corpus(model, Path("in"), Path("two"), processes=2, part_size=SMALL)
    assert outputs(Path("two")) == outputs(Path("whole"))


def test_eight_tasks_in_any_order_give_the_same_bytes(model):
    parse_corpus(model, Path("in"), Path("whole"))
    wanted = outputs(Path("whole"))
    orders = list(permutations(range(1, 9)))
    for number, order in enumerate(Random(1).sample(orders, 2)):
        output = Path(f"out{number}")
        for place in order:
            summary, _ = parse_corpus(model, Path("in"), output, part_size=SMALL, task=Task(place, 8))
            assert summary.failed == 0
        assert outputs(output) == wanted
        assert summary.left == 0
        shares = sum(read_record(output / name)["sentences"] for name in wanted)
        assert shares == sum(read_record(Path("whole", name))["sentences"] for name in wanted)


def test_a_task_does_its_share_alone(model):
    seen = []
    for place in (1, 2, 3):
        parse_corpus(model, Path("in"), Path(f"out{place}"), task=Task(place, 3))
        seen.append(set(outputs(Path(f"out{place}"))))
    assert set.union(*seen) == {f"{name}.conllu" for name in ("empty", "long", "packed", "trees")} | {
        f"sub/{name}.conllu" for name in ("docs", "packed", *(f"deep/{n}" for n in range(4)))
    }
    assert sum(map(len, seen)) == len(set.union(*seen))
    for text in ("0/3", "4/3", "x/3", "3", "1/0", "-1/3"):
        with pytest.raises(ConfigError, match="it should be I/N"):
            Task.read(text)
    assert Task.read("3/8") == (3, 8)


def test_what_is_finished_is_skipped_and_what_has_changed_is_done_again(model):
    def again(**more):
        summary, told = parse_corpus(model, Path("in"), Path("out"), **more)
        return summary.finished, summary.skipped, told

    assert again()[:2] == (10, 0)
    assert again() == (0, 10, [])
    Path("in/long.txt").write_text(paragraphs(3, 99))
    assert again() == (1, 9, ["long.txt: done again, since the input has changed"])
    os.utime("in/long.txt", (1, 1))
    assert again() == (0, 10, [])
    Path("out/trees.conllu").write_bytes(b"x")
    assert again() == (1, 9, ["trees.conllu: done again, since its output was changed"])
    Path("out/trees.conllu").unlink()
    assert again() == (1, 9, ["trees.conllu: done again, since its output is missing"])
    finished, skipped, told = again(reading={"on_error": "replace"})
    assert (finished, skipped) == (10, 0)
    assert told[0] == "empty.txt: done again (other options: on_error)"
    Path("out/trees.conllu.record.json").write_text('{"state": "done"}')
    finished, _, told = again(reading={"on_error": "replace"})
    assert (finished, told) == (1, ["trees.conllu: done again, since its record cannot be read"])


def test_another_model_has_all_done_again(model, pipeline, tmp_path):
    parse_corpus(model, Path("in"), Path("out"))
    arrays, settings = pipeline.contents()
    settings["description"] = {**settings["description"], "epoch": 99}
    save_model(tmp_path / "other.tw", arrays, settings)
    summary, told = parse_corpus(tmp_path / "other.tw", Path("in"), Path("out"))
    assert summary.finished == 10
    assert told[0] == "empty.txt: done again, since the model is another one"


def test_finished_parts_are_not_done_again(model, monkeypatch):
    done = []
    whole = units.Job._write

    def write(self, unit, out, counts, say):
        done.append((unit.input.name, unit.part))
        if len(done) == 9 and not Path("stopped").exists():
            Path("stopped").touch()
            raise KeyboardInterrupt
        whole(self, unit, out, counts, say)

    monkeypatch.setattr(units.Job, "_write", write)
    with suppress(KeyboardInterrupt):
        parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    stopped = done.pop()
    before = len(done)
    parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert done[before] == stopped
    assert len(set(done)) == len(done)


# What is wrong. -----------------------------------------------------------------------------------------------------


def test_status_tells_what_is_done_and_failed_and_who_is_at_work(model, capsys, monkeypatch):
    Path("in/bad.txt.gz").write_bytes(b"no gz")
    seen = []

    def watching(running):
        seen.append([said for _, said in runs(Path("out"))])

    parse_corpus(model, Path("in"), Path("out"), watch=watching, task=Task(1, 2))
    assert seen[-1][0]["pid"] == os.getpid()
    assert is_alive(seen[-1][0])
    assert not is_alive({**seen[-1][0], "pid": 2**22 + 1})
    assert not is_alive({**seen[-1][0], "host": "elsewhere", "told": 0.0})
    assert not list(runs(Path("out")))
    assert main(["corpus", "status", "out"]) == 0
    out = capsys.readouterr().out
    assert "nothing is running; the same command goes on" in out
    Path("out", INSIDE, "running", "x.json").write_text(json.dumps({**seen[-1][0], "pid": 2**22 + 1}))
    assert main(["corpus", "status", "out"]) == 0
    assert "it has ended without a word" in capsys.readouterr().out
    parse_corpus(model, Path("in"), Path("out"))
    assert not list(runs(Path("out")))  # what a killed run left is cleared away
    assert main(["corpus", "status", "out", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == {"done": 10, "failed": 1, "to do": 0}
    assert found["words"] > 0


def test_what_another_run_writes_is_not_cleared_away(monkeypatch):
    """A run that begins while another looks for what killed ones have left: it has said so before it is looked for."""
    output = Path("out")
    saying = output / INSIDE / "running"
    saying.mkdir(parents=True)
    left = [output / ".a.conllu.0123456789abcdef.part", output / INSIDE / ".corpus.json.0123456789abcdef.part"]
    said_by_half = saying / ".other-1.json.0123456789abcdef.part"
    for path in (*left, said_by_half):
        path.write_bytes(b"")
    with Running(output, (1, 1)):
        other = saying / "elsewhere-1.json"
        said = next(said for _, said in runs(output))

        def walk(folder, walk=os.walk):
            found = list(walk(folder))
            other.write_text(json.dumps({**said, "host": "elsewhere"}))  # with the number of this very process
            return found

        with monkeypatch.context() as patch:
            patch.setattr(os, "walk", walk)
            clear_away(output)
        assert all(path.exists() for path in left)
        other.unlink()
        clear_away(output)
        assert not any(path.exists() for path in left)
        assert said_by_half.exists()
        os.utime(said_by_half, (0, 0))
        clear_away(output)
        assert not said_by_half.exists()


def saying_of(**more):
    """What a run of this process says in the folder `out`, and a file in which another says the same but for this."""
    path = Path("out", INSIDE, "running", "other.json")
    path.unlink(missing_ok=True)
    with Running(Path("out"), (1, 1)):
        (said,) = (said for _, said in runs(Path("out")))
    path.write_text(json.dumps({**said, **more}))
    return {**said, **more}, path


def test_a_run_elsewhere_that_is_silent_may_be_busy(model, capsys):
    """Nothing that it may be writing is removed, and status does not say that it has ended, for a day."""
    left = Path("out/.a.conllu.0123456789abcdef.part")
    for hours, is_dead in ((1, False), (48, True)):
        said, path = saying_of(host="elsewhere", told=time.time() - 3600 * hours)
        left.touch()
        assert not is_alive(said)
        assert is_over(said) is is_dead
        parse_corpus(model, Path("in"), Path("out"), task=Task(1, 2))
        assert path.exists() is left.exists() is not is_dead
        path.write_text(json.dumps(said))
        assert main(["corpus", "status", "out"]) == 0
        out = capsys.readouterr().out
        assert ("it has ended without a word" if is_dead else "not heard of for 60:00; it may be busy, or dead") in out
        assert ("nothing is running" in out) is is_dead


@pytest.mark.skipif(not Path("/proc/self/ns/pid").exists(), reason="this system has no such namespaces")
def test_the_number_of_a_process_says_nothing_about_other_containers_of_the_same_name(monkeypatch):
    left = Path("out/.a.conllu.0123456789abcdef.part")
    with Running(Path("out"), (1, 1)), monkeypatch.context() as patch:
        patch.setattr(records, "_space", lambda: 17)
        with Running(Path("out"), (1, 1)):  # the same host, and the same number
            assert len(list(runs(Path("out")))) == 2
            left.touch()
            clear_away(Path("out"))
            assert left.exists()
    said, _ = saying_of(pid=2**22 + 1)
    assert said["space"] == Path("/proc/self/ns/pid").stat().st_ino
    assert is_over(said)
    said, _ = saying_of(space=17, pid=2**22 + 1)
    assert is_alive(said)
    assert not is_over(said)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell when a process began")
def test_a_number_that_another_process_has_now_is_not_that_run():
    said, _ = saying_of()
    assert is_alive(said)
    assert is_over({**said, "start": "17"})
    assert is_alive({**said, "start": ""})  # written where that is unknown
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    itself = {**said, "pid": child.pid, "start": records._start_of(child.pid)}
    assert is_alive(itself)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how
    assert is_over(itself)
    child.communicate()
    assert is_over(itself)


def test_two_runs_at_once_that_would_make_different_outputs_are_refused(model, capsys):
    command = ["corpus", "in", "-o", "out", "-m", str(model), "-j", "1"]
    _, path = saying_of(host="elsewhere", pid=7, doing="something else")
    assert main(command) == 1
    err = capsys.readouterr().err
    assert "out: another run is at work there with another model or other options (elsewhere, process 7); wait" in err
    assert outputs(Path("out")) == {}
    assert [found for found, _ in runs(Path("out"))] == [path]
    saying_of(host="elsewhere", doing=job_for(model, Path("out")).doing)
    assert main(command) == 0
    saying_of(host="elsewhere", doing="something else", told=time.time() - 3600)
    assert main([*command, "--on-error", "stop"]) == 0


@pytest.mark.parametrize("part_size", [1 << 20, SMALL])
def test_a_record_does_not_speak_for_what_another_run_wrote(model, monkeypatch, part_size):
    """A run with other options is killed after it has written an output, which may have the size of the old one."""
    parse_corpus(model, Path("in"), Path("out"), part_size=part_size)

    def killed(target, record):
        if target.name == "long.conllu":
            raise KeyboardInterrupt
        write_record(target, record)

    write_record = units.write_record
    for module in (units, folder):
        monkeypatch.setattr(module, "write_record", killed)
    with pytest.raises(KeyboardInterrupt):
        parse_corpus(model, Path("in"), Path("out"), part_size=part_size, reading={"on_error": "stop"})
    assert Path("out/long.conllu").exists()
    assert read_record(Path("out/long.conllu")) is None
    assert dict(verified(Path("out")))["long.conllu"] == "not done yet"


def test_parts_of_what_another_run_has_joined_are_not_left(model, monkeypatch):
    whole = units.Job.do
    seen = []

    def do(self, unit, say):
        seen.append(unit)
        if len(seen) == 3:
            parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
        return whole(self, unit, say)

    Path("in/a.txt").write_text(paragraphs(40, 3))
    monkeypatch.setattr(units.Job, "do", do)
    summary, _ = parse_corpus(model, Path("in"), Path("out"), part_size=SMALL)
    assert seen[2].input.name == "a.txt"
    assert summary.left == 0
    assert not [path for path in Path("out", INSIDE, "parts").rglob("*") if path.is_file()]


def test_status_needs_nothing_to_be_written(model, capsys, monkeypatch):
    parse_corpus(model, Path("in"), Path("out"))

    def failing(place):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(place))

    monkeypatch.setattr(records, "writing_at", failing)
    assert main(["corpus", "status", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"]["done"] == 10


def test_a_run_says_that_it_is_at_work_before_it_writes_anything(model, monkeypatch):
    parse_corpus(model, Path("in"), Path("out"))
    for path in Path("in").rglob("*.*"):
        os.utime(path, (1, 1))  # the records are written anew
    seen = []

    def watched(write):
        def writes(*given):
            seen.append([said["pid"] for _, said in runs(Path("out"))])
            return write(*given)

        return writes

    for name in ("write_record", "write_manifest"):
        monkeypatch.setattr(folder, name, watched(getattr(folder, name)))
    parse_corpus(model, Path("in"), Path("out"))
    assert len(seen) > 1
    assert seen == [[os.getpid()]] * len(seen)


def test_verify_finds_what_was_changed(model, capsys):
    parse_corpus(model, Path("in"), Path("out"))
    assert main(["corpus", "verify", "out"]) == 0
    assert capsys.readouterr().out == "10 files are as their records say\n"
    data = Path("out/long.conllu").read_bytes()
    Path("out/long.conllu").write_bytes(data.replace(b"dax", b"dux", 1))
    Path("out/trees.conllu").unlink()
    Path("in/empty.txt").write_text("Dax.")
    Path("out/packed.conllu.record.json").unlink()
    Path("in/sub/deep/0.txt").unlink()  # inputs may be gone
    assert main(["corpus", "verify", "out"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "empty.conllu: the input has changed since",
        "long.conllu: it is not what was written: its checksum is another one",
        "trees.conllu: it is missing",
        "packed.conllu: not done yet",
        "6 files are as their records say, 4 are not",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["in"], "-o OUT should name the folder"),
        (["nowhere", "-o", "out"], "nowhere: there is no such file or folder"),
        (["no*where", "-o", "out"], "no*where: there is no such file"),
        (["in", "-o", "in/long.txt"], "in/long.txt is a file; -o should name a folder"),
        (["in", "-o", "out", "--task", "9/8"], "--task 9/8: it should be I/N"),
        (["in", "-o", "out", "-j", "0"], "the number of processes must be 1 or more"),
        (["in", "-o", "out", "--part-size", "0"], "--part-size"),
        (["in", "-o", "out", "--encoding", "nosuch"], "there is no such encoding"),
        (["status", "nowhere"], "nowhere: there is no such folder"),
        (["status", "in"], "in: no corpus was parsed into this folder"),
        (["verify", "in"], "in: no corpus was parsed into this folder"),
        (["status", "in", "in"], "corpus status takes one folder"),
    ],
)
def test_arguments_that_are_wrong(arguments, told, capsys, model):
    assert main(["corpus", *arguments, "-m", str(model)]) == 1
    assert told in capsys.readouterr().err


def test_a_parser_of_tagged_words_refuses_text_and_takes_treebanks(bare, capsys, tmp_path):
    bare.save(tmp_path / "bare.tw")
    assert main(["corpus", "in/long.txt", "-o", "out", "-m", "bare.tw", "-j", "1"]) == 1
    assert "train --pipeline" in capsys.readouterr().err
    assert main(["corpus", "in/trees.conllu", "-o", "out", "-m", "bare.tw", "-j", "1"]) == 0


def test_inputs_and_outputs_may_be_compressed(model):
    parse_corpus(model, Path("in"), Path("whole"))
    parse_corpus(model, Path("in"), Path("packed"), packing=".gz", part_size=SMALL)
    found = {name.removesuffix(".gz"): gzip.decompress(data) for name, data in outputs(Path("packed")).items()}
    assert found == outputs(Path("whole"))


def test_zst_is_read_and_written(model, tmp_path):
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    Path("z").mkdir()
    Path("z/a.txt.zst").write_bytes(zstandard.ZstdCompressor().compress(Path("in/long.txt").read_bytes()))
    parse_corpus(model, Path("z"), Path("out"), packing=".zst", part_size=100)
    parse_corpus(model, Path("in"), Path("whole"))
    (data,) = outputs(Path("out")).values()
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    assert plain.replace(b"a.txt.zst", b"long.txt") == Path("whole/long.conllu").read_bytes()


def test_json_lines_keep_their_other_fields(model, pipeline):
    parse_corpus(model, Path("in"), Path("out"), reading={"format": "json"})
    given = [json.loads(line) for line in Path("in/sub/docs.jsonl").read_text().splitlines()]
    found = [json.loads(line) for line in Path("out/sub/docs.jsonl").read_text().splitlines()]
    assert len(given) == len(found) == 10
    for one, other in zip(given, found, strict=True):
        sentences = other.pop("sentences")
        assert one == other
        plain = [sentence.to_dict() for sentence in pipeline(one["text"])]
        for number, (sentence, wanted) in enumerate(zip(sentences, plain, strict=True), 1):
            assert sentence.pop("sent_id") == f"{one['id']}-{number}"
            del wanted["sent_id"]
            assert sentence == wanted
    lines = Path("out/long.jsonl").read_text().splitlines()
    assert [json.loads(line)["sent_id"] for line in lines] == [str(number) for number in range(1, len(lines) + 1)]


def test_documents_say_where_they_begin_in_conllu(model):
    parse_corpus(model, Path("in"), Path("out"))
    text = Path("out/sub/docs.conllu").read_text()
    assert text.startswith(
        '# newdoc id = d4-0\n# meta::n = 0\n# meta::tags = ["a", null]\n# sent_id = d4-0-1\n# text = '
    )
    assert text.count("# newdoc id = ") == 10
    assert len({s.sent_id for s in sentences_of(text)}) == len(sentences_of(text))
