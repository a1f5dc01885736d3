"""Spanning trees: the shortcuts of `SpanningTree` against the long ways, Edmonds' algorithm and sums in logarithms."""

from __future__ import annotations

from array import array
from concurrent.futures import ThreadPoolExecutor
from math import inf
from random import Random

import pytest
from test_decoders import chances, log_sum, members, random_scores, value_of

from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.arithmetic import VARIABLE, available
from tanglewood.decoders.base import score_table
from tanglewood.decoders.elimination import Elimination
from tanglewood.decoders.matrix_tree import MatrixTree
from tanglewood.decoders.spanning import KEPT, Edmonds, SpanningTree
from tanglewood.errors import ConfigError

LONGEST = 60 if COMPILED else 10
TABLES = 600 if COMPILED else 40
KINDS = ("any", "ties", "forbidden", "far apart", "extreme", "peaked")


def table_of(rng: Random, n: int, kind: str):
    """Random scores; peaked ones are those of a trained model, whose best heads mostly form a tree with one root."""
    if kind != "peaked":
        return random_scores(rng, n, kind)
    table = random_scores(rng, n, "any")
    order = rng.sample(range(1, n + 1), n)
    for i, word in enumerate(order):
        table[rng.choice(order[:i]) if i else 0, word] += rng.choice([2.0, 5.0])
    return table


def tables(seed: str):
    rng = Random(f"tables {seed}")
    for number in range(TABLES):
        n = rng.randint(0, LONGEST if number % 20 == 0 else 9)
        yield table_of(rng, n, KINDS[number % len(KINDS)])


# The best tree. ---------------------------------------------------------------------------------------------------


@with_any_and_single_root
def test_best_heads_that_form_a_tree_are_what_edmonds_finds_ties_included(single_root):
    decoder = SpanningTree(single_root=single_root)
    edmonds = Edmonds()
    shortcuts = 0
    for scores in tables("edmonds"):
        n = len(scores) - 1
        heads = array("i", bytes(4 * n + 4))
        value = edmonds.run(scores, single_root, heads)
        decoded = decoder.best(scores)
        if value == -inf or (single_root and heads.count(0) > 1):
            assert not decoded.found
            continue
        assert (decoded.heads, decoded.value) == (heads, value)
        best = [max(scores[i, word] for i in range(n + 1) if i != word) for word in range(1, n + 1)]
        shortcuts += n > 2 and best == [scores[heads[word], word] for word in range(1, n + 1)]
    assert TABLES / 20 < shortcuts < TABLES / 2  # both ways were tried


def test_of_equal_heads_the_first_is_taken():
    assert list(SpanningTree().best(score_table(3, 1.0)).heads) == [-1, 0, 0, 0]
    scores = score_table(2, 0.0)
    scores[0, 1] = scores[2, 1] = scores[1, 2] = 1.0
    assert list(SpanningTree().best(scores).heads) == [-1, 0, 1]


# Sums. ------------------------------------------------------------------------------------------------------------


def largest_difference(one, other) -> float:
    size = len(one)
    return max(abs(one[head, word] - other[head, word]) for head in range(size) for word in range(size))


@with_any_and_single_root
def test_sums_in_doubles_are_those_in_logarithms(single_root):
    sums = Elimination()
    done = 0
    for scores in tables("sums"):
        in_logs = MatrixTree(scores, single_root)
        total = in_logs.log_partition()
        if sums.add_up(scores, single_root, True):
            done += 1
            assert sums.total == pytest.approx(total, abs=1e-9, rel=1e-12)
            probabilities = score_table(len(scores) - 1, 0.0, "d")
            sums.write_doubles(probabilities)
            assert largest_difference(probabilities, in_logs.marginals()) < 1e-10
            assert min(min(row) for row in probabilities.tolist()) >= 0
            assert sums.add_up(scores, single_root, False)
            assert sums.total == pytest.approx(total, abs=1e-9, rel=1e-12)
    assert TABLES * 0.6 < done < TABLES  # some are too much for doubles


