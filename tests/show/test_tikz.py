"""The drawing for LaTeX: read back as a tree, and no text has a meaning for LaTeX."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawings import pairs_of_trees, trees
from tanglewood.show.tikz import ESCAPES, draw, latex
from tanglewood.treebank.tree import Tree

EDGE = re.compile(r"  \\dep(edge|root)\[(.*)\]\{(\d+)\}(?:\{(\d+)\})?\{(.*)\}")


def read(drawing):
    """Each arc as (head, dependent, label, options)."""
    found = [EDGE.fullmatch(line) for line in drawing.split("\n") if line.startswith("  \\dep")]
    return [(0, int(m[3]), m[5], m[2]) if m[1] == "root" else (int(m[3]), int(m[4]), m[5], m[2]) for m in found]


@given(trees(30))
def test_every_arc_is_there_once_and_the_nonprojective_ones_are_dashed(tree):
    found = sorted(read(draw(tree, ["x"] * len(tree))), key=lambda arc: arc[1])
    assert [(head, label, word) for head, word, label, _ in found] == [*tree.arcs()]
    assert [word for _, word, _, options in found if "dashed" in options] == tree.nonprojective_arcs()


@given(pairs_of_trees(20))
def test_what_only_the_second_tree_has_stands_below(pair):
    one, other = pair
    found = read(draw(one, ["x"] * len(one), other=other))
    above = sorted((word, head) for head, word, _, options in found if "edge below" not in options)
    below = sorted((word, head) for head, word, _, options in found if "edge below" in options)
    assert above == [*enumerate(one.heads[1:], 1)]
    assert below == [pair for pair in enumerate(other.heads[1:], 1) if pair not in above]


def test_from_right_to_left_columns_and_arcs_are_mirrored():
    drawing = draw(Tree([0, 1, 1], ["r", "x", "y"]), ["קרא", "ספר", "טוב"])
    assert r"{טוב} \& {ספר} \& {קרא} \\" in drawing
    assert [arc[:3] for arc in read(drawing)] == [(0, 3, "r"), (3, 2, "x"), (3, 1, "y")]


@given(st.text(st.sampled_from("\\{}$&#%_^~<>|aé[]")))
def test_every_special_character_is_escaped_and_can_be_told_back(text):
    escaped = latex(text)
    back = {value: chr(key) for key, value in ESCAPES.items()}
    pattern = "|".join(sorted(map(re.escape, back), key=len, reverse=True))
    rest = re.sub(pattern, "", escaped)
    assert not {*rest} & {*"\\{}$&#%_^~"}
    assert re.sub(pattern, lambda match: back[match[0]], escaped) == text


def test_words_cannot_break_the_table():
    drawing = draw(Tree([2, 0], ["a&b", "]"]), ["[1cm]", r"\\"], tags=["&", "_"])
    assert r"{[1cm]} \& {\textbackslash{}\textbackslash{}} \\" in drawing
    assert r"{\scriptsize \symbol{38}} \& {\scriptsize \_} \\" in drawing
    assert drawing.count(r"\&") == 2


def test_braces_are_balanced():
    drawing = draw(Tree([2, 0], ["{", "}"]), ["}", "{"])
    plain = drawing.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="1 forms for a tree of 2 words"):
        draw(Tree([0, 1]), ["a"])
