"""Models as the playground uses them: pipelines, of which some take raw text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tanglewood.errors import ConfigError
from tanglewood.options import ParseOptions
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.text.batches import Sentences
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

TOGETHER = 500  # words that are parsed between two looks at the clock


class Search(NamedTuple):
    """How to search for trees: the width of the beam, how many trees to return, with confidence or not, how well."""

    beam: int | None = None
    nbest: int | None = None
    confidence: bool = False
    accurate: bool = False


class Parsed(NamedTuple):
    """A sentence with its tree and, if asked for, its best trees with their log-probabilities."""

    sentence: Sentence
    nbest: Sequence[tuple[Tree, float]] = ()


class Model:
    """A pipeline, which threads may share."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    @classmethod
    def load(cls, path: str | Path | None = None) -> Model:
        """Read a model file, by default the one that comes with tanglewood."""
        return cls(Pipeline.load(path))

    @property
    def parser(self) -> Parser:
        """The parser of tagged words."""
        return self.pipeline.parser

    def tag_text(self, text: str, sentences: str = "model") -> Iterator[Sentence]:
        """Split text into sentences and words, and tag them, no more at a time than are asked for.

        ``sentences`` says what ends a sentence, as in `ParseOptions`.
        """
        if self.pipeline.tokenizer is None:
            raise ConfigError("this model has a parser only, which needs words and tags: send CoNLL-U")
        worker = self.pipeline.worker()
        for piece in self.pipeline.pieces([text], sentences=sentences):
            yield from worker.sentences(piece)

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Fill in empty columns of tags, if the model can."""
        if self.pipeline.tagger is None:
            return list(sentences)
        return self.pipeline.worker(tag=True).sentences(Sentences(sentences))

    def parse(self, sentences: Sequence[Sentence], search: Search | None = None) -> Iterator[Parsed]:
        """Yield tagged sentences with their trees, as the command parse does.

        Raises a ConfigError, before the first sentence, if the model cannot search in this way.
        """
        search = search or Search()
        # A single tree comes without its log-probability, so two are asked for.
        nbest = max(search.nbest, 2) if search.nbest else 1
        options = ParseOptions(beam=search.beam, nbest=nbest, confidence=search.confidence, accurate=search.accurate)
        worker = self.pipeline.worker(options).parser
        return (_parsed(found, search) for some in in_chunks(sentences, most=TOGETHER) for found in worker.parse(some))


def _parsed(found: Sequence[Sentence], search: Search) -> Parsed:
    """Read what the parser wrote into comments."""
    trees = [(one.tree, float(_after("log_probability = ", one.comments))) for one in found[: search.nbest or 0]]
    return Parsed(found[0], trees)


def _after(key: str, parts: Sequence[str]) -> str:
    return next(part for part in parts if part.startswith(key)).removeprefix(key)
