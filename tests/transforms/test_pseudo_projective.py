"""Lifting, the three encodings and the way back."""

import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_trees import all_trees, is_nonprojective, is_tree, random_heads
from tanglewood.errors import ConfigError, TreeError
from tanglewood.transforms import lifting
from tanglewood.transforms.lifting import lift, lift_and_mark
from tanglewood.transforms.pseudo_projective import (
    MARKS,
    SCHEMES,
    Decoration,
    Scheme,
    deprojectivize,
    fitting_scheme,
    projectivize,
    round_trip,
)
from tanglewood.treebank.conllu import read
from tanglewood.treebank.tree import Tree


def tree(heads, labels):
    return Tree(heads, labels.split())


FIGURE1 = tree([2, 3, 0, 3, 2, 7, 5, 4, 3], "DET SBJ ROOT VG NMOD DET PC ADV P")
SMALL = [heads for n in range(1, 6) for heads in all_trees(n)]
RELAXED = settings(deadline=None)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def slow_nonprojective(heads):
    """All (length, left end, dependent) of non-projective arcs, smallest first."""
    words = list(heads)[1:]
    return sorted((abs(h - d), min(h, d), d) for d, h in enumerate(words, 1) if is_nonprojective(words, d))


def slow_lift(heads):
    heads, passed = list(heads), set()
    while arcs := slow_nonprojective(heads):
        dependent = arcs[0][2]
        passed.add(heads[dependent])
        heads[dependent] = heads[heads[dependent]]
    return heads, passed


def nodes(word_heads):
    return array("i", [-1, *word_heads])


def labellings(n):
    """Labels of n words that make heads easy, hard and impossible to tell apart."""
    yield [f"l{i}" for i in range(n)]
    yield ["ab"[i % 2] for i in range(n)]
    yield ["aab"[i % 3] for i in range(n)]
    yield ["_"] * n


def random_chain(n, width, seed):
    """Heads of a deep tree whose words stand in random order: very many lifts."""
    generator = random.Random(seed)
    words = list(range(1, n + 1))
    generator.shuffle(words)
    heads = [0] * n
    for i in range(1, n):
        heads[words[i] - 1] = words[max(0, i - generator.randint(1, width))]
    return heads


# Lifting


def assert_lifts_as_the_twin(word_heads):
    before = nodes(word_heads)
    given_heads = before[:]
    heads, passed = lift_and_mark(given_heads)
    expected, expected_passed = slow_lift(before)
    assert given_heads == before
    assert heads == lift(given_heads) == array("i", expected)
    assert {word for word, mark in enumerate(passed) if mark} == expected_passed


def test_lift_equals_the_slow_twin_on_all_small_trees():
    for heads in SMALL:
        assert_lifts_as_the_twin(heads)


@RELAXED
@given(random_heads(16))
def test_lift_equals_the_slow_twin_on_random_trees(heads):
    assert_lifts_as_the_twin(heads)


@pytest.mark.parametrize("width", [1, 4])
def test_lift_equals_the_slow_twin_on_deep_trees(width):
    for seed in range(5):
        assert_lifts_as_the_twin(random_chain(24, width, seed))


def test_lift_takes_the_shortest_arc_first_then_the_leftmost():
    # 4->2 before 1->4: word 2 moves to 1, then 4 to 0; the other way round both would move to 0.
    assert list(lift(nodes([0, 4, 0, 1]))) == [-1, 0, 1, 0, 0]
    # 1->4 and 5->2 are equally long. 1->4 first: word 4 moves to 2, then to 2's head 5, then 2 to 0; the other way
    # round word 2 would move to 0 first, and 4 after it.
    assert list(lift(nodes([2, 5, 0, 1, 0]))) == [-1, 2, 0, 0, 5, 0]


def test_lift_of_projective_trees_changes_nothing_and_is_a_copy():
    heads = nodes([2, 0, 2, 3])
    lifted = lift(heads)
    assert lifted == heads
    assert lifted is not heads


