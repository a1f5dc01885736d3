"""The fuzzer finds what it should, and a short run of each target finds nothing; fuzz/README.md tells of long ones."""

import ctypes
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from multiprocessing.util import Finalize
from pathlib import Path
from random import Random

import numpy as np
import pytest

import engine
import tanglewood as tw
from checks import check_tree
from conll_files import n_blocks
from exhaustive import COMPILED
from model_files import Draft, changed, packed
from mutations import STRINGS, changed_json
from seeds import CONLLU
from tanglewood.errors import FormatError
from tanglewood.store import dump_model, parse_model
from tanglewood.treebank.conllu import read
from targets import TARGETS, target_class

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
COUNTS = {"treebanks": 400, "models": 300, "vectors": 300, "requests": 400}


class Clumsy(engine.Target):
    """Does with the input what it says."""

    batch = 4

    def make(self, rng):
        return engine.Case(rng.choice([b"fine", b"refused", b"raises", b"dies", b"eats", b"lies"]))

    def check(self, data):
        if data == b"refused":
            raise FormatError("no")
        if data == b"raises":
            raise ValueError("no")
        if b"dies" in data:
            ctypes.string_at(1)
        if data == b"eats":
            bytearray(2 << 30)
        if data == b"lies":
            raise engine.Broken("not so")
        while data == b"hangs":
            pass
        if data == b"waits":
            time.sleep(1000)
        if data == b"ends badly":
            Finalize(self, os._exit, (3,), exitpriority=1)
        return "accepted"


@pytest.fixture
def clumsy(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "SECONDS", 0)
    monkeypatch.setattr(engine, "PATIENCE", 3)
    return Clumsy(tmp_path)


KINDS = {
    b"fine": "accepted",
    b"refused": "FormatError",
    b"raises": "ValueError",
    b"dies": "SIGSEGV: ",
    b"hangs": "hang: ",
    b"waits": "hang: ",
    b"eats": "MemoryError",
    b"ends badly": "exit status 3",
    b"lies": "Broken: not so",
}


@pytest.mark.parametrize("data", KINDS)
def test_every_way_to_fail_is_noticed(clumsy, data):
    found = engine.outcome_of(clumsy, data)
    assert found.name.startswith(KINDS[data])
    assert found.failed == (data not in (b"fine", b"refused"))


def test_what_becomes_of_each_input_is_counted_whatever_the_others_do(clumsy):
    """Some inputs end the process they are tried in; those after them are tried all the same."""
    tally = engine.run(clumsy, 1, inputs=40, processes=2)
    wanted = [engine.made(clumsy, 1, number).data for number in range(40)]
    assert {*wanted} == KINDS.keys() - {b"hangs", b"waits", b"ends badly"}
    assert tally.inputs == 40
    assert tally.outcomes == {KINDS[data]: wanted.count(data) for data in (b"fine", b"refused")}
    for data in (b"raises", b"dies", b"eats", b"lies"):
        ((_, failure),) = [item for item in tally.failures.items() if item[0].startswith(KINDS[data])]
        assert sorted(failure.numbers) == [number for number, other in enumerate(wanted) if other == data]


def test_what_was_tried_before_an_interruption_counts_and_a_run_can_go_on_there(clumsy):
    def interrupt(tally):
        if tally.inputs >= 10:
            raise KeyboardInterrupt

    tally = engine.run(clumsy, 1, inputs=40, processes=2, progress=interrupt)
    assert 10 <= tally.inputs < 40
    rest = engine.run(clumsy, 1, first=38, inputs=2)
    wanted = [engine.made(clumsy, 1, number).data for number in (38, 39)]
    assert rest.inputs == 2
    assert sum(rest.outcomes.values()) == sum(data in (b"fine", b"refused") for data in wanted)


def test_what_fails_is_made_smaller(clumsy):
    failure = engine.outcome_of(clumsy, b"dies")
    assert engine.shrunk(clumsy, b"this dies of something", failure.name) == b"dies"


