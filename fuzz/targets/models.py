"""Model files: small models of every learner, changed, with the checksum made right again, loaded and parsed with."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tanglewood as tw
from checks import check_again, check_tree
from engine import ACCEPTED, SANITIZED, Broken, Case, Target
from model_files import changed
from mutations import STRINGS, places
from seeds import CONLLU, TEXT, chain
from tanglewood.decoders import CHART_SEARCHES, JOINT_SEARCHES, MOVE_SEARCHES, SEARCHES
from tanglewood.derivation import trace_model
from tanglewood.errors import ConfigError, TanglewoodError
from tanglewood.learners import LEARNERS
from tanglewood.learners.network import learner as network
from tanglewood.options import ParseOptions
from tanglewood.pipeline import Pipeline
from tanglewood.store import load_model
from tanglewood.systems import SYSTEMS
from tanglewood.text import tagger
from tanglewood.treebank.sentence import Sentence
from vector_writers import as_fasttext

BASE = "linear-swap"
MODELS: dict[str, dict[str, Any]] = {
    **{learner: {"learner": learner} for learner in LEARNERS},
    BASE: {"learner": "linear", "system": "swap"},
    "covington": {"learner": "network", "system": "covington"},
    "moves": {"learner": "network", "arcs": False},
    "triples-all": {"learner": "triples", "system": "attardi-all"},
    "mst": {"learner": "network", "search": "mst"},
    "three-step": {"learner": "linear", "system": "three-step"},
    "three-step-network": {"learner": "network", "system": "three-step"},
    "two-planar": {"learner": "linear", "system": "two-planar"},
    "attardi-all": {"learner": "liblinear", "system": "attardi-all"},
    "lifted": {"learner": "linear", "system": "arc-eager", "pseudo_projective": "head"},
    "eisner": {"learner": "arcs", "search": "eisner"},
    "exact": {"learner": "arcs", "search": "exact", "system": "attardi"},
    "mst2": {"learner": "arcs", "search": "mst2"},
    "eisner2": {"learner": "arcs", "search": "eisner2"},
    "stacked": {"learner": "arcs", "stacked": BASE, "folds": 2},
    "beam": {"learner": "linear", "train_beam": 4},
    "joint": {"learner": "linear", "system": "joint-swap", "folds": 2},
    "joint-network": {"learner": "network", "system": "joint-swap", "folds": 2},
    "text": {"learner": "network", "pipeline": True, "folds": 2},
    "vectors": {"learner": "network", "vectors": True},
    "text-vectors": {"learner": "network", "vectors": True, "pipeline": True, "folds": 2},
    "text-linear": {"learner": "linear", "pipeline": True, "folds": 2},
}
WIDE = ParseOptions(beam=4)
WAYS = (  # of searching; each model takes some of them
    *(ParseOptions(search=search) for search in (*MOVE_SEARCHES, *CHART_SEARCHES, *JOINT_SEARCHES)),
    *(ParseOptions(search=search, show_search=True) for search in SEARCHES),
    WIDE,
    replace(WIDE, nbest=3),
    replace(WIDE, confidence=True),
    ParseOptions(confidence=True),
    ParseOptions(accurate=True, max_length=10),
    ParseOptions(min_risk=True),
    ParseOptions(search="eisner", confidence=True, min_risk=True),
)


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of CoNLL-U."""
    return list(tw.read(BytesIO(text.encode()), trees=False))


