"""Trace a derivation: transition, stack, buffer and added arc after every move (Nivre 2009, Figure 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tanglewood.core.system import TransitionSystem
from tanglewood.errors import OracleError
from tanglewood.treebank.tree import Tree


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a trace: a move (None in the first line), its label, and the configuration it leads to."""

    move: str | None
    label: str | None
    stack: list[int]
    buffer: list[int]
    aside: list[tuple[int, str | None]]
    arc: tuple[int, str, int] | None

    @property
    def transition(self) -> str:
        """The move with its label, as in LEFT-ARC(DET)."""
        if self.move is None:
            return ""
        return self.move if self.label is None else f"{self.move}({self.label})"


def trace(system: TransitionSystem, tree: Tree, oracle: str | None = None, tags: Sequence[str] = ()) -> Iterator[Step]:
    """Give the initial configuration and then every move of the oracle's derivation of the tree.

    The tags of words are shown where the system gives tags.

    Raises OracleError after the last move that could be made if the system does not cover the tree.
    """
    names = list(dict.fromkeys(tree.labels[1:]))
    numbers = [-1, *(names.index(label) for label in tree.labels[1:])]
    tag_names = list(dict.fromkeys(tags))
    guide = system.oracle(oracle)
    if tags and any(move.tags for move in system.moves):
        guide.bind(tree.heads, numbers, [-1, *map(tag_names.index, tags)])
    else:
        guide.bind(tree.heads, numbers)
    s = system.start(len(tree))

    def aside() -> list[tuple[int, str | None]]:
        return [(node, names[label] if label >= 0 else None) for node, label in system.aside(s)]

    yield Step(None, None, s.stack_nodes(), s.buffer_nodes(), aside(), None)
    while not system.is_final(s):
        move, number = guide.action(s)
        head, dependent = system.arc(s, move, number)
        known = tag_names if system.moves[move].tags else names
        label = known[number] if system.moves[move].labelled and number >= 0 else None
        system.apply(s, move, number)
        arc = (head, label or "", dependent) if head >= 0 else None
        yield Step(system.moves[move].name, label, s.stack_nodes(), s.buffer_nodes(), aside(), arc)
    if not guide.matches(s):
        raise OracleError(f"{system.name}: the moves are at an end and another tree came out; this one is not covered")


def format_trace(steps: Sequence[Step], forms: Sequence[str], aside_name: str = "") -> str:
    """Lay out steps as the table of Figure 3; long stacks and buffers are shortened as there."""
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
