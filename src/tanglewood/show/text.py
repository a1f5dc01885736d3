"""Draw a dependency tree in the terminal: arcs above the words, or one word a line if that is too wide.

Non-projective arcs are double lines, in colour too if wanted, so they also stand out in black and white.
"""

from collections.abc import Sequence

from tanglewood.show.layout import Arc, Measure, Plan, cell, cells, clean, is_right_to_left, plan, tree_arcs
from tanglewood.treebank.tree import Tree

MEASURE = Measure(gap=2, step=2, pad=1)
MOST_WORDS = 60  # in one line when no width is given
MOST_COMBS = 40  # columns of lines in the vertical drawing
COLOUR, PLAIN = "\x1b[35m", "\x1b[0m"
UP, DOWN, LEFT, RIGHT = range(4)

# Indexed by the sides a line leaves its cell on (up 1, down 2, left 4, right 8); each entry holds the glyphs for
# single lines, double horizontals, double verticals, double both.
GLYPHS = (
    "    ", "││║║", "││║║", "││║║", "─═─═", "╯╛╜╝", "╮╕╖╗", "┤╡╢╣",
    "─═─═", "╰╘╙╚", "╭╒╓╔", "├╞╟╠", "─═─═", "┴╧╨╩", "┬╤╥╦", "┼╪╫╬",
)  # fmt: skip