def test_lift_of_no_words():
    assert lift(nodes([])) == nodes([])


@pytest.mark.parametrize("heads", [[2, 1], [1], [2, 3, 1, 0], [3, 0], [0, -1]])
def test_lift_refuses_what_is_no_tree(heads):
    with pytest.raises(TreeError, match="word"):
        lift(nodes(heads))


def test_compiled_lifting_has_its_c_types():
    # Cython passes over a .pxd it does not find without a word; then inner functions stay visible, and slow.
    assert hasattr(lifting, "_lift") == lifting.__file__.endswith(".py")


# The encodings, worked by hand


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        ("head", "DET SBJ ROOT VG NMOD|SBJ DET PC ADV|VG P"),
        ("path", "DET SBJ% ROOT VG% NMOD| DET PC ADV| P"),
        ("head+path", "DET SBJ% ROOT VG% NMOD|SBJ DET PC ADV|VG P"),
    ],
)
def test_figure_1_is_encoded_as_by_hand(scheme, labels):
    assert projectivize(FIGURE1, scheme) == tree([2, 3, 0, 3, 3, 7, 5, 3, 3], labels)


@pytest.mark.parametrize(("scheme", "head_of_today"), [("head", 4), ("path", 2), ("head+path", 4)])
def test_figure_1_comes_back_but_path_takes_the_leftmost_marked_word(scheme, head_of_today):
    back = deprojectivize(projectivize(FIGURE1, scheme), scheme)
    assert back == Tree([2, 3, 0, 3, 2, 7, 5, head_of_today, 3], FIGURE1.labels[1:])


@pytest.mark.parametrize(
    ("scheme", "labels", "head"),
    [("head", "a a r x|a", 2), ("path", "a% a% r x|", 1), ("head+path", "a% a% r x|a", 1)],
)
def test_of_two_words_with_the_label_the_path_finds_the_lower(scheme, labels, head):
    # Word 4 is lifted past 1 and past 2.
    gold = tree([2, 3, 0, 1], "a a r x")
    projective = projectivize(gold, scheme)
    assert projective == tree([2, 3, 0, 3], labels)
    assert deprojectivize(projective, scheme) == tree([2, 3, 0, head], "a a r x")


def test_a_word_can_be_lifted_and_passed():
    # 3->1 is lifted past 3 to 2; then 1->4 past 1, to 2.
    gold = tree([3, 5, 2, 1, 0], "a b c d r")
    assert projectivize(gold, "head") == tree([2, 5, 2, 2, 0], "a|c b c d|a r")
    assert projectivize(gold, "path") == tree([2, 5, 2, 2, 0], "a|% b c% d| r")
    assert projectivize(gold, "head+path") == tree([2, 5, 2, 2, 0], "a|c% b c% d|a r")
    assert deprojectivize(projectivize(gold, "head+path"), "head+path") == gold


def test_head_path_settles_for_a_word_with_marked_dependents_if_no_other_has_the_label():
    decorated = tree([2, 3, 0, 3], "a% b% r x|b")
    assert list(deprojectivize(decorated, "head+path").heads) == [-1, 2, 3, 0, 2]


def test_head_path_goes_through_marked_arcs_only():
    decorated = tree([2, 3, 0, 3], "a% b r x|a")
    assert list(deprojectivize(decorated, "head+path").heads) == [-1, 2, 3, 0, 3]
    assert list(deprojectivize(decorated, "head").heads) == [-1, 2, 3, 0, 1]


def test_head_ignores_path_marks():
    decorated = tree([2, 3, 0, 3], "a% a% r x|a")
    assert deprojectivize(decorated, "head") == tree([2, 3, 0, 2], "a a r x")


def test_search_is_breadth_first_and_left_to_right():
    decorated = tree([2, 0, 2, 3, 2, 2], "b r b a a x|a")
    assert list(deprojectivize(decorated, "head").heads) == [-1, 2, 0, 2, 3, 2, 5]
    decorated = tree([2, 0, 2, 2, 2], "b r a a x|a")
    assert list(deprojectivize(decorated, "head").heads) == [-1, 2, 0, 2, 2, 3]


