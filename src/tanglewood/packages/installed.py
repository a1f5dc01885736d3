"""What a model is called: a file, one that is installed as a package, or the one that comes with tanglewood.

Nothing of a package is imported to find its model.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from tanglewood.errors import ModelError

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # of a model
GROUP = "tanglewood.models"  # of entry points: NAME = "module:FILE"
CARD = "model.json"  # beside the model file: what it is
BUNDLED = "english-ewt"  # the model that comes with tanglewood
OWN = (BUNDLED, "bundled")  # its names


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


def bundled_model() -> Any:  # noqa: ANN401 - a Traversable
    """Return the model file that comes with tanglewood."""
    return files("tanglewood") / "models" / f"{BUNDLED}.tw"


def is_bundled(given: str | Path | None) -> bool:
    """Tell whether the model that comes with tanglewood is meant: by its name, unless a file has that, or by none."""
    return given is None or (given in OWN and not os.path.isfile(given))  # noqa: PTH113


def model_file(given: str | Path | None) -> Any:  # noqa: ANN401 - a Path or Traversable
    """Return the file of a model, as it may be named wherever one is expected.

    That is a file or what looks like one, else the name of an installed model, or of the one that comes with
    tanglewood, which is also meant if none is named.
    """
    if given is None or is_bundled(given):
        return bundled_model()
    if not isinstance(given, str) or not NAME.fullmatch(given) or os.path.isfile(given):  # noqa: PTH113
        return Path(given)
    found = find_installed(given)
    if found is None:
        if os.path.exists(given):  # noqa: PTH110 - a folder, which has an error of its own
            return Path(given)
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
