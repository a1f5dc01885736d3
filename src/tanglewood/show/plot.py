"""Plots with matplotlib, an optional extra: transitions and speed by sentence length (cf. Nivre 2009, Figure 5)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanglewood.errors import ConfigError, MissingExtraError
from tanglewood.files import check_file_to_write, writing
from tanglewood.measure.running_time import fit_through_origin

if TYPE_CHECKING:
    from tanglewood.measure.running_time import RunningTime

FORMATS = (".svg", ".png", ".pdf")


def check_plot(target: str) -> None:
    """Raise an error if a plot cannot be written to that file."""
    if Path(target).suffix not in FORMATS:
        raise ConfigError(f"cannot plot to {target}: the name should end in {', '.join(FORMATS)}")
    check_file_to_write(target)
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("plots need matplotlib: pip install 'tanglewood[plot]'")


def plot_running_time(target: str, times: Sequence[tuple[str, RunningTime]]) -> None:
    """Draw a dot per sentence and the fitted line for each named measurement, side by side."""
    check_plot(target)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(times), 4.2), layout="constrained")
    axes = figure.subplots(1, len(times), squeeze=False)[0]
    for axis, (name, time) in zip(axes, times, strict=True):
        slope, r2 = fit_through_origin(time.lengths, time.transitions)
        longest = max(time.lengths, default=1)
        # Many dots as vectors make a file of megabytes; only the dots become a bitmap.
        axis.scatter(time.lengths, time.transitions, s=7, c="#1f2937", alpha=0.35, linewidths=0, rasterized=True)
        line = f"m = {slope:.2f} n   (R² = {r2:.2f})"
        axis.plot([0, longest], [0, slope * longest], color="#c2410c", linewidth=1.6, label=line)
        axis.plot([0, longest], [0, 2 * longest], color="#9ca3af", linewidth=1, linestyle="--", label="2n")
        axis.set(title=f"{name}: {time.system}, {time.oracle} oracle", xlabel="words n", ylabel="transitions m")
        axis.set_xlim(0, None)
        axis.set_ylim(0, None)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, loc="upper left")
    _save(figure, target)


def plot_speeds(target: str, name: str, speeds: Mapping[int, float]) -> None:
    """Draw tokens per second by sentence length, on a logarithmic axis of lengths."""
    check_plot(target)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axis = figure.subplots()
    axis.plot(list(speeds), list(speeds.values()), color="#c2410c", linewidth=1.6, marker="o", markersize=4)
    axis.set_xscale("log")
    axis.set_xticks(list(speeds), [str(length) for length in speeds])
    axis.minorticks_off()
    axis.set_ylim(0, 1.1 * max(speeds.values()))
    axis.set(title=name, xlabel="words in a sentence", ylabel="tokens per CPU second")
    axis.spines[["top", "right"]].set_visible(False)
    _save(figure, target)


def _save(figure: Any, target: str) -> None:  # noqa: ANN401 - a Figure of matplotlib
    with writing(target) as out:
        # Without a date the same data give the same bytes.
        undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": None}[Path(target).suffix]
        figure.savefig(out, format=Path(target).suffix[1:], dpi=150, metadata=undated)
