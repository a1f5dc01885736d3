"""The parser: a system, labels, learnt weights and a search, trained once and used on any number of sentences."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from math import exp
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tanglewood import __version__
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError, ModelError, TanglewoodError
from tanglewood.scorers import learner_class
from tanglewood.scorers.base import Model, Task
from tanglewood.scorers.words import words_of
from tanglewood.store import load_model, save_model
from tanglewood.systems import make_system
from tanglewood.transforms.pseudo_projective import Scheme, deprojectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

CHUNK_WORDS = 2500  # words that are encoded together


class Parser:
    """Gives sentences their trees; one instance serves all threads.

    ``description`` says what the parser was made from: system, options, learner, data, scores.
    """

    def __init__(self, model: Model, description: Mapping[str, Any], scheme: Scheme | None = None) -> None:
        self.model = model
        self.description = description
        self.scheme = scheme

    def parse(self, sentence: Sentence, *, beam: int = 1) -> Tree:
        """Return the tree of one sentence."""
        (parsed,) = self.parse_all([sentence], beam=beam)
        return parsed.tree()

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        *,
        beam: int = 1,
        threads: int = 1,
        nbest: int = 1,
        confidence: bool = False,
    ) -> Iterator[Sentence]:
        """Give the sentences with their trees, in order; memory stays flat however many there are.

        With ``nbest`` each sentence comes up to so many times, the best tree first, with comments ``# nbest`` and
        ``# log_probability``. With ``confidence`` MISC gets ``Confidence=``: the share of the beam's probability in
        which the word has this head.
        """
        if threads < 1:
            raise ConfigError(f"the number of threads must be 1 or more, not {threads}")
        workers = [self.worker(beam=beam, nbest=nbest, confidence=confidence) for _ in range(threads)]
        chunks = _chunks(sentences)
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

    def worker(self, *, beam: int = 1, nbest: int = 1, confidence: bool = False) -> Worker:
        """Return what one thread needs to parse with these choices, explained at `parse_all`."""
        if min(beam, nbest) < 1:
            raise ConfigError(f"beam and nbest must be 1 or more, not {beam} and {nbest}")
        if nbest > beam or (confidence and beam < 2):
            raise ConfigError(f"nbest and confidence come from the beam: {beam} is too narrow; use a wider one")
        return Worker(self, beam, nbest, confidence)

    def save(self, path: str | Path) -> None:
        """Write the parser to one file; the same parser gives the same bytes."""
        task = self.model.task
        scheme = None if self.scheme is None else [self.scheme.name, self.scheme.separator, self.scheme.mark]
        settings = {
            "tanglewood": __version__,
            "labels": list(task.labels),
            "root_label": task.root_label,
            "pseudo_projective": scheme,
            "description": dict(self.description),
            "model": self.model.settings(),
        }
        save_model(path, self.model.arrays(), settings)

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """Read a parser; nothing in the file is executed."""
        arrays, settings = load_model(path)
        try:
            description = settings["description"]
            system = make_system(
                description["system"], **description["options"], single_root=description["single_root"]
            )
            task = Task(system, settings["labels"], settings["root_label"])
            model = learner_class(description["learner"], "Model").load(task, arrays, settings["model"])
            scheme = settings["pseudo_projective"]
            return cls(model, description, None if scheme is None else Scheme(*scheme))
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, TanglewoodError) as error:
            raise ModelError(f"{path}: the model cannot be used by this tanglewood {__version__}: {error!r}") from None


def load(path: str | Path) -> Parser:
    """Read a parser from its model file."""
    return Parser.load(path)


class Worker:
    """What one thread needs: a workspace of the model and a search, which counts its work once it has any."""

    def __init__(self, parser: Parser, beam: int, nbest: int, confidence: bool) -> None:
        self._parser = parser
        self._task = parser.model.task
        self._workspace = parser.model.workspace()
        self._width = beam
        self._nbest = nbest
        self._confidence = confidence
        names, root = self._task.labels, self._task.root_label
        self._names = [*names, "dep"]  # the last is for -1: no label
        self._root_name = names[root] if root >= 0 else "root"
        self.search: Search | None = None
        self._beam: Beam | None = None

    def parse(self, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
        """Return each sentence with its tree, or its best trees."""
        if not sentences:
            return []
        self._workspace.encode([words_of(sentence) for sentence in sentences])
        return [list(self._parse(sentence, index)) for index, sentence in enumerate(sentences)]

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        task = self._task
        scorer = self._workspace.turn_to(index)
        if self.search is None or self.search.scorer is not scorer:
            self.search = Search(task.system, scorer, len(task.labels), task.root_label)
            self._beam = Beam(self.search, self._width) if self._width > 1 else None
        state = State(len(sentence))
        if self._beam is None:
            self.search.greedy(state)
            yield sentence.with_tree(self._tree(state))
            return
        scores = self._beam.parse(state)
        if self._nbest == 1 and not self._confidence:
            yield sentence.with_tree(self._tree(state))
            return
        trees = []
        for rank in range(len(scores)):
            self._beam.restore(state, rank)
            trees.append(self._tree(state))
        shares = [exp(score - scores[0]) for score in scores]
        # Several derivations may build the same tree; the best of them stands for it.
        different = [rank for rank, tree in enumerate(trees) if tree not in trees[:rank]]
        for place, rank in enumerate(different[: self._nbest], 1):
            tree = trees[rank]
            parsed = sentence.with_tree(tree)
            if self._confidence:
                agreeing = [
                    sum(
                        share
                        for share, other in zip(shares, trees, strict=True)
                        if other.heads[word] == tree.heads[word]
                    )
                    for word in range(1, len(tree) + 1)
                ]
                parsed = parsed.with_misc("Confidence", [f"{value / sum(shares):.4f}" for value in agreeing])
            if self._nbest > 1:
                parsed = parsed.with_comments([f"# nbest = {place}", f"# log_probability = {scores[rank]:.4f}"])
            yield parsed

    def _tree(self, state: State) -> Tree:
        heads, numbers = state.word_heads(), state.word_labels()
        labels = [self._names[number] for number in numbers]
        if -1 in numbers:  # a word that a final step hung somewhere has no label of its own
            labels = [
                self._root_name if number < 0 and head == 0 else label
                for number, head, label in zip(numbers, heads, labels, strict=True)
            ]
        tree = Tree(heads, labels)
        return tree if self._parser.scheme is None else deprojectivize(tree, self._parser.scheme)


def _chunks(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    chunk: list[Sentence] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += len(sentence)
        if words >= CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
