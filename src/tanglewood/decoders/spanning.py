"""The best tree of all trees, by Chu & Liu (1965) and Edmonds (1967) in O(n^2), with one root or several.

Weights are pairs, a level and a value, compared by level first: an arc that is forbidden costs a level, and so does, if
there is to be one root, every arc from 0. The algorithm only adds and compares, so pairs are as good as numbers, and
the tree it finds has as few forbidden arcs as possible, then as few roots, then the best score. This is the penalty
that others subtract from the arcs of the root (Stanojević & Cohen 2021), made infinite, so that nothing is rounded.

Mostly the best head of each word is all that is needed: if these heads form a tree of the class, none is better.
"""

from __future__ import annotations

from array import array
from random import Random

from tanglewood.decoders.base import Decoded, Decoder, Pool, Scores, no_tree, score_table, words_in
from tanglewood.decoders.elimination import Elimination
from tanglewood.decoders.matrix_tree import MatrixTree
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

UNSEEN, ON_PATH, DONE, MERGED = 0, 1, 2, 3
FORBIDDEN = 1 << 20  # more levels than a tree has roots
LOWEST = -1e300  # below any finite float32
NOTHING = float("-inf")
KEPT = 1000  # words of the longest sentence whose tables are kept for the next: 24 and 32 MB


class Edmonds:
    """Space for one sentence at a time: a dense table of arcs between slots; a cycle becomes the slot of a member.

    Every word, and every cycle that was contracted, has a number in the forest: words first. A slot stands for the
    number that ``numbers`` says, and each number has chosen an arc between two words.
    """

    def __init__(self) -> None:
        self.size = 0
        self.room = self.table_room = 0  # nodes that there is space for, beside the tables and in them
        self._make_room(1)
        self._make_tables(1)

    def _make_room(self, size: int) -> None:
        """Set the number of nodes, and allocate what they need beside the tables."""
        self.size = size
        if size <= self.room:
            return
        self.room = size
        self.tops = array("f", bytes(4 * size))
        self.states = array("i", bytes(4 * size))
        self.path = array("i", bytes(4 * size))
        self.sources = array("i", bytes(4 * size))
        self.numbers = array("i", bytes(4 * size))
        self.above = array("i", bytes(8 * size))
        self.chosen_heads = array("i", bytes(8 * size))
        self.chosen_words = array("i", bytes(8 * size))

    def _make_tables(self, size: int) -> None:
        """Allocate tables for this many nodes."""
        if size <= self.table_room:
            return
        self.table_room = size
        self.levels = array("d", bytes(8 * size * size))
        self.values = array("d", bytes(8 * size * size))
        self.arc_heads = array("i", bytes(4 * size * size))
        self.arc_words = array("i", bytes(4 * size * size))

    def _compare(self, scores: memoryview[float], head: int, first: int, last: int, heads: array[int]) -> None:
        """Make a head that of those words from first to last - 1 for which it is the best so far; note ties in path."""
        for word in range(first, last):
            value = scores[head, word]
            top = self.tops[word]
            self.path[word] = 0 if value > top else 1 if value == top else self.path[word]
            heads[word] = head if value > top else heads[word]
            self.tops[word] = value if value > top else top

    def _choose(self, scores: memoryview[float], single_root: bool, heads: array[int]) -> bool:
        """Give each word its best head; return whether that is the answer.

        Among equal heads the first is taken, as `_best_source` does. With one root contractions decide between them.
        """
        for word in range(self.size):
            self.tops[word] = NOTHING
            self.states[word] = 0
            self.path[word] = 0
            heads[word] = -1
        for head in range(self.size):
            self._compare(scores, head, 1, head, heads)
            self._compare(scores, head, head + 1, self.size, heads)
        roots = 0
        for word in range(1, self.size):
            if heads[word] < 0 or (single_root and self.path[word] == 1):
                return False
            if heads[word] == 0:
                roots += 1
        if single_root and roots > 1:
            return False
        for start in range(1, self.size):
            node = start
            while node > 0 and self.states[node] == 0:
                self.states[node] = start
                node = heads[node]
            if node > 0 and self.states[node] == start:
                return False  # a cycle
        return True

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

    def _run(self, scores: memoryview[float], single_root: bool, heads: array[int]) -> None:
        self._fill(scores, single_root)
        for node in range(self.size):
            self.states[node] = UNSEEN
            self.numbers[node] = node
        self.states[0] = DONE
        heads[0] = -1
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
                heads[word] = self.chosen_heads[number]
                while word != number:
                    self.chosen_words[word] = 0
                    word = self.above[word]

    def run(self, scores: memoryview[float], single_root: bool, heads: array[int]) -> float:
        """Fill ``heads``, indexed by node, with the best tree; return its value."""
        self._make_room(len(scores))
        self._make_tables(self.size)
        with cython.nogil:
            self._run(scores, single_root, heads)
        return tree_value(scores, heads)

    def best(self, scores: memoryview[float], single_root: bool, heads: array[int]) -> float:
        """Do what `run` does, without the tables if each word's best head is the answer."""
        self._make_room(len(scores))
        with cython.nogil:
            is_best = self._choose(scores, single_root, heads)
        return tree_value(scores, heads) if is_best else self.run(scores, single_root, heads)


