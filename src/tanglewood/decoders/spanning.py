"""The best tree of all trees, by Chu & Liu (1965) and Edmonds (1967) in O(n^2), with one root or several.

Weights are pairs, a level and a value, compared by level first: an arc that is forbidden costs a level, and so does, if
there is to be one root, every arc from 0. The algorithm only adds and compares, so pairs are as good as numbers, and
the tree it finds has as few forbidden arcs as possible, then as few roots, then the best score. This is the penalty
that others subtract from the arcs of the root (Stanojević & Cohen 2021), made infinite, so that nothing is rounded.
"""

from __future__ import annotations

from array import array
from random import Random

from tanglewood.decoders.base import Decoded, Decoder, Scores, no_tree, tree_value, words_in
from tanglewood.decoders.matrix_tree import MatrixTree

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

UNSEEN, ON_PATH, DONE, MERGED = 0, 1, 2, 3
FORBIDDEN = 1 << 20  # more levels than a tree has roots
LOWEST = -1e300  # below any finite float32


class Edmonds:
    """The work of one sentence: a dense table of arcs between slots; a cycle becomes one slot, that of a member.

    Every word, and every cycle that was contracted, has a number in the forest: words first. A slot stands for the
    number that ``numbers`` says, and each number has chosen an arc between two words.
    """

    def __init__(self, n: int) -> None:
        size = n + 1
        self.size = size
        self.levels = array("d", bytes(8 * size * size))
        self.values = array("d", bytes(8 * size * size))
        self.arc_heads = array("i", bytes(4 * size * size))
        self.arc_words = array("i", bytes(4 * size * size))
        self.states = array("i", bytes(4 * size))
        self.path = array("i", bytes(4 * size))
        self.sources = array("i", bytes(4 * size))
        self.numbers = array("i", range(size))
        self.above = array("i", bytes(8 * size))
        self.chosen_heads = array("i", bytes(8 * size))
        self.chosen_words = array("i", bytes(8 * size))
        self.heads = array("i", [-1] * size)

    def _fill(self, scores: memoryview[float], single_root: bool) -> None:
        for head in range(self.size):
            for word in range(1, self.size):
                place = head * self.size + word
                value = scores[head, word]
                is_allowed = value > LOWEST
                self.levels[place] = 0 if is_allowed else -FORBIDDEN
                self.values[place] = value if is_allowed else 0
                if head == 0 and single_root:
                    self.levels[place] -= 1
                self.arc_heads[place] = head
                self.arc_words[place] = word

    def _best_source(self, slot: int) -> int:
        """Return the slot that the best arc into this one comes from."""
        best = -1
        level = value = 0.0
        for source in range(self.size):
            if source == slot or self.states[source] == MERGED:
                continue
            place = source * self.size + slot
            if best < 0 or self.levels[place] > level or (self.levels[place] == level and self.values[place] > value):
                best = source
                level = self.levels[place]
                value = self.values[place]
        return best

    def _contract(self, first: int, last: int) -> None:
        """Merge the slots of the path from first to last, which form a cycle, into one: that of the first.

        An arc that enters the cycle takes the place of the cycle's own arc into the same member.
        """
        size = self.size
        kept = self.path[first]
        for i in range(first, last):
            self.states[self.path[i]] = MERGED
        for other in range(size):
            if self.states[other] == MERGED:
                continue
            entry = leaving = -1
            level = value = leaving_level = leaving_value = 0.0
            for i in range(first, last):
                member = self.path[i]
                own = self.sources[member] * size + member
                place = other * size + member
                gain_level = self.levels[place] - self.levels[own]
                gain = self.values[place] - self.values[own]
                if entry < 0 or gain_level > level or (gain_level == level and gain > value):
                    entry = place
                    level = gain_level
                    value = gain
                place = member * size + other
                if other > 0 and (
                    leaving < 0
                    or self.levels[place] > leaving_level
                    or (self.levels[place] == leaving_level and self.values[place] > leaving_value)
                ):
                    leaving = place
                    leaving_level = self.levels[place]
                    leaving_value = self.values[place]
            self._set(other * size + kept, entry, level, value)
            if other > 0:
                self._set(kept * size + other, leaving, leaving_level, leaving_value)
        self.states[kept] = UNSEEN

    def _set(self, place: int, arc: int, level: float, value: float) -> None:
        """Put an arc into a place of the table, with a weight of its own."""
        self.levels[place] = level
        self.values[place] = value
        self.arc_heads[place] = self.arc_heads[arc]
        self.arc_words[place] = self.arc_words[arc]

    def _run(self, scores: memoryview[float], single_root: bool) -> None:
        self._fill(scores, single_root)
        self.states[0] = DONE
        last = self.size - 1  # last number given
        for start in range(1, self.size):
            if self.states[start] != UNSEEN:
                continue
            slot = start
            depth = 0
            while self.states[slot] == UNSEEN:
                self.states[slot] = ON_PATH
                self.path[depth] = slot
                depth += 1
                source = self._best_source(slot)
                self.sources[slot] = source
                number = self.numbers[slot]
                self.chosen_heads[number] = self.arc_heads[source * self.size + slot]
                self.chosen_words[number] = self.arc_words[source * self.size + slot]
                slot = source
                if self.states[slot] == ON_PATH:
                    first = depth - 1
                    last += 1
                    while self.path[first] != slot:
                        self.above[self.numbers[self.path[first]]] = last
                        first -= 1
                    self.above[self.numbers[slot]] = last
                    self._contract(first, depth)
                    self.numbers[slot] = last
                    depth = first
            for i in range(depth):
                self.states[self.path[i]] = DONE
        # From the outermost cycles inwards: an arc into a cycle takes the place of the arc into each of the numbers
        # around its word, the others keep what they have chosen.
        for number in range(last, 0, -1):
            if self.chosen_words[number] > 0:
                word = self.chosen_words[number]
                self.heads[word] = self.chosen_heads[number]
                while word != number:
                    self.chosen_words[word] = 0
                    word = self.above[word]

    def run(self, scores: memoryview[float], single_root: bool) -> None:
        """Fill ``heads`` with the best tree."""
        with cython.nogil:
            self._run(scores, single_root)


class SpanningTree(Decoder):
    """The best of all trees; the partition function and all that comes from it by the matrix-tree theorem."""

    proof = "spanning-tree"

    def memory(self, n: int) -> int:
        """Return the bytes of the dense tables."""
        return 24 * (n + 1) ** 2 + 40 * (n + 1)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree."""
        edmonds = Edmonds(words_in(scores))
        edmonds.run(memoryview(scores), self.single_root)
        heads = array("i", edmonds.heads)
        value = tree_value(scores, heads)
        if value < LOWEST or (self.single_root and heads.count(0) > 1):
            return no_tree(self.proof)
        return Decoded(heads, value, self.proof)

    def log_partition(self, scores: Scores) -> float:
        """Return log of the sum of exp(value) over all trees."""
        return MatrixTree(scores, self.single_root).log_partition()

    def marginals(self, scores: Scores) -> memoryview[float]:
        """Return the probability of every arc."""
        return MatrixTree(scores, self.single_root).marginals()

    def sample(self, scores: Scores, rng: Random) -> Decoded:
        """Return a tree drawn with probability exp(value - log_partition)."""
        heads = MatrixTree(scores, self.single_root).sample(rng)
        return Decoded(heads, tree_value(scores, heads), "sample")
