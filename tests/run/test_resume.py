"""`parse --resume`: what was stopped, however it was stopped, ends with the bytes of a run that was not."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tanglewood.cli import main
from tanglewood.errors import ConfigError
from tanglewood.pipeline import load
from tanglewood.run import resume
from tanglewood.run.resume import Done, made_from, record_of, resumed
from tanglewood.store import save_model
from tanglewood.treebank.chunks import in_chunks
from tanglewood.worker import Worker
from toy import toy_text

TEXT = "".join(f"Dax zorps. Wug fimps dax{' vonly' * (n % 3)}.\n\n" for n in range(40))
STOPS = """
import os, signal, sys
from tanglewood import worker
from tanglewood.cli import main
from tanglewood.treebank import blocks, chunks
from tanglewood.pipeline import load
from tanglewood.run import resume
from tanglewood.text import batches
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where Ctrl-C is ignored
chunks.in_chunks.__kwdefaults__["most"] = 20
batches.CHUNK_LETTERS = 100
blocks.READ_SIZE = 2000
resume.EVERY = 0.0
parse = worker.Worker.parse
left = [int(sys.argv[1])]

def stopping(self, batch):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), int(sys.argv[2]))
    return parse(self, batch)

worker.Worker.parse = stopping
if __name__ == "__main__":
    sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch, tmp_path, model):
    """Have batches of a few sentences."""
    monkeypatch.setitem(in_chunks.__kwdefaults__, "most", 20)
    monkeypatch.setattr("tanglewood.treebank.blocks.READ_SIZE", 2000)
    monkeypatch.setattr("tanglewood.text.batches.CHUNK_LETTERS", 100)
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    Path("trees.conllu").write_text(toy_text(60).rstrip())  # the last sentence lacks its blank line
    Path("toy.tw").write_bytes(model.read_bytes())


def stopped_after(monkeypatch, batches, arguments, error=KeyboardInterrupt):
    """Run the command, which is stopped after so many batches."""
    whole = Worker.parse
    left = [batches]

    def parse(self, batch):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return whole(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "parse", parse)
        return main(arguments)


def command(*more, output="out.conllu", inputs=("text.txt", "trees.conllu", "text.txt")):
    return ["parse", "-m", "toy.tw", *inputs, "-o", output, *more]


@pytest.mark.parametrize("name", ["out.conllu", "out.json", "out.conllu.gz", "out.conllu.xz"])
def test_what_was_stopped_ends_with_the_bytes_of_a_run_that_was_not(name, monkeypatch, capsys):
    assert main(command(output=f"whole{name}")) == 0
    wanted = Path(f"whole{name}").read_bytes()
    for batches in (0, 1, 2, 3, 5):
        assert stopped_after(monkeypatch, batches, command("--resume", output=name)) == 130
        assert f"{name}.part is kept; the same command goes on from there" in capsys.readouterr().err
        assert Path(f"{name}.part").exists()
        assert not Path(name).exists()
    assert main(command("--resume", "-j", "2", output=name)) == 0
    assert "going on after" in capsys.readouterr().err
    assert Path(name).read_bytes() == wanted
    assert sorted(path.name for path in Path().iterdir() if "out" in path.name) == sorted([name, f"whole{name}"])


def test_between_all_batches_it_can_be_stopped(monkeypatch):
    assert main(command(output="whole.conllu")) == 0
    stops = 0
    while stopped_after(monkeypatch, 1, command("--resume")) == 130:
        stops += 1
    assert stops > 10
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_killed_goes_on(number):
    Path("stops.py").write_text(STOPS)
    assert main(command(output="whole.conllu")) == 0
    for batches in (4, 3):
        arguments = [sys.executable, "stops.py", str(batches), str(int(number)), *command("--resume")]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.returncode == (-9 if number == signal.SIGKILL else 143)
        assert json.loads(Path("out.conllu.part.json").read_text())["done"]["batches"] >= 3
    assert main(command("--resume")) == 0
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()
    assert not list(Path().glob("*.part*"))


def test_without_it_nothing_is_kept(monkeypatch):
    assert stopped_after(monkeypatch, 3, command()) == 130
    assert not [path for path in Path().iterdir() if "out" in path.name]


def change_text():
    Path("text.txt").write_text(TEXT.replace("Wug", "Dax", 1))


def change_model():
    nlp = load("toy.tw")
    data = nlp.contents()
    data[1]["description"]["changed"] = "yes"
    save_model("toy.tw", *data)


