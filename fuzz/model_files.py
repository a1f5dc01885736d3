"""Model files taken apart, changed in places, and put together again with the right checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mutations import FLOATS, NUMBERS, STRINGS, any_value, changed_json, damaged

DTYPES = {"F32": "f4", "F64": "f8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1", "I64": "i8"}
BLANK = "0" * 64  # what stands for the checksum while it is computed
Array = NDArray[Any]


class Draft:
    """The parts of a model file: arrays, settings, and the rest of its header."""

    def __init__(self, data: bytes) -> None:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        body = data[8 + length :]
        self.metadata: dict[str, Any] = header.pop("__metadata__")
        self.settings: Any = json.loads(self.metadata["settings"])
        self.arrays: dict[str, Array] = {}
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            array = np.frombuffer(body[start:end], DTYPES[entry["dtype"]])
            self.arrays[name] = array.reshape(entry["shape"]).copy()

    def header(self) -> dict[str, Any]:
        """Return the header, without a checksum."""
        codes = {np.dtype(kind): name for name, kind in DTYPES.items()}
        header: dict[str, Any] = {}
        end = 0
        for name, array in self.arrays.items():
            place = [end, end + array.nbytes]
            header[name] = {"dtype": codes[array.dtype], "shape": list(array.shape), "data_offsets": place}
            end += array.nbytes
        header["__metadata__"] = {**self.metadata, "settings": json.dumps(self.settings)}
        return header

    def body(self) -> bytes:
        """Return the numbers of all arrays."""
        return b"".join(array.tobytes() for array in self.arrays.values())


def packed(header: dict[str, Any], body: bytes, padding: int = 8) -> bytes:
    """Return the bytes of a model file with the right checksum, whatever else its header says."""
    if isinstance(header.get("__metadata__"), dict):
        header = {**header, "__metadata__": {**header["__metadata__"], "sha256": BLANK}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % padding)
    checksum = hashlib.sha256(text + body).hexdigest().encode()
    return len(text).to_bytes(8, "little") + text.replace(BLANK.encode(), checksum, 1) + body


# Changes to arrays; each takes the draft and the name of an array, and says what it did. ---------------------------


def _extreme(rng: Random, array: Array, draft: Draft) -> Any:  # noqa: ANN401 - a number
    if array.dtype.kind == "f":
        return rng.choice((*FLOATS, 1, -1))
    limits = np.iinfo(array.dtype)
    sizes = [size + more for other in draft.arrays.values() for size in other.shape for more in (-1, 0, 1)]
    number = rng.choice((limits.min, limits.max, rng.choice(NUMBERS), rng.choice(sizes or [0]), rng.randrange(300)))
    return max(limits.min, min(limits.max, number))


def one_number(rng: Random, draft: Draft, name: str) -> str:
    """Change one number, or a few."""
    array = draft.arrays[name] = draft.arrays[name].copy()
    flat = array.reshape(-1)
    told = []
    for _ in range(rng.choice((1, 1, 1, 5)) if flat.size else 0):
        place = rng.choice((0, flat.size - 1, rng.randrange(flat.size), rng.randrange(flat.size)))
        with np.errstate(over="ignore"):
            flat[place] = _extreme(rng, array, draft)
        told.append(f"[{place}] = {flat[place]}")
    return f"{name}{', '.join(told)}"


def some_bytes(rng: Random, draft: Draft, name: str) -> str:
    """Change a few bytes."""
    array = draft.arrays[name]
    data = bytearray(array.tobytes())
    for _ in range(rng.choice((1, 2, 8)) if data else 0):
        data[rng.randrange(len(data))] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
    draft.arrays[name] = np.frombuffer(bytes(data), array.dtype).reshape(array.shape)
    return f"bytes of {name}"


def whole_array(rng: Random, draft: Draft, name: str) -> str:
    """Change all numbers."""
    array = draft.arrays[name]
    flat = array.reshape(-1)
    order = list(range(flat.size))
    rng.shuffle(order)
    with np.errstate(over="ignore", invalid="ignore"):
        told, numbers = rng.choice(
            (
                ("in another order", flat[order]),
                ("sorted", np.sort(flat)),
                ("reversed", flat[::-1]),
                ("zero", flat * 0),
                ("filled", np.full_like(flat, _extreme(rng, array, draft))),
                ("shifted", flat + np.array(rng.choice((-1, 1, 100))).astype(flat.dtype)),
                ("negated", np.negative(flat)),
                ("rolled", np.roll(flat, 1)),
            )
        )
    draft.arrays[name] = np.ascontiguousarray(numbers).reshape(array.shape)
    return f"{name} {told}"


def shape(rng: Random, draft: Draft, name: str) -> str:
    """Change shape, size or type; the header tells the truth about it."""
    array = np.atleast_1d(draft.arrays[name])
    flat = array.reshape(-1)
    keep = rng.randint(0, flat.size)
    kind = rng.choice(list(DTYPES.values()))
    data = array.tobytes()
    with np.errstate(over="ignore", invalid="ignore"):
        told, found = rng.choice(
            (
                ("flat", flat),
                ("in a row", array.reshape(1, -1)),
                ("in a column", array.reshape(-1, 1)),
                ("transposed", np.ascontiguousarray(array.T)),
                ("shorter", flat[:keep]),
                ("shorter by a row", array[:-1]),
                ("longer by a row", np.concatenate([array, array[-1:]])),
                ("twice", np.concatenate([array, array])),
                ("empty", flat[:0]),
                (f"of type {kind}", array.astype(kind)),
                (f"read as {kind}", np.frombuffer(data[: len(data) // 8 * 8], kind)),
                ("a number", flat[:1].reshape(())) if flat.size else ("flat", flat),
            )
        )
    draft.arrays[name] = np.ascontiguousarray(found) if found.shape else found.copy()
    return f"{name} {told}"


def names(rng: Random, draft: Draft, name: str) -> str:
    """Remove, rename, exchange, copy or add arrays."""
    other = rng.choice(list(draft.arrays))
    kind = rng.randrange(5)
    if kind == 0:
        del draft.arrays[name]
        return f"{name} removed"
    if kind == 1:
        draft.arrays[f"{name}x"] = draft.arrays.pop(name)
        return f"{name} renamed"
    if kind == 2:
        draft.arrays[name], draft.arrays[other] = draft.arrays[other], draft.arrays[name]
        return f"{name} and {other} exchanged"
    if kind == 3:
        draft.arrays[name] = draft.arrays[other].copy()
        return f"{name} is a copy of {other}"
    draft.arrays[f"more.{rng.randrange(10)}"] = draft.arrays[name]
    return f"{name} there twice"


ARRAY_CHANGES: tuple[Callable[[Random, Draft, str], str], ...] = (
    one_number,
    one_number,
    some_bytes,
    whole_array,
    shape,
    names,
)


# Changes to a whole file. ---------------------------------------------------------------------------------------------


def settings_changed(rng: Random, draft: Draft, strings: tuple[str, ...]) -> str:
    """Change one of the settings."""
    draft.settings, told = changed_json(rng, draft.settings, strings)
    return f"settings: {told}"


def lying(rng: Random, draft: Draft) -> tuple[bytes, str]:
    """Return the file with a header that lies, and how it does."""
    header = draft.header()
    body = draft.body()
    name = rng.choice(list(draft.arrays) or ["__metadata__"])
    entry = header[name]
    other = header[rng.choice(list(header))]
    kind = rng.randrange(8)
    if kind == 7:
        return packed(header, body, padding=1), "header of any length"
    if kind == 0:
        entry["data_offsets"] = [rng.choice((*NUMBERS, len(body))) for _ in range(2)]
    elif kind == 1:
        entry["shape"] = [rng.choice(NUMBERS) for _ in range(rng.randrange(4))]
    elif kind == 2:
        entry["data_offsets"] = other.get("data_offsets", [0, 0])
    elif kind == 3:
        size = 10 ** rng.randint(1, 6)
        header["__metadata__"]["settings"] = rng.choice(("[" * size + "]" * size, '{"a":' * size, "NaN", "1" * size))
    elif kind == 4:
        header["__metadata__"] = changed_json(rng, header["__metadata__"])[0]
    elif kind == 5:
        header[name] = changed_json(rng, entry)[0]
    else:
        header[rng.choice(STRINGS)] = any_value(rng)
    return packed(header, body), f"header of {name}, kind {kind}"


def changed(rng: Random, data: bytes, strings: tuple[str, ...]) -> tuple[bytes, str]:
    """Return a model file changed in one or a few places, and what was done."""
    kind = rng.random()
    if kind < 0.03:
        return damaged(rng, data), "damaged"
    draft = Draft(data)
    if kind < 0.1:
        return lying(rng, draft)
    told = []
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        if draft.arrays and rng.random() < 0.65:
            told.append(rng.choice(ARRAY_CHANGES)(rng, draft, rng.choice(list(draft.arrays))))
        else:
            told.append(settings_changed(rng, draft, strings))
    return packed(draft.header(), draft.body()), "; ".join(told)
