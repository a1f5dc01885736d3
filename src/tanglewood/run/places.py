"""Where outputs are written: a folder here, or one elsewhere, such as s3://bucket/trees, through fsspec.

Stores of objects have no renaming, but a new object takes the place of the old one at once and whole. So an output for
elsewhere is made in a file here first and is then sent.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from tanglewood.files import writing
from tanglewood.run.remote import far_file, is_remote, remote, telling

INSIDE = ".tanglewood"  # the folder in the output with all that is not output
RECORD = ".record.json"  # what is added to the name of an output for that of its record
ERRORS = "errors.jsonl"  # the file in the output that lists what went wrong


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A folder elsewhere or a file below it, with as much of `pathlib` as outputs need."""

    url: str  # of the folder, without a slash at its end
    below: str = ""

    def __str__(self) -> str:
        return f"{self.url}/{self.below}" if self.below else self.url

    def __truediv__(self, name: str) -> Elsewhere:
        return Elsewhere(self.url, f"{self.below}/{name}" if self.below else name)

    @property
    def name(self) -> str:
        """The last part of the name."""
        return str(self).rpartition("/")[2]

    @property
    def parent(self) -> Elsewhere:
        """The folder that it is in."""
        return Elsewhere(self.url, self.below.rpartition("/")[0])

    def with_name(self, name: str) -> Elsewhere:
        """Return what is called so in the same folder."""
        return self.parent / name

    def found(self) -> tuple[Any, str]:
        """Return the file system, and the path in it."""
        system, root = remote(self.url)
        return system, f"{root.rstrip('/')}/{self.below}" if self.below else root

    def read_bytes(self) -> bytes:
        """Return what the file holds."""
        with telling(str(self)):
            system, inside = self.found()
            return bytes(system.cat_file(inside))

    def open(self, mode: str = "rb") -> BufferedReader:
        """Open the file to read it."""
        assert mode == "rb"
        return far_file(str(self), *self.found())

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the file."""
        try:
            with telling(str(self)):
                system, inside = self.found()
                system.rm_file(inside)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def send(self, whole: Path) -> None:
        """Put a file that is complete in this place."""
        try:
            with telling(str(self)):
                system, inside = self.found()
                system.put_file(str(whole), inside)
        except FileNotFoundError as error:  # not the file: what it should be put into
            problem = f"it cannot be written there ({error.__cause__ or error})"
            raise OSError(errno.EIO, problem, str(self)) from None


Place = Path | Elsewhere


def place_of(name: str) -> Place:
    """Return the folder that has this name, or that is at this URL."""
    if not is_remote(name):
        return Path(name)
    system, inside = remote(name)
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    if "file" in protocols:
        return Path(inside)
    return Elsewhere(str(system.unstrip_protocol(inside)).rstrip("/"))


def is_of_this_process(place: Place) -> bool:
    """Tell whether no other process can see what is written there."""
    return isinstance(place, Elsewhere) and place.url.startswith("memory:")


def is_folder(place: Place) -> bool:
    """Tell whether there is such a folder."""
    if isinstance(place, Path):
        return place.is_dir()
    with telling(str(place)):
        system, inside = place.found()
        return bool(system.isdir(inside))


def is_file(place: Place) -> bool:
    """Tell whether there is something of that name that is no folder."""
    if isinstance(place, Path):
        return place.exists() and not place.is_dir()
    with telling(str(place)):
        system, inside = place.found()
        return bool(system.isfile(inside))


def is_below(name: str, folder: Place) -> bool:
    """Tell whether a file, by its path or URL, is somewhere in a folder."""
    if isinstance(folder, Path):
        return not is_remote(name) and Path(name).resolve().is_relative_to(folder.resolve())
    return name.startswith(f"{folder}/")


def size_of(place: Place) -> int:
    """Return how many bytes a file has."""
    if isinstance(place, Path):
        return place.stat().st_size
    with telling(str(place)):
        system, inside = place.found()
        return int(system.size(inside) or 0)


def make_folder(place: Place) -> None:
    """Make a folder, if it is not there; elsewhere there are none, but only names with slashes."""
    if isinstance(place, Path):
        place.mkdir(parents=True, exist_ok=True)


def remove_folder(place: Place) -> None:
    """Remove a folder and all that is in it, as far as that goes."""
    if isinstance(place, Path):
        shutil.rmtree(place, ignore_errors=True)
        return
    with suppress(OSError):
        for name in list(files_below(place)):
            (place / name).unlink(missing_ok=True)


def files_below(place: Place, *, without: str = "") -> Iterator[str]:
    """Yield the names of all files in a folder: first its own, then those of its folders, each by name.

    Those of the folder ``without``, which is directly in it, are left out. A folder that is not there has none.
    """
    if isinstance(place, Path):
        for where, folders, names in os.walk(place):
            base = Path(where).relative_to(place)
            folders[:] = sorted(name for name in folders if base.parts or name != without)
            for name in sorted(names):
                yield (base / name).as_posix()
        return
    found = []
    with suppress(FileNotFoundError), telling(str(place)):
        system, inside = place.found()
        root = f"{inside.rstrip('/')}/"
        found = [str(path).removeprefix(root) for path in system.find(inside)]
    known = (name for name in found if not (without and name.startswith(f"{without}/")))
    yield from sorted(known, key=_in_folders)


def _in_folders(name: str) -> list[tuple[bool, str]]:
    *folders, last = name.split("/")
    return [*((True, folder) for folder in folders), (False, last)]


@contextmanager
def writing_at(place: Place) -> Iterator[BinaryIO]:
    """Yield the binary file to write to; it is in its place only if all goes well, and then it is whole.

    It is compressed if its name says so, as by `writing`.
    """
    if isinstance(place, Path):
        with writing(place) as out:
            yield out
        return
    with TemporaryDirectory(prefix="tanglewood-") as folder:
        whole = Path(folder, f"whole{PurePosixPath(place.name).suffix}")
        with writing(whole) as out:
            yield out
        place.send(whole)
