"""Model files: one safetensors file whose metadata holds JSON and a checksum over everything; nothing executes on load.

The layout is that of safetensors (length of the header, JSON header, raw arrays), so that its tools can read our
files; ours are written and read here, without NumPy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tanglewood.errors import ModelError
from tanglewood.files import writing

FORMAT = "tanglewood-model"
VERSION = 2  # of the layout of settings and arrays; 1 was never released
DEEPEST = 500  # levels of tables and lists in settings
TYPES = {
    "f": ("F32", 4),
    "d": ("F64", 8),
    "i": ("I32", 4),
    "h": ("I16", 2),
    "b": ("I8", 1),
    "B": ("U8", 1),
    "q": ("I64", 8),
}
CODES = {name: (code, size) for code, (name, size) in TYPES.items()}
MOST_HEADER = 64 << 20
READ_AT_ONCE = 1 << 28
BLANK = b"0" * 64  # placeholder for the checksum


class Origin(NamedTuple):
    """The file that a model was read from, and its state then; without a path the one that comes with tanglewood."""

    name: str  # as it was given
    path: str | None
    checksum: str
    state: tuple[int, int] = (0, 0)  # size, and time of the last change

    def is_unchanged(self) -> bool:
        """Tell whether the file is still there and unchanged."""
        try:
            return self.path is None or _state(self.path) == self.state
        except OSError:
            return False


def _state(path: str | Path) -> tuple[int, int]:
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


class Contents(NamedTuple):
    """What a model file holds; the checksum, over all of it, identifies it."""

    arrays: dict[str, memoryview]
    settings: dict[str, Any]
    checksum: str
    origin: Origin | None = None


def save_model(path: str | Path, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Write arrays (any buffers of C-contiguous numbers) and JSON settings to a file, under another name first."""
    parts = _parts(arrays, settings)
    with writing(path, packed=False) as out:
        for part in parts:
            out.write(part)


