"""Components for spaCy's pipelines: `nlp.add_pipe("tanglewood_parser", config={"model": "dutch-alpino"})`.

Both take the words that spaCy's tokenizer has found. Sentences are those that the document has; without any, the model
finds them, and if it cannot, the document is one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.util import minibatch

from tanglewood.errors import ConfigError
from tanglewood.pipeline import Pipeline, load
from tanglewood.spacy_bridge.docs import built, words_in
from tanglewood.store import dump_model, parse_model
from tanglewood.treebank.sentence import Sentence

MODEL = "model.tw"  # in the component's folder


class Component:
    """What both components share: a model, batches, and how they are saved.

    The model is read when it is first needed: a pipeline that is loaded has its own, wherever it came from. It is not
    called `model`, as in spaCy's own components: spaCy looks for that attribute as soon as a component is added, which
    would read a file that may be gone.
    """

    def __init__(self, name: str, model: str | Pipeline = "") -> None:
        self.name = name
        self._model = model

    @property
    def pipeline(self) -> Pipeline:
        """The model."""
        if isinstance(self._model, str):
            self._model = load(self._model or None)
        return self._model

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate documents, many at a time."""
        for docs in minibatch(stream, batch_size):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: list[Doc]) -> None:
        raise NotImplementedError

    def _sentences(self, doc: Doc) -> list[Sentence]:
        """Return the sentences of a document, found by the model if nobody has found them yet."""
        starts: list[int] = []
        if self.pipeline.tokenizer is not None and not doc.has_annotation("SENT_START"):
            for piece in self.pipeline.pieces([doc.text]):
                starts += (piece.begin + tokens[0].start for tokens in piece.sentences if tokens)
        return built(doc, starts)

    # spaCy calls these when a pipeline is saved and loaded. ---------------------------------------------------------

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model as bytes."""
        return dump_model(*self.pipeline.contents())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Component:
        """Take a model from bytes."""
        self._model = Pipeline._of(parse_model(data, self.name))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        self.pipeline.save(Path(path) / MODEL)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Component:
        """Read the model from a folder."""
        self._model = load(Path(path) / MODEL)
        return self


class TanglewoodParser(Component):
    """Gives words their heads and labels; where a document has no tags, the model's tagger helps, without a trace."""

    def _annotate(self, docs: list[Doc]) -> None:
        found = [self._sentences(doc) for doc in docs]
        if self.pipeline.tagger is None:
            for doc in docs:
                if len(doc) and not (doc.has_annotation("POS") or doc.has_annotation("TAG")):
                    raise ConfigError(
                        f"{self.name}: the model takes tagged words, and the document has no tags; tanglewood_tagger "
                        "or another tagger should come before it"
                    )
        every = (sentence for sentences in found for sentence in sentences)
        parsed = self.pipeline.parse(every, tag=self.pipeline.tagger is not None)
        for doc, sentences in zip(docs, found, strict=True):
            _set_trees(doc, [next(parsed) for _ in sentences])


class TanglewoodTagger(Component):
    """Gives words their universal tags, language-specific tags, features and lemmas."""

    def _annotate(self, docs: list[Doc]) -> None:
        tagger = self.pipeline.tagger
        if tagger is None:
            raise ConfigError(
                f"{self.name}: the model has a parser only; `tanglewood train --pipeline` makes one with a tagger"
            )
        found = [self._sentences(doc) for doc in docs]
        forms = [sentence.forms for sentences in found for sentence in sentences]
        tagged = iter(tagger.worker().tag(forms) if forms else [])
        for doc, sentences in zip(docs, found, strict=True):
            tokens = iter(words_in(doc))
            begun = doc.has_annotation("SENT_START")
            for sentence in sentences:
                for number, tags in enumerate(next(tagged)[: len(sentence)]):
                    token = next(tokens)
                    token.lemma_ = tags.lemma
                    token.pos_ = tags.upos if tags.upos in IDS else "X"
                    token.tag_ = "" if tags.xpos == "_" else tags.xpos
                    token.set_morph("" if tags.feats == "_" else tags.feats)
                    if not begun:
                        token.is_sent_start = number == 0
            for token in doc:
                if token.is_space:
                    token.pos_, token.lemma_ = "SPACE", token.text
                    if not begun:
                        token.is_sent_start = False


def _set_trees(doc: Doc, sentences: list[Sentence]) -> None:
    """Write heads and labels; white space hangs on the word before it, or on the first one."""
    tokens = words_in(doc)
    if not tokens:
        return
    table = np.zeros((len(doc), 2), np.int64)
    done = 0
    for sentence in sentences:
        tree = sentence.tree
        for number in range(1, len(sentence) + 1):
            place = tokens[done + number - 1].i
            head = tree.heads[number]
            label = _signed(doc.vocab.strings.add(tree.labels[number]))
            table[place] = (tokens[done + head - 1].i - place if head else 0, label)
        done += len(sentence)
    last = tokens[0].i
    space = doc.vocab.strings.add("dep")
    for token in doc:
        if token.is_space:
            table[token.i] = (last - token.i, _signed(space))
        else:
            last = token.i
    doc.from_array([HEAD, DEP], table.astype(np.uint64))


def _signed(number: int) -> int:
    """Return the bits of an unsigned number of 64 bits as a signed one."""
    return number - (1 << 64) if number >= 1 << 63 else number


def make_parser(nlp: Language, name: str, model: str) -> TanglewoodParser:
    """Make the component; ``model`` is a file or the name of an installed model, by default the English one."""
    return TanglewoodParser(name, model)


def make_tagger(nlp: Language, name: str, model: str) -> TanglewoodTagger:
    """Make the component; ``model`` is a file or the name of an installed model, by default the English one."""
    return TanglewoodTagger(name, model)


Language.factory(
    "tanglewood_parser",
    default_config={"model": ""},
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    func=make_parser,
)
Language.factory(
    "tanglewood_tagger",
    default_config={"model": ""},
    assigns=["token.pos", "token.tag", "token.morph", "token.lemma"],
    func=make_tagger,
)
