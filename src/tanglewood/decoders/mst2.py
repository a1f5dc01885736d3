"""Second-order search over all trees, approximately (McDonald & Pereira 2006): from the best projective tree uphill.

The best of all trees by scores of arcs and siblings is hard to find (NP-hard). So the search begins with the best
projective tree; as long as giving one word another head makes the tree better and leaves it a tree, it takes the change
that gains most. What comes out is at least as good as the best projective tree, and no such change makes it better.
"""

from __future__ import annotations

from array import array

from tanglewood.decoders.base import NO_TREE, Decoded, no_tree
from tanglewood.decoders.eisner2 import Eisner2
from tanglewood.decoders.siblings import SiblingDecoder, second_order_value
from tanglewood.decoders.spanning import SpanningTree

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

MINUS = float("-inf")


class Climber:
    """A tree, and what it takes to give its words other heads; with ``single_root`` its root stays the only one."""

    def __init__(
        self, scores: memoryview[float], siblings: memoryview[float], heads: array[int], single_root: bool
    ) -> None:
        self.size = len(heads)
        self.single_root = single_root
        self.scores = scores
        self.siblings = siblings
        self.heads = array("i", heads)
        self.nearer = array("i", bytes(8 * self.size))
        self.before = array("i", bytes(4 * self.size))
        self.after = array("i", bytes(4 * self.size))
        self.gain = 0.0
        self.new_head = 0

    def _look_around(self, word: int) -> None:
        """Find every node's last dependent before a word and its first after it; 0 if there is none."""
        for node in range(self.size):
            self.before[node] = self.after[node] = 0
        for node in range(1, word):
            self.before[self.heads[node]] = node
        for node in range(self.size - 1, word, -1):
            self.after[self.heads[node]] = node

    def _worth(self, head: int, word: int) -> float:
        """What an arc adds to the tree of the other arcs: its score, and those of the siblings that come and go."""
        if head < word:
            far = self.after[head]
            near = self.before[head] if self.before[head] > head else head
        else:
            far = self.before[head]
            near = self.after[head] if 0 < self.after[head] < head else head
        worth = self.scores[head, word] + 0.0  # in double precision
        worth += self.siblings[head, near, word]
        if far > 0:
            worth += self.siblings[head, word, far]
            worth -= self.siblings[head, near, far]
        return worth

    def _is_below(self, node: int, word: int) -> bool:
        while node > 0 and node != word:
            node = self.heads[node]
        return node == word

    def _best_change(self) -> int:
        """Return the word whose new head gains most, and leave that head in ``new_head``; 0 if nothing gains."""
        best = 0
        self.gain = 0.0
        for word in range(1, self.size):
            old = self.heads[word]
            if old == 0 and self.single_root:
                continue
            self._look_around(word)
            worth = self._worth(old, word)
            for head in range(1 if self.single_root else 0, self.size):
                if head in (word, old):
                    continue
                gain = self._worth(head, word) - worth
                if gain > self.gain and not self._is_below(head, word):
                    best = word
                    self.gain = gain
                    self.new_head = head
        return best

    def climb(self) -> float:
        """Change the tree until nothing gains; return its value.

        Values of trees rise with every step, as they are computed, so that rounding cannot send it round in circles.
        """
        with cython.nogil:
            value = second_order_value(self.scores, self.siblings, self.heads, self.nearer)
            word = self._best_change() if value > MINUS else 0
            while word > 0:
                old = self.heads[word]
                self.heads[word] = self.new_head
                higher = second_order_value(self.scores, self.siblings, self.heads, self.nearer)
                if higher > value:
                    value = higher
                    word = self._best_change()
                else:
                    self.heads[word] = old
                    word = 0
        return value


class Mst2(SiblingDecoder):
    """A good tree of all trees by scores of arcs and of siblings: the best projective one, improved word by word.

    Where every projective tree has the value -inf, the search begins with the best tree by arcs alone.
    """

    proof = "local-optimum"

    def memory(self, n: int) -> int:
        """Return the bytes of the chart, and of the scores of siblings."""
        return Eisner2().memory(n) + 20 * (n + 1)

    def _best(self, scores: memoryview[float], siblings: memoryview[float]) -> Decoded:
        start = Eisner2(single_root=self.single_root).second_order_best(scores, siblings)
        if not start.found:
            start = SpanningTree(single_root=self.single_root).best(scores)
            if not start.found:
                return no_tree(self.proof)
        climber = Climber(scores, siblings, start.heads, self.single_root)
        value = climber.climb()
        return no_tree(self.proof) if value == NO_TREE else Decoded(array("i", climber.heads), value, self.proof)