class SpanningTree(Decoder):
    """The best of all trees; the partition function and all that comes from it by the matrix-tree theorem.

    One decoder serves any number of threads: each takes space to work in from what is free. Space stays as large as the
    longest sentence it has seen, except for very long ones. Sums are in plain doubles (elimination.py); only where
    weights are too far apart for these are they in logarithms (matrix_tree.py), which takes a hundred times longer.
    """

    proof = "spanning-tree"

    def __init__(self, *, single_root: bool = False) -> None:
        Decoder.__init__(self, single_root=single_root)
        self._searches = Pool(Edmonds)
        self._sums = Pool(Elimination)

    def memory(self, n: int) -> int:
        """Return the bytes of the dense tables."""
        return 24 * (n + 1) ** 2 + 40 * (n + 1)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree."""
        n = words_in(scores)
        heads = array("i", bytes(4 * (n + 1)))
        edmonds = self._searches.take()
        value = edmonds.best(memoryview(scores), self.single_root, heads)
        if n <= KEPT:
            self._searches.give(edmonds)
        if value < LOWEST or (self.single_root and heads.count(0) > 1):
            return no_tree(self.proof)
        return Decoded(heads, value, self.proof)

    def log_partition(self, scores: Scores) -> float:
        """Return log of the sum of exp(value) over all trees."""
        n = words_in(scores)
        sums = self._sums.take()
        done = sums.add_up(memoryview(scores), self.single_root, False)
        total: float = sums.total
        if n <= KEPT:
            self._sums.give(sums)
        return total if done else MatrixTree(scores, self.single_root).log_partition()

    def marginals(self, scores: Scores) -> memoryview[float]:
        """Return the probability of every arc."""
        out = score_table(words_in(scores), 0.0, "d")
        self._marginals(scores, out, is_double=True)
        return out

    def marginals_into(self, scores: Scores, out: Scores) -> float:
        """Write the probability of every arc to a float32 table like that of the scores; return log_partition.

        Column 0 and the diagonal become 0. Both may be the same table.
        """
        if words_in(out) != words_in(scores) or memoryview(out).readonly:
            raise ConfigError(
                f"probabilities are written to a table of the same shape as that of the scores, "
                f"{memoryview(scores).shape}, which can be written to"
            )
        return self._marginals(scores, memoryview(out), is_double=False)

    def _marginals(self, scores: Scores, out: memoryview[float], *, is_double: bool) -> float:
        """Write the probability of every arc; return log_partition."""
        sums = self._sums.take()
        done = sums.add_up(memoryview(scores), self.single_root, True)
        total: float = sums.total
        if done and is_double:
            sums.write_doubles(out)
        elif done:
            sums.write_floats(out)
        if len(out) <= KEPT + 1:
            self._sums.give(sums)
        if not done:
            in_logs = MatrixTree(scores, self.single_root)
            total = in_logs.log_partition()
            found = in_logs.marginals()
            for head in range(len(out)):
                for word in range(len(out)):
                    out[head, word] = found[head, word]
        return total

    def sample(self, scores: Scores, rng: Random) -> Decoded:
        """Return a tree drawn with probability exp(value - log_partition)."""
        heads = MatrixTree(scores, self.single_root).sample(rng)
        return Decoded(heads, tree_value(memoryview(scores), heads), "sample")
