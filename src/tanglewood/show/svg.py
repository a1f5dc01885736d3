"""Draw a dependency tree as one self-contained SVG: words on a line, arcs above, root arrows from the top.

Non-projective arcs have a second colour and are dashed, so they also stand out in black and white.
"""

import math
import unicodedata
from collections.abc import Sequence
from html import escape

from tanglewood.show.layout import Arc, Measure, clean, is_right_to_left, plan, tree_arcs
from tanglewood.treebank.tree import Tree

MEASURE = Measure(gap=20, step=10, pad=15)
WORD_SIZE, LABEL_SIZE, TAG_SIZE = 17, 12, 11
LEVEL = 24  # from one arc to the next one above
LOWEST = 30  # from the words' upper edge to the arcs of level 1
CORNER = 10  # radius
ARROW = 8  # height of an arrowhead
MARGIN = 18
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"

# Light colours stand in attributes, which every program understands; browsers in dark mode follow the style sheet.
PAGE, WORD, TAG, PLAIN, MARKED = "#ffffff", "#1b1f24", "#656d76", "#4a5361", "#c2410c"
DARK = (
    "@media (prefers-color-scheme: dark) { .tanglewood .page { fill: #15181d } .tanglewood .word { fill: #f0f2f5 }"
    " .tanglewood .tag { fill: #9aa4b0 } .tanglewood .arc { color: #b6c0cc }"
    " .tanglewood .nonprojective { color: #ff9e5e } }"
)


def draw(
    tree: Tree, forms: Sequence[str] | None = None, *, tags: Sequence[str] | None = None, title: str | None = None
) -> str:
    """Return the SVG; without `forms` the words are numbers, without `title` the forms are the title.

    Each arc is a group of class `arc` (and `root` or `nonprojective`) with its head, dependent and level as data.
    """
    for name, given in (("forms", forms), ("tags", tags)):
        if given is not None and len(given) != len(tree):
            raise ValueError(f"{len(given)} {name} for a tree of {len(tree)} words")
    words = [clean(form) for form in forms or map(str, range(1, len(tree) + 1))]
    marks = [clean(tag) for tag in tags or [""] * len(words)]
    if title is None:
        title = f"Dependency tree of {len(tree)} words" if forms is None else " ".join(forms)
    arcs = tree_arcs(tree)
    below = [
        max(text_width(word, WORD_SIZE), text_width(mark, TAG_SIZE)) for word, mark in zip(words, marks, strict=True)
    ]
    places = plan(arcs, below, [text_width(arc.label, LABEL_SIZE) for arc in arcs], MEASURE)

    top = MARGIN + LABEL_SIZE  # the line below the root arrows' labels
    edge = top + LOWEST + LEVEL * max((arc.level for arc in arcs), default=0)  # the words' upper edge
    baseline = edge + WORD_SIZE
    width = places.width + 2 * MARGIN
    height = baseline + MARGIN + (TAG_SIZE + 6 if tags else 0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tanglewood" role="img" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="{FONTS}" text-anchor="middle">',
        f"<title>{escape(clean(title))}</title>",
        f"<style>{DARK}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="6" fill="{PAGE}"/>',
    ]
    for index, arc in enumerate(arcs):
        xs = (MARGIN + x[index] for x in (places.head_x, places.dependent_x, places.label_x))
        lines += _arc(arc, *xs, top=top, edge=edge)
    for centre, word, mark in zip(places.centres, words, marks, strict=True):
        lines.append(_text("word", MARGIN + centre, baseline, word, WORD_SIZE, WORD))
        if tags:
            lines.append(_text("tag", MARGIN + centre, baseline + TAG_SIZE + 6, mark, TAG_SIZE, TAG))
    return "\n".join([*lines, "</svg>", ""])


def text_width(text: str, size: int) -> int:
    """Return about how many pixels a text takes in a sans-serif font, rather too many than too few."""
    return math.ceil(sum(map(_em, text)) * size)


def _em(char: str) -> float:
    """Return the width of a character as a part of the font size."""
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(char) in {"W", "F"} or char in "mwMW@%—…":
        return 1.0
    if char in "iljI.,:;'|!() ":
        return 0.4
    return 0.75 if char.isupper() else 0.63


def _arc(arc: Arc, head: int, dependent: int, label: int, *, top: int, edge: int) -> list[str]:
    """Draw one arc: a path with a gap for the label, an arrowhead and the label."""
    kinds = ["arc", *["root"] * (arc.level == 0), *["nonprojective"] * arc.nonprojective]
    tip = edge - 1
    if arc.level:
        y = edge - LOWEST - LEVEL * (arc.level - 1)
        side = 1 if head < dependent else -1
        gap = side * (text_width(arc.label, LABEL_SIZE) // 2 + 4)
        pause = f"H{label - gap}M{label + gap} {y}" if arc.label else ""
        path = (
            f"M{head} {tip}V{y + CORNER}Q{head} {y} {head + side * CORNER} {y}{pause}"
            f"H{dependent - side * CORNER}Q{dependent} {y} {dependent} {y + CORNER}V{tip - ARROW + 1}"
        )
        text_y = y + LABEL_SIZE // 3
    else:
        path = f"M{dependent} {top}V{tip - ARROW + 1}"
        text_y = top - 5
    dashes = ' stroke-dasharray="5 3"' if arc.nonprojective else ""
    return [
        f'<g class="{" ".join(kinds)}" data-head="{arc.head}" data-dependent="{arc.dependent}"'
        f' data-level="{arc.level}" color="{MARKED if arc.nonprojective else PLAIN}">',
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.5"{dashes}/>',
        f'<polygon points="{dependent - 4},{tip - ARROW} {dependent + 4},{tip - ARROW} {dependent},{tip}"'
        ' fill="currentColor"/>',
        _text("label", label, text_y, arc.label, LABEL_SIZE, "currentColor"),
        "</g>",
    ]


def _text(kind: str, x: int, y: int, text: str, size: int, colour: str) -> str:
    direction = ' direction="rtl"' if is_right_to_left(text) else ""
    return f'<text class="{kind}" x="{x}" y="{y}" font-size="{size}" fill="{colour}"{direction}>{escape(text)}</text>'