def test_words_brought_back_are_searched_in_their_place():
    # Word 1 comes back below 3, left of 4; so 5 finds 1 first.
    decorated = tree([2, 0, 2, 3, 2], "a|t r t a x|a")
    assert deprojectivize(decorated, "head") == tree([3, 0, 2, 3, 1], "a r t a x")


def test_upper_words_are_treated_first():
    # Treated bottom-up, 4 would look for c below 2 before 3 is back there, and stay.
    decorated = tree([0, 1, 1, 2], "r b% c|b% d|c")
    assert list(deprojectivize(decorated, "head+path").heads) == [-1, 0, 1, 2, 3]


# What holds for every tree


def assert_round_trip(gold, scheme):
    projective = projectivize(gold, scheme)
    back = deprojectivize(projective, scheme)
    assert list(projective.heads) == slow_lift(gold.heads)[0]
    assert not slow_nonprojective(projective.heads)
    assert [Scheme(scheme).undecorate(label).label for label in projective.labels] == list(gold.labels)
    assert is_tree(list(back.heads[1:]))
    assert back.labels == gold.labels
    if not slow_nonprojective(gold.heads):
        assert projective == back == gold


@every_scheme
def test_all_small_trees_go_there_and_back(scheme):
    for heads in SMALL:
        for labels in labellings(len(heads)):
            assert_round_trip(Tree(heads, labels), scheme)


@RELAXED
@given(random_heads(14), st.randoms(use_true_random=False), st.sampled_from(SCHEMES))
def test_random_trees_go_there_and_back(heads, generator, scheme):
    assert_round_trip(Tree(heads, [generator.choice("abc_") for _ in heads]), scheme)


@pytest.mark.parametrize("scheme", ["head", "head+path"])
def test_distinct_labels_restore_every_small_tree(scheme):
    for heads in SMALL:
        gold = Tree(heads, [f"l{i}" for i in range(len(heads))])
        assert deprojectivize(projectivize(gold, scheme), scheme) == gold


@RELAXED
@given(random_heads(14), st.sampled_from(["head", "head+path"]))
def test_distinct_labels_restore_random_trees(heads, scheme):
    gold = Tree(heads, [f"l{i}" for i in range(len(heads))])
    assert deprojectivize(projectivize(gold, scheme), scheme) == gold


@RELAXED
@given(random_heads(12), st.data(), st.sampled_from(SCHEMES))
def test_nonsense_decorations_give_a_tree_without_marks(heads, data, scheme):
    labels = data.draw(st.lists(st.text("ab|%", max_size=6), min_size=len(heads), max_size=len(heads)))
    before = Tree(heads, labels)
    back = deprojectivize(before, scheme)
    assert is_tree(list(back.heads[1:]))
    assert not Scheme(scheme).clashes(back.labels)
    for word in range(1, len(heads) + 1):
        if "|" not in labels[word - 1]:
            assert back.heads[word] == before.heads[word]


@every_scheme
@pytest.mark.parametrize("label", ["a", "a|b", "a%", "a|b%", "a|", "a|%"])
def test_the_same_decoration_on_every_word_of_small_trees_gives_a_tree(scheme, label):
    for heads in SMALL:
        back = deprojectivize(Tree(heads, [label] * len(heads)), scheme)
        assert is_tree(list(back.heads[1:]))
        assert set(back.labels[1:]) == {"a"}


@every_scheme
def test_lifting_and_marks_leave_their_argument_alone(scheme):
    gold = Tree(FIGURE1.heads[1:], FIGURE1.labels[1:])
    projective = projectivize(gold, scheme)
    kept = Tree(projective.heads[1:], projective.labels[1:])
    deprojectivize(projective, scheme)
    assert gold == FIGURE1
    assert projective == kept


# Labels and marks