def chain_of_cycles(n: int, low: float):
    """Every word prefers the next as its head and the last the one before it; one tree goes up the chain, one down."""
    scores = score_table(n)
    for word in range(1, n):
        scores[word + 1, word] = 0.0
        scores[word, word + 1] = -400.0
    scores[n - 1, n] = 0.0
    scores[0, 1] = 0.0
    scores[0, n] = low
    return scores


@with_any_and_single_root
@pytest.mark.parametrize("low", [-900.0, -1300.0])
def test_an_arc_that_underflows_is_not_lost_where_all_trees_are_improbable(single_root, low):
    """No factor of the sum is below e^-400, but e^low, which is 0 in doubles, is not small beside their product."""
    scores = chain_of_cycles(5, low)
    valued = [(value_of(scores, heads), heads) for heads in members("mst", 5, single_root)]
    decoder = SpanningTree(single_root=single_root)
    assert decoder.log_partition(scores) == pytest.approx(log_sum([value for value, _ in valued]))
    for row, expected in zip(decoder.marginals(scores).tolist(), chances(valued, 5), strict=True):
        assert row == pytest.approx(expected)


@with_any_and_single_root
def test_probabilities_go_into_a_table_that_is_given(single_root):
    decoder = SpanningTree(single_root=single_root)
    for scores in tables("into"):
        n = len(scores) - 1
        out = score_table(n, 7.0)
        total = decoder.log_partition(scores)
        if total == -inf:
            with pytest.raises(ConfigError, match="value -inf"):
                decoder.marginals_into(scores, out)
            continue
        assert decoder.marginals_into(scores, out) == total
        wanted = decoder.marginals(scores)
        assert out.tolist() == [array("f", row).tolist() for row in wanted.tolist()]
        assert decoder.marginals_into(scores, scores) == total  # the scores themselves are overwritten
        assert scores == out


def test_a_table_that_probabilities_cannot_go_into_is_refused():
    decoder = SpanningTree()
    for out in (score_table(2, 0.0), score_table(3, 0.0).toreadonly()):
        with pytest.raises(ConfigError, match=r"the same shape as that of the scores, \(4, 4\)"):
            decoder.marginals_into(score_table(3, 0.0), out)
    with pytest.raises(ConfigError, match="float32 table"):
        decoder.marginals_into(score_table(3, 0.0), score_table(3, 0.0, "d"))


@with_any_and_single_root
def test_all_families_of_kernels_give_the_same_bits(single_root, monkeypatch):
    for scores in tables("families"):
        found = set()
        for family in available():
            monkeypatch.setenv(VARIABLE, family)
            decoder = SpanningTree(single_root=single_root)
            total = decoder.log_partition(scores)
            found.add((total, bytes(decoder.marginals(scores)) if total > -inf else b""))
        assert len(found) == 1


# Space to work in. ------------------------------------------------------------------------------------------------


def everything(decoder: SpanningTree, scores) -> tuple:
    total = decoder.log_partition(scores)
    return decoder.best(scores), total, bytes(decoder.marginals(scores)) if total > -inf else b""


@with_any_and_single_root
def test_what_came_before_does_not_matter_nor_do_other_threads(single_root):
    decoder = SpanningTree(single_root=single_root)
    given = list(tables("threads"))[:100]
    wanted = [everything(SpanningTree(single_root=single_root), scores) for scores in given]
    assert [everything(decoder, scores) for scores in given] == wanted
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda scores: everything(decoder, scores), given)) == wanted


@pytest.mark.skipif(not COMPILED, reason="takes too long interpreted")
def test_the_space_for_a_very_long_sentence_is_not_kept():
    decoder = SpanningTree()
    scores = score_table(KEPT + 1, 0.0)
    assert decoder.best(scores).found
    assert decoder._searches._free == []
    assert decoder.best(score_table(KEPT, 0.0)).found
    assert len(decoder._searches._free) == 1
