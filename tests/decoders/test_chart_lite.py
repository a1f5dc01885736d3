"""The class of derivations that takes O(n^5) against the same rules written down without any factoring."""

from functools import cache
from itertools import product
from math import inf, isclose
from random import Random

import pytest
from test_chart import random_scores, treebank_trees

from brute_derivations import replay
from exhaustive import COMPILED, with_any_and_single_root
from tanglewood.decoders.base import score_table, words_in
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system


def lite_value(scores, single_root):
    """The best value by the rules of attardi-alls0s1, items split by whether h1 has a dependent; no U, U in rule s1."""
    n = words_in(scores)

    def score(head, modifier):
        return -inf if head > n or (head == 0 and single_root) else scores[head, modifier]

    @cache
    def item(used, h1, i, t, j):
        best = 0.0 if not used and i == t and j == t + 1 else -inf
        for h3, first, second in product(range(i, t + 1), (False, True), (False, True)):
            if h3 < t and first and second:
                continue
            for k in range(h3 + 1, (j - 1 if h3 == t else t) + 1):
                for h5 in range(k, j) if h3 == t else [t]:
                    reduced = h5 if h3 == t else h3
                    other = h3 if h3 == t else h5
                    heads = [other, j] if used == first else []
                    heads += [h1] if used else []
                    for head in heads:
                        if (arc := score(head, reduced)) > -inf:
                            best = max(best, item(first, h1, i, h3, k) + item(second, h3, k, h5, j) + arc)
        return best

    bottom = [-inf, 0.0] + [-inf] * n
    for j in range(2, n + 2):
        for k in range(1, j):
            for h5 in range(k, j):
                root = scores[0, h5] if not single_root or j == n + 1 else -inf
                inside = max(item(False, 0, k, h5, j), item(True, 0, k, h5, j))
                bottom[j] = max(bottom[j], bottom[k] + inside + max(root, score(j, h5)))
    return bottom[n + 1]


@with_any_and_single_root
def test_the_value_is_that_of_the_unfactored_rules(single_root):
    rng = Random(single_root)
    system = make_system("attardi-alls0s1", single_root=single_root)
    decoder = system.exact(lite=True)
    for _ in range(150 if COMPILED else 15):
        n = rng.randint(0, 6 if COMPILED else 4)
        scores = random_scores(rng, n)
        decoded = decoder.best(scores)
        best = lite_value(scores, single_root)
        if best == -inf:
            assert not decoded.found
            continue
        assert isclose(decoded.value, best, rel_tol=1e-5, abs_tol=1e-4)
        assert isclose(decoded.value, tree_value(scores, decoded.heads))
        assert replay(system, n, decoded.moves) == list(decoded.heads)


@pytest.mark.skipif(not COMPILED, reason="long sentences")
def test_it_never_beats_attardi_alls0s1_and_rarely_loses():
    rng = Random(3)
    system = make_system("attardi-alls0s1")
    equal = 0
    for n in [20] * 20 + [35] * 5:
        scores = random_scores(rng, n, "real")
        lite, full = system.exact(lite=True).best(scores), system.exact().best(scores)
        assert replay(system, n, lite.moves) == list(lite.heads)
        assert lite.value <= full.value + 1e-4
        equal += lite.value > full.value - 1e-4
    assert equal > 0


def test_other_inventories_are_refused():
    with pytest.raises(ConfigError, match="alls0s1"):
        make_system("attardi-all").exact(lite=True)


def test_it_covers_what_attardi_alls0s1_covers_but_for_a_few_trees(shared):
    lite, full = (make_system("attardi-alls0s1").exact(lite=lite) for lite in (True, False))
    covered = {True: 0, False: 0}
    for tree in treebank_trees(shared, *((30, 200) if COMPILED else (5, 10))):
        n = len(tree)
        scores = score_table(n, 0.0)
        for word in range(1, n + 1):
            scores[tree.heads[word], word] = 1.0
        reached = {True: lite.best(scores).value == n, False: full.best(scores).value == n}
        assert reached[True] <= reached[False]
        for which, value in reached.items():
            covered[which] += value
    assert 0.99 * covered[False] < covered[True] <= covered[False]
