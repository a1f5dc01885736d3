"""Draw a dependency tree in the terminal: arcs above the words, in several lines if necessary, or one word per line.

Non-projective arcs are double lines, in colour too if wanted, so they also stand out in black and white. Of two
analyses, what only the first has is marked − and above the words, what only the second has is marked + and below them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from tanglewood.show import LEAST_COLUMNS
from tanglewood.show.layout import (
    BOTH,
    FIRST,
    SECOND,
    Line,
    Measure,
    cell,
    cells,
    check_lengths,
    clean,
    is_right_to_left,
    lay_out,
    runs_right_to_left,
    tree_arcs,
)
from tanglewood.show.tracks import Track
from tanglewood.treebank.tree import Tree

MEASURE = Measure(gap=2, step=2, pad=1, text_width=cells, arrow=1)
MOST_WORDS = 60  # most words in one line when no width is given
MOST_WRAPPED = 250  # most words of a sentence whose drawing is broken into lines
MOST_COMBS = 40  # most columns of lines in the vertical drawing
PLAIN, DIM, MARKED, BLUISH = "\x1b[0m", "\x1b[2m", "\x1b[35m", "\x1b[36m"
COLOURS = {BOTH: DIM, FIRST: BLUISH, SECOND: MARKED}
SIGNS = {BOTH: "", FIRST: "−", SECOND: "+"}
STAY = "\u200e"  # the left-to-right mark
UP, DOWN, LEFT, RIGHT = range(4)

# Indexed by the sides a line leaves its cell on (up 1, down 2, left 4, right 8); each entry holds the glyphs for
# single lines, double horizontals, double verticals, double both.
GLYPHS = (
    "    ", "││║║", "││║║", "││║║", "─═─═", "╯╛╜╝", "╮╕╖╗", "┤╡╢╣",
    "─═─═", "╰╘╙╚", "╭╒╓╔", "├╞╟╠", "─═─═", "┴╧╨╩", "┬╤╥╦", "┼╪╫╬",
)  # fmt: skip


Row = list[tuple[str, str]]  # texts and their colours


class _Pen(NamedTuple):
    """How a line looks."""

    double: bool = False
    colour: str = ""


def draw(
    forms: Sequence[str],
    tree: Tree,
    *,
    width: int | None = None,
    colour: bool = False,
    tags: Sequence[str] | None = None,
    other: Tree | None = None,
    names: tuple[str, str] = ("first", "second"),
    column: bool | None = None,
) -> str:
    """Return the drawing as lines of text, none wider than `width` columns (`None`: as wide as up to 60 words need).

    `other` is a second tree of the same words to compare with; `names` are what the two are called. `column` says when
    to draw one word per line: always (True), only if there is no other way (False), or also if that needs less than
    half the rows (None). A word whose arc finds no room in the vertical drawing shows the number of its head instead,
    as in `nsubj ←12`.
    """
    if width is not None and width < LEAST_COLUMNS:
        raise ValueError(f"a drawing needs a width of {LEAST_COLUMNS} columns or more, not {width}")
    check_lengths(tree, forms=forms, tags=tags, others=other)
    words = [_one_way(clean(form)) for form in forms]
    marks = None if tags is None else [_one_way(clean(tag)) for tag in tags]
    forced = column is False or (column is None and other is not None)
    rows: Iterable[Row] | None = None if column else _in_lines(words, tree, other, marks, width, forced=forced)
    if rows is None:
        rows = _vertical(words, tree, other, marks, width)
    if other is not None:
        legend = [
            (f"{SIGNS[part]} only {clean(name)}", part) for part, name in zip((FIRST, SECOND), names, strict=True)
        ]
        rows = chain(
            rows, [[]], ([(text if width is None else _clip(text, width), COLOURS[part])] for text, part in legend)
        )
    return "\n".join(_paint(row, colour=colour) for row in rows)


def _in_lines(
    words: Sequence[str], tree: Tree, other: Tree | None, tags: Sequence[str] | None, width: int | None, *, forced: bool
) -> list[Row] | None:
    """Return the drawing in one line or more, None if that does not fit or would be too long."""
    if len(words) > (MOST_WORDS if width is None else MOST_WRAPPED):
        return None
    arcs = [replace(arc, label=SIGNS[arc.part] + arc.label) for arc in tree_arcs(tree, other)]
    numbers = [*map(str, range(1, len(words) + 1))]  # shown below the words of broken lines
    shown = (words, tags, numbers if len(words) > 99 else None)  # two digits always find room
    widths = [max(map(cells, column)) for column in zip(*filter(None, shown), strict=True)]
    turned = runs_right_to_left([word.strip(STAY) for word in words])
    lines = lay_out(arcs, widths, MEASURE, most=width, right_to_left=turned)
    full = max([line.width for line in lines], default=0)
    if width is not None and full > width:
        return None
    rows: list[Row] = []
    for line in lines:
        kinds = filter(None, (words, tags, numbers if len(lines) > 1 else None))
        texts = [[row[word - 1] for word in line.words] for row in kinds]
        rows += [[]] if rows else []
        blank: Row = [(" " * (full - line.width), "")] * turned
        rows += [blank + row for row in _horizontal(line, texts, compared=other is not None).cells(line.width)]
    return rows if forced or len(lines) == 1 or len(rows) <= 2 * len(words) else None


class _Canvas:
    """A sparse sheet of cells that hold either text or the pieces of lines that meet there."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int], list[_Pen | None]] = {}  # (y, x) -> the line on each side
        self.text: dict[tuple[int, int], tuple[str, str]] = {}

    def line(self, start: tuple[int, int], end: tuple[int, int], pen: _Pen, *, under: bool = False) -> None:
        """Draw a straight line between two cells; `under`: leave the lines it passes as they are.

        Where lines run along each other, the last one counts.
        """
        (y, x), (last_y, last_x) = sorted((start, end))
        down, right = y < last_y, x < last_x
        near, far = (DOWN, UP) if down else (RIGHT, LEFT)
        for step in range(last_y - y + last_x - x + 1):
            where = (y + step * down, x + step * right)
            if under and where in self.lines and where not in (start, end):
                continue
            sides = self.lines.setdefault(where, [None] * 4)
            if where != (last_y, last_x):
                sides[near] = pen
            if where != (y, x):
                sides[far] = pen

    def write(self, y: int, x: int, text: str, colour: str = "") -> None:
        """Write over whatever is there; characters without width go into the cell of the one before."""
        before, last = "", None
        for char in text:
            if cell(char) == 0 and last is None:
                before += char
            elif cell(char) == 0:
                self.text[y, last or 0] = (self.text[y, last or 0][0] + char, colour)
            else:
                self.text[y, x] = (before + char, colour)
                if cell(char) == 2:
                    self.text[y, x + 1] = ("", colour)
                before, last, x = "", x, x + cell(char)
        if before:
            self.text[y, x] = (before + " ", colour)

    def cells(self, width: int) -> Iterator[Row]:
        """Yield the rows: for each cell what is there and in which colour."""
        height = 1 + max((y for y, _ in chain(self.lines, self.text)), default=-1)
        for y in range(height):
            yield [self._cell(y, x) for x in range(width)]

    def _cell(self, y: int, x: int) -> tuple[str, str]:
        if (y, x) in self.text:
            return self.text[y, x]
        if (y, x) not in self.lines:
            return " ", ""
        up, down, left, right = sides = self.lines[y, x]
        # Unicode has no glyph for half single, half double: such a line counts as single.
        horizontal, vertical = (all(pen.double for pen in pair if pen) for pair in ((left, right), (up, down)))
        shape = sum(1 << side for side in range(4) if sides[side])
        colour = next((pen.colour for pen in (left, right, up, down) if pen and pen.colour), "")
        return GLYPHS[shape][(horizontal and shape > 3) + 2 * (vertical and shape & 3 > 0)], colour


