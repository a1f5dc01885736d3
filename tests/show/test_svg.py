"""The SVG drawing: well-formed, safe, nothing on top of anything else; and the arc levels that it shares with text."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawings import SVG, boxes, groups, meet, numbers, pairs_of_trees, segments, stops, tip, trees, words, written
from tanglewood.show.layout import levels
from tanglewood.show.svg import draw
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

widths = st.one_of(st.none(), st.integers(200, 2000))


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


def near(x, word):
    """Whether a line that ends at x ends at this word."""
    return abs(x - float(word.get("x"))) <= 10 + 10 * len(word.text)


def check_arc(group, found, label):
    """Follow an arc from its arrowhead back: its data, its ends and its label say the same; return whether it is whole.

    An arc is whole if it begins at its head; otherwise it begins at an edge, with the number of its head.
    """
    (head,), (dependent,) = numbers(group, "head"), numbers(group, "dependent")
    assert len(group.findall(f"{SVG}path")) == 1
    assert written(group, "label") == label
    x, y = tip(group)
    assert near(x, found[dependent])
    assert abs(y - float(found[dependent].get("y"))) < 60
    begin_x, begin_y, _ = stops(group)[0]
    end_x, end_y, _ = stops(group)[-1]
    assert end_x == x
    assert abs(end_y - y) < 10
    if head == 0:
        assert begin_x == end_x
        return True
    if written(group, "goal") is not None:
        assert written(group, "goal").strip("‹› ") == str(head)
        assert found[head].get("y") != found[dependent].get("y")
        return False
    assert near(begin_x, found[head])
    assert begin_y == y
    return True


@given(trees(60), widths)
@settings(deadline=None, max_examples=60)
def test_every_arc_is_drawn_once_and_can_be_followed(tree, width):
    svg = draw(tree, ["word"] * len(tree), width=width)
    found, drawn = words(svg), groups(svg)
    assert [*found] == [*range(1, len(tree) + 1)]
    assert [(*numbers(group, "head"), *numbers(group, "dependent")) for group in drawn] == [
        (head, word) for head, _, word in tree.arcs()
    ]
    whole = [check_arc(group, found, tree.labels[word]) for word, group in enumerate(drawn, 1)]
    cut = [(tree.heads[word], word) for word in range(1, len(tree) + 1) if not whole[word - 1]]
    bundles = groups(svg, "bundle")
    assert sorted((numbers(b, "head")[0], word) for b in bundles for word in numbers(b, "dependent")) == sorted(cut)
    for bundle in bundles:
        head, *_, last = *numbers(bundle, "head"), *numbers(bundle, "dependent")
        assert near(stops(bundle)[0][0], found[head])
        assert written(bundle, "goal").strip("‹› ").endswith(str(last))
    assert width is not None or not bundles


@given(trees(60), widths)
@settings(deadline=None, max_examples=60)
def test_texts_overlap_neither_each_other_nor_any_line(tree, width):
    check_overlaps(draw(tree, ["word"] * len(tree), tags=["PUNCT"] * len(tree), width=width))


def check_overlaps(svg):
    found = boxes(svg)
    assert not any(meet(one, other) for one, other in combinations(found, 2))
    lines = [segment for kind in ("arc", "bundle") for group in groups(svg, kind) for segment in segments(group)]
    assert not [(text, line) for text in found for line in lines if meet(text, line)]


@given(trees(60), widths)
@settings(deadline=None, max_examples=60)
def test_everything_lies_on_the_page(tree, width):
    check_page(draw(tree, width=width), width)


def check_page(svg, width):
    page = ElementTree.fromstring(svg)
    wide, high = float(page.get("width")), float(page.get("height"))
    drawn = [*groups(svg), *groups(svg, "bundle")]
    everything = boxes(svg) + [segment for group in drawn for segment in segments(group)]
    assert all(left >= 0 and top >= 0 and right <= wide and low <= high for left, top, right, low in everything)
    lines = {text.get("y") for text in words(svg).values()}
    assert width is None or wide <= width or len(lines) == 1 or min(len(line) for line in by_line(svg)) == 1


def by_line(svg):
    """The words of each line."""
    found = words(svg)
    return [[word for word in found if found[word].get("y") == y] for y in {text.get("y") for text in found.values()}]


@given(trees(25))
@settings(deadline=None)
def test_from_right_to_left_a_tree_looks_like_its_mirror_image_from_left_to_right(tree):
    n = len(tree)
    mirror = Tree([head and n + 1 - head for head in tree.heads[:0:-1]], tree.labels[:0:-1])
    hebrew, latin = (words(draw(t, [word] * n, width=None)) for t, word in ((tree, "מים"), (mirror, "bag")))
    assert [hebrew[word].get("x") for word in range(1, n + 1)] == [latin[word].get("x") for word in range(n, 0, -1)]
    turned, plain = (groups(draw(t, [word] * n, width=None)) for t, word in ((tree, "מים"), (mirror, "bag")))
    assert sorted(stops(group) for group in turned) == sorted(stops(group) for group in plain)


@given(trees(40, 2), st.integers(200, 900))
@settings(deadline=None, max_examples=40)
def test_from_right_to_left_the_first_word_of_each_line_is_its_rightmost(tree, width):
    svg = draw(tree, ["שלום"] * len(tree), width=width)
    for line in by_line(svg):
        places = [float(words(svg)[word].get("x")) for word in line]
        assert places == sorted(places, reverse=True)
    check_overlaps(svg)
    check_page(svg, width)


def test_the_direction_is_that_of_most_words():
    mixed = words(draw(Tree([2, 0, 2, 2]), ["UNESCO", "في", "المكتبة", "."]))
    assert float(mixed[1].get("x")) > float(mixed[4].get("x"))
    mixed = words(draw(Tree([2, 0, 2, 2]), ["He", "said", "שלום", "."]))
    assert float(mixed[1].get("x")) < float(mixed[4].get("x"))


@given(pairs_of_trees(40), widths)
@settings(deadline=None, max_examples=40)
def test_two_trees_in_one_picture_overlap_nowhere_and_show_every_arc_once(pair, width):
    one, other = pair
    svg = draw(one, ["word"] * len(one), other=other, tags=["X"] * len(one), width=width)
    check_overlaps(svg)
    check_page(svg, None)
    found = words(svg)
    drawn = {"both": set(), "first": set(), "second": set()}
    for group in groups(svg):
        (part,) = drawn.keys() & {*group.get("class").split()}
        (head,), (dependent,) = numbers(group, "head"), numbers(group, "dependent")
        ours, theirs = (tree.labels[dependent] for tree in pair)
        same = ours if ours == theirs else f"{ours} ≠ {theirs}"
        check_arc(group, found, {"both": same, "first": ours, "second": theirs}[part])
        assert (head, dependent) not in drawn[part]
        drawn[part].add((head, dependent))
        above = tip(group)[1] < float(found[dependent].get("y"))
        assert above == (part != "second")
    sets = [{(head, word) for head, _, word in tree.arcs()} for tree in pair]
    assert drawn == {"both": sets[0] & sets[1], "first": sets[0] - sets[1], "second": sets[1] - sets[0]}


def test_a_label_above_the_words_does_not_give_way_to_arcs_below_them():
    svg = draw(Tree([0, 1, 1, 1, 1]), ["word"] * 5, other=Tree([0, 5, 2, 2, 1]))
    (group,) = [group for group in groups(svg) if numbers(group, "dependent") == [3] and "first" in group.get("class")]
    ends = [stops(group)[0][0], stops(group)[-1][0]]
    label = next(text for text in group.iter(f"{SVG}text") if text.get("class") == "label")
    assert abs(float(label.get("x")) - sum(ends) / 2) <= 1


def test_arcs_of_one_tree_only_are_bold_and_the_legend_names_the_trees():
    svg = draw(Tree([2, 0]), ["a", "b"], other=Tree([0, 1]), names=("gold", "<mine>"))
    weights = {group.get("class").split()[-1]: group.find(f"{SVG}path").get("stroke-width") for group in groups(svg)}
    assert float(weights["first"]) == float(weights["second"]) >= 2
    legend = ["".join(group.itertext()).strip() for group in groups(svg, "legend")]
    assert legend == ["in both", "above: only gold", "below: only <mine>"]
    assert groups(draw(Tree([2, 0])), "legend") == []


def test_a_long_sentence_is_broken_and_numbered_and_a_short_one_is_not():
    tree = Tree([0, *range(1, 60)])
    svg = draw(tree, ["word"] * 60)
    assert float(ElementTree.fromstring(svg).get("width")) <= 1200
    assert len(by_line(svg)) > 2
    assert svg.count('class="number"') == 60
    flat = draw(tree, ["word"] * 60, width=None)
    assert len(by_line(flat)) == 1
    assert 'class="number"' not in flat


def test_lines_are_broken_where_few_arcs_are_cut():
    phrases = [(4 * i + 4, 4 * i + 4, 4 * i + 4, 0) for i in range(8)]  # eight words with three dependents each
    svg = draw(Tree([head for phrase in phrases for head in phrase]), ["word"] * 32, width=600)
    assert len(by_line(svg)) > 2
    assert groups(svg, "bundle") == []


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
    assert 'direction="rtl">&amp;שלום</text>' in draw(Tree([0]), ["&שלום"])
    assert "rtl" not in draw(Tree([0]), ["peace"])


def test_a_page_can_have_colours_of_its_own():
    tree = Tree([3, 0, 2], ["a", "b", "c"])
    assert "prefers-color-scheme" in draw(tree)
    assert "<style" not in draw(tree, style=False)
    assert draw(tree, style=False) == re.sub("<style>.*</style>\n", "", draw(tree))


def test_words_can_be_reached_by_keyboard_and_describe_themselves():
    svg = draw(Tree([2, 0]), ["Birds", "sing"], focusable=['"Birds" <b>', "sing"])
    assert [text.get("aria-label") for text in words(svg).values()] == ['"Birds" <b>', "sing"]
    assert all(text.get("tabindex") == "0" for text in words(svg).values())
    assert ElementTree.fromstring(svg).get("role") == "group"
    assert "tabindex" not in draw(Tree([2, 0]))


def test_a_notebook_shows_trees_and_sentences():
    words = [
        (str(i), form, "_", "X", "_", "_", head, "_", "_", "_")
        for i, (form, head) in enumerate((("Birds", "2"), ("sing", "0")), 1)
    ]
    sentence = Sentence.build(words)
    assert len(groups(sentence._repr_svg_())) == len(groups(sentence.tree._repr_svg_())) == 2
    assert ">Birds<" in sentence._repr_svg_()
    assert Sentence.build([(*words[0][:6], "_", *words[0][7:])])._repr_svg_() is None


def test_sixty_words_and_no_word():
    tree = Tree([0, *range(1, 60)])
    assert len(groups(draw(tree))) == 60
    assert groups(draw(Tree([]))) == []


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="1 forms for a tree of 2 words"):
        draw(Tree([0, 1]), ["a"])
    with pytest.raises(ValueError, match="3 tags for a tree of 2 words"):
        draw(Tree([0, 1]), tags=["X"] * 3)
    with pytest.raises(ValueError, match="1 others for a tree of 2 words"):
        draw(Tree([0, 1]), other=Tree([0]))
    with pytest.raises(ValueError, match="200 pixels or more, not 100"):
        draw(Tree([0, 1]), width=100)
