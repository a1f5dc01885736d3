"""Reading and writing files: decompression, and writing under another name before renaming."""

import errno
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from tanglewood.errors import ArgumentError, FormatError, MissingExtraError, given

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READ_SIZE = 1 << 17
ZST_SIZE = 1 << 14  # compressed bytes that are unpacked at once: they may become very many
GZIP_MAGIC, XZ_MAGIC, ZST_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
MAGIC = {".gz": GZIP_MAGIC, ".xz": XZ_MAGIC, ".zst": ZST_MAGIC}
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)  # what reading compressed data may raise
OUTPUT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE}  # errors that only writing can have
CLOSED = {
    "stdin": "it is closed, so nothing can be read from it; a file can be named instead of -",
    "stdout": "it is closed, so nothing can be written to it; it can be sent to a file, or to /dev/null",
}
PART = ".part"  # how the names of files end that are being written
LEFT_PART = re.compile(r"\..{1,50}\.[0-9a-f]{16}\.part", re.DOTALL)

Source = str | os.PathLike[str] | BinaryIO


def check_source(source: object, mode: str = "rb") -> None:
    """Raise an ArgumentError unless this is a path or an open binary file; ``mode`` is how it is to be opened."""
    method = "read" if mode == "rb" else "write"
    if isinstance(source, io.TextIOBase):
        raise ArgumentError(f"{method}() needs a binary file; open it with mode {mode!r}")
    if not isinstance(source, str | os.PathLike) and not hasattr(source, method):
        raise ArgumentError(f'{method}() needs a path, "-" or an open binary file, not {given(source)}')


def standard_stream(name: str) -> BinaryIO:
    """Return the bytes of "stdin" or "stdout"; raise an OSError if the program was started without it."""
    stream = getattr(sys, name)
    if stream is None:
        raise no_stream(name)
    binary: BinaryIO = stream.buffer
    return binary


def no_stream(name: str) -> OSError:
    """Return the error for "stdin" or "stdout" being closed."""
    return OSError(errno.EBADF, CLOSED[name], f"<{name}>")


def is_standard_output(out: BinaryIO) -> bool:
    """Tell whether this is what :func:`writing` yields for "-"."""
    return out is getattr(sys.stdout, "buffer", None)


@contextmanager
def opened(source: Source) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the decompressed binary stream and its name for messages; closed at the end if it was opened here."""
    check_source(source)
    with ExitStack() as stack:
        raw: BinaryIO
        if not isinstance(source, str | os.PathLike):
            raw, name = source, str(getattr(source, "name", "<stream>"))
        elif os.fspath(source) == "-":
            raw, name = standard_stream("stdin"), "<stdin>"
        else:
            raw, name = stack.enter_context(Path(source).open("rb")), os.fspath(source)
        start = peek(raw, len(XZ_MAGIC))
        unpacked: gzip.GzipFile | XzReader | ZstReader
        if start.startswith(GZIP_MAGIC):
            unpacked = gzip.GzipFile(fileobj=raw)
        elif start.startswith(XZ_MAGIC):
            unpacked = XzReader(raw)
        elif start.startswith(ZST_MAGIC):
            unpacked = ZstReader(raw)
        elif _is_as_on_disk(raw) and name.endswith(tuple(MAGIC)):
            raise FormatError(_not_compressed(start, Path(name).suffix), file=name, line=1)
        else:
            yield raw, name
            return
        # The line iterators of gzip and lzma files are slow.
        yield cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", unpacked), 1 << 17)), name


def _is_as_on_disk(raw: BinaryIO) -> bool:
    """Tell whether this reads the bytes of a file as they are, so that the name says what they should be."""
    return isinstance(raw, io.BufferedReader) and isinstance(raw.raw, io.FileIO)


def _not_compressed(start: bytes, suffix: str) -> str:
    """Say what is wrong with a file that begins so, although its name says that it is compressed."""
    if not start:
        return f"the file is empty, which a {suffix} file never is; it should be made or fetched again"
    if MAGIC[suffix].startswith(start):
        return f"the compressed data breaks off after {len(start)} bytes; the file should be made or fetched again"
    return f"the name ends in {suffix} but the content is not compressed so"


class _Unpacked(io.RawIOBase):
    """What is read from compressed data."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether it is a file rather than a pipe."""
        return self._raw.seekable()


class XzReader(_Unpacked):
    """Decompresses xz; unlike lzma.LZMAFile, which drops what follows the data, it raises an error if that is not xz.

    There may be several streams, and after each zeros that fill it up to a multiple of four bytes.
    """

    def __init__(self, raw: BinaryIO) -> None:
        _Unpacked.__init__(self, raw)
        self._stream: lzma.LZMADecompressor | None = None
        self._ahead = b""  # read, but not part of the stream that ended

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read some bytes; none at the end."""
        view = memoryview(buffer).cast("B")
        data = b""
        while not data:
            if self._stream is None and not self._begin():
                return 0
            stream = cast("lzma.LZMADecompressor", self._stream)
            fresh = b""
            if stream.needs_input:
                fresh, self._ahead = self._ahead or self._raw.read(READ_SIZE), b""
                if not fresh:
                    raise EOFError("the end is missing")
            data = stream.decompress(fresh, len(view))
            if stream.eof:
                self._ahead, self._stream = stream.unused_data, None
        view[: len(data)] = data
        return len(data)

    def _begin(self) -> bool:
        """Skip zeros and begin with the next stream; return whether there is one."""
        self._ahead = self._ahead.lstrip(b"\0")
        while not self._ahead:
            fresh = self._raw.read(READ_SIZE)
            if not fresh:
                return False
            self._ahead = fresh.lstrip(b"\0")
        self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return True


class ZstReader(_Unpacked):
    """Decompresses zst, in one frame or several; what breaks off or is followed by something else raises an error."""

    def __init__(self, raw: BinaryIO) -> None:
        zstandard = _zstandard()
        _Unpacked.__init__(self, raw)
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read some bytes; none at the end."""
        view = memoryview(buffer).cast("B")
        while not self._ready:
            fresh = self._raw.read(ZST_SIZE)
            if not fresh:
                if self._frame is not None:
                    raise EOFError("the end is missing")
                return 0
            self._ready = memoryview(self._unpacked(fresh))
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpacked(self, fresh: bytes) -> bytes:
        found = []
        try:
            while fresh:
                self._frame = self._frame or self._new()
                found.append(self._frame.decompress(fresh))
                fresh = b""
                if self._frame.eof:
                    fresh, self._frame = self._frame.unused_data, None
        except self._error as error:
            raise EOFError(str(error)) from None
        return b"".join(found)


