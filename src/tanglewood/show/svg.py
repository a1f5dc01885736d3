"""Draw a dependency tree as one self-contained SVG: words on a line, arcs above, root arrows from the top.

Non-projective arcs have a second colour and are dashed, so they also stand out in black and white. A sentence that is
too wide continues in further lines; numbers at the edges say where the arcs lead. Of two analyses, what only the first
has is above the words in bold lines, what only the second has is below them.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape

from tanglewood.show import LEAST_PIXELS
from tanglewood.show.layout import (
    BOTH,
    FIRST,
    SECOND,
    Arc,
    Line,
    Measure,
    Piece,
    check_lengths,
    clean,
    is_right_to_left,
    lay_out,
    runs_right_to_left,
    tree_arcs,
)
from tanglewood.treebank.tree import Tree

WORD_SIZE, LABEL_SIZE, TAG_SIZE = 17, 12, 11
LEVEL = 24  # from one arc to the next one above
LOWEST = 30  # from the words' upper edge to the arcs of level 1
CORNER = 10  # radius
ARROW = 8  # height of an arrowhead
MARGIN = 18
BETWEEN = 26  # between two lines
ROW = TAG_SIZE + 6
DATA_TURNED = ' data-direction="rtl"'
WIDTH = 1200  # of the picture; a longer sentence is continued in a further line
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
SIGN_FONTS = "'Noto Sans Math', 'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif"  # Noto Sans has no ≠
WIDE = "mwMW@%—…→←≠жмфшщыюЖМФШЩЫЮ"  # as wide as high

# Light colours are attributes, which every program understands; browsers in dark mode follow the style sheet.
PAGE, WORD, TAG, PLAIN, MARKED = "#ffffff", "#1b1f24", "#656d76", "#4a5361", "#c2410c"
SHARED, ONLY_FIRST, ONLY_SECOND = "#737d89", "#1d4ed8", "#b4236b"
DARK = {
    ".page": "fill: #15181d",
    ".word": "fill: #f0f2f5",
    ".tag, .number": "fill: #9aa4b0",
    ".arc, .bundle": "color: #b6c0cc",
    ".nonprojective": "color: #ff9e5e",
    ".both": "color: #909ba8",
    ".first": "color: #7db0ff",
    ".second": "color: #ff8cbc",
}


def draw(
    tree: Tree,
    forms: Sequence[str] | None = None,
    *,
    tags: Sequence[str] | None = None,
    title: str | None = None,
    other: Tree | None = None,
    names: tuple[str, str] = ("first", "second"),
    width: int | None = WIDTH,
    style: bool = True,
    focusable: Sequence[str] | None = None,
) -> str:
    """Return the SVG; without `forms` the words are numbers, without `title` the forms are the title.

    A picture wider than `width` pixels is broken into lines (None: never). `other` is a second tree of the same words
    to compare with; `names` are what the two are called. Without `style` it has no style sheet for dark mode, so that
    a page can give its own colours to the classes. `focusable` are descriptions of the words, which the keyboard then
    reaches.

    Each arc is a group of class `arc` (and `root`, `nonprojective`; of two trees also `both`, `first` or `second`) with
    its head, dependent and level as data. Where lines are broken, a group of class `bundle` shows what leaves a word
    for another line. Words have class `word` and their number as data.
    """
    check_lengths(tree, forms=forms, tags=tags, descriptions=focusable, others=other)
    if width is not None and width < LEAST_PIXELS:
        raise ValueError(f"a picture needs a width of {LEAST_PIXELS} pixels or more, not {width}")
    words = [clean(form) for form in forms or map(str, range(1, len(tree) + 1))]
    marks = [clean(tag) for tag in tags or [""] * len(words)]
    if title is None:
        title = f"Dependency tree of {len(tree)} words" if forms is None else " ".join(forms)
    below = [
        max(text_width(word, WORD_SIZE), text_width(mark, TAG_SIZE)) for word, mark in zip(words, marks, strict=True)
    ]
    turned = runs_right_to_left(words)
    most = None if width is None else width - 2 * MARGIN
    lines = lay_out(tree_arcs(tree, other), below, MEASURE, most=most, right_to_left=turned)

    sheet = _Sheet(words, marks if tags else None, focusable, numbered=len(lines) > 1, compared=other is not None)
    sheet.width = max([line.width for line in lines], default=0)
    if other is not None:
        sheet.legend(names)
    for line in lines:
        sheet.line(line, shift=sheet.width - line.width if turned else 0)
    full, height = sheet.width + 2 * MARGIN, sheet.y + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tanglewood" role="{"group" if focusable else "img"}"'
            f' width="{full}" height="{height}" viewBox="0 0 {full} {height}" font-family="{FONTS}"'
            f' text-anchor="middle"{DATA_TURNED * turned}>',
            f"<title>{escape(clean(title))}</title>",
            *([dark_style(DARK)] if style else []),
            f'<rect class="page" width="{full}" height="{height}" rx="6" fill="{PAGE}"/>',
            *sheet.parts,
            "</svg>",
            "",
        ]
    )


def dark_style(colours: Mapping[str, str]) -> str:
    """Return the style sheet of a picture of class `tanglewood` for dark mode: what classes look like there."""
    rules = (
        ", ".join(f".tanglewood {kind}" for kind in kinds.split(", ")) + f" {{ {rule} }}"
        for kinds, rule in colours.items()
    )
    return f"<style>@media screen and (prefers-color-scheme: dark) {{ {' '.join(rules)} }}</style>"


def text_width(text: str, size: int) -> int:
    """Return about how many pixels a text takes in a sans-serif font, erring on the wide side."""
    return math.ceil(sum(map(_em, text)) * size)


def _em(char: str) -> float:
    """Return the width of a character as a part of the font size."""
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(char) in {"W", "F"} or char in WIDE:
        return 1.0
    if char in "iljI.,:;'|!()‹› ":
        return 0.4
    if "\u0530" <= char <= "\u058f" or "\u0b80" <= char <= "\u0dff" or "\u10a0" <= char <= "\u10ff":
        return 0.8  # Armenian, the scripts of southern India, Georgian
    return 0.75 if char.isupper() else 0.63


MEASURE = Measure(gap=20, step=10, pad=15, text_width=lambda text: text_width(text, LABEL_SIZE), arrow=12)


class _Sheet:
    """Collects the elements of a picture from top to bottom; `y` is where the next line begins."""

    def __init__(
        self,
        words: list[str],
        marks: list[str] | None,
        focusable: Sequence[str] | None,
        *,
        numbered: bool,
        compared: bool,
    ) -> None:
        self.words = words
        self.marks = marks
        self.focusable = focusable
        self.numbered = numbered
        self.compared = compared
        self.parts: list[str] = []
        self.width = 0
        self.y = MARGIN
        self.lines = 0

    def legend(self, names: tuple[str, str]) -> None:
        """Say what the colours and sides mean."""
        first, second = map(clean, names)
        x = MARGIN
        for part, text in ((BOTH, "in both"), (FIRST, f"above: only {first}"), (SECOND, f"below: only {second}")):
            colour, weight = _look(part, nonprojective=False)
            self.parts.append(
                f'<g class="legend {part}" color="{colour}">'
                f'<path d="M{x} {self.y + 6}H{x + 24}" stroke="currentColor" stroke-width="{weight}"/>'
                f'<text x="{x + 30}" y="{self.y + 10}" font-size="{LABEL_SIZE}" fill="currentColor"'
                f' text-anchor="start">{escape(text)}</text></g>'
            )
            x += 30 + text_width(text, LABEL_SIZE) + 20
        self.width = max(self.width, x - 20 - MARGIN)
        self.y += 30

    def line(self, line: Line, shift: int) -> None:
        """Add a line of words with its arcs, moved to the right by `shift`."""
        self.y += BETWEEN if self.lines else 0
        self.lines += 1
        shift += MARGIN
        height = line.height(below=False)
        if line.has_root(below=False):
            top = self.y + LABEL_SIZE  # the line below the root arrows' labels
            edge = top + LOWEST + LEVEL * height  # the words' upper edge
        else:
            top = self.y
            edge = top + LABEL_SIZE // 2 + (LOWEST + LEVEL * (height - 1) if height else 0)
        baseline = edge + WORD_SIZE
        rows = baseline + ROW * (self.marks is not None)
        low = rows + ROW * self.numbered + 7  # the lower edge of everything that belongs to the words
        depth = line.height(below=True)
        bottom = low + LOWEST + LEVEL * depth
        for index, piece in enumerate(line.pieces):
            xs = [shift + x[index] for x in (line.head_x, line.dependent_x, line.label_x)]
            if piece.below:
                self._arc(piece, *xs, outside=bottom, edge=low)
            else:
                self._arc(piece, *xs, outside=top, edge=edge)
        for word, centre in sorted(zip(line.words, line.centres, strict=True)):  # the order for readers and keyboards
            x = shift + centre
            self.parts.append(self._word(x, baseline, word))
            if self.marks is not None:
                self.parts.append(_text("tag", x, rows, self.marks[word - 1], TAG_SIZE, TAG))
            if self.numbered:
                self.parts.append(_text("number", x, rows + ROW - 2, str(word), TAG_SIZE, TAG))
        if line.has_root(below=True):
            self.y = bottom + LABEL_SIZE
        else:
            self.y = low + LOWEST + LEVEL * (depth - 1) + LABEL_SIZE // 2 if depth else low - 4

    def _word(self, x: int, y: int, word: int) -> str:
        more = f' data-word="{word}"'
        if self.focusable is not None:
            more += f' tabindex="0" role="img" aria-label="{escape(clean(self.focusable[word - 1]))}"'
        return _text("word", x, y, self.words[word - 1], WORD_SIZE, WORD, more=more)

    def _arc(self, piece: Piece, head: int, dependent: int, label: int, *, outside: int, edge: int) -> None:
        """Draw one arc: a path with a gap for the label, an arrowhead and the label; `edge` is the words'."""
        arc = piece.arcs[0]
        up = -1 if piece.below else 1
        tip = edge - up
        colour, weight = _look(arc.part if self.compared else None, nonprojective=arc.nonprojective)
        goal = ""
        if piece.level:
            y = edge - up * (LOWEST + LEVEL * (piece.level - 1))
            side = 1 if head < dependent else -1
            turn = y + up * CORNER
            gap = side * (text_width(piece.text, LABEL_SIZE) // 2 + 4)
            begin = f"M{head} {tip}V{turn}Q{head} {y} {head + side * CORNER} {y}"
            end = f"H{dependent - side * CORNER}Q{dependent} {y} {dependent} {turn}V{tip - up * (ARROW - 1)}"
            if piece.goal:
                at = dependent if piece.leaves else head
                begin, end = (begin, f"H{dependent}") if piece.leaves else (f"M{head} {y}", end)
                goal = _goal(at, y, piece.goal, at_left=piece.left == 0)
            path = begin + (f"H{label - gap}M{label + gap} {y}" if piece.text else "") + end
            text_y = y + LABEL_SIZE // 3
        else:
            path = f"M{dependent} {outside}V{tip - up * (ARROW - 1)}"
            text_y = outside + (LABEL_SIZE if piece.below else -5)
        dashes = ' stroke-dasharray="5 3"' if arc.nonprojective else ""
        kinds = ["bundle" if piece.leaves else "arc", *["root"] * (arc.head == 0)]
        kinds += [*["nonprojective"] * arc.nonprojective, *[arc.part] * self.compared]
        ends = " ".join(str(arc.dependent) for arc in piece.arcs)
        self.parts += [
            f'<g class="{" ".join(kinds)}" data-head="{arc.head}" data-dependent="{ends}" data-level="{piece.level}"'
            f' color="{colour}">',
            f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="{weight}"{dashes}/>',
        ]
        if self.focusable is not None:
            self.parts.append(f'<path class="hit" d="{path}" fill="none" stroke="none" pointer-events="stroke"/>')
        if not piece.leaves:
            back = tip - up * ARROW
            self.parts += [
                f'<polygon points="{dependent - 4},{back} {dependent + 4},{back} {dependent},{tip}"'
                ' fill="currentColor"/>',
                _text("label", label, text_y, piece.text, LABEL_SIZE, "currentColor", xml=_label(arc)),
            ]
        self.parts += [*[goal] * bool(goal), "</g>"]


def _look(part: str | None, *, nonprojective: bool) -> tuple[str, str]:
    """Return colour and width of an arc's line; of one tree's arcs if there is no `part`."""
    if part is None:
        return (MARKED, "1.75") if nonprojective else (PLAIN, "1.5")
    return {BOTH: (SHARED, "1.25"), FIRST: (ONLY_FIRST, "2.5"), SECOND: (ONLY_SECOND, "2.5")}[part]


def _label(arc: Arc) -> str:
    """Return the label of an arc as a part of XML, with colours of their own for two labels that differ."""
    if arc.other is None:
        return escape(arc.label)
    first, second = (
        f'<tspan class="{part}" color="{_look(part, nonprojective=False)[0]}" fill="currentColor" font-weight="bold">'
        f"{escape(text)}</tspan>"
        for part, text in ((FIRST, arc.label), (SECOND, arc.other))
    )
    return f'{first} <tspan font-family="{SIGN_FONTS}">≠</tspan> {second}'


def _goal(x: int, y: int, text: str, *, at_left: bool) -> str:
    """Name the words that a line leads to where it ends at the edge, with an angle that points there."""
    x, anchor, text = (x - 3, "end", f"‹ {text}") if at_left else (x + 3, "start", f"{text} ›")
    return (
        f'<text class="goal" x="{x}" y="{y + TAG_SIZE // 3}" font-size="{TAG_SIZE}" fill="currentColor"'
        f' text-anchor="{anchor}">{escape(text)}</text>'
    )


def _text(
    kind: str, x: int, y: int, text: str, size: int, colour: str, *, more: str = "", xml: str | None = None
) -> str:
    """Return a text element with `more` attributes; `xml` replaces the text if that has elements of its own."""
    direction = ' direction="rtl"' if is_right_to_left(text) else ""
    return (
        f'<text class="{kind}" x="{x}" y="{y}" font-size="{size}" fill="{colour}"{more}{direction}>'
        f"{escape(text) if xml is None else xml}</text>"
    )
