"""Second-order decoders against all trees of short sentences, and on longer ones against every single change."""

from __future__ import annotations

from array import array
from functools import cache
from math import inf, isclose
from random import Random

import pytest
from test_decoders import KINDS, random_scores

from brute_trees import is_tree
from exhaustive import COMPILED, trees, with_any_and_single_root
from tanglewood.decoders import SEARCHES, make_decoder
from tanglewood.decoders.base import score_table
from tanglewood.decoders.eisner import Eisner
from tanglewood.decoders.eisner2 import Eisner2
from tanglewood.decoders.mst2 import Mst2
from tanglewood.decoders.siblings import find_nearer, second_order_value, sibling_table
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system
from tanglewood.treebank import Tree

over_decoders = pytest.mark.parametrize("decoder", [Eisner2, Mst2])


def nearer_of(heads, word):
    """The dependent of the word's head between the two that is closest to the word, or the head."""
    head = heads[word]
    step = 1 if head < word else -1
    return next((other for other in range(word - step, head, -step) if heads[other] == head), head)


def value_of(scores, siblings, heads):
    """The value of a tree, part by part; heads are those of words."""
    heads = [-1, *heads]
    return sum(
        scores[heads[word], word] + siblings[heads[word], nearer_of(heads, word), word] for word in range(1, len(heads))
    )


def random_siblings(rng, n, kind="any"):
    table = sibling_table(n)
    for head in range(n + 1):
        for nearer in range(n + 1):
            for word in range(n + 1):
                table[head, nearer, word] = {
                    "ties": rng.choice([-1.0, 0.0, 1.0]),
                    "forbidden": rng.choice([-inf, rng.uniform(-2, 2), rng.uniform(-2, 2)]),
                }.get(kind, rng.uniform(-3, 3))
    return table


@cache
def projective(n, single_root):
    return [heads for heads in (trees(n, single_root) if n else [()]) if Tree(heads).is_projective()]


