"""Random changes to bytes and to JSON; everything random comes from the generator that is given."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

NUMBERS = (-1, 0, 1, 2, 7, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 10**30)
FLOATS = (0.5, -0.0, 1e-320, 1e38, 1e308, float("inf"), float("-inf"), float("nan"))
STRINGS = (
    "",
    "_",
    " ",
    "\t",
    "\n",
    "\0",
    "a" * 5000,
    "\ud800",
    "\ufeff",
    "\U0001f438",
    "-1",
    "1e9",
    "NaN",
    "../x",
    "{}",
)


def flipped(rng: Random, data: bytes) -> bytes:
    """Return the bytes with one to four of them changed."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4)) if data else 0):
        place = rng.randrange(len(changed))
        changed[place] = rng.choice((0, 255, changed[place] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(changed)


def cut(rng: Random, data: bytes) -> bytes:
    """Return the bytes without some at the end, at the beginning or in between."""
    start, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return rng.choice((data[:start], data[end:], data[:start] + data[end:]))


def doubled(rng: Random, data: bytes) -> bytes:
    """Return the bytes with a part of them copied to another place."""
    start, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    place = rng.randint(0, len(data))
    return data[:place] + data[start : min(end, start + 1000)] + data[place:]


def damaged(rng: Random, data: bytes) -> bytes:
    """Return the bytes damaged in one way or another."""
    return rng.choice((flipped, flipped, cut, doubled))(rng, data)


def any_value(rng: Random, strings: tuple[str, ...] = STRINGS, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Return any JSON value, NaN and infinity included."""
    kind = rng.randrange(5 if depth > 3 else 7)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return rng.choice(FLOATS)
    if kind < 5:
        return rng.choice(strings)
    items = [any_value(rng, strings, depth + 1) for _ in range(rng.choice((0, 1, 2, 5)))]
    if kind == 5:
        return items
    return {rng.choice(strings): item for item in items}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Yield the path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed_json(rng: Random, value: Any, strings: tuple[str, ...] = STRINGS) -> tuple[Any, str]:  # noqa: ANN401 - JSON
    """Return a JSON value with one value inside it changed, and what was done."""
    value = copy.deepcopy(value)
    found = list(places(value))
    if not found:
        return any_value(rng, strings), "another value"
    top = rng.choice([path[0] for path in found if len(path) == 1])  # lists are long, and what is short matters more
    *path, key = rng.choice([path for path in found if path[0] == top or rng.random() < 0.1] or found)
    parent = value
    for step in path:
        parent = parent[step]
    name = "/".join(map(str, (*path, key)))
    old = parent[key]
    kind = rng.randrange(8)
    if kind == 0:
        del parent[key]
        return value, f"{name} removed"
    if kind == 1 and isinstance(old, int | float):
        parent[key] = rng.choice((old + 1, old - 1, -old, old * 2, old * 1000))
    elif kind == 1 and isinstance(old, list):
        parent[key] = rng.choice((old[:-1], old[1:], old[::-1], old + old, [], old * 50, rng.sample(old, len(old))))
    elif kind == 1 and isinstance(old, dict):
        parent[key] = {**old, rng.choice(strings): any_value(rng, strings)}
    elif kind == 2:
        for _ in range(rng.choice((1, 3, 100))):
            parent[key] = [parent[key]] if rng.random() < 0.5 else {"x": parent[key]}
    elif kind == 3:
        other = rng.choice(found)
        taken = value
        for step in other:
            taken = taken[step]
        parent[key] = copy.deepcopy(taken)
    elif isinstance(old, str) and kind < 6:
        parent[key] = rng.choice((rng.choice(strings), old[1:], old + "x", old.upper(), f"{old}|{old}"))
    else:
        parent[key] = any_value(rng, strings)
    return value, f"{name} = {json.dumps(parent[key])[:60]}"
