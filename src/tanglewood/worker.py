"""The worker: parses whatever comes as a batch (text/batches.py), in one thread or process.

The command line, the page, processes and `Pipeline` itself all get their trees from workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from tanglewood.errors import LocatedError
from tanglewood.ml.words import Columns, words_of
from tanglewood.options import ParseOptions
from tanglewood.parser import Parser
from tanglewood.searches import MOST_BEAM_WORDS, MoveWorker
from tanglewood.text.batches import Batch, Item, Piece, Pieces, Sentences, with_tags
from tanglewood.text.tagger import Tagger, Tags
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree


class Parts(Protocol):
    """What a worker needs to know of a pipeline."""

    @property
    def parser(self) -> Parser:
        """The parser."""

    @property
    def tagger(self) -> Tagger | None:
        """The tagger, if there is one."""

    @property
    def tag_column(self) -> str:
        """The column whose tags the parser chooses itself, or nothing."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What the parser was made from."""

    def pieces(
        self, texts: Iterable[str], *, document: str = ..., sentences: str = ..., begin: int = ...
    ) -> Iterator[Piece]:
        """Yield the sentences of a text."""


class Parsed(NamedTuple):
    """The result of a batch: sentences with their trees, and errors in the places of the others."""

    items: list[Item]
    words: int
    missing: list[str]  # columns that the model was trained with and no word met so far has
    fallbacks: int = 0  # sentences that were too long for the search that was asked for

    def sentences(self) -> list[Sentence]:
        """Return the sentences; the first error is raised."""
        found: list[Sentence] = []
        for item in self.items:
            if isinstance(item, LocatedError):
                raise item
            found.append(item)
        return found


class Worker:
    """Parses batches of sentences or text, in one thread; it can be pickled, to work in another process.

    The options must be resolved. Text and words are always tagged; sentences only with ``tag``, where they have no
    tags, or if the parser chooses tags itself, from the tagger's candidates. The caller makes sure that there is a
    tagger for that.
    """

    def __init__(self, pipeline: Parts, options: ParseOptions, *, tag: bool = False) -> None:
        self.pipeline = pipeline
        self.options = options
        self.tag = tag
        if options.contextual:
            from tanglewood.embedding import attach

            attach(options.contextual, pipeline.parser.model, pipeline.tagger)
        self.parser = pipeline.parser.worker(options)
        self._tagger = pipeline.tagger.worker(reproducible=options.reproducible) if pipeline.tagger else None
        self._judge: MoveWorker | None = None
        if options.tags_nbest > 1:
            judge = pipeline.parser.worker(ParseOptions(search="beam", reproducible=options.reproducible))
            assert isinstance(judge, MoveWorker)  # resolved options make sure of that
            self._judge = judge
        self._fills = tag or bool(pipeline.tag_column and self._tagger)
        self._columns = Columns(() if self._fills else pipeline.description.get("columns", ()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _worker, (self.pipeline, self.options, self.tag)

    def parse(self, batch: Batch) -> Parsed:
        """Parse one batch."""
        items = [
            self.parser.problem(item) or item if isinstance(item, Sentence) else item for item in batch.tagged(self)
        ]
        sentences = [item for item in items if isinstance(item, Sentence)]
        before = self.parser.fallbacks
        parsed = iter(self.parser.parse(sentences))
        found: list[Item] = []
        for item in items:
            found.extend([item] if isinstance(item, LocatedError) else next(parsed))
        return Parsed(found, sum(map(len, sentences)), self._columns.empty, self.parser.fallbacks - before)

    def parse_texts(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """Return the parsed sentences of each text; those of short texts are parsed together."""
        found: list[list[Sentence]] = [[] for _ in texts]
        pieces = self.pipeline.pieces
        rule = self.options.sentences
        placed = ((place, piece) for place, text in enumerate(texts) for piece in pieces([text], sentences=rule))
        for chunk in in_chunks(placed, lambda one: sum(map(len, one[1].sentences))):
            parsed = iter(self.parse(Pieces([piece for _, piece in chunk])).sentences())
            for place, piece in chunk:
                found[place] += (next(parsed) for _ in piece.sentences)
        return found

    def nbest(self, sentence: Sentence) -> list[tuple[Tree, float]]:
        """Return the best trees of a sentence, each with the logarithm of its probability."""
        (ready,) = self.sentences(Sentences([sentence]))
        return self.parser.nbest(ready)

    def sentences(self, batch: Batch) -> list[Sentence]:
        """Return the sentences of a batch as the parser gets them; the first error is raised."""
        return Parsed([*batch.tagged(self)], 0, []).sentences()

    def tags_of(self, forms: Sequence[Sequence[str]]) -> list[list[Tags]]:
        """Return the tags of the forms of some sentences."""
        self._columns = Columns(())  # no column is missing
        return self._tags(forms)

    def filled(self, items: Sequence[Item]) -> list[Item]:
        """Return sentences and errors; the sentences have tags in empty columns if these are to be filled in."""
        sentences = [item for item in items if isinstance(item, Sentence)]
        if self._columns.empty:
            for sentence in sentences:
                self._columns.add(words_of(sentence))
        if not self._fills:
            return [*items]
        tags = iter(self._tags([sentence.forms for sentence in sentences]))
        return [_tagged(item, next(tags)) if isinstance(item, Sentence) else item for item in items]

    def _tags(self, forms: Sequence[Sequence[str]]) -> list[list[Tags]]:
        assert self._tagger is not None  # callers make sure of that
        if self._judge is None:
            return self._tagger.tag(forms, self.pipeline.tag_column)
        return [
            self._likeliest(*found, self._judge)
            for found in zip(forms, self._tagger.best_sequences(forms, self.options.tags_nbest), strict=True)
        ]

    def _likeliest(
        self, forms: Sequence[str], choices: Sequence[tuple[float, list[Tags]]], judge: MoveWorker
    ) -> list[Tags]:
        """Return the tags that tagger and parser together find likeliest; long sentences, without a beam, the first."""
        if len(choices) == 1 or len(forms) > MOST_BEAM_WORDS:
            return choices[0][1]
        words = [[(form, *one[:4]) for form, one in zip(forms, tags, strict=True)] for _, tags in choices]
        scored = zip(judge.best_scores(words), choices, strict=True)
        return max(scored, key=lambda one: one[0] - one[1][0])[1][1]


def _tagged(sentence: Sentence, tags: list[Tags]) -> Item:
    """Return a sentence with its tags, or the error if one of its forms does not go into a column."""
    try:
        return with_tags(sentence, tags)
    except LocatedError as error:
        return error


def _worker(pipeline: Parts, options: ParseOptions, tag: bool) -> Worker:
    return Worker(pipeline, options, tag=tag)
