"""Where words, arcs and labels are placed: the geometry that the terminal and SVG viewers share.

Units are whole numbers: character cells in the terminal, pixels in SVG. A sentence is drawn in one line or more. Within
a line everything has a column, from left to right: 0 is the left edge, 1, 2, ... the words and the last one the right
edge; a sentence that is written from right to left has its first word in the last column of words.
"""

import unicodedata
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise, takewhile
from math import inf

from tanglewood.show.tracks import Heights, Shifts, Track
from tanglewood.treebank.tree import Tree

BOTH, FIRST, SECOND = "both", "first", "second"  # of two analyses: which of them have an arc
MOST_BALANCED = 250  # words of a sentence for which several ways to break it are tried


@dataclass(frozen=True, slots=True)
class Arc:
    """One arc: of a tree, or of one of two trees or both. `other` is the label in the second if it has another."""

    head: int
    dependent: int
    label: str
    nonprojective: bool
    part: str = BOTH
    other: str | None = None

    @property
    def text(self) -> str:
        """What is written at the arc."""
        return self.label if self.other is None else f"{self.label} ≠ {self.other}"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a line shows of an arc, or of all the arcs from one of its words to words beyond one edge.

    `head` and `dependent` are columns, the same one for the arrow of a root. Level 1 is nearest to the words, 0 means
    that arrow. `goal` names the words beyond the edge if the piece comes from there or, which several arcs may share,
    `leaves` for there.
    """

    arcs: tuple[Arc, ...]
    head: int
    dependent: int
    text: str
    goal: str = ""
    leaves: bool = False
    level: int = 0

    @property
    def left(self) -> int:
        """The leftmost of the two columns."""
        return min(self.head, self.dependent)

    @property
    def right(self) -> int:
        """The rightmost of the two columns."""
        return max(self.head, self.dependent)

    @property
    def kind(self) -> tuple[bool, str]:
        """What lines that look alike have in common."""
        return self.arcs[0].nonprojective, self.arcs[0].part

    @property
    def below(self) -> bool:
        """Whether it is drawn below the words: all that only the second of two trees has."""
        return self.arcs[0].part == SECOND


@dataclass(frozen=True, slots=True)
class Measure:
    """The distances of one output medium, and how wide it shows the labels of arcs."""

    gap: int  # between two words
    step: int  # between two arcs that end at the same word
    pad: int  # of arc on either side of its label, corner included
    text_width: Callable[[str], int]
    arrow: int  # room for an arrow beside a number at the edge


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a drawing; `words` are in the order of their columns, all other lists as their names say."""

    words: list[int]
    pieces: list[Piece]
    width: int
    centres: list[int]  # of the words
    head_x: list[int]  # of the pieces
    dependent_x: list[int]
    label_x: list[int]  # the centre of each piece's label

    def height(self, *, below: bool) -> int:
        """Return the number of levels above or below the words."""
        return max((piece.level for piece in self.pieces if piece.below == below), default=0)

    def has_root(self, *, below: bool) -> bool:
        """Tell whether a root arrow comes from above or from below."""
        return any(piece.level == 0 and piece.below == below for piece in self.pieces)