def _zstandard() -> Any:  # noqa: ANN401 - a module
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError(".zst needs zstandard: pip install 'tanglewood[zst]'") from None
    return zstandard


def unpacked_name(name: str) -> str:
    """Return the name of a file without an ending that says how it is compressed."""
    return next((name.removesuffix(ending) for ending in MAGIC if name.endswith(ending)), name)


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
    """Yield the binary file to write to; a path appears only if all goes well, and then it is on the disk.

    It has the permissions of the file that it replaces, or else those of any new file. With ``packed``, output to a
    path that ends in .gz, .xz or .zst is compressed.
    """
    check_source(target, "wb")
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    name = os.fspath(target)
    with _output_named("<stdout>" if name == "-" else name):
        if name == "-":
            out = standard_stream("stdout")
            yield out
            out.flush()
            return
        check_file_to_write(name)
        path = Path(target)
        if path.exists() and not path.is_file():
            with path.open("wb") as special:  # such as /dev/null, which must not be replaced
                yield special
            return
        path = path.resolve()  # a link stays a link
        with _replacing(path) as raw, _compressed(raw, path.suffix if packed else "") as out:
            yield out


def names_folder(target: str | os.PathLike[str]) -> bool:
    """Tell whether this is the name of a folder: of one that is there, or with a slash at the end."""
    return os.fspath(target).endswith(("/", os.sep)) or Path(target).is_dir()


def check_file_to_write(target: str | os.PathLike[str], example: str = "NAME") -> None:
    """Raise an error, which gives an example, if this names a folder, or a file in one that is not there."""
    if names_folder(target):
        told = f"this names a folder; it should be the name of a file, such as {Path(target) / example}"
        raise IsADirectoryError(errno.EISDIR, told, os.fspath(target))
    check_folder_of(target)


def check_folder_of(target: str | os.PathLike[str]) -> None:
    """Raise an error that names the folder if a file is to be written into one that is not there."""
    folder = Path(target).parent
    if folder.is_dir():
        folder = Path(target).resolve().parent  # where a link leads
    if not folder.is_dir():
        what = f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}"
        raise FileNotFoundError(errno.ENOENT, f"{what}; it should be made first", os.fspath(target))


def check_folder(target: str | os.PathLike[str]) -> None:
    """Raise an error if a folder is to be written to, or made, where there is a file, or in one that is not there."""
    if Path(target).exists() and not Path(target).is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is a file, not a folder", os.fspath(target))
    check_folder_of(target)


@contextmanager
def _output_named(name: str) -> Iterator[None]:
    """Put the name into errors that only writing can have, and that come without one."""
    try:
        yield
    except OSError as error:
        if error.errno in OUTPUT and error.filename is None:
            raise OSError(error.errno, error.strerror, name) from None
        raise


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of the path if all goes well."""
    mode = None
    if path.exists():
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        mode = path.stat().st_mode & 0o777
    partial = part_of_name(path)
    try:
        try:
            raw = partial.open("xb")
        except OSError as error:  # which names a file that nobody asked for
            raise OSError(error.errno, error.strerror, str(path)) from None
        with raw:
            if mode is not None:
                partial.chmod(mode)
            yield raw
            on_disk(raw)
        put_in_place(partial, path)
    except BaseException:
        with suppress(OSError):  # a read-only disk would have its say about a name that nobody knows
            partial.unlink(missing_ok=True)
        raise


def on_disk(raw: BinaryIO) -> None:
    """Have what was written to a file reach the disk."""
    raw.flush()
    os.fsync(raw.fileno())


def put_in_place(partial: Path, path: Path) -> None:
    """Give a file that is complete, and on the disk, its final name."""
    partial.replace(path)
    _sync_folder(path.parent)


def kept_part_of(path: Path) -> Path:
    """Return the name, always the same, of a file that stays if the run that writes it is stopped."""
    return path.with_name(path.name + PART)


def part_of_name(path: Path) -> Path:
    """Return the name to write a file under before it is renamed; it is random, and short enough for any folder.

    In containers the numbers of processes repeat, and what a killed run has left must not be in the way of the next.
    """
    return path.with_name(f".{path.name[:50]}.{os.urandom(8).hex()}{PART}")


def is_left_part(name: str) -> bool:
    """Tell whether a file is called as if it were being written; if nobody does that, a killed process has left it."""
    return LEFT_PART.fullmatch(name) is not None


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where the system can do that."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def _compressed(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":
        # Neither name nor time goes in: the same sentences give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif suffix == ".xz":
        with lzma.LZMAFile(raw, "wb") as packed_xz:
            yield cast("BinaryIO", packed_xz)
    elif suffix == ".zst":
        with _zstandard().ZstdCompressor().stream_writer(raw, closefd=False) as packed_zst:
            yield packed_zst
    else:
        yield raw
