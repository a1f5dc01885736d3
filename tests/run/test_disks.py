"""Disks that are really full or read-only: what a user is told, what is kept, and that the next run goes on.

Each test has a small file system of its own, in a mount namespace that ends with it. Where that is not allowed they are
skipped, and those of test_folder_failures.py, which only say that a disk is full, have to do.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import outputs, parse_corpus

PAGE = 4096  # bytes: what a file of tmpfs takes at least


def inside(script):
    """Run a script in a mount namespace of its own."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def may_mount():
    return shutil.which("unshare") is not None and inside("mount -t tmpfs none /mnt").returncode == 0


pytestmark = [
    pytest.mark.one_build,
    pytest.mark.usefixtures("corpus_here"),
    pytest.mark.skipif(not may_mount(), reason="mounting is not allowed here"),
]


def command(name, model, *more):
    return shlex.join([sys.executable, "-m", "tanglewood", name, *more, "-m", str(model)])


@pytest.mark.parametrize("processes", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_full_disk_ends_the_run_and_with_more_room_the_next_run_goes_on(model, processes):
    parse_corpus(model, Path("in"), Path("whole"))
    wanted = outputs(Path("whole"))
    half = PAGE * sum(-(-len(data) // PAGE) for data in wanted.values()) // 2
    run = command("corpus", model, "in", "-o", "out", "-j", processes)
    done = inside(
        f"mkdir out && mount -t tmpfs -o size={half} none out && {run}; echo status $? >&2; cp -r out full; "
        f"mount -o remount,size=10m out && {run} 2> again.txt; echo status $? >&2; cp -r out roomy"
    )
    last, first_status, second_status = done.stderr.splitlines()[-3:]
    assert (first_status, second_status) == ("status 1", "status 0")
    assert last.startswith("tanglewood corpus: out")
    assert last.endswith(": No space left on device")
    assert "Traceback" not in done.stderr
    assert outputs(Path("full")).items() < wanted.items()
    assert outputs(Path("roomy")) == wanted
    assert not list(Path("roomy").rglob("*.part"))


def test_a_read_only_disk_is_told_and_what_is_finished_stays(model):
    run = command("corpus", model, "in", "-o", "out", "-j", "1")
    done = inside(
        f"mkdir out && mount -t tmpfs none out && {run} 2> first.txt && echo Dax. > in/more.txt && "
        f"mount -o remount,ro out && {run}; echo status $? >&2; cp -r out kept"
    )
    last, status = done.stderr.splitlines()[-2:]
    assert status == "status 1"
    assert re.fullmatch(r"tanglewood corpus: .*/out/\.tanglewood/running/\S+\.json: Read-only file system", last)
    assert "Traceback" not in done.stderr
    Path("in/more.txt").unlink()
    parse_corpus(model, Path("in"), Path("whole"))
    assert outputs(Path("kept")) == outputs(Path("whole"))


@pytest.mark.parametrize(("options", "told"), [("size=8k", "No space left on device"), ("ro", "Read-only file system")])
def test_parse_names_the_file_that_cannot_be_written_and_leaves_nothing(model, options, told):
    run = command("parse", model, "in/long.txt", "-o", "out/trees.conllu")
    Path("in/long.txt").write_text(10 * Path("in/long.txt").read_text())
    done = inside(f"mkdir out && mount -t tmpfs -o {options} none out && {run}; echo status $? >&2; ls -A out")
    *_, last, status = done.stderr.splitlines()
    assert status == "status 1"
    assert re.fullmatch(rf"tanglewood parse: (/.*/)?out/trees\.conllu: {told}", last)
    assert done.stdout == ""
