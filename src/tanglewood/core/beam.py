"""Beam search with the same scorer as greedy search, by the sum of log-probabilities of moves and labels.

For a scorer that was trained with a beam it is the sum of its scores as they are.

Configurations are kept in a pool of ints, since lists of objects cannot be touched without the GIL. In long sentences
they are changed where they lie. Most have one successor in the next beam, or none, so that only about one move in ten
copies a whole configuration, and a move costs nearly the same in a sentence of any length.
"""

from __future__ import annotations

from array import array

from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log

MOST_WIDTH = 10_000  # of a beam: far more than helps
LABELS = 2  # how many of the best labels of an arc are followed
LONG = 150  # words of a sentence; in a shorter one copying a configuration is faster than turning to another place


class Beam:
    """Keeps the best ``width`` partial derivations; finished ones wait for the rest.

    Scores are ``normalized`` to log-probabilities in each state, or else added up as they are. Unless it
    ``weighs_labels``, moves carry their best labels, whose scores do not count. From ``long`` words on, configurations
    are changed where they lie.
    """

    def __init__(
        self, search: Search, width: int, *, normalized: bool = True, weighs_labels: bool = True, long: int = LONG
    ) -> None:
        if not 1 <= width <= MOST_WIDTH:
            what = "holds nothing" if width < 1 else "is too wide"
            raise ConfigError(f"a beam of width {width} {what}; it should be from 1 to {MOST_WIDTH}")
        self.search = search
        self.width = width
        self.normalized = normalized
        self.weighs_labels = weighs_labels
        self.least_long = long
        self.copies = True  # whether configurations are changed in a copy
        self.pool = memoryview(array("i"))
        self.at = State(0)
        self.slots = array("i", range(width))  # of the items in the pool
        self.next_slots = array("i", bytes(4 * width))
        self.heirs = array("i", bytes(4 * width))
        self.size = self.n_candidates = 0
        self.scores = array("d", bytes(8 * width))
        self.done = array("i", bytes(4 * width))
        self.candidate_scores = array("d", bytes(8 * width))
        self.candidate_items = array("i", bytes(4 * width))
        self.candidate_moves = array("i", bytes(4 * width))
        self.candidate_labels = array("i", bytes(4 * width))

    def _threshold(self) -> float:
        """Score that a candidate must beat to be kept."""
        return -1e300 if self.n_candidates < self.width else self.candidate_scores[self.width - 1]

    def _offer(self, score: float, item: int, move: int, label: int) -> None:
        """Insert a candidate into the sorted list of the best ones; of equals the first stays first."""
        if score <= self._threshold():
            return
        if self.n_candidates < self.width:
            self.n_candidates += 1
        place = self.n_candidates - 1
        while place > 0 and self.candidate_scores[place - 1] < score:
            self.candidate_scores[place] = self.candidate_scores[place - 1]
            self.candidate_items[place] = self.candidate_items[place - 1]
            self.candidate_moves[place] = self.candidate_moves[place - 1]
            self.candidate_labels[place] = self.candidate_labels[place - 1]
            place -= 1
        self.candidate_scores[place] = score
        self.candidate_items[place] = item
        self.candidate_moves[place] = move
        self.candidate_labels[place] = label

    def _log_total(self, scores: array[float], size: int) -> float:
        """Logarithm of the sum of exponentials, scores at -1e30 left out; 0 where scores are not normalized."""
        if not self.normalized:
            return 0.0
        top = -1e30
        for i in range(size):
            top = max(top, scores[i])
        total = 0.0
        for i in range(size):
            if scores[i] > -1e29:
                total += exp(scores[i] - top)
        return top + log(total)

    def _expand(self, s: State, item: int) -> None:
        """Offer all successors of a state."""
        legal = 0
        for move in range(self.search.system.n_moves):
            legal += self.search.system._is_legal(s, move, -1)
        if legal > 1:
            self.search._score_moves(s, self.search.move_scores)
        for move in range(self.search.system.n_moves):
            if not self.search.system._is_legal(s, move, -1):
                self.search.move_scores[move] = -1e30
            elif legal == 1:
                self.search.move_scores[move] = 0
            elif self.search.move_scores[move] < -1e28:  # a scorer may rule out all moves, but one must be taken
                self.search.move_scores[move] = -1e28
        total = self._log_total(self.search.move_scores, self.search.system.n_moves)
        for move in range(self.search.system.n_moves):
            if self.search.move_scores[move] <= -1e29:
                continue
            score = self.scores[item] + self.search.move_scores[move] - total
            if not self.search.system.labelled[move]:
                self._offer(score, item, move, -1)
            elif (self.weighs_labels and not self.normalized) or score > self._threshold():
                # A log-probability cannot raise the score.
                if legal == 1 and not self.search.actions._is_root_arc(s, move):
                    self.search._score_moves(s, self.search.spare_scores)
                self._label(s, item, move, score)

    def _label(self, s: State, item: int, move: int, score: float) -> None:
        """Offer a move with its best labels."""
        head = self.search.system._head(s, move, -1)
        settled = self.search.actions._settled_label(head)
        if settled >= 0:
            self._offer(score, item, move, settled)
            return
        self.search._score_labels(s, move)
        if self.search.actions._rule_out(s, move, head, self.search.label_scores) == 0:
            # As in greedy search: the arc is made without a label.
            self._offer(score, item, move, -1)
            return
        total = self._log_total(self.search.label_scores, self.search.n_labels) if self.weighs_labels else 0.0
        for _ in range(LABELS if self.weighs_labels else 1):
            best = 0
            for label in range(self.search.n_labels):
                if self.search.label_scores[label] > self.search.label_scores[best]:
                    best = label
            if not self.weighs_labels:
                self._offer(score, item, move, best)
            elif self.search.label_scores[best] > -1e29:
                self._offer(score + self.search.label_scores[best] - total, item, move, best)
            self.search.label_scores[best] = -1e30

    def _run(self, s: State) -> None:
        running = self._begin()
        while running > 0:
            running = self._advance()
        self._take_out(s, 0)

    def _begin(self) -> int:
        """Begin with the initial configuration; return how many derivations are not finished."""
        self._visit(0)
        self.at._clear()
        self.search.system._start(self.at)
        self._leave(0)
        self.n_candidates = 1
        self.scores[0] = 0.0
        return 1 - self.done[0]

    def _advance(self) -> int:
        """Take one move in every unfinished derivation; return how many are still unfinished.

        The candidates then say what was done: the item each came from, its move (-1: it waits) and its label.
        """
        items = self.n_candidates
        self.n_candidates = 0
        for item in range(items):
            if self.done[item]:
                self._offer(self.scores[item], item, -1, -1)
            else:
                self._visit(item)
                self._expand(self.at, item)
        self._share_out(items)
        running = 0
        for place in range(self.n_candidates):
            if self.candidate_moves[place] >= 0:
                self._visit(place)
                self.search._take(self.at, self.candidate_moves[place], self.candidate_labels[place])
                self._leave(place)
            else:
                self.done[place] = 1
            running += 1 - self.done[place]
            self.scores[place] = self.candidate_scores[place]
        return running

    def _visit(self, item: int) -> None:
        """Turn to the configuration of an item."""
        self.at._load(self.pool, self.slots[item] * self.size, self.copies)

    def _leave(self, item: int) -> None:
        """Keep what has become of the configuration of an item."""
        self.at._save(self.pool, self.slots[item] * self.size, self.copies)
        self.done[item] = 1 if self.search.system._is_final(self.at) else 0

    def _share_out(self, items: int) -> None:
        """Give each candidate a slot of the pool with the configuration of the item that it comes from.

        The last candidate of an item inherits its slot. The others get copies, in slots that nothing else is in.
        """
        for item in range(items):
            self.heirs[item] = -1
        for place in range(self.n_candidates):
            self.heirs[self.candidate_items[place]] = place
        free = 0  # an item without heirs, or a number that no item has
        for place in range(self.width):
            if place < self.n_candidates and self.heirs[self.candidate_items[place]] == place:
                self.next_slots[place] = self.slots[self.candidate_items[place]]
                continue
            while free < items and self.heirs[free] >= 0:
                free += 1
            self.next_slots[place] = self.slots[free]
            free += 1
            if place < self.n_candidates:
                self._copy(self.slots[self.candidate_items[place]] * self.size, self.next_slots[place] * self.size)
        self.slots, self.next_slots = self.next_slots, self.slots

    def _copy(self, source: int, target: int) -> None:
        """Copy a configuration from one place of the pool to another."""
        for i in range(self.size):
            self.pool[target + i] = self.pool[source + i]

    def _take_out(self, s: State, item: int) -> None:
        """Turn a state into the configuration of an item, and take the final step in it."""
        self._visit(item)
        s._copy_from(self.at)
        self.search.system._finish(s)

    def make_room(self, s: State) -> None:
        """Get ready for a sentence."""
        self.size = s._size()
        self.copies = s.n < self.least_long
        self.at = s.copy()
        self.pool = memoryview(array("i", bytes(4 * self.size * self.width)))

    def parse(self, s: State) -> list[float]:
        """Parse one sentence; ``s`` ends with the best derivation. Returns the scores of all that were kept."""
        self.make_room(s)
        with cython.nogil:
            self._run(s)
        return [self.scores[item] for item in range(self.n_candidates)]

    def restore(self, s: State, rank: int) -> None:
        """Turn the state into the derivation of that rank (0 = best) of the sentence parsed last."""
        if not 0 <= rank < self.n_candidates or s._size() != self.size:
            raise ConfigError(f"there is no derivation of rank {rank} for {s.n} words; {self.n_candidates} were kept")
        self._take_out(s, rank)
