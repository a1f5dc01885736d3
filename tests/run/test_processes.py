"""Work shared out to processes: in order, no more read ahead than needed, and errors where they belong."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from tanglewood.errors import ArgumentError, ConfigError, WorkerError
from tanglewood.run import processes
from tanglewood.run.processes import in_order

prepared = []


def square(number):
    return number * number


def where(_):
    return os.getpid(), len(prepared)


def die(number):
    if number == 3:
        os._exit(9)
    return number


def fail(number):
    if number == 3:
        raise KeyError("three")
    return number


def count(number, say):
    for part in range(number):
        say((number, part))
    if number == 3:
        raise KeyError("three")
    return number


def prepare():
    prepared.append(1)


@pytest.mark.parametrize("method", ["fork", "spawn", None])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_order_for_any_number_of_processes(count, method):
    assert list(in_order(square, range(20), processes=count, method=method)) == [n * n for n in range(20)]
    assert list(in_order(square, [], processes=count, method=method)) == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_process_prepares_itself_once_and_this_one_does_nothing(method):
    found = list(in_order(where, range(30), processes=2, method=method, prepare=prepare))
    assert {times for _, times in found} == {1}
    assert os.getpid() not in {process for process, _ in found}
    assert prepared == []


@pytest.mark.parametrize(("processes", "method"), [(1, None), (2, "fork"), (3, "spawn")])
def test_what_the_work_says_is_heard_here_before_its_result(processes, method):
    heard, here = [], set()

    def hear(event):
        here.add(threading.current_thread())
        heard.append(event)

    results = in_order(count, [2, 0, 5], processes=processes, method=method, hear=hear)
    assert next(results) == 2
    assert [event for event in heard if event[0] == 2] == [(2, 0), (2, 1)]
    assert list(results) == [0, 5]
    assert sorted(heard) == [(number, part) for number in (2, 5) for part in range(number)]
    assert [event for event in heard if event[0] == 5] == [(5, part) for part in range(5)]
    assert here == {threading.current_thread()}


@pytest.mark.parametrize("processes", [1, 2])
def test_what_was_said_before_an_error_is_heard(processes):
    heard = []
    results = in_order(count, [1, 3, 2], processes=processes, method="spawn", hear=heard.append)
    assert next(results) == 1
    with pytest.raises(KeyError):
        next(results)
    assert {(3, 0), (3, 1), (3, 2)} <= set(heard)


def test_one_process_is_this_one():
    assert {process for process, _ in in_order(where, range(3))} == {os.getpid()}


def test_with_other_threads_around_nothing_is_forked(monkeypatch):
    methods = []
    plain = processes.multiprocessing.get_context
    monkeypatch.setattr(processes.multiprocessing, "get_context", lambda name: methods.append(name) or plain(name))
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert list(in_order(square, range(3), processes=2)) == [0, 1, 4]
    finally:
        done.set()
        other.join()
    assert methods == ["spawn"]


@pytest.mark.parametrize("count", [1, 2])
def test_what_was_read_before_an_error_in_the_source_comes_first(count):
    def source():
        yield from range(3)
        raise KeyError("broken")

    results = in_order(square, source(), processes=count)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(KeyError, match="broken"):
        next(results)


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_in_the_work_comes_in_its_place(count):
    results = in_order(fail, range(6), processes=count)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="three"):
        next(results)


def test_a_process_that_dies_is_an_error():
    with pytest.raises(WorkerError, match=r"ended without a word.*fewer processes"):
        list(in_order(die, range(20), processes=2))


def test_what_is_read_ahead_is_bounded(monkeypatch):
    class Idle:
        """Runs what it is given at once."""

        def __init__(self, *_args, initializer, initargs):
            monkeypatch.setattr(processes, "_mine", initargs[0], raising=False)

        def submit(self, work, item):
            future = Future()
            future.set_result(work(item))
            return future

        def shutdown(self, **_):
            pass

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Idle)
    read = []
    results = in_order(square, (read.append(1) or number for number in range(100)), processes=2)
    assert next(results) == 0
    assert len(read) == 4
    assert next(results) == 1
    assert len(read) == 5
    results.close()


@pytest.mark.parametrize(
    ("number", "error"), [(0, ConfigError), (-1, ConfigError), ("2", ArgumentError), (True, ArgumentError)]
)
def test_a_number_of_processes_that_is_none_is_refused(number, error):
    with pytest.raises(error, match="1 or more"):
        list(in_order(square, [1], processes=number))


def after(item):
    """Make a file and return its name, but not before there is another one."""
    name, awaited = item
    end = time.monotonic() + 60
    while awaited and not Path(awaited).exists() and time.monotonic() < end:
        time.sleep(0.01)
    Path(name).touch()
    return name


def test_results_may_come_as_they_are_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sorted(in_order(square, range(20), processes=3, as_done=True)) == [n * n for n in range(20)]
    results = in_order(after, [("slow", "go"), ("one", ""), ("two", "")], processes=2, as_done=True)
    assert [next(results), next(results)] == ["one", "two"]
    Path("go").touch()
    assert list(results) == ["slow"]
    assert list(in_order(after, [("first", "second"), ("second", "")], processes=2)) == ["first", "second"]
    heard = []
    assert sorted(in_order(count, [2, 0, 5], processes=2, as_done=True, hear=heard.append)) == [0, 2, 5]
    assert sorted(heard) == [(number, part) for number in (2, 5) for part in range(number)]
