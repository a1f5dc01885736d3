"""Lay out a derivation as the table of Nivre 2009, Figure 3."""

from __future__ import annotations

from collections.abc import Sequence

from tanglewood.derivation import Step


def format_trace(steps: Sequence[Step], forms: Sequence[str], aside_name: str = "") -> str:
    """Lay out steps as the table of Figure 3; long stacks and buffers are shortened as they are there."""
    words = [f"{form}{number}" for number, form in enumerate(["ROOT", *forms])]
    header = ["Transition", "Stack", "Buffer", *([aside_name] if aside_name else []), "Added arc"]
    rows = [header]
    for step in steps:
        row = [step.transition, _stack([words[i] for i in step.stack]), _buffer([words[i] for i in step.buffer])]
        if aside_name:
            opened = [words[node] if label is None else f"{label}:{words[node]}" for node, label in step.aside]
            row.append(_stack(opened))
        row.append("" if step.arc is None else f"({step.arc[0]}, {step.arc[1]}, {step.arc[2]})")
        rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def _stack(nodes: list[str]) -> str:
    """Bottom, dots and the two topmost nodes, if there are more than three."""
    return f"[{', '.join(nodes if len(nodes) <= 3 else [nodes[0], '...', *nodes[-2:]])}]"


def _buffer(nodes: list[str]) -> str:
    """Front, dots and the last node, if there are more than two."""
    return f"[{', '.join(nodes if len(nodes) <= 2 else [nodes[0], '...', nodes[-1]])}]"
