"""Model files: one safetensors file whose metadata holds JSON and a checksum over everything; nothing executes on load.

The layout is that of safetensors (length of the header, JSON header, raw arrays), so that its tools can read our
files; ours are written and read here, without NumPy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from tanglewood.errors import ModelError
from tanglewood.files import writing

FORMAT = "tanglewood-model"
VERSION = 2  # of the layout of settings and arrays; 1 was never released
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
    if Path(path).is_dir():
        raise ModelError(f"{path}: a folder, not a tanglewood model")
    state = _state(path)
    contents = parse_model(Path(path).read_bytes(), str(path))
    return contents._replace(origin=Origin(str(path), str(Path(path).resolve()), contents.checksum, state))


def parse_model(data: bytes, name: str) -> Contents:
    """Return what is in the bytes of a model file; ``name`` is what messages call it."""
    table, metadata, length = _header(data, name)
    try:
        body = memoryview(data)[8 + length :]
        checksum = metadata["sha256"]
        expected = checksum.encode()
        header = data[8 : 8 + length]
        if header.count(expected) != 1 or _digest(header.replace(expected, BLANK), [body]) != expected:
            raise ModelError(f"{name}: the model is damaged: its checksum does not match; fetch or train it again")
        arrays: dict[str, memoryview] = {}
        for array, entry in table.items():
            code, size = CODES[entry["dtype"]]
            start, end = entry["data_offsets"]
            shape = entry["shape"]
            if end - start != size * prod(shape) or not 0 <= start <= end <= len(body):
                raise ModelError(f"{name}: array {array!r} does not have the size its shape says")
            part: Any = body[start:end]
            arrays[array] = part.cast(code, shape) if part.nbytes else part.cast(code)
        return Contents(arrays, json.loads(metadata["settings"]), checksum)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{name}: the model is damaged: its header does not make sense") from None


def _header(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Return the table of arrays, the metadata and the length of the header."""
    if len(data) < 8:
        raise ModelError(f"{name}: not a tanglewood model: only {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(MOST_HEADER, len(data) - 8):
        raise ModelError(f"{name}: not a tanglewood model, or cut off: it does not hold a header of {length} bytes")
    try:
        table = json.loads(data[8 : 8 + length])
        metadata = table.pop("__metadata__")
        kind, version = metadata["format"], metadata["version"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{name}: not a tanglewood model, or damaged: its header cannot be read") from None
    if kind != FORMAT:
        raise ModelError(f"{name}: not a tanglewood model but {kind!r}")
    if version != str(VERSION):
        remedy = "train the model again" if version == "1" else "a later tanglewood may read it"
        raise ModelError(f"{name}: the model file has layout {version}, and this tanglewood reads {VERSION}; {remedy}")
    return table, metadata, length


def _digest(header: bytes, parts: Iterable[memoryview]) -> bytes:
    """Checksum, as hexadecimal digits, of the header with a blank checksum and of all arrays."""
    digest = hashlib.sha256(header)
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode()


def part_of(arrays: Mapping[str, memoryview], prefix: str) -> dict[str, memoryview]:
    """Return the arrays of one part of a model, whose names begin with the prefix, under their own names."""
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