def _paint(row: Row, *, colour: bool) -> str:
    """Join texts into a line, in colour if wanted."""
    parts: list[str] = []
    now = ""
    for text, wanted in row:
        if colour and wanted != now and text != " ":
            parts += [PLAIN * bool(now), wanted]
            now = wanted
        parts.append(text)
    return "".join(parts).rstrip() + PLAIN * bool(now)


def _horizontal(line: Line, texts: Sequence[Sequence[str]], *, compared: bool) -> _Canvas:
    """Draw words and what else is in their columns, arcs above or below them, root arrows from outside."""
    canvas = _Canvas()
    top = int(line.has_root(below=False))
    edge = top + line.height(below=False) - (not any(not piece.below for piece in line.pieces))  # above the words
    low = edge + 1 + len(texts)
    bottom = low + line.height(below=True) + 1
    for index, piece in enumerate(line.pieces):
        arc = piece.arcs[0]
        pen = _Pen(arc.nonprojective, COLOURS[arc.part] if compared else MARKED * arc.nonprojective)
        side, outside = (low, bottom) if piece.below else (edge, 0)
        y = side + piece.level * (1 if piece.below else -1) if piece.level else outside
        head, dependent = (y, line.head_x[index]), (y, line.dependent_x[index])
        if piece.level:
            canvas.line(head, dependent, pen)
            if piece.leaves or not piece.goal:
                canvas.line(head, (side, head[1]), pen)
        if not piece.leaves:
            canvas.line(dependent, (side, dependent[1]), pen)
            canvas.write(side, dependent[1], "▲" if piece.below else "▼", pen.colour)
        canvas.write(y, line.label_x[index] - cells(piece.text) // 2, piece.text, pen.colour)
        if piece.goal:
            x = dependent[1] if piece.leaves else head[1]
            at_left = piece.left == 0
            goal = f"←{piece.goal}" if at_left else f"{piece.goal}→"
            canvas.write(y, x - cells(goal) if at_left else x + 1, goal, pen.colour)
    for y, row in enumerate(texts, edge + 1):
        for centre, text in zip(line.centres, row, strict=True):
            canvas.write(y, centre - cells(text) // 2, text)
    return canvas


def _vertical(
    words: Sequence[str], tree: Tree, other: Tree | None, tags: Sequence[str] | None, width: int | None
) -> Iterator[Row]:
    """Draw one word per line with the tree on its left: one vertical line for each head leads to its dependents.

    Where the other tree has another head, label and head of both are on the right.
    """
    heads = tree.heads
    nonprojective = {*tree.nonprojective_arcs()}
    texts = [words, tags or [""] * len(words), _labels(tree, other)]
    if width is not None:  # what these shares leave over is for the tree
        texts = [[_clip(text, width // share) for text in row] for row, share in zip(texts, (3, 4, 4), strict=True)]
    digits = len(str(len(words)))
    widths = [max(map(cells, row), default=0) for row in texts]

    room = MOST_COMBS
    if width is not None:
        room = min(room, max(0, (width - sum(widths) - digits - (8 if tags else 6)) // 2))
    combs = _combs(heads, room)
    if width is not None and len(combs) < len({*heads[1:]} - {0}):
        combs = _combs(heads, max(0, room - (digits + 3) // 2))  # the numbers of heads take room, too
    deepest = max(combs.values(), default=0)
    column = {head: 2 * (deepest - level) + 1 for head, level in combs.items()} | {0: 0}
    end = 2 * deepest + 1

    canvas = _Canvas()
    pens = [_Pen(word in nonprojective, MARKED * (word in nonprojective)) for word in range(len(heads))]
    # The line to the farthest dependent passes all others. Single lines are drawn later: a piece that leads to any
    # projective arc is single.
    farthest: dict[tuple[bool, int, bool], int] = {}
    for word in sorted(range(1, len(heads)), key=lambda word: abs(word - heads[word])):
        if heads[word] in combs:
            farthest[word not in nonprojective, heads[word], word > heads[word]] = word
    for _, word in sorted(farthest.items()):
        x = column[heads[word]]
        canvas.line((heads[word] - 1, x), (word - 1, x), pens[word])
    for word in range(1, len(heads)):
        mine = column.get(word, end)
        if heads[word] in column:
            canvas.line((word - 1, column[heads[word]]), (word - 1, mine), pens[word], under=True)
        canvas.line((word - 1, mine), (word - 1, end), _Pen(), under=True)
        canvas.write(word - 1, mine - (word in combs), "►", pens[word].colour)

    for word, (row, form, tag, label) in enumerate(zip(canvas.cells(end + 1), *texts, strict=True), 1):
        rest = f" {word:{digits}} {_pad(form, widths[0])}  {_pad(tag, widths[1])}{'  ' if tags else ''}"
        pointer = "" if heads[word] in column else f" ←{heads[word]}"
        if width is not None:
            rest = _clip(rest, width - end - 1 - len(pointer))
            label = _clip(label, width - end - 1 - len(pointer) - cells(rest))  # noqa: PLW2901
        yield [*row, (rest, ""), (label + pointer, pens[word].colour)]


def _labels(tree: Tree, other: Tree | None) -> list[str]:
    """Return the labels of the words; also both heads where two trees differ in them."""
    result = []
    for arc in tree_arcs(tree, other):
        if arc.part == FIRST and other is not None:
            theirs = f"{SIGNS[SECOND]}{clean(other.labels[arc.dependent])} ←{other.heads[arc.dependent]}"
            result.append(f"{SIGNS[FIRST]}{arc.label} ←{arc.head} {theirs}")
        elif arc.part == BOTH:
            result.append(arc.text)
    return result


def _combs(heads: Sequence[int], room: int) -> dict[int, int]:
    """Return the column of each head's vertical line, counted from 1 at the words; heads that find no room have none.

    A line is to the left of the lines of its dependents and apart from those it overlaps.
    """
    dependents: list[list[int]] = [[] for _ in heads]
    for word in range(1, len(heads)):
        dependents[heads[word]].append(word)
    order = [0]
    for node in order:
        order.extend(dependents[node])
    result: dict[int, int] = {}
    tracks = [Track() for _ in range(room + 1)]  # one a column
    for node in reversed(order[1:]):
        if dependents[node]:
            rows = min(node, dependents[node][0]), max(node, dependents[node][-1]) + 1
            first = 1 + max((result.get(dependent, 0) for dependent in dependents[node]), default=0)
            level = next((level for level in range(first, room + 1) if tracks[level].take(*rows)), None)
            if level is not None:
                result[node] = level
    return result


def _one_way(text: str) -> str:
    """Keep a right-to-left word from turning round its neighbours in terminals that reorder whole lines."""
    return f"{STAY}{text}{STAY}" if is_right_to_left(text) else text


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def _clip(text: str, width: int) -> str:
    """Cut a text to a number of columns, with an ellipsis if something is lost."""
    if cells(text) <= width:
        return text
    used, end = 1, 0
    while end < len(text) and used + cell(text[end]) <= width:
        used += cell(text[end])
        end += 1
    return text[:end] + "…" * (width > 0)
