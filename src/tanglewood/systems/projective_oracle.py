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
from tanglewood.decoders.eisner import EisnerChart

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    lrint = round

NEVER = -1_000_000  # gain of what cannot be built


class ProjectiveOracle(LossOracle):
    """Costs of all moves for a system whose states are settled by which arcs between the nodes in play are open."""

    def _prepare(self) -> None:
        LossOracle._prepare(self)
        self.nodes = array("i", bytes(4 * self.n + 8))
        self.chart = EisnerChart(self.n, self.system.single_root)

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether an arc between two nodes in play can still come about, or is there already.

        The nodes are given as indices into the stack, bottom first, followed by the buffer, front first.
        """
        return False

    def _loss(self, s: State) -> int:
        """Fewest words with a wrong head over all ways to go on from here."""
        in_play = s.depth + s.n_buffer
        for i in range(s.depth):
            self.nodes[i] = s.stack[i]
        for i in range(s.n_buffer):
            self.nodes[s.depth + i] = s.buffer[s.n_buffer - 1 - i]
        wrong = self.n - (in_play - 1)  # words out of play: all wrong, but for those that are right
        for word in range(1, self.n + 1):
            if s.heads[word] >= 0 and s.heads[word] == self.heads[word]:
                wrong -= 1
        # A node of the stack that has its head already is in play too; do not count its arc twice.
        for i in range(1, s.depth):
            word = self.nodes[i]
            if s.heads[word] >= 0 and s.heads[word] == self.heads[word]:
                wrong += 1
        size = self.n + 1
        for head in range(in_play):
            self.chart.scores[head * size] = NEVER
            for dependent in range(1, in_play):
                gain = NEVER
                if head != dependent and self._is_open(s, head, dependent):
                    gain = 1 if self.heads[self.nodes[dependent]] == self.nodes[head] else 0
                self.chart.scores[head * size + dependent] = gain
        return wrong + in_play - 1 - lrint(self.chart._fill_items(in_play - 1, False))
