"""Where words, arcs and labels stand: the geometry that the text and SVG viewers share.

Units are whole numbers: character cells in the terminal, pixels in SVG.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from tanglewood.treebank.tree import Tree


@dataclass(frozen=True, slots=True)
class Arc:
    """One arc of a tree with its drawing level: 1 is lowest, 0 means a vertical arrow from the root."""

    head: int
    dependent: int
    label: str
    nonprojective: bool
    level: int

    @property
    def left(self) -> int:
        """The leftmost of the two nodes."""
        return min(self.head, self.dependent)

    @property
    def right(self) -> int:
        """The rightmost of the two nodes."""
        return max(self.head, self.dependent)


@dataclass(frozen=True, slots=True)
class Measure:
    """The distances of one output medium."""

    gap: int  # between two words
    step: int  # between two arcs that end at the same word
    pad: int  # of arc on either side of its label, corner included


@dataclass(frozen=True, slots=True)
class Plan:
    """Positions of everything on the horizontal axis; lists of words start at word 1."""

    width: int
    centres: list[int]
    head_x: list[int]
    dependent_x: list[int]
    label_x: list[int]  # the centre of each arc's label


def levels(pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the level (from 1) of each (head, dependent) arc: above all it covers, apart from all it overlaps.

    Arcs that only touch at a node may share a level. Shorter arcs choose first, so they lie low.
    """
    result = [0] * len(pairs)
    taken: list[int] = []  # per level a bit set of the gaps between nodes that its arcs span
    for index in sorted(range(len(pairs)), key=lambda i: (abs(pairs[i][0] - pairs[i][1]), min(pairs[i]))):
        gaps = (1 << max(pairs[index])) - (1 << min(pairs[index]))
        # The lowest free level is above all covered arcs: what keeps them off a level keeps this one off, too.
        level = next((level for level, others in enumerate(taken) if not others & gaps), len(taken))
        if level == len(taken):
            taken.append(0)
        taken[level] |= gaps
        result[index] = level + 1
    return result


def tree_arcs(tree: Tree) -> list[Arc]:
    """Return the arcs of a tree in the order of their dependents, levels included."""
    nonprojective = {*tree.nonprojective_arcs()}
    above = iter(levels([(head, word) for head, _, word in tree.arcs() if head]))
    return [
        Arc(head, word, clean(label), word in nonprojective, next(above) if head else 0)
        for head, label, word in tree.arcs()
    ]


