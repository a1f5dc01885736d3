"""Processes that parse batches: each has the model for itself, and what comes back is put in order again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait

from tanglewood.errors import TanglewoodError, WorkerError
from tanglewood.pipeline import Piece
from tanglewood.run.corpus import BatchParser, Parsed, Recipe
from tanglewood.treebank.conllu import Batch


def parse_in_processes(
    batches: Iterable[Batch | Piece], workplace: BatchParser, processes: int, method: str | None
) -> Generator[Parsed]:
    """Parse batches in order; forked processes inherit the workplace, others load the model anew."""
    if method is None:
        method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    initial = (workplace if method == "fork" else None, workplace.recipe)
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context(method), initializer=_begin, initargs=initial)
    source = iter(batches)
    waiting: deque[Future[Parsed]] = deque()
    failure: Exception | None = None
    more = True
    try:
        while more or waiting:
            while more and len(waiting) < 2 * processes:
                try:
                    batch = next(source, None)
                except (TanglewoodError, OSError) as error:
                    failure, batch = error, None  # what was read before comes first
                if batch is None:
                    more = False
                else:
                    waiting.append(pool.submit(_work, batch))
            if waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        problem = "a process that parses ended without a word, perhaps because memory ran out; try fewer threads"
        raise WorkerError(problem) from None
    finally:
        pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure


_mine: BatchParser  # in a process that parses


def _begin(inherited: BatchParser | None, recipe: Recipe | None) -> None:
    """Prepare a process for its work."""
    global _mine  # noqa: PLW0603 - a process has one
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that reads and writes
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if inherited is None:
        assert recipe is not None
        model, choices, stop, tag = recipe
        inherited = BatchParser.load(model, choices, stop=stop, tag=tag)
    _mine = inherited


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _work(batch: Batch | Piece) -> Parsed:
    return _mine.parse(batch)
