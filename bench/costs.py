"""What a corpus costs, from the numbers that bench/corpus.py --json has written, and how speed grows with workers.

    python bench/costs.py FOUND.json [--plot OUT.svg]

Prints a Markdown table: CPU hours, gigabytes in and out and memory for a billion words, in proportion to the words that
were timed, and the same for a trillion words, which nobody has timed. Memory is that of all processes near the end of
the run, shared pages counted once, divided by the number of workers; it does not grow with the words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import timing
from tanglewood.show.scatter import Panel, Series, scatter

BILLION, TRILLION = 10**9, 10**12
MANY = 1000  # workers
DAY = 24 * 3600
HEADER = (
    *("engine", "words timed", "CPU hours", "GB in", "GB out", "MB a worker"),
    *("10¹² words, computed: CPU hours", "TB in", "TB out", f"days with {MANY:,} workers like these"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What some words take."""

    cpu_hours: float
    bytes_in: float
    bytes_out: float
    worker_mb: float
    worker_seconds: float  # by the clock, of all workers together


def workers_of(engine: str) -> int:
    """Return how many workers an engine such as "4" or "dask:4" has."""
    return int(engine.rpartition(":")[2])


def cost(found: Mapping[str, Any], engine: str, words: int) -> Cost:
    """Return what so many words would take, in proportion to those that an engine was timed with."""
    one = found["engines"][engine]
    times = words / one["words"]
    workers = workers_of(engine)
    return Cost(
        cpu_hours=one["cpu"] * times / 3600,
        bytes_in=found["corpus"]["bytes"] * times,
        bytes_out=one["bytes"] * times,
        worker_mb=one["end"] / workers,
        worker_seconds=one["seconds"] * workers * times,
    )


def cost_rows(found: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows of the table, one for each engine."""
    rows = []
    for engine, one in found["engines"].items():
        billion, trillion = (cost(found, engine, words) for words in (BILLION, TRILLION))
        rows.append(
            [
                engine,
                f"{one['words']:,}",
                f"{billion.cpu_hours:,.1f}",
                f"{billion.bytes_in / 1e9:,.1f}",
                f"{billion.bytes_out / 1e9:,.1f}",
                f"{billion.worker_mb:,.0f}",
                f"{trillion.cpu_hours:,.0f}",
                f"{trillion.bytes_in / 1e12:,.1f}",
                f"{trillion.bytes_out / 1e12:,.1f}",
                f"{trillion.worker_seconds / MANY / DAY:,.1f}",
            ]
        )
    return rows


def plotted(found: Mapping[str, Any]) -> str:
    """Return an SVG of words a second by the number of workers: processes filled, Dask hollow."""
    speeds = {engine: one["words"] / one["seconds"] for engine, one in found["engines"].items()}
    unit, name = (1000, "thousand words a second") if max(speeds.values()) >= 10_000 else (1, "words a second")
    series = []
    for kind, hollow in (("processes", False), ("Dask", True)):
        chosen = {engine: speed for engine, speed in speeds.items() if (":" in engine) == hollow}
        points = [(workers_of(engine), max(round(speed / unit), 1)) for engine, speed in chosen.items()]
        if points:
            series.append(Series(kind, points, None, hollow))
    dashed = (speeds["1"] / unit, "as many times one process") if "1" in speeds else None
    panel = Panel("Speed by number of workers", "workers", name, series, dashed)
    return scatter([panel], title="Words a second by number of workers")


def main() -> None:
    """Print the table, and plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("found", type=Path, metavar="FOUND.json", help="what bench/corpus.py --json has written")
    parser.add_argument("--plot", type=Path, metavar="OUT.svg", help="plot words a second by number of workers")
    args = parser.parse_args()
    found = json.loads(args.found.read_text())
    timing.print_markdown(HEADER, cost_rows(found))
    if args.plot:
        args.plot.write_text(plotted(found), encoding="utf-8")


if __name__ == "__main__":
    main()
