"""Which files a corpus has, what they are called in the output, and what they hold."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from tanglewood.errors import ConfigError
from tanglewood.files import unpacked_name
from tanglewood.run.places import ERRORS, INSIDE, RECORD, Place, is_below
from tanglewood.run.remote import is_remote, opened_input, remote, telling
from tanglewood.text.reading import TREEBANK_NAMES, Seen

JSON_NAMES = (".jsonl", ".ndjson", ".json")
TEXT_NAMES = (".txt", ".text", ".md")
PARQUET_NAMES = (".parquet",)
NAMES = (
    *TREEBANK_NAMES,
    *JSON_NAMES,
    *TEXT_NAMES,
    *PARQUET_NAMES,
)  # how the names of files end that are taken from folders
KINDS = ("text", "conllu", "json", "parquet")


class Input(NamedTuple):
    """A file: where it is, its name in the corpus, and the name of what is made from it; both have slashes."""

    path: str
    name: str
    output: str


class Found(NamedTuple):
    """The files of a corpus in the order of their names, and how many in its folders have other endings."""

    inputs: list[Input]
    others: int


def find_inputs(given: Sequence[str], ending: str, output: Place) -> Found:
    """Return the files that were given: by name, by the folder they are in, or by a pattern such as "news/**/*.txt".

    A file that is named is called by its name alone, others as they are called in the folder, or in the one where the
    pattern begins. What is made of them ends in ``ending``; two that would be made into one file are an error, and one
    that would be made into the list of errors is, too. In folders, hidden files, those with unknown endings, those of
    the ``output`` and what other runs have written down beside their outputs are left out.
    """
    found: dict[str, Input] = {}
    others = 0
    for item in given:
        for path, name, is_listed in _remote_files(item) if is_remote(item) else _files(item):
            if is_listed:
                if is_below(str(path), output):
                    continue
                if not unpacked_name(name).lower().endswith(NAMES):
                    others += 1
                    continue
            where = os.path.abspath(path) if isinstance(path, Path) else path  # noqa: PTH100 - links stay links
            one = Input(where, name, output_name(name, ending))
            if one.output == ERRORS:
                raise ConfigError(f"{one.path} would become {ERRORS}, which tells what is wrong; it should be renamed")
            other = found.setdefault(one.output, one)
            if other.path != one.path:
                remedy = "name a folder that holds both" if other.name == one.name else "one of them should be renamed"
                raise ConfigError(f"{other.path} and {one.path} would both become {one.output}; {remedy}")
    return Found(sorted(found.values(), key=lambda one: one.name), others)


def _files(item: str) -> Iterator[tuple[Path, str, bool]]:
    """Yield the files of an argument, what they are called, and whether they were found in a folder."""
    path = Path(item)
    if path.is_dir():
        yield from _of_folder(path)
    elif path.exists():
        yield path, path.name, False
    elif glob.has_magic(item):
        fixed = []
        for part in path.parts[:-1]:
            if glob.has_magic(part):
                break
            fixed.append(part)
        base = Path(*fixed)
        names = sorted(glob.glob(item, recursive=True))  # noqa: PTH207 - as shells do it, ** included
        if not names:
            raise ConfigError(f"{item}: there is no such file")
        for name in names:
            if not Path(name).is_dir():
                yield Path(name), PurePath(name).relative_to(base).as_posix(), False
    else:
        raise ConfigError(f"{item}: there is no such file or folder")


def _remote_files(url: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the files of a URL: of a folder, of a pattern, or the one file."""
    system, inside = remote(url)
    with telling(url):
        if glob.has_magic(inside) and not system.exists(inside):
            found = [path for path in system.glob(inside) if not system.isdir(path)]
            base = inside[: re.search(r"[*?[]", inside).start()].rpartition("/")[0]  # type: ignore[union-attr]
            is_listed = False
        elif system.isdir(inside):
            found, base, is_listed = system.find(inside), inside, True
        elif system.exists(inside):
            found, base, is_listed = [inside], inside.rpartition("/")[0], False
        else:
            found, base, is_listed = [], "", False
    if not found:
        raise ConfigError(f"{url}: there is no such file or folder")
    outputs = {path.partition(f"/{INSIDE}/")[0] for path in found if f"/{INSIDE}/" in path}
    for path in sorted(found):
        name = path.removeprefix(base).lstrip("/")
        hidden = is_listed and any(part.startswith(".") for part in name.split("/"))
        folder, _, last = path.rpartition("/")
        if not hidden and not (is_listed and _is_of_run(last, in_output=folder in outputs)):
            yield system.unstrip_protocol(path), name, is_listed


def _of_folder(folder: Path) -> Iterator[tuple[Path, str, bool]]:
    for where, folders, names in os.walk(folder, followlinks=False):
        in_output = INSIDE in folders
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(where, name)
            if not name.startswith(".") and not _is_of_run(name, in_output=in_output) and path.is_file():
                yield path, path.relative_to(folder).as_posix(), True


def _is_of_run(name: str, *, in_output: bool) -> bool:
    """Tell whether a file is no text but what a run has written down, by its name and whether it is in an output."""
    return name.endswith(RECORD) or (in_output and name == ERRORS)


def output_name(name: str, ending: str) -> str:
    """Return what the output for a file is called: its name with another ending."""
    plain = unpacked_name(name)
    known = next((one for one in NAMES if plain.lower().endswith(one)), "")
    return plain[: len(plain) - len(known)] + ending


def kind_of(path: str, encoding: str) -> str:
    """Return what a file holds, one of KINDS: by the ending of its name or else by its beginning."""
    if unpacked_name(path).lower().endswith(JSON_NAMES):
        return "json"
    if path.lower().endswith(PARQUET_NAMES):
        return "parquet"
    with opened_input(path) as (stream, name):
        return "conllu" if Seen(stream, name, encoding).is_treebank else "text"
