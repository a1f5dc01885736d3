"""Files here or elsewhere: a path, or a URL such as s3://bucket/file, which fsspec opens."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tanglewood.errors import ConfigError, MissingExtraError, TanglewoodError, one_line
from tanglewood.files import READ_SIZE, opened

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from tanglewood.run.places import Place

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
        system, path = url_to_fs(name, use_listings_cache=False)  # others write there, too
    except ImportError as error:  # each kind of URL has a package of its own
        raise MissingExtraError(f"{name}: {error}") from None
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None
    return system, path


@contextmanager
def telling(url: str) -> Iterator[None]:
    """Have whatever a file system elsewhere raises be an OSError that names the file: each package has its own."""
    try:
        yield
    except TanglewoodError:
        raise
    except Exception as error:
        known = isinstance(error, FileNotFoundError | PermissionError)
        number = (errno.ENOENT if isinstance(error, FileNotFoundError) else errno.EACCES) if known else errno.EIO
        told = error.strerror if isinstance(error, OSError) else None
        reason = os.strerror(number) if known else one_line(told or str(error) or type(error).__name__)
        raise OSError(number, reason, url) from error


class Far(io.RawIOBase):
    """A file elsewhere, whose errors are those of a file here."""

    def __init__(self, file: BinaryIO, url: str) -> None:
        self._file = file
        self._url = url

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether any place can be gone to."""
        return self._file.seekable()

    def tell(self) -> int:
        """Return where it is."""
        return self._file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go somewhere."""
        return self._file.seek(offset, whence)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read some bytes; none at the end."""
        view = memoryview(buffer).cast("B")
        with telling(self._url):
            data = self._file.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close it."""
        self._file.close()
        super().close()


def far_file(url: str, system: Any, inside: str) -> io.BufferedReader:  # noqa: ANN401 - a file system of fsspec
    """Open a file elsewhere to read it."""
    with telling(url):
        file = system.open(inside, "rb", block_size=FAR)
    return io.BufferedReader(Far(file, url), READ_SIZE)


@contextmanager
def opened_input(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the decompressed stream of an input and its name, as `opened` does."""
    with ExitStack() as stack:
        if is_remote(path):
            file = stack.enter_context(far_file(path, *remote(path)))
            stream, _ = stack.enter_context(opened(file))
        else:
            stream, _ = stack.enter_context(opened(path))
        yield stream, path


def state_of(path: str) -> tuple[int, int]:
    """Return the size of an input and the time when it was last changed, or a number that stands for its version."""
    if is_remote(path):
        system, inside = remote(path)
        with telling(path):
            about = system.info(inside)
        known = [str(about[key]) for key in VERSION if about.get(key) is not None]
        return int(about["size"] or 0), int(hashlib.sha256(" ".join(known).encode()).hexdigest()[:12], 16)
    found = os.stat(path)  # noqa: PTH116 - Path.stat is slower, and there may be very many
    return found.st_size, found.st_mtime_ns


def checksum(path: str | Place) -> str:
    """Return the SHA-256 of a file."""
    if isinstance(path, str) and is_remote(path):
        opening = far_file(path, *remote(path))
    else:
        opening = (Path(path) if isinstance(path, str) else path).open("rb")
    with opening as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
