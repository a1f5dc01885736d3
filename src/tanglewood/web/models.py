"""Models as the playground uses them: a parser, and for raw text the pipeline around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.text.batches import Sentences
from tanglewood.treebank.sentence import Sentence
from tanglewood.web.limits import Problem


class Model:
    """A parser and, if the model file has one, the pipeline that splits and tags text; it serves all threads."""

    def __init__(self, parser: Parser, pipeline: Pipeline | None = None) -> None:
        self.parser = parser
        self.pipeline = pipeline or Pipeline(parser)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Model:
        """Read a model file, by default the one that comes with tanglewood."""
        pipeline = Pipeline.load(path)
        return cls(pipeline.parser, pipeline)

    def tag_text(self, text: str) -> Iterator[Sentence]:
        """Split text into sentences and words, and tag them, no more at a time than are asked for."""
        if self.pipeline.tokenizer is None:
            raise Problem(422, "this model has a parser only, which needs words and tags: send CoNLL-U", field="text")
        worker = self.pipeline.worker()
        for piece in self.pipeline.pieces([text]):
            yield from worker.sentences(piece)

    def parse(self, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
        """Give tagged sentences their trees, as the command parse does."""
        return self.pipeline.parse(sentences)

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Fill the columns of tags that hold nothing, if the model can."""
        if self.pipeline.tagger is None:
            return list(sentences)
        return self.pipeline.worker(tag=True).sentences(Sentences(sentences))
