"""The compiled part of the triple learner: hidden layers over the views of moves, for a state and for whole sentences.

A view is three nodes (decoders/chart_moves.py): a low one and a high one on the stack and the front of the buffer. Each
view has a hidden layer of its own, the sum of a row for each of its nodes and of vectors for the two distances between
them; then come ReLU and a score for each of the view's moves. Nothing else of the configuration is seen, so that the
scores of all moves in all derivations are a table, which `TripleCore.fill` writes.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.decoders.chart_moves import VIEWS, view_of
from tanglewood.learners.network.core import label_sets
from tanglewood.ml.kernels import Kernels, kernels_for

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.learners.network.core import softmax
    from tanglewood.ml.vectors_plain import (
        add_to_rows,
        few_outputs,
        few_outputs_back,
        many_outputs,
        many_outputs_back,
        part_of,
        rectified_sum,
    )

NODES = 3  # of a view
N_GAPS = 9  # distances of two nodes: none, 1, 2, 3, 4, 5-6, 7-10, 11-20, more
GAPS = N_GAPS  # the same in C
PARTS = 6  # rows that make up a hidden layer: the bias, the nodes, the gaps


def moves_by_view(inventory: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers of the moves of each view; SHIFT, which is move 0, is in the first."""
    views: list[list[int]] = [[] for _ in range(VIEWS)]
    views[0].append(0)
    for number, (head, modifier) in enumerate(inventory, 1):
        views[view_of(head, modifier)].append(number)
    return views


def gap_between(low: int, high: int) -> int:
    """Return the number of the distance of two nodes; 0 if one of them is missing (-1)."""
    if low < 0 or high < 0:
        return 0
    gap = high - low
    if gap <= 4:
        return gap
    if gap <= 6:
        return 5
    if gap <= 10:
        return 6
    return 7 if gap <= 20 else 8


class View:
    """A hidden layer over three nodes, and the moves that it scores; ``gradients`` are for learning only.

    Rows of the weights of moves are in the order of views, so that those of a view lie together.
    """

    def __init__(
        self,
        number: int,
        moves: Sequence[int],
        first: int,
        parameters: Mapping[str, Any],
        kernels: Kernels,
        gradients: Mapping[str, Any] | None = None,
    ) -> None:
        size = parameters["hidden.bias"].shape[1]
        self.kernels = kernels
        self.size = size
        self.n_moves = len(moves)
        self.moves = array("i", moves or [0])
        self.column = NODES * number * size
        self.bias, self.empty, self.gaps, self.weights, self.move_bias = self._tables(parameters, number, first)
        self.learning = gradients is not None
        found = self._tables(gradients or parameters, number, first)
        self.d_bias, self.d_empty, self.d_gaps, self.d_weights, self.d_move_bias = found
        self.hidden = array("f", bytes(4 * size))
        self.d_hidden = array("f", bytes(4 * size))
        self.mask = array("f", [1.0] * size)
        self.out = array("f", bytes(4 * self.n_moves))
        self.errors = array("f", bytes(4 * self.n_moves))
        self.offset = self.low = self.high = self.front = 0
        if not cython.compiled:
            self.parts: list[Any] = [None] * PARTS

    def _tables(self, arrays: Mapping[str, Any], number: int, first: int) -> list[Any]:
        last = first + self.n_moves
        return [
            arrays["hidden.bias"][number : number + 1],
            arrays["hidden.empty"][NODES * number : NODES * (number + 1)],
            arrays["hidden.gaps"][number],
            arrays["move.weight"][first:last],
            arrays["move.bias"][first:last],
        ]

    def use(self, rows: Any, offset: int) -> None:  # noqa: ANN401 - a float array of two dimensions
        """Switch to a sentence: the rows of its nodes begin at ``offset``."""
        self.rows = rows
        self.offset = offset

    def use_gradient(self, d_rows: Any) -> None:  # noqa: ANN401
        """Set the array that takes the gradient of the rows."""
        self.d_rows = d_rows

    def _part(self, rows: Any, empty: Any, place: int, node: int) -> Any:  # noqa: ANN401
        """Return the row of a node in its place in the view."""
        if node < 0:
            return part_of(empty, place, 0, self.size)
        return part_of(rows, self.offset + node, self.column + place * self.size, self.size)

    def _gather(self, rows: Any, bias: Any, empty: Any, gaps: Any) -> None:  # noqa: ANN401
        """Find the parts that make up the hidden layer of the nodes looked at: in the weights or in their gradients."""
        self.parts[0] = part_of(bias, 0, 0, self.size)
        self.parts[1] = self._part(rows, empty, 0, self.low)
        self.parts[2] = self._part(rows, empty, 1, self.high)
        self.parts[3] = self._part(rows, empty, 2, self.front)
        self.parts[4] = part_of(gaps, gap_between(self.low, self.high), 0, self.size)
        self.parts[5] = part_of(gaps, GAPS + gap_between(self.high, self.front), 0, self.size)

    def _look(self, low: int, high: int, front: int) -> None:
        """Fill the hidden layer for three nodes; -1 stands for one that is not there."""
        self.low = low
        self.high = high
        self.front = front
        self._gather(self.rows, self.bias, self.empty, self.gaps)
        rectified_sum(self.kernels, self.hidden, self.parts, PARTS)
        if self.learning:
            for k in range(self.size):
                self.hidden[k] = self.hidden[k] * self.mask[k]

    def _score(self) -> None:
        """Score the view's moves by the hidden layer."""
        if self.n_moves > 0:
            few_outputs(self.kernels, self.out, self.move_bias, self.weights, self.hidden)

    def _forget(self) -> None:
        """Begin with no errors."""
        for i in range(self.n_moves):
            self.errors[i] = 0
        for k in range(self.size):
            self.d_hidden[k] = 0

    def _back(self) -> None:
        """Propagate the errors of moves, and what labels have left in d_hidden if nothing else, to all parameters."""
        if self.n_moves > 0:
            few_outputs_back(
                self.kernels,
                self.errors,
                self.weights,
                self.hidden,
                self.d_hidden,
                self.d_weights,
                self.d_move_bias,
            )

    def _hidden_back(self) -> None:
        """Propagate what has come back to the hidden layer on to everything that makes it up."""
        for k in range(self.size):
            self.d_hidden[k] = self.d_hidden[k] * self.mask[k] if self.hidden[k] > 0 else 0
        self._gather(self.d_rows, self.d_bias, self.d_empty, self.d_gaps)
        add_to_rows(self.kernels, self.parts, PARTS, self.d_hidden)


