"""Signals end a command as Ctrl-C does: what it has begun is removed, and what is finished is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tanglewood.cli import main
from tanglewood.cli.guard import Stopped, signals_stop, stop_of
from tanglewood.pipeline import load
from tanglewood.training.session import Session
from toy import toy_sentences, toy_text, train_parser

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
TOLD = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "ended, since the terminal was closed",
}
SLOWLY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where Ctrl-C is ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from tanglewood import worker
from tanglewood.treebank import blocks
from tanglewood.cli import main
blocks.READ_SIZE = 600
parse = worker.Worker.parse

def slow(self, batch):
    open("begun", "w").close()
    if batch.blocks[0][0] > 1:
        time.sleep(1000)
    return parse(self, batch)

worker.Worker.parse = slow
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    train_parser(toy_sentences(8)).save(folder / "model.tw")
    (folder / "slowly.py").write_text(SLOWLY)
    (folder / "trees.conllu").write_text(toy_text(60))
    return folder


def waited_for(what):
    end = time.monotonic() + 60
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    assert what()


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", TOLD)
@pytest.mark.parametrize(("processes", "to_all"), [(1, False), (2, False), (2, True)])
def test_a_signal_ends_a_command_and_its_processes_in_the_middle_of_their_work(folder, number, processes, to_all):
    (folder / "begun").unlink(missing_ok=True)
    (folder / "out.conllu").write_text("old")
    command = [sys.executable, "slowly.py", "parse", "-m", "model.tw", "trees.conllu", "-o", "out.conllu"]
    command += ["-j", str(processes)]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        waited_for(lambda: (folder / "begun").exists() and any(folder.glob(".out.conllu.*.part")))
    except AssertionError:
        process.kill()
        process.communicate()
        raise
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    children = [int(child) for child in listed.read_text().split()] if listed.exists() else []
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert err == f"\ntanglewood parse: {TOLD[number]}\n"
    assert process.returncode == 128 + number
    waited_for(lambda: not any(map(is_running, children)))
    assert not list(folder.glob(".*"))
    assert (folder / "out.conllu").read_text() == "old"


def interrupted_training(monkeypatch, number, *more):
    """Train, and get a signal after the first epoch."""
    whole = Session._save_checkpoint

    def save(self, training):
        whole(self, training)
        if training.epoch == 1:
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "_save_checkpoint", save)
        return main(["train", "trees.conllu", "-o", "new.tw", "--learner", "linear", "--epochs", "2", *more])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_training_keeps_the_best_so_far_and_what_it_needs_to_go_on(folder, monkeypatch, capsys, number):
    monkeypatch.chdir(folder)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert interrupted_training(monkeypatch, number) == 128 + number
    finally:
        signal.signal(number, before)
    err = capsys.readouterr().err
    assert err.endswith(f"{TOLD[number]}: the best parser so far is kept; --resume goes on\n")
    assert load("new.tw").description["epoch"] == 1
    assert Path("new.tw.training").exists()
    assert not list(folder.glob(".*"))
    resumed = ["train", "trees.conllu", "-o", "new.tw", "--learner", "linear", "--epochs", "2", "--resume"]
    assert main(resumed) == 0
    assert "going on after epoch 1" in capsys.readouterr().err
    assert load("new.tw").description["epoch"] == 2
    assert not Path("new.tw.training").exists()


def test_only_the_first_signal_counts_and_afterwards_all_is_as_before():
    def work():
        with signals_stop():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            finally:
                os.kill(os.getpid(), signal.SIGHUP)
                os.kill(os.getpid(), signal.SIGTERM)

    before = [signal.getsignal(number) for number in TOLD]
    with pytest.raises(Stopped) as found:
        work()
    assert stop_of(found.value) == (143, "terminated")
    assert stop_of(KeyboardInterrupt()) == (130, "interrupted")
    assert [signal.getsignal(number) for number in TOLD] == before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with signals_stop():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_can_run_a_command(capsys):
    found = []
    thread = threading.Thread(target=lambda: found.append(main(["info"])))
    thread.start()
    thread.join(60)
    assert found == [0]
    assert "tanglewood" in capsys.readouterr().out
