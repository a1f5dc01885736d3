"""Search for the derivation of a tree in swap that needs the fewest swaps.

Configurations are visited in the order of the swaps that led to them. Between two swaps everything is settled: an arc
is made as soon as it is gold and its dependent complete; otherwise SHIFT. Nodes i and j on top of the stack are
swapped only if j has a neighbour in the gold tree below i on the stack, or i has one in the buffer: else they are where
they should be. Whether these restrictions can cost a swap is not known; the tests try all derivations of short trees.
"""

from __future__ import annotations

from typing import NamedTuple

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)
SEARCH_LIMIT = 50_000  # moves that a search may make


class Fewest(NamedTuple):
    """What a search has found: a derivation, if there is one with fewer swaps than asked, and how many it takes."""

    moves: list[int]  # empty if there is none, or if the search gave up
    at_least: int  # no derivation has fewer swaps


class _Configuration:
    """A stack and a buffer, the front last, how many dependents each node waits for, and which moves were SWAP."""

    def __init__(
        self, stack: list[int], buffer: list[int], waiting: list[int], swaps: tuple[int, ...], steps: int
    ) -> None:
        self.stack = stack
        self.buffer = buffer
        self.waiting = waiting
        self.swaps = swaps
        self.steps = steps

    def swap(self) -> _Configuration:
        """Return the configuration after SWAP."""
        stack = self.stack[:]
        buffer = [*self.buffer, stack.pop(len(stack) - 2)]
        return _Configuration(stack, buffer, self.waiting[:], (*self.swaps, self.steps), self.steps + 1)

    def top(self) -> tuple[int, int]:
        """Return the two topmost nodes i and j of the stack, if there are two, or else -1 and -1."""
        depth = len(self.stack)  # compiled code has no negative indices
        return (self.stack[depth - 2], self.stack[depth - 1]) if depth > 1 else (-1, -1)

    def key(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """All that its future depends on."""
        return (tuple(self.stack), tuple(self.buffer))


class _Gold:
    """A gold tree, and its moves."""

    def __init__(self, heads: list[int]) -> None:
        self.heads = heads
        self.neighbours: list[list[int]] = [[] for _ in heads]
        for word, head in enumerate(heads[1:], 1):
            self.neighbours[word].append(head)
            self.neighbours[head].append(word)

    def start(self) -> _Configuration:
        n = len(self.heads) - 1
        waiting = [0] * (n + 1)
        for head in self.heads[1:]:
            waiting[head] += 1
        return _Configuration([0], list(range(n, 0, -1)), waiting, (), 0)

    def step(self, c: _Configuration) -> int:
        """Make an arc or SHIFT; return the move, or -1 where there is none."""
        i, j = c.top()
        if i >= 0:
            if self.heads[i] == j and c.waiting[i] == 0:
                c.stack.pop(len(c.stack) - 2)
                c.waiting[j] -= 1
                return LEFT_ARC
            if self.heads[j] == i and c.waiting[j] == 0:
                c.stack.pop()
                c.waiting[i] -= 1
                return RIGHT_ARC
        if not c.buffer:
            return -1
        c.stack.append(c.buffer.pop())
        return SHIFT

    def wants_swap(self, c: _Configuration, stacked: set[int], buffered: set[int]) -> bool:
        """Whether SWAP is legal and may be of use; stack and buffer are given as sets besides."""
        i, j = c.top()
        if not 0 < i < j or (self.heads[i] == j and c.waiting[i] == 0) or (self.heads[j] == i and c.waiting[j] == 0):
            return False
        return any(k != i and k in stacked for k in self.neighbours[j]) or any(
            k in buffered for k in self.neighbours[i]
        )

    def replay(self, swaps: tuple[int, ...]) -> list[int]:
        """Return all moves of the derivation that swaps at these steps."""
        c = self.start()
        moves: list[int] = []
        while c.buffer or len(c.stack) > 1:
            if len(moves) in swaps:
                c = c.swap()
                moves.append(SWAP)
            else:
                moves.append(self.step(c))
        return moves


def search_fewest_swaps(heads: list[int], most: int, limit: int = SEARCH_LIMIT) -> Fewest:
    """Find a derivation with the fewest swaps among those that have less than ``most``; heads are indexed by node."""
    gold = _Gold(heads)
    level = [gold.start()]
    seen = {level[0].key()}
    steps = 0
    for swaps in range(most):
        following = []
        for c in level:
            stacked, buffered = set(c.stack), set(c.buffer)
            while True:
                if swaps + 1 < most and gold.wants_swap(c, stacked, buffered):
                    after = c.swap()
                    if (key := after.key()) not in seen:
                        seen.add(key)
                        following.append(after)
                i, j = c.top()
                move = gold.step(c)
                if move < 0:
                    break
                if move == SHIFT:
                    front = c.stack[len(c.stack) - 1]
                    buffered.discard(front)
                    stacked.add(front)
                else:
                    stacked.discard(i if move == LEFT_ARC else j)
                c.steps += 1
                steps += 1
            if len(c.stack) == 1:
                return Fewest(gold.replay(c.swaps), swaps)
            if steps > limit:
                return Fewest([], swaps)
        level = following
    return Fewest([], most)