@pytest.fixture
def treebanks(tmp_path, monkeypatch):
    monkeypatch.setattr("targets.treebanks.trained", lambda *_: [])
    return target_class("treebanks")(tmp_path)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda found: found[1:], "sentences are lost"),
        (lambda found: [*found, found[0]], "come twice"),
        (lambda found: found[::-1], "byte for byte"),
        (lambda found: [one.with_comments(["# new"]) for one in found], "byte for byte"),
    ],
)
def test_a_reader_that_loses_or_changes_something_is_noticed(treebanks, monkeypatch, spoil, problem):
    monkeypatch.setattr(tw, "read", lambda *args, **more: spoil(list(read(*args, **more))), raising=False)
    with pytest.raises(engine.Broken, match=problem):
        treebanks.check(CONLLU.encode())


def test_an_error_without_its_line_is_noticed(treebanks, monkeypatch):
    def lost(*_, **__):
        raise FormatError("bad", file="x.conllu")

    monkeypatch.setattr(tw, "read", lost, raising=False)
    with pytest.raises(engine.Broken, match="without its place"):
        treebanks.check(b"x")


@pytest.mark.parametrize(("heads", "fits"), [([2, 0], True), ([2, 1], False), ([1, 0], False)])
def test_the_obvious_check_of_trees(heads, fits):
    class Bare(list):
        tree = type("T", (), {"heads": [-1, *heads]})

    with nullcontext() if fits else pytest.raises(engine.Broken):
        check_tree(Bare(heads))


def test_a_changed_model_has_the_right_checksum():
    data = dump_model({"a": memoryview(b"abc"), "b": memoryview(b"de")}, {"n": [1]})
    draft = Draft(data)
    assert parse_model(packed(draft.header(), draft.body()), "same").settings == {"n": [1]}
    draft.arrays["a"][1] = 7
    draft.settings = {"n": "other"}
    found = parse_model(packed(draft.header(), draft.body()), "changed")
    assert (found.arrays["a"].tolist(), found.settings) == ([97, 7, 99], {"n": "other"})


def test_any_changes_to_a_model_can_be_written():
    """Also those that follow others."""
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(5, dtype=np.int8)}
    data = dump_model({**arrays, "c": np.zeros(0, np.int32)}, {"n": [1, {"k": "v"}]})
    made = [changed(Random(seed), data, STRINGS) for seed in range(3000)]
    assert len({other for other, _ in made}) > 1500
    assert all(told for _, told in made)


def test_changing_json_leaves_the_original_alone():
    value = {"a": [1, 2, {"b": None}], "c": "d"}
    found = [changed_json(Random(seed), value)[0] for seed in range(50)]
    assert value == {"a": [1, 2, {"b": None}], "c": "d"}
    assert sum(other != value for other in found) > 40


@pytest.mark.parametrize(("data", "wanted"), [(b"", 0), (b"a\nb\n\n \n\nc", 2), (b"\xef\xbb\xbf\n\n\na\r\n\r\nb", 2)])
def test_the_obvious_splitter(data, wanted):
    assert n_blocks(data) == wanted


def test_every_target_has_its_count():
    assert COUNTS.keys() == TARGETS.keys()


@pytest.mark.skipif(not COMPILED, reason="hundreds of inputs take minutes when interpreted")
@pytest.mark.parametrize("target", COUNTS)
def test_a_short_run_finds_nothing(target, tmp_path):
    command = [sys.executable, str(FUZZ / "run.py"), target, "--count", str(COUNTS[target]), "--save", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr  # a slow machine says on standard error how it goes
    assert all(line.startswith(f"{target}: ") for line in done.stderr.splitlines()), done.stderr
    inputs, accepted, refused, failed = map(int, re.findall(r"\d+", done.stdout.splitlines()[0]))
    assert inputs == accepted + refused == COUNTS[target]
    assert not failed
    assert min(accepted, refused) > inputs / 20  # it tries both
