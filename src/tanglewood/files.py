"""Reading and writing files: decompression, and writing under another name before renaming."""

import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from tanglewood.errors import ArgumentError, FormatError, given

READ_SIZE = 1 << 17
GZIP_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)  # what reading compressed data may raise

Source = str | os.PathLike[str] | BinaryIO


def check_source(source: object, mode: str = "rb") -> None:
    """Raise an ArgumentError unless this is a path or an open binary file; ``mode`` is how it is to be opened."""
    method = "read" if mode == "rb" else "write"
    if isinstance(source, io.TextIOBase):
        raise ArgumentError(f"{method}() needs a binary file; open it with mode {mode!r}")
    if not isinstance(source, str | os.PathLike) and not hasattr(source, method):
        raise ArgumentError(f'{method}() needs a path, "-" or an open binary file, not {given(source)}')


@contextmanager
def opened(source: Source) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the decompressed binary stream and its name for messages; closed at the end if it was opened here."""
    check_source(source)
    with ExitStack() as stack:
        raw: BinaryIO
        if not isinstance(source, str | os.PathLike):
            raw, name = source, str(getattr(source, "name", "<stream>"))
        elif os.fspath(source) == "-":
            raw, name = sys.stdin.buffer, "<stdin>"
        else:
            raw, name = stack.enter_context(Path(source).open("rb")), os.fspath(source)
        start = peek(raw, len(XZ_MAGIC))
        unpacked: gzip.GzipFile | lzma.LZMAFile
        if start.startswith(GZIP_MAGIC):
            unpacked = gzip.GzipFile(fileobj=raw)
        elif start.startswith(XZ_MAGIC):
            unpacked = lzma.LZMAFile(raw)  # noqa: SIM115 - holds nothing but raw
        elif raw is not source and name.endswith((".gz", ".xz")):
            raise FormatError(f"the name ends in {name[-3:]} but the content is not compressed so", file=name)
        else:
            yield raw, name
            return
        # The line iterators of gzip and lzma files are slow.
        yield cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", unpacked), 1 << 17)), name


def peek(raw: BinaryIO, size: int) -> bytes:
    """Return up to ``size`` bytes without consuming them; none if the stream can neither be peeked into nor rewound."""
    if hasattr(raw, "peek"):
        return bytes(raw.peek(size)[:size])
    if not raw.seekable():
        return b""
    place = raw.tell()
    start = raw.read(size)
    raw.seek(place)
    return start


def damaged(error: Exception, name: str, line: int) -> FormatError:
    """Return the error for compressed data that cannot be read any further."""
    problem = f"the compressed data is damaged or breaks off here ({error}); the file should be made or fetched again"
    return FormatError(problem, file=name, line=line)


@contextmanager
def writing(target: Source, *, packed: bool = True) -> Iterator[BinaryIO]:
    """Yield the binary file to write to; a path appears only if all goes well.

    With ``packed``, output to a path that ends in .gz or .xz is compressed.
    """
    check_source(target, "wb")
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    if os.fspath(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    if path.exists() and not path.is_file():
        with path.open("wb") as special:  # such as /dev/null, which must not be replaced
            yield special
        return
    path = path.resolve()  # a link stays a link
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    with partial.open("xb") as raw:
        try:
            with _compressed(raw, path.suffix if packed else "") as out:
                yield out
            raw.close()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def _compressed(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":
        # Neither name nor time goes in: the same sentences give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif suffix == ".xz":
        with lzma.LZMAFile(raw, "wb") as packed_xz:
            yield cast("BinaryIO", packed_xz)
    else:
        yield raw
