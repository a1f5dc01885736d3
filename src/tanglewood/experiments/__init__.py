"""The papers' experiments: functions that return data, one file per paper; each finished part of a run is kept."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tanglewood.errors import ConfigError

PAPERS = ("nivre2009", "nivre2007", "shi2018", "lacroix2014", "systems")


def experiment(paper: str) -> Any:  # noqa: ANN401 - a module
    """Return the module of a paper: it has TITLE, `run` (results), `report` (Markdown of results) and `findings`."""
    if paper not in PAPERS:
        raise ConfigError(f"there is no experiment {paper!r}; there are {', '.join(PAPERS)}")
    return import_module(f"tanglewood.experiments.{paper}")
