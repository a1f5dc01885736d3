"""What a system may do, in numbers: moves, labels of arcs, tags, and which of them go together.

One `Actions` is shared by training, search, traces and model files. The rule about the root label is here and nowhere
else: if in the data one label belongs to all arcs from 0 and to no other arc, so it does in every tree that is built.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from tanglewood.checks import FIELD, Whole
from tanglewood.core.kinds import TAGGED
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ModelError
from tanglewood.treebank.tree import Tree

SETTINGS = {"labels": [FIELD], "root_label": Whole(-1, 1 << 30), "tags?": [FIELD]}  # in a model file


class LabelNumbers(dict[str, int]):
    """Numbers labels in the order in which they are first seen."""

    def __missing__(self, label: str) -> int:
        self[label] = len(self)
        return self[label]

    def of(self, tree: Tree) -> list[int]:
        """Return the label numbers of a tree, indexed by node, index 0 being -1."""
        return [-1, *(self[label] for label in tree.labels[1:])]


class Actions:
    """The moves of a system, the names of its labels and, if it gives tags, of its tags.

    ``root_label`` is the number of the label that belongs to arcs from 0 and to no others, or -1 if there is none.
    Tags have numbers of their own; ``n_labels`` is how many numbers a move may choose from, be they labels or tags.
    """

    def __init__(
        self, system: TransitionSystem, labels: Sequence[str], root_label: int = -1, tags: Sequence[str] = ()
    ) -> None:
        self.system = system
        self.labels = list(labels)
        self.tags = list(tags)
        self.root_label = root_label
        self.n_arc_labels = len(labels)
        self.n_tags = len(tags)
        self.n_labels = max(len(labels), len(tags))
        self.label_matters = system.label_matters

    @classmethod
    def of(cls, system: TransitionSystem, trees: Sequence[Tree], tags: Iterable[str] = ()) -> Self:
        """Return the actions with the sorted labels of these trees, their root label if they have one, and the tags."""
        from_root = {label for tree in trees for head, label, _ in tree.arcs() if head == 0}
        elsewhere = {label for tree in trees for head, label, _ in tree.arcs() if head > 0}
        labels = sorted(from_root | elsewhere)
        is_apart = len(from_root) == 1 and not from_root & elsewhere
        return cls(system, labels, labels.index(next(iter(from_root))) if is_apart else -1, sorted(set(tags)))

    # The rules. -----------------------------------------------------------------------------------------------

    def _settled_label(self, head: int) -> int:
        """Label that any arc from this head must have (from 0, the root label), or -1 if there is a choice."""
        return self.root_label if head == 0 else -1

    def _may_label(self, head: int, label: int) -> bool:
        """Whether an arc from this head may have the label: the root label belongs to arcs from 0 and to no others."""
        return self.root_label < 0 or (label == self.root_label) == (head == 0)

    def _is_root_arc(self, s: State, move: int) -> bool:
        """Whether the label of a move is settled because its arc comes from 0."""
        return self.root_label >= 0 and self.system._head(s, move, -1) == 0

    def _fits(self, s: State, move: int, label: int, head: int) -> bool:
        """Whether a move may carry a label, or a tag if it gives one; ``head`` is that of the move's arc."""
        if self.system.labelled[move] == TAGGED:
            return label < self.n_tags and self.system._is_legal(s, move, label)
        if label >= self.n_arc_labels or not self._may_label(head, label):
            return False
        return not self.label_matters or self.system._is_legal(s, move, label)

    def _rule_out(self, s: State, move: int, head: int, scores: array[float]) -> int:
        """Write -1e30 for every label (or tag) that does not fit a move; return how many are left above that."""
        left = 0
        for label in range(self.n_labels):
            if not self._fits(s, move, label, head):
                scores[label] = -1e30
            elif scores[label] > -1e29:
                left += 1
        return left

    # The public interface. ------------------------------------------------------------------------------------

    def is_root_arc(self, s: State, move: int) -> bool:
        """Whether the label of a move is settled because its arc comes from 0."""
        return bool(self._is_root_arc(s, move))

    def label_numbers(self, tree: Tree) -> list[int]:
        """Return the label numbers of a tree, indexed by node; -1 for node 0 and for labels that are not known."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        return [-1, *(numbers.get(label, -1) for label in tree.labels[1:])]

    def tag_numbers(self, tags: Sequence[str]) -> list[int]:
        """Return the numbers of the tags of words, indexed by node; -1 for node 0 and for tags that are not known."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        return [-1, *(numbers.get(tag, -1) for tag in tags)]

    def name(self, move: int, number: int) -> str | None:
        """Return the name of what a move carries: a label, or a tag where the move gives one; None for nothing."""
        known = self.tags if self.system.moves[move].tags else self.labels
        return known[number] if self.system.moves[move].labelled and 0 <= number < len(known) else None

    def tree(self, heads: Sequence[int], numbers: Sequence[int]) -> Tree:
        """Return the tree with these heads and label numbers of words.

        A word that a system's final step attached has no label (-1): below 0 it gets the root label, elsewhere "dep".
        """
        labels = [self.labels[number] if number >= 0 else "dep" for number in numbers]
        if -1 in numbers:
            root = self.labels[self.root_label] if self.root_label >= 0 else "root"
            for place, (number, head) in enumerate(zip(numbers, heads, strict=True)):
                if number < 0 and head == 0:
                    labels[place] = root
        return Tree(heads, labels)

    def settings(self) -> dict[str, Any]:
        """Return the names as plain data for a model file."""
        tags = {"tags": self.tags} if self.tags else {}
        return {"labels": self.labels, "root_label": self.root_label, **tags}

    @classmethod
    def load(cls, system: TransitionSystem, settings: Mapping[str, Any]) -> Self:
        """Rebuild the actions from a model file's data, which must be of the shape SETTINGS."""
        labels, root_label, tags = settings["labels"], settings["root_label"], settings.get("tags", ())
        if root_label >= len(labels):
            raise ModelError(f"the model's root label {root_label} is none of its {len(labels)} labels")
        if bool(tags) != bool(system.tag_column):
            raise ModelError(f"the model has {len(tags)} tags; {system.name} gives {'none' if tags else 'some'}")
        return cls(system, labels, root_label, tags)
