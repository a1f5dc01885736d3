"""Second-order Eisner: the best projective tree by scores of arcs and of siblings, in O(n^3) (McDonald & Pereira 2006).

To the items of `eisner`, a node with all that is attached to it on one side (closed) and an arc with all below it
(open), comes a third kind, two neighbouring dependents of a head outside with all between them (pair). An arc from a
head is made from the arc to the dependent before it and such a pair:

    pair    P[l,r]  = max_k  right[l,k] + left[k+1,r]
    open    l -> r  = s[l,r] + max( left[l+1,r] + s[l,-,r],  max_k (l -> k) + P[k,r] + s[l,k,r] )
            r -> l  = s[r,l] + max( right[l,r-1] + s[r,-,l], max_k (r -> k) + P[l,k] + s[r,k,l] )
    closed  right[l,r] = max_k (l -> k) + right[k,r],   left[l,r] = max_k left[l,k] + (r -> k)

Every projective tree is built in exactly one way. With a single root, 0 takes no dependent after another.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.base import NO_TREE, Decoded, no_tree
from tanglewood.decoders.siblings import SiblingDecoder, second_order_value, sibling_memory

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

LOWEST = -1e300  # below any finite score
MINUS = float("-inf")
CLOSED_LEFT, CLOSED_RIGHT, OPEN_LEFT, OPEN_RIGHT, PAIR = range(5)  # but for pairs, the head is on the other side


class SiblingChart:
    """The items over nodes 0 to n: five tables, one after the other, each item in the row of its left end."""

    def __init__(self, scores: memoryview[float], siblings: memoryview[float], single_root: bool) -> None:
        self.size = len(scores)
        self.area = self.size * self.size
        self.single_root = single_root
        self.scores = scores
        self.siblings = siblings
        self.items = array("d", bytes(40 * self.area))
        self.agenda = array("i", bytes(48 * self.size))
        self.heads = array("i", [-1] * self.size)
        self.value = 0.0

    def _item(self, kind: int, left: int, right: int) -> float:
        return self.items[kind * self.area + left * self.size + right]

    def _way(self, kind: int, left: int, right: int) -> int:
        """Find the best way to make an item: its value goes to ``value``, and the k of the rule is returned.

        For an arc to the first dependent on a side, that is the head.
        """
        best = -1
        top = MINUS
        low = left
        high = right
        if kind == CLOSED_RIGHT:
            low, high = left + 1, right + 1
        elif kind == OPEN_RIGHT:
            best, low = left, left + 1
            top = self._item(CLOSED_LEFT, left + 1, right) + self.siblings[left, left, right]
            if left == 0 and self.single_root:
                high = low
        elif kind == OPEN_LEFT:
            best, low = right, left + 1
            top = self._item(CLOSED_RIGHT, left, right - 1) + self.siblings[right, right, left]
        for k in range(low, high):
            if kind == CLOSED_LEFT:
                value = self._item(CLOSED_LEFT, left, k) + self._item(OPEN_LEFT, k, right)
            elif kind == CLOSED_RIGHT:
                value = self._item(OPEN_RIGHT, left, k) + self._item(CLOSED_RIGHT, k, right)
            elif kind == OPEN_RIGHT:
                value = self._item(OPEN_RIGHT, left, k) + self._item(PAIR, k, right) + self.siblings[left, k, right]
            elif kind == OPEN_LEFT:
                value = self._item(OPEN_LEFT, k, right) + self._item(PAIR, left, k) + self.siblings[right, k, left]
            else:
                value = self._item(CLOSED_RIGHT, left, k) + self._item(CLOSED_LEFT, k + 1, right)
            if value > top or best < 0:
                best = k
                top = value
        if kind == OPEN_RIGHT:
            top += self.scores[left, right]
        elif kind == OPEN_LEFT:
            top = top + self.scores[right, left] if left > 0 else MINUS
        self.value = top
        return best

    def _fill(self) -> float:
        for node in range(self.size):
            self.items[CLOSED_LEFT * self.area + node * self.size + node] = 0.0
            self.items[CLOSED_RIGHT * self.area + node * self.size + node] = 0.0
        for width in range(1, self.size):
            for left in range(self.size - width):
                for step in range(5):
                    kind = (step + 2) % 5  # first arcs, then pairs, then what is made of arcs
                    self._way(kind, left, left + width)
                    self.items[kind * self.area + left * self.size + left + width] = self.value
        return self._item(CLOSED_RIGHT, 0, self.size - 1)

    def _push(self, depth: int, kind: int, left: int, right: int) -> int:
        """Put an item on the agenda unless it is empty; return how many there are."""
        if left == right:
            return depth
        self.agenda[3 * depth] = kind
        self.agenda[3 * depth + 1] = left
        self.agenda[3 * depth + 2] = right
        return depth + 1

    def _trace(self) -> None:
        depth = self._push(0, CLOSED_RIGHT, 0, self.size - 1)
        while depth > 0:
            depth -= 1
            kind = self.agenda[3 * depth]
            left = self.agenda[3 * depth + 1]
            right = self.agenda[3 * depth + 2]
            k = self._way(kind, left, right)
            if kind == CLOSED_LEFT:
                depth = self._push(depth, CLOSED_LEFT, left, k)
                depth = self._push(depth, OPEN_LEFT, k, right)
            elif kind == CLOSED_RIGHT:
                depth = self._push(depth, OPEN_RIGHT, left, k)
                depth = self._push(depth, CLOSED_RIGHT, k, right)
            elif kind == PAIR:
                depth = self._push(depth, CLOSED_RIGHT, left, k)
                depth = self._push(depth, CLOSED_LEFT, k + 1, right)
            elif kind == OPEN_RIGHT:
                self.heads[right] = left
                if k == left:
                    depth = self._push(depth, CLOSED_LEFT, left + 1, right)
                else:
                    depth = self._push(depth, OPEN_RIGHT, left, k)
                    depth = self._push(depth, PAIR, k, right)
            else:
                self.heads[left] = right
                if k == right:
                    depth = self._push(depth, CLOSED_RIGHT, left, right - 1)
                else:
                    depth = self._push(depth, OPEN_LEFT, k, right)
                    depth = self._push(depth, PAIR, left, k)

    def run(self) -> float:
        """Find the best tree; return its value. ``heads`` then holds it, unless every tree has the value -inf."""
        with cython.nogil:
            best = self._fill()
            if best > LOWEST:
                self._trace()
        return best if best > LOWEST else NO_TREE


class Eisner2(SiblingDecoder):
    """The best projective tree by scores of arcs and of siblings."""

    proof = "projective-chart"

    def memory(self, n: int) -> int:
        """Return the bytes of items, and of the scores of siblings."""
        return 40 * (n + 1) ** 2 + 60 * (n + 1) + sibling_memory(n)

    def _best(self, scores: memoryview[float], siblings: memoryview[float]) -> Decoded:
        chart = SiblingChart(scores, siblings, self.single_root)
        if chart.run() == NO_TREE:
            return no_tree(self.proof)
        heads = array("i", chart.heads)
        nearer = array("i", bytes(8 * len(heads)))
        return Decoded(heads, second_order_value(scores, siblings, heads, nearer), self.proof)
