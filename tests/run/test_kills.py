"""Kill -9 at random moments, of workers, of a run and of all its processes: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from corpora import make_corpus, outputs, parse_corpus

from tanglewood.run.records import verified

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list processes in /proc"),
]
PART = 400  # bytes
RUN = f"""
import sys
from pathlib import Path
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
from corpora import parse_corpus
if __name__ == "__main__":
    summary, told = parse_corpus(Path("toy.tw"), Path("in"), Path("out"), processes=2, part_size={PART})
    sys.exit(1 if summary.failed else 0)
"""


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def killed_at_random(rng, wanted):
    """Begin a run and kill something at a random moment; return what was killed, nothing if the run had ended."""
    process = subprocess.Popen([sys.executable, "run.py"], start_new_session=True, stderr=subprocess.PIPE)
    begun = time.monotonic()
    while not children_of(process.pid) and process.poll() is None and time.monotonic() < begun + 60:
        time.sleep(0.005)  # until it has loaded the model
    time.sleep(rng.uniform(0, 0.25))
    whom = rng.choice(["worker", "run", "all"])
    try:
        if process.poll() is not None:
            whom = ""
        elif whom == "worker":
            workers = children_of(process.pid)
            if workers:
                os.kill(rng.choice(workers), signal.SIGKILL)
        elif whom == "run":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        whom = ""
    _, err = process.communicate(timeout=120)
    assert b"Traceback" not in err or b"WorkerError" in err
    for name, data in outputs(Path("out")).items():
        if not name.rpartition("/")[2].startswith("."):  # what is being written is hidden
            assert wanted[name] == data
    return whom


def stands_kills(model, tmp_path, monkeypatch, kills, size):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"), size)
    Path("toy.tw").write_bytes(model.read_bytes())
    Path("run.py").write_text(RUN)
    parse_corpus(Path("toy.tw"), Path("in"), Path("whole"))
    wanted = outputs(Path("whole"))
    rng = Random(7)
    done = []
    while len(done) < kills:
        if whom := killed_at_random(rng, wanted):
            done.append(whom)
        if outputs(Path("out")).keys() >= wanted.keys() and rng.random() < 0.5:  # begin again with some of it
            for name in rng.sample(sorted(wanted), 8):
                Path("out", name).unlink()
    summary, _ = parse_corpus(Path("toy.tw"), Path("in"), Path("out"), processes=2, part_size=PART)
    assert summary.failed == 0
    assert outputs(Path("out")) == wanted
    assert all(problem == "" for _, problem in verified(Path("out")))
    assert Path("out/errors.jsonl").read_bytes() == b""
    return done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_run_and_its_processes_and_what_is_finished_is_kept(model, tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"), 3000)
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where Ctrl-C is ignored
from tanglewood.cli import main
sys.exit(main(["corpus", "in", "-o", "out", "-m", {str(model)!r}, "-j", "2"]))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, start_new_session=True, text=True)
    end = time.monotonic() + 60
    while not children_of(process.pid) or not list(Path("out").glob(".*.part")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    children = children_of(process.pid)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    why = "interrupted" if number == signal.SIGINT else "terminated"
    assert err.endswith(f"\n{why}: what is finished is kept; the same command goes on\n")
    assert children
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
    assert not list(Path("out").rglob(".*.part"))
    assert not list(Path("out/.tanglewood/running").iterdir())


def test_two_runs_at_once_give_the_same_bytes(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"), 60)
    Path("toy.tw").write_bytes(model.read_bytes())
    Path("run.py").write_text(RUN)
    parse_corpus(Path("toy.tw"), Path("in"), Path("whole"))
    running = [subprocess.Popen([sys.executable, "run.py"], stderr=subprocess.PIPE) for _ in range(2)]
    for process in running:
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, b"")
    assert outputs(Path("out")) == outputs(Path("whole"))
    assert all(problem == "" for _, problem in verified(Path("out")))


def test_a_few_kills_change_nothing(model, tmp_path, monkeypatch):
    stands_kills(model, tmp_path, monkeypatch, kills=2, size=15)


@pytest.mark.slow
def test_fifty_kills_change_nothing(model, tmp_path, monkeypatch):
    assert set(stands_kills(model, tmp_path, monkeypatch, kills=50, size=60)) == {"worker", "run", "all"}
