"""Greedy search for the best derivation with a scorer of moves and labels; a whole sentence runs without the GIL."""

from __future__ import annotations

from array import array

from tanglewood.core.actions import Actions
from tanglewood.core.state import State

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

LOW = -1e30


class MoveScorer:
    """Scores the moves of a state, and the labels of a move in the state whose moves were scored last."""

    def _score_moves(self, s: State, out: array[float]) -> None:
        """Write a score per move."""

    def _score_labels(self, s: State, move: int, out: array[float]) -> None:
        """Write a score per label for a move of the state that was scored last."""


class Search:
    """Picks moves and what they carry: labels that fit, or tags for moves that give tags.

    It counts what it does, with a beam too: ``moves_taken``, ``states_scored`` (calls of the scorer for the moves of a
    state) and ``labels_scored`` (calls for the labels of a move).
    """

    def __init__(self, actions: Actions, scorer: MoveScorer) -> None:
        system = actions.system
        self.actions = actions
        self.system = system
        self.scorer = scorer
        self.n_labels = actions.n_labels
        self.chosen_label = -1
        self.moves_taken = self.states_scored = self.labels_scored = 0
        self.move_scores = array("f", bytes(4 * system.n_moves))
        self.spare_scores = array("f", bytes(4 * system.n_moves))
        self.label_scores = array("f", bytes(4 * max(self.n_labels, 1)))

    def _score_moves(self, s: State, out: array[float]) -> None:
        self.states_scored += 1
        self.scorer._score_moves(s, out)

    def _score_labels(self, s: State, move: int) -> None:
        self.labels_scored += 1
        self.scorer._score_labels(s, move, self.label_scores)

    def _take(self, s: State, move: int, label: int) -> None:
        self.moves_taken += 1
        self.system._take(s, move, label)

    def _best_label(self, s: State, move: int, scored: bool) -> int:
        """Return the best label for a move; ``scored`` says whether the moves of this state have been scored."""
        head = self.system._head(s, move, -1)
        settled = self.actions._settled_label(head)
        if settled >= 0:
            return settled
        if not scored:
            self._score_moves(s, self.move_scores)
        self._score_labels(s, move)
        best = -1
        for label in range(self.n_labels):
            if self.actions._fits(s, move, label, head) and (
                best < 0 or self.label_scores[label] > self.label_scores[best]
            ):
                best = label
        return best

    def _choose(self, s: State) -> int:
        """Return the best move of a state that is not final; ``chosen_label`` is then its label."""
        legal = 0
        best = -1
        for move in range(self.system.n_moves):
            if self.system._is_legal(s, move, -1):
                legal += 1
                best = move
        if legal > 1:
            self._score_moves(s, self.move_scores)
            for move in range(self.system.n_moves):
                if self.move_scores[move] > self.move_scores[best] and self.system._is_legal(s, move, -1):
                    best = move
        self.chosen_label = -1
        if self.system.labelled[best]:
            self.chosen_label = self._best_label(s, best, legal > 1)
        return best

    def _greedy(self, s: State) -> None:
        while not self.system._is_final(s):
            move = self._choose(s)
            self._take(s, move, self.chosen_label)
        self.system._finish(s)

    def greedy(self, s: State) -> None:
        """Parse one sentence from its initial configuration, always taking the best move."""
        with cython.nogil:
            s._clear()
            self.system._start(s)
            self._greedy(s)

    def follow(self, s: State, moves: array[int]) -> None:
        """Parse one sentence from its initial configuration by these moves, each with its best label."""
        n = len(moves)
        with cython.nogil:
            s._clear()
            self.system._start(s)
            for i in range(n):
                label = self._best_label(s, moves[i], False) if self.system.labelled[moves[i]] else -1
                self._take(s, moves[i], label)
            self.system._finish(s)

    def choose(self, s: State) -> tuple[int, int]:
        """Return the move and the label (or -1) that greedy search takes in a state that is not final."""
        move = self._choose(s)
        return (move, self.chosen_label)

    def weigh(self, s: State) -> list[tuple[int, int, float]]:
        """Return every legal move with its best label (or -1) and the move's score."""
        legal = self.system.legal_moves(s)
        self._score_moves(s, self.move_scores)
        scores = [self.move_scores[move] for move in legal]
        labels = [self._best_label(s, move, True) if self.system.moves[move].labelled else -1 for move in legal]
        return list(zip(legal, labels, scores, strict=True))
