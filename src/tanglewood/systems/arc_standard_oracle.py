"""The exact dynamic oracle of arc-standard (after Goldberg, Sartorio & Satta 2014), for all gold trees.

Whether an arc of arc-standard can still be made depends on the others: from the stack a, b, c either b -> a or c -> b
can come about, but not both, as b is on top again only once c is gone. The nodes in play are those of the stack, the
top being p, and of the buffer. A projective tree over them can be derived exactly if no two nodes below p are joined
before something is joined to p: everything that a node below p has in its subtree, if it has anything, reaches at
least to p, and so does the subtree of every node below p that gets its head from the left.

The best such tree is found by Eisner's items, with right ends before p left out. One of them is split in two: where a
node below p gets its head from the right, it may have dependents on its left only if those on its right reach p.
Items within the buffer are the same in all states, so that they are made once for a gold tree; in a state, those that
begin on the stack are: O(d n^2) for d nodes on it. In the paper the gold tree must be projective; here any tree will
do (as in Nederhof 2019), and single_root is obeyed. The tests compare it with exhaustive search.
"""

from __future__ import annotations

from array import array

from tanglewood.core.oracle import LossOracle
from tanglewood.core.state import State

NEVER = -1_000_000  # gain of what cannot be built


class DynamicOracle(LossOracle):
    """Exact cost of every move from any state, for any gold tree.

    An item is in the row of its left end and the column of its right end; ``left`` and ``right`` are a node with what
    is attached to it on that side, ``arc_left`` and ``arc_right`` an arc in that direction and all between its ends.
    Those within the buffer are in the rows of its words in tables of their own.
    """

    def _prepare(self) -> None:
        LossOracle._prepare(self)
        area = (self.n + 1) * (self.n + 1)
        self.nodes = array("i", bytes(4 * self.n + 8))
        self.left = array("i", bytes(4 * area))
        self.right = array("i", bytes(4 * area))
        self.arc_left = array("i", bytes(4 * area))
        self.arc_right = array("i", bytes(4 * area))
        self.reaching = array("i", bytes(4 * area))  # arc_left, the dependent's own dependents reaching p
        self.buffer_left = array("i", bytes(4 * area))
        self.buffer_right = array("i", bytes(4 * area))
        self.buffer_arc_left = array("i", bytes(4 * area))
        self._fill_buffer()

    def _fill_buffer(self) -> None:
        """Make the items of words that are all in the buffer: plain Eisner."""
        size = self.n + 1
        for low in range(self.n, 0, -1):
            row = low * size
            self.buffer_left[row + low] = self.buffer_right[row + low] = 0
            for high in range(low + 1, size):
                best = NEVER
                for split in range(low, high):
                    best = max(best, self.buffer_right[row + split] + self.buffer_left[(split + 1) * size + high])
                self.arc_right[row + high] = best + (self.heads[high] == low)
                self.buffer_arc_left[row + high] = best + (self.heads[low] == high)
                best = self.buffer_arc_left[row + high]
                for split in range(low + 1, high):
                    best = max(best, self.buffer_left[row + split] + self.buffer_arc_left[split * size + high])
                self.buffer_left[row + high] = best
                best = NEVER
                for split in range(low + 1, high + 1):
                    best = max(best, self.arc_right[row + split] + self.buffer_right[split * size + high])
                self.buffer_right[row + high] = best

    def _left(self, place: int, high: int, top: int) -> int:
        """Item of the word ``high`` and what is on its left, down to the node at a place."""
        row = self.nodes[place] * (self.n + 1)
        return self.left[row + high] if place <= top else self.buffer_left[row + high]

    def _right(self, place: int, high: int, top: int) -> int:
        """Item of the node at a place and what is on its right, up to the word ``high``."""
        row = self.nodes[place] * (self.n + 1)
        return self.right[row + high] if place <= top else self.buffer_right[row + high]

    def _fill_row(self, low: int, top: int, last: int) -> None:
        """Make the items that begin at a place on the stack; those that begin further up are there already."""
        size = self.n + 1
        node = self.nodes[low]
        row = node * size
        self.left[row + node] = self.right[row + node] = 0
        for place in range(low + 1, last + 1):
            word = self.nodes[place]
            alone = self._left(low + 1, word, top)  # nothing on the right of the node yet
            reaching = NEVER
            if node > 0 or not self.system.single_root:
                for split in range(max(low + 1, top), place):
                    reaching = max(reaching, self.right[row + self.nodes[split]] + self._left(split + 1, word, top))
            if low == top:
                reaching = max(reaching, alone)
            self.arc_right[row + word] = max(alone, reaching) + (self.heads[word] == node)
            if node > 0:
                gain = 1 if self.heads[node] == word else 0
                self.arc_left[row + word] = max(alone, reaching) + gain
                self.reaching[row + word] = reaching + gain
                best = self.arc_left[row + word]
                for split in range(low + 1, place):
                    between = self.nodes[split]
                    if split < top:
                        arc = self.reaching[between * size + word]
                    elif split == top:
                        arc = self.arc_left[between * size + word]
                    else:
                        arc = self.buffer_arc_left[between * size + word]
                    best = max(best, self.left[row + between] + arc)
                self.left[row + word] = best
            if place >= top:
                best = NEVER
                for split in range(low + 1, place + 1):
                    best = max(best, self.arc_right[row + self.nodes[split]] + self._right(split, word, top))
                self.right[row + word] = best

    def _loss(self, s: State) -> int:
        """Fewest words with a wrong head over all ways to go on from here."""
        last = s.depth + s.n_buffer - 1
        for place in range(s.depth):
            self.nodes[place] = s.stack[place]
        for place in range(s.n_buffer):
            self.nodes[s.depth + place] = s.buffer[s.n_buffer - 1 - place]
        wrong = 0
        for word in range(1, self.n + 1):
            if s.heads[word] >= 0 and s.heads[word] != self.heads[word]:
                wrong += 1
        for low in range(s.depth - 1, -1, -1):
            self._fill_row(low, s.depth - 1, last)
        return wrong + last - self.right[self.nodes[last]]
