"""One parser configuration as flat int32 arrays in one block, so that copying it is one memcpy, or none."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tanglewood.core.kinds import FIRST_TAG
from tanglewood.errors import ConfigError

FIELDS = 13  # arrays in the block, each of n + 2 ints
NUMBERS = 10  # ints beside it; the number of steps, which may be quadratic, is two of them
HALF = 1 << 30


class State:
    """Stack, buffer and the arcs built so far; node 0 is the artificial root, -1 means none.

    ``stack[depth - 1]`` is the top of the stack, ``buffer[n_buffer - 1]`` the front of the buffer; ``left1`` and
    ``left2`` are the leftmost and second leftmost dependent of each node, ``right1`` and ``right2`` likewise. What only
    some systems need has a field of its own: ``aside`` is a second list (skipped words, the other plane's stack, open
    valencies, with ``aside_labels`` beside it), ``component`` a union-find forest over the arcs, ``marks`` a number
    per word, ``phase`` and ``count`` a number per configuration. ``repaired`` counts the words that a final step
    attached to the root word to keep the tree single-rooted, ``put_back`` those at the front of the buffer that were on
    the stack before.

    ``tag_candidates`` belong to the sentence, not to the configuration: for every node ``candidate_width`` ints, the
    tags that a word may be given (-1: no more) and one number for the whole set; none where any tag will do.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._lie_in(memoryview(array("i", bytes(4 * FIELDS * (n + 2)))))
        self.tag_candidates = self.block[:0]
        self.candidate_width = 0
        self._clear()

    def _lie_in(self, block: memoryview[int]) -> None:
        """Take a block for all arrays."""
        size = self.n + 2
        self.block = block
        # First the arrays that start as -1, then those that start as 0, then those that systems fill.
        self.heads = self.block[:size]
        self.labels = self.block[size : 2 * size]
        self.left1 = self.block[2 * size : 3 * size]
        self.left2 = self.block[3 * size : 4 * size]
        self.right1 = self.block[4 * size : 5 * size]
        self.right2 = self.block[5 * size : 6 * size]
        self.n_deps = self.block[6 * size : 7 * size]
        self.marks = self.block[7 * size : 8 * size]
        self.stack = self.block[8 * size : 9 * size]
        self.buffer = self.block[9 * size : 10 * size]
        self.aside = self.block[10 * size : 11 * size]
        self.aside_labels = self.block[11 * size : 12 * size]
        self.component = self.block[12 * size :]

    def take_candidates(self, candidates: array[int]) -> None:
        """Set the tags that the words of the sentence may be given."""
        if len(candidates) % (self.n + 1):
            raise ConfigError(f"{len(candidates)} numbers cannot be shared out among {self.n + 1} nodes")
        self.tag_candidates = memoryview(candidates)
        self.candidate_width = len(candidates) // (self.n + 1)

    def _clear(self) -> None:
        """Forget all arcs and empty every list; a system's start fills stack and buffer."""
        self.depth = self.n_buffer = self.aside_depth = self.phase = self.steps = self.arcs = self.count = 0
        self.repaired = self.put_back = 0
        for i in range(6 * (self.n + 2)):
            self.block[i] = -1
        for i in range(6 * (self.n + 2), 8 * (self.n + 2)):
            self.block[i] = 0

    def copy(self) -> State:
        """Return an independent copy."""
        twin = State(self.n)
        twin._copy_from(self)
        twin.tag_candidates = self.tag_candidates
        twin.candidate_width = self.candidate_width
        return twin

    def _copy_from(self, other: State) -> None:
        self.block[:] = other.block
        self.depth = other.depth
        self.n_buffer = other.n_buffer
        self.aside_depth = other.aside_depth
        self.phase = other.phase
        self.steps = other.steps
        self.arcs = other.arcs
        self.count = other.count
        self.repaired = other.repaired
        self.put_back = other.put_back

    def _size(self) -> int:
        """Number of ints that a configuration takes in a pool."""
        return FIELDS * (self.n + 2) + NUMBERS

    def _load(self, pool: memoryview[int], start: int, whole: bool) -> None:
        """Read a place in a pool of ints; if not ``whole``, the arrays stay there and are changed there from now on."""
        size = FIELDS * (self.n + 2)
        if whole:
            for i in range(size):
                self.block[i] = pool[start + i]
        else:
            self._lie_in(pool[start : start + size])
        self.depth = pool[start + size]
        self.n_buffer = pool[start + size + 1]
        self.aside_depth = pool[start + size + 2]
        self.phase = pool[start + size + 3]
        high = pool[start + size + 9]
        self.steps = high * HALF + pool[start + size + 4]
        self.arcs = pool[start + size + 5]
        self.count = pool[start + size + 6]
        self.repaired = pool[start + size + 7]
        self.put_back = pool[start + size + 8]

    def _save(self, pool: memoryview[int], start: int, whole: bool) -> None:
        """Write to a place in a pool: everything, or all but the arrays, which lie there."""
        size = FIELDS * (self.n + 2)
        if whole:
            for i in range(size):
                pool[start + i] = self.block[i]
        pool[start + size] = self.depth
        pool[start + size + 1] = self.n_buffer
        pool[start + size + 2] = self.aside_depth
        pool[start + size + 3] = self.phase
        pool[start + size + 4] = self.steps % HALF
        pool[start + size + 5] = self.arcs
        pool[start + size + 6] = self.count
        pool[start + size + 7] = self.repaired
        pool[start + size + 8] = self.put_back
        pool[start + size + 9] = self.steps // HALF

    def _attach(self, head: int, dependent: int, label: int) -> None:
        """Add the arc head -> dependent; a head the dependent had before is replaced."""
        old = self.heads[dependent]
        self.heads[dependent] = head
        self.labels[dependent] = label
        self.n_deps[head] += 1
        self._see_child(head, dependent)
        if old < 0:
            self.arcs += 1
            return
        self.n_deps[old] -= 1
        self.left1[old] = self.left2[old] = self.right1[old] = self.right2[old] = -1
        for word in range(1, self.n + 1):
            if self.heads[word] == old:
                self._see_child(old, word)

    def take_arcs(self, heads: Sequence[int], labels: Sequence[int]) -> None:
        """Add the arcs of a whole tree, given by heads and label numbers indexed by node."""
        for word in range(1, self.n + 1):
            self._attach(heads[word], word, labels[word])

    def _see_child(self, head: int, dependent: int) -> None:
        """Keep the two outermost dependents on either side of the head up to date."""
        if dependent < head:
            if self.left1[head] < 0 or dependent < self.left1[head]:
                self.left2[head] = self.left1[head]
                self.left1[head] = dependent
            elif dependent > self.left1[head] and (self.left2[head] < 0 or dependent < self.left2[head]):
                self.left2[head] = dependent
        elif self.right1[head] < 0 or dependent > self.right1[head]:
            self.right2[head] = self.right1[head]
            self.right1[head] = dependent
        elif dependent < self.right1[head] and dependent > self.right2[head]:
            self.right2[head] = dependent

    def _top(self) -> int:
        """Top of the stack, or -1."""
        return self.stack[self.depth - 1] if self.depth > 0 else -1

    def _front(self) -> int:
        """Front of the buffer, or -1."""
        return self.buffer[self.n_buffer - 1] if self.n_buffer > 0 else -1

    def _shift(self) -> None:
        """Move the front of the buffer onto the stack."""
        self.n_buffer -= 1
        self.stack[self.depth] = self.buffer[self.n_buffer]
        self.depth += 1

    def _part(self) -> None:
        """Make every node a component of its own, for systems that join components when they add an arc."""
        for node in range(self.n + 1):
            self.component[node] = node

    def _root_of(self, node: int) -> int:
        """Representative of the node's component."""
        while self.component[node] != node:
            self.component[node] = self.component[self.component[node]]
            node = self.component[node]
        return node

    def stack_nodes(self) -> list[int]:
        """Nodes on the stack, top last."""
        return [self.stack[i] for i in range(self.depth)]

    def buffer_nodes(self) -> list[int]:
        """Nodes in the buffer, front first."""
        return [self.buffer[i] for i in range(self.n_buffer - 1, -1, -1)]

    def aside_nodes(self) -> list[int]:
        """Nodes of the second list, in the order they were put there."""
        return [self.aside[i] for i in range(self.aside_depth)]

    def word_heads(self) -> list[int]:
        """Heads of words 1..n; -1 where a word has none yet."""
        return [self.heads[i] for i in range(1, self.n + 1)]

    def word_tags(self) -> list[int]:
        """Tag numbers of words 1..n where a system gives tags; -1 where no move gave one."""
        return [max(self.marks[i] - FIRST_TAG, -1) for i in range(1, self.n + 1)]

    def word_labels(self) -> list[int]:
        """Label numbers of words 1..n; -1 where no move gave one."""
        return [self.labels[i] for i in range(1, self.n + 1)]
