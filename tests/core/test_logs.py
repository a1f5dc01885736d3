"""Exponentials and logarithms are those of Python but for the last bits, and the same on every machine."""

import math
from hashlib import sha256
from itertools import chain
from random import Random
from struct import pack

import pytest

from tanglewood.core import logs_plain
from tanglewood.decoders.base import score_table
from tanglewood.decoders.eisner import Eisner
from tanglewood.decoders.matrix_tree import MatrixTree
from tanglewood.decoders.spanning import SpanningTree

MOST_ULPS = 3


def ulps(found, wanted):
    return abs(found - wanted) / math.ulp(wanted)


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-30, 0), (-745, 709)])
def test_exponentials_are_right_but_for_the_last_bits(low, high):
    rng = Random(low)
    for x in [low, high, *(rng.uniform(low, high) for _ in range(5000))]:
        assert ulps(logs_plain.exp(x), math.exp(x)) <= MOST_ULPS, x


def test_logarithms_are_right_but_for_the_last_bits():
    rng = Random(2)
    near = (rng.uniform(0.5, 2) for _ in range(5000))
    any_size = (math.ldexp(rng.uniform(0.5, 1), rng.randint(-1070, 1024)) for _ in range(5000))
    for x in chain(near, any_size, [1 - 2**-53, 1 + 2**-52, 5e-324, 1.7e308]):
        assert ulps(logs_plain.log(x), math.log(x)) <= MOST_ULPS, x
    for x in chain((rng.random() ** 8 for _ in range(5000)), [1.0, 0.4, 1e-300]):
        assert ulps(logs_plain.log1p(x), math.log1p(x)) <= MOST_ULPS, x


def test_the_ends_of_the_range():
    assert [logs_plain.exp(x) for x in (0.0, -0.0, -800.0, -math.inf, 800.0, math.inf)] == [
        1,
        1,
        0,
        0,
        math.inf,
        math.inf,
    ]
    assert [logs_plain.log(x) for x in (1.0, 0.0, math.inf)] == [0, -math.inf, math.inf]
    assert logs_plain.log1p(0.0) == 0
    assert all(math.isnan(x) for x in (logs_plain.exp(math.nan), logs_plain.log(-1.0), logs_plain.log(math.nan)))


def test_they_are_the_same_bits_everywhere():
    rng = Random(3)
    numbers = [rng.uniform(-40, 40) for _ in range(3000)]
    found = [logs_plain.exp(x) for x in numbers] + [logs_plain.log(abs(x)) for x in numbers]
    digest = sha256(pack(f"<{len(found)}d", *found)).hexdigest()
    assert digest == "ab35257cc32ffc5400559d2510c6bf3c6c3922c7352ea9e3c01ddb75dbf1d015"


def in_logs(scores):
    sums = MatrixTree(scores, single_root=False)
    return sums.log_partition(), sums.marginals()


def in_doubles(scores):
    decoder = SpanningTree()
    return decoder.log_partition(scores), decoder.marginals(scores)


def projective(scores):
    decoder = Eisner()
    return decoder.log_partition(scores), decoder.marginals(scores)


@pytest.mark.parametrize(
    ("ways", "digest"),
    [
        ((projective, in_logs), "6cba08a59d29725bb76c0f648caf701a675d1fe929dcaa8303d60dd85e7b0d41"),
        ((in_doubles,), "85cda4b75aea88d1501e820eaa13e12ff334d5ee5c25928a9532ba4a74f79fa7"),
    ],
    ids=["logarithms", "doubles"],
)
def test_sums_over_trees_are_the_same_bits_everywhere(ways, digest):
    """Compiled, decoders take the exponentials and logarithms of logs.h, the twin of what is tested above."""
    rng = Random(4)
    found = []
    for n, size in [(1, 20), (2, 20), (5, 20), (9, 20), *[(2, 1), (2, 400), (3, 250)] * 20]:
        scores = score_table(n)
        for head in range(n + 1):
            for word in range(1, n + 1):
                scores[head, word] = rng.uniform(-size, size)
        for way in ways:
            total, marginals = way(scores)
            found += [total, *(marginals[h, w] for h in range(n + 1) for w in range(1, n + 1))]
    assert sha256(pack(f"<{len(found)}d", *found)).hexdigest() == digest
