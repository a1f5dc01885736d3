"""Memo: what a function made of texts that come again and again, kept up to a number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

ENTRY = 600  # bytes about an entry besides its letters: the objects of key and value, and their place in the table
LETTER = 4  # bytes of a letter, in key and value together
LARGEST = 64  # no entry takes more than this part of the whole, so that one long text does not drive out all others

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def letters_in(key: str | bytes | Sequence[str]) -> int:
    """Return how many letters a text, or several, have together."""
    return len(key) if isinstance(key, str | bytes) else sum(map(len, key))


class Memo(dict[Key, Value]):
    """Looks up what a function makes of a key, and remembers it: a key met before costs what a dictionary costs.

    Once about ``most`` bytes are held, everything is forgotten. ``more`` says how many bytes a value takes for itself,
    where it is more than a text about as long as its key.
    """

    __slots__ = ("_make", "_more", "_most", "held")

    def __init__(self, make: Callable[[Key], Value], most: int, more: Callable[[Value], int] | None = None) -> None:
        dict.__init__(self)
        self._make = make
        self._most = most
        self._more = more
        self.held = 0

    def __missing__(self, key: Key) -> Value:
        value = self._make(key)
        size = ENTRY + LETTER * letters_in(key)  # type: ignore[arg-type]
        if self._more is not None:
            size += self._more(value)
        if size * LARGEST <= self._most:
            if self.held + size > self._most:
                self.clear()
                self.held = 0
            self.held += size
            self[key] = value
        return value
