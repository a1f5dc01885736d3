"""One parser configuration as flat int32 arrays in one block, so that copying it is one memcpy."""

from __future__ import annotations

from array import array

FIELDS = 9  # arrays in the block, each of n + 2 ints


class State:
    """Stack, buffer and the arcs built so far; node 0 is the artificial root, -1 means none.

    ``stack[depth - 1]`` is the top of the stack, ``buffer[left - 1]`` the front of the buffer. What only some
    systems need has a field of its own: ``aside`` is a second list (skipped words, the other plane's stack, open
    valencies, with ``aside_labels`` beside it), ``component`` a union-find forest over the arcs, ``marks`` a number
    per word, ``phase`` and ``count`` a number per configuration. ``repaired`` counts the words a final step hung
    on the root word to keep the tree single-rooted.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        size = n + 2
        self.block = memoryview(array("i", bytes(4 * FIELDS * size)))
        self.stack = self.block[:size]
        self.buffer = self.block[size : 2 * size]
        self.heads = self.block[2 * size : 3 * size]
        self.labels = self.block[3 * size : 4 * size]
        self.n_deps = self.block[4 * size : 5 * size]
        self.aside = self.block[5 * size : 6 * size]
        self.aside_labels = self.block[6 * size : 7 * size]
        self.component = self.block[7 * size : 8 * size]
        self.marks = self.block[8 * size :]
        self._clear()

    def _clear(self) -> None:
        """Forget all arcs and empty every list; a system's start fills stack and buffer."""
        self.depth = self.left = self.aside_depth = self.phase = self.steps = self.arcs = self.count = 0
        self.repaired = 0
        for node in range(self.n + 1):
            self.heads[node] = -1
            self.labels[node] = -1
            self.n_deps[node] = 0
            self.component[node] = node
            self.marks[node] = 0

    def copy(self) -> State:
        """Return an independent copy."""
        twin = State(self.n)
        twin._copy_from(self)
        return twin

    def _copy_from(self, other: State) -> None:
        self.block[:] = other.block
        self.depth = other.depth
        self.left = other.left
        self.aside_depth = other.aside_depth
        self.phase = other.phase
        self.steps = other.steps
        self.arcs = other.arcs
        self.count = other.count
        self.repaired = other.repaired

    def _attach(self, head: int, dependent: int, label: int) -> None:
        """Add the arc head -> dependent; a head the dependent had before is replaced."""
        old = self.heads[dependent]
        if old >= 0:
            self.n_deps[old] -= 1
        else:
            self.arcs += 1
        self.heads[dependent] = head
        self.labels[dependent] = label
        self.n_deps[head] += 1

    def _top(self) -> int:
        """Top of the stack, or -1."""
        return self.stack[self.depth - 1] if self.depth > 0 else -1

    def _front(self) -> int:
        """Front of the buffer, or -1."""
        return self.buffer[self.left - 1] if self.left > 0 else -1

    def _shift(self) -> None:
        """Move the front of the buffer onto the stack."""
        self.left -= 1
        self.stack[self.depth] = self.buffer[self.left]
        self.depth += 1

    def _root_of(self, node: int) -> int:
        """Representative of the node's component, for systems that join components when they add an arc."""
        while self.component[node] != node:
            self.component[node] = self.component[self.component[node]]
            node = self.component[node]
        return node

    def stack_nodes(self) -> list[int]:
        """Nodes on the stack, top last."""
        return [self.stack[i] for i in range(self.depth)]

    def buffer_nodes(self) -> list[int]:
        """Nodes in the buffer, front first."""
        return [self.buffer[i] for i in range(self.left - 1, -1, -1)]

    def aside_nodes(self) -> list[int]:
        """Nodes of the second list, in the order they were put there."""
        return [self.aside[i] for i in range(self.aside_depth)]

    def word_heads(self) -> list[int]:
        """Heads of words 1..n; -1 where a word has none yet."""
        return [self.heads[i] for i in range(1, self.n + 1)]

    def word_labels(self) -> list[int]:
        """Label numbers of words 1..n; -1 where no move gave one."""
        return [self.labels[i] for i in range(1, self.n + 1)]
