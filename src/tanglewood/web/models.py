"""Models as the playground uses them: a parser, and for raw text the pipeline around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tanglewood.errors import ConfigError
from tanglewood.parser import ParseOptions, Parser
from tanglewood.pipeline import PieceTagger, Pipeline, load_parts
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

TOGETHER = 500  # words that are parsed before somebody looks at the clock again


class Search(NamedTuple):
    """How trees are looked for: the width of the beam, how many trees to return, and whether with confidence."""

    beam: int | None = None
    nbest: int | None = None
    confidence: bool = False


class Parsed(NamedTuple):
    """A sentence with its tree and, if asked for, its best trees with their log-probabilities, and confidences."""

    sentence: Sentence
    nbest: Sequence[tuple[Tree, float]] = ()
    confidence: Sequence[float] = ()


class Model:
    """A parser and, if the model file has one, the pipeline that splits and tags text; it serves all threads."""

    def __init__(self, parser: Parser, pipeline: Pipeline | None = None) -> None:
        self.parser = parser
        self.pipeline = pipeline

    @classmethod
    def load(cls, path: str | Path | None = None) -> Model:
        """Read a model file, by default the one that comes with tanglewood."""
        return cls(*load_parts(path))

    def tag_text(self, text: str) -> Iterator[Sentence]:
        """Split text into sentences and words, and tag them, no more at a time than are asked for."""
        if self.pipeline is None:
            raise ConfigError("this model has a parser only, which needs words and tags: send CoNLL-U")
        worker = PieceTagger(self.pipeline)
        for piece in self.pipeline.pieces([text]):
            yield from worker.sentences(piece)

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Fill the columns of tags that hold nothing, if the model can."""
        if self.pipeline is None:
            return list(sentences)
        return PieceTagger(self.pipeline).tag(sentences)

    def parse(self, sentences: Sequence[Sentence], search: Search | None = None) -> Iterator[Parsed]:
        """Give tagged sentences their trees, as the command parse does.

        Raises a ConfigError, before the first sentence, if the model cannot search in this way.
        """
        search = search or Search()
        # One tree has no log-probability of its own: two are asked for then.
        choices = ParseOptions(
            beam=search.beam, nbest=max(search.nbest, 2) if search.nbest else 1, confidence=search.confidence
        )
        worker = self.parser.worker(choices if self.pipeline is None else self.pipeline.resolved(choices))
        return (_parsed(found, search) for some in _together(sentences) for found in worker.parse(some))


def _together(sentences: Sequence[Sentence]) -> Iterator[list[Sentence]]:
    """Group sentences into what is parsed at once."""
    some: list[Sentence] = []
    words = 0
    for sentence in sentences:
        some.append(sentence)
        words += len(sentence)
        if words >= TOGETHER:
            yield some
            some, words = [], 0
    if some:
        yield some


def _parsed(found: Sequence[Sentence], search: Search) -> Parsed:
    """Take apart what the parser writes into comments and the last column."""
    best = found[0]
    confidence = [float(_after("Confidence=", misc.split("|"))) for misc in best.misc] if search.confidence else ()
    trees = [(one.tree, float(_after("log_probability = ", one.comments))) for one in found[: search.nbest or 0]]
    return Parsed(best, trees, confidence)


def _after(key: str, parts: Sequence[str]) -> str:
    return next(part for part in parts if part.startswith(key)).removeprefix(key)
