"""Parses text to text, in this process or in several: reading, searching and writing out all run side by side."""

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
from pathlib import Path
from typing import NamedTuple

from tanglewood.errors import ConfigError, LocatedError, TanglewoodError, WorkerError
from tanglewood.parser import Parser
from tanglewood.scorers.words import Columns, words_of
from tanglewood.treebank.conllu import Batch, parse_block
from tanglewood.treebank.sentence import Sentence


class Parsed(NamedTuple):
    """What became of a batch: the blocks of its sentences with their trees, or what was wrong with them."""

    blocks: list[bytes | LocatedError]
    words: int
    missing: list[str]  # columns that the model was trained with and no word met so far has


class Choices(NamedTuple):
    """How to parse; with ``stop`` nothing that comes after an error in the same batch is parsed."""

    beam: int = 1
    nbest: int = 1
    confidence: bool = False
    stop: bool = True


class BatchParser:
    """Parses blocks of a CoNLL file to blocks, one batch after another."""

    def __init__(self, parser: Parser, choices: Choices) -> None:
        self.worker = parser.worker(beam=choices.beam, nbest=choices.nbest, confidence=choices.confidence)
        self._stop = choices.stop
        self._columns = Columns(parser.description.get("columns", ()))

    def parse(self, batch: Batch) -> Parsed:
        """Parse one batch."""
        read: list[Sentence | LocatedError] = []
        for line, block in batch.blocks:
            try:
                sentence, _ = parse_block(block, batch.file, line)
                sentence.check_heads_written()
            except LocatedError as error:
                read.append(error)
                if self._stop:
                    break
            else:
                read.append(sentence)
        sentences = [sentence for sentence in read if isinstance(sentence, Sentence)]
        for sentence in sentences:
            self._columns.add(words_of(sentence))
        parsed = iter(self.worker.parse(sentences))
        blocks: list[bytes | LocatedError] = []
        for item in read:
            if isinstance(item, LocatedError):
                blocks.append(item)
            else:
                blocks += [sentence.to_bytes() for sentence in next(parsed)]
        return Parsed(blocks, sum(map(len, sentences)), self._columns.empty)


def parse_batches(
    batches: Iterable[Batch], model: str | Path, choices: Choices, *, processes: int = 1, method: str | None = None
) -> Generator[Parsed]:
    """Parse batches in order; the same for any number of processes. Memory stays flat however many batches there are.

    ``method`` is how processes are started: "fork", "spawn" or "forkserver"; by default fork where it is safe.
    """
    if processes < 1:
        raise ConfigError(f"the number of threads must be 1 or more, not {processes}")
    parser = Parser.load(model)
    here = BatchParser(parser, choices)  # also says so if the choices do not fit
    if processes == 1:
        yield from map(here.parse, batches)
        return
    if method is None:
        method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    pool = ProcessPoolExecutor(
        processes,
        multiprocessing.get_context(method),
        initializer=_begin,
        initargs=(here if method == "fork" else None, str(model), choices),
    )
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


def _begin(inherited: BatchParser | None, model: str, choices: Choices) -> None:
    """Prepare a process for its work."""
    global _mine  # noqa: PLW0603 - a process has one
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that reads and writes
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _mine = inherited or BatchParser(Parser.load(model), choices)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _work(batch: Batch) -> Parsed:
    return _mine.parse(batch)
