"""The triple learner: a network whose moves see three nodes each, so that a chart finds the best of all derivations.

Shi & Lee (2018) wanted features of s1, s0 and b0 for exact search. Here every move has a view of three nodes
(decoders/chart_moves.py) and a score that nothing else in the configuration changes. First each move is learnt by
itself, by its probability; then whole derivations, by a margin: the oracle's derivation should be better than the best
one that the chart finds, by as much as the latter has wrong heads. Labels are learnt by themselves all the time, and do
not count in any search.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.system import TransitionSystem
from tanglewood.decoders.chart_moves import VIEWS
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.base import Capabilities, Example
from tanglewood.learners.network.learner import (
    EMBEDDED,
    EXTRA,
    NetworkLearner,
    NetworkModel,
    NetworkOptions,
    NetworkWorkspace,
    Sizes,
)
from tanglewood.learners.network.triples import N_GAPS, NODES, TripleCore, TripleTrainer
from tanglewood.ml.encoder import OUTPUT, Floats, Rng, glorot, new_encoder, normal
from tanglewood.ml.kernels import Kernels
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.vocabulary import Vocabulary

KERNEL = (  # parameters whose gradients TripleTrainer sums
    *("hidden.bias", "hidden.empty", "hidden.gaps"),
    *("move.weight", "move.bias", "label.weight", "label.bias"),
)


def new_triple_parameters(sizes: Sizes, vocabulary: Vocabulary, actions: Actions, rng: Rng) -> dict[str, Floats]:
    """Return fresh parameters of the encoder and of the views."""
    parameters = new_encoder(EMBEDDED | EXTRA, vocabulary, (sizes.word, sizes.lstm, sizes.layers), rng)
    n_slots, system, hidden = VIEWS * NODES, actions.system, sizes.hidden
    parameters[OUTPUT] = normal(rng, np.sqrt(2 / (NODES * sizes.word)), sizes.word, n_slots * hidden)
    parameters["hidden.bias"] = np.zeros((VIEWS, hidden), np.float32)
    parameters["hidden.empty"] = normal(rng, 0.05, n_slots, hidden)
    parameters["hidden.gaps"] = normal(rng, 0.05, VIEWS, 2 * N_GAPS, hidden)
    n_sets = sum(move.labelled for move in system.moves)
    parameters["move.weight"] = glorot(rng, system.n_moves, hidden)
    parameters["move.bias"] = np.zeros(system.n_moves, np.float32)
    parameters["label.weight"] = glorot(rng, n_sets, hidden, actions.n_labels)
    parameters["label.bias"] = np.zeros((n_sets, actions.n_labels), np.float32)
    return parameters


@dataclass(frozen=True, slots=True)
class TripleOptions(NetworkOptions):
    """How the triple learner is trained; arcs have no scores of their own."""

    explore: float = 0.0
    favour_rare: float = 0.0
    arcs: bool = False
    margin: float = 0.5  # share of the epochs, the last ones, in which whole derivations are learnt
    cost: float = 1.0  # by how much a derivation should be better than another, for each wrong head of that one
    chart_words: int = 60  # longer sentences are learnt move by move throughout

    def __post_init__(self) -> None:
        NetworkOptions.__post_init__(self)
        if self.arcs or not self.moves:
            raise ConfigError("the triple learner scores moves and no arcs: arcs=false and moves=true")
        if not 0 <= self.margin <= 1 or self.cost < 0 or self.chart_words < 0:
            raise ConfigError("margin should be between 0 and 1, cost and chart_words 0 or more")
        if self.explore or self.favour_rare:
            raise ConfigError("the triple learner follows the oracle alone: explore=0 and favour_rare=0")


class TripleWorkspace(NetworkWorkspace):
    """The rows of some sentences, a scorer of their states, and tables of all their moves."""

    def __init__(self, model: TripleModel, *, reproducible: bool = False) -> None:
        NetworkWorkspace.__init__(self, model, reproducible=reproducible)
        self._decoder = model.actions.system.exact_moves()

    def tables(self, index: int) -> Floats:
        """Return the scores of all moves of one of the encoded sentences, as `ExactMoves` takes them."""
        begin, end = self._offsets[index : index + 2]
        table = np.zeros(self._decoder.shape(end - begin - 1), np.float32)
        self.turn_to(index)
        self._core.fill(table)
        if not np.isfinite(table).all():
            raise ModelError("the model's weights are too large: they give moves scores without bounds")
        return table


class TripleModel(NetworkModel):
    """Learnt parameters of the views, and the vocabulary they belong to."""

    new_parameters = staticmethod(new_triple_parameters)

    def core(self, kernels: Kernels) -> TripleCore:
        """Return a scorer of moves."""
        return TripleCore(self.parameters, self.actions, kernels)

    @property
    def capabilities(self) -> Capabilities:
        """The model scores moves by three nodes."""
        return Capabilities(scores_moves=True, exact_moves=True)

    def workspace(self, *, reproducible: bool = False) -> TripleWorkspace:
        """Return a workspace for one thread."""
        return TripleWorkspace(self, reproducible=reproducible)


class TripleLearner(NetworkLearner):
    """Learns the scores of moves one by one at first, then those of whole derivations through the chart."""

    model_class = TripleModel
    kernel = KERNEL
    options: TripleOptions

    def __init__(
        self,
        actions: Actions,
        vocabulary: Vocabulary,
        options: TripleOptions,
        seed: int,
        knowledge: Knowledge | None = None,
    ) -> None:
        self._decoder = actions.system.exact_moves()
        NetworkLearner.__init__(self, actions, vocabulary, options, seed, knowledge)

    def _new_trainer(self, seed: int) -> Any:  # noqa: ANN401 - it does what a NetworkTrainer does
        return TripleTrainer(
            self._parameters, self._gradients, self.actions, dropout=self.options.drop_hidden, seed=seed
        )

    def _may_explore(self, oracle: Oracle) -> bool:
        return False

    @property
    def _learns_derivations(self) -> bool:
        """Whether this epoch is one of those with a margin."""
        return self._epochs >= round((1 - self.options.margin) * self.options.epochs)

    def _follow(self, trainer: Any, example: Example, oracle: Oracle, offset: int) -> None:  # noqa: ANN401
        """Learn from a derivation of one of the sentences that are encoded."""
        if not self._learns_derivations or len(example.words) > self.options.chart_words:
            NetworkLearner._follow(self, trainer, example, oracle, offset)
            return
        example.bind(oracle)
        state = example.state()
        right = right_moves(self.actions.system, oracle, len(example.words))
        if right is None:
            return
        trainer.turn_to(offset)
        table = np.zeros(self._decoder.shape(len(example.words)), np.float32)
        trainer.fill(table)
        if not np.isfinite(table).all():
            return
        found = self._decoder.best(table, example.heads, self.options.cost)
        error = float(found.moves != right)
        trainer.follow(self._search, oracle, state, right, -error, True)
        if error:
            trainer.follow(self._search, oracle, state, found.moves, error, False)
        trainer.loss += sum(head != gold for head, gold in zip(found.heads, example.heads, strict=True))


def right_moves(system: TransitionSystem, oracle: Oracle, n: int) -> array[int] | None:
    """Return the moves of the oracle's derivation of the tree that it is bound to; None if there is none."""
    s = system.start(n)
    if not oracle.reaches_gold(s.copy()):
        return None
    moves = array("i")
    while not system.is_final(s):
        move, label = oracle.action(s)
        system.apply(s, move, label)
        moves.append(move)
    return moves