def draw(
    forms: Sequence[str],
    tree: Tree,
    *,
    width: int | None = None,
    colour: bool = False,
    tags: Sequence[str] | None = None,
) -> str:
    """Return the drawing as lines of text, none wider than `width` columns (`None`: as wide as up to 60 words need).

    A word whose arc finds no room in the vertical drawing shows the number of its head instead, as in `nsubj ←12`.
    """
    if width is not None and width < 10:
        raise ValueError(f"a drawing needs a width of 10 columns or more, not {width}")
    for name, given in (("forms", forms), ("tags", tags)):
        if given is not None and len(given) != len(tree):
            raise ValueError(f"{len(given)} {name} for a tree of {len(tree)} words")
    words = [_one_way(clean(form)) for form in forms]
    marks = None if tags is None else [_one_way(clean(tag)) for tag in tags]
    # A word and the gap after it take three columns or more: no need to measure what cannot fit.
    if len(words) <= (MOST_WORDS if width is None else (width + 2) // 3):
        arcs = tree_arcs(tree)
        below = [max(map(cells, column)) for column in zip(*filter(None, (words, marks)), strict=True)]
        places = plan(arcs, below, [cells(arc.label) for arc in arcs], MEASURE)
        if width is None or places.width <= width:
            rows = _horizontal(words, arcs, places, marks).cells(places.width)
            return "\n".join(_paint(row, colour=colour) for row in rows)
    return "\n".join(_vertical(words, tree, marks, width, colour=colour))


class _Canvas:
    """A sparse sheet of cells that hold either text or the pieces of lines that meet there."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int], list[int]] = {}  # (y, x) -> 0 no line, 1 single, 2 double for each side
        self.text: dict[tuple[int, int], tuple[str, bool]] = {}

    def line(self, start: tuple[int, int], end: tuple[int, int], *, double: bool, under: bool = False) -> None:
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
            sides = self.lines.setdefault(where, [0] * 4)
            if where != (last_y, last_x):
                sides[near] = 1 + double
            if where != (y, x):
                sides[far] = 1 + double

    def write(self, y: int, x: int, text: str, *, marked: bool = False) -> None:
        """Write over whatever is there; characters without width go into the cell of the one before."""
        before, last = "", None
        for char in text:
            if cell(char) == 0 and last is None:
                before += char
            elif cell(char) == 0:
                self.text[y, last or 0] = (self.text[y, last or 0][0] + char, marked)
            else:
                self.text[y, x] = (before + char, marked)
                if cell(char) == 2:
                    self.text[y, x + 1] = ("", marked)
                before, last, x = "", x, x + cell(char)
        if before:
            self.text[y, x] = (before + " ", marked)

    def cells(self, width: int) -> list[list[tuple[str, bool]]]:
        """Return the rows: for each cell what stands there and whether it is marked."""
        height = 1 + max((y for y, _ in (*self.lines, *self.text)), default=-1)
        return [[self._cell(y, x) for x in range(width)] for y in range(height)]

    def _cell(self, y: int, x: int) -> tuple[str, bool]:
        if (y, x) in self.text:
            return self.text[y, x]
        if (y, x) not in self.lines:
            return " ", False
        up, down, left, right = sides = self.lines[y, x]
        # Unicode has no glyph for half single, half double: such a line counts as single.
        horizontal, vertical = ({*pair} - {0} == {2} for pair in ((left, right), (up, down)))
        shape = sum(1 << side for side in range(4) if sides[side])
        return GLYPHS[shape][horizontal + 2 * vertical], horizontal or vertical


def _paint(row: Sequence[tuple[str, bool]], *, colour: bool) -> str:
    """Join cells to a line, with the marked ones in colour."""
    parts: list[str] = []
    now = False
    for text, marked in row:
        if colour and marked != now and text != " ":
            parts.append(COLOUR if marked else PLAIN)
            now = marked
        parts.append(text)
    return "".join(parts).rstrip() + (PLAIN if now else "")


def _horizontal(words: Sequence[str], arcs: Sequence[Arc], places: Plan, tags: Sequence[str] | None) -> _Canvas:
    """Draw words in one line and arcs above them, root arrows from the top."""
    canvas = _Canvas()
    top = 1 if any(arc.level == 0 for arc in arcs) else 0
    bottom = top + max((arc.level for arc in arcs), default=0)
    for index, arc in enumerate(arcs):
        y = bottom - arc.level if arc.level else 0
        head, dependent = (y, places.head_x[index]), (y, places.dependent_x[index])
        if arc.level:
            canvas.line(head, dependent, double=arc.nonprojective)
            canvas.line(head, (bottom, head[1]), double=arc.nonprojective)
        canvas.line(dependent, (bottom, dependent[1]), double=arc.nonprojective)
        canvas.write(bottom, dependent[1], "▼", marked=arc.nonprojective)
        canvas.write(y, places.label_x[index] - cells(arc.label) // 2, arc.label, marked=arc.nonprojective)
    for y, row in enumerate(filter(None, (words, tags)), bottom + 1):
        for centre, text in zip(places.centres, row, strict=True):
            canvas.write(y, centre - cells(text) // 2, text)
    return canvas


def _vertical(
    words: Sequence[str], tree: Tree, tags: Sequence[str] | None, width: int | None, *, colour: bool
) -> list[str]:
    """Draw one word a line and the tree at its left: one vertical line for each head leads to its dependents."""
    heads = tree.heads
    nonprojective = {*tree.nonprojective_arcs()}
    texts = [words, tags or [""] * len(words), [clean(label) for label in tree.labels[1:]]]
    if width is not None:  # what these shares leave is for the tree
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
    # Single lines are drawn later: a piece that leads to any projective arc is single.
    for word in sorted(range(1, len(heads)), key=lambda word: word not in nonprojective):
        if heads[word] in combs:
            x = column[heads[word]]
            canvas.line((heads[word] - 1, x), (word - 1, x), double=word in nonprojective)
    for word in range(1, len(heads)):
        mine = column.get(word, end)
        if heads[word] in column:
            canvas.line((word - 1, column[heads[word]]), (word - 1, mine), double=word in nonprojective, under=True)
        canvas.line((word - 1, mine), (word - 1, end), double=False, under=True)
        canvas.write(word - 1, mine - (word in combs), "►", marked=word in nonprojective)

    lines = []
    for word, (row, form, tag, label) in enumerate(zip(canvas.cells(end + 1), *texts, strict=True), 1):
        rest = f" {word:{digits}} {_pad(form, widths[0])}  {_pad(tag, widths[1])}{'  ' if tags else ''}"
        pointer = "" if heads[word] in column else f" ←{heads[word]}"
        if width is not None:
            rest = _clip(rest, width - end - 1 - len(pointer))
            label = _clip(label, width - end - 1 - len(pointer) - cells(rest))  # noqa: PLW2901
        lines.append(_paint([*row, (rest, False), (label + pointer, word in nonprojective)], colour=colour))
    return lines


def _combs(heads: Sequence[int], room: int) -> dict[int, int]:
    """Return the column of each head's vertical line, counted from 1 at the words; heads that find no room have none.

    A line stands left of the lines of its dependents and apart from those it overlaps.
    """
    dependents: list[list[int]] = [[] for _ in heads]
    for word in range(1, len(heads)):
        dependents[heads[word]].append(word)
    order = [0]
    for node in order:
        order.extend(dependents[node])
    result: dict[int, int] = {}
    taken = [0] * (room + 1)  # per column a bit set of rows
    for node in reversed(order[1:]):
        if dependents[node]:
            rows = (2 << max(node, dependents[node][-1])) - (1 << min(node, dependents[node][0]))
            first = 1 + max((result.get(dependent, 0) for dependent in dependents[node]), default=0)
            level = next((level for level in range(first, room + 1) if not taken[level] & rows), None)
            if level is not None:
                taken[level] |= rows
                result[node] = level
    return result


def _one_way(text: str) -> str:
    """Keep a right-to-left word from turning round its neighbours in terminals that reorder whole lines."""
    return f"\u200e{text}\u200e" if is_right_to_left(text) else text


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
