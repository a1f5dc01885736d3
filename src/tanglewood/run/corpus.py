"""Parses text to text, in this process or in several: reading, searching and writing out all run side by side."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import NamedTuple

from tanglewood.errors import ConfigError, LocatedError
from tanglewood.ml.words import Columns, words_of
from tanglewood.parser import ParseOptions, Parser
from tanglewood.pipeline import Piece, PieceTagger, Pipeline, load_parts, needed
from tanglewood.treebank.conllu import Batch, parse_block
from tanglewood.treebank.sentence import Sentence

Recipe = tuple[str | None, ParseOptions, bool, bool]  # model, choices, stop, tag


class Parsed(NamedTuple):
    """What became of a batch: the blocks of its sentences with their trees, or what was wrong with them."""

    blocks: list[bytes | LocatedError]
    words: int
    missing: list[str]  # columns that the model was trained with and no word met so far has


class BatchParser:
    """Parses blocks of a CoNLL file, or sentences of a text, to blocks, one batch after another.

    With ``stop`` nothing that comes after an error in the same batch is parsed. Text and ``tag``, which fills columns
    that hold nothing first, need the pipeline that the parser is part of.
    """

    def __init__(
        self,
        parser: Parser,
        choices: ParseOptions,
        *,
        pipeline: Pipeline | None = None,
        stop: bool = True,
        tag: bool = False,
    ) -> None:
        self.pipeline = pipeline
        self.recipe: Recipe | None = None  # to make another one in another process
        self.worker = parser.worker(choices if pipeline is None else pipeline.resolved(choices))
        self._stop = stop
        self._tag = tag or (pipeline is not None and bool(pipeline.tag_column))
        self._tagger = None if pipeline is None else PieceTagger(pipeline)
        self._columns = Columns(() if self._tag else parser.description.get("columns", ()))

    @classmethod
    def load(cls, model: str | None, choices: ParseOptions, *, stop: bool = True, tag: bool = False) -> BatchParser:
        """Read the model, by default the one that comes with tanglewood."""
        parser, pipeline = load_parts(model)
        if tag:
            pipeline = needed(pipeline, model)
        workplace = cls(parser, choices, pipeline=pipeline, stop=stop, tag=tag)
        workplace.recipe = (model, choices, stop, tag)
        return workplace

    def parse(self, batch: Batch | Piece) -> Parsed:
        """Parse one batch."""
        if isinstance(batch, Piece):
            assert self._tagger is not None  # pieces come from a pipeline
            sentences = self._tagger.sentences(batch)
            parsed = self.worker.parse(sentences)
            blocks = [sentence.to_bytes() for several in parsed for sentence in several]
            return Parsed([*blocks], sum(map(len, sentences)), [])
        return self._parse_blocks(batch)

    def _parse_blocks(self, batch: Batch) -> Parsed:
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
        if self._columns.empty:
            for sentence in sentences:
                self._columns.add(words_of(sentence))
        if self._tag and self._tagger is not None:
            sentences = self._tagger.tag(sentences)
        parsed = iter(self.worker.parse(sentences))
        blocks: list[bytes | LocatedError] = []
        for item in read:
            if isinstance(item, LocatedError):
                blocks.append(item)
            else:
                blocks += [sentence.to_bytes() for sentence in next(parsed)]
        return Parsed(blocks, sum(map(len, sentences)), self._columns.empty)


def parse_batches(
    batches: Iterable[Batch | Piece], workplace: BatchParser, *, processes: int = 1, method: str | None = None
) -> Generator[Parsed]:
    """Parse batches in order; the same for any number of processes. Memory stays flat however many batches there are.

    ``method`` is how processes are started: "fork", "spawn" or "forkserver"; by default fork where it is safe.
    """
    if processes < 1:
        raise ConfigError(f"the number of threads must be 1 or more, not {processes}")
    if processes == 1:
        yield from map(workplace.parse, batches)
    else:
        from tanglewood.run.processes import parse_in_processes  # what it needs takes time to load

        yield from parse_in_processes(batches, workplace, processes, method)