class TripleCore(MoveScorer):
    """Scores the states of one sentence at a time, or all views of it."""

    def __init__(
        self,
        parameters: Mapping[str, Any],
        actions: Actions,
        kernels: Kernels | None = None,
        gradients: Mapping[str, Any] | None = None,
    ) -> None:
        self.kernels = kernels or kernels_for()
        by_view = moves_by_view(actions.system.exact_moves().inventory)
        firsts = [sum(map(len, by_view[:number])) for number in range(VIEWS)]
        self.view0, self.view1, self.view2 = (
            View(number, moves, first, parameters, self.kernels, gradients)
            for number, (moves, first) in enumerate(zip(by_view, firsts, strict=True))
        )
        self.n_moves = actions.system.n_moves
        self.n_labels = parameters["label.bias"].shape[1]
        self.label_weights = parameters["label.weight"]
        self.label_bias = parameters["label.bias"]
        self.label_set = label_sets(actions.system)
        places = {move: (number, place) for number, moves in enumerate(by_view) for place, move in enumerate(moves)}
        self.view_of_move = array("i", [places[move][0] for move in range(self.n_moves)])
        self.place_of_move = array("i", [places[move][1] for move in range(self.n_moves)])
        self.s0 = self.s1 = self.s2 = self.b0 = -1

    def use(self, rows: Any, offset: int) -> None:  # noqa: ANN401 - a float array of two dimensions
        """Switch to a sentence: the rows of its nodes begin at ``offset``."""
        for view in (self.view0, self.view1, self.view2):
            view.use(rows, offset)

    def _see(self, s: State) -> None:
        """Find the nodes of the views of a state."""
        self.s0 = s.stack[s.depth - 1] if s.depth > 0 else -1
        self.s1 = s.stack[s.depth - 2] if s.depth > 1 else -1
        self.s2 = s.stack[s.depth - 3] if s.depth > 2 else -1
        self.b0 = s._front()

    def _look(self) -> None:
        """Score the moves of all views of the state seen; where there is no s2, those of the first only."""
        self.view0._look(self.s1, self.s0, self.b0)
        self.view0._score()
        if self.s2 >= 0:
            self.view1._look(self.s2, self.s0, self.b0)
            self.view1._score()
            self.view2._look(self.s2, self.s1, self.b0)
            self.view2._score()

    def _move_score(self, move: int) -> float:
        """Score of a move in the state looked at."""
        if self.view_of_move[move] == 0:
            return self.view0.out[self.place_of_move[move]]
        if self.s2 < 0:
            return -1e30  # not legal
        if self.view_of_move[move] == 1:
            return self.view1.out[self.place_of_move[move]]
        return self.view2.out[self.place_of_move[move]]

    def _score_moves(self, s: State, out: array[float]) -> None:
        self._see(s)
        self._look()
        for move in range(self.n_moves):
            out[move] = self._move_score(move)

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        which = self.label_set[move]
        if self.view_of_move[move] == 0:
            many_outputs(self.kernels, out, self.label_bias, self.label_weights, which, self.view0.hidden)
        elif self.view_of_move[move] == 1:
            many_outputs(self.kernels, out, self.label_bias, self.label_weights, which, self.view1.hidden)
        else:
            many_outputs(self.kernels, out, self.label_bias, self.label_weights, which, self.view2.hidden)

    def _fill(self, out: Any, n: int) -> None:  # noqa: ANN401 - a float array of three dimensions
        for j in range(1, n + 2):
            front = j if j <= n else -1
            for high in range(1, j):
                row = j * (j - 1) // 2 + high
                for low in range(high):
                    self.view0._look(low, high, front)
                    self.view0._score()
                    for i in range(self.view0.n_moves):
                        out[self.view0.moves[i], row, low] = self.view0.out[i]
                    if low < high - 1:  # there is room for s1
                        self.view1._look(low, high, front)
                        self.view1._score()
                        for i in range(self.view1.n_moves):
                            out[self.view1.moves[i], row, low] = self.view1.out[i]
                    if high < j - 1:  # there is room for s0
                        self.view2._look(low, high, front)
                        self.view2._score()
                        for i in range(self.view2.n_moves):
                            out[self.view2.moves[i], row, low] = self.view2.out[i]

    def fill(self, out: Any) -> None:  # noqa: ANN401
        """Write the scores of all moves in all views of the sentence, as `ExactMoves` takes them; the rest stays."""
        n = out.shape[2] - 1
        with cython.nogil:
            self._fill(out, n)


