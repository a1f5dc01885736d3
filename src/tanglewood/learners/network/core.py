"""The compiled part of the network: one hidden layer over a configuration, forwards and backwards.

The encoder (ml/encoder.py) gives every node a row with its product with each slot of the configuration; a state sums
the rows of the nodes in its slots, label vectors of some nodes, a vector for the distance of the two nodes in question
and some flags. Then come ReLU, a score per move, and a score per label when a move is to carry one.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from tanglewood.core.actions import Actions
from tanglewood.core.addresses import Addresses
from tanglewood.core.kinds import LABELLED
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ConfigError
from tanglewood.ml.kernels import Kernels, kernels_for

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from math import exp as expf

    from tanglewood.ml.vectors_plain import (
        add_to_rows,
        few_outputs,
        few_outputs_back,
        many_outputs,
        many_outputs_back,
        part_of,
        rectified_sum,
    )

N_DISTANCES = 10  # of the pair that the system names: none, 1, 2, 3, 4, 5-6, 7-10, 11-20, more; negative (swapped)
N_FLAGS = 8
MOST_PARTS = 64  # rows that can make up a hidden layer: of slots, labels, flags, the distance and the bias


def label_sets(system: TransitionSystem) -> array[int]:
    """Number the moves that take a label; -1 for the others."""
    numbers = iter(range(system.n_moves))
    return array("i", [next(numbers) if move.labelled else -1 for move in system.moves])


def softmax(scores: array[float], size: int) -> None:
    """Turn scores into probabilities in place; those at -1e30 become 0."""
    top = scores[0]
    for i in range(1, size):
        top = max(top, scores[i])
    total = 0.0
    for i in range(size):
        scores[i] = expf(scores[i] - top) if scores[i] > -1e29 else 0.0
        total += scores[i]
    for i in range(size):
        scores[i] = scores[i] / total


class NetworkCore(MoveScorer):
    """Scores the states of one sentence at a time; ``offset`` is the row of its node 0."""

    def __init__(self, parameters: Mapping[str, Any], actions: Actions, kernels: Kernels | None = None) -> None:
        self.kernels = kernels or kernels_for()
        system = actions.system
        self.slots = Addresses(system.slots)
        self.label_slots = Addresses(system.label_slots)
        if self.slots.size + self.label_slots.size + N_FLAGS + 2 > MOST_PARTS:
            raise ConfigError(f"{system.name} names too many slots: at most {MOST_PARTS - N_FLAGS - 2} fit")
        self.far, self.near = (system.slots.index(address) for address in system.distance)
        self.hidden_size = len(parameters["hidden.bias"])
        self.n_labels = parameters["label.bias"].shape[1]
        self.bias, self.empty, self.label_table, self.distances, self.flags = self._tables(parameters)
        self.move_weights = parameters["move.weight"]
        self.move_bias = parameters["move.bias"]
        self.label_weights = parameters["label.weight"]
        self.label_bias = parameters["label.bias"]
        self.label_set = label_sets(system)
        self.hidden = array("f", bytes(4 * self.hidden_size))
        self.active = array("i", bytes(4 * N_FLAGS))
        self.slot_nodes = array("i", bytes(4 * self.slots.size))
        self.slot_labels = array("i", bytes(4 * self.label_slots.size))
        self.offset = 0
        self.n_flags = N_FLAGS
        self.n_parts = 0
        if not cython.compiled:
            self.parts: list[Any] = [None] * MOST_PARTS

    def _tables(self, arrays: Mapping[str, Any]) -> list[Any]:
        """Return the arrays whose rows are summed into the hidden layer, all with two dimensions."""
        names = ("bias", "empty", "labels", "distance", "flags")
        return [arrays[f"hidden.{name}"].reshape(-1, self.hidden_size) for name in names]

    def use(self, rows: Any, offset: int) -> None:  # noqa: ANN401 - a float array of two dimensions
        """Switch to a sentence: the rows of its nodes begin at ``offset``."""
        self.rows = rows
        self.offset = offset

    def _look(self, s: State) -> None:
        """Find out what fills the slots of this state."""
        for i in range(self.slots.size):
            self.slot_nodes[i] = self.slots._node(s, i)
        for i in range(self.label_slots.size):
            node = self.label_slots._node(s, i)
            # 0: no such node; 1: a node without a label; 2, 3, ...: labels
            self.slot_labels[i] = 0 if node < 0 else s.labels[node] + 2
        top = s._top()
        front = s._front()
        far = self.slot_nodes[self.far]
        near = self.slot_nodes[self.near]
        gap = near - far if near >= 0 and far >= 0 else 0
        if gap < 0:
            self.distance = 9
        elif gap <= 4:
            self.distance = gap
        elif gap <= 6:
            self.distance = 5
        elif gap <= 10:
            self.distance = 6
        else:
            self.distance = 7 if gap <= 20 else 8
        self.active[0] = 1 if front >= 0 and front < top else 0
        self.active[1] = 1 if s.n_buffer == 0 else 0
        self.active[2] = 1 if s.n_buffer == 1 else 0
        self.active[3] = 1 if s.depth <= 2 else 0
        self.active[4] = 1 if s.depth == 3 else 0
        self.active[5] = 1 if top >= 0 and s.heads[top] >= 0 else 0
        self.active[6] = s.phase & 1
        self.active[7] = 1 if s.phase == 2 else 0

    def _gather(self, rows: Any, bias: Any, empty: Any, labels: Any, distances: Any, flags: Any) -> None:  # noqa: ANN401
        """Find the parts that make up the hidden layer of the state looked at: in the weights or in their gradients."""
        size = self.hidden_size
        self.parts[0] = part_of(bias, 0, 0, size)
        n = 1
        for i in range(self.slots.size):
            if self.slot_nodes[i] >= 0:
                self.parts[n] = part_of(rows, self.offset + self.slot_nodes[i], i * size, size)
            else:
                self.parts[n] = part_of(empty, i, 0, size)
            n += 1
        for i in range(self.label_slots.size):
            self.parts[n] = part_of(labels, i * (self.n_labels + 2) + self.slot_labels[i], 0, size)
            n += 1
        self.parts[n] = part_of(distances, self.distance, 0, size)
        n += 1
        for i in range(self.n_flags):
            if self.active[i]:
                self.parts[n] = part_of(flags, i, 0, size)
                n += 1
        self.n_parts = n

    def _activate(self, s: State) -> None:
        """Fill the hidden layer: the sum of all parts; ReLU."""
        self._look(s)
        self._gather(self.rows, self.bias, self.empty, self.label_table, self.distances, self.flags)
        rectified_sum(self.kernels, self.hidden, self.parts, self.n_parts)

    def _score_moves(self, s: State, out: array[float]) -> None:
        self._activate(s)
        few_outputs(self.kernels, out, self.move_bias, self.move_weights, self.hidden)

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        many_outputs(self.kernels, out, self.label_bias, self.label_weights, self.label_set[move], self.hidden)


class NetworkTrainer(NetworkCore):
    """Follows an oracle, or now and then the model itself, and sums up gradients in the caller's arrays.

    ``explore`` is the probability of following a move drawn from the model instead of the oracle's; ``move_counts``
    says how often each move was the right one where there was a choice.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        gradients: Mapping[str, Any],
        actions: Actions,
        *,
        dropout: float,
        seed: int,
    ) -> None:
        NetworkCore.__init__(self, parameters, actions)
        self.d_bias, self.d_empty, self.d_label_table, self.d_distances, self.d_flags = self._tables(gradients)
        self.d_move_weights = gradients["move.weight"]
        self.d_move_bias = gradients["move.bias"]
        self.d_label_weights = gradients["label.weight"]
        self.d_label_bias = gradients["label.bias"]
        n_moves = actions.system.n_moves
        self.move_scores = array("f", bytes(4 * n_moves))
        self.move_errors = array("f", bytes(4 * n_moves))
        self.label_scores = array("f", bytes(4 * self.n_labels))
        self.label_errors = array("f", bytes(4 * self.n_labels))
        self.mask = array("f", bytes(4 * self.hidden_size))
        self.d_hidden = array("f", bytes(4 * self.hidden_size))
        self.costs = array("i", bytes(4 * n_moves))
        self.move_counts = array("i", bytes(4 * n_moves))
        self.keep = 1 - dropout
        self.explore = 0.0
        self.rng = (seed * 7919 + 104729) % 2147483646 + 1
        self.loss = 0.0
        self.n_states = 0

    def use_gradient(self, d_rows: Any) -> None:  # noqa: ANN401
        """Set the array that takes the gradient of the rows."""
        self.d_rows = d_rows

    def _random(self) -> float:
        """A number in [0, 1) by the minimal standard generator."""
        self.rng = self.rng * 48271 % 2147483647
        return self.rng / 2147483647.0

    def _drop(self) -> None:
        """Drop hidden units at random, and scale up the others to make up for them."""
        scale = 1 / self.keep
        for k in range(self.hidden_size):
            self.mask[k] = scale if self.keep >= 1 or self._random() < self.keep else 0
            self.hidden[k] = self.hidden[k] * self.mask[k]

    def _draw(self, probabilities: array[float], size: int, otherwise: int) -> int:
        """Draw a number by its probability; ``otherwise`` is for probabilities that are none, as after an overflow."""
        point = self._random()
        drawn = otherwise
        for i in range(size):
            if probabilities[i] > 0:
                drawn = i
                point -= probabilities[i]
                if point < 0:
                    break
        return drawn

    def _moves_back(self) -> None:
        """Propagate move_errors back to the moves' parameters and to the hidden layer."""
        few_outputs_back(
            self.kernels,
            self.move_errors,
            self.move_weights,
            self.hidden,
            self.d_hidden,
            self.d_move_weights,
            self.d_move_bias,
        )

    def _labels_back(self, label_set: int) -> None:
        """Propagate label_errors back, after `_moves_back`."""
        many_outputs_back(
            self.kernels,
            self.label_errors,
            self.label_weights,
            label_set,
            self.hidden,
            self.d_hidden,
            self.d_label_weights,
            self.d_label_bias,
        )

    def _hidden_back(self) -> None:
        """Propagate what has come back to the hidden layer on to everything that makes it up."""
        for k in range(self.hidden_size):
            self.d_hidden[k] = self.d_hidden[k] * self.mask[k] if self.hidden[k] > 0 else 0
        self._gather(self.d_rows, self.d_bias, self.d_empty, self.d_label_table, self.d_distances, self.d_flags)
        add_to_rows(self.kernels, self.parts, self.n_parts, self.d_hidden)

    def _learn(self, search: Search, oracle: Oracle, s: State) -> None:
        n_moves = search.system.n_moves
        while not search.system._is_final(s):
            oracle._costs(s, self.costs)
            self._activate(s)
            self._drop()
            few_outputs(self.kernels, self.move_scores, self.move_bias, self.move_weights, self.hidden)
            target = -1
            legal = 0
            for move in range(n_moves):
                if not search.system._is_legal(s, move, -1):
                    self.move_scores[move] = -1e30
                    continue
                legal += 1
                if self.costs[move] == 0 and (target < 0 or self.move_scores[move] > self.move_scores[target]):
                    target = move
            if target < 0:
                break  # the system does not cover the tree: no need to learn what it cannot derive
            label = oracle._label(s, target)
            if search.system.labelled[target] and not search.system._is_legal(s, target, label):
                break
            softmax(self.move_scores, n_moves)
            for move in range(n_moves):
                self.move_errors[move] = self.move_scores[move]
            self.move_errors[target] -= 1
            head = search.system._head(s, target, label)
            has_label = search.system.labelled[target] != 0 and label >= 0 and search.actions._settled_label(head) < 0
            has_label = has_label and search.actions._fits(s, target, label, head)
            if has_label:
                self._score_labels(s, target, self.label_scores)
                if search.system.labelled[target] == LABELLED:
                    for i in range(self.n_labels):
                        if not search.actions._may_label(head, i):
                            self.label_scores[i] = -1e30
                softmax(self.label_scores, self.n_labels)
                for i in range(self.n_labels):
                    self.label_errors[i] = self.label_scores[i]
                self.label_errors[label] -= 1
                self.loss += 1.0 - self.label_scores[label]
            self.loss += 1.0 - self.move_scores[target]
            self.n_states += 1
            if legal > 1:
                self.move_counts[target] += 1
            if legal > 1 or has_label:
                self._moves_back()
                if has_label:
                    self._labels_back(self.label_set[target])
                self._hidden_back()
            following = target
            if self.explore > 0 and legal > 1 and self._random() < self.explore:
                following = self._draw(self.move_scores, n_moves, target)
            if following != target:
                label = -1
                if search.system.labelled[following]:
                    label = search._best_label(s, following, True)
            search.system._take(s, following, label)

    def learn(self, search: Search, oracle: Oracle, s: State, offset: int) -> None:
        """Learn from one sentence; the oracle is bound to its gold tree."""
        self.offset = offset
        with cython.nogil:
            s._clear()
            search.system._start(s)
            self._learn(search, oracle, s)
