"""Inputs here or elsewhere: a path, or a URL such as s3://bucket/file, which fsspec opens."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from tanglewood.errors import ConfigError, MissingExtraError
from tanglewood.files import opened

REMOTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
VERSION = ("ETag", "etag", "LastModified", "last_modified", "mtime", "updated", "created")  # as file systems say it
FAR = 1 << 22  # bytes that are read at once from elsewhere


def is_remote(name: str) -> bool:
    """Tell whether a name is a URL, and not that of a file here."""
    return REMOTE.match(name) is not None


def remote(name: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it; an error says what to install if something is missing."""
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise MissingExtraError(f"{name}: URLs need fsspec: pip install 'tanglewood[remote]'") from None
    try:
        system, path = url_to_fs(name)
    except ImportError as error:  # each kind of URL has a package of its own
        raise MissingExtraError(f"{name}: {error}") from None
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None
    return system, path


@contextmanager
def opened_input(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the decompressed stream of an input and its name, as `opened` does."""
    with ExitStack() as stack:
        if is_remote(path):
            system, inside = remote(path)
            file = stack.enter_context(system.open(inside, "rb"))
            stream, _ = stack.enter_context(opened(file))
        else:
            stream, _ = stack.enter_context(opened(path))
        yield stream, path


def state_of(path: str) -> tuple[int, int]:
    """Return the size of an input and the time when it was last changed, or a number that stands for its version."""
    if is_remote(path):
        system, inside = remote(path)
        about = system.info(inside)
        known = [str(about[key]) for key in VERSION if about.get(key) is not None]
        return int(about["size"] or 0), int(hashlib.sha256(" ".join(known).encode()).hexdigest()[:12], 16)
    found = os.stat(path)  # noqa: PTH116 - Path.stat is slower, and there may be very many
    return found.st_size, found.st_mtime_ns


def checksum(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    if isinstance(path, str) and is_remote(path):
        system, inside = remote(path)
        digest = hashlib.sha256()
        with system.open(inside, "rb") as file:
            while data := file.read(FAR):
                digest.update(data)
        return digest.hexdigest()
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
