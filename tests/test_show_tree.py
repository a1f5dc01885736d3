"""The terminal drawing: aligned, readable back into the tree, never wider than asked."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanglewood.show.layout import cells
from tanglewood.show.tree import GLYPHS, draw
from tanglewood.treebank.tree import Tree

DOUBLE = set("═║╔╗╚╝╠╣╦╩╬╒╕╘╛╞╡╤╧╪╓╖╙╜╟╢╥╨╫")
SIDES = {glyph: index for index, row in enumerate(GLYPHS) for glyph in row}
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8

QUESTION = ["What", "do", "you", "look", "at"]
CROSSED = Tree([5, 4, 4, 0, 4], ["obl", "aux", "nsubj", "root", "case"])


@st.composite
def trees(pick, most=12):
    n = pick(st.integers(1, most))
    order = pick(st.permutations(range(1, n + 1)))
    heads = [0] * (n + 1)
    for place, word in enumerate(order):
        heads[word] = pick(st.sampled_from([0, *order[:place]]))
    return Tree(heads[1:], [f"l{word:02}" for word in range(1, n + 1)])


def names(tree):
    return [f"wordform{word:03}" for word in range(1, len(tree) + 1)]


def read_horizontal(drawing, forms):
    """Follow the lines from each arrowhead back to the head."""
    *rows, words = drawing.split("\n")
    rows = [row.ljust(len(words)) for row in rows]

    def word_at(x):  # lines may stand one column beside their word
        return next(word for word, form in enumerate(forms, 1) if -1 <= x - words.index(form) <= len(form))

    heads = {}
    for arrow in re.finditer("▼", rows[-1]):
        x, y = arrow.start(), len(rows) - 2
        while rows[y][x] in "│║┼╪╫╬":
            y -= 1
        head = 0
        if rows[y][x] in "╭╔╮╗":
            step = 1 if rows[y][x] in "╭╔" else -1
            x += step
            while rows[y][x] not in "╭╮├┤╔╗╠╣":
                x += step
            head = word_at(x)
        else:
            assert y == 0  # where the labels of root arrows stand
        heads[word_at(arrow.start())] = head
    return [heads[word] for word in range(1, len(forms) + 1)]


def read_vertical(drawing):
    """Follow the lines from each word to the left and then along its head's vertical line."""
    rows = drawing.split("\n")
    return [head_of_row(rows, y) for y in range(len(rows))]


def head_of_row(rows, y):
    if "←" in rows[y]:
        return int(rows[y].split("←")[1])
    arrow = x = rows[y].index("►")
    if set(rows[y][:arrow]) <= set("─│║") and rows[y][0] in "─►":
        return 0
    while x == arrow or not (SIDES[rows[y][x]] & RIGHT and SIDES[rows[y][x]] & (UP | DOWN)):
        x -= 1
    for side, step in ((UP, -1), (DOWN, 1)):
        head = y
        while SIDES[rows[head][x]] & side:
            head += step
            if x and rows[head][x - 1] == "►":
                return head + 1
    raise AssertionError(f"the line of row {y} leads nowhere")


def test_a_projective_tree_looks_like_this():
    tree = Tree([2, 0, 2], ["nsubj", "root", "obj"])
    assert draw(["Dogs", "chase", "cats"], tree, tags=["NOUN", "VERB", "NOUN"]).split("\n") == [
        "         root",
        " ╭─nsubj─╮ │ ╭─obj─╮",
        " ▼       │ ▼ │     ▼",
        "Dogs     chase    cats",
        "NOUN     VERB     NOUN",
    ]


def test_a_nonprojective_tree_has_double_lines():
    assert draw(QUESTION, CROSSED).split("\n") == [
        "                   root",
        " ╔════════obl════════╪══════════╗",
        " ║    ╭─────aux────╮ │          ║",
        " ║    │    ╭─nsubj─┤ │ ╭─case─╮ ║",
        " ▼    ▼    ▼       │ ▼ │      ▼ ║",
        "What  do  you      look       at",
    ]


def test_a_narrow_drawing_has_one_word_a_line():
    assert draw(QUESTION, CROSSED, width=31).split("\n") == [
        "   ╔═► 1 What  obl",
        " ╭─║─► 2 do    aux",
        " ├─║─► 3 you   nsubj",
        "►┼─║── 4 look  root",
        " ╰►╨── 5 at    case",
    ]


SHARED = Tree([0, 1, 2, 1, 2, 2], ["r", "u", "v", "w", "x", "y"])


def test_arcs_that_leave_a_narrow_word_share_a_line_if_they_are_of_one_kind():
    assert draw("abcdef", SHARED).split("\n") == [
        "r",
        "│       ╔═══════y══════╗",
        "│       ╠═════x═════╗  ║",
        "│ ╭─────╫────w───╮  ║  ║",
        "│ ├─u─╮ ║ ╭─v─╮  │  ║  ║",
        "▼ │   ▼ ║ │   ▼  ▼  ▼  ▼",
        " a      b     c  d  e  f",
    ]


