"""Learning whole derivations with a beam: the perceptron of Zhang & Clark 2008, updated where it is most wrong.

The beam runs beside the oracle's derivation. Where its best derivation is furthest ahead of the oracle's, by the scores
so far ("max-violation", Huang, Fayong & Guo 2012), the features of the one are weakened and those of the other
strengthened, from the first move in which they differ.
"""

from __future__ import annotations

from array import array

from tanglewood.core.beam import Beam
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.learners.linear.core import LinearTrainer

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython


class BeamTrainer:
    """Updates a trainer's weights from whole derivations."""

    def __init__(self, trainer: LinearTrainer, search: Search, width: int) -> None:
        self.trainer = trainer
        self.search = search
        self.width = width
        self.beam = Beam(search, width, normalized=False)

    def _make_room(self, steps: int) -> None:
        """Get ready for a sentence whose gold derivation has at most this many moves."""
        self.gold_moves = array("i", bytes(4 * steps + 4))
        self.gold_labels = array("i", bytes(4 * steps + 4))
        self.gold_scores = array("d", bytes(8 * steps + 8))
        self.guess_moves = array("i", bytes(4 * steps + 4))
        self.guess_labels = array("i", bytes(4 * steps + 4))
        self.parents = array("i", bytes(4 * steps * self.width + 4))
        self.moves = array("i", bytes(4 * steps * self.width + 4))
        self.labels = array("i", bytes(4 * steps * self.width + 4))

    def _is_open(self, s: State) -> bool:
        """Whether there is more than one legal move; where there is not, moves have no score."""
        legal = 0
        for move in range(self.search.system.n_moves):
            legal += self.search.system._is_legal(s, move, -1)
        return legal > 1

    def _has_label(self, s: State, move: int, label: int) -> bool:
        """Whether the label of a move has a score."""
        return label >= 0 and self.search.system.labelled[move] != 0 and not self.search.actions._is_root_arc(s, move)

    def _follow_gold(self, oracle: Oracle, s: State, steps: int) -> int:
        """Write down the oracle's derivation with its scores; return its length, or -1 if it does not reach the end."""
        s._clear()
        self.search.system._start(s)
        count = 0
        self.gold_scores[0] = 0.0
        while not self.search.system._is_final(s):
            move = oracle._move(s)
            if move < 0 or count == steps:
                return -1
            label = oracle._label(s, move) if self.search.system.labelled[move] else -1
            if not self.search.system._is_legal(s, move, label):
                return -1
            head = self.search.system._head(s, move, label)
            settled = self.search.actions._settled_label(head)
            if settled >= 0:
                label = settled
            elif label >= 0 and not self.search.actions._fits(s, move, label, head):
                return -1
            score = self.gold_scores[count]
            if self._is_open(s):
                self.trainer._score_moves(s, self.search.move_scores)
                score += self.search.move_scores[move]
            if self._has_label(s, move, label):
                self.trainer._score_labels(s, move, self.search.label_scores)
                score += self.search.label_scores[label]
            self.gold_moves[count] = move
            self.gold_labels[count] = label
            count += 1
            self.gold_scores[count] = score
            self.search.system._take(s, move, label)
        return count

    def _run_beam(self, s: State, length: int) -> int:
        """Run the beam as long as the gold derivation; return after how many moves it leads most, 0 if never."""
        self.beam._begin()
        gold = 0  # place of the gold derivation in the beam, or -1
        worst = 0
        most = -1e300
        for step in range(length):
            self.beam._advance()
            before = gold
            gold = -1
            for place in range(self.beam.n_candidates):
                at = step * self.width + place
                self.parents[at] = self.beam.candidate_items[place]
                self.moves[at] = self.beam.candidate_moves[place]
                self.labels[at] = self.beam.candidate_labels[place]
                if (
                    before >= 0
                    and self.parents[at] == before
                    and self.moves[at] == self.gold_moves[step]
                    and self.labels[at] == self.gold_labels[step]
                ):
                    gold = place
            ahead = self.beam.scores[0] - self.gold_scores[step + 1]
            if gold != 0 and ahead > most:
                most = ahead
                worst = step + 1
        return worst

    def _trace_back(self, step: int) -> None:
        """Write down the best derivation of this many moves; a move of -1 means that it was already finished."""
        place = 0
        while step > 0:
            step -= 1
            at = step * self.width + place
            self.guess_moves[step] = self.moves[at]
            self.guess_labels[step] = self.labels[at]
            place = self.parents[at]

    def _change(self, s: State, moves: array[int], labels: array[int], same: int, end: int, change: float) -> None:
        """Go through a derivation again and change the weights of what it did, after the moves that are the same."""
        time = self.trainer.time
        s._clear()
        self.search.system._start(s)
        for step in range(end):
            move = moves[step]
            label = labels[step]
            if move < 0:
                break
            if step >= same:
                if self._is_open(s):
                    count = self.trainer._move_features(s)
                    self.trainer.learnt_moves._change(self.trainer.moves.keys, count, move, change, time)
                if self._has_label(s, move, label):
                    count = self.trainer._label_features(s, move)
                    self.trainer.learnt_labels._change(
                        self.trainer.labels.keys, count, label, change, self.trainer.time
                    )
            self.search.system._take(s, move, label)

    def _learn(self, oracle: Oracle, s: State, steps: int) -> None:
        length = self._follow_gold(oracle, s, steps)
        if length < 0:
            return  # the learner need not learn what the system cannot derive
        self.trainer.time += 1
        self.trainer.n_states += 1
        worst = self._run_beam(s, length)
        if worst == 0:
            return
        self.trainer.loss += 1
        self._trace_back(worst)
        same = 0
        while (
            same < worst
            and self.gold_moves[same] == self.guess_moves[same]
            and self.gold_labels[same] == self.guess_labels[same]
        ):
            same += 1
        self._change(s, self.gold_moves, self.gold_labels, same, worst, self.trainer.most)
        self._change(s, self.guess_moves, self.guess_labels, same, worst, -self.trainer.most)

    def learn(self, oracle: Oracle, s: State) -> None:
        """Learn from one sentence; the oracle is bound to its gold tree."""
        steps = oracle.limit if oracle.limit < 8 * s.n else 8 * s.n  # longer gold derivations are skipped
        self._make_room(steps)
        self.beam.make_room(s)
        self.trainer.learnt_moves.reserve()
        self.trainer.learnt_labels.reserve()
        with cython.nogil:
            self._learn(oracle, s, steps)
