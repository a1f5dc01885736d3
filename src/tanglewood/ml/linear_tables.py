"""Tables of weights on their way into model files and checkpoints, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tanglewood.checks import REAL, Layout, check_settings
from tanglewood.ml.linear_weights import QUANTA, LearningWeights, Weights


def freeze_tables(
    tables: Mapping[str, LearningWeights], time: float, least: float, updates: int
) -> tuple[dict[str, memoryview], dict[str, float]]:
    """Return averaged weights as arrays for a model, and what an integer in them is worth."""
    arrays, scales = {}, {}
    for name, weights in tables.items():
        largest = weights.largest(time) or 1.0
        scales[name] = largest / QUANTA
        keys, entries = weights.freeze(time, scales[name], least * largest, updates)
        arrays[f"{name}.keys"], arrays[f"{name}.entries"] = memoryview(keys), memoryview(entries)
    return arrays, scales


def load_tables(
    arrays: Mapping[str, Any], scales: Mapping[str, float], sizes: Mapping[str, int], factor: float = 1.0
) -> dict[str, Weights]:
    """Return the tables of a model, given how many classes each has; scores are multiplied by the factor."""
    check_settings(scales, dict.fromkeys(sizes, REAL), "scales")
    return {
        name: Weights(arrays[f"{name}.keys"], arrays[f"{name}.entries"], size, factor * scales[name])
        for name, size in sizes.items()
    }


def table_arrays(names: Iterable[str]) -> dict[str, Layout]:
    """Return what the arrays of such tables must be; `Weights` looks at their numbers."""
    return {f"{name}.{part}": Layout("i", (f"{name}.{part}",)) for name in names for part in ("keys", "entries")}


def save_tables(tables: Mapping[str, LearningWeights]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables as arrays, and their sizes."""
    arrays: dict[str, Any] = {}
    for name, weights in tables.items():
        arrays[f"{name}.slots"], arrays[f"{name}.pool"] = weights.tables()
    return arrays, {name: [weights.n_keys, weights.n_pool] for name, weights in tables.items()}


def restore_tables(
    tables: Mapping[str, LearningWeights], arrays: Mapping[str, memoryview], sizes: Mapping[str, Any]
) -> None:
    """Put back what `save_tables` returned."""
    for name, weights in tables.items():
        weights.restore(arrays[f"{name}.slots"], arrays[f"{name}.pool"], *sizes[name])