def test_the_arc_to_a_narrow_word_has_a_line_of_its_own():
    assert draw("abcde", Tree([0, 5, 5, 5, 1], ["r", "x", "y", "z", "in"])).split("\n") == [
        "r",
        "│ ╭──────in──────╮",
        "│ │  ╭────x────╮ │",
        "│ │  │  ╭───y──┤ │",
        "│ │  │  │  ╭─z─┤ │",
        "▼ │  ▼  ▼  ▼   │ ▼",
        " a   b  c  d    e",
    ]


def test_a_vertical_line_is_double_where_it_leads_to_nonprojective_arcs_only():
    assert draw("abcdef", SHARED, width=15).split("\n") == [
        "►┬──── 1 a  r",
        " ├►┬── 2 b  u",
        " │ ├─► 3 c  v",
        " ╰─║─► 4 d  w",
        "   ╠═► 5 e  x",
        "   ╚═► 6 f  y",
    ]


def test_words_without_room_for_their_arcs_name_their_heads():
    assert draw(QUESTION, CROSSED, width=17).split("\n") == [
        " ► 1 What  obl ←5",
        " ► 2 do    aux ←4",
        " ► 3 you   ns… ←4",
        "─► 4 look  root",
        " ► 5 at    ca… ←4",
    ]


def test_colour_only_adds_codes_to_nonprojective_arcs():
    plain, coloured = draw(QUESTION, CROSSED), draw(QUESTION, CROSSED, colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    marked = "".join(re.findall(r"\x1b\[35m(.*?)\x1b\[0m", coloured))
    assert "obl" in marked
    assert not any(label in marked for label in ("aux", "nsubj", "case", "root"))
    assert draw(["a", "b"], Tree([2, 0]), colour=True) == draw(["a", "b"], Tree([2, 0]))


@given(trees())
@settings(deadline=None)
def test_the_horizontal_drawing_can_be_read_back(tree):
    drawing = draw(names(tree), tree)
    assert read_horizontal(drawing, names(tree)) == tree.heads[1:].tolist()
    assert all(form in drawing for form in names(tree))
    assert all(label in drawing for label in tree.labels)


@given(trees(), st.integers(33, 60))
@settings(deadline=None)
def test_the_vertical_drawing_can_be_read_back(tree, width):
    drawing = draw(["wordform"] * len(tree), Tree(tree.heads[1:], tree.labels[1:]), width=width)
    if "▼" not in drawing:
        assert read_vertical(drawing) == tree.heads[1:].tolist()
        assert all(label in drawing for label in tree.labels)


@given(trees(), st.integers(10, 90), st.booleans())
@settings(deadline=None)
def test_no_line_is_wider_than_the_width(tree, width, tagged):
    tags = ["語tag"] * len(tree) if tagged else None
    assert max(map(cells, draw(names(tree), tree, width=width, tags=tags).split("\n"))) <= width


@given(trees())
@settings(deadline=None)
def test_double_lines_appear_exactly_in_nonprojective_trees(tree):
    for width in (None, 60):
        assert bool(DOUBLE & set(draw(names(tree), tree, width=width))) == bool(tree.nonprojective_arcs())


def test_wide_characters_and_combining_marks_keep_columns_aligned():
    tree = Tree([2, 0, 2], ["a", "b", "c"])
    plain = draw(["abcd", "e", "xyz"], tree).split("\n")
    other = draw(["花子", "e\u0301", "x\u0301yz"], tree).split("\n")
    assert other[:-1] == plain[:-1]
    assert cells(other[-1]) == cells(plain[-1])
    rows = draw(["花子", "e\u0301", "x\u0301yz"], tree, width=15).split("\n")
    assert [cells(row) for row in rows] == [14, 14, 14]


def test_a_word_of_no_width_is_still_there():
    assert "\u200b" in draw(["\u200b", "b"], Tree([2, 0]))
    assert "\u200b" in draw(["\u200b", "b"], Tree([2, 0]), width=10)


def test_right_to_left_words_stay_in_their_place():
    assert "\u200eשלום\u200e" in draw(["שלום", "ok"], Tree([2, 0]))


def test_control_characters_cannot_reach_the_terminal():
    drawing = draw(["a\x1b[31m", "b\nc"], Tree([2, 0], ["x\ty", "\u202eroot"]))
    assert not re.search("[\x1b\t\u202e]", drawing)
    assert len(drawing.split("\n")) == 4


def test_one_word_and_no_word():
    assert draw(["Yes"], Tree([0], ["root"])).split("\n") == ["root", "  ▼", " Yes"]
    assert draw([], Tree([])) == ""
    assert draw([], Tree([]), width=20) == ""


def test_ten_thousand_words_are_drawn_one_a_line():
    choose = random.Random(1)
    tree = Tree([0, *(choose.randint(max(1, word - 9), word - 1) for word in range(2, 10_001))])
    for width in (None, 80):
        rows = draw(["word"] * 10_000, tree, width=width).split("\n")
        assert len(rows) == 10_000
        assert max(map(len, rows)) <= 110


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="1 forms for a tree of 2 words"):
        draw(["a"], Tree([0, 1]))
    with pytest.raises(ValueError, match="1 tags for a tree of 2 words"):
        draw(["a", "b"], Tree([0, 1]), tags=["X"])
    with pytest.raises(ValueError, match="10 columns or more"):
        draw(["a"], Tree([0]), width=9)
