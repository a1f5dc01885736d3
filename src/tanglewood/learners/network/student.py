"""The student: a network that learns from other models what they say in the states that it gets into.

Teachers that are networks of the same system and labels are asked in every state. Their vectors of words in context are
computed once and kept, with 16 bits a number: 1.3 KB a word for five teachers. The products of these vectors with the
slots of the configuration would take forty times as much, so they are computed for each batch. Of all other teachers
only their trees count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.decoders.limits import MOST_ARC_WORDS
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError
from tanglewood.learners.base import Example, Model, StackedTree
from tanglewood.learners.network.arcs import ArcTarget
from tanglewood.learners.network.core import NetworkCore, NetworkTrainer
from tanglewood.learners.network.distil import ScoringTeacher, StudentTrainer, Teacher, VotingTeacher
from tanglewood.learners.network.learner import (
    KERNEL,
    NetworkLearner,
    NetworkModel,
    NetworkOptions,
    vocabulary_of,
)
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.encoder import OUTPUT, Floats
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.vocabulary import Vocabulary
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence

KEPT = np.float16  # the numbers of vectors and probabilities that are kept
TINY = np.float32(1e-9)


@dataclass(frozen=True, slots=True)
class StudentOptions(NetworkOptions):
    """How a student is trained: longer, with half the dropout, and mostly in states of its own."""

    epochs: int = 0  # 0: twice as many as the network has without teachers
    layers: int = 2
    explore: float = 0.7
    drop_input: float = 0.1
    drop_context: float = 0.15
    drop_hidden: float = 0.175

    def resolved(self, words: int) -> StudentOptions:
        """Return the options, with those left open chosen for this many words of training data."""
        usual = NetworkOptions.resolved(self, words)
        assert isinstance(usual, StudentOptions)
        return usual if self.epochs else replace(usual, epochs=2 * usual.epochs)


class Votes(NamedTuple):
    """The trees that a teacher gives to the examples, in their order, and an oracle of its own to follow them."""

    oracle: Oracle
    trees: Sequence[StackedTree]


def in_order_of(actions: Actions, model: NetworkModel) -> dict[str, Floats]:
    """Return the parameters that score states, with labels in the order that they have in these actions."""
    parameters = {name: model.parameters[name] for name in KERNEL}
    if model.actions.labels != actions.labels:
        order = [model.actions.labels.index(label) for label in actions.labels]
        rows = [0, 1, *(2 + number for number in order)]  # the first two stand for no node and for no label
        parameters["hidden.labels"] = parameters["hidden.labels"][:, rows]
        parameters["label.weight"] = parameters["label.weight"][:, :, order]
        parameters["label.bias"] = parameters["label.bias"][:, order]
    return {name: np.ascontiguousarray(value) for name, value in parameters.items()}


def arc_targets(
    examples: Sequence[Example],
    models: Sequence[NetworkModel],
    votes: Sequence[Sequence[StackedTree]],
    actions: Actions,
) -> list[ArcTarget | None]:
    """Return the mean of what teachers say about the arcs of examples, and about the labels of gold arcs.

    Where there is no gold tree the arcs are those of the tree that the teachers find best together. Teachers that score
    no arcs have no say; if nobody has, the gold trees are learnt, where there are any.
    """
    scoring = [model for model in models if model.capabilities.scores_arcs]
    decoder = SpanningTree(single_root=actions.system.single_root)
    n_teachers = len(scoring) + len(votes)
    targets: list[ArcTarget | None] = []
    workspaces = [model.workspace() for model in scoring]
    for chunk in in_chunks(list(enumerate(examples)), lambda one: len(one[1].words)):
        for workspace in workspaces:
            workspace.encode([example.words for _, example in chunk])
        for index, (place, example) in enumerate(chunk):
            n = len(example.words)
            if not n_teachers or n > MOST_ARC_WORDS:  # nothing is learnt about the arcs of longer sentences
                targets.append(ArcTarget(example.heads, example.labels) if example.heads else None)
                continue
            arcs = [workspace.score(index) for workspace in workspaces]
            chances = np.zeros((n + 1, n + 1), np.float32)
            for scored in arcs:
                said = np.empty_like(chances)
                decoder.marginals_into(scored.scores, said)
                chances += said
            for trees in votes:
                chances[trees[place].heads[1:], np.arange(1, n + 1)] += 1
            chances /= n_teachers
            heads = example.heads or decoder.best(np.log(chances + TINY)).heads
            labels = np.zeros((n, len(actions.labels)), np.float32)
            for model, scored in zip(scoring, arcs, strict=True):
                labels += scored.label_chances(heads[1:])[
                    :, [model.actions.labels.index(name) for name in actions.labels]
                ]
            for trees in votes:
                _vote_for_labels(labels, heads, trees[place])
            labels /= np.maximum(labels.sum(1, keepdims=True), TINY)
            targets.append(ArcTarget(list(heads), (), chances.astype(KEPT), labels.astype(KEPT)))
    return targets


def _vote_for_labels(labels: Floats, heads: Sequence[int], tree: StackedTree) -> None:
    """Add one to the label that a tree gives to each arc that it has."""
    for word, (head, other, label) in enumerate(zip(heads[1:], tree.heads[1:], tree.labels[1:], strict=True)):
        if head == other and label >= 0:
            labels[word, label] += 1


class _Network:
    """A teacher that can be asked: its scorer, and the vectors of all sentences."""

    def __init__(self, model: NetworkModel, actions: Actions) -> None:
        self.core = NetworkCore(in_order_of(actions, model), actions)
        self.model = model
        self._slots = model.parameters[OUTPUT]
        self._contexts: list[Any] = []
        self._rows = np.zeros((0, 0), np.float32)

    def encode(self, examples: Sequence[Example]) -> None:
        """Compute the vectors of all nodes."""
        contexts = Contexts(self.model.vocabulary, self.model.parameters, kernels_for())
        self._contexts = []
        for chunk in in_chunks(examples, lambda example: len(example.words)):
            found, offsets = contexts.of([example.words for example in chunk])
            kept = found.astype(KEPT)
            self._contexts += (kept[begin:end] for begin, end in pairwise(offsets))

    def begin(self, places: Sequence[int]) -> None:
        """Compute the products with the slots for a batch of sentences."""
        contexts = np.concatenate([self._contexts[place] for place in places])
        self._rows = contexts.astype(np.float32) @ self._slots

    def turn_to(self, offset: int) -> None:
        """Turn to the sentence of the batch that begins there."""
        self.core.use(self._rows, offset)


class StudentLearner(NetworkLearner):
    """Learns a network from models that can be asked in any state, and from the trees of others.

    Examples without heads are sentences without a gold tree.
    """

    def __init__(
        self,
        actions: Actions,
        vocabulary: Vocabulary,
        options: NetworkOptions,
        seed: int,
        teachers: Sequence[NetworkModel] = (),
        votes: Sequence[Votes] = (),
        knowledge: Knowledge | None = None,
    ) -> None:
        self._networks = [_Network(model, actions) for model in teachers]
        self._votes = votes
        self._taught: Sequence[Example] = ()
        self._places: Mapping[int, int] = {}
        self._targets: Sequence[ArcTarget | None] = ()
        chain: Teacher | None = None
        for network in self._networks:
            chain = ScoringTeacher(actions, network.core, chain)
        for vote in votes:
            chain = VotingTeacher(actions, vote.oracle, chain)
        if chain is None:
            raise ConfigError("there is no teacher to learn from; there should be one or more")
        self._teachers: Teacher = chain
        NetworkLearner.__init__(self, actions, vocabulary, options, seed, knowledge)

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: NetworkOptions,
        seed: int,
        *,
        stacked: bool = False,
        knowledge: Knowledge | None = None,
        teachers: Sequence[NetworkModel] = (),
        votes: Sequence[tuple[Oracle, Sequence[StackedTree]]] = (),
    ) -> StudentLearner:
        """Return a learner that has seen the words of the training data, and nothing else but what is known before."""
        vocabulary = vocabulary_of(sentences, knowledge)
        return cls(actions, vocabulary, options, seed, teachers, [Votes(*vote) for vote in votes], knowledge)

    @staticmethod
    def can_ask(model: Model, actions: Actions) -> bool:
        """Whether a model says something about every state: a network of the same system and labels, in any order."""
        own = model.actions
        return (
            isinstance(model, NetworkModel)
            and model.capabilities.scores_moves
            and own.system.name == actions.system.name
            and own.system.moves == actions.system.moves
            and own.tags == actions.tags
            and (own.labels == actions.labels or (not own.tags and sorted(own.labels) == sorted(actions.labels)))
        )

    def _new_trainer(self, seed: int) -> StudentTrainer:
        return StudentTrainer(
            self._parameters,
            self._gradients,
            self.actions,
            self._teachers,
            dropout=self.options.drop_hidden,
            seed=seed,
        )

    def _may_explore(self, oracle: Oracle) -> bool:
        return True

    def meet(self, examples: Sequence[Example]) -> None:
        """Ask the teachers about all examples, some of which each epoch goes through."""
        for network in self._networks:
            network.encode(examples)
        self._taught = examples  # kept, so that no other example can have the id of one of them
        self._places = {id(example): place for place, example in enumerate(examples)}
        if self._arcs is not None:
            trees = [vote.trees for vote in self._votes]
            self._targets = arc_targets(examples, [network.model for network in self._networks], trees, self.actions)

    def epoch(self, examples: Sequence[Example], oracle: Oracle) -> float:
        """Go through the examples once in random order; return the mean probability that the teachers miss."""
        if any(id(example) not in self._places for example in examples):
            self.meet(examples)
        if isinstance(self._moves, StudentTrainer):
            self._moves.explores = oracle.explores
        return NetworkLearner.epoch(self, examples, oracle)

    def _learn(self, examples: Sequence[Example], oracle: Oracle) -> None:
        places = [self._places[id(example)] for example in examples]
        for network in self._networks:
            network.begin(places)
        NetworkLearner._learn(self, examples, oracle)

    def _arc_target(self, example: Example) -> ArcTarget | None:
        return self._targets[self._places[id(example)]]

    def _follow(self, trainer: NetworkTrainer, example: Example, oracle: Oracle, offset: int) -> None:
        for network in self._networks:
            network.turn_to(offset)
        place = self._places[id(example)]
        for vote in self._votes:
            tree = vote.trees[place]
            vote.oracle.bind(tree.heads, tree.labels)
        has_tree = bool(example.heads)
        if has_tree:
            example.bind(oracle)
        assert isinstance(trainer, StudentTrainer)
        trainer.has_tree = has_tree
        trainer.learn(self._search, oracle, example.state(), offset)