def levels(pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the level (from 1) of each (head, dependent) arc: above all it covers, apart from all it overlaps.

    Arcs that only touch at a node may share a level. Shorter arcs choose first, so they lie low.
    """
    result = [0] * len(pairs)
    tracks: list[Track] = []  # one a level
    from_left: dict[int, int] = {}  # left end -> the highest level of arcs that begin there
    from_right: dict[int, int] = {}
    for index in sorted(range(len(pairs)), key=lambda i: (abs(pairs[i][0] - pairs[i][1]), min(pairs[i]))):
        left, right = min(pairs[index]), max(pairs[index])
        # The lowest free level is above all covered arcs: what keeps them off a level keeps this one off, too. So it is
        # enough to look above the arcs that have an end in common with this one, all of which are covered.
        level = max(from_left.get(left, 0), from_right.get(right, 0))
        while level < len(tracks) and not tracks[level].take(left, right):
            level += 1
        if level == len(tracks):
            tracks.append(Track())
            tracks[level].take(left, right)
        from_left[left] = from_right[right] = result[index] = level + 1
    return result


def tree_arcs(tree: Tree, other: Tree | None = None) -> list[Arc]:
    """Return the arcs of a tree in the order of their dependents, then those that only the other one has."""
    crossed = {*tree.nonprojective_arcs()}
    if other is None:
        return [Arc(head, word, clean(label), word in crossed) for head, label, word in tree.arcs()]
    arcs = []
    for head, label, word in tree.arcs():
        same = head == other.heads[word]
        change = clean(other.labels[word]) if same and label != other.labels[word] else None
        arcs.append(Arc(head, word, clean(label), word in crossed, BOTH if same else FIRST, change))
    crossed = {*other.nonprojective_arcs()}
    return arcs + [
        Arc(head, word, clean(label), word in crossed, SECOND)
        for head, label, word in other.arcs()
        if head != tree.heads[word]
    ]


def lay_out(
    arcs: Sequence[Arc], word_widths: Sequence[int], measure: Measure, *, most: int | None, right_to_left: bool = False
) -> list[Line]:
    """Return the lines of a drawing, broken where few arcs are cut; none is wider than `most` unless one word needs it.

    An arc between two lines is in both of them: at its dependent with its label, at its head together with others.
    """
    sentence = _Sentence(arcs, word_widths, measure, right_to_left)
    if most is None:
        return [sentence.line(1, len(word_widths))] if word_widths else []
    lines = sentence.broken(most)
    tries = [lines]
    for share in range(15, 8, -1) if len(lines) > 1 and len(word_widths) <= MOST_BALANCED else ():
        narrower = sentence.broken(most * share // 16, at_most=len(lines))
        if len(narrower) > len(lines):
            break
        tries.append(narrower)
    return min(tries, key=lambda lines: (any(line.width > most for line in lines), sentence.ugliness(lines)))


def in_one_line(arcs: Sequence[Arc], length: int, *, right_to_left: bool = False) -> list[Piece]:
    """Return columns and levels of all arcs for a medium that places words and labels itself."""
    return _Sentence(arcs, [0] * length, Measure(0, 0, 0, len, 0), right_to_left).pieces(1, length)


class _Sentence:
    """Words and arcs of a sentence, and what it takes to draw any stretch of it as a line."""

    def __init__(self, arcs: Sequence[Arc], widths: Sequence[int], measure: Measure, right_to_left: bool) -> None:
        self.widths = widths
        self.measure = measure
        self.right_to_left = right_to_left
        self.arcs_to: list[list[Arc]] = [[] for _ in range(len(widths) + 1)]
        self.arcs_from: list[list[Arc]] = [[] for _ in range(len(widths) + 1)]
        for arc in arcs:
            self.arcs_to[arc.dependent].append(arc)
            self.arcs_from[arc.head].append(arc)
        changes = [0] * (len(widths) + 2)
        for arc in arcs:
            changes[min(arc.head or arc.dependent, arc.dependent)] += 1
            changes[max(arc.head, arc.dependent)] -= 1
        self.cut = [*accumulate(changes)]  # how many arcs a break after each word cuts

    def broken(self, most: int, at_most: int | None = None) -> list[Line]:
        """Return lines that end where few arcs are cut; if they become more than `at_most`, the first of them."""
        lines: list[Line] = []
        first, n, gap = 1, len(self.widths), self.measure.gap
        while first <= n and (at_most is None or len(lines) <= at_most):
            last, used = first, self.widths[first - 1]
            while last < n and used + gap + self.widths[last] <= most:
                used += gap + self.widths[last]
                last += 1
            line = self.line(first, last)
            while line.width > most and last > first:
                last -= 1
                line = self.line(first, last)
            better = self._best_end(first, last)
            shorter = line if better == last else self.line(first, better)
            lines.append(shorter if shorter.width <= most else line)
            first += len(lines[-1].words)
        return lines

    def _best_end(self, first: int, last: int) -> int:
        """Return the word after which to break a line that may go on to `last`: few arcs cut, and not far too early."""
        if last in (first, len(self.widths)):
            return last
        ends = range(last, first + (last - first) // 2 - 1, -1)
        return min(ends, key=lambda end: self.cut[end] + 2 * (last - end) / (last - first))

    def ugliness(self, lines: Sequence[Line]) -> float:
        """Return how many arcs the breaks cut, and a little more if the lines are of different width."""
        widest = max([line.width for line in lines], default=1)
        return sum(self.cut[max(line.words)] + 3 * (1 - line.width / widest) ** 2 for line in lines)

    def line(self, first: int, last: int) -> Line:
        """Return a line of the words from `first` to `last`."""
        words = [*range(first, last + 1)]
        return plan(words[::-1] if self.right_to_left else words, self.pieces(first, last), self.widths, self.measure)

    def pieces(self, first: int, last: int) -> list[Piece]:
        """Return what a line shows of the arcs, in the order of their dependents; then the arcs that leave it."""

        def column(word: int) -> int:
            place = min(max(word - first + 1, 0), last - first + 2)
            return last - first + 2 - place if self.right_to_left else place

        pieces = []
        for word in range(first, last + 1):
            for arc in self.arcs_to[word]:
                end = column(arc.head) if arc.head else column(word)
                goal = str(arc.head) if arc.head and not first <= arc.head <= last else ""
                pieces.append(Piece((arc,), end, column(word), arc.text, goal))
        for word in range(first, last + 1):
            bundles: dict[tuple[int, bool, str], list[Arc]] = {}
            for arc in self.arcs_from[word]:
                if not first <= arc.dependent <= last:
                    bundles.setdefault((column(arc.dependent), arc.nonprojective, arc.part), []).append(arc)
            for (edge, *_), arcs in bundles.items():
                goal = _goal([arc.dependent for arc in arcs])
                pieces.append(Piece(tuple(arcs), column(word), edge, "", goal, leaves=True))
        for below in (False, True):
            mine = [i for i, piece in enumerate(pieces) if piece.below == below and piece.head != piece.dependent]
            found = levels([(pieces[i].head, pieces[i].dependent) for i in mine])
            for index, level in zip(mine, found, strict=True):
                pieces[index] = replace(pieces[index], level=level)
        return pieces


def _goal(words: Sequence[int]) -> str:
    """Name the words that a line leads to beyond an edge."""
    return ", ".join(map(str, words)) if len(words) <= 3 else f"{words[0]} … {words[-1]}"


def plan(words: list[int], pieces: list[Piece], word_widths: Sequence[int], measure: Measure) -> Line:
    """Place the words and arcs of a line: no arc runs into another one's end, each label has a free stretch of arc."""
    edge = len(words) + 1
    widths = [0, *(word_widths[word - 1] for word in words), 0]
    for piece in pieces:
        if piece.goal:
            column = 0 if piece.left == 0 else edge
            widths[column] = max(widths[column], measure.text_width(piece.goal) + measure.arrow)
    gaps = [measure.gap if widths[0] else 0, *[measure.gap] * (len(words) - 1), measure.gap if widths[edge] else 0]

    ending: dict[bool, list[list[int]]] = {below: [[] for _ in widths] for below in (False, True)}  # pieces by column
    for index, piece in enumerate(pieces):
        for column in {piece.head, piece.dependent}:
            ending[piece.below][column].append(index)
    ports = {
        (column, below): _ports(
            column, pieces, ending[below][column], most=1 + (width + measure.gap - 1) // measure.step
        )
        for column, width in enumerate(widths[1:-1], 1)
        for below in (False, True)
    }
    for (column, _), port in ports.items():
        widths[column] = max(widths[column], (len(port) - 1) * measure.step + 1)
    starts = [*accumulate((width + gap for width, gap in zip(widths, gaps, strict=False)), initial=0)]
    shifts = Shifts(len(starts))
    offsets: dict[tuple[int, int], int] = {}  # (piece, column) -> distance of the line's end from the word's start
    for (column, _), port in ports.items():
        first = (widths[column] - (len(port) - 1) * measure.step - 1) // 2
        for place, members in enumerate(port):
            offsets.update({(index, column): first + place * measure.step for index in members})

    def x_of(index: int, column: int) -> int:
        if column == 0:
            return widths[0]
        return starts[column] + shifts[column] + (-1 if column == edge else offsets[index, column])

    def height(index: int) -> float:
        return pieces[index].level or inf  # a root arrow comes down through all others

    for columns in ending.values():
        for members in columns:
            members.sort(key=height, reverse=True)
    heights = {
        below: Heights([height(members[0]) if members else 0 for members in columns])
        for below, columns in ending.items()
    }

    def stretch(index: int) -> tuple[int, int, int]:
        """Return the longest part of a piece that no higher one comes down through: its two ends, its right column."""
        piece = pieces[index]
        ends = [(x_of(index, piece.left), piece.left), (x_of(index, piece.right), piece.right)]
        for column in heights[piece.below].above(piece.level, piece.left + 1, piece.right - 1):
            higher = takewhile(lambda other: height(other) > piece.level, ending[piece.below][column])
            ends += [(x_of(other, column), column) for other in higher]
        ends.sort()
        (x, _), (end, column) = max(
            (part for part in pairwise(ends) if part[0][1] != part[1][1]), key=lambda part: part[1][0] - part[0][0]
        )
        return x, end, column

    def widen(column: int, missing: int) -> None:
        if missing > 0:
            shifts.move(column, missing)

    # Widening never shortens a stretch, so one pass from the lowest arcs to the highest is enough.
    text_widths = [measure.text_width(piece.text) for piece in pieces]
    for index in sorted(range(len(pieces)), key=lambda i: pieces[i].level):
        if pieces[index].level:
            x, end, column = stretch(index)
            widen(column, text_widths[index] + 2 * measure.pad + 1 - (end - x))
    roots = sorted((i for i, piece in enumerate(pieces) if piece.level == 0), key=lambda i: pieces[i].dependent)
    for below in (False, True):
        free = 0  # the labels of the root arrows stand side by side in the outermost line
        for index in roots:
            if pieces[index].below == below:
                widen(
                    pieces[index].dependent if free else 1,
                    free + text_widths[index] // 2 - x_of(index, pieces[index].dependent),
                )
                x = x_of(index, pieces[index].dependent)
                free = x + text_widths[index] - text_widths[index] // 2 + measure.gap

    dependent_x = [x_of(index, piece.dependent) for index, piece in enumerate(pieces)]
    return Line(
        words=words,
        pieces=pieces,
        width=max(
            starts[edge] + shifts[edge] + widths[edge], *(dependent_x[i] + (text_widths[i] + 1) // 2 for i in roots), 0
        ),
        centres=[starts[column] + shifts[column] + widths[column] // 2 for column in range(1, edge)],
        head_x=[x_of(index, piece.head) for index, piece in enumerate(pieces)],
        dependent_x=dependent_x,
        label_x=[
            (sum(stretch(index)[:2]) + 1) // 2 if piece.level else dependent_x[index]
            for index, piece in enumerate(pieces)
        ],
    )


def _ports(column: int, pieces: Sequence[Piece], mine: Sequence[int], *, most: int) -> list[list[int]]:
    """Group the pieces (``mine``) that end at a word, on one side of it, by the point where they end, left to right.

    The higher an arc, the nearer to the middle it ends: so arcs of one word never cut each other. If there are more
    than `most`, those that leave the word side by side share a point.
    """
    lefts = sorted((i for i in mine if pieces[i].level and pieces[i].right == column), key=lambda i: pieces[i].level)
    roots = [i for i in mine if pieces[i].level == 0]
    rights = sorted((i for i in mine if pieces[i].level and pieces[i].left == column), key=lambda i: -pieces[i].level)
    if len(mine) <= most:
        return [[i] for i in (*lefts, *roots, *rights)]
    return [
        [*group]
        for side in (lefts, roots, rights)
        for _, group in groupby(side, key=lambda i: (pieces[i].head == column, pieces[i].kind))
    ]


def check_lengths(tree: Tree, **given: Sized | None) -> None:
    """Raise an error if another tree, or something given for the words of a tree, does not have its length."""
    for name, things in given.items():
        if things is not None and len(things) != len(tree):
            raise ValueError(f"{len(things)} {name} for a tree of {len(tree)} words")


def clean(text: str) -> str:
    """Replace what would break a line, a terminal or XML: control, direction-override and unpaired characters."""
    return "".join("\ufffd" if _is_unsafe(char) else char for char in text)


def _is_unsafe(char: str) -> bool:
    return (
        unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
        or char in "\ufffe\uffff"
    )


def _direction(text: str) -> str:
    """Return the direction of the first character that has one of its own."""
    strong = (unicodedata.bidirectional(char) for char in text)
    return next((direction for direction in strong if direction in {"L", "R", "AL"}), "")


def is_right_to_left(text: str) -> bool:
    """Tell whether the first character with a direction of its own runs from right to left."""
    return _direction(text) in {"R", "AL"}


def runs_right_to_left(words: Sequence[str]) -> bool:
    """Tell whether a sentence is written from right to left: whether more of its words are than are not."""
    directions = [*map(_direction, words)]
    return len(directions) - directions.count("") > 2 * directions.count("L")


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
