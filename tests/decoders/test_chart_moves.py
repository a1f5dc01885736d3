"""Exact search by scores of moves in their views against the best of all transition sequences."""

from math import inf, isclose
from random import Random

import numpy as np
import pytest

from brute_derivations import graph, replay
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.chart_moves import view_of
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system

LONGEST = 6 if COMPILED else 4
DRAWS = 250 if COMPILED else 20
over_systems = pytest.mark.parametrize("name", ["attardi-all", "attardi-alldeg1", "attardi-alls0s1"])


def random_moves(rng, decoder, n):
    return np.array([rng.gauss(0, 3) for _ in range(np.prod(decoder.shape(n)))], np.float32).reshape(decoder.shape(n))


def score_of(scores, system, edge, n):
    """The score of a move in its view, read off the stack that the brute force has seen."""
    s2, s1, s0, b0 = edge.view
    j = n + 1 if b0 < 0 else b0
    view = 0 if edge.move == 0 else view_of(*system.inventory[edge.move - 1])
    a, b = ((s1, s0), (s2, s0), (s2, s1))[view]
    return float(scores[edge.move, j * (j - 1) // 2 + b, a])


def brute_force(edges, score):
    """The value and the moves of the best derivation, forced moves being worth nothing but the cost of their arcs."""
    best = [(0.0, ())]
    for moves in edges[1:]:
        found = (-inf, ())
        for edge in moves:
            value, rest = best[edge.target]
            found = max(found, (value + score(edge, len(moves) == 1), (edge.move, *rest)))
        best.append(found)
    return best[-1]


@over_systems
@with_any_and_single_root
def test_value_and_derivation_are_the_best_of_all_transition_sequences(name, single_root):
    rng = Random(f"{name} {single_root}")
    system = make_system(name, single_root=single_root)
    decoder = system.exact_moves()
    for draw in range(DRAWS):
        n = draw % (LONGEST + 1)
        scores = random_moves(rng, decoder, n)
        value, moves = brute_force(
            graph(name, n, single_root),
            lambda edge, forced, scores=scores, n=n: 0.0 if forced else score_of(scores, system, edge, n),
        )
        found = decoder.best(scores)
        assert isclose(found.value, value, rel_tol=1e-5, abs_tol=1e-4)
        assert tuple(found.moves) == moves
        assert replay(system, n, found.moves) == list(found.heads)


@over_systems
def test_wrong_arcs_cost_something(name):
    rng = Random(name)
    system = make_system(name, single_root=True)
    decoder = system.exact_moves()
    differ = 0
    for draw in range(DRAWS):
        n = draw % LONGEST + 1
        scores = random_moves(rng, decoder, n)
        gold = [-1, *(rng.randint(0, n) for _ in range(n))]

        def score(edge, forced, scores=scores, gold=gold, n=n):
            wrong = edge.dependent > 0 and gold[edge.dependent] != edge.head
            return (0.0 if forced else score_of(scores, system, edge, n)) + 2.5 * wrong

        value, moves = brute_force(graph(name, n, True), score)
        found = decoder.best(scores, gold, 2.5)
        assert isclose(found.value, value, rel_tol=1e-5, abs_tol=1e-4)
        assert tuple(found.moves) == moves
        differ += moves != tuple(decoder.best(scores).moves)
    assert differ


def test_a_chart_forgets_the_sentence_before():
    rng = Random(1)
    decoder = make_system("attardi-all").exact_moves()
    tables = [random_moves(rng, decoder, n) for n in (5, 3, 5, 0, 4)]
    alone = [make_system("attardi-all").exact_moves().best(table) for table in tables]
    assert [decoder.best(table) for table in tables] == alone
    assert [decoder.best(table) for table in reversed(tables)] == alone[::-1]


def test_a_long_sentence_gets_the_tree_whose_arcs_alone_cost_nothing():
    """Wrong arcs cost 1, moves nothing: the best derivation is one of the right tree."""
    system = make_system("attardi-all", single_root=True)
    decoder = system.exact_moves()
    n = 25 if COMPILED else 6
    gold = [-1, *(0 if word == 3 else min(3, word + 1) if word < 3 else word - 1 for word in range(1, n + 1))]
    found = decoder.best(np.zeros(decoder.shape(n), np.float32), gold, -1.0)
    assert (found.value, list(found.heads)) == (0.0, gold)
    assert replay(system, n, found.moves) == gold


def test_what_is_not_a_table_of_moves_is_refused():
    decoder = make_system("attardi-alls0s1").exact_moves()
    table = np.zeros(decoder.shape(3), np.float32)
    for wrong in (table[0], table.astype(np.float64), table[:, :-1].copy(), table[:-1].copy(), table[:, :, ::-1]):
        with pytest.raises(ConfigError, match="float32 table of shape"):
            decoder.best(wrong)
    with pytest.raises(ConfigError, match="2 gold heads for 4 nodes"):
        decoder.best(table, [-1, 0], 1.0)
    for odd in (np.nan, np.inf, -np.inf):
        table[0, 5, 1] = odd
        with pytest.raises(ConfigError, match="finite"):
            decoder.best(table)


@pytest.mark.parametrize("options", [{"degree": 1}, {"degree": 3}])
def test_inventories_without_such_a_chart_are_refused(options):
    with pytest.raises(ConfigError, match="exact search"):
        make_system("attardi-alls0s1", **options).exact_moves()
