"""Eisner's (1996) algorithm: the best projective tree in O(n^3), and sums over all of them.

An open item is an arc and everything below it, between its two ends; a closed item is a node with everything attached
to it on one side, up to some node. Every projective tree is built in exactly one way, so that sums over items are sums
over trees.
"""

from __future__ import annotations

from array import array
from random import Random

from tanglewood.decoders.base import NO_TREE, Decoded, Decoder, Scores, no_tree, score_table, words_in
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log

LOWEST = -1e300  # below any finite score
CLOSED_LEFT, CLOSED_RIGHT, OPEN_LEFT, OPEN_RIGHT = 0, 1, 2, 3  # an item's head is on the other side


class EisnerChart:
    """The items over nodes 0 to n; ``scores`` is a square table of arcs, whose column 0 rules out arcs into node 0.

    Four tables of items lie one after the other, each item in the row of its left end. Each is made of two others, in
    as many ways as `_ways` says: the first of the pair goes along a row, the second down a column. With
    ``single_root`` node 0 takes one word only: there is nothing between it and what is attached to that word.
    """

    def __init__(self, n: int, single_root: bool) -> None:
        self.size = n + 1
        self.single_root = single_root
        self.area = self.size * self.size
        self.scores = array("d", bytes(8 * self.area))
        self.items = array("d", bytes(32 * self.area))
        self.weights = array("d", [0.0])  # of the items, once they are asked for
        self.agenda = array("i", bytes(48 * self.size))
        self.heads = array("i", [-1] * self.size)

    def fill(self, scores: memoryview[float]) -> None:
        """Copy the scores of arcs."""
        for head in range(self.size):
            self.scores[head * self.size] = NO_TREE
            for word in range(1, self.size):
                self.scores[head * self.size + word] = scores[head, word]

    def _ways(self, kind: int, left: int, right: int) -> int:
        return 1 if kind >= OPEN_LEFT and left == 0 and self.single_root else right - left

    def _first(self, kind: int, left: int, right: int) -> int:
        """Place of the first item of the first pair that makes an item; of the next pair, one further."""
        diagonal = left * self.size + left
        if kind == CLOSED_LEFT:
            return diagonal
        if kind == CLOSED_RIGHT:
            return OPEN_RIGHT * self.area + diagonal + 1
        return CLOSED_RIGHT * self.area + diagonal

    def _second(self, kind: int, left: int, right: int) -> int:
        """Place of the second item of the first pair; of the next pair, a row further."""
        here = left * self.size + right
        if kind == CLOSED_LEFT:
            return OPEN_LEFT * self.area + here
        if kind == CLOSED_RIGHT:
            return CLOSED_RIGHT * self.area + here + self.size
        return here + self.size

    def _join(self, kind: int, left: int, right: int, sums: bool) -> float:
        """Return the best sum of a pair of items, or log of the sum of exponentials over all pairs."""
        first = self._first(kind, left, right)
        second = self._second(kind, left, right)
        ways = self._ways(kind, left, right)
        best = self.items[first] + self.items[second]
        for k in range(1, ways):
            best = max(best, self.items[first + k] + self.items[second + k * self.size])
        if not sums or ways == 1 or best < LOWEST:
            return best
        total = 0.0
        for k in range(ways):
            total += exp(self.items[first + k] + self.items[second + k * self.size] - best)
        return best + log(total)

    def _fill_items(self, last: int, sums: bool) -> float:
        """Find the value of every item over nodes 0 to last; return that of the whole."""
        size = self.size
        for i in range(last + 1):
            self.items[i * size + i] = self.items[CLOSED_RIGHT * self.area + i * size + i] = 0
        for width in range(1, last + 1):
            for left in range(last + 1 - width):
                right = left + width
                here = left * size + right
                below = self._join(OPEN_LEFT, left, right, sums)
                self.items[OPEN_LEFT * self.area + here] = below + self.scores[right * size + left]
                self.items[OPEN_RIGHT * self.area + here] = below + self.scores[here]
                self.items[here] = self._join(CLOSED_LEFT, left, right, sums)
                self.items[CLOSED_RIGHT * self.area + here] = self._join(CLOSED_RIGHT, left, right, sums)
        return self.items[CLOSED_RIGHT * self.area + last]

    def _choose(self, kind: int, left: int, right: int, draw: float) -> int:
        """Return which pair of items is the best or, if draw is not negative, which one is drawn."""
        first = self._first(kind, left, right)
        second = self._second(kind, left, right)
        best = 0
        top = self.items[first] + self.items[second]
        for k in range(1, self._ways(kind, left, right)):
            value = self.items[first + k] + self.items[second + k * self.size]
            if value > top:
                best = k
                top = value
        if draw < 0:
            return best
        rest = draw * exp(self._join(kind, left, right, True) - top)
        for k in range(self._ways(kind, left, right)):
            rest -= exp(self.items[first + k] + self.items[second + k * self.size] - top)
            if rest < 0:
                return k
        return best

    def _push(self, depth: int, kind: int, left: int, right: int) -> int:
        """Put an item on the agenda unless it is empty; return how many there are."""
        if left == right:
            return depth
        self.agenda[3 * depth] = kind
        self.agenda[3 * depth + 1] = left
        self.agenda[3 * depth + 2] = right
        return depth + 1

    def _trace(self, last: int, draws: array[float]) -> None:
        """Fill ``heads`` with the best tree or, if there are random numbers, with one drawn by them."""
        drawn = 0
        is_random = draws[0] >= 0
        depth = self._push(0, CLOSED_RIGHT, 0, last)
        while depth > 0:
            depth -= 1
            kind = self.agenda[3 * depth]
            left = self.agenda[3 * depth + 1]
            right = self.agenda[3 * depth + 2]
            way = self._choose(kind, left, right, draws[drawn])
            drawn += is_random
            if kind == CLOSED_LEFT:
                depth = self._push(depth, CLOSED_LEFT, left, left + way)
                depth = self._push(depth, OPEN_LEFT, left + way, right)
            elif kind == CLOSED_RIGHT:
                depth = self._push(depth, OPEN_RIGHT, left, left + 1 + way)
                depth = self._push(depth, CLOSED_RIGHT, left + 1 + way, right)
            else:
                if kind == OPEN_LEFT:
                    self.heads[left] = right
                else:
                    self.heads[right] = left
                depth = self._push(depth, CLOSED_RIGHT, left, left + way)
                depth = self._push(depth, CLOSED_LEFT, left + way + 1, right)

    def _hand_down(self, kind: int, left: int, right: int, value: float, weight: float) -> None:
        """Divide the weight of an item among the pairs that make it."""
        if weight == 0:
            return
        first = self._first(kind, left, right)
        second = self._second(kind, left, right)
        for k in range(self._ways(kind, left, right)):
            share = weight * exp(self.items[first + k] + self.items[second + k * self.size] - value)
            self.weights[first + k] += share
            self.weights[second + k * self.size] += share

    def _fill_weights(self, last: int, out: memoryview[float]) -> None:
        """Find the probability of every item, from the widest to the narrowest, and so of every arc."""
        size = self.size
        open_left = OPEN_LEFT * self.area
        open_right = OPEN_RIGHT * self.area
        closed_right = CLOSED_RIGHT * self.area
        self.weights[closed_right + last] = 1
        for width in range(last, 0, -1):
            for left in range(last + 1 - width):
                right = left + width
                here = left * size + right
                self._hand_down(CLOSED_LEFT, left, right, self.items[here], self.weights[here])
                self._hand_down(
                    CLOSED_RIGHT, left, right, self.items[closed_right + here], self.weights[closed_right + here]
                )
                out[right, left] = self.weights[open_left + here]
                out[left, right] = self.weights[open_right + here]
                weight = out[right, left] + out[left, right]
                if weight > 0:
                    self._hand_down(OPEN_LEFT, left, right, self._join(OPEN_LEFT, left, right, True), weight)

    def best(self) -> float:
        """Find the best tree; return its value."""
        with cython.nogil:
            return self._fill_items(self.size - 1, False)

    def total(self) -> float:
        """Return log of the sum of the exponentials of all trees' values."""
        with cython.nogil:
            return self._fill_items(self.size - 1, True)

    def trace(self, draws: array[float]) -> None:
        """Fill ``heads``: after `best`, given -1, with the best tree; after `total`, with what random numbers draw."""
        with cython.nogil:
            self._trace(self.size - 1, draws)

    def fill_marginals(self, out: memoryview[float]) -> None:
        """Write the probability of every arc, after `total`."""
        self.weights = array("d", bytes(32 * self.area))
        with cython.nogil:
            self._fill_weights(self.size - 1, out)


