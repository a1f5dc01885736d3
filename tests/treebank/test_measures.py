"""Every measure of a tree equals its brute-force twin; Tree refuses what is no tree and says why."""

import json
import pickle
import random
from array import array
from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute_trees as brute
from tanglewood.errors import ConfigError, TreeError
from tanglewood.treebank import Tree, conllu, measures

small_trees = cache(lambda n: list(brute.all_trees(n)))
SIZES = [0, 1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)]


def check_all_measures(heads):
    tree = Tree(heads)
    words = range(1, len(heads) + 1)
    assert tree.arc_degrees() == tree.arc_degrees(2007) == brute.arc_degrees_2007(heads)
    assert tree.arc_degrees(2006) == brute.arc_degrees_2006(heads)
    assert tree.degree() == max(brute.arc_degrees_2007(heads))
    assert tree.degree(2006) == tree.edge_degree() == max(brute.arc_degrees_2006(heads))
    assert tree.nonprojective_arcs() == [word for word in words if brute.is_nonprojective(heads, word)]
    assert tree.is_projective() == (not any(brute.is_nonprojective(heads, word) for word in words))
    assert tree.crossing_pairs() == brute.crossing_pairs(heads, with_root=True)
    assert tree.crossing_pairs(with_root=False) == brute.crossing_pairs(heads, with_root=False)
    assert tree.count_crossing_pairs() == len(tree.crossing_pairs())
    assert tree.count_crossing_pairs(with_root=False) == len(tree.crossing_pairs(with_root=False))
    assert measures.two_planes(tree.heads).tolist() == brute.two_planes(heads)
    assert tree.is_planar() == (not brute.crossing_pairs(heads, with_root=False))
    assert [blocks - 1 for blocks in measures.block_counts(tree.heads)] == brute.gap_degrees(heads)
    assert tree.gap_degree() == max(brute.gap_degrees(heads))
    assert tree.is_well_nested() == brute.is_well_nested(heads)
    assert tree.projective_order() == brute.projective_order(heads)


@pytest.mark.parametrize("n", SIZES)
def test_measures_equal_their_twins_on_all_trees(n):
    trees = small_trees(n)
    assert len(trees) == (n + 1) ** (n - 1)
    for heads in trees:
        check_all_measures(heads)


@given(brute.random_heads(14))
def test_measures_equal_their_twins_on_random_trees(heads):
    check_all_measures(heads)


@pytest.mark.slow
def test_measures_equal_their_twins_on_long_random_trees():
    rng = random.Random(7)
    for n in (40, 60, 80):
        for _ in range(5):
            order = [0, *rng.sample(range(1, n + 1), n)]
            heads = [0] * (n + 1)
            for i in range(1, n + 1):
                heads[order[i]] = order[rng.randrange(i)]
            check_all_measures(heads[1:])


def test_counts_of_small_trees_are_the_known_ones():
    for n, projective in enumerate([1, 1, 3, 12, 55, 273]):
        assert sum(Tree(heads).is_projective() for heads in small_trees(n)) == projective
    kinds = Counter((t.is_well_nested(), t.gap_degree()) for t in map(Tree, small_trees(4)))
    assert kinds[False, 1] > 0
    assert kinds[True, 1] > 0
    assert kinds[True, 0] == 55  # a tree without gaps is projective


@given(st.integers(0, 9).flatmap(lambda n: st.lists(st.integers(-2, n + 2), min_size=n, max_size=n)))
def test_a_tree_is_refused_exactly_if_some_word_does_not_reach_the_root(heads):
    offender = measures.offender(array("i", [-1, *heads]))
    assert (offender == 0) == brute.is_tree(heads)
    assert 0 <= offender <= len(heads)


