"""Abstract running time: transitions by sentence length and a line through the origin (Nivre 2009, Figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanglewood.core.actions import LabelNumbers
from tanglewood.core.state import State
from tanglewood.errors import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanglewood.core.system import TransitionSystem
    from tanglewood.treebank.tree import Tree


def fit_through_origin(lengths: Sequence[int], transitions: Sequence[int]) -> tuple[float, float]:
    """Return slope and R2 of the least-squares line m = a n; R2 is taken about the mean of m."""
    if not lengths:
        return (0.0, 0.0)
    slope = sum(n * m for n, m in zip(lengths, transitions, strict=True)) / sum(n * n for n in lengths)
    mean = sum(transitions) / len(transitions)
    residual = sum((m - slope * n) ** 2 for n, m in zip(lengths, transitions, strict=True))
    total = sum((m - mean) ** 2 for m in transitions)
    return (slope, 1 - residual / total if total else 1.0)


class RunningTime:
    """Lengths and numbers of transitions of the sentences added, as the oracle derives them."""

    def __init__(self, system: TransitionSystem, oracle: str | None = None) -> None:
        self.system = system.name
        self.oracle = oracle or next(iter(system.oracles))
        self.lengths: list[int] = []
        self.transitions: list[int] = []
        self.sentences = 0
        self.swaps = 0
        self.max_swaps = 0
        self.uncovered = 0
        self.undecided = 0  # where an oracle that has to search gave up
        self._system = system
        self._oracle = system.oracle(oracle)
        self._labels = LabelNumbers()

    def add(self, tree: Tree) -> None:
        """Derive one tree; trees that the system does not cover are counted apart."""
        self.sentences += 1
        state = State(len(tree))
        try:
            self._oracle.bind(tree.heads, self._labels.of(tree))
        except UndecidedError:
            self.undecided += 1
            return
        if not self._oracle.reaches_gold(state):
            self.uncovered += 1
            return
        swaps = self._system.swaps(state)
        self.lengths.append(len(tree))
        self.transitions.append(state.steps)
        self.swaps += swaps
        self.max_swaps = max(self.max_swaps, swaps)

    def as_dict(self) -> dict[str, object]:
        """Return the counts as plain data for JSON; all but ``sentences`` are over covered trees only."""
        slope, r2 = fit_through_origin(self.lengths, self.transitions)
        return {
            "system": self.system,
            "oracle": self.oracle,
            "sentences": self.sentences,
            "words": sum(self.lengths),
            "transitions": sum(self.transitions),
            "swaps": self.swaps,
            "max_swaps": self.max_swaps,
            "slope": round(slope, 4),
            "r2": round(r2, 4),
            "uncovered": self.uncovered,
            "undecided": self.undecided,
        }