class Eisner(Decoder):
    """The best projective tree, sums over projective trees and samples of them."""

    proof = "projective-chart"

    def memory(self, n: int) -> int:
        """Return the bytes of items and scores."""
        return 40 * (n + 1) ** 2 + 52 * (n + 1)

    def _chart(self, scores: Scores) -> EisnerChart:
        chart = EisnerChart(words_in(scores), self.single_root)
        chart.fill(memoryview(scores))
        return chart

    def best(self, scores: Scores) -> Decoded:
        """Return the best projective tree."""
        chart = self._chart(scores)
        if chart.best() < LOWEST:
            return no_tree(self.proof)
        chart.trace(array("d", [-1.0]))
        heads = array("i", chart.heads)
        return Decoded(heads, tree_value(memoryview(scores), heads), self.proof)

    def log_partition(self, scores: Scores) -> float:
        """Return log of the sum of exp(value) over projective trees."""
        return self._chart(scores).total()

    def _summed(self, scores: Scores) -> EisnerChart:
        chart = self._chart(scores)
        if chart.total() < LOWEST:
            raise ConfigError("every projective tree has the value -inf: there is no distribution over them")
        return chart

    def marginals(self, scores: Scores) -> memoryview[float]:
        """Return the probability of every arc in a projective tree."""
        chart = self._summed(scores)
        out = score_table(words_in(scores), 0.0, "d")
        chart.fill_marginals(out)
        return out

    def sample(self, scores: Scores, rng: Random) -> Decoded:
        """Return a projective tree drawn with probability exp(value - log_partition)."""
        chart = self._summed(scores)
        chart.trace(array("d", [rng.random() for _ in range(4 * words_in(scores) + 1)]))
        heads = array("i", chart.heads)
        return Decoded(heads, tree_value(memoryview(scores), heads), "sample")
