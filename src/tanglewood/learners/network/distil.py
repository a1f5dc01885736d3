"""The compiled part of distillation: what several teachers say about a state, and a student who learns just that.

In every state that the student gets into, the teachers' probabilities of moves are averaged (q), and so are their
probabilities of labels, each teacher counting as much as it wants the move. The student's loss is the cross-entropy of
q and its own probabilities; the gold tree only says, now and then, where to go next.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.learners.network.core import NetworkTrainer

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.learners.network.core import softmax
    from tanglewood.ml.vectors_plain import few_outputs

LEAST = 0.02  # labels of moves that are less likely than this are not learnt


class Teacher:
    """Says how likely the moves of a state are, and the labels of a move; ``rest`` are the teachers after this one.

    They form a chain because compiled code cannot go through a list of objects without the interpreter.
    """

    def __init__(self, actions: Actions, rest: Teacher | None = None) -> None:
        self.actions = actions
        self.rest: Any = rest
        self.has_rest = rest is not None
        self.n_moves = actions.system.n_moves
        self.n_labels = actions.n_labels
        self.moves = array("f", bytes(4 * self.n_moves))  # probabilities in the state that it was asked about last
        self.labels = array("f", bytes(4 * max(self.n_labels, 1)))

    def _weigh_moves(self, s: State, legal: array[int]) -> bool:
        """Fill in the probabilities of moves, 0 for illegal ones; return whether there is anything to say."""
        return False

    def _weigh_labels(self, s: State, move: int, head: int) -> bool:
        """Fill in the probabilities of a move's labels in the same state; return whether there is anything to say."""
        return False

    def _add_moves(self, s: State, legal: array[int], out: array[float]) -> int:
        """Add up the probabilities of all teachers; return how many of them have said something."""
        heard = 0
        if self._weigh_moves(s, legal):
            heard = 1
            for move in range(self.n_moves):
                out[move] += self.moves[move]
        else:
            for move in range(self.n_moves):
                self.moves[move] = 0
        if self.has_rest:
            heard += self.rest._add_moves(s, legal, out)
        return heard

    def _add_labels(self, s: State, move: int, head: int, out: array[float]) -> float:
        """Add up the probabilities of labels, each teacher weighted by that of the move; return the sum of weights."""
        weights = 0.0
        if self.moves[move] > 0 and self._weigh_labels(s, move, head):
            weights = self.moves[move]
            for label in range(self.n_labels):
                out[label] += self.moves[move] * self.labels[label]
        if self.has_rest:
            weights += self.rest._add_labels(s, move, head, out)
        return weights


class ScoringTeacher(Teacher):
    """A model of the student's own system and labels; the caller sets its scorer to the sentence."""

    def __init__(self, actions: Actions, scorer: MoveScorer, rest: Teacher | None = None) -> None:
        Teacher.__init__(self, actions, rest)
        self.scorer = scorer

    def _weigh_moves(self, s: State, legal: array[int]) -> bool:
        self.scorer._score_moves(s, self.moves)
        for move in range(self.n_moves):
            if not legal[move]:
                self.moves[move] = -1e30
        softmax(self.moves, self.n_moves)
        return True

    def _weigh_labels(self, s: State, move: int, head: int) -> bool:
        self.scorer._score_labels(s, move, self.labels)
        if self.actions._rule_out(s, move, head, self.labels) == 0:
            return False
        softmax(self.labels, self.n_labels)
        return True


class VotingTeacher(Teacher):
    """A parser of any kind, of which only its tree counts: moves that lead to that share its vote.

    The caller binds the oracle to the tree; it must be one that may be asked in any state.
    """

    def __init__(self, actions: Actions, oracle: Oracle, rest: Teacher | None = None) -> None:
        Teacher.__init__(self, actions, rest)
        self.oracle = oracle
        self.costs = array("i", bytes(4 * self.n_moves))

    def _weigh_moves(self, s: State, legal: array[int]) -> bool:
        self.oracle._costs(s, self.costs)
        free = 0
        for move in range(self.n_moves):
            self.moves[move] = 0
            if legal[move] and self.costs[move] == 0:
                self.moves[move] = 1
                free += 1
        for move in range(self.n_moves):
            self.moves[move] = self.moves[move] / max(free, 1)
        return free > 0

    def _weigh_labels(self, s: State, move: int, head: int) -> bool:
        label = self.oracle._label(s, move)
        if label < 0 or not self.actions._fits(s, move, label, head):
            return False
        for i in range(self.n_labels):
            self.labels[i] = 0
        self.labels[label] = 1
        return True


