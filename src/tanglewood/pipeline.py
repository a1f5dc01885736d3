"""The pipeline: from text, words or tagged sentences to trees; everything that a model file holds.

Whatever is to be parsed comes as batches (text/batches.py), and a `Worker` parses it, one in each thread or process.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.resources import as_file
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack, overload

from tanglewood.errors import ArgumentError, ConfigError, ModelError, given
from tanglewood.ml.lexicon import without_lexicon
from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.options import OptionsByName, ParseOptions, chosen
from tanglewood.packages.installed import is_bundled, model_file
from tanglewood.parser import Parser, naming_model
from tanglewood.run.processes import checked, in_order
from tanglewood.store import Contents, Origin, dump_model, parse_model, part_of, read_model, save_model
from tanglewood.text.batches import (
    SHAPE,
    Batch,
    Piece,
    Sentences,
    Words,
    by_size,
    checked_words,
    paired,
    pieces,
)
from tanglewood.text.familiarity import Familiarity
from tanglewood.text.tagger import Tagger
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import SentenceSource, sentences_from
from tanglewood.treebank.tag_candidates import without_candidates
from tanglewood.treebank.tree import Tree
from tanglewood.worker import Worker

TOKENIZER, TAGGER = "tokenizer/", "tagger/"  # prefixes of the names of their arrays
MOST_IDLE = min(8, os.cpu_count() or 1)  # most workers that are kept for the next call with the same options
MOST_KINDS = 4  # most different options that workers are kept for
RENAMED = {
    "parse_text": "; nlp(text) returns a Doc, nlp(text).sentences the list",
    "parse_all": "; nlp.parse(sentences) gives them their trees",
}

Share = TypeVar("Share")
Result = TypeVar("Result")


class Pipeline:
    """Gives text its sentences, words, tags and trees, or tagged sentences their trees; threads may share one.

    A model of tagged words is a pipeline with neither tagger nor tokenizer. A pipeline can be pickled: it travels as
    the path of the file it was read from if that is unchanged, else as the bytes of such a file.
    """

    def __init__(
        self,
        parser: Parser,
        tagger: Tagger | None = None,
        tokenizer: Tokenizer | None = None,
        *,
        origin: Origin | None = None,
    ) -> None:
        if tokenizer is not None and tagger is None:
            raise ConfigError("a tokenizer finds words without tags: there should be a tagger with it")
        self._parser = parser
        self._tagger = tagger
        self._tokenizer = tokenizer
        self._origin = origin
        self._idle: dict[tuple[ParseOptions, bool], list[Worker]] = {}

    @property
    def parser(self) -> Parser:
        """The parser of tagged words."""
        return self._parser

    @property
    def tagger(self) -> Tagger | None:
        """The tagger, if there is one."""
        return self._tagger

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer, if there is one."""
        return self._tokenizer

    @property
    def description(self) -> Mapping[str, Any]:
        """What the parser was made from: system, options, learner, data, scores."""
        return self._parser.description

    @property
    def tag_column(self) -> str:
        """The column whose tags the parser chooses itself, from the tagger's candidates; usually there is none."""
        return self._parser.model.actions.system.tag_column

    @property
    def checksum(self) -> str:
        """The checksum of its model file, or of the one it would be saved as, which tells it from any other."""
        if self._origin is not None:
            return self._origin.checksum
        return parse_model(dump_model(*self.contents()), "the pipeline").checksum

    @property
    def origin(self) -> Origin | None:
        """The file that it was read from, if there is one."""
        return self._origin

    def __repr__(self) -> str:
        takes = "text" if self._tokenizer else "words" if self._tagger else "tagged words"
        about = self.description
        return f"<Pipeline for {takes}: {about['search'] or about['system']}, {about['learner']} learner>"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - it only raises
        hint = RENAMED.get(name, "")
        if not hint and not name.startswith("_") and hasattr(self._parser, name):
            hint = f"; its parser has: nlp.parser.{name}"
        raise AttributeError(f"a Pipeline has no attribute {name!r}{hint}")

    # All methods that parse take options: fields of ParseOptions by name, or options=ParseOptions(...).

    def __call__(self, text: str, *, options: ParseOptions | None = None, **more: Unpack[OptionsByName]) -> Doc:
        """Return the text with its sentences, words, tags and trees."""
        _check_text(text)
        with self._lent(self._for_docs(options, more)) as worker:
            (sentences,) = worker.parse_texts([text])
        return Doc(text, sentences)

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        processes: int = ...,
        as_tuples: Literal[False] = ...,
        options: ParseOptions | None = ...,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Doc]: ...

    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, Any]],
        *,
        processes: int = ...,
        as_tuples: Literal[True],
        options: ParseOptions | None = ...,
        **more: Unpack[OptionsByName],
    ) -> Iterator[tuple[Doc, Any]]: ...

    def pipe(
        self,
        texts: Iterable[Any],
        *,
        processes: int = 1,
        as_tuples: bool = False,
        options: ParseOptions | None = None,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Any]:
        """Yield a Doc for each text, in order; with ``as_tuples`` a (Doc, context) for each (text, context).

        Texts are read as they are needed, so that memory stays flat; short ones are parsed together.
        """
        _check_iterable(texts, "nlp.pipe(texts) takes an iterable of texts", "; nlp(text) takes one")
        return self._docs(texts, self._for_docs(options, more), checked(processes), as_tuples=as_tuples)

    def _docs(self, texts: Iterable[Any], options: ParseOptions, processes: int, *, as_tuples: bool) -> Iterator[Any]:
        sent: deque[list[tuple[str, Any]]] = deque()

        def batches() -> Iterator[list[str]]:
            for some in by_size(paired(texts, as_tuples=as_tuples)):
                sent.append(some)
                yield [text for text, _ in some]

        with self._lent(options) as worker, closing(_shared(worker.parse_texts, batches(), processes)) as results:
            for found in results:
                for (text, context), sentences in zip(sent.popleft(), found, strict=True):
                    doc = Doc(text, sentences)
                    yield (doc, context) if as_tuples else doc

    def parse(
        self,
        source: SentenceSource,
        *,
        tag: bool = False,
        processes: int = 1,
        options: ParseOptions | None = None,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Sentence]:
        """Yield tagged sentences with their trees, in order; only HEAD and DEPREL change, and memory stays flat.

        They come from a path, an open binary file, or an iterable of sentences; any heads they have are ignored. With
        ``tag`` lemmas, tags and features are filled in first where a sentence has none.
        """
        if isinstance(source, str) and any(map(str.isspace, source)) and not os.path.exists(source):  # noqa: PTH110
            raise ArgumentError(f"nlp.parse(source): there is no file {given(source)}; raw text is parsed by nlp(text)")
        batches = map(Sentences, in_chunks(sentences_from(source, trees=False)))
        return self._parsed(batches, self.resolved(options, **more), checked(processes), tag=tag)

    def parse_words(
        self,
        sentences: Iterable[Sequence[str]],
        /,
        *,
        processes: int = 1,
        options: ParseOptions | None = None,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Sentence]:
        """Yield sentences, given as lists of words that are already split, with their tags and trees, in order."""
        _check_iterable(sentences, f"nlp.parse_words takes lists of words, as in {SHAPE}")
        self._needed_tagger()

        def batches() -> Iterator[Words]:
            number = 1
            for some in in_chunks(checked_words(sentences)):
                yield Words(some, number)
                number += len(some)

        return self._parsed(batches(), self.resolved(options, **more), checked(processes))

    def _parsed(
        self, batches: Iterable[Batch], options: ParseOptions, processes: int = 1, *, tag: bool = False
    ) -> Iterator[Sentence]:
        if tag:
            self._needed_tagger()

        def parsed() -> Iterator[Sentence]:
            with self._lent(options, tag=tag) as worker, closing(_shared(worker.parse, batches, processes)) as results:
                for found in results:
                    yield from found.sentences()

        return parsed()

    def nbest(
        self,
        sentence: Sentence,
        k: int,
        *,
        options: ParseOptions | None = None,
        **more: Unpack[OptionsByName],
    ) -> list[tuple[Tree, float]]:
        """Return up to k trees of a tagged sentence, the best first, each with the logarithm of its probability."""
        if not isinstance(sentence, Sentence):
            raise ArgumentError(
                f"nlp.nbest(sentence, k) takes one Sentence, such as nlp(text) has, not {given(sentence)}"
            )
        asked = replace(chosen(options, more), nbest=k)
        if not (asked.search or self._parser.graph_based):
            asked = replace(asked, search="beam")
        if asked.search not in ("", "beam", "rescore"):
            raise ConfigError(f"{asked.search} search finds one tree; n-best trees come from beam or rescore")
        with self._lent(self.resolved(asked)) as worker:
            return worker.nbest(sentence)

    def parse_stream(
        self, texts: Iterable[str], *, options: ParseOptions | None = None, **more: Unpack[OptionsByName]
    ) -> Iterator[Sentence]:
        """Parse one long text that comes in pieces; memory stays flat however long it is."""
        _check_iterable(
            texts, "nlp.parse_stream takes an iterable of the parts of a text", "; nlp(text) takes it whole"
        )
        resolved = self.resolved(options, **more)
        return self._parsed(self.pieces(texts, sentences=resolved.sentences), resolved)

    def tag_text(self, text: str) -> Iterator[Sentence]:
        """Yield the sentences of a text with tags but without trees, as they are asked for."""
        _check_text(text)
        return self._tagged(self.pieces([text]))

    def _tagged(self, batches: Iterable[Batch]) -> Iterator[Sentence]:
        for batch in batches:
            with self._lent(self.resolved()) as worker:
                sentences = worker.sentences(batch)
            yield from map(without_candidates, sentences)

    def pieces(
        self,
        texts: Iterable[str],
        *,
        document: str = "",
        number: int = 1,
        sentences: str = "model",
        begin: int = 0,
    ) -> Iterator[Piece]:
        """Yield the sentences of a text that comes in pieces, for workers to parse; see text/batches.py."""
        tokenizer = self._needed_tokenizer()
        return pieces(tokenizer, texts, document=document, number=number, sentences=sentences, begin=begin)

    def familiarity(self) -> Familiarity:
        """Return a counter that tells whether texts are of the kind that the model has learnt from."""
        numbers = self._needed_tagger().vocabulary.numbers
        return Familiarity(numbers["lower"], numbers["last"])

    def resolved(self, options: ParseOptions | None = None, **more: Unpack[OptionsByName]) -> ParseOptions:
        """Return the options with the width of the beam decided; a ConfigError if they do not fit the model."""
        asked = chosen(options, more)
        if asked.tags_nbest > 1:
            self._needed_tagger()
        return self._parser.resolved(asked, predicted_tags=self._tagger is not None)

    def _for_docs(self, options: ParseOptions | None, more: OptionsByName) -> ParseOptions:
        self._needed_tokenizer()
        resolved = self.resolved(options, **more)
        if resolved.nbest > 1:
            raise ConfigError("a Doc has one tree a sentence; nlp.nbest(sentence, k) returns several")
        return resolved

    def _needed_tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            raise self._lacking("text")
        return self._tokenizer

    def _needed_tagger(self) -> Tagger:
        if self._tagger is None:
            raise self._lacking("words without tags")
        return self._tagger

    def _lacking(self, what: str) -> ModelError:
        name = "" if self._origin is None else f"{self._origin.name}: "
        return ModelError(
            f"{name}the model has a parser only, which takes words with tags, not {what}; "
            "`tanglewood train --pipeline` makes one that also splits and tags text"
        )

    # Workers. -------------------------------------------------------------------------------------------------------

    def worker(self, options: ParseOptions | None = None, *, tag: bool = False) -> Worker:
        """Return a worker for one thread or process; with ``tag`` it fills in empty columns first."""
        if tag:
            self._needed_tagger()
        return Worker(self, self.resolved(options), tag=tag)

    @contextmanager
    def _lent(self, options: ParseOptions, *, tag: bool = False) -> Iterator[Worker]:
        """Lend a worker, an idle one if there is any; one that raised an error is not used again."""
        key = (options, tag)
        try:
            worker = self._idle[key].pop()
        except LookupError:
            worker = Worker(self, options, tag=tag)
        yield worker
        if key not in self._idle and len(self._idle) >= MOST_KINDS:
            self._idle.clear()
        idle = self._idle.setdefault(key, [])
        if len(idle) < MOST_IDLE:
            idle.append(worker)

    # Files. ---------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything to one file; the same pipeline gives the same bytes."""
        save_model(path, *self.contents())

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and settings for a model file; a lexicon that tagger and parser have in common comes once."""
        arrays, settings = self._parser.contents()
        for name, part in ((TOKENIZER, self._tokenizer), (TAGGER, self._tagger)):
            if part is not None:
                own, told = part.arrays(), part.settings()
                if isinstance(part, Tagger) and part.lexicon is not None and part.lexicon.same_as(self._parser.lexicon):
                    own, told = without_lexicon(own, told)
                arrays |= {f"{name}{key}": values for key, values in own.items()}
                settings[name[:-1]] = told
        return arrays, settings

    @classmethod
    def load(cls, path: str | Path | None = None) -> Pipeline:
        """Read a model: a file, or an installed one by its name; by default the English one that comes with tanglewood.

        Nothing in the file is executed.
        """
        source = model_file(path)
        with as_file(source) as file:
            contents = read_model(file)
        if is_bundled(path):
            contents = contents._replace(origin=Origin(source.name, None, contents.checksum))
        return cls._of(contents)

    @classmethod
    def _of(cls, contents: Contents) -> Pipeline:
        arrays, settings, _, origin = contents
        with naming_model("the pipeline" if origin is None else origin.name):
            parser = Parser.from_contents(arrays, settings)
            tagger, tokenizer = None, None
            if "tagger" in settings:
                tagger = Tagger.load(part_of(arrays, TAGGER), settings["tagger"], parser.lexicon)
            if "tokenizer" in settings:
                tokenizer = Tokenizer.load(part_of(arrays, TOKENIZER), settings["tokenizer"])
            return cls(parser, tagger, tokenizer, origin=origin)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is not None and self._origin.is_unchanged():
            return _read_again, (type(self), self._origin)
        return _from_bytes, (type(self), dump_model(*self.contents()))


def _read_again(kind: type[Pipeline], origin: Origin) -> Pipeline:
    """Rebuild a pickled pipeline from its file."""
    again = kind.load(origin.path)
    found = again._origin
    if found is None or found.checksum != origin.checksum:
        raise ModelError(f"{origin.name}: the model file is another one than when the pipeline was pickled")
    return again


def _from_bytes(kind: type[Pipeline], data: bytes) -> Pipeline:
    """Rebuild a pickled pipeline from the bytes of a model file."""
    return kind._of(parse_model(data, "the pipeline"))


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        hint = "" if isinstance(text, bytes) or not isinstance(text, Iterable) else "; nlp.pipe(texts) takes many"
        raise ArgumentError(f"nlp(text) takes one text, a str, not {given(text)}{hint}")


def _check_iterable(value: object, expected: str, hint: str = "") -> None:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ArgumentError(f"{expected}, not {given(value)}{hint}")


def load(path: str | Path | None = None) -> Pipeline:
    """Read a model: a file, or an installed one by its name; by default the English one that comes with tanglewood.

    Nothing in the file is executed.
    """
    return Pipeline.load(path)


def _shared(work: Callable[[Share], Result], items: Iterable[Share], processes: int) -> Generator[Result]:
    """Yield the results of workers, in the order of the items."""
    return in_order(work, items, processes=processes, prepare=keep_one_matrix_thread)
