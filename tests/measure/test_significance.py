"""Whether systems differ: McNemar's test against binomial sums, bootstrap intervals against a plain loop."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from brute_trees import all_trees
from tanglewood import Sentence
from tanglewood.errors import ConfigError
from tanglewood.measure.scores import Scores, aligned, compare, evaluate
from tanglewood.measure.significance import (
    McNemar,
    Pairs,
    bootstrap,
    drawn_sums,
    measure,
    paired_difference,
    proportion,
)

CHAIN = [[0, 1, 2, 3]]


def sentence(heads, labels=None):
    rows = enumerate(zip(heads, labels or ["dep"] * len(heads), strict=True), 1)
    return Sentence.build([str(i), f"w{i}", "_", "_", "_", "_", str(h), x, "_", "_"] for i, (h, x) in rows)


def scores_of(gold, system):
    return evaluate(map(sentence, gold), map(sentence, system))


@pytest.mark.parametrize(
    ("only_first", "only_second", "chi_square", "p_value"),
    [
        (10, 20, 2.7, 0.100348),
        (121, 59, 61**2 / 180, 5.4504e-06),
        (25, 25, 0, 1),
        (20, 4, None, 0.00154388),
        (0, 6, None, 2 / 64),
        (5, 1, None, 14 / 64),
        (6, 6, None, 1),
        (0, 0, None, 1),
    ],
)
def test_mcnemar_of_known_counts(only_first, only_second, chi_square, p_value):
    for test in (McNemar(only_first, only_second), McNemar(only_second, only_first)):
        assert test.chi_square == (None if chi_square is None else pytest.approx(chi_square))
        assert test.p_value == pytest.approx(p_value, rel=1e-4)
        assert test.significant == (p_value < 0.05)


def brute_binomial(b, c):
    """The probability, with a fair coin, of a split of b + c at least as uneven: both tails, term by term."""
    n = b + c
    uneven = abs(b - c)
    return sum(Fraction(math.comb(n, k), 2**n) for k in range(n + 1) if abs(n - 2 * k) >= uneven)


def test_mcnemar_is_the_binomial_test_for_few_and_near_it_for_many():
    for b in range(80):
        for c in range(80):
            expected = float(brute_binomial(b, c))
            tolerance = 1e-12 if b + c < 25 else 0.02
            assert McNemar(b, c).p_value == pytest.approx(expected, abs=tolerance)


def test_pairs_count_what_only_one_system_got_right():
    golds = [sentence([0, 1, 1], ["r", "a", "b"]), sentence([0, 1])]
    first = [sentence([0, 1, 2], ["r", "a", "b"]), sentence([0, 1])]
    second = [sentence([0, 1, 1], ["r", "x", "x"]), sentence([0, 1])]
    third = [sentence([0, 1, 1], ["r", "a", "b"]), sentence([2, 0])]
    pairs = Pairs(3)
    for gold, outputs in aligned(golds, [first, second, third]):
        pairs.add([compare(gold, output) for output in outputs])
    tests = pairs.tests()
    assert list(tests) == [(0, 1), (0, 2), (1, 2)]
    assert tests[0, 1] == {"las": McNemar(1, 0), "uas": McNemar(0, 1), "exact_match": McNemar(0, 0)}
    assert tests[0, 2] == {"las": McNemar(2, 1), "uas": McNemar(2, 1), "exact_match": McNemar(1, 1)}


def test_pairs_by_crossing_count_only_arcs_that_are_so_in_gold():
    rng = random.Random(11)
    trees = list(all_trees(4))
    golds = [sentence(rng.choice(trees)) for _ in range(60)]
    systems = [
        [sentence(rng.choice([gold.heads()[1:], rng.choice(trees)]), rng.choices("ab", k=4)) for gold in golds]
        for _ in range(2)
    ]
    golds = [sentence(gold.heads()[1:], rng.choices("ab", k=4)) for gold in golds]
    pairs = Pairs(2, by_crossing=True)
    expected = {
        name: [0, 0] for name in ("projective_las", "nonprojective_las", "nonprojective_uas", "nonprojective_la")
    }
    for gold, outputs in aligned(golds, systems):
        pairs.add([compare(gold, output) for output in outputs])
        crossing = gold.tree.nonprojective_arcs()
        for word in range(1, 5):
            heads = [output.heads()[word] == gold.heads()[word] for output in outputs]
            labels = [output.deprels[word - 1] == gold.deprels[word - 1] for output in outputs]
            arcs = [head and label for head, label in zip(heads, labels, strict=True)]
            kinds = {"uas": heads, "la": labels, "las": arcs} if word in crossing else {"las": arcs}
            for name, (one, other) in kinds.items():
                row = expected[f"{'non' * (word in crossing)}projective_{name}"]
                row[0] += one and not other
                row[1] += other and not one
    tests = pairs.tests()[0, 1]
    assert {name: [tests[name].only_first, tests[name].only_second] for name in expected} == expected
    assert all(sum(row) > 5 for row in expected.values())
    both = [tests["projective_las"], tests["nonprojective_las"]]
    assert tests["las"] == McNemar(sum(t.only_first for t in both), sum(t.only_second for t in both))


@pytest.fixture
def some_scores():
    rng = random.Random(7)
    gold = [[0, *(rng.randrange(1, i + 1) for i in range(1, rng.randrange(2, 12)))] for _ in range(200)]
    system = [[0, *(h if rng.random() < 0.8 else rng.randrange(1, i + 2) for i, h in enumerate(g[1:]))] for g in gold]
    labels = [["dep" if rng.random() < 0.9 else "x" for _ in heads] for heads in system]
    return evaluate(map(sentence, gold), map(sentence, system, labels))


def test_bootstrap_is_repeatable_and_contains_the_estimate(some_scores):
    found = bootstrap(some_scores, samples=500, seed=3)
    assert found == bootstrap(some_scores, samples=500, seed=3)
    assert found != bootstrap(some_scores, samples=500, seed=4)
    assert found.las[0] < some_scores.las < found.las[1]
    assert found.uas[0] < some_scores.uas < found.uas[1]
    # The normal approximation for the mean of 0/1 words is not far off, as errors are independent here.
    share = some_scores.uas / 100
    width = 2 * 1.96 * 100 * math.sqrt(share * (1 - share) / some_scores.words)
    assert found.uas[1] - found.uas[0] == pytest.approx(width, rel=0.25)


def test_bootstrap_draws_what_a_plain_loop_draws(some_scores):
    flat = some_scores.per_sentence
    triples = list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
    rng = random.Random(5)
    las, uas = [], []
    for _ in range(100):
        words, heads, arcs = map(sum, zip(*rng.choices(triples, k=len(triples)), strict=True))
        uas.append(100 * heads / words)
        las.append(100 * arcs / words)
    found = bootstrap(some_scores, samples=100, seed=5)
    assert found.las == (sorted(las)[2], sorted(las)[97])
    assert found.uas == (sorted(uas)[2], sorted(uas)[97])


def test_bootstrap_of_one_sentence_or_none():
    assert bootstrap(scores_of(CHAIN, CHAIN), samples=3).las == (100, 100)
    with pytest.raises(ConfigError, match="no sentences"):
        bootstrap(Scores())
    with pytest.raises(ConfigError, match="at least 1"):
        bootstrap(scores_of(CHAIN, CHAIN), samples=0)


def test_sums_are_those_of_a_plain_loop_over_columns_of_any_size():
    rng = random.Random(2)
    rows = [(rng.randrange(3), rng.randrange(10**12), 0, rng.randrange(10**25)) for _ in range(50)]
    twin = random.Random(9)
    for sums in drawn_sums(rows, samples=20, seed=9):
        assert sums == [sum(column) for column in zip(*twin.choices(rows, k=50), strict=True)]


def test_the_interval_of_a_mean_is_the_closed_form():
    rng = random.Random(4)
    values = [rng.randrange(1000) for _ in range(2000)]
    found = measure([(1, value) for value in values], lambda sums: sums[1] / sums[0], samples=2000)
    mean = sum(values) / 2000
    error = 1.96 * math.sqrt(sum((value - mean) ** 2 for value in values) / 2000 / 2000)
    assert found.estimate == pytest.approx(mean)
    assert (found.low, found.high) == (pytest.approx(mean - error, abs=2), pytest.approx(mean + error, abs=2))


def test_pairing_removes_what_two_systems_share():
    rng = random.Random(6)
    hard = [rng.randrange(10**6) for _ in range(300)]
    rows = [(one, one + 10) for one in hard]
    difference = measure(rows, lambda sums: (sums[1] - sums[0]) / 300)
    assert (difference.low, difference.estimate, difference.high) == (10, 10, 10)
    alone = measure(rows, lambda sums: sums[1] / 300)
    assert alone.high - alone.low > 10_000


def test_what_is_not_defined_is_left_out():
    assert measure([], sum) is None
    assert measure([(1, 0)], lambda sums: None) is None
    found = measure([(0, 0), (1, 3)], lambda sums: sums[1] / sums[0] if sums[0] else None)
    assert (found.low, found.estimate, found.high) == (3, 3, 3)


@pytest.mark.parametrize(
    ("only_first", "only_second", "items"), [(30, 20, 1000), (0, 0, 66), (3, 9, 40), (0, 12, 5000)]
)
def test_intervals_of_paired_differences_hold_the_truth_about_95_times_in_100(only_first, only_second, items):
    """Systems are drawn that win with these shares; then the interval of what is seen holds the true difference."""
    rng = random.Random(1)
    true = 100 * (only_first - only_second) / items
    held = 0
    for _ in range(400):
        seen = [rng.random() * items for _ in range(items)]
        first = sum(value < only_first for value in seen)
        second = sum(only_first <= value < only_first + only_second for value in seen)
        found = paired_difference(first, second, items)
        assert found.estimate == pytest.approx(100 * (first - second) / items)
        held += found.low <= true <= found.high
    assert held >= 0.92 * 400


def test_a_paired_difference_of_little_is_wide_and_of_nothing_unknown():
    few, many = paired_difference(0, 0, 10), paired_difference(0, 0, 10_000)
    assert few.low < -5
    assert few.high > 5
    assert many.high - many.low < 0.1
    assert paired_difference(0, 0, 0) is None


def test_the_interval_of_a_share_is_wilsons():
    found = proportion(50.0, 100)  # the textbook's example: 40.4 to 59.6
    assert (found.low, found.high) == pytest.approx((40.38, 59.62), abs=0.01)
    assert proportion(100.0, 50).high == pytest.approx(100.0)
    assert proportion(100.0, 50).low < 95
    assert proportion(1.0, 0) is None