class StudentTrainer(NetworkTrainer):
    """Learns what teachers say about the states that it gets into, and sums up gradients in the caller's arrays.

    ``explore`` is the probability that the next state is reached by a move drawn from the student, with the student's
    own label. Otherwise it is reached by the oracle's move or, where there is no such move, by one drawn from the
    teachers, with their best label. There is none if the sentence has no tree (``has_tree``), nor outside the oracle's
    own derivation if it may not be asked there (``explores``).
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        gradients: Mapping[str, Any],
        actions: Actions,
        teachers: Teacher,
        *,
        dropout: float,
        seed: int,
    ) -> None:
        NetworkTrainer.__init__(self, parameters, gradients, actions, dropout=dropout, seed=seed)
        self.teachers = teachers
        self.has_tree = True
        self.explores = False
        n_moves = actions.system.n_moves
        self.legal = array("i", bytes(4 * n_moves))
        self.goal = array("f", bytes(4 * n_moves))  # q: what the teachers say together
        self.label_goal = array("f", bytes(4 * max(self.n_labels, 1)))

    def _rule_out_moves(self, search: Search, s: State) -> int:
        """Note which moves are legal, and leave the others without a chance; return how many there are."""
        count = 0
        for move in range(search.system.n_moves):
            self.legal[move] = search.system._is_legal(s, move, -1)
            count += self.legal[move]
            if not self.legal[move]:
                self.move_scores[move] = -1e30
        return count

    def _oracle_move(self, search: Search, oracle: Oracle, s: State) -> int:
        """Return the likeliest of the moves that cost nothing, or -1."""
        oracle._costs(s, self.costs)
        target = -1
        for move in range(search.system.n_moves):
            if (
                self.legal[move]
                and self.costs[move] == 0
                and (target < 0 or self.move_scores[move] > self.move_scores[target])
            ):
                target = move
        if target < 0 or not search.system.labelled[target]:
            return target
        return target if search.system._is_legal(s, target, oracle._label(s, target)) else -1

    def _ask(self, search: Search, s: State) -> bool:
        """Ask the teachers about the moves of a state; return whether they have said something."""
        n_moves = search.system.n_moves
        for move in range(n_moves):
            self.goal[move] = 0
        heard = self.teachers._add_moves(s, self.legal, self.goal)
        for move in range(n_moves):
            self.goal[move] = self.goal[move] / max(heard, 1)
        return heard > 0

    def _ask_labels(self, s: State, move: int, head: int) -> bool:
        """Ask them about the labels of a move in the same state."""
        for label in range(self.n_labels):
            self.label_goal[label] = 0
        weights = self.teachers._add_labels(s, move, head, self.label_goal)
        if weights <= 0:
            return False
        for label in range(self.n_labels):
            self.label_goal[label] = self.label_goal[label] / weights
        return True

    def _learn_label(self, search: Search, s: State, move: int) -> None:
        """Learn the labels of a move, as much as the teachers want the move; not where the label is settled."""
        head = search.system._head(s, move, -1)
        if search.actions._settled_label(head) >= 0 or not self._ask_labels(s, move, head):
            return
        self._score_labels(s, move, self.label_scores)
        search.actions._rule_out(s, move, head, self.label_scores)
        softmax(self.label_scores, self.n_labels)
        for label in range(self.n_labels):
            self.label_errors[label] = self.goal[move] * (self.label_scores[label] - self.label_goal[label])
            self.loss += max(0.0, -self.label_errors[label])
        self._labels_back(self.label_set[move])

    def _learn_state(self, search: Search, s: State) -> None:
        """Learn what the teachers have said about a state."""
        n_moves = search.system.n_moves
        for move in range(n_moves):
            self.move_errors[move] = self.move_scores[move] - self.goal[move]
            self.loss += max(0.0, -self.move_errors[move])
        self._moves_back()
        for move in range(n_moves):
            if search.system.labelled[move] and self.goal[move] >= LEAST:
                self._learn_label(search, s, move)
        self._hidden_back()

    def _taught_label(self, search: Search, s: State, move: int) -> int:
        """Return the label of a move that the teachers like best."""
        head = search.system._head(s, move, -1)
        if search.actions._settled_label(head) >= 0 or not self._ask_labels(s, move, head):
            return search._best_label(s, move, True)
        best = 0
        for label in range(1, self.n_labels):
            if self.label_goal[label] > self.label_goal[best]:
                best = label
        return best

    def _learn(self, search: Search, oracle: Oracle, s: State) -> None:
        n_moves = search.system.n_moves
        guided = self.has_tree
        while not search.system._is_final(s):
            self._activate(s)
            self._drop()
            few_outputs(self.kernels, self.move_scores, self.move_bias, self.move_weights, self.hidden)
            n_legal = self._rule_out_moves(search, s)
            if n_legal == 0:
                break
            target = self._oracle_move(search, oracle, s) if guided else -1
            softmax(self.move_scores, n_moves)
            first = 0
            while not self.legal[first]:
                first += 1
            is_taught = False
            if n_legal > 1 or search.system.labelled[first]:
                is_taught = self._ask(search, s)
            self.n_states += 1
            if is_taught:
                self._learn_state(search, s)
            if target >= 0 and n_legal > 1:
                self.move_counts[target] += 1
            following = target
            label = -1
            own = False
            if self.explore > 0 and n_legal > 1:
                own = self._random() < self.explore
            if target >= 0 and not own:
                label = oracle._label(s, target)
            elif is_taught and not own:
                following = self._draw(self.goal, n_moves, first)
                if search.system.labelled[following]:
                    label = self._taught_label(search, s, following)
            else:
                following = self._draw(self.move_scores, n_moves, first)
                if search.system.labelled[following]:
                    label = search._best_label(s, following, True)
            if guided and not self.explores:
                guided = target >= 0 and following == target and label == oracle._label(s, target)
            search.system._take(s, following, label)
