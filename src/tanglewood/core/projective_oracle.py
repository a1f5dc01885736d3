"""The exact dynamic oracle of projective systems: the fewest wrong heads that any continuation can end with.

Goldberg & Nivre (2012) count gold arcs that are out of reach one by one. That is exact only for projective gold
trees, without the single-root condition, and where a word left over does not block the nodes below it. Here the
loss is found by Eisner's algorithm over the nodes still in play, with the arcs that the state rules out left out:
exact for every gold tree, single-rooted or not, at O(n^3) a state. The tests compare it with exhaustive search.
"""

from __future__ import annotations

from array import array

from tanglewood.core.oracle import LossOracle
from tanglewood.core.state import State

NEVER = -1_000_000  # gain of what cannot be built


class ProjectiveOracle(LossOracle):
    """Costs of all moves for a system whose states are settled by which arcs between the nodes in play are open."""

    def _prepare(self) -> None:
        LossOracle._prepare(self)
        size = self.n + 2
        self.nodes = array("i", bytes(4 * size))
        table = array("i", bytes(4 * size * size))
        self.gains = table[:]  # of the arc from the row's node to the column's
        self.closed_left, self.closed_right = table[:], table[:]
        self.open_left, self.open_right = table[:], table[:]

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether an arc between two nodes in play can still come about, or is there already.

        The nodes are given as indices into the stack, bottom first, followed by the buffer, front first.
        """
        return False

    def _loss(self, s: State) -> int:
        """Fewest words with a wrong head over all ways to go on from here."""
        in_play = s.depth + s.left
        for i in range(s.depth):
            self.nodes[i] = s.stack[i]
        for i in range(s.left):
            self.nodes[s.depth + i] = s.buffer[s.left - 1 - i]
        wrong = self.n - (in_play - 1)  # words out of play: all wrong, but for those that are right
        for word in range(1, self.n + 1):
            if s.heads[word] >= 0 and s.heads[word] == self.heads[word]:
                wrong -= 1
        # A node of the stack that has its head already is in play too; do not count its arc twice.
        for i in range(1, s.depth):
            word = self.nodes[i]
            if s.heads[word] >= 0 and s.heads[word] == self.heads[word]:
                wrong += 1
        size = self.n + 2
        for head in range(in_play):
            for dependent in range(1, in_play):
                gain = NEVER
                if head != dependent and self._is_open(s, head, dependent):
                    gain = 1 if self.heads[self.nodes[dependent]] == self.nodes[head] else 0
                self.gains[head * size + dependent] = gain
        if in_play == 1:
            return wrong
        if not self.system.single_root:
            return wrong + in_play - 1 - self._best_gain(0, in_play - 1)
        self._best_gain(1, in_play - 1)
        best = NEVER
        for root in range(1, in_play):
            whole = self.closed_left[size + root] + self.closed_right[root * size + in_play - 1]
            best = max(best, self.gains[root] + whole)
        return wrong + in_play - 1 - best

    def _best_gain(self, first: int, last: int) -> int:
        """Run Eisner's algorithm over the nodes in play from first to last, rooted in first.

        closed_right[i, j]: i has all its right dependents up to j; open_right[i, j]: j hangs on i; likewise left.
        """
        size = self.n + 2
        for i in range(first, last + 1):
            self.closed_left[i * size + i] = self.closed_right[i * size + i] = 0
        for width in range(1, last - first + 1):
            for i in range(first, last + 1 - width):
                j = i + width
                best = NEVER
                for k in range(i, j):
                    best = max(best, self.closed_right[i * size + k] + self.closed_left[(k + 1) * size + j])
                self.open_right[i * size + j] = best + self.gains[i * size + j]
                self.open_left[i * size + j] = best + (self.gains[j * size + i] if i > 0 else NEVER)
                best = NEVER
                for k in range(i + 1, j + 1):
                    best = max(best, self.open_right[i * size + k] + self.closed_right[k * size + j])
                self.closed_right[i * size + j] = best
                best = NEVER
                for k in range(i, j):
                    best = max(best, self.closed_left[i * size + k] + self.open_left[k * size + j])
                self.closed_left[i * size + j] = best
        return self.closed_right[first * size + last]
