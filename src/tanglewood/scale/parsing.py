"""Parses text to text, in this process or in several: reading, searching and writing out all run side by side."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import NamedTuple

from tanglewood.errors import ConfigError, LocatedError
from tanglewood.parser import Choices, Parser
from tanglewood.scorers.words import Columns, words_of
from tanglewood.treebank.conllu import Batch, parse_block
from tanglewood.treebank.sentence import Sentence


class Parsed(NamedTuple):
    """What became of a batch: the blocks of its sentences with their trees, or what was wrong with them."""

    blocks: list[bytes | LocatedError]
    words: int
    missing: list[str]  # columns that the model was trained with and no word met so far has


class BatchParser:
    """Parses blocks of a CoNLL file to blocks, one batch after another.

    With ``stop`` nothing that comes after an error in the same batch is parsed.
    """

    def __init__(self, parser: Parser, choices: Choices, *, stop: bool = True) -> None:
        self.choices = choices
        self.stop = stop
        self.worker = parser.worker(choices)
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
                if self.stop:
                    break
            else:
                read.append(sentence)
        sentences = [sentence for sentence in read if isinstance(sentence, Sentence)]
        if self._columns.empty:
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
    batches: Iterable[Batch],
    model: str | Path,
    choices: Choices,
    *,
    stop: bool = True,
    processes: int = 1,
    method: str | None = None,
) -> Generator[Parsed]:
    """Parse batches in order; the same for any number of processes. Memory stays flat however many batches there are.

    ``method`` is how processes are started: "fork", "spawn" or "forkserver"; by default fork where it is safe.
    """
    if processes < 1:
        raise ConfigError(f"the number of threads must be 1 or more, not {processes}")
    workplace = BatchParser(Parser.load(model), choices, stop=stop)
    if processes == 1:
        yield from map(workplace.parse, batches)
    else:
        from tanglewood.scale.processes import parse_in_processes  # what it needs takes time to load

        yield from parse_in_processes(batches, workplace, str(model), processes, method)
