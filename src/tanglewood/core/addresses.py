"""Addresses of nodes in a configuration, such as s0, b1, s1.left1 or b0.head: written as text, compiled once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from tanglewood.core.state import State
from tanglewood.errors import ConfigError

LISTS = {"s": 0, "b": 1, "a": 2, "c": 3, "u": 4}  # stack, buffer, aside, context, unread
STEPS = {"": 0, "left1": 1, "left2": 2, "right1": 3, "right2": 4, "head": 5, "previous": 6, "next": 7}
STACK, BUFFER, ASIDE, CONTEXT, UNREAD = range(5)
LEFT1, LEFT2, RIGHT1, RIGHT2, HEAD, PREVIOUS, NEXT = range(1, 8)


class Addresses:
    """A list of addresses that can be looked up in any configuration.

    s0, s1, ... count from the top of the stack, b0, b1, ... from the front of the buffer, a0, a1, ... from the end of
    the second list, c0, c1, ... through the context stack of Nivre 2007: the nodes between s0 and b0 that have no head
    between them, the one closest to s0 first, u0, u1, ... through the words of the buffer that have never been on the
    stack (MaltParser's Lookahead); up to two steps follow: left1, left2, right1, right2 (outermost dependents), head,
    previous or next (neighbours in the sentence).
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.size = len(self.names)
        parsed = [self._parse(name) for name in names]
        self.lists = array("i", [address[0] for address in parsed])
        self.places = array("i", [address[1] for address in parsed])
        self.first_steps = array("i", [address[2] for address in parsed])
        self.second_steps = array("i", [address[3] for address in parsed])

    @staticmethod
    def _parse(name: str) -> tuple[int, int, int, int]:
        start, *steps = name.split(".")
        match = re.fullmatch(r"([sbacu])(\d)", start)
        if match is None or len(steps) > 2 or any(step not in STEPS or not step for step in steps):
            known = ", ".join(step for step in STEPS if step)
            raise ConfigError(
                f"unknown address {name!r}; it should be s0..s9, b0..b9, a0..a9, c0..c9 or u0..u9, "
                f"and up to two of {known}"
            )
        first, second = (*(STEPS[step] for step in steps), 0, 0)[:2]
        return (LISTS[match[1]], int(match[2]), first, second)

    def _node(self, s: State, index: int) -> int:
        """Node at an address, or -1."""
        place = self.places[index]
        node = -1
        if self.lists[index] == STACK:
            if place < s.depth:
                node = s.stack[s.depth - 1 - place]
        elif self.lists[index] == BUFFER or self.lists[index] == UNREAD:
            if self.lists[index] == UNREAD:
                place += s.put_back
            if place < s.n_buffer:
                node = s.buffer[s.n_buffer - 1 - place]
        elif self.lists[index] == CONTEXT:
            node = self._context(s, place)
        elif place < s.aside_depth:
            node = s.aside[s.aside_depth - 1 - place]
        if self.first_steps[index] > 0:
            node = self._step(s, node, self.first_steps[index])
            if self.second_steps[index] > 0:
                node = self._step(s, node, self.second_steps[index])
        return node

    def _context(self, s: State, place: int) -> int:
        """Node at a place of the context stack, or -1."""
        top = s._top()
        front = s._front()
        if top < 0:
            return -1
        for node in range(top + 1, front):
            if s.heads[node] <= top or s.heads[node] >= front:
                if place == 0:
                    return node
                place -= 1
        return -1

    def _step(self, s: State, node: int, step: int) -> int:
        if node < 0:
            return -1
        if step == LEFT1:
            return s.left1[node]
        if step == LEFT2:
            return s.left2[node]
        if step == RIGHT1:
            return s.right1[node]
        if step == RIGHT2:
            return s.right2[node]
        if step == PREVIOUS:
            return node - 1  # 0 has none: -1
        if step == NEXT:
            return node + 1 if node < s.n else -1
        return s.heads[node]

    def nodes(self, s: State) -> list[int]:
        """Return the node at each address, -1 where there is none."""
        return [self._node(s, index) for index in range(self.size)]