@pytest.mark.parametrize("n", range(5))
def test_offender_agrees_with_the_twin_on_all_head_lists(n):
    trees = {tuple(heads) for heads in small_trees(n)}
    everything = [[]]
    for _ in range(n):
        everything = [[*heads, head] for heads in everything for head in range(-1, n + 2)]
    for heads in everything:
        assert (measures.offender(array("i", [-1, *heads])) == 0) == (tuple(heads) in trees)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 0, 7], "word 3 has head 7, which does not exist; heads go from 0 (the root) to 3"),
        ([2, -1, 2], "word 2 has head -1, which does not exist"),
        ([2, 0, 10**12], "word 3 has head 1000000000000, which does not exist"),
        ([0, 2], "word 2 is its own head"),
        ([0, 3, 4, 2, 3], "words 2 <- 3 <- 4 <- 2 form a cycle; following the heads from any word should lead to 0"),
        ([5, 4, 5, 5, 4, 0], "words 4 <- 5 <- 4 form a cycle"),
        ([2, 1], "no word has head 0, and words 1 <- 2 <- 1 form a cycle; at least one word should be the root"),
        ([1], "word 1 is its own head"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_word_and_the_reason(heads, message):
    with pytest.raises(TreeError) as caught:
        Tree(heads)
    assert message in str(caught.value)


def test_a_long_cycle_is_shown_shortened():
    with pytest.raises(TreeError) as caught:
        Tree([*range(2, 5001), 1])
    assert "words 1 <- 2 <- 3" in str(caught.value)
    assert "... <- 5000 <- 1 form a cycle" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_number_of_labels_other_than_of_heads_is_refused():
    with pytest.raises(TreeError, match="1 labels for 2 heads"):
        Tree([0, 1], ["root"])


def test_an_unknown_reading_of_the_degree_is_refused():
    with pytest.raises(ConfigError, match="2006 and 2007"):
        Tree([0]).arc_degrees(2009)


def test_the_empty_tree_is_fine():
    tree = Tree([])
    assert len(tree) == 0
    assert tree.roots() == list(tree.arcs()) == tree.crossing_pairs() == []
    assert tree.projective_order() == [0]
    assert tree.is_projective()
    assert tree.is_well_nested()
    assert tree.degree() == tree.gap_degree() == 0


def test_a_tree_keeps_heads_and_labels_by_node():
    tree = Tree([2, 0, 2, 0], ["a", "root", "b", "root"])
    assert list(tree.heads) == [-1, 2, 0, 2, 0]
    assert tree.labels == ["", "a", "root", "b", "root"]
    assert tree.roots() == [2, 4]
    assert list(tree.arcs()) == [(2, "a", 1), (0, "root", 2), (2, "b", 3), (0, "root", 4)]
    assert repr(tree) == "Tree([2, 0, 2, 0], ['a', 'root', 'b', 'root'])"
    assert repr(Tree([0])) == "Tree([0])"
    assert Tree([0]).labels == ["", "_"]


def test_trees_are_equal_exactly_if_heads_and_labels_are():
    assert Tree([0, 1], ["a", "b"]) == Tree((0, 1), ("a", "b"))
    assert Tree([0, 1], ["a", "b"]) != Tree([0, 1])
    assert Tree([0, 1]) != Tree([0, 0])
    assert Tree([0, 1]) != [0, 1]
    assert pickle.loads(pickle.dumps(Tree([0, 1], ["a", "b"]))) == Tree([0, 1], ["a", "b"])


def test_dominance_inside_the_span_and_in_the_whole_tree_differ():
    # 2 hangs on 4 and 4 on 1: word 2 below the arc from 1 to 3 is dominated by 1, but not inside the span.
    tree = Tree([0, 4, 1, 1])
    assert tree.arc_degrees(2007) == [0, 0, 1, 1, 0]
    assert tree.arc_degrees(2006) == [0, 0, 1, 0, 0]
    assert tree.nonprojective_arcs() == [2]


@pytest.mark.parametrize("heads", [range(10_000), [*range(2, 10_001), 0], [0] * 10_000, [0, *[1] * 9_999]])
def test_ten_thousand_words_in_a_chain_or_a_fan_are_projective(heads):
    tree = Tree(list(heads))
    assert tree.is_projective()
    assert tree.degree(2006) == tree.gap_degree() == 0
    assert tree.crossing_pairs() == []
    assert tree.is_well_nested()
    assert tree.projective_order() == list(range(10_001))


def test_many_arcs_may_cross_one():
    # Word 1 hangs on the last word; all others but the last on 0.
    n = 2000
    tree = Tree([n, *[0] * (n - 1)])
    assert tree.crossing_pairs() == [(1, word) for word in range(2, n)]
    assert tree.is_planar()
    assert tree.degree() == n - 2


@pytest.mark.parametrize("smallest", [3, pytest.param(None, marks=pytest.mark.slow)])
def test_treebank_counts_equal_the_ground_truth(shared, smallest):
    truth = json.loads((shared / "ground_truth/ground_truth.json").read_text())["files"]
    for name in sorted(truth, key=lambda name: truth[name]["words"])[:smallest]:
        trees = [sentence.tree for sentence in conllu.read(shared / "treebanks" / name)]
        arcs = [len(tree.nonprojective_arcs()) for tree in trees]
        found = {
            "sentences": len(trees),
            "words": sum(map(len, trees)),
            "nonprojective_sentences": sum(not tree.is_projective() for tree in trees),
            "nonprojective_arcs": sum(arcs),
            "multi_root_sentences": sum(len(tree.roots()) > 1 for tree in trees),
            "max_length": max(map(len, trees)),
            "degree_2007": dict(Counter(str(tree.degree()) for tree in trees)),
            "degree_2006": dict(Counter(str(tree.degree(2006)) for tree in trees)),
        }
        assert found == {key: truth[name][key] for key in found}, name


def test_crossings_are_counted_where_they_could_not_be_listed():
    n = 200_000  # the first half hang on the word before the last, the others on the first
    heads = [n - 1] * (n // 2) + [1] * (n // 2)
    heads[0], heads[n - 2] = 0, 1
    tree = Tree(heads)
    # Each of the former crosses all of the latter that end before n - 1.
    assert tree.count_crossing_pairs(with_root=False) == (n // 2 - 1) * (n // 2 - 2) > 2**32
