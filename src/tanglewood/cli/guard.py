"""What surrounds every command: streams that may be closed, signals that end it, and errors told in one line."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from tanglewood.errors import TanglewoodError, one_line
from tanglewood.files import no_stream

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SAME_STOP = 3.0  # seconds in which further signals belong to the first
BUG = 70  # exit status of an error that nobody foresaw
STOPS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "ended, since the terminal was closed"}
LESS_MEMORY = {  # command -> what needs less; the others read sentences and count
    "train": "fewer sentences, fewer processes (-j), or a smaller model (--set)",
    "crossval": "fewer sentences, or a smaller model (--set)",
    "reproduce": "a smaller treebank; what is finished is kept",
    "parse": "shorter sentences, a narrower --beam, fewer processes (-j), or with an exact search a lower --max-memory",
    "corpus": "fewer --processes, or a narrower --beam; what is finished is kept",
    "draw": "a shorter sentence",
    "serve": "fewer or smaller models, and fewer --workers",
}


class Stopped(KeyboardInterrupt):
    """A signal other than that of Ctrl-C, which ends a command in the same way."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def stop_of(error: KeyboardInterrupt) -> tuple[int, str]:
    """Return the exit status after a signal, and what happened in words."""
    number = error.number if isinstance(error, Stopped) else int(signal.SIGINT)
    return 128 + number, STOPS[signal.Signals(number).name]


@contextmanager
def signals_stop() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise Stopped, so that what a command has begun is cleaned up.

    Often both come, and cleaning up must not be disturbed; but an exception may get lost where Python ignores it, and
    then a later signal must end the command.
    """
    last = -inf

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal last
        if time.monotonic() > last + SAME_STOP:
            last = time.monotonic()
            raise Stopped(number)

    with handling([name for name in STOPS if name != "SIGINT"], stop):
        yield


@contextmanager
def handling(names: Iterable[str], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have a function handle signals, as far as this thread and this system can.

    One that is ignored stays so (nohup), and so does one that was set outside of Python.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
        before = {number: old for number, old in found.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class _Closed(io.RawIOBase):
    """Stands for a standard output that is closed: whatever is written raises an error, so that it is not lost."""

    is_over = False  # once it was told, what is left in buffers may go

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        if self.is_over:
            return memoryview(data).nbytes
        raise no_stream("stdout")


class _Messages(io.TextIOBase):
    """Standard error, where a message that cannot be written must not end the work it is about."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is not None:
            try:
                self._stream.write(text)
            except OSError:
                _drop(self._stream)
        return len(text)

    def flush(self) -> None:
        if self._stream is not None and not self._stream.closed:
            _drop(self._stream)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        return super().fileno() if self._stream is None else self._stream.fileno()


@contextmanager
def standard_streams() -> Iterator[None]:
    """Put something in the place of standard streams that are closed, so that no file takes their numbers.

    Otherwise print() says nothing where there is no standard output, and what is meant for standard error goes there
    instead. Characters that the encoding does not have, such as those of file names that are not UTF-8, are escaped.
    """
    before = sys.stdout, sys.stderr
    if None in (sys.stdin, *before):
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    closed = _Closed()
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(closed), "utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr = _Messages(sys.stderr)
    try:
        yield
    finally:
        closed.is_over = True
        sys.stdout, sys.stderr = before


def guarded(work: Callable[[], int], command: str) -> int:
    """Do the work of a command and return the exit status; whatever goes wrong is told in one line."""
    try:
        try:
            status = work()
        except SystemExit:  # from argparse, after it printed help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as error:
        status, told = stop_of(error)
        _tell(f"\n{_name(command)}: {told}")
    except Exception as error:
        if isinstance(error, BrokenPipeError) and error.filename in (None, "<stdout>"):
            _drop(sys.stdout)
            return 0  # the reader of our output has seen enough
        if os.environ.get("TANGLEWOOD_TRACEBACK"):
            raise
        known = isinstance(error, TanglewoodError | OSError | MemoryError | RecursionError | UnicodeError)
        status = 1 if known else BUG
        _tell(f"{_name(command)}: {explained(error, command)}")
    _drop(sys.stdout)
    return status


def explained(error: Exception, command: str = "") -> str:
    """Return one line about an error: what is wrong, where, and what may help."""
    if isinstance(error, TanglewoodError):
        return str(error)
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{one_line(str(error.filename))}: "
        return f"{where}{one_line(error.strerror or str(error))}"
    if isinstance(error, MemoryError):
        less = LESS_MEMORY.get(command, "fewer or shorter sentences at a time")
        return f"there is not enough memory to go on; what may help: {less}"
    if isinstance(error, RecursionError):
        return "something in the input is nested too deeply to be read; it should have fewer levels"
    if isinstance(error, UnicodeError):
        return f"{one_line(str(error))}; names and data should be in UTF-8 (PYTHONUTF8=1 makes Python use it)"
    bug = one_line(f"{type(error).__name__}: {error}")
    return f"this is a mistake in tanglewood: {bug}; with TANGLEWOOD_TRACEBACK=1 it says where, so please report it"


def _name(command: str) -> str:
    return f"tanglewood {command}".rstrip()


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _drop(stream: TextIO) -> None:
    """Write what is left in a stream, or drop it if that is impossible: Python would complain about it at the end."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
