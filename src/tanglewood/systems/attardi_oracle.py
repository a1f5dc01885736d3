"""The exact dynamic oracle of the Attardi family up to degree 2 (after Gómez-Rodríguez, Sartorio & Satta 2014).

As in the paper, the loss of a state is found by a chart over its stack and buffer. The nodes in play are numbered
anew, those of the stack first; what can be derived from the state is then what the exact search of the system
(decoders/chart_s2.py) derives if it must begin with a SHIFT for each node of the stack. An arc is worth 1 if it is
gold and 0 otherwise: O(n^7).

Most states need no chart, because of a lemma. Call a node a leaf if no node in play has it as its gold head. **Taking
a leaf m out of play costs at most the gold arc to m.** Take any derivation and leave m out of it. All other nodes are
then at the same places or one place closer, and their reduces are in the inventory since it is deletion-closed.
Where m was the head of a node x, that arc was not gold, so that any other head will do for x at that time: s1, if x is
s0 now, or else s0. The inventory must have those reduces; all of ours do. Only s1 = 0 may be forbidden, with
single_root. Then the stack is 0, x and would have been 0, m after the reduce: from here on x does what m did.
It follows that a leaf may be taken out at once, and counted if its arc is gold, wherever it can be reduced without
disturbing the others, and its gold head is there or is out of play: on top of the stack; or in the buffer next to the
head, since it can be shifted and reduced at once when it comes up. (For that the inventory must have a reduce for each
neighbour.) Projective parts of the tree vanish altogether. If that makes all gold arcs, with a SHIFT wherever there is
nothing to take out, no chart is needed either.
"""

from __future__ import annotations

from array import array
from typing import Any

from tanglewood.core.oracle import GreedyOracle, LossOracle
from tanglewood.core.state import State
from tanglewood.decoders.base import score_table
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    lrint = round

B0 = -1
NEVER = float("-inf")
CHART_LIMIT = 40  # nodes that a chart may have; with more, all gold arcs between them are taken to be within reach


def may_drop_leaves(inventory: list[tuple[int, int]]) -> bool:
    """Whether the lemma above holds, and a word can always be reduced next to a neighbour.

    A node whose head is left out has another one, s1 or s0; and either neighbour can have a leaf that comes up.
    """
    closed = all(
        (head - (head > gone), modifier - (modifier > gone)) in inventory
        for head, modifier in inventory
        for gone in range(max(head, modifier))
        if gone not in {head, modifier}
    )
    left = {modifier - (modifier > head >= 0) for head, modifier in inventory}  # where the modifier is without its head
    neighbours = (1, 0) in inventory and ((0, 1) in inventory or (B0, 0) in inventory)
    return closed and neighbours and all((0, place) in inventory for place in left if place > 0)


class StackedChart(ChartS2):
    """The chart of exact search, for derivations that begin with a given number of SHIFTs."""

    def value(self, stacked: int) -> int:
        """Return the value of the best derivation with so many nodes on the stack before anything is reduced."""
        self.stacked = stacked
        self.bottom[1] = 0.0
        self._fill()
        return lrint(self.bottom[self.n + 1])

    def _fill(self) -> None:
        for j in range(2, self.n + 2):
            self._clear(self.first[j], self.first[j + 1])
            self._clear(self.first_x[j], self.first_x[j + 1])
            for h in range(j - 1):
                self.arena[self._place(h, j - 1, h, j - 1, j)] = 0.0  # axioms
            if j >= self.stacked:
                for h3 in range(j - 2, 0, -1):
                    self.width = j - 1 - h3
                    self._gather(j, h3)
                    self._weigh(j, h3)
                    self._join_s0_s1(j, h3)
                    if self.takes_s2:
                        self._join_s2(j, h3)
                self._close(j)
            else:
                self.bottom[j] = NEVER
            if self.takes_s2 and j <= self.n:
                for t in range(1, j):
                    self._hook(t, j)


