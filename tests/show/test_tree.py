"""The terminal drawing: aligned, readable back into the tree, never wider than asked."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_trees import random_heads
from tanglewood.show.layout import cells
from tanglewood.show.tree import GLYPHS, draw
from tanglewood.treebank.tree import Tree

DOUBLE = set("═║╔╗╚╝╠╣╦╩╬╒╕╘╛╞╡╤╧╪╓╖╙╜╟╢╥╨╫")
SIDES = {glyph: index for index, row in enumerate(GLYPHS) for glyph in row}
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8

QUESTION = ["What", "do", "you", "look", "at"]
CROSSED = Tree([5, 4, 4, 0, 4], ["obl", "aux", "nsubj", "root", "case"])


@st.composite
def trees(pick, most=12, least=1):
    heads = pick(random_heads(most, least))
    return Tree(heads, [f"l{word:02}" for word in range(1, len(heads) + 1)])


def names(tree):
    return [f"wordform{word:03}" for word in range(1, len(tree) + 1)]


FLIP = str.maketrans("╭╮╰╯╔╗╚╝┬┴╦╩▲", "╰╯╭╮╚╝╔╗┴┬╩╦▼")


def read_lines(drawing, forms):
    """Follow the lines from each arrowhead back to the head: above the words, and below them."""
    above, below = {}, {}
    for block in drawing.split("\n\n"):
        rows = block.split("\n")
        at = next((y for y, row in enumerate(rows) if any(form in row for form in forms)), None)
        if at is not None:
            here = {word: rows[at].index(form) for word, form in enumerate(forms, 1) if form in rows[at]}
            above |= follow(rows[:at], here, len(forms[0]))
            low = at + 1 + (len(rows) > at + 1 and re.fullmatch(r"[\d ]+", rows[at + 1]) is not None)
            below |= follow([row.translate(FLIP) for row in reversed(rows[low:])], here, len(forms[0]))
    return above, below


def follow(rows, here, length):
    """The head of each word with an arrowhead; `here` has the words of the line and where they begin."""
    rows = [row.ljust(max(map(len, rows))) for row in rows]

    def word_at(x):  # many lines may need more room than their word
        return min(here, key=lambda word: abs(here[word] + length / 2 - x))

    heads = {}
    for arrow in re.finditer("▼", rows[-1] if rows else ""):
        x, y = arrow.start(), len(rows) - 2
        while rows[y][x] in "│║┼╪╫╬":
            y -= 1
        head = 0
        if rows[y][x] in "╭╔╮╗":
            step = 1 if rows[y][x] in "╭╔" else -1
            x += step
            while rows[y][x] not in "╭╮├┤╔╗╠╣←→":
                x += step
            if rows[y][x] == "→":
                head = int(re.search(r"\d+$", rows[y][:x])[0])
            elif rows[y][x] == "←":
                head = int(re.match(r"\d+", rows[y][x + 1 :])[0])
            else:
                head = word_at(x)
        else:
            assert y == 0  # where the labels of root arrows stand
        assert word_at(arrow.start()) not in heads
        heads[word_at(arrow.start())] = head
    return heads


def read_horizontal(drawing, forms):
    above, below = read_lines(drawing, forms)
    assert not below
    return [above[word] for word in range(1, len(forms) + 1)]


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


@given(trees(60), st.integers(40, 200))
@settings(deadline=None, max_examples=60)
def test_a_drawing_in_several_lines_can_be_read_back(tree, width):
    drawing = draw(names(tree), tree, width=width, column=False)
    rows = drawing.split("\n")
    assert max(map(cells, rows)) <= width
    assert read_horizontal(drawing, names(tree)) == tree.heads[1:].tolist()
    assert [drawing.count(label) for label in tree.labels[1:]] == [1] * len(tree)
    assert [drawing.count(form) for form in names(tree)] == [1] * len(tree)


@given(st.data(), trees(40), st.integers(40, 200))
@settings(deadline=None, max_examples=60)
def test_a_drawing_of_two_trees_can_be_read_back(data, one, width):
    other = data.draw(trees(len(one), len(one)))
    drawing = draw(names(one), one, other=other, width=width)
    above, below = read_lines(drawing, names(one))
    assert above == dict(enumerate(one.heads[1:], 1))
    assert below == {word: head for word, head in enumerate(other.heads[1:], 1) if head != one.heads[word]}
    for word in range(1, len(one) + 1):
        assert (f"−{one.labels[word]}" in drawing) == (f"+{other.labels[word]}" in drawing) == (word in below)
    assert drawing.endswith("− only first\n+ only second")


@given(trees(30), st.integers(40, 100))
@settings(deadline=None, max_examples=40)
def test_from_right_to_left_the_first_word_of_each_line_is_its_rightmost(tree, width):
    forms = [f"מלה{word:03}" for word in range(1, len(tree) + 1)]
    drawing = draw(forms, tree, width=width, column=False).replace("\u200e", "")
    assert read_horizontal(drawing, forms) == tree.heads[1:].tolist()
    lines = [[int(word) for word in re.findall(r"מלה(\d+)", row)] for row in drawing.split("\n")]
    assert all(line == sorted(line, reverse=True) for line in lines)
    assert sorted(word for line in lines for word in line) == [*range(1, len(tree) + 1)]


def test_numbers_of_three_digits_stay_apart():
    drawing = draw(["a"] * 150, Tree([0, *range(1, 150)], ["x"] * 150), width=60, column=False)
    found = [number for row in drawing.split("\n") if re.fullmatch(r"[\d ]+", row) for number in row.split()]
    assert found == [*map(str, range(1, 151))]


@given(trees(), st.integers(33, 60))
@settings(deadline=None)
def test_the_vertical_drawing_can_be_read_back(tree, width):
    drawing = draw(["wordform"] * len(tree), tree, width=width, column=True)
    assert read_vertical(drawing) == tree.heads[1:].tolist()
    assert all(label in drawing for label in tree.labels)


@given(trees(60), st.integers(10, 120), st.booleans(), st.booleans(), st.sampled_from([None, True, False]))
@settings(deadline=None)
def test_no_line_is_wider_than_the_width(tree, width, tagged, compared, column):
    tags = ["語tag"] * len(tree) if tagged else None
    other = Tree([0] * len(tree)) if compared else None
    drawing = draw(names(tree), tree, width=width, tags=tags, other=other, column=column)
    assert max(map(cells, drawing.split("\n"))) <= width


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
