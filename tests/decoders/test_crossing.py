"""`CautiousDecoder` against all trees of short sentences."""

from __future__ import annotations

from math import inf
from random import Random

import pytest
from test_decoders import members, random_scores, value_of

from brute_trees import is_nonprojective
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.base import score_table
from tanglewood.decoders.crossing import CautiousDecoder
from tanglewood.decoders.eisner import Eisner
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError

PROOFS = ("spanning-tree", "projective-chart")


def cautious(single_root: bool, **options: float) -> CautiousDecoder:
    return CautiousDecoder(SpanningTree(single_root=single_root), Eisner(single_root=single_root), **options)


@with_any_and_single_root
@pytest.mark.parametrize("gain", [0.0, 0.5, 1.5])
def test_a_tree_with_crossing_arcs_is_taken_if_each_of_them_gains_enough(single_root, gain):
    decoder = cautious(single_root, gain=gain)
    seen = set()
    for seed in range(300 if COMPILED else 40):
        n = 3 + seed % 3
        scores = random_scores(Random(f"cautious {seed}"), n, "any" if seed % 4 else "forbidden")
        value, best = max((value_of(scores, heads), heads) for heads in members("mst", n, single_root))
        projective = max(value_of(scores, heads) for heads in members("eisner", n, single_root))
        decoded = decoder.best(scores)
        if value == -inf:
            assert not decoded.found
            continue
        crossing = sum(is_nonprojective(list(best), word) for word in range(1, n + 1))
        takes_best = crossing == 0 or value - projective >= gain * crossing
        assert decoded.proof == PROOFS[not takes_best]
        assert decoded.value == pytest.approx(value if takes_best else projective)
        assert value_of(scores, decoded.heads[1:]) == decoded.value
        seen.add((crossing > 0, takes_best))
    assert seen == {(False, True), (True, True)} | ({(True, False)} if gain else set())


@with_any_and_single_root
def test_crossing_arcs_of_a_trusted_tree_need_not_gain_as_much(single_root):
    gain, agreed_gain = 1.5, 0.25
    decoder = cautious(single_root, gain=gain, agreed_gain=agreed_gain)
    seen = set()
    for seed in range(300 if COMPILED else 40):
        rng = Random(f"trusted {seed}")
        n = 3 + seed % 3
        scores = random_scores(rng, n, "any")
        trees = members("mst", n, single_root)
        value, best = max((value_of(scores, heads), heads) for heads in trees)
        projective = max(value_of(scores, heads) for heads in members("eisner", n, single_root))
        trusted = rng.choice([list(best), list(rng.choice(list(trees)))])
        crossing = [word for word in range(1, n + 1) if is_nonprojective(list(best), word)]
        least = sum(agreed_gain if trusted[word - 1] == best[word - 1] else gain for word in crossing)
        takes_best = not crossing or value - projective >= least
        assert decoder.best_beside(scores, trusted).value == pytest.approx(value if takes_best else projective)
        seen.add((bool(crossing), takes_best, takes_best == (decoder.best(scores).proof == PROOFS[0])))
    assert seen >= {(True, True, False), (True, False, True), (False, True, True)}


def test_by_default_a_crossing_arc_should_gain_half_a_point():
    for advantage, proof in ((0.375, PROOFS[1]), (0.5, PROOFS[0])):
        scores = score_table(4, -9.0)
        for head, word in ((0, 2), (2, 3), (2, 4), (2, 1)):
            scores[head, word] = 0.0
        scores[4, 1] = advantage  # crosses the arc from 0
        assert cautious(True).best(scores).proof == proof


def test_where_every_projective_tree_is_forbidden_arcs_may_cross():
    scores = score_table(4)
    for head, word in ((0, 2), (2, 3), (2, 4), (4, 1)):
        scores[head, word] = 0.0
    assert list(cautious(True, gain=100.0).best(scores).heads) == [-1, 4, 0, 2, 2]


def test_it_needs_what_both_need_and_they_must_agree_about_roots():
    assert cautious(True).memory(9) == SpanningTree().memory(9) + Eisner().memory(9)
    assert cautious(True).single_root
    with pytest.raises(ConfigError, match="both decoders should have one root"):
        CautiousDecoder(SpanningTree(single_root=True), Eisner())
    with pytest.raises(ConfigError, match="should be 0 or more, not -1"):
        cautious(False, gain=-1.0)
    with pytest.raises(ConfigError, match="should be 0 or more, not -2"):
        cautious(False, gain=1.0, agreed_gain=-2.0)
