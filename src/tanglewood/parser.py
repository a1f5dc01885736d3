"""The parser: a system, labels, learnt weights and a search, trained once and used on any number of sentences."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import exp
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from tanglewood import __version__
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.decoders import MOST_MEMORY, MOVE_SEARCHES, SEARCHES, make_decoder, make_summing_decoder
from tanglewood.decoders.base import Decoder, score_table
from tanglewood.errors import ConfigError, ModelError, TanglewoodError
from tanglewood.learners import learner_class
from tanglewood.learners.base import Model, StackedTree
from tanglewood.learners.tag_candidates import Tagging
from tanglewood.ml.words import words_of
from tanglewood.store import load_model, save_model
from tanglewood.systems import make_system
from tanglewood.transforms.pseudo_projective import Scheme, deprojectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

CHUNK_WORDS = 2500  # words that are encoded together
Words = TypeVar("Words", bound=Sized)
STACKED = "stacked/"  # what the names of a stacked parser's arrays begin with


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How to search for trees.

    A model of moves searches greedily or with a ``beam`` (None: 8 where one is needed, else 1). With ``nbest`` each
    sentence then comes up to so many times, the best tree first, with comments ``# nbest`` and ``# log_probability``.

    A model of arcs takes the ``search`` it was trained with, or another one of core.searches. With ``min_risk`` it
    gives the tree that is expected to have the most heads right. Sentences longer than ``max_length`` words (0: any
    length), or that need more than ``max_memory`` bytes, get the best of all trees; a comment ``# search`` then says
    so, and with ``show_search`` every sentence has one.

    With ``confidence`` MISC gets ``Confidence=``: the probability of the word's head among all trees (projective ones
    with "eisner"); from a model of moves the share of the beam's probability in which the word has this head.
    """

    search: str = ""
    beam: int | None = None
    nbest: int = 1
    confidence: bool = False
    min_risk: bool = False
    max_length: int = 0
    max_memory: int = MOST_MEMORY
    show_search: bool = False

    def __post_init__(self) -> None:
        if min(self.beam or 1, self.nbest) < 1 or self.beam == 0:
            raise ConfigError(f"beam and nbest must be 1 or more, not {self.beam} and {self.nbest}")
        if self.max_length < 0 or self.max_memory < 1:
            raise ConfigError(f"limits of {self.max_length} words and {self.max_memory} bytes let nothing through")

    @property
    def width(self) -> int:
        """The width of the beam."""
        needed = self.nbest > 1 or self.confidence or self.search == "beam"
        return self.beam or (max(8, self.nbest) if needed else 1)