def tables(sizes=(0, 1, 2, 3, 4, 5), draws=40 if COMPILED else 4):
    for n in sizes:
        for kind in KINDS:
            for seed in range(draws if n < 5 else draws // 4):
                rng = Random(f"{n} {kind} {seed}")
                yield n, random_scores(rng, n, kind), random_siblings(rng, n, kind)


def test_every_word_finds_the_dependent_before_it():
    for n in range(1, 6 if COMPILED else 4):
        for heads in trees(n):
            found = array("i", bytes(8 * (n + 1)))
            find_nearer(array("i", [-1, *heads]), found)
            assert [found[word] for word in range(1, n + 1)] == [
                nearer_of([-1, *heads], word) for word in range(1, n + 1)
            ]


@with_any_and_single_root
def test_eisner2_finds_the_best_of_all_projective_trees(single_root):
    decoder = Eisner2(single_root=single_root)
    sizes = (0, 1, 2, 3, 4, 5, 6) if COMPILED else (0, 1, 2, 3, 4)
    for n, scores, siblings in tables(sizes):
        best = max(value_of(scores, siblings, heads) for heads in projective(n, single_root))
        decoded = decoder.second_order_best(scores, siblings)
        assert decoded.found == (best > -inf)
        if decoded.found:
            heads = tuple(decoded.heads[1:])
            assert heads in projective(n, single_root)
            assert isclose(decoded.value, best, rel_tol=1e-9, abs_tol=1e-9)
            assert isclose(decoded.value, value_of(scores, siblings, heads), rel_tol=1e-9, abs_tol=1e-9)


@with_any_and_single_root
def test_without_scores_of_siblings_eisner2_is_eisner(single_root):
    for seed in range(20):
        scores = random_scores(Random(seed), 12 if COMPILED else 6, "any")
        found = Eisner2(single_root=single_root).best(scores)
        assert found == Eisner(single_root=single_root).best(scores)


def changes(heads, single_root):
    """All trees in which one word has another head."""
    for word in range(1, len(heads)):
        for head in range(len(heads)):
            other = [*heads[1:]]
            other[word - 1] = head
            if head not in (word, heads[word]) and is_tree(other) and (not single_root or other.count(0) == 1):
                yield other


@with_any_and_single_root
def test_mst2_is_never_worse_than_its_start_and_no_single_change_improves_it(single_root):
    sizes = (0, 1, 2, 3, 5, 8, 12) if COMPILED else (0, 1, 2, 4, 7)
    better = crossing = 0
    for n, scores, siblings in tables(sizes, draws=12 if COMPILED else 4):
        decoded = Mst2(single_root=single_root).second_order_best(scores, siblings)
        start = Eisner2(single_root=single_root).second_order_best(scores, siblings)
        assert decoded.found or not start.found
        if not decoded.found:
            continue
        heads = list(decoded.heads)
        assert is_tree(heads[1:])
        assert not single_root or n == 0 or heads.count(0) == 1
        assert decoded.value >= start.value
        assert isclose(decoded.value, value_of(scores, siblings, heads[1:]), rel_tol=1e-9, abs_tol=1e-9)
        for other in changes(heads, single_root):
            assert value_of(scores, siblings, other) <= decoded.value + 1e-9 * max(1, abs(decoded.value))
        better += start.found and decoded.value > start.value + 1e-6
        crossing += not Tree(heads[1:]).is_projective()
    assert better > 0
    assert crossing > 0


def test_mst2_is_seldom_far_from_the_best_of_all_trees():
    """An approximation: on tables without any structure it finds the best of all trees more often than not."""
    n, found, total = 4, 0, 60 if COMPILED else 10
    for seed in range(total):
        scores, siblings = random_scores(Random(seed), n, "any"), random_siblings(Random(-seed), n)
        best = max(value_of(scores, siblings, heads) for heads in trees(n))
        value = Mst2().second_order_best(scores, siblings).value
        assert value <= best + 1e-9
        found += isclose(value, best)
    assert total / 2 < found <= total


def test_mst2_begins_with_the_best_of_all_trees_where_there_is_no_projective_one():
    scores = score_table(4)
    for word, head in enumerate((3, 4, 0, 3), 1):
        scores[head, word] = 1.0
    assert not Eisner2().best(scores).found
    assert list(Mst2().best(scores).heads) == [-1, 3, 4, 0, 3]
    siblings = sibling_table(4, -inf)
    assert not Mst2().second_order_best(scores, siblings).found


def test_huge_scores_do_not_send_the_climb_round_in_circles():
    for seed in range(20):
        rng = Random(seed)
        n = 7
        scores, siblings = score_table(n), sibling_table(n)
        for head in range(n + 1):
            for word in range(n + 1):
                scores[head, word] = rng.choice([1e30, -1e30, 3e30, 1.0])
                for nearer in range(n + 1):
                    siblings[head, nearer, word] = rng.choice([1e30, -1e30, 1e-3])
        assert is_tree(list(Mst2().second_order_best(scores, siblings).heads[1:]))


@pytest.mark.skipif(not COMPILED, reason="long sentences")
@over_decoders
@with_any_and_single_root
def test_long_sentences(decoder, single_root):
    n = 60
    scores, siblings = random_scores(Random(1), n, "any"), random_siblings(Random(2), n)
    decoded = decoder(single_root=single_root).second_order_best(scores, siblings)
    tree = Tree(decoded.heads[1:])
    assert len(tree.roots()) == 1 or not single_root
    assert tree.is_projective() == (decoder is Eisner2)
    assert isclose(decoded.value, value_of(scores, siblings, tuple(decoded.heads[1:])))
    found = array("i", bytes(8 * (n + 1)))
    assert decoded.value == second_order_value(scores, siblings, decoded.heads, found)


@over_decoders
def test_other_tables_are_refused(decoder):
    with pytest.raises(ConfigError, match="float32 table"):
        decoder().best(score_table(3, 0.0, "d"))
    for wrong in (sibling_table(2), score_table(3, 0.0)):
        with pytest.raises(ConfigError, match="scores of siblings of 3 words"):
            decoder().second_order_best(score_table(3, 0.0), wrong)


# Through the registry. --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [name for name, entry in SEARCHES.items() if entry.siblings])
def test_within_limits_siblings_count_and_beyond_them_the_best_of_all_trees_by_arcs_is_given(search):
    system = make_system("swap", single_root=True)
    n = 6
    scores, siblings = random_scores(Random(1), n, "any"), random_siblings(Random(2), n)
    within = make_decoder(search, system)
    kind = {"eisner2": Eisner2, "mst2": Mst2}[search]
    assert within.fits(n)
    assert within.second_order_best(scores, siblings) == kind(single_root=True).second_order_best(scores, siblings)
    assert within.memory(n) > 4 * n**3
    for limits in ({"max_words": n - 1}, {"max_bytes": 4 * n**3}):
        beyond = make_decoder(search, system, **limits)
        assert not beyond.fits(n)
        best = SpanningTree(single_root=True).best(scores)._replace(proof="fallback")
        assert beyond.second_order_best(scores, siblings) == beyond.best(scores) == best


def test_other_searches_know_nothing_of_siblings():
    for search, entry in SEARCHES.items():
        if not entry.siblings:
            with pytest.raises(ConfigError, match="has no scores of siblings"):
                make_decoder(search, make_system("attardi-alls0s1")).second_order_best(
                    score_table(2, 0.0), sibling_table(2)
                )