class Models(Target):
    """Loads a changed model and uses it in every way: trees must be trees, and the only errors are ours."""

    suffix = ".tw"
    batch = 50 if SANITIZED else 1  # what a bad model does to memory may show much later, without a sanitizer

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._models = trained(folder)
        settings = [load_model(path)[1] for path in self._models]
        words = {name for found in settings for name in _strings(found)}
        self._strings = (*STRINGS, *sorted(words), *SYSTEMS, *LEARNERS, *SEARCHES)
        bare = "1\tfrog\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        self._sentences = sentences_of(CONLLU + bare + chain(40))

    def make(self, rng: Random) -> Case:
        """Return one of the models, changed."""
        path = rng.choice(self._models)
        data, told = changed(rng, path.read_bytes(), self._strings)
        return Case(data, f"{path.stem}: {told}")

    def check(self, data: bytes) -> str:
        """Load the model, and use it."""
        with self.file(data) as path:
            nlp = tw.load(path)
        try:
            self._use(nlp)
        except TanglewoodError as error:
            return f"{type(error).__name__} when used"
        return ACCEPTED

    def _use(self, nlp: Pipeline) -> None:
        """Parse with every search, tag, and follow a derivation; whatever does not suit the model is left out."""
        repr(nlp)
        for options in WAYS:
            try:
                parsed = list(nlp.parse(self._sentences, options=options))
            except ConfigError:  # not a search for this model
                continue
            if options.nbest == 1:
                check_parsed(self._sentences, parsed)
            for sentence in parsed:
                check_tree(sentence)
                if options.confidence:
                    check_confidence(sentence)
            check_again(parsed)
        if nlp.parser.model.capabilities.beam and not nlp.parser.graph_based:
            for sentence in self._sentences[:3]:
                if not nlp.nbest(sentence, 3):
                    raise Broken("no n-best tree at all")
        if not nlp.parser.graph_based:
            list(trace_model(nlp.parser, self._sentences[1]))
        if nlp.tagger is not None:
            check_parsed(self._sentences, list(nlp.parse(self._sentences, tag=True)))
            check_again(list(nlp.parse_words([["frogs", "sing"], ["\u05e9", "."]])))
        if nlp.tokenizer is not None:
            doc = nlp(TEXT)
            for sentence in doc:
                check_tree(sentence)
            check_again(doc.sentences)
            spans = [place for sentence in doc for place in sentence.offsets if place]
            letters = {number for start, end in spans for number in range(start, end)}
            if any(number not in letters for number, letter in enumerate(TEXT) if not letter.isspace()):
                raise Broken("letters of the text are lost")

    def smaller(self, data: bytes) -> Iterator[bytes]:
        """Yield nothing: a model has one change, or very few."""
        yield from ()


def trained(folder: Path, names: Iterable[str] = MODELS) -> list[Path]:
    """Train small models on a few sentences, and return their files."""
    sizes, tag_sizes = network.Sizes, tagger.SIZES
    sentences = sentences_of(CONLLU)
    paths = []
    try:
        network.Sizes = lambda **given: replace(sizes(word=8, lstm=4, hidden=8), **given)  # type: ignore[assignment,misc]
        tagger.SIZES = (8, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in names:
                choices = MODELS[name]
                path = folder / f"{name}.tw"
                given = {"epochs": 1 if choices["learner"] in {"svm", "liblinear"} else 2, **choices}
                if "vectors" in given:
                    given["vectors"] = _vectors(folder)
                if "stacked" in given:
                    given["stacked"] = f"{folder / given['stacked']}.tw"
                tw.train(sentences, sentences[:3], output=path, **given)
                paths.append(path)
    finally:
        network.Sizes, tagger.SIZES = sizes, tag_sizes  # type: ignore[misc]
    return paths


def _vectors(folder: Path) -> Path:
    """Write a few vectors of words and of their pieces."""
    path = folder / "few.bin"
    words = ["heron", "frog", "Ponds", "\u05e9", "."]
    table = np.random.default_rng(1).normal(0, 1, (len(words) + 40, 6)).astype(np.float32)
    path.write_bytes(as_fasttext(words, table, 2, 4))
    return path


def check_parsed(given: Sequence[Sentence], parsed: Sequence[Sentence]) -> None:
    """Every sentence must come back, with its words."""
    if [sentence.forms for sentence in given] != [sentence.forms for sentence in parsed]:
        raise Broken("sentences or words are lost")


def check_confidence(sentence: Sentence) -> None:
    """Every word must have a probability."""
    for word in sentence:
        if word.confidence is None or not 0 <= word.confidence <= 1:
            raise Broken("a confidence that is no probability")


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    for path in places(value):
        found = value
        for step in path:
            found = found[step]
        yield from (text for text in (path[-1], found) if isinstance(text, str) and len(text) < 30)
