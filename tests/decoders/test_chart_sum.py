"""Sums over derivations, arc probabilities and samples against enumeration of all transition sequences."""

from collections import Counter
from math import exp, inf, isclose
from random import Random

import pytest
from test_chart import OTHERS, over_family, random_scores

from brute_derivations import by_arc, derivations, graph, log_sums, replay
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.base import score_table
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system

LONGEST = 6 if COMPILED else 4


def arc_probabilities(name, n, single_root, table):
    """The probability of every arc by two sweeps over the graph of configurations."""
    edges = graph(name, n, single_root)
    score = by_arc(table)
    below = log_sums(edges, score)
    above = [0.0] * len(edges)
    above[-1] = 1.0
    arcs = [[0.0] * (n + 1) for _ in range(n + 1)]
    for number in range(len(edges) - 1, 0, -1):
        for edge in edges[number]:
            if above[number] > 0 and score(edge) + below[edge.target] > -inf:
                share = above[number] * exp(score(edge) + below[edge.target] - below[number])
                above[edge.target] += share
                if edge.dependent > 0:
                    arcs[edge.head][edge.dependent] += share
    return below[-1], arcs


@over_family
@with_any_and_single_root
def test_log_partition_and_marginals_are_those_of_all_derivations(name, single_root):
    rng = Random(name)
    decoder = make_system(name, single_root=single_root).exact()
    for n in [0, 1, 2, 3, 4, *range(LONGEST + 1)] * (3 if COMPILED else 1):
        scores = random_scores(rng, n, rng.choice(["real", "with holes", "with ties"]))
        total, arcs = arc_probabilities(name, n, single_root, scores.tolist())
        found = decoder.log_partition(scores)
        assert found == total or isclose(found, total, abs_tol=1e-6)
        marginals = decoder.marginals(scores)
        for head in range(n + 1):
            for word in range(n + 1):
                assert isclose(marginals[head, word], arcs[head][word], abs_tol=1e-6)
        if total > -inf:
            for word in range(1, n + 1):
                assert isclose(sum(marginals[head, word] for head in range(n + 1)), 1, abs_tol=1e-9)


@pytest.mark.parametrize(("name", "options"), OTHERS, ids=str)
def test_other_inventories_have_their_own_sums(name, options):
    rng = Random(7)
    decoder = make_system(name, **dict(options)).exact()
    for n in range(LONGEST):
        scores = random_scores(rng, n, "real")
        assert isclose(
            decoder.log_partition(scores),
            log_sums(graph(name, n, False, options), by_arc(scores.tolist()))[-1],
            abs_tol=1e-6,
        )


@over_family
def test_the_sum_counts_derivations(name):
    scores = score_table(4, 0.0)
    decoder = make_system(name).exact()
    assert isclose(exp(decoder.log_partition(scores)), sum(1 for _ in derivations(graph(name, 4, False))))


@over_family
@with_any_and_single_root
def test_samples_are_derivations_as_frequent_as_they_should_be(name, single_root):
    rng = Random(name)
    system = make_system(name, single_root=single_root)
    decoder = system.exact()
    n = 3
    scores = random_scores(rng, n, "real")
    total = decoder.log_partition(scores)
    rounds = 4000 if COMPILED else 300
    counts = Counter()
    for _ in range(rounds):
        sample = decoder.sample(scores, rng)
        counts[tuple(sample.moves)] += 1
    for moves in counts:
        replay(system, n, moves)
    score = by_arc(scores.tolist())
    for edges in derivations(graph(name, n, single_root)):
        share = exp(sum(score(edge) for edge in edges) - total)
        spread = (share * (1 - share) / rounds) ** 0.5
        assert abs(counts[tuple(edge.move for edge in edges)] / rounds - share) < 5 * spread + 2 / rounds


def test_large_scores_do_not_overflow():
    rng = Random(1)
    decoder = make_system("attardi-all").exact()
    scores = score_table(5)
    for head in range(6):
        for word in range(1, 6):
            scores[head, word] = rng.choice([-3000, 2000, 5000])
    best = decoder.best(scores).value
    assert best <= decoder.log_partition(scores) < best + 20


def test_no_tree_has_no_sample_and_no_marginals():
    decoder = make_system("attardi").exact()
    scores = score_table(2)
    assert decoder.log_partition(scores) == -inf
    assert not decoder.sample(scores, Random(1)).found
    assert decoder.marginals(scores).tolist() == [[0.0] * 3] * 3


def test_the_same_seed_draws_the_same():
    decoder = make_system("attardi-all").exact()
    scores = random_scores(Random(2), 5, "real")
    assert decoder.sample(scores, Random(4)) == decoder.sample(scores, Random(4))


def test_lite_says_that_it_has_no_sums():
    with pytest.raises(ConfigError, match="lite"):
        make_system("attardi-alls0s1").exact(lite=True).log_partition(score_table(2, 0.0))
