"""The O(n^4) chart of systems without s2 against the O(n^6) chart and against all transition sequences."""

from itertools import product
from math import inf, isclose
from random import Random

import pytest
from test_chart import check, random_scores

from brute_derivations import by_arc, derivations, graph, replay
from exhaustive import COMPILED, trees, with_any_and_single_root
from tanglewood.decoders.base import score_table
from tanglewood.decoders.chart import ChartS0S1
from tanglewood.decoders.chart_leftward import ChartLeftward
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.decoders.exact import ExactDecoder, derivation
from tanglewood.decoders.maxplus import instructions, limit_instructions
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError
from tanglewood.experiments.shi2018 import LEFTWARD
from tanglewood.systems import make_system

INVENTORIES = [  # all that have s1>s0, without which there is no tree, and nothing of s2
    ",".join(["s1>s0", *(reduce for reduce, chosen in zip(("s0>s1", "b0>s0", "b0>s1"), choice, strict=True) if chosen)])
    for choice in product((False, True), repeat=3)
]
over_inventories = pytest.mark.parametrize("reduces", INVENTORIES)


def leftward(reduces=LEFTWARD, single_root=False):
    return make_system("attardi", reduces=reduces, single_root=single_root)


def other_chart(system):
    """The decoder with the O(n^6) chart."""
    return ExactDecoder(system.inventory, single_root=system.single_root, chart=ChartS0S1)


def tables_of(n, values):
    """All tables of scores with these values."""
    arcs = [(head, word) for head in range(n + 1) for word in range(1, n + 1) if head != word]
    for chosen in product(values, repeat=len(arcs)):
        scores = score_table(n)
        for arc, score in zip(arcs, chosen, strict=True):
            scores[arc] = score
        yield scores


def test_it_is_chosen_for_systems_that_know_nothing_of_s2():
    for system in (leftward(), make_system("attardi", degree=1), make_system("attardi-alls0s1", degree=1)):
        assert system.exact().make_chart is ChartLeftward
    for name, chart in (("attardi-alls0s1", ChartS0S1), ("attardi", ChartS2), ("attardi-all", ChartS2)):
        assert make_system(name).exact().make_chart is chart
    assert leftward("s1>s0,s2>s0").exact().make_chart is ChartS0S1
    with pytest.raises(ConfigError, match="s0, s1 and b0 only"):
        ChartLeftward(make_system("attardi-alls0s1").inventory, False)


@over_inventories
@with_any_and_single_root
def test_all_tables_of_few_words_and_scores_are_decoded_as_by_brute_force_and_by_the_other_chart(reduces, single_root):
    system = leftward(reduces, single_root)
    decoder, other = system.exact(), other_chart(system)
    options = (("reduces", reduces),)
    for n, values in ((1, (-inf, 0, 1, 2)), (2, (-inf, 0, 1)), (3, (0, 1))):
        for place, scores in enumerate(tables_of(n, values)):
            if COMPILED or n < 3 or place % 8 == 0:
                decoded = check(system, decoder, scores, options)
                assert decoded.value == other.best(scores).value


@over_inventories
@with_any_and_single_root
def test_random_tables_are_decoded_as_by_brute_force_and_by_the_other_chart(reduces, single_root):
    rng = Random(f"{reduces} {single_root}")
    system = leftward(reduces, single_root)
    decoder, other = system.exact(), other_chart(system)
    for _ in range(250 if COMPILED else 8):
        scores = random_scores(rng, rng.randint(0, 6 if COMPILED else 5))
        decoded = check(system, decoder, scores, (("reduces", reduces),))
        assert isclose(decoded.value, other.best(scores).value, rel_tol=1e-5, abs_tol=1e-4)


@pytest.mark.skipif(not COMPILED, reason="long sentences")
@over_inventories
@with_any_and_single_root
def test_long_sentences_are_decoded_as_by_the_other_chart(reduces, single_root):
    """Lengths around whole vectors; whole scores, so that both charts compute exactly."""
    rng = Random(f"{reduces} {single_root}")
    system = leftward(reduces, single_root)
    decoder, other = system.exact(), other_chart(system)
    for n in (14, 15, 16, 17, 18, 31, 32, 33, 34, 47):
        scores = random_scores(rng, n, "whole")
        decoded = decoder.best(scores)
        assert replay(system, n, decoded.moves) == list(decoded.heads)
        assert tree_value(scores, decoded.heads) == decoded.value == other.best(scores).value


@over_inventories
def test_the_trees_it_can_reach_are_those_of_all_transition_sequences(reduces):
    system = leftward(reduces)
    decoder = system.exact()
    for n in range(1, 6 if COMPILED else 4):
        edges = graph("attardi", n, False, (("reduces", reduces),))
        derived = set()
        for moves in derivations(edges):
            arcs = {edge.dependent: edge.head for edge in moves if edge.dependent > 0}
            derived.add(tuple(arcs[word] for word in range(1, n + 1)))
        for heads in trees(n, False):
            scores = score_table(n, 0.0)
            for word, head in enumerate(heads, 1):
                scores[head, word] = 1.0
            assert (decoder.best(scores).value == n) == (heads in derived)


def test_rightward_arcs_may_be_non_projective_too():
    """The system is said to handle leftward non-projective arcs only; in the tree 4 4 1 0 it is 1 -> 3 that is."""
    heads = [-1, 4, 4, 1, 0]
    assert derivation(leftward(), heads) is not None
    scores = score_table(4, 0.0)
    for word in range(1, 5):
        scores[heads[word], word] = 1.0
    assert list(leftward().exact().best(scores).heads) == heads


@pytest.mark.skipif(not COMPILED, reason="long sentences")
@pytest.mark.parametrize("level", ["portable", "avx2"])
def test_all_vector_instructions_compute_the_same(level):
    rng = Random(level)
    before = instructions()
    for n in (1, 7, 17, 40):
        scores = random_scores(rng, n, "real")
        expected = leftward().exact().best(scores)
        limit_instructions(level)
        assert leftward().exact().best(scores) == expected
        limit_instructions(before)


def test_a_chart_is_reused_for_sentences_of_any_length_in_any_order():
    rng = Random(5)
    decoder = leftward().exact()
    for n in (3, 0, 4, 1, 4, 2):
        scores = random_scores(rng, n)
        assert decoder.best(scores) == leftward().exact().best(scores)


def test_sums_and_scores_of_transitions_are_those_of_the_general_chart():
    """They are over derivations and have loops of their own: the best derivation of all has the chart's value."""
    rng = Random(9)
    for _ in range(20):
        scores = random_scores(rng, 4, "whole")
        edges = graph("attardi", 4, False, (("reduces", LEFTWARD),))
        values = [sum(map(by_arc(scores.tolist()), moves)) for moves in derivations(edges)]
        assert leftward().exact().best(scores).value == max(values)
        assert leftward().exact().log_partition(scores) >= max(values)


def test_memory_is_cubic():
    decoder = leftward().exact()
    assert 2**2.7 < decoder.memory(800) / decoder.memory(400) < 2**3.1
    if COMPILED:
        assert decoder.memory(100) < 3e6
