"""Models that are installed as packages, found by their names; nothing of a package is imported to find it."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from tanglewood.errors import ModelError

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # of a model
GROUP = "tanglewood.models"  # of entry points: NAME = "module:FILE"
CARD = "model.json"  # beside the model file: what it is


@dataclass(frozen=True, slots=True)
class Installed:
    """A model of a package: its name, its file, and what the package says about it."""

    name: str
    path: Path
    card: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The bytes of the model file."""
        return self.path.stat().st_size


def installed_models() -> dict[str, Installed]:
    """Return the models that are installed, by name; packages that are broken are left out."""
    found: dict[str, Installed] = {}
    for entry in sorted(entry_points(group=GROUP)):
        for path in _files(entry):
            found.setdefault(entry.name, Installed(entry.name, path, _card(path)))
    return found


def find_installed(name: str) -> Path | None:
    """Return the file of an installed model, None if there is none of that name."""
    for entry in entry_points(group=GROUP, name=name):
        for path in _files(entry):
            return path
        raise ModelError(f"{name}: the package {entry.module} is installed, but its model {entry.attr} is not there")
    return None


def model_file(given: str | Path) -> str | Path:
    """Return what was given, if it is a file or looks like one, else the file of the installed model of that name."""
    if not isinstance(given, str) or not NAME.fullmatch(given) or os.path.exists(given):  # noqa: PTH110
        return given
    found = find_installed(given)
    if found is None:
        told = (
            "there is no such file, and no installed model of that name; tanglewood models lists those that there are"
        )
        raise FileNotFoundError(errno.ENOENT, told, given)
    return found


def _files(entry: EntryPoint) -> Iterator[Path]:
    """Yield the file that an entry point names, if it is there: in the folder of the module, which is not imported."""
    if entry.dist is None or not entry.attr:
        return
    file = _file_name(entry)
    for known in entry.dist.files or ():
        if known.parts == (entry.module, file):
            path = Path(str(known.locate()))
            if path.is_file():
                yield path


def _file_name(entry: EntryPoint) -> str:
    """Return the name of the model file: an entry point can name no file, only what a module has."""
    return f"{entry.attr}.tw"


def _card(path: Path) -> dict[str, Any]:
    try:
        card = json.loads(path.with_name(CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}