class Parser:
    """Gives sentences their trees; one instance serves all threads.

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
        """Whether the model is one of arcs; else it is one of moves."""
        return self.model.capabilities.scores_arcs

    def parse(self, sentence: Sentence, *, search: str = "", beam: int | None = None) -> Tree:
        """Return the tree of one sentence."""
        (parsed,) = self.parse_all([sentence], ParseOptions(search=search, beam=beam))
        return parsed.tree

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        choices: ParseOptions | None = None,
        *,
        threads: int = 1,
        **more: Any,  # noqa: ANN401 - fields of ParseOptions
    ) -> Iterator[Sentence]:
        """Give the sentences with their trees, in order; memory stays flat however many there are.

        ParseOptions may also be given by name: ``parse_all(sentences, beam=8, threads=2)``.
        """
        if threads < 1:
            raise ConfigError(f"the number of threads must be 1 or more, not {threads}")
        choices = replace(choices or ParseOptions(), **more)
        workers = [self.worker(choices) for _ in range(threads)]
        chunks = in_chunks(sentences)
        if threads == 1:
            for chunk in chunks:
                yield from chain.from_iterable(workers[0].parse(chunk))
            return
        idle: SimpleQueue[Worker] = SimpleQueue()
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

    def worker(self, choices: ParseOptions | None = None, **more: Any) -> Worker:  # noqa: ANN401 - fields of ParseOptions
        """Return what one thread needs to parse with these choices."""
        choices = replace(choices or ParseOptions(), **more)
        self._check(choices)
        return ArcWorker(self, choices) if self.scores_arcs else MoveWorker(self, choices)

    def _check(self, choices: ParseOptions) -> None:
        """Raise ConfigError if the choices are none that this model has."""
        known, others = (tuple(SEARCHES), MOVE_SEARCHES) if self.scores_arcs else (MOVE_SEARCHES, tuple(SEARCHES))
        kind, other = ("arcs", "moves") if self.scores_arcs else ("moves", "arcs")
        search = choices.search
        if search and search not in known:
            what = f"search {search!r} is for a model of {other}" if search in others else f"unknown search {search!r}"
            raise ConfigError(f"{what}; this is a model of {kind}, which takes {', '.join(known)}")
        if self.scores_arcs:
            if (choices.beam or 1) > 1 or choices.nbest > 1:
                raise ConfigError("this is a model of arcs: its search is exact, there is no beam and no nbest")
            return
        if choices.min_risk or choices.max_length or choices.show_search:
            raise ConfigError("min_risk, max_length and show_search are for models of arcs; this is one of moves")
        if choices.width > 1 and not self.model.capabilities.beam:
            raise ConfigError(
                "this model counts votes, which do not add up to probabilities: there is no beam, only greedy search"
            )
        if search == "greedy" and choices.width > 1:
            raise ConfigError(f"greedy search has no beam of {choices.width}")
        if choices.nbest > choices.width or (choices.confidence and choices.width < 2):
            raise ConfigError(
                f"nbest and confidence come from the beam: {choices.width} is too narrow; use a wider one"
            )

    def save(self, path: str | Path) -> None:
        """Write the parser to one file, a stacked one with it; the same parser gives the same bytes."""
        save_model(path, *self.contents())

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and settings for a model file."""
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
        try:
            return cls.from_contents(arrays, settings)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, TanglewoodError) as error:
            raise ModelError(f"{path}: the model cannot be used by this tanglewood {__version__}: {error!r}") from None

    @classmethod
    def from_contents(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Parser:
        """Make the parser of such contents; arrays of other parts, whose names have a slash, are passed over."""
        description = settings["description"]
        system = make_system(description["system"], **description["options"], single_root=description["single_root"])
        actions = Actions.load(system, settings)
        own = {name: values for name, values in arrays.items() if "/" not in name}
        model = learner_class(description["learner"], "Model").load(actions, own, settings["model"])
        scheme = settings["pseudo_projective"]
        stacked = None
        if "stacked" in settings:
            others = {name[len(STACKED) :]: values for name, values in arrays.items() if name.startswith(STACKED)}
            stacked = cls.from_contents(others, settings["stacked"])
        return cls(model, description, None if scheme is None else Scheme(*scheme), stacked)


def load(path: str | Path) -> Parser:
    """Read a parser from its model file."""
    return Parser.load(path)


def stacked_tree(tree: Tree, actions: Actions) -> StackedTree:
    """Return a tree of a stacked parser in the label numbers of the actions; -1 for labels that they do not have."""
    return StackedTree(tree.heads, actions.label_numbers(tree))


def stacked_trees(stacked: Parser, sentences: Sequence[Sentence], actions: Actions) -> list[StackedTree]:
    """Return what a stacked parser makes of sentences, searching as it did when it was trained."""
    parsed = stacked.parse_all(sentences, beam=stacked.description["beam"])
    return [stacked_tree(sentence.tree, actions) for sentence in parsed]


class Worker:
    """What one thread needs: a workspace of the model and a search."""

    def __init__(self, parser: Parser, choices: ParseOptions) -> None:
        self.choices = choices
        self._parser = parser
        self._actions = parser.model.actions
        self._workspace = parser.model.workspace()

    def parse(self, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
        """Return each sentence with its tree, or its best trees."""
        if not sentences:
            return []
        self._encode(sentences)
        return [list(self._parse(sentence, index)) for index, sentence in enumerate(sentences)]

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        self._workspace.encode([words_of(sentence) for sentence in sentences])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        raise NotImplementedError

    def _tree(self, heads: Sequence[int], numbers: Sequence[int]) -> Tree:
        """Make a tree of the heads and label numbers of words."""
        tree = self._actions.tree(heads, numbers)
        return tree if self._parser.scheme is None else deprojectivize(tree, self._parser.scheme)


class ArcWorker(Worker):
    """Decodes the scores of arcs."""

    def __init__(self, parser: Parser, choices: ParseOptions) -> None:
        Worker.__init__(self, parser, choices)
        self._name = choices.search or parser.description["search"]
        limits = {"max_words": choices.max_length or None, "max_bytes": choices.max_memory}
        self._decoder: Decoder = make_decoder(self._name, self._actions.system, **limits)
        self._sums = make_summing_decoder(self._name, self._actions.system)

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        other = self._parser.stacked
        trees = () if other is None else (stacked_trees(other, sentences, self._actions),)
        self._workspace.encode([words_of(sentence) for sentence in sentences], *trees)

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        arcs = self._workspace.score(index)
        n = len(sentence)
        scores = arcs.scores
        marginals = None
        if self.choices.confidence or self.choices.min_risk:
            marginals = self._sums.marginals(arcs.at_temperature(self._workspace.temperature))
        if marginals is not None and self.choices.min_risk:
            scores = score_table(n)
            for head in range(n + 1):
                for word in range(1, n + 1):
                    scores[head, word] = marginals[head, word]
        decoded = self._decoder.best(scores)
        heads = decoded.heads[1:]
        numbers = [arcs.labels[head, word] for word, head in enumerate(heads, 1)]
        parsed = sentence.with_tree(self._tree(heads, numbers))
        if marginals is not None and self.choices.confidence:
            found = [marginals[head, word] for word, head in enumerate(heads, 1)]
            parsed = parsed.with_misc("Confidence", [f"{probability:.4f}" for probability in found])
        if decoded.proof == "fallback":
            parsed = parsed.with_comments([f"# search = mst instead of {self._name}: {n} words are beyond the limit"])
        elif self.choices.show_search:
            parsed = parsed.with_comments([f"# search = {self._name}, proof: {decoded.proof}"])
        yield parsed


class MoveWorker(Worker):
    """Searches for the best moves; ``search`` counts its work once it has any."""

    def __init__(self, parser: Parser, choices: ParseOptions) -> None:
        Worker.__init__(self, parser, choices)
        self.search: Search | None = None
        self._beam: Beam | None = None
        self._tagging = Tagging(self._actions) if self._actions.tags else None
        self._candidates: list[array[int]] = []

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        if self._tagging is None:
            Worker._encode(self, sentences)
            return
        read = [self._tagging.read(sentence) for sentence in sentences]
        self._candidates = [candidates for _, candidates in read]
        self._workspace.encode([words for words, _ in read])

    def turn_to(self, sentence: Sentence) -> Search:
        """Return the search, set to this sentence, for those who take the moves themselves."""
        self._encode([sentence])
        return self._search_of(0)

    def _search_of(self, index: int) -> Search:
        """Return the search, set to one of the encoded sentences."""
        scorer = self._workspace.turn_to(index)
        if self.search is None or self.search.scorer is not scorer:
            self.search = Search(self._actions, scorer)
            learnt = self._parser.model.capabilities.learnt_beam
            width = self.choices.width if self.choices.beam else max(self.choices.width, learnt)
            self._beam = Beam(self.search, width, normalized=learnt == 1) if width > 1 else None
        return self.search

    def give_candidates(self, state: State, index: int = 0) -> None:
        """Tell a configuration of one of the encoded sentences which tags its words may be given."""
        if self._tagging is not None:
            state.take_candidates(self._candidates[index])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        search = self._search_of(index)
        state = State(len(sentence))
        self.give_candidates(state, index)
        if self._beam is None:
            search.greedy(state)
            yield self._parsed(sentence, state)
            return
        scores = self._beam.parse(state)
        choices = self.choices
        if choices.nbest == 1 and not choices.confidence:
            yield self._parsed(sentence, state)
            return
        trees = []
        tags = []
        for rank in range(len(scores)):
            self._beam.restore(state, rank)
            trees.append(self.tree_of(state))
            tags.append(state.word_tags())
        shares = [exp(score - scores[0]) for score in scores]
        # Several derivations may build the same tree; the best of them stands for it.
        different = [rank for rank, tree in enumerate(trees) if tree not in trees[:rank]]
        for place, rank in enumerate(different[: choices.nbest], 1):
            tree = trees[rank]
            parsed = self._tagged(sentence, tags[rank]).with_tree(tree)
            if choices.confidence:
                agreeing = [
                    sum(
                        share
                        for share, other in zip(shares, trees, strict=True)
                        if other.heads[word] == tree.heads[word]
                    )
                    for word in range(1, len(tree) + 1)
                ]
                parsed = parsed.with_misc("Confidence", [f"{value / sum(shares):.4f}" for value in agreeing])
            if choices.nbest > 1:
                parsed = parsed.with_comments([f"# nbest = {place}", f"# log_probability = {scores[rank]:.4f}"])
            yield parsed

    def _parsed(self, sentence: Sentence, state: State) -> Sentence:
        """Return the sentence with what the derivation gives it."""
        return self._tagged(sentence, state.word_tags()).with_tree(self.tree_of(state))

    def _tagged(self, sentence: Sentence, tags: Sequence[int]) -> Sentence:
        """Return the sentence with its tags, if the system gives any."""
        return sentence if self._tagging is None else self._tagging.written(sentence, tags)

    def tree_of(self, state: State) -> Tree:
        """Return the tree of a state in which the parse is over."""
        return self._tree(state.word_heads(), state.word_labels())


def in_chunks(sentences: Iterable[Words]) -> Iterator[list[Words]]:
    """Group sentences, whose length is their number of words, into what is encoded together."""
    chunk: list[Words] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += len(sentence)
        if words >= CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
