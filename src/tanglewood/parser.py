"""The parser: a system, labels, learnt weights and a search, trained once and used on any number of sentences."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from math import fsum
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Unpack

from tanglewood import __version__
from tanglewood.checks import PLAIN, Shape, Whole, check_settings
from tanglewood.core.actions import SETTINGS as ACTION_SETTINGS
from tanglewood.core.actions import Actions
from tanglewood.core.beam import MOST_WIDTH, Beam
from tanglewood.core.logs_plain import exp
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.decoders import MOST_MEMORY, MOVE_SEARCHES, SEARCHES, make_decoder, make_summing_decoder
from tanglewood.decoders.base import Decoder, score_table
from tanglewood.decoders.limits import table_memory, too_long
from tanglewood.errors import ConfigError, LimitError, ModelError, TanglewoodError, given
from tanglewood.learners import learner_class
from tanglewood.learners.base import Model, StackedTree
from tanglewood.learners.tag_candidates import Tagging
from tanglewood.ml.words import words_of
from tanglewood.options import OptionsByName, ParseOptions, asked_beam, chosen
from tanglewood.store import load_model, part_of, save_model
from tanglewood.systems import make_system
from tanglewood.transforms.pseudo_projective import Scheme, deprojectivize
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

BEAM = 8  # default width of a beam where one is needed or pays off
MOST_BEAM_WORDS = 5000  # of a sentence: a beam copies configurations, each as long as the sentence, at every move
STACKED = "stacked/"  # prefix of the names of a stacked parser's arrays
SETTINGS: Shape = {  # of a model file; parts check their own
    "tanglewood": str,
    **ACTION_SETTINGS,
    "pseudo_projective": (None, [str]),
    "description": {
        "system": str,
        "options": {str: PLAIN},
        "single_root": bool,
        "learner": str,
        "search": str,
        "beam": Whole(1, MOST_WIDTH),
        "columns?": [str],
        str: PLAIN,
    },
    "model": dict,
    "stacked?": dict,
    "tokenizer?": dict,
    "tagger?": dict,
}


class Parser:
    """Gives sentences their trees; threads may share one instance.

    ``description`` says what the parser was made from: system, options, learner, data, scores.
    """

    def __init__(
        self,
        model: Model,
        description: Mapping[str, Any],
        scheme: Scheme | None = None,
        stacked: Parser | None = None,
    ) -> None:
        self.model = model
        self.description = description
        self.scheme = scheme
        self.stacked = stacked

    @property
    def scores_arcs(self) -> bool:
        """Whether the model is graph-based rather than transition-based."""
        return self.model.capabilities.scores_arcs

    def parse(self, sentence: Sentence, *, search: str = "", beam: int | None = None) -> Tree:
        """Return the tree of one sentence."""
        (parsed,) = self.parse_all([sentence], ParseOptions(search=search, beam=beam))
        return parsed.tree

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        options: ParseOptions | None = None,
        *,
        threads: int = 1,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Sentence]:
        """Yield the sentences with their trees, in order; memory stays flat however many there are.

        Options may also be given by name: ``parse_all(sentences, beam=8, threads=2)``.
        """
        if threads < 1:
            raise ConfigError(f"the number of threads must be 1 or more, not {threads}")
        options = chosen(options, more)
        workers = [self.worker(options) for _ in range(threads)]
        chunks = in_chunks(sentences)
        if threads == 1:
            for chunk in chunks:
                yield from chain.from_iterable(workers[0].parse(chunk))
            return
        idle: SimpleQueue[ParserWorker] = SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def work(chunk: list[Sentence]) -> list[list[Sentence]]:
            worker = idle.get()
            try:
                return worker.parse(chunk)
            finally:
                idle.put(worker)

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[list[list[Sentence]]]] = deque(
                pool.submit(work, c) for c in islice(chunks, 2 * threads)
            )
            while waiting:
                yield from chain.from_iterable(waiting.popleft().result())
                waiting.extend(pool.submit(work, chunk) for chunk in islice(chunks, 1))

    def worker(self, options: ParseOptions | None = None) -> ParserWorker:
        """Return a worker for one thread with these options."""
        options = self.resolved(options or ParseOptions())
        return ArcWorker(self, options) if self.scores_arcs else MoveWorker(self, options)

    def resolved(self, options: ParseOptions, *, predicted_tags: bool = False) -> ParseOptions:
        """Return the options with the width of the beam decided; a ConfigError if they do not fit this model.

        A width that was asked for stays. Otherwise there is no beam (a width of 1) where there cannot be one: with a
        graph-based model, greedy search, or a model without probabilities. Otherwise it is as wide as the one that the
        model was trained with, and at least `BEAM` wide where one is needed (for n-best trees and confidence) or pays
        off (where tags are predicted, and may be wrong: half a point of LAS for a third of the speed).
        """
        self._check_search(options)
        able = self.model.capabilities
        asked = options.nbest > 1 or options.confidence or options.search == "beam"
        width = options.beam or 1
        if options.beam is None and able.scores_moves and options.search != "greedy" and (asked or able.beam):
            width = max(able.learnt_beam, options.nbest, BEAM if asked or predicted_tags else 1)
        if not able.scores_moves:
            if width > 1 or options.nbest > 1:
                raise ConfigError("this model is graph-based: its search is exact, there is no beam and no nbest")
            return options
        if width > 1 and not able.beam:
            raise ConfigError(
                "this model counts votes, which do not add up to probabilities: there is no beam, only greedy search"
            )
        if options.search == "greedy" and width > 1:
            raise ConfigError(f"greedy search has no beam of {width}")
        if options.nbest > width or (options.confidence and width < 2):
            raise ConfigError(f"nbest and confidence come from the beam: {width} is too narrow; use a wider one")
        return replace(options, beam=width)

    def _check_search(self, options: ParseOptions) -> None:
        """Raise ConfigError if a search or its limits belong to the other kind of model."""
        known, others = (tuple(SEARCHES), MOVE_SEARCHES) if self.scores_arcs else (MOVE_SEARCHES, tuple(SEARCHES))
        kind = self.model.capabilities.kind
        other = "transition-based" if self.scores_arcs else "graph-based"
        search = options.search
        if search and search not in known:
            what = f"search {search!r} is for {other} models" if search in others else f"unknown search {search!r}"
            raise ConfigError(f"{what}; this model is {kind} and takes {', '.join(known)}")
        if not self.scores_arcs and (options.min_risk or options.max_length or options.show_search):
            raise ConfigError(
                "min_risk, max_length and show_search are for graph-based models; this one is transition-based"
            )

    def save(self, path: str | Path) -> None:
        """Write the parser to one file, including a stacked one; the same parser gives the same bytes."""
        save_model(path, *self.contents())

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and settings for a model file."""
        scheme = None if self.scheme is None else [self.scheme.name, self.scheme.separator, self.scheme.mark]
        settings = {
            "tanglewood": __version__,
            **self.model.actions.settings(),
            "pseudo_projective": scheme,
            "description": dict(self.description),
            "model": self.model.settings(),
        }
        arrays = dict(self.model.arrays())
        if self.stacked is not None:
            others, settings["stacked"] = self.stacked.contents()
            arrays |= {f"{STACKED}{name}": values for name, values in others.items()}
        return arrays, settings

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """Read a parser; nothing in the file is executed."""
        arrays, settings = load_model(path)
        with naming_model(str(path)):
            return cls.from_contents(arrays, settings)

    @classmethod
    def from_contents(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Parser:
        """Return the parser with such contents; arrays of other parts, whose names have a slash, are ignored."""
        check_settings(settings, SETTINGS)
        description = settings["description"]
        system = make_system(description["system"], **description["options"], single_root=description["single_root"])
        actions = Actions.load(system, settings)
        own = {name: values for name, values in arrays.items() if "/" not in name}
        model = learner_class(description["learner"], "Model").load(actions, own, settings["model"])
        scheme = None if settings["pseudo_projective"] is None else Scheme(*settings["pseudo_projective"])
        if scheme is not None and not all(scheme.undecorate(label).label for label in actions.labels):
            raise ModelError("the model has labels that say where a word was lifted from, and nothing else")
        stacked = None
        if "stacked" in settings:
            if "stacked" in settings["stacked"]:
                raise ModelError("the parser that the model is stacked on should not be stacked itself")
            stacked = cls.from_contents(part_of(arrays, STACKED), settings["stacked"])
        if model.capabilities.stacked != (stacked is not None):
            raise ModelError("the model and the parser that it is stacked on do not go together")
        parser = cls(model, description, scheme, stacked)
        parser.resolved(ParseOptions(search=description["search"], beam=learnt_with(description)))
        if parser.scores_arcs:
            make_decoder(description["search"], system)
        return parser


@contextmanager
def naming_model(name: str) -> Iterator[None]:
    """Turn whatever unsuitable contents raise into a ModelError with the model's name."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TanglewoodError) as error:
        problem = error if isinstance(error, ModelError) else given(error)
        raise ModelError(f"{name}: the model cannot be used by this tanglewood {__version__}: {problem}") from None


def learnt_with(description: Mapping[str, Any]) -> int | None:
    """Return the width of the beam that a model was judged with in training; None if there was none."""
    return asked_beam(description["beam"])


def stacked_tree(tree: Tree, actions: Actions) -> StackedTree:
    """Return a stacked parser's tree with the label numbers of the actions; -1 for labels that they do not have."""
    return StackedTree(tree.heads, actions.label_numbers(tree))


def stacked_trees(
    stacked: Parser, sentences: Sequence[Sentence], actions: Actions, *, reproducible: bool = False
) -> list[StackedTree]:
    """Return a stacked parser's trees of sentences, searching as it did in training."""
    parsed = stacked.parse_all(sentences, beam=learnt_with(stacked.description), reproducible=reproducible)
    return [stacked_tree(sentence.tree, actions) for sentence in parsed]


class ParserWorker:
    """What one thread needs: a workspace of the model and a search."""

    def __init__(self, parser: Parser, options: ParseOptions) -> None:
        self.options = options
        self._parser = parser
        self._actions = parser.model.actions
        self._workspace = parser.model.workspace(reproducible=options.reproducible)

    def parse(self, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
        """Return each sentence with its tree, or its best trees."""
        if not sentences:
            return []
        for sentence in sentences:
            if problem := self.problem(sentence):
                raise problem
        self._encode(sentences)
        return [list(self._parse(sentence, index)) for index, sentence in enumerate(sentences)]

    def problem(self, sentence: Sentence) -> LimitError | None:
        """Return what keeps a sentence from being parsed, before anything is done with it."""
        return None

    def nbest(self, sentence: Sentence) -> list[tuple[Tree, float]]:
        """Return the best trees of a sentence, each with the logarithm of its probability."""
        raise ConfigError("a graph-based model finds the one best tree; n-best trees come from a transition-based one")

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        self._workspace.encode([words_of(sentence) for sentence in sentences])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        raise NotImplementedError

    def _tree(self, heads: Sequence[int], numbers: Sequence[int]) -> Tree:
        """Make a tree of the heads and label numbers of words."""
        tree = self._actions.tree(heads, numbers)
        return tree if self._parser.scheme is None else deprojectivize(tree, self._parser.scheme)


class ArcWorker(ParserWorker):
    """Decodes the scores of arcs."""

    def __init__(self, parser: Parser, options: ParseOptions) -> None:
        ParserWorker.__init__(self, parser, options)
        self._name = options.search or parser.description["search"]
        limits = {"max_words": options.max_length or None, "max_bytes": options.max_memory}
        self._decoder: Decoder = make_decoder(self._name, self._actions.system, **limits)
        self._sums = make_summing_decoder(self._name, self._actions.system)

    def problem(self, sentence: Sentence) -> LimitError | None:
        """Return the error if the tables of a sentence would need too much memory, even for the best of all trees."""
        allowed = max(self.options.max_memory, MOST_MEMORY)  # below that a search falls back on the best of all trees
        needed = table_memory(len(sentence), sums=self.options.confidence or self.options.min_risk)
        if needed <= allowed:
            return None
        remedy = (
            f"--max-memory {(needed >> 20) + 1} allows them (in Python max_memory, in bytes), and a transition-based "
            "model needs none"
        )
        return sentence.located(too_long(len(sentence), needed, allowed, remedy))

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        other = self._parser.stacked
        trees: list[list[StackedTree]] = []
        if other is not None:
            trees = [stacked_trees(other, sentences, self._actions, reproducible=self.options.reproducible)]
        self._workspace.encode([words_of(sentence) for sentence in sentences], *trees)

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        arcs = self._workspace.score(index)
        n = len(sentence)
        scores = arcs.scores
        marginals = None
        if self.options.confidence or self.options.min_risk:
            marginals = self._sums.marginals(arcs.at_temperature(self._workspace.temperature))
        if marginals is not None and self.options.min_risk:
            scores = score_table(n)
            for head in range(n + 1):
                for word in range(1, n + 1):
                    scores[head, word] = marginals[head, word]
        decoded = self._decoder.best(scores)
        heads = decoded.heads[1:]
        numbers = [arcs.labels[head, word] for word, head in enumerate(heads, 1)]
        parsed = sentence.with_tree(self._tree(heads, numbers))
        if marginals is not None and self.options.confidence:
            found = [marginals[head, word] for word, head in enumerate(heads, 1)]
            parsed = parsed.with_misc("Confidence", [f"{probability:.4f}" for probability in found])
        if decoded.proof == "fallback":
            parsed = parsed.with_comments([f"# search = mst instead of {self._name}: {n} words are beyond the limit"])
        elif self.options.show_search:
            parsed = parsed.with_comments([f"# search = {self._name}, proof: {decoded.proof}"])
        yield parsed


class MoveWorker(ParserWorker):
    """Searches for the best moves; ``search`` counts its work once it has any."""

    def __init__(self, parser: Parser, options: ParseOptions) -> None:
        ParserWorker.__init__(self, parser, options)
        self.search: Search | None = None
        self._beam: Beam | None = None
        self._tagging = Tagging(self._actions) if self._actions.tags else None
        self._candidates: list[array[int]] = []

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        if self._tagging is None:
            ParserWorker._encode(self, sentences)
            return
        read = [self._tagging.read(sentence) for sentence in sentences]
        self._candidates = [candidates for _, candidates in read]
        self._workspace.encode([words for words, _ in read])

    def turn_to(self, sentence: Sentence) -> Search:
        """Return the search, set to this sentence, for callers that take the moves themselves."""
        self._encode([sentence])
        return self._search_of(0)

    def _search_of(self, index: int) -> Search:
        """Return the search, set to one of the encoded sentences."""
        scorer = self._workspace.turn_to(index)
        if self.search is None or self.search.scorer is not scorer:
            self.search = Search(self._actions, scorer)
            width = self.options.beam or 1
            normalized = self._parser.model.capabilities.learnt_beam == 1
            self._beam = Beam(self.search, width, normalized=normalized) if width > 1 else None
        return self.search

    def give_candidates(self, state: State, index: int = 0) -> None:
        """Tell a configuration of one of the encoded sentences which tags its words may be given."""
        if self._tagging is not None:
            state.take_candidates(self._candidates[index])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        search = self._search_of(index)
        state = State(len(sentence))
        self.give_candidates(state, index)
        only_tree = self.options.nbest == 1 and not self.options.confidence
        if self._beam is None:
            search.greedy(state)
            yield self._parsed(sentence, state)
            return
        if only_tree and len(sentence) > MOST_BEAM_WORDS:
            search.greedy(state)
            why = f"{len(sentence)} words are beyond the limit"
            comment = f"# search = greedy instead of a beam of {self._beam.width}: {why}"
            yield self._parsed(sentence, state).with_comments([comment])
            return
        scores = self._beam.parse(state)
        options = self.options
        if only_tree:
            yield self._parsed(sentence, state)
            return
        for place, found in enumerate(self._different(state, scores)[: options.nbest], 1):
            parsed = self._tagged(sentence, found.tags).with_tree(found.tree)
            if options.confidence:
                parsed = parsed.with_misc("Confidence", [f"{share:.4f}" for share in found.confidence()])
            if options.nbest > 1:
                parsed = parsed.with_comments([f"# nbest = {place}", f"# log_probability = {found.score:.4f}"])
            yield parsed

    def nbest(self, sentence: Sentence) -> list[tuple[Tree, float]]:
        """Return the best trees of a sentence, each with the logarithm of its probability."""
        self._encode([sentence])
        self._search_of(0)
        state = State(len(sentence))
        self.give_candidates(state)
        if self._beam is None:
            raise ConfigError("n-best trees come from the beam: 1 is too narrow; use a wider one")
        scores = self._beam.parse(state)
        return [(found.tree, found.score) for found in self._different(state, scores)[: self.options.nbest]]

    def _different(self, state: State, scores: Sequence[float]) -> list[_Found]:
        """Return the different trees in the beam, the best first, each with the best of its derivations."""
        assert self._beam is not None
        found: list[_Found] = []
        for rank, score in enumerate(scores):
            self._beam.restore(state, rank)
            found.append(_Found(self.tree_of(state), state.word_tags(), score, found))
        trees = [one.tree for one in found]
        return [one for rank, one in enumerate(found) if one.tree not in trees[:rank]]

    def _parsed(self, sentence: Sentence, state: State) -> Sentence:
        """Return the sentence with what the derivation gives it."""
        tagged = sentence if self._tagging is None else self._tagged(sentence, state.word_tags())
        return tagged.with_tree(self.tree_of(state))

    def _tagged(self, sentence: Sentence, tags: Sequence[int]) -> Sentence:
        """Return the sentence with its tags, if the system gives any."""
        return sentence if self._tagging is None else self._tagging.written(sentence, tags)

    def tree_of(self, state: State) -> Tree:
        """Return the tree of a state in which the parse is over."""
        return self._tree(state.word_heads(), state.word_labels())


class _Found(NamedTuple):
    """A derivation in the beam: its tree, its tags, its score, and all derivations of the beam."""

    tree: Tree
    tags: Sequence[int]
    score: float
    beam: Sequence[_Found]

    def confidence(self) -> list[float]:
        """Return for each word the share of the beam's probability in which it has the head that it has here."""
        shares = [exp(other.score - self.beam[0].score) for other in self.beam]
        total = fsum(shares)
        return [
            fsum(
                share
                for share, other in zip(shares, self.beam, strict=True)
                if other.tree.heads[word] == self.tree.heads[word]
            )
            / total
            for word in range(1, len(self.tree) + 1)
        ]
