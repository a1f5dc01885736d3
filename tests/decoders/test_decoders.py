"""Decoders of arc scores against all trees of short sentences: best trees, sums, probabilities, samples."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import exp, inf, log
from random import Random

import pytest

from brute_trees import is_tree
from exhaustive import COMPILED, claimed_trees, trees, with_any_and_single_root
from tanglewood.decoders import make_decoder
from tanglewood.decoders.base import score_table
from tanglewood.decoders.eisner import Eisner
from tanglewood.decoders.matrix_tree import MatrixTree
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system
from tanglewood.treebank import Tree

FAMILY = ("attardi", "attardi-alldeg1", "attardi-all", "attardi-alls0s1")  # searched exactly
DRAWS = 300 if COMPILED else 40
KINDS = ("any", "ties", "forbidden", "far apart", "extreme")

over_decoders = pytest.mark.parametrize("name", ["eisner", "mst", *FAMILY])
over_summing_decoders = pytest.mark.parametrize("name", ["eisner", "mst"])


def decoder_of(name: str, single_root: bool = False):
    if name not in FAMILY:
        return {"eisner": Eisner, "mst": SpanningTree}[name](single_root=single_root)
    return make_decoder("exact", make_system(name, single_root=single_root))


@cache
def members(name: str, n: int, single_root: bool) -> list[tuple[int, ...]]:
    """All trees of the decoder's class."""
    found = trees(n, single_root) if n else [()]
    if name in FAMILY:
        derivable = claimed_trees(make_system(name).oracle(), n)
        return [heads for heads in found if heads in derivable]
    return found if name == "mst" else [heads for heads in found if Tree(heads).is_projective()]


def random_scores(rng: Random, n: int, kind: str):
    """Scores of any size, few different ones (so that there are ties), many that forbid their arcs, or huge ones."""
    table = score_table(n)
    step = rng.choice([1.0, 30.0, 150.0, 400.0, 2000.0])
    for head in range(n + 1):
        for word in range(n + 1):
            table[head, word] = {
                "any": rng.uniform(-3, 3),
                "ties": rng.choice([-1.0, 0.0, 1.0]),
                "forbidden": rng.choice([-inf, -inf, rng.uniform(-2, 2)]),
                "far apart": rng.choice([-300.0, 0.0, 5.0, 250.0]),
                "extreme": rng.choice([-inf, *[rng.uniform(-1, 1) + step * k for k in (-1, -1, 0, 0, 0, 1, 1)]]),
            }[kind]
    return table


def value_of(scores, heads) -> float:
    return sum(scores[head, word] for word, head in enumerate(heads, 1))


