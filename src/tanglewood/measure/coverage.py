"""How many trees each transition system covers: run its oracle and compare the trees; there is no second test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanglewood.core.actions import LabelNumbers
from tanglewood.core.state import State
from tanglewood.errors import UndecidedError

if TYPE_CHECKING:
    from tanglewood.core.system import TransitionSystem
    from tanglewood.treebank.tree import Tree


class Coverage:
    """Running counts, by system, of the trees that its oracle rebuilds exactly.

    ``undecided`` are those where an oracle that has to search gave up (inventories that are not deletion-closed).
    The systems should allow several roots (single_root off) where the treebank has them; trees with one root lose
    nothing by that.
    """

    def __init__(self, systems: dict[str, TransitionSystem]) -> None:
        self.sentences = 0
        self.nonprojective_sentences = 0
        self.covered = dict.fromkeys(systems, 0)
        self.covered_nonprojective = dict.fromkeys(systems, 0)
        self.undecided = dict.fromkeys(systems, 0)
        self._oracles = {name: system.oracle() for name, system in systems.items()}
        self._labels = LabelNumbers()

    def add(self, tree: Tree) -> list[str]:
        """Count one tree, and return the systems that are not known to cover it."""
        projective = tree.is_projective()
        self.sentences += 1
        self.nonprojective_sentences += not projective
        labels = self._labels.of(tree)
        state = State(len(tree))
        uncovered = []
        for name, oracle in self._oracles.items():
            try:
                oracle.bind(tree.heads, labels)
            except UndecidedError:
                self.undecided[name] += 1
                uncovered.append(name)
                continue
            if oracle.reaches_gold(state):
                self.covered[name] += 1
                self.covered_nonprojective[name] += not projective
            else:
                uncovered.append(name)
        return uncovered

    def as_dict(self) -> dict[str, object]:
        """Return the counts as plain data for JSON."""
        return {
            "sentences": self.sentences,
            "nonprojective_sentences": self.nonprojective_sentences,
            "covered": self.covered,
            "covered_nonprojective": self.covered_nonprojective,
            "undecided": self.undecided,
        }
