"""What the benchmarks share: the least CPU time of some work, and Markdown tables."""

import time
from collections.abc import Callable, Sequence
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
