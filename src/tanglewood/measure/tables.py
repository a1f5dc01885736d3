"""Attachment scores by groups of arcs: label, length, direction, degree of non-projectivity, projective or not."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError
from tanglewood.measure.scores import Comparison, Right
from tanglewood.measure.shares import percentage, rounded
from tanglewood.treebank import measures

if TYPE_CHECKING:
    from collections.abc import Callable

    from tanglewood.treebank.sentence import Sentence

LENGTHS = ((1, "1"), (2, "2"), (6, "3-6"), (10, "7-10"), (20, "11-20"))
LONGER = "21+"
ROOT = "root"  # arcs from node 0 have neither a length nor a direction
PLAIN, CROSSING = "projective", "non-projective"


def _label_groups(sentence: Sentence) -> list[str]:
    return sentence.deprels


def _length_groups(sentence: Sentence) -> list[str]:
    return [_length(abs(word - head)) if head else ROOT for word, head in enumerate(sentence.heads()[1:], 1)]


def _length(length: int) -> str:
    return next((name for longest, name in LENGTHS if length <= longest), LONGER)


def _direction_groups(sentence: Sentence) -> list[str]:
    return [("left" if word < head else "right") if head else ROOT for word, head in enumerate(sentence.heads()[1:], 1)]


def _degree_groups(sentence: Sentence) -> list[str]:
    return [str(degree) for degree in measures.arc_degrees_2007(sentence.heads())[1:]]


def _crossing_groups(sentence: Sentence) -> list[str]:
    degrees = measures.arc_degrees_2006(sentence.heads())[1:]
    return [
        f"{CROSSING if degree else PLAIN} {direction}"
        for degree, direction in zip(degrees, _direction_groups(sentence), strict=True)
    ]


GROUPS: dict[str, Callable[[Sentence], list[str]]] = {
    "label": _label_groups,
    "length": _length_groups,
    "direction": _direction_groups,
    "degree": _degree_groups,
    "crossing": _crossing_groups,
}
DIRECTIONS = ("left", "right", ROOT)
ORDER = [
    *(name for _, name in LENGTHS),
    LONGER,
    *DIRECTIONS,
    *(f"{kind} {direction}" for kind in (PLAIN, CROSSING) for direction in DIRECTIONS),
]


@dataclass(slots=True)
class Row:
    """The arcs of one group: those that gold has and those that the system has."""

    gold: Right = field(default_factory=Right)
    system: Right = field(default_factory=Right)

    def as_dict(self) -> dict[str, int | float | None]:
        """Return counts and scores: ``uas`` and ``las`` over gold arcs of the group, precision over predicted ones."""
        las = percentage(self.gold.arcs, self.gold.words)
        precision = percentage(self.system.arcs, self.system.words)
        return rounded(
            {
                "gold": self.gold.words,
                "system": self.system.words,
                "las": las,
                "uas": percentage(self.gold.heads, self.gold.words),
                "la": percentage(self.gold.labels, self.gold.words),
                "uas_precision": percentage(self.system.heads, self.system.words),
                "las_precision": precision,
                "las_f1": 2 * las * precision / (las + precision) if las and precision else 0.0,
            }
        )


class Table:
    """Running counts over the sentences added, by groups of arcs; GROUPS names the ways to group them."""

    def __init__(self, by: str) -> None:
        if by not in GROUPS:
            raise ConfigError(f"there is no table by {by!r}; there are {', '.join(GROUPS)}")
        self.by = by
        self._gold: Counter[tuple[str, bool, bool, bool]] = Counter()
        self._system: Counter[tuple[str, bool, bool, bool]] = Counter()

    def add(self, comparison: Comparison) -> None:
        """Count one sentence."""
        for counts, sentence in ((self._gold, comparison.gold), (self._system, comparison.system)):
            groups = comparison.select(GROUPS[self.by](sentence))
            right = (comparison.head_right, comparison.label_right, comparison.arc_right)
            counts.update(zip(groups, *right, strict=True))

    def rows(self) -> dict[str, Row]:
        """Return the groups: labels from frequent to rare in gold, others ascending."""
        found: defaultdict[str, Row] = defaultdict(Row)
        for counts, side in ((self._gold, "gold"), (self._system, "system")):
            for (group, head, label, arc), count in counts.items():
                right: Right = getattr(found[group], side)
                right.words += count
                right.heads += count * head
                right.labels += count * label
                right.arcs += count * arc
        return {group: found[group] for group in sorted(found, key=lambda group: self._place(group, found[group]))}

    def _place(self, group: str, row: Row) -> tuple[int, str]:
        """Return the sort key of a group."""
        if self.by == "label":
            return (-row.gold.words, group)
        return (int(group) if self.by == "degree" else ORDER.index(group), "")

    def as_dict(self) -> dict[str, dict[str, int | float | None]]:
        """Return the rows as plain data for JSON."""
        return {group: row.as_dict() for group, row in self.rows().items()}
