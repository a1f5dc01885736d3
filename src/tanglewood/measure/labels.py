"""Numbers for labels: oracles and states know labels as ints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tanglewood.treebank.tree import Tree


class LabelNumbers(dict[str, int]):
    """Numbers labels in the order in which they are first seen."""

    def __missing__(self, label: str) -> int:
        self[label] = len(self)
        return self[label]

    def of(self, tree: Tree) -> list[int]:
        """Return the label numbers of a tree, indexed by node, index 0 being -1."""
        return [-1, *(self[label] for label in tree.labels[1:])]
