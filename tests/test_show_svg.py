"""The SVG drawing: well-formed, safe, nothing on top of anything else; and the arc levels that it shares with text."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanglewood.show.layout import levels
from tanglewood.show.svg import LABEL_SIZE, TAG_SIZE, WORD_SIZE, draw, text_width
from tanglewood.treebank.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"label": LABEL_SIZE, "word": WORD_SIZE, "tag": TAG_SIZE}


@st.composite
def trees(pick, most=12):
    n = pick(st.integers(1, most))
    order = pick(st.permutations(range(1, n + 1)))
    heads = [0] * (n + 1)
    for place, word in enumerate(order):
        heads[word] = pick(st.sampled_from([0, *order[:place]]))
    labels = st.sampled_from(["x", "obj", "nsubj:pass", "an-extremely-long-label", "", "主語"])
    return Tree(heads[1:], [pick(labels) for _ in range(n)])


def groups(svg):
    return [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if "arc" in group.get("class").split()]


def boxes(svg):
    """The rectangles of all texts that are not empty, as (left, top, right, bottom)."""
    result = []
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        size = SIZES[text.get("class")]
        half, x, y = text_width(text.text or "", size) / 2, float(text.get("x")), float(text.get("y"))
        if text.text:
            result.append((x - half, y - 0.8 * size, x + half, y + 0.2 * size))
    return result


def segments(group):
    """The straight pieces of an arc, with its round corners made sharp, as (left, top, right, bottom)."""
    result = []
    x = y = 0.0
    for command, numbers in re.findall(r"([MHVQ])([-\d. ]+)", group.find(f"{SVG}path").get("d")):
        values = [float(number) for number in numbers.split()]
        stops = {"M": [values], "H": [[values[0], y]], "V": [[x, values[0]]], "Q": [values[:2], values[2:]]}[command]
        for next_x, next_y in stops:
            if command != "M":
                result.append((min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y)))
            x, y = next_x, next_y
    return result


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def span(pair):
    return set(range(min(pair), max(pair)))


pairs = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda pair: pair[0] != pair[1]), max_size=15)


@given(pairs)
def test_arcs_of_one_level_do_not_overlap_and_covered_arcs_lie_lower(arcs):
    chosen = levels(arcs)
    for (one, low), (other, high) in combinations(zip(arcs, chosen, strict=True), 2):
        if low == high:
            assert not span(one) & span(other)
        if span(one) < span(other):
            assert low < high
        if span(other) < span(one):
            assert high < low


@given(pairs)
def test_every_level_up_to_the_highest_is_used(arcs):
    assert {*levels(arcs)} == {*range(1, 1 + max(levels(arcs), default=0))}


def test_short_arcs_lie_low_and_touching_arcs_share_a_level():
    assert levels([(2, 1), (2, 3), (2, 5), (0, 2), (5, 4)]) == [1, 1, 2, 2, 1]


def test_crossing_arcs_lie_on_different_levels():
    assert levels([(1, 3), (2, 4)]) == [1, 2]


@given(trees())
@settings(deadline=None)
def test_there_is_one_path_per_arc_and_it_says_which(tree):
    found = groups(draw(tree))
    assert [len(group.findall(f"{SVG}path")) for group in found] == [1] * len(tree)
    assert [(int(group.get("data-head")), int(group.get("data-dependent"))) for group in found] == [
        (head, word) for head, _, word in tree.arcs()
    ]


@given(trees())
@settings(deadline=None)
def test_texts_overlap_neither_each_other_nor_any_line(tree):
    svg = draw(tree, ["word"] * len(tree), tags=["PUNCT"] * len(tree))
    assert not any(meet(one, other) for one, other in combinations(boxes(svg), 2))
    lines = [segment for group in groups(svg) for segment in segments(group)]
    assert not [(box, line) for box in boxes(svg) for line in lines if meet(box, line)]


@given(trees())
@settings(deadline=None)
def test_everything_lies_on_the_page(tree):
    svg = draw(tree)
    page = ElementTree.fromstring(svg)
    width, height = float(page.get("width")), float(page.get("height"))
    everything = boxes(svg) + [segment for group in groups(svg) for segment in segments(group)]
    assert all(left >= 0 and top >= 0 and right <= width and low <= height for left, top, right, low in everything)


@given(trees())
@settings(deadline=None)
def test_horizontal_lines_of_two_arcs_never_lie_on_each_other(tree):
    lines = [
        (index, line) for index, group in enumerate(groups(draw(tree))) for line in segments(group) if line[0] < line[2]
    ]
    for (one, a), (other, b) in combinations(lines, 2):
        assert one == other or a[1] != b[1] or a[2] <= b[0] or b[2] <= a[0]


@given(trees())
@settings(deadline=None)
def test_exactly_the_nonprojective_arcs_are_dashed_and_have_another_colour(tree):
    found = groups(draw(tree))
    marked = [word for word, group in enumerate(found, 1) if "nonprojective" in group.get("class")]
    dashed = [word for word, group in enumerate(found, 1) if group.find(f"{SVG}path").get("stroke-dasharray")]
    assert marked == dashed == tree.nonprojective_arcs()
    colours = {("nonprojective" in group.get("class"), group.get("color")) for group in found}
    assert len(colours) == len({colour for _, colour in colours}) <= 2


def test_text_is_escaped():
    words = ["<script>alert('x')</script>", 'a"&b', "]]>"]
    svg = draw(Tree([2, 0, 2], ["<b>", "root", "&amp;"]), words, tags=["<i>", "&", ">"], title="<title>")
    assert "<script" not in svg
    page = ElementTree.fromstring(svg)
    assert [text.text for text in page.iter(f"{SVG}text") if text.get("class") == "word"] == words
    assert [text.text for text in page.iter(f"{SVG}text") if text.get("class") == "label"] == ["<b>", "root", "&amp;"]
    assert page.find(f"{SVG}title").text == "<title>"


def test_characters_that_xml_forbids_are_replaced():
    svg = draw(Tree([2, 0], ["\x00", "\ud800"]), ["a\x1b", "\uffff"], title="\x08")
    assert len(groups(svg)) == 2
    svg.encode()


def test_the_picture_has_a_role_and_a_title():
    page = ElementTree.fromstring(draw(Tree([2, 0]), ["Birds", "sing"]))
    assert page.get("role") == "img"
    assert page[0].tag == f"{SVG}title"
    assert page[0].text == "Birds sing"
    assert ElementTree.fromstring(draw(Tree([2, 0])))[0].text == "Dependency tree of 2 words"


def test_nothing_is_fetched_and_no_id_can_clash():
    svg = draw(Tree([2, 0]), ["Birds", "sing"])
    assert svg.count("http") == 1  # the namespace
    assert not re.search(r"url\(|@import|href|\bid=", svg)


def test_words_are_numbers_without_forms_and_right_to_left_words_say_so():
    assert ">1</text>" in draw(Tree([2, 0]))
    assert 'direction="rtl">שלום</text>' in draw(Tree([0]), ["שלום"])
    assert "rtl" not in draw(Tree([0]), ["peace"])


def test_sixty_words_and_no_word():
    tree = Tree([0, *range(1, 60)])
    assert len(groups(draw(tree))) == 60
    assert groups(draw(Tree([]))) == []


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="1 forms for a tree of 2 words"):
        draw(Tree([0, 1]), ["a"])
    with pytest.raises(ValueError, match="3 tags for a tree of 2 words"):
        draw(Tree([0, 1]), tags=["X"] * 3)
