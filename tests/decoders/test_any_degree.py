"""The deduction system for any degree that docs/exact.md derives, unfactored, against all transition sequences.

With s0..sD on view, an item is [g, i, y, t, j]: from a stack that ends in the D - 1 nodes g, with i in front of the
buffer, to one that ends in the D - 1 nodes y and t in their place, with j in front. Where the stack is not that deep,
the nodes below 0 are EMPTY.
"""

from collections import defaultdict
from itertools import combinations
from math import comb, inf, isclose
from random import Random

import pytest
from test_chart import random_scores

from brute_derivations import best_value, by_arc, graph
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.base import words_in
from tanglewood.systems import make_system

EMPTY = -1


def contexts(size, end):
    """All ends of that size that a stack of nodes before ``end`` can have: they begin with EMPTY or are words or 0."""
    for filled in range(size + 1):
        for nodes in combinations(range(end), filled):
            if filled == size or (nodes[:1] == (0,)) or (end == 0 and not nodes):
                yield (*[EMPTY] * (size - filled), *nodes)


def deduce(system, degree, scores):
    """The values of all items, and how many pairs of premises there are."""
    n = words_in(scores)
    items = defaultdict(lambda: -inf)
    ending = defaultdict(list)  # first premises by (the last D nodes, k)
    joins = 0
    for j in range(1, n + 2):
        seconds = []  # items that end at j, those that begin last first
        for i in range(j - 1, -1, -1):
            found = {}
            if i == j - 1:
                found = {(g, i, g, i, j): 0.0 for g in contexts(degree - 1, i)}
            for context, k, z, top, _ in seconds:
                for first in ending[context, k, i]:
                    joins += 1
                    view = (first[2][0] if degree > 1 else first[3], *z, top)  # sD ... s0
                    inside = items[first] + items[context, k, z, top, j]
                    for head_place, place in system.inventory:
                        head = j if head_place < 0 else view[degree - head_place]
                        word = view[degree - place]
                        if head > n or head == EMPTY or word <= 0:
                            continue
                        if head == 0 and system.single_root and not (j == n + 1 and view[-2] == 0):
                            continue
                        rest = [*view[: degree - place], *view[degree - place + 1 :]]
                        item = (first[0], i, tuple(rest[:-1]), rest[-1], j)
                        found[item] = max(found.get(item, -inf), inside + scores[head, word])
            for item, value in found.items():
                items[item] = value
                seconds.append(item)
                ending[(*item[2][1:], item[3]) if degree > 1 else (), j, i].append(item)
    empty = (EMPTY,) * (degree - 1)
    return items[empty, 0, empty, 0, n + 1] if n else 0.0, items, joins


@pytest.mark.parametrize("name", ["attardi", "attardi-alldeg1", "attardi-all", "attardi-alls0s1"])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@with_any_and_single_root
def test_the_value_is_the_best_of_all_transition_sequences(name, degree, single_root):
    rng = Random(f"{name} {degree}")
    system = make_system(name, degree=degree, single_root=single_root)
    for _ in range(8 if COMPILED else 2):
        n = rng.randint(1, 5 if COMPILED else 4)
        scores = random_scores(rng, n, rng.choice(["whole", "with ties", "with holes"]))
        best = best_value(graph(name, n, single_root, (("degree", degree),)), by_arc(scores.tolist()))
        assert isclose(deduce(system, degree, scores)[0], best)


@pytest.mark.parametrize("degree", [2, 3])
def test_an_item_has_as_many_indices_as_the_page_says(degree):
    """As many as 2D + 1 where all of g has been reduced, and never more than 2D where sD is never reduced."""
    n = 6 if degree == 3 else 5
    scores = random_scores(Random(1), n, "whole")
    for name, most in (("attardi-all", 2 * degree + 1), ("attardi-alls0s1", 2 * degree)):
        _, items, _ = deduce(make_system(name, degree=degree), degree, scores)
        distinct = {len({*g, *y, EMPTY}) - 1 + 3 for g, _, y, _, _ in items}  # and i, t, j
        assert max(distinct) <= most
        assert all(y[0] == g[0] for g, _, y, _, _ in items) == (name == "attardi-alls0s1")
        # Nothing of g is left, or nothing but sD where that is never reduced: g < i <= y < t < j, and only sD may be 0.
        fixed = name == "attardi-alls0s1"
        largest = sum(not set(g[fixed:]) & set(y[fixed:]) and EMPTY not in g for g, _, y, _, _ in items)
        assert largest == comb(n + 2 + fixed, most)
