"""What all targets share: inputs made from seeds, tried in child processes that may crash, hang or eat memory.

An input depends on nothing but the seed and its number, so whatever fails can be made again. A child works through
its numbers and sends back what became of each; if it dies, the parent knows which input it was at, notes that, and
starts another child with the next one.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from typing import NamedTuple

from tanglewood.errors import TanglewoodError

ACCEPTED = "accepted"
SANITIZED = "ASAN_OPTIONS" in os.environ
SECONDS = 60 if SANITIZED else 10  # of CPU time, after which an input counts as a hang
PATIENCE = 20 * SECONDS  # of any time
MEMORY = 1 << 30  # bytes that a child may use in addition to what it begins with
TRIES = 400  # inputs tried to make one that fails smaller
FORK = multiprocessing.get_context("fork")
REPORTS = (  # where the standard error of a child that died says why
    re.compile(r"SUMMARY: (AddressSanitizer: \S+) .*?(\bin \S+)?$", re.MULTILINE),
    re.compile(r"(\w+\.c:\d+):\d+: (runtime error: [a-z ]*)"),
    re.compile(r'^  File ".*?(\w+/\w+\.py)", line \d+ (in \w+)', re.MULTILINE),
)


class Broken(AssertionError):  # noqa: N818 - it names what happened
    """A promise was broken: the input was accepted, and what came of it is wrong."""


class Case(NamedTuple):
    """One input: the bytes of a file or request, and what was done to make it."""

    data: bytes
    note: str = ""


class Target:
    """A kind of input. ``check`` returns what became of it, or raises a TanglewoodError to say that it was refused.

    Every other exception, a crash, a hang and too much memory are failures. Children share what ``__init__`` prepares.
    """

    suffix = ""  # of files with inputs
    batch = 100  # inputs that a child tries before it is replaced; with 1 no input suffers from one before it

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # for files of any kind; it is removed at the end

    def make(self, rng: Random) -> Case:
        """Return an input."""
        raise NotImplementedError

    def check(self, data: bytes) -> str:
        """Try an input."""
        raise NotImplementedError

    @contextmanager
    def file(self, data: bytes) -> Iterator[Path]:
        """Yield the path of a file that holds the input for a while."""
        path = self.folder / f"input-{os.getpid()}{self.suffix}"
        path.write_bytes(data)
        try:
            yield path
        finally:
            path.unlink()

    def smaller(self, data: bytes) -> Iterator[bytes]:
        """Yield smaller inputs that may fail in the same way: by default the bytes without some of them."""
        size = len(data) // 2
        while size:
            for start in range(0, len(data), size):
                yield data[:start] + data[start + size :]
            size //= 2


class Outcome(NamedTuple):
    """What became of an input: accepted, the class of the error that refused it, or in which way it failed."""

    name: str
    failed: bool = False
    detail: str = ""


@dataclass
class Failure:
    """A way to fail: the numbers of inputs that did, and what the first of them said."""

    detail: str
    numbers: list[int] = field(default_factory=list)


@dataclass
class Tally:
    """What became of all inputs."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, Failure] = field(default_factory=dict)

    def add(self, number: int, outcome: Outcome) -> None:
        """Count one input."""
        self.inputs += 1
        if outcome.failed:
            self.failures.setdefault(outcome.name, Failure(outcome.detail)).numbers.append(number)
        else:
            self.outcomes[outcome.name] += 1


def made(target: Target, seed: int, number: int) -> Case:
    """Return the input with this number."""
    return target.make(Random(f"{seed}:{number}"))


def run(
    target: Target,
    seed: int,
    *,
    first: int = 0,
    inputs: int = sys.maxsize,
    seconds: float = float("inf"),
    processes: int = 1,
    progress: Callable[[Tally], object] = lambda _: None,
) -> Tally:
    """Try inputs until there were so many, or so many seconds are over, or Ctrl-C is pressed."""
    tally = Tally()
    end = time.monotonic() + seconds
    children = [
        _Child(target, lambda number: made(target, seed, number).data, range(first + place, first + inputs, processes))
        for place in range(processes)
    ]
    try:
        while any(child.busy for child in children) and time.monotonic() < end:
            wait([child.results for child in children if child.busy], timeout=0.5)
            for child in children:
                for number, outcome in child.finished():
                    tally.add(number, outcome)
            progress(tally)
    except KeyboardInterrupt:
        pass  # what was tried counts
    finally:
        for child in children:
            child.stop()
    return tally


