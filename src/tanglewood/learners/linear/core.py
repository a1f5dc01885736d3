"""The compiled part of the linear learner: scoring, and learning from one sentence at a time."""

from __future__ import annotations

from array import array

from tanglewood.core.kinds import TAGGED
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.learners.features import FeatureSet
from tanglewood.ml.linear_weights import LearningWeights, Weights
from tanglewood.ml.word_table import WordTable

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython


class LinearScorer(MoveScorer):
    """Looks up the features of the states of one sentence at a time."""

    def __init__(self, system: TransitionSystem, moves: FeatureSet, labels: FeatureSet, tags: FeatureSet) -> None:
        self.system = system
        self.moves = moves
        self.labels = labels
        self.tags = tags  # writes its keys to the same place as labels

    def use(self, table: WordTable, offset: int) -> None:
        """Switch to the sentence whose node 0 is at this place in the table."""
        self.moves.use(table, offset)
        self.labels.use(table, offset)
        self.tags.use(table, offset)

    def _move_features(self, s: State) -> int:
        return self.moves._extract(s, -1, -1, 0)

    def _label_features(self, s: State, move: int) -> int:
        """Look up the features of the label or tag that a move is to carry; moves have no features in common."""
        if self.system.labelled[move] == TAGGED:
            return self.tags._extract(s, -1, -1, move + 1)
        head = self.system._head(s, move, -1)
        dependent = self.system._dependent(s, move, -1)
        return self.labels._extract(s, head, dependent, move + 1)


class LinearCore(LinearScorer):
    """Scores with learnt weights."""

    def __init__(
        self,
        system: TransitionSystem,
        moves: FeatureSet,
        labels: FeatureSet,
        tags: FeatureSet,
        move_weights: Weights,
        label_weights: Weights,
    ) -> None:
        LinearScorer.__init__(self, system, moves, labels, tags)
        self.move_weights = move_weights
        self.label_weights = label_weights
        self.sums = array("i", bytes(4 * max(move_weights.n_classes, label_weights.n_classes) + 4))
        self.places = array("i", bytes(4 * max(moves.most_keys, labels.most_keys, tags.most_keys)))

    def _score_moves(self, s: State, out: array[float]) -> None:
        self.move_weights._score(self.moves.keys, self._move_features(s), self.places, self.sums, out)

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        self.label_weights._score(self.labels.keys, self._label_features(s, move), self.places, self.sums, out)


class LinearTrainer(LinearScorer):
    """A perceptron with a margin that follows an oracle or, now and then, itself."""

    def __init__(
        self,
        system: TransitionSystem,
        moves: FeatureSet,
        labels: FeatureSet,
        tags: FeatureSet,
        n_labels: int,
        *,
        margin: float,
        most: float,
        seed: int,
    ) -> None:
        LinearScorer.__init__(self, system, moves, labels, tags)
        self.learnt_moves = LearningWeights(system.n_moves)
        self.learnt_labels = LearningWeights(max(n_labels, 1))
        self.move_scores = array("f", bytes(4 * system.n_moves))
        self.label_scores = array("f", bytes(4 * max(n_labels, 1)))
        self.costs = array("i", bytes(4 * system.n_moves))
        self.margin = margin
        self.most = most
        self.explore = 0.0
        self.rng = (seed * 7919 + 104729) % 2147483646 + 1
        self.time = 1.0
        self.loss = 0.0
        self.n_states = 0

    def _random(self) -> float:
        """A number in [0, 1) by the minimal standard generator."""
        self.rng = self.rng * 48271 % 2147483647
        return self.rng / 2147483647.0

    def _score_moves(self, s: State, out: array[float]) -> None:
        self.n_move_features = self._move_features(s)
        self.learnt_moves._score(self.moves.keys, self.n_move_features, out)

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        self.n_label_features = self._label_features(s, move)
        self.learnt_labels._score(self.labels.keys, self.n_label_features, out)

    def _step(self, lead: float, count: int) -> float:
        """How far to move the weights to lead by the margin, but not too far at once (passive-aggressive, PA-I)."""
        step = (self.margin - lead) / (2 * count)
        return self.most if step > self.most else step

    def _learn_label(self, search: Search, s: State, move: int, label: int, head: int) -> int:
        """Learn that a move carries a label; return the label that it would have had."""
        guess = label
        self._score_labels(s, move, self.label_scores)
        rival = -1
        for other in range(search.n_labels):
            if (
                other != label
                and (rival < 0 or self.label_scores[other] > self.label_scores[rival])
                and search.actions._fits(s, move, other, head)
            ):
                rival = other
        if rival >= 0:
            lead = self.label_scores[label]
            lead -= self.label_scores[rival]  # in two steps, so that it is done in double precision
            if lead < 0:
                self.loss += 1
                guess = rival
            if lead < self.margin:
                step = self._step(lead, self.n_label_features)
                self.learnt_labels._update(self.labels.keys, self.n_label_features, label, rival, step, self.time)
        return guess

    def _learn(self, search: Search, oracle: Oracle, s: State, explores: bool) -> None:
        while not self.system._is_final(s):
            oracle._costs(s, self.costs)
            self._score_moves(s, self.move_scores)
            target = -1
            rival = -1
            for move in range(self.system.n_moves):
                if not self.system._is_legal(s, move, -1):
                    continue
                if self.costs[move] == 0:
                    if target < 0 or self.move_scores[move] > self.move_scores[target]:
                        target = move
                elif rival < 0 or self.move_scores[move] > self.move_scores[rival]:
                    rival = move
            if target < 0:
                break  # the system does not cover the tree: no need to learn what it cannot derive
            label = oracle._label(s, target)
            if search.system.labelled[target] and not self.system._is_legal(s, target, label):
                break
            self.time += 1
            self.n_states += 1
            following = target
            if rival >= 0:
                lead = self.move_scores[target]
                lead -= self.move_scores[rival]
                if lead < 0:
                    self.loss += 1
                    if explores and self._random() < self.explore:
                        following = rival
                if lead < self.margin:
                    step = self._step(lead, self.n_move_features)
                    self.learnt_moves._update(self.moves.keys, self.n_move_features, target, rival, step, self.time)
            head = self.system._head(s, target, label)
            if (
                search.system.labelled[target]
                and label >= 0
                and search.actions._settled_label(head) < 0
                and search.actions._fits(s, target, label, head)
            ):
                guess = self._learn_label(search, s, target, label, head)
                is_wrong_tag = guess != label and self.system.labelled[target] == TAGGED
                if is_wrong_tag and explores and self._random() < self.explore:
                    label = guess
            if following != target:
                label = search._best_label(s, following, True) if search.system.labelled[following] else -1
            self.system._take(s, following, label)

    def learn(self, search: Search, oracle: Oracle, s: State, explores: bool) -> None:
        """Learn from one sentence; the oracle is bound to its gold tree."""
        self.learnt_moves.reserve()
        self.learnt_labels.reserve()
        with cython.nogil:
            s._clear()
            self.system._start(s)
            self._learn(search, oracle, s, explores)
