"""Exact search with scores of transitions beyond those of arcs against the best of all transition sequences."""

from math import inf, isclose
from random import Random

import pytest
from test_chart import over_family, random_scores

from brute_derivations import best_value, graph, log_sums, replay
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.base import score_table
from tanglewood.decoders.chart_sum import TransitionScores
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system


def random_transitions(rng, system, edges, n):
    """Scores of all moves of the graph, and the score of an edge beside that of its arc."""
    transitions = TransitionScores(n)
    scores = {}
    for moves in edges:
        for edge in moves:
            s2, s1, s0, b0 = edge.view
            b0 = n + 1 if b0 < 0 else b0
            if edge.move == 0 and s0 >= 0:
                if (0, s1, s0, b0) not in scores:
                    scores[0, s1, s0, b0] = rng.gauss(0, 2)
                    transitions.set_shift((s1, s0, b0), scores[0, s1, s0, b0])
            elif edge.move > 0 and system.inventory[edge.move - 1][1] < 2 and (edge.move, *edge.view) not in scores:
                scores[edge.move, *edge.view] = rng.gauss(0, 2)
                transitions.set_reduce(
                    *system.inventory[edge.move - 1], (s2, s1, s0, b0), scores[edge.move, *edge.view]
                )

    def score(edge):
        _, s1, s0, b0 = edge.view
        if edge.move == 0:
            return scores.get((0, s1, s0, n + 1 if b0 < 0 else b0), 0.0)
        return scores.get((edge.move, *edge.view), 0.0)

    return transitions, score


@over_family
@with_any_and_single_root
def test_the_best_derivation_and_the_sum_are_those_of_all_transition_sequences(name, single_root):
    rng = Random(name)
    system = make_system(name, single_root=single_root)
    decoder = system.exact()
    for n in [*range(6 if COMPILED else 5), 3, 4, 4] * (8 if COMPILED else 1):
        arcs = random_scores(rng, n, rng.choice(["real", "with holes"]))
        edges = graph(name, n, single_root)
        transitions, extra = random_transitions(rng, system, edges, n)

        def score(edge, arcs=arcs, extra=extra):
            return extra(edge) + (arcs[edge.head, edge.dependent] if edge.dependent > 0 else 0.0)

        best = best_value(edges, score)
        decoded = decoder.best_derivation(arcs, transitions)
        if best == -inf:
            assert not decoded.found
            continue
        assert isclose(decoded.value, best, abs_tol=1e-6)
        assert replay(system, n, decoded.moves) == list(decoded.heads)
        number, value = len(edges) - 1, 0.0
        for move in decoded.moves:
            edge = next(edge for edge in edges[number] if edge.move == move)
            value += score(edge)
            number = edge.target
        assert isclose(value, best, abs_tol=1e-6)
        assert isclose(decoder.log_partition(arcs, transitions), log_sums(edges, score)[-1], abs_tol=1e-6)
        marginals = decoder.marginals(arcs, transitions)
        for word in range(1, n + 1):
            assert isclose(sum(marginals[head, word] for head in range(n + 1)), 1, abs_tol=1e-9)
        assert len(decoder.sample(arcs, rng, transitions).moves) == 2 * n + 1


def test_without_scores_of_transitions_the_best_derivation_is_that_of_the_best_tree():
    rng = Random(2)
    for name in ("attardi-all", "attardi-alls0s1"):
        decoder = make_system(name).exact()
        for n in (0, 3, 5):
            arcs = random_scores(rng, n, "whole")
            assert decoder.best_derivation(arcs, TransitionScores(n)).value == decoder.best(arcs).value


def test_reduces_of_s2_cannot_be_scored_by_all_nodes():
    with pytest.raises(ConfigError, match="s0 and s1"):
        TransitionScores(4).set_reduce(0, 2, (1, 2, 3, 4), 1.0)


def test_transitions_must_be_scored_for_the_same_number_of_words():
    with pytest.raises(ConfigError, match="words"):
        make_system("attardi").exact().best_derivation(score_table(3, 0.0), TransitionScores(2))