def cases(name: str, single_root: bool, kinds=KINDS, sizes=(0, 1, 2, 3, 4, 5)):
    for n in sizes:
        for kind in kinds:
            for seed in range(DRAWS if n < 5 else DRAWS // 10):
                scores = random_scores(Random(f"{n} {kind} {seed}"), n, kind)
                yield scores, [(value_of(scores, heads), heads) for heads in members(name, n, single_root)]


def log_sum(values) -> float:
    top = max(values, default=-inf)
    return top if top == -inf else top + log(sum(exp(value - top) for value in values))


def chances(valued, n: int) -> list[list[float]]:
    """The probability of every arc, tree by tree."""
    total = log_sum([value for value, _ in valued])
    found = [[0.0] * (n + 1) for _ in range(n + 1)]
    for value, heads in valued:
        for word, head in enumerate(heads, 1):
            found[head][word] += exp(value - total)
    return found


@over_decoders
@with_any_and_single_root
def test_the_best_tree_is_that_of_all_trees(name, single_root):
    decoder = decoder_of(name, single_root)
    for scores, valued in cases(name, single_root):
        best = max(value for value, _ in valued)
        decoded = decoder.best(scores)
        assert decoded.value == pytest.approx(best, abs=1e-4 if name in FAMILY else 1e-9)  # charts are of float32
        assert decoded.found == (best > -inf)
        if decoded.found:
            heads = tuple(decoded.heads[1:])
            assert decoded.heads[0] == -1
            assert heads in members(name, len(heads), single_root)
            assert value_of(scores, heads) == decoded.value == tree_value(scores, decoded.heads)


@over_summing_decoders
@with_any_and_single_root
def test_sums_and_probabilities_are_those_of_all_trees(name, single_root):
    decoder = decoder_of(name, single_root)
    for scores, valued in cases(name, single_root):
        n = scores.shape[0] - 1
        total = log_sum([value for value, _ in valued])
        found = decoder.log_partition(scores)
        assert found == pytest.approx(total, abs=1e-9, rel=1e-12)
        if total == -inf:
            with pytest.raises(ConfigError, match="value -inf"):
                decoder.marginals(scores)
            with pytest.raises(ConfigError, match="value -inf"):
                decoder.sample(scores, Random(1))
            continue
        expected = chances(valued, n)
        probabilities = decoder.marginals(scores)
        for head in range(n + 1):
            for word in range(n + 1):
                assert probabilities[head, word] == pytest.approx(expected[head][word], abs=1e-9)
        for word in range(1, n + 1):
            assert sum(probabilities[head, word] for head in range(n + 1)) == pytest.approx(1)


@over_summing_decoders
@with_any_and_single_root
@pytest.mark.parametrize("kind", ["any", "forbidden"])
def test_samples_follow_the_distribution(name, single_root, kind):
    decoder = decoder_of(name, single_root)
    total, seed, draws = -inf, 0, 4000 if COMPILED else 1000
    while total == -inf:  # the first table that allows a tree
        scores = random_scores(Random(f"samples {kind} {seed}"), 3, kind)
        total = decoder.log_partition(scores)
        seed += 1
    rng = Random(7)
    counts = Counter(tuple(decoder.sample(scores, rng).heads[1:]) for _ in range(draws))
    wanted = {heads: draws * exp(value_of(scores, heads) - total) for heads in members(name, 3, single_root)}
    assert set(counts) <= {heads for heads, count in wanted.items() if count > 0}
    chi_square = sum((counts[heads] - count) ** 2 / count for heads, count in wanted.items() if count > 0)
    assert chi_square < len(wanted) + 6 * (2 * len(wanted)) ** 0.5


@with_any_and_single_root
def test_trees_drawn_word_by_word_follow_the_distribution(single_root, monkeypatch):
    """The way of sampling for scores on which random walks hardly ever end."""
    monkeypatch.setattr("tanglewood.decoders.matrix_tree.STEPS", 0)
    test_samples_follow_the_distribution("mst", single_root, "any")


def test_walks_that_would_hardly_ever_end_are_given_up():
    scores = score_table(6, 0.0)
    for word in range(1, 7):
        scores[0, word] = -60.0
    heads = SpanningTree().sample(scores, Random(1)).heads
    assert is_tree(list(heads[1:]))
    assert SpanningTree().marginals(scores)[0, 1] == pytest.approx(1 / 6)


def test_no_digit_is_lost_where_roots_are_far_below_all_other_arcs():
    scores = score_table(8, 0.0)
    for word in range(1, 9):
        scores[0, word] = -500.0 - word
    several = SpanningTree(single_root=False).marginals(scores)
    single = SpanningTree(single_root=True).marginals(scores)
    for head in range(9):
        for word in range(1, 9):
            assert several[head, word] == pytest.approx(single[head, word], abs=1e-12)


@over_summing_decoders
@with_any_and_single_root
def test_long_sentences(name, single_root):
    n = 60 if COMPILED else 12
    decoder = decoder_of(name, single_root)
    scores = random_scores(Random(1), n, "any")
    decoded = decoder.best(scores)
    tree = Tree(decoded.heads[1:])
    assert len(tree.roots()) == 1 or not single_root
    assert name == "mst" or tree.is_projective()
    assert decoder.log_partition(scores) > decoded.value
    probabilities = decoder.marginals(scores)
    for word in range(1, n + 1):
        assert sum(probabilities[head, word] for head in range(n + 1)) == pytest.approx(1)
    for _ in range(5):
        drawn = decoder.sample(scores, Random(2))
        assert drawn.value <= decoded.value
        assert is_tree(list(drawn.heads[1:]))
    assert decoder.memory(n) > n * n


def test_the_best_tree_is_no_worse_than_the_best_projective_tree():
    for seed in range(DRAWS):
        scores = random_scores(Random(seed), 9, "any")
        for single_root in (False, True):
            best = SpanningTree(single_root=single_root).best(scores).value
            assert best >= Eisner(single_root=single_root).best(scores).value
        assert SpanningTree().best(scores).value >= best


@over_decoders
def test_other_tables_are_refused(name):
    with pytest.raises(ConfigError, match="float32 table"):
        decoder_of(name).best(score_table(3, 0.0, "d"))


def test_the_determinant_of_a_single_arc():
    scores = score_table(1, 0.5)
    assert MatrixTree(scores, True).log_partition() == MatrixTree(scores, False).log_partition() == 0.5


# Limits. ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["eisner", "lite", "exact"])
def test_beyond_its_limits_a_search_gives_the_best_of_all_trees_and_says_so(search):
    system = make_system("attardi-alls0s1", single_root=True)
    for seed in range(20):
        n = 7 + seed % 2
        scores = random_scores(Random(seed), n, "any")
        best = SpanningTree(single_root=True).best(scores)
        within = make_decoder(search, system, max_words=n).best(scores)
        assert within.proof != "fallback"
        for limits in ({"max_words": n - 1}, {"max_bytes": 1}):
            beyond = make_decoder(search, system, **limits).best(scores)
            assert beyond.value == best.value
            assert (beyond.proof == "fallback") == (search != "exact" or within.proof == "chart")


def test_memory_is_known_beforehand_and_grows_with_the_sentence():
    for search in ("eisner", "lite", "exact", "mst"):
        decoder = make_decoder(search, make_system("attardi-alls0s1"), max_bytes=None)
        assert 0 < decoder.memory(10) < decoder.memory(100)


def test_an_unknown_search_is_refused():
    with pytest.raises(
        ConfigError, match="unknown search 'oak' for a graph-based model; choose from exact, lite, mst, eisner"
    ):
        make_decoder("oak", make_system("swap"))
