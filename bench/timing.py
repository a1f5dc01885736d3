"""What the benchmarks share: the least CPU time of some work, searches by name, and Markdown tables."""

import time
from collections.abc import Callable, Sequence
from statistics import mean
from typing import TypeVar

Result = TypeVar("Result")


def least_cpu(rounds: int, work: Callable[[], Result]) -> tuple[Result, float]:
    """Do the work so many times; its last result and the least CPU seconds that this process took for it."""
    least = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return result, least


def print_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    for cells in (header, ["---"] * len(header), *rows):
        print("|", " | ".join(cells), "|")


# The searches of a network by the names that tables give them: options of the command parse, and of ParseOptions.
SEARCHES: dict[str, tuple[list[str], dict[str, object]]] = {
    "greedy": (["--search", "greedy"], {"search": "greedy"}),
    "beam 8": (["--search", "beam"], {"search": "beam"}),
    "mst": (["--search", "mst"], {"search": "mst"}),
    "eisner": (["--search", "eisner"], {"search": "eisner"}),
    "vote": ([], {}),
    "vote, beam 8": (["--accurate"], {"accurate": True}),
    "rescore": (["--search", "rescore"], {"search": "rescore"}),
}


def searches_named(text: str) -> list[str]:
    """Return the searches that a list with semicolons names; an error says which there are."""
    names = [name.strip() for name in text.split(";")]
    for name in names:
        if name not in SEARCHES:
            raise SystemExit(f"unknown search {name!r}; choose from {'; '.join(SEARCHES)}")
    return names


def spread(values: list[float], decimals: int) -> str:
    """Mean, and the range in brackets if there is one."""
    text = f"{mean(values):,.{decimals}f}"
    return text if len(values) == 1 else f"{text} ({min(values):,.{decimals}f}-{max(values):,.{decimals}f})"