class TripleTrainer(TripleCore):
    """Sums up gradients in the caller's arrays: of single states, or of a whole derivation against another one."""

    def __init__(
        self,
        parameters: Mapping[str, Any],
        gradients: Mapping[str, Any],
        actions: Actions,
        *,
        dropout: float,
        seed: int,
    ) -> None:
        TripleCore.__init__(self, parameters, actions, gradients=gradients)
        self.d_label_weights = gradients["label.weight"]
        self.d_label_bias = gradients["label.bias"]
        self.move_scores = array("f", bytes(4 * self.n_moves))
        self.label_scores = array("f", bytes(4 * self.n_labels))
        self.move_counts = array("i", bytes(4 * self.n_moves))
        self.keep = 1 - dropout
        self.explore = 0.0
        self.rng = (seed * 7919 + 104729) % 2147483646 + 1
        self.loss = 0.0
        self.n_states = 0

    def use_gradient(self, d_rows: Any) -> None:  # noqa: ANN401
        """Set the array that takes the gradient of the rows."""
        for view in (self.view0, self.view1, self.view2):
            view.use_gradient(d_rows)

    def _random(self) -> float:
        """A number in [0, 1) by the minimal standard generator."""
        self.rng = self.rng * 48271 % 2147483647
        return self.rng / 2147483647.0

    def _drop(self) -> None:
        """Choose at random which hidden units are dropped; the others are scaled up to make up for them."""
        scale = 1 / self.keep
        for k in range(self.view0.size):
            self.view0.mask[k] = scale if self.keep >= 1 or self._random() < self.keep else 0
            self.view1.mask[k] = scale if self.keep >= 1 or self._random() < self.keep else 0
            self.view2.mask[k] = scale if self.keep >= 1 or self._random() < self.keep else 0

    def turn_to(self, offset: int) -> None:
        """Go to the sentence whose rows begin there, and choose which hidden units are dropped in all of it."""
        self.view0.offset = self.view1.offset = self.view2.offset = offset
        self._drop()

    def _forget(self) -> None:
        self.view0._forget()
        self.view1._forget()
        self.view2._forget()

    def _blame(self, move: int, error: float) -> None:
        """Note the error of a move's score in the state looked at."""
        if self.view_of_move[move] == 0:
            self.view0.errors[self.place_of_move[move]] += error
        elif self.view_of_move[move] == 1:
            self.view1.errors[self.place_of_move[move]] += error
        else:
            self.view2.errors[self.place_of_move[move]] += error

    def _labels_back(self, view: View, which: int) -> None:
        many_outputs_back(
            self.kernels,
            self.label_scores,
            self.label_weights,
            which,
            view.hidden,
            view.d_hidden,
            self.d_label_weights,
            self.d_label_bias,
        )

    def _back(self, labelled_move: int) -> None:
        """Propagate all errors of the state looked at; label_scores are those of the labels of a move, if not -1."""
        which = self.label_set[labelled_move] if labelled_move >= 0 else -1
        of_view = self.view_of_move[labelled_move] if labelled_move >= 0 else -1
        self.view0._back()
        if of_view == 0:
            self._labels_back(self.view0, which)
        self.view0._hidden_back()
        if self.s2 >= 0:
            self.view1._back()
            if of_view == 1:
                self._labels_back(self.view1, which)
            self.view1._hidden_back()
            self.view2._back()
            if of_view == 2:
                self._labels_back(self.view2, which)
            self.view2._hidden_back()

    def _learn_label(self, search: Search, s: State, move: int, label: int) -> bool:
        """Turn label_scores into the errors of the labels of the right move; return whether there is anything to learn.

        Labels are learnt by themselves: the search does not know them.
        """
        if search.system.labelled[move] == 0 or label < 0:
            return False
        head = search.system._head(s, move, label)
        if search.actions._settled_label(head) >= 0 or not search.actions._fits(s, move, label, head):
            return False
        self._score_labels(s, move, self.label_scores)
        for i in range(self.n_labels):
            if not search.actions._may_label(head, i):
                self.label_scores[i] = -1e30
        softmax(self.label_scores, self.n_labels)
        self.loss += 1.0 - self.label_scores[label]
        self.label_scores[label] -= 1
        return True

    def _learn(self, search: Search, oracle: Oracle, s: State) -> None:
        while not search.system._is_final(s):
            target = oracle._move(s)
            if target < 0:
                break  # the system does not cover the tree
            legal = 0
            self._drop()
            self._score_moves(s, self.move_scores)
            for move in range(self.n_moves):
                if search.system._is_legal(s, move, -1):
                    legal += 1
                else:
                    self.move_scores[move] = -1e30
            if self.move_scores[target] < -1e29:
                break
            label = oracle._label(s, target)
            softmax(self.move_scores, self.n_moves)
            self._forget()
            if legal > 1:
                self.loss += 1.0 - self.move_scores[target]
                for move in range(self.n_moves):
                    if self.move_scores[move] > 0:
                        self._blame(move, self.move_scores[move])
                self._blame(target, -1)
            self.n_states += 1
            has_label = self._learn_label(search, s, target, label)
            if legal > 1 or has_label:
                self._back(target if has_label else -1)
            search.system._take(s, target, label)

    def learn(self, search: Search, oracle: Oracle, s: State, offset: int) -> None:
        """Learn the right move of every state of the oracle's derivation by itself, by its probability."""
        self.view0.offset = self.view1.offset = self.view2.offset = offset
        with cython.nogil:
            s._clear()
            search.system._start(s)
            self._learn(search, oracle, s)

    def _follow(
        self, search: Search, oracle: Oracle, s: State, moves: array[int], n: int, error: float, right: bool
    ) -> None:
        for i in range(n):
            legal = 0
            for move in range(self.n_moves):
                legal += search.system._is_legal(s, move, -1)
            label = -1
            has_label = False
            self._see(s)
            self._look()
            self._forget()
            if legal > 1:
                self._blame(moves[i], error)
            if right:
                label = oracle._label(s, moves[i])
                has_label = self._learn_label(search, s, moves[i], label)
                self.n_states += 1
            if (legal > 1 and error != 0) or has_label:
                self._back(moves[i] if has_label else -1)
            search.system._take(s, moves[i], label)

    def follow(self, search: Search, oracle: Oracle, s: State, moves: array[int], error: float, right: bool) -> None:
        """Give every choice of a derivation the same error; of the right one, learn the labels, too.

        The state leaves the derivation as it is at its end.
        """
        n = len(moves)
        with cython.nogil:
            s._clear()
            search.system._start(s)
            self._follow(search, oracle, s, moves, n, error, right)
