"""Lay out a derivation as the table of Nivre 2009, Figure 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tanglewood.derivation import Step

FITTED = 1000  # steps for which columns are made wide enough before the first is given out


def format_trace(steps: Iterable[Step], forms: Sequence[str], aside_name: str = "") -> str:
    """Lay out steps as the table of Figure 3; long stacks and buffers are shortened as they are there."""
    return "\n".join(trace_lines(steps, forms, aside_name))


def trace_lines(steps: Iterable[Step], forms: Sequence[str], aside_name: str = "") -> Iterator[str]:
    """Yield the lines of the table of Figure 3, of a long derivation as it goes on.

    Columns are as wide as the first FITTED steps need; they become wider where a later one needs more.
    """
    words = [f"{form}{number}" for number, form in enumerate(["ROOT", *forms])]
    rows = (_row(step, words, with_aside=bool(aside_name)) for step in steps)
    first = [["Transition", "Stack", "Buffer", *([aside_name] if aside_name else []), "Added arc"]]
    first += islice(rows, FITTED)
    widths = [max(map(len, column)) for column in zip(*first, strict=True)]
    header, *lines = (_line(row, widths) for row in first)
    yield header
    yield "─" * max(map(len, [header, *lines]))
    yield from lines
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
        yield _line(row, widths)


def _row(step: Step, words: Sequence[str], *, with_aside: bool) -> list[str]:
    row = [step.transition, _stack([words[i] for i in step.stack]), _buffer([words[i] for i in step.buffer])]
    if with_aside:
        row.append(_stack([words[node] if label is None else f"{label}:{words[node]}" for node, label in step.aside]))
    return [*row, "" if step.arc is None else f"({step.arc[0]}, {step.arc[1]}, {step.arc[2]})"]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _stack(nodes: list[str]) -> str:
    """Bottom, dots and the two topmost nodes, if there are more than three."""
    return f"[{', '.join(nodes if len(nodes) <= 3 else [nodes[0], '...', *nodes[-2:]])}]"


def _buffer(nodes: list[str]) -> str:
    """Front, dots and the last node, if there are more than two."""
    return f"[{', '.join(nodes if len(nodes) <= 2 else [nodes[0], '...', nodes[-1]])}]"