def plan(arcs: Sequence[Arc], word_widths: Sequence[int], label_widths: Sequence[int], measure: Measure) -> Plan:
    """Place words and arcs so that no arc runs into another arc's line end and each label has a free stretch of arc."""
    ports = [
        _ports(word, arcs, most=1 + (width + measure.gap - 1) // measure.step)
        for word, width in enumerate(word_widths, 1)
    ]
    widths = [max(width, (len(port) - 1) * measure.step + 1) for width, port in zip(word_widths, ports, strict=True)]
    starts = [0] * len(widths)
    for word in range(1, len(widths)):
        starts[word] = starts[word - 1] + widths[word - 1] + measure.gap

    offsets: dict[tuple[int, int], int] = {}  # (arc, word) -> distance of the line's end from the word's start
    for word, (width, port) in enumerate(zip(widths, ports, strict=True), 1):
        first = (width - (len(port) - 1) * measure.step - 1) // 2
        for place, members in enumerate(port):
            offsets.update({(index, word): first + place * measure.step for index in members})

    def x_of(index: int, word: int) -> int:
        return starts[word - 1] + offsets[index, word]

    def stretch(index: int) -> tuple[int, int, int]:
        """Return the longest piece of an arc that no higher arc comes down through: its two ends, its right word."""
        arc = arcs[index]
        ends = [(x_of(index, arc.left), arc.left), (x_of(index, arc.right), arc.right)]
        ends += [
            (x_of(other, word), word)
            for other, above in enumerate(arcs)
            if above.level == 0 or above.level > arc.level
            for word in {above.dependent, above.head or above.dependent}
            if arc.left < word < arc.right
        ]
        ends.sort()
        (x, _), (end, word) = max(
            (piece for piece in pairwise(ends) if piece[0][1] != piece[1][1]),
            key=lambda piece: piece[1][0] - piece[0][0],
        )
        return x, end, word

    def widen(word: int, missing: int) -> None:
        for later in range(word - 1, len(starts) if missing > 0 else 0):
            starts[later] += missing

    # Widening never shortens a stretch, so one pass from the lowest arcs to the highest is enough.
    for index in sorted(range(len(arcs)), key=lambda i: arcs[i].level):
        if arcs[index].level:
            x, end, word = stretch(index)
            widen(word, label_widths[index] + 2 * measure.pad + 1 - (end - x))
    roots = [index for index, arc in enumerate(arcs) if arc.level == 0]
    free = 0  # the labels of the root arrows stand side by side in the top line
    for index in roots:
        x = x_of(index, arcs[index].dependent)
        widen(arcs[index].dependent if free else 1, free + label_widths[index] // 2 - x)
        free = x_of(index, arcs[index].dependent) + label_widths[index] - label_widths[index] // 2 + measure.gap

    label_x = [
        x_of(index, arc.dependent) if arc.level == 0 else (sum(stretch(index)[:2]) + 1) // 2
        for index, arc in enumerate(arcs)
    ]
    ends = [start + width for start, width in zip(starts, widths, strict=True)]
    return Plan(
        width=max([*ends[-1:], free - measure.gap if roots else 0], default=0),
        centres=[start + width // 2 for start, width in zip(starts, widths, strict=True)],
        head_x=[x_of(index, arc.head or arc.dependent) for index, arc in enumerate(arcs)],
        dependent_x=[x_of(index, arc.dependent) for index, arc in enumerate(arcs)],
        label_x=label_x,
    )


def _ports(word: int, arcs: Sequence[Arc], most: int) -> list[list[int]]:
    """Group the arcs that end at a word by the point where they end, from left to right.

    The higher an arc, the nearer to the middle it ends: so arcs of one word never cut each other. If there are more
    than `most`, those that leave the word side by side share a point.
    """
    mine = [index for index, arc in enumerate(arcs) if word in (arc.head, arc.dependent)]
    lefts = sorted((i for i in mine if arcs[i].level and arcs[i].right == word), key=lambda i: arcs[i].level)
    roots = [i for i in mine if arcs[i].level == 0]
    rights = sorted((i for i in mine if arcs[i].level and arcs[i].left == word), key=lambda i: -arcs[i].level)
    if len(mine) <= most:
        return [[i] for i in (*lefts, *roots, *rights)]
    return [
        [*group]
        for side in (lefts, roots, rights)
        for _, group in groupby(side, key=lambda i: (arcs[i].head == word, arcs[i].nonprojective))
    ]


def clean(text: str) -> str:
    """Replace what would break a line, a terminal or XML: control, direction-override and unpaired characters."""
    return "".join("\ufffd" if _is_unsafe(char) else char for char in text)


def _is_unsafe(char: str) -> bool:
    return (
        unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
        or char in "\ufffe\uffff"
    )


def is_right_to_left(text: str) -> bool:
    """Tell whether the first character with a direction of its own runs from right to left."""
    strong = (unicodedata.bidirectional(char) for char in text)
    return next((direction != "L" for direction in strong if direction in {"L", "R", "AL"}), False)


def cells(text: str) -> int:
    """Return the number of terminal columns of a text: wide East Asian characters take two, combining marks none."""
    return sum(map(cell, text))


def cell(char: str) -> int:
    """Return the number of terminal columns of one character."""
    if char.isascii():
        return 1
    hidden = unicodedata.category(char) in {"Mn", "Me", "Cf"} and char != "\u00ad"
    if hidden or "\u1160" <= char <= "\u11ff":
        return 0  # the soft hyphen is shown; the vowels and finals of Korean letters join the initial
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