@pytest.mark.parametrize(
    ("label", "decoration"),
    [
        ("a", ("a", None, False)),
        ("a%", ("a", None, True)),
        ("a|b", ("a", "b", False)),
        ("a|b%", ("a", "b", True)),
        ("a|", ("a", "", False)),
        ("a|%", ("a", "", True)),
        ("a|b|c%%", ("a", "b", True)),
        ("a%|b", ("a", "b", True)),
        ("|%|", ("", "", True)),
        ("", ("", None, False)),
    ],
)
def test_decorations_are_read(label, decoration):
    assert Scheme().undecorate(label) == decoration


@every_scheme
def test_what_is_decorated_is_read_again(scheme):
    s = Scheme(scheme, "^", "~")
    for origin in (None, "b"):
        for passed in (False, True):
            kept = Decoration("a", origin and (origin if s.keeps_head else ""), passed and s.keeps_path)
            assert s.undecorate(s.decorate(Decoration("a", origin, passed))) == kept


@pytest.mark.parametrize("label", ["x|y", "x%"])
@pytest.mark.parametrize("heads", [FIGURE1.heads[1:], [0, 1, 2, 3, 4, 5, 6, 7, 8]])
@every_scheme
def test_labels_with_a_mark_are_refused_even_in_projective_trees(label, heads, scheme):
    gold = Tree(heads, ["a"] * 8 + [label])
    with pytest.raises(ConfigError, match="fitting_scheme"):
        projectivize(gold, scheme)


@every_scheme
def test_fitting_scheme_avoids_the_characters_of_the_labels(scheme):
    labels = ["a|b", "c%", "d↑", "_"] * 2 + ["e"]
    fitting = fitting_scheme(scheme, labels)
    assert fitting == Scheme(scheme, "↓", "^")
    fitting.check(labels)
    gold = Tree(FIGURE1.heads[1:], labels)
    assert deprojectivize(projectivize(gold, fitting), fitting).labels == gold.labels


def test_fitting_scheme_keeps_the_usual_marks_where_it_can():
    assert fitting_scheme("head", ["nsubj", "acl:relcl", "_"]) == Scheme("head", "|", "%")


def test_fitting_scheme_fails_if_nothing_is_free():
    with pytest.raises(ConfigError, match="free"):
        fitting_scheme("head", [MARKS[1:]])


def test_unknown_schemes_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'up'.*head, path, head\+path"):
        projectivize(FIGURE1, "up")


@pytest.mark.parametrize(("separator", "mark"), [("|", "|"), ("", "%"), ("||", "%"), ("|", "\t"), (" ", "%")])
def test_marks_must_be_two_different_characters(separator, mark):
    with pytest.raises(ConfigError, match="two different characters"):
        Scheme("head", separator, mark)


# Figures


def test_round_trip_counts_by_hand():
    projective = Tree([2, 0], ["SBJ", "ROOT"])
    figures = round_trip([FIGURE1, projective], "path")
    assert (figures.trees, figures.restored) == (2, 1)
    assert (figures.arcs, figures.recovered) == (2, 1)
    assert (figures.labels_before, figures.labels_after) == (8, 9)  # SBJ and SBJ%
    figures = round_trip(iter([FIGURE1, projective]), "head")
    assert (figures.trees, figures.restored, figures.arcs, figures.recovered) == (2, 2, 2, 2)


@pytest.mark.parametrize("treebank", ["Danish-CDT1", "Czech-CAC", "Dutch-Alpino", "Portuguese-Bosque"])
def test_head_path_recovers_97_percent_of_nonprojective_arcs(shared, treebank):
    files = sorted((shared / "treebanks" / treebank).glob("*.conll*"))
    trees = [sentence.tree for file in files for sentence in read(file)]
    figures = round_trip(trees, fitting_scheme("head+path", {label for tree in trees for label in tree.labels}))
    assert figures.arcs > 200
    assert figures.recovered >= 0.97 * figures.arcs