def outcome_of(target: Target, data: bytes) -> Outcome:
    """Try one input in a child."""
    child = _Child(target, lambda _: data, range(1))
    while True:
        wait([child.results], timeout=0.5)
        for _, outcome in child.finished():
            child.stop()
            return outcome


def shrunk(target: Target, data: bytes, failure: str) -> bytes:
    """Return a smaller input, if one is found, that fails in the same way."""
    tries = 0
    found = True
    while found:
        found = False
        for smaller in target.smaller(data):
            tries += 1
            if tries > TRIES:
                return data
            if len(smaller) < len(data) and outcome_of(target, smaller).name == failure:
                data, found = smaller, True
                break
    return data


class _Child:
    """A process that works through inputs; when it dies, another one goes on after the input that it was at."""

    def __init__(self, target: Target, data_of: Callable[[int], bytes], numbers: range) -> None:
        self._target = target
        self._data_of = data_of
        self._numbers = numbers  # those to come; the first is being tried
        self._errors = target.folder / f"stderr-{id(self)}"
        self._begin()

    @property
    def busy(self) -> bool:
        """Whether there is something left to do."""
        return bool(self._numbers)

    def _begin(self) -> None:
        self.results, sending = FORK.Pipe(duplex=False)
        self._process = FORK.Process(target=self._work, args=(sending,), daemon=True)
        self._process.start()
        sending.close()
        self._left = self._target.batch
        self._since = time.monotonic()

    def _work(self, sending: Connection) -> None:
        os.dup2(os.open(self._errors, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal is for the parent
        if not SANITIZED:  # a sanitizer reserves terabytes of addresses, and reports crashes itself
            faulthandler.enable(2)
            used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY,) * 2)
        faulthandler.register(signal.SIGXCPU, 2, chain=True)  # it writes down where it is, and ends
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in self._numbers[: self._target.batch]:
            spent = int(time.process_time()) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (spent + SECONDS, resource.RLIM_INFINITY))
            sending.send(tuple(_attempt(self._target, self._data_of(number))))

    def finished(self) -> Iterator[tuple[int, Outcome]]:
        """Yield the numbers of inputs that were tried since the last call, and what became of them."""
        while self.busy and self.results.poll():
            number = self._numbers[0]
            outcome = None
            with suppress(EOFError):
                outcome = Outcome(*self.results.recv())
            self._numbers = self._numbers[1:]
            self._since = time.monotonic()
            self._left -= 1
            if outcome is None or not self._left or not self.busy:  # the end of this process, which may come badly
                self._process.join()
                if outcome is None or self._process.exitcode:
                    outcome = self._died()
                if self.busy:
                    self.results.close()
                    self._begin()
            yield number, outcome
        if self.busy and time.monotonic() - self._since > PATIENCE and self._process.pid:
            os.kill(self._process.pid, signal.SIGXCPU)

    def _died(self) -> Outcome:
        """Return how the process ended, and what it wrote about that."""
        code = self._process.exitcode or 0
        how = "hang" if code == -signal.SIGXCPU else signal.Signals(-code).name if code < 0 else f"exit status {code}"
        report = self._errors.read_text(errors="replace")
        places = (" ".join(filter(None, found.groups())) for sort in REPORTS if (found := sort.search(report)))
        return Outcome(f"{how}: {next(places, 'nothing is known')}", failed=True, detail=report)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.results.close()
        self._errors.unlink(missing_ok=True)


def _attempt(target: Target, data: bytes) -> Outcome:
    try:
        return Outcome(target.check(data))
    except TanglewoodError as error:
        return Outcome(type(error).__name__)
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "tanglewood/" in frame.filename]
        where = f" in {Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
        what = f": {error}" if isinstance(error, Broken) else ""
        name = f"{type(error).__name__}{where}{what}"
        return Outcome(name, failed=True, detail="".join(traceback.format_exception(error)))