@pytest.mark.parametrize(
    ("change", "more", "told"),
    [
        (change_text, (), "text.txt has changed"),
        (change_model, (), "the model is another one"),
        (lambda: None, ("--sentences", "lines"), "other options: sentences"),
        (lambda: None, ("--encoding", "latin-1"), "other options: encoding"),
        (lambda: None, ("--on-error", "skip"), "other options: on_error"),
        (lambda: None, ("--format", "json"), "other options: format"),
        (lambda: None, (), "other input files"),
        (lambda: Path("out.conllu.part.json").unlink(), (), "out.conllu.part.json, which says what it is, is missing"),
        (lambda: Path("out.conllu.part.json").write_text("{}"), (), "out.conllu.part.json does not fit it"),
        (lambda: Path("out.conllu.part").write_bytes(b"x"), (), "out.conllu.part.json does not fit it"),
    ],
)
def test_what_was_made_from_something_else_is_refused_and_stays(change, more, told, monkeypatch, capsys):
    assert stopped_after(monkeypatch, 3, command("--resume")) == 130
    change()
    inputs = ["text.txt", "trees.conllu", *(["text.txt"] if told != "other input files" else [])]
    before = Path("out.conllu.part").read_bytes()
    capsys.readouterr()
    assert main(command("--resume", *more, inputs=inputs)) == 1
    err = capsys.readouterr().err
    assert told in err
    assert "delete it to begin anew" in err
    assert Path("out.conllu.part").read_bytes() == before
    assert not Path("out.conllu").exists()
    Path("out.conllu.part").unlink()
    assert main(command("--resume", *more, inputs=inputs)) == 0


def test_what_cannot_be_gone_on_with_is_refused(capsys):
    for arguments, told in (
        (["parse", "-m", "toy.tw", "-", "-o", "x.conllu", "--resume"], "standard input can be read only once"),
        (["parse", "-m", "toy.tw", "text.txt", "--resume"], "needs the name of a file"),
        (command("--resume", output="x.html"), "--resume adds sentences to conllu and json; html"),
    ):
        assert main(arguments) == 1
        assert told in capsys.readouterr().err


def test_errors_are_counted_once(monkeypatch, capsys):
    Path("bad.conllu").write_text(f"1\tbad\n\n{toy_text(40)}1\tbad\n\n")
    arguments = command("--resume", "--on-error", "report", inputs=("bad.conllu",))
    assert stopped_after(monkeypatch, 2, arguments) == 130
    capsys.readouterr()
    assert main(arguments) == 1
    assert "2 sentences left out because of errors" in capsys.readouterr().err


def test_a_full_disk_leaves_what_was_recorded_before(monkeypatch, capsys):
    assert main(command(output="whole.conllu")) == 0
    real = os.fsync
    left = [8]

    def full(number):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    with monkeypatch.context() as patch:
        patch.setattr(resume, "EVERY", 0.0)
        patch.setattr(os, "fsync", full)
        assert main(command("--resume")) == 1
    assert "out.conllu.part: No space left on device" in capsys.readouterr().err
    assert main(command("--resume")) == 0
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()


def test_two_runs_do_not_write_the_same_part():
    source = made_from([("Some text", True)], "model", {})
    with resumed("out.conllu", source):
        other = resumed("out.conllu", source)
        with pytest.raises(ConfigError, match="another run is writing it"):
            other.__enter__()


def test_what_comes_after_the_last_record_is_cut_off():
    source = made_from([("Some text", True)], "model", {"beam": 2})
    with suppress(KeyError), resumed("out.json", source) as part:
        part.file.write(b"done\n")
        part.batch_done(Done(1, 0, 1))
        part.file.write(b"half a li")
        raise KeyError
    assert record_of(Path("out.json.part")).exists()
    with resumed("out.json", source) as part:
        assert part.end == b"done\n"
        assert part.done == Done(1, 5, 1)
        part.file.write(b"more\n")
    assert Path("out.json").read_bytes() == b"done\nmore\n"


def test_records_are_written_now_and_then_only(monkeypatch):
    records = []
    monkeypatch.setattr(resume.Part, "record", lambda self: records.append(self.done.batches))
    with resumed("out.json", made_from([], "model", {})) as part:
        for number in range(1, 5):
            part.batch_done(Done(number))
        assert records == [0]
        part._told = time.monotonic() - 2 * resume.EVERY
        part.batch_done(Done(5))
    assert records == [0, 5]


def test_a_compressed_input_goes_on_too(monkeypatch):
    Path("text.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert main(command(inputs=("text.txt.gz",), output="whole.conllu")) == 0
    assert stopped_after(monkeypatch, 3, command("--resume", inputs=("text.txt.gz",))) == 130
    assert main(command("--resume", inputs=("text.txt.gz",))) == 0
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()
