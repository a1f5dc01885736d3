"""The parts of an experiment made side by side: each by a run of its own, in whatever process, in the same folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanglewood.run.engine import Engine

if TYPE_CHECKING:
    from tanglewood.experiments.running import Learning, Treebank


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the parts of a run are shared out: ``again`` repeats the run for one of them alone, on the engine.

    ``only`` is that part, in a run that was repeated.
    """

    engine: Engine = field(default_factory=Engine)
    again: Callable[[str], str] | None = None
    only: str = ""


ALONE = Sharing()


class PartMade(Exception):  # noqa: N818 - nothing is wrong
    """The only part that a repeated run was for is finished."""


@dataclass(frozen=True, slots=True)
class Again:
    """Makes one part of a run: of a paper, in a folder, from a treebank or from files."""

    paper: str
    folder: Path
    command: str
    treebank: Path | None = None
    files: Sequence[Path] = ()
    learning: Learning | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, part: str) -> str:
        """Make this part, and return its name."""
        from tanglewood.experiments import experiment

        run = experiment(self.paper).run
        given = {**self.more, "command": self.command, "sharing": Sharing(only=part)}
        try:
            if self.treebank is None:
                run(self.files, self.folder, **given)
            else:
                run(_read_once(self.treebank), self.folder, self.learning, **given)
        except PartMade:
            pass
        return part


@lru_cache(1)
def _read_once(folder: Path) -> Treebank:
    from tanglewood.experiments.running import Treebank

    return Treebank.read(folder)