def dump_model(arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> bytes:
    """Return the bytes that `save_model` writes."""
    return b"".join(_parts(arrays, settings))


def _parts(arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> list[bytes | memoryview]:
    """Return the header, with its length before it, and the arrays."""
    table: dict[str, Any] = {}
    views = []
    end = 0
    for name in sorted(arrays):
        view = memoryview(arrays[name])
        code = "q" if view.format == "l" else view.format
        if code not in TYPES or not view.c_contiguous:
            raise ModelError(f"array {name!r} cannot be saved: format {view.format!r}")
        table[name] = {
            "dtype": TYPES[code][0],
            "shape": list(view.shape or ()),
            "data_offsets": [end, end + view.nbytes],
        }
        end += view.nbytes
        views.append(view.cast("B") if view.nbytes else memoryview(b""))
    text = json.dumps(settings, ensure_ascii=False, sort_keys=True)
    metadata = {"format": FORMAT, "version": str(VERSION), "settings": text, "sha256": BLANK.decode()}
    header = json.dumps({"__metadata__": metadata, **table}, ensure_ascii=False, sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    header = header.replace(BLANK, _digest(header, views), 1)
    return [len(header).to_bytes(8, "little") + header, *views]


def load_model(path: str | Path) -> tuple[dict[str, memoryview], dict[str, Any]]:
    """Read arrays, as shaped memoryviews, and settings; ModelError if the file is not one of ours or was damaged."""
    return read_model(path)[:2]


def read_model(path: str | Path) -> Contents:
    """Read all of a model file, and note where it came from; ModelError as in `load_model`."""
    name = str(path)
    if Path(path).is_dir():
        raise ModelError(f"{name}: a folder, not a tanglewood model")
    state = _state(path)
    with Path(path).open("rb") as file:
        contents = _read(file, name)
    return contents._replace(origin=Origin(name, str(Path(path).resolve()), contents.checksum, state))


def parse_model(data: bytes, name: str) -> Contents:
    """Return what is in the bytes of a model file; ``name`` is what messages call it."""
    return _read(BytesIO(data), name)


def _read(file: BinaryIO, name: str) -> Contents:
    """Read a model; how much of the file is read, and kept, is no more than its header says and the file has."""
    start = file.read(8)
    if len(start) < 8:
        raise ModelError(f"{name}: not a tanglewood model: only {len(start)} bytes")
    length = int.from_bytes(start, "little")
    header = file.read(length) if 2 <= length <= MOST_HEADER else b""
    if len(header) < max(length, 2):
        raise ModelError(f"{name}: not a tanglewood model, or cut off: it does not hold a header of {length} bytes")
    table, metadata = _header(header, name)
    try:
        places = _places(table)
        body = _body(file, places[-1].end if places else 0)
        checksum = metadata["sha256"]
        expected = checksum.encode()
        if header.count(expected) != 1 or _digest(header.replace(expected, BLANK), [body]) != expected:
            raise ModelError(f"{name}: the model is damaged: its checksum does not match; fetch or train it again")
        arrays = {place.name: _array(body, place) for place in places}
        settings = json.loads(metadata["settings"], parse_constant=_no_number)
        if not isinstance(settings, dict) or not _is_shallow(settings, metadata["settings"]):
            raise ValueError("no settings")
        return Contents(arrays, settings, checksum)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise ModelError(f"{name}: the model is damaged: its header does not make sense") from None


def _is_shallow(settings: object, text: str) -> bool:
    """Whether tables and lists are nested in few levels; Python's own limit differs from version to version."""
    if text.count("[") + text.count("{") <= DEEPEST:  # most models have no more; going through them takes longer
        return True
    inside = [settings]
    for _ in range(DEEPEST + 1):
        if not inside:
            return True
        inside = [
            one
            for outer in inside
            for one in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(one, dict | list)
        ]
    return False


def _header(header: bytes, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the table of arrays and the metadata."""
    try:
        table = json.loads(header)
        metadata = table.pop("__metadata__")
        kind, version = metadata["format"], metadata["version"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{name}: not a tanglewood model, or damaged: its header cannot be read") from None
    if kind != FORMAT:
        raise ModelError(f"{name}: not a tanglewood model but {str(kind)[:40]!r}")
    if version != str(VERSION):
        remedy = "train the model again" if version == "1" else "a later tanglewood may read it"
        found = str(version)[:20]
        raise ModelError(f"{name}: the model file has layout {found}, and this tanglewood reads {VERSION}; {remedy}")
    return table, metadata


class _Place(NamedTuple):
    """Where an array is, and what it is."""

    start: int
    end: int
    name: str
    code: str
    size: int  # of a number
    shape: list[int]


def _places(table: Mapping[str, Any]) -> list[_Place]:
    """Return the arrays in their order; a ValueError unless they follow one another, each of the size it should be."""
    places = []
    for name, entry in table.items():
        code, size = CODES[entry["dtype"]]
        start, end = entry["data_offsets"]
        shape = entry["shape"]
        if any(type(number) is not int or number < 0 for number in (start, end, *shape)):
            raise ValueError(f"{name!r} has sizes that are none")
        if end - start != size * prod(shape):
            raise ValueError(f"{name!r} does not have the size its shape says")
        places.append(_Place(start, end, name, code, size, shape))
    places.sort()
    for before, place in zip([0, *(place.end for place in places)], places, strict=False):
        if place.start != before:
            raise ValueError("arrays do not follow one another")
    return places


def _body(file: BinaryIO, size: int) -> memoryview:
    """Return the rest of a file, of which at most one byte more is read than it should have."""
    parts = []
    while size >= 0 and (part := file.read(min(size + 1, READ_AT_ONCE))):
        parts.append(part)
        size -= len(part)
    return memoryview(parts[0] if len(parts) == 1 else b"".join(parts))


def _array(body: memoryview, place: _Place) -> memoryview:
    """Return one of the arrays, aligned in memory, as compiled code wants it."""
    part: Any = body[place.start : place.end]
    if place.start % place.size:
        part = memoryview(part.tobytes())
    array: memoryview = part.cast(place.code, place.shape) if part.nbytes else part.cast(place.code)
    return array


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _digest(header: bytes, parts: Iterable[memoryview]) -> bytes:
    """Checksum, as hexadecimal digits, of the header with a blank checksum and of all arrays."""
    digest = hashlib.sha256(header)
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode()


def part_of(arrays: Mapping[str, memoryview], prefix: str) -> dict[str, memoryview]:
    """Return the arrays of one part of a model, whose names begin with the prefix, under their own names."""
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
