"""Random trees to draw, and SVG drawings read back: their arcs, and the rectangles of texts and lines."""

import re
from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import strategies as st

from brute_trees import random_heads
from tanglewood.show.svg import LABEL_SIZE, TAG_SIZE, WORD_SIZE, text_width
from tanglewood.treebank.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"label": LABEL_SIZE, "word": WORD_SIZE, "tag": TAG_SIZE, "number": TAG_SIZE, "goal": TAG_SIZE}
LABELS = ["x", "obj", "nsubj:pass", "an-extremely-long-label", "", "主語"]


@st.composite
def trees(pick, most=12, least=1):
    heads = pick(random_heads(most, least))
    return Tree(heads, [pick(st.sampled_from(LABELS)) for _ in heads])


@st.composite
def pairs_of_trees(pick, most=12):
    """Two trees of the same words."""
    one = pick(trees(most))
    return one, pick(trees(len(one), len(one)))


def groups(svg, kind="arc"):
    """The groups of a kind in the order of the file."""
    return [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if kind in group.get("class").split()]


def numbers(group, name):
    return [int(number) for number in group.get(f"data-{name}").split()]


def written(group, kind):
    """The text of that kind in a group, None if there is no such text."""
    return next(("".join(text.itertext()) for text in group.iter(f"{SVG}text") if text.get("class") == kind), None)


def box(text):
    """The rectangle of a text element as (left, top, right, bottom)."""
    size = SIZES.get(text.get("class"), LABEL_SIZE)
    width, x, y = text_width("".join(text.itertext()), size), float(text.get("x")), float(text.get("y"))
    left = x - {"start": 0, "end": width}.get(text.get("text-anchor"), width / 2)
    return left, y - 0.8 * size, left + width, y + 0.2 * size


def boxes(svg):
    """The rectangles of all texts that are not empty."""
    return [box(text) for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if "".join(text.itertext())]


def stops(group):
    """The points of an arc's line, with its round corners made sharp, and whether a line leads there."""
    result = []
    x = y = 0.0
    for command, values in re.findall(r"([MHVQ])([-\d. ]+)", group.find(f"{SVG}path").get("d")):
        at = [float(value) for value in values.split()]
        points = {"M": [at], "H": [[at[0], y]], "V": [[x, at[0]]], "Q": [at[:2], at[2:]]}[command]
        for x, y in points:
            result.append((x, y, command != "M"))
    return result


def segments(group):
    """The straight pieces of an arc as (left, top, right, bottom)."""
    points = stops(group)
    return [
        (min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y))
        for (x, y, _), (next_x, next_y, is_line) in pairwise(points)
        if is_line
    ]


def tip(group):
    """The point of the arrowhead."""
    return tuple(float(value) for value in group.find(f"{SVG}polygon").get("points").split()[-1].split(","))


def meet(one, other):
    """Whether two rectangles share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def words(svg):
    """The text elements of the words, by number."""
    found = [text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.get("class") == "word"]
    return {int(text.get("data-word")): text for text in found}
