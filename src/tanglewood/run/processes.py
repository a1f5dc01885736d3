"""Work shared among processes: results come back in order, and no process outlives its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.queues import SimpleQueue
from typing import Any, TypeVar

from tanglewood.errors import ArgumentError, ConfigError, WorkerError

EAR = 0.1  # seconds between two looks at what processes say
HELD = {number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))}
Item = TypeVar("Item")
Result = TypeVar("Result")


def checked(processes: int) -> int:
    """Return the number of processes, or raise an error if it is not 1 or more."""
    if not isinstance(processes, int) or isinstance(processes, bool):
        raise ArgumentError(f"processes={processes!r}: it should be a whole number, 1 or more")
    if processes < 1:
        raise ConfigError(f"the number of processes must be 1 or more, not {processes}")
    return processes


def in_order(
    work: Callable[..., Result],
    items: Iterable[Item],
    *,
    processes: int = 1,
    method: str | None = None,
    prepare: Callable[[], object] | None = None,
    hear: Callable[[Any], object] | None = None,
    as_done: bool = False,
) -> Generator[Result]:
    """Yield the result of the work on each item, in order; the same for any number of processes.

    With ``as_done`` results come when they are there, in any order, so that no process waits for a slower one.

    At most two items per process are read ahead, so that memory stays flat however many there are. Forked processes
    inherit the work, others are sent it once, so it must be possible to pickle it, and items and results too.
    ``method`` is how processes are started: "fork", "spawn" or "forkserver"; by default fork where it is safe. Each
    process calls ``prepare`` first. With ``hear`` the work is given, after the item, a function to say how it goes:
    ``hear`` is called in this process with what it says in its own. If nobody wants the rest, because of an error, an
    interruption or because the generator is closed, the processes end at once, whatever they are at.
    """
    if checked(processes) == 1:
        yield from (work(item) if hear is None else work(item, hear) for item in items)
        return
    if method is None:
        method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    context = multiprocessing.get_context(method)
    told, tell = context.Pipe(duplex=False)
    forked = tell if method == "fork" else None
    said = None if hear is None else context.SimpleQueue()
    pool = ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(work, prepare, told, forked, said))
    source = iter(items)
    waiting: deque[Future[Result]] = deque()
    failure: Exception | None = None
    more = True
    try:
        while more or waiting:
            while more and len(waiting) < 2 * processes:
                try:
                    item = next(source)
                except StopIteration:
                    more = False
                except Exception as error:
                    failure, more = error, False  # the results of what was read before come first
                else:
                    with _signals_held():
                        waiting.append(pool.submit(_do, item))
            if waiting:
                future = _next_done(waiting, said, hear, as_done=as_done)
                waiting.remove(future)
                yield future.result()
    except BrokenProcessPool:
        problem = "a process ended without a word, perhaps because memory ran out; try fewer processes"
        if method != "fork":
            problem += ' (or does the script start them outside of `if __name__ == "__main__":`?)'
        raise WorkerError(problem) from None
    finally:
        if more or waiting:
            tell.close()
        pool.shutdown(cancel_futures=True)
        tell.close()
        told.close()
    if failure is not None:
        raise failure


def _next_done(
    waiting: deque[Future[Result]],
    said: SimpleQueue[Any] | None,
    hear: Callable[[Any], object] | None,
    *,
    as_done: bool,
) -> Future[Result]:
    """Return the first future or, with ``as_done``, the first that is done, when it is; meanwhile hear what is said."""
    wanted = [*waiting] if as_done else [waiting[0]]
    while True:
        done = next((future for future in wanted if future.done()), None)
        while said is not None and hear is not None and not said.empty():  # all that was said before is heard before
            hear(said.get())
        if done is not None:
            return done
        wait_for(wanted, None if said is None else EAR, FIRST_COMPLETED)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back signals while processes are started: these inherit handlers that are not for them, until `_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_mine: Callable[..., Any]  # the work of this process
_say: Callable[[Any], object] | None = None  # where it says how it goes, if anybody wants to know


def _begin(
    work: Callable[..., Any],
    prepare: Callable[[], object] | None,
    told: Connection,
    tell: Connection | None,
    said: SimpleQueue[Any] | None,
) -> None:
    """Prepare a process for its work, which ends when the other end of ``told`` is closed.

    ``tell`` is that end, if this process has inherited it.
    """
    global _mine, _say  # noqa: PLW0603 - a process has one
    # Signals to a whole group are for the process that reads and writes; but SIGTERM is how a pool ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    if tell is not None:
        tell.close()
    threading.Thread(target=_end_with_parent, args=(told,), daemon=True).start()
    _mine = work
    _say = None if said is None else said.put
    if prepare is not None:
        prepare()


def _end_with_parent(told: Connection) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel, told])
    os._exit(1)


def _do(item: Any) -> Any:  # noqa: ANN401 - whatever the work takes and returns
    return _mine(item) if _say is None else _mine(item, _say)
