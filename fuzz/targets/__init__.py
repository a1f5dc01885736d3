"""The registry of what is fuzzed; a target is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from engine import Target


class TargetEntry(NamedTuple):
    """Where a target lives, and what it tries."""

    module: str
    name: str
    help: str


TARGETS = {
    "treebanks": TargetEntry("treebanks", "Treebanks", "CoNLL files read, written, measured, drawn and parsed"),
    "models": TargetEntry("models", "Models", "model files with a valid checksum loaded and parsed with"),
    "vectors": TargetEntry("vectors", "FileOfVectors", "files of word vectors read and made into a lexicon"),
    "requests": TargetEntry("requests", "Requests", "HTTP requests to the playground"),
}


def target_class(name: str) -> type[Target]:
    """Return the class of a target."""
    entry = TARGETS[name]
    found: type[Target] = getattr(import_module(f"targets.{entry.module}"), entry.name)
    return found