class DynamicOracle(LossOracle):
    """Exact cost of every move from any state, for any gold tree."""

    def __init__(self, system: Any) -> None:  # noqa: ANN401 - an Attardi, whose file builds on this one
        LossOracle.__init__(self, system)
        inventory: list[tuple[int, int]] = system.inventory
        if any(place > 2 for pair in inventory for place in pair):
            raise ConfigError(f"{system.name} has a dynamic oracle up to degree 2 only; choose static or lazy")
        if not may_drop_leaves(inventory):
            raise ConfigError(f"{system.name} with these reduces has no dynamic oracle; choose static or lazy")
        self.head_place = array("i", [head for head, _ in inventory])
        self.modifier_place = array("i", [modifier for _, modifier in inventory])
        self.reaches_third = (2, 0) in inventory
        self.chart = StackedChart(inventory, bool(system.single_root))
        self.greedy = GreedyOracle(system)

    def _prepare(self) -> None:
        LossOracle._prepare(self)
        self.greedy.bind(self.heads)
        size = 4 * (self.n + 3)
        self.before = array("i", bytes(size))  # of the nodes in play, the one before and the one after, or -1
        self.next = array("i", bytes(size))
        self.waiting = array("i", bytes(size))  # how many nodes in play have it as their gold head; -1: out of play
        self.number = array("i", bytes(size))
        self.kept = array("i", bytes(3 * size))

    def _move(self, s: State) -> int:
        """Return the static oracle's move where all arcs so far are gold, or else the first that costs nothing."""
        for word in range(1, self.n + 1):
            if s.heads[word] >= 0 and s.heads[word] != self.heads[word]:
                return LossOracle._move(self, s)
        return self.greedy._move(s)

    def _loss(self, s: State) -> int:
        """Fewest words with a wrong head over all ways to go on from here."""
        loss = 0
        for word in range(1, self.n + 1):
            if s.heads[word] != self.heads[word]:
                loss += 1
        self._line_up(s)
        loss -= self._drop_leaves()
        return loss - self._best_arcs()

    def _line_up(self, s: State) -> None:
        """Link the nodes in play, and count who waits for whom."""
        for node in range(self.n + 1):
            self.waiting[node] = 0 if s.heads[node] < 0 else -1
        last = -1
        for place in range(s.depth + s.n_buffer):
            node = s.stack[place] if place < s.depth else s.buffer[s.n_buffer - 1 - (place - s.depth)]
            self.before[node] = last
            self.next[node] = -1
            if last >= 0:
                self.next[last] = node
            if node > 0 and self.waiting[self.heads[node]] >= 0:
                self.waiting[self.heads[node]] += 1
            last = node
        self.top = s.stack[s.depth - 1] if s.depth > 0 else 0  # the first move is always SHIFT of 0

    def _node(self, place: int) -> int:
        """Node at a place of the stack, or at the buffer's front; -1 if there is none."""
        if place == B0:
            return self.next[self.top]
        node = self.top
        while place > 0 and node >= 0:
            node = self.before[node]
            place -= 1
        return node

    def _drop(self, node: int) -> int:
        """Take a leaf out of play; return 1 if its gold head was there."""
        left = self.before[node]
        right = self.next[node]
        self.next[left] = right  # 0 is never taken out
        if right >= 0:
            self.before[right] = left
        if node == self.top:
            self.top = left
        self.waiting[node] = -1
        if self.waiting[self.heads[node]] < 0:
            return 0
        self.waiting[self.heads[node]] -= 1
        return 1

    def _drop_leaves(self) -> int:
        """Take out every leaf that can be reduced without disturbing others; return how many had their gold head."""
        gain = 0
        node = 1
        while node > 0:
            node = self._leaf_of_stack()
            if node < 0:
                node = self._leaf_of_buffer()
            if node > 0:
                gain += self._drop(node)
        return gain

    def _leaf_of_stack(self) -> int:
        """A leaf that may be reduced at once, its gold head being its head or out of play; -1 if there is none."""
        for move in range(self.system.n_moves - 1):
            head = self._node(self.head_place[move])
            node = self._node(self.modifier_place[move])
            if head < 0 or node <= 0 or self.waiting[node] != 0:
                continue
            gold = self.heads[node]
            if gold != head and self.waiting[gold] >= 0:
                continue
            if head > 0 or not self.system.single_root or (node == self.top and self._is_last(node)):
                return node
        return -1

    def _is_last(self, node: int) -> bool:
        """Whether the word is the only one in play."""
        return self.before[node] == 0 and self.next[node] < 0

    def _leaf_of_buffer(self) -> int:
        """A leaf whose gold head is next to it or out of play, or the front word, whose head is s1; -1 if none is."""
        node = self.next[self.top]
        if node > 0 and self.waiting[node] == 0 and self.reaches_third:
            below = self.before[self.top]
            if below >= 0 and self.heads[node] == below and (below > 0 or not self.system.single_root):
                return node  # shifted and reduced by s2>s0 at once
        while node > 0:
            if self.waiting[node] == 0:
                gold = self.heads[node]
                left = self.before[node]
                right = self.next[node]
                free = self.waiting[gold] < 0
                if right >= 0 and (free or gold == right):
                    return node
                if (free or gold == left) and (left > 0 or not self.system.single_root):
                    return node
            node = self.next[node]
        return -1

    def _best_arcs(self) -> int:
        """Most gold arcs between the nodes in play that one derivation can make."""
        words = stacked = arcs = 0
        node = 0
        while node >= 0:
            self.number[node] = words
            words += 1
            if node == self.top:
                stacked = words
            if node > 0 and self.waiting[self.heads[node]] >= 0:
                arcs += 1
            node = self.next[node]
        if arcs == 0 or words > CHART_LIMIT or self._reaches(arcs):
            return arcs
        with cython.gil:
            return self._search(words, stacked)

    def _reaches(self, arcs: int) -> bool:
        """Whether all of these arcs are made if one shifts whenever there is no leaf to take out."""
        top = self.top
        for node in range(self.n + 1):
            self.kept[3 * node] = self.before[node]
            self.kept[3 * node + 1] = self.next[node]
            self.kept[3 * node + 2] = self.waiting[node]
        made = 0
        while self.next[self.top] >= 0:
            self.top = self.next[self.top]
            made += self._drop_leaves()
        self.top = top
        for node in range(self.n + 1):
            self.before[node] = self.kept[3 * node]
            self.next[node] = self.kept[3 * node + 1]
            self.waiting[node] = self.kept[3 * node + 2]
        return made == arcs

    def _search(self, nodes: int, stacked: int) -> int:
        """Ask the chart."""
        scores = score_table(nodes - 1, 0.0)
        node = self.next[0]
        while node > 0:
            if self.waiting[self.heads[node]] >= 0:
                scores[self.number[self.heads[node]], self.number[node]] = 1.0
            node = self.next[node]
        self.chart.load(scores)
        return self.chart.value(stacked)
