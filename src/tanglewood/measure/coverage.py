"""How many trees each transition system covers, found by running its oracle and comparing the trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tanglewood.core.actions import LabelNumbers
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ArgumentError, ConfigError, UndecidedError, given
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.sources import SentenceSource, sentences_from

if TYPE_CHECKING:
    from tanglewood.treebank.tree import Tree


def coverage(
    source: SentenceSource,
    systems: str | Iterable[str | TransitionSystem] | Mapping[str, TransitionSystem] | None = None,
) -> Coverage:
    """Count which systems derive the trees of a treebank: a path, an open file, a document or any sentences.

    Systems are given as names or instances, by default all that there are; a mapping gives them names of your own, so
    that one system can be counted with different options.
    """
    counts = Coverage(_named(systems))
    for sentence in sentences_from(source):
        counts.add(sentence.tree)
    return counts


def _named(
    systems: str | Iterable[str | TransitionSystem] | Mapping[str, TransitionSystem] | None,
) -> dict[str, TransitionSystem]:
    if isinstance(systems, Mapping):
        return dict(systems)
    if isinstance(systems, str | TransitionSystem):
        systems = [systems]
    found: dict[str, TransitionSystem] = {}
    for system in SYSTEMS if systems is None else systems:
        made = make_system(system) if isinstance(system, str) else system
        if not isinstance(made, TransitionSystem):
            raise ArgumentError(f"a system should be a name or a TransitionSystem, not {given(system)}")
        if made.name in found:
            raise ConfigError(f"{made.name} is there twice; a mapping can give each a name of its own")
        found[made.name] = made
    return found


class Coverage:
    """Running counts, by system, of the trees that its oracle rebuilds exactly.

    ``undecided`` are those where an oracle that has to search gave up (inventories that are not deletion-closed).
    The systems should allow several roots (single_root off) where the treebank has them; trees with one root lose
    nothing by that.
    """

    def __init__(self, systems: Mapping[str, TransitionSystem]) -> None:
        self.sentences = 0
        self.nonprojective_sentences = 0
        self.covered = dict.fromkeys(systems, 0)
        self.covered_nonprojective = dict.fromkeys(systems, 0)
        self.undecided = dict.fromkeys(systems, 0)
        self._oracles = {name: system.oracle() for name, system in systems.items()}
        self._labels = LabelNumbers()

    def __repr__(self) -> str:
        systems = ", ".join(
            f"{name} {covered} ({self.covered_nonprojective[name]})" for name, covered in self.covered.items()
        )
        return f"<Coverage of {self.sentences} trees ({self.nonprojective_sentences} non-projective): {systems}>"

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
