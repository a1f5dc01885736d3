"""The four verdicts, by tables of all cases."""

from itertools import product

import pytest

from tanglewood.experiments.judging import (
    CONTRADICTED,
    FOUND,
    KINDS,
    NOT_FOUND,
    OPEN,
    WEAKLY,
    any_of,
    better,
    counted,
    interval,
    more,
    no_more,
    no_worse,
    sized,
    together,
    true,
)
from tanglewood.measure.significance import McNemar


@pytest.mark.parametrize(
    ("difference", "significant", "verdict"),
    [
        (1, True, FOUND),
        (1, False, WEAKLY),
        (0, False, NOT_FOUND),
        (0, True, NOT_FOUND),
        (-1, False, NOT_FOUND),
        (-1, True, CONTRADICTED),
    ],
)
def test_a_difference_needs_the_sign_and_the_test(difference, significant, verdict):
    assert more(difference, significant) == verdict


@pytest.mark.parametrize(
    ("first", "second", "is_better", "is_no_worse"),
    [
        (60, 20, FOUND, FOUND),
        (12, 10, WEAKLY, FOUND),
        (10, 10, NOT_FOUND, FOUND),
        (10, 12, NOT_FOUND, FOUND),
        (20, 60, CONTRADICTED, CONTRADICTED),
        (0, 6, CONTRADICTED, CONTRADICTED),
        (0, 5, NOT_FOUND, FOUND),
        (0, 0, NOT_FOUND, FOUND),
    ],
)
def test_systems_are_judged_by_what_only_one_got_right(first, second, is_better, is_no_worse):
    test = McNemar(first, second).as_dict()
    assert (better(test), no_worse(test)) == (is_better, is_no_worse)


@pytest.mark.parametrize(
    ("low", "estimate", "high", "verdict"),
    [
        (41, 50, 59, FOUND),
        (39, 50, 59, WEAKLY),
        (41, 50, 61, WEAKLY),
        (30, 39, 41, NOT_FOUND),
        (30, 35, 39, CONTRADICTED),
        (61, 65, 70, CONTRADICTED),
        (40, 40, 40, NOT_FOUND),
        (59, 65, 70, NOT_FOUND),
    ],
)
def test_a_size_is_judged_by_its_interval(low, estimate, high, verdict):
    assert sized({"low": low, "estimate": estimate, "high": high}, 40, 60) == verdict


def test_a_size_may_be_open_at_one_end_and_unknown():
    measured = {"low": 1, "estimate": 2, "high": 3}
    assert (sized(measured, 0), sized(measured, 4), sized(measured, most=4)) == (FOUND, CONTRADICTED, FOUND)
    assert sized(None, 0) == OPEN
    assert interval(None) == "-"
    assert interval(measured, 1, "%") == "2.0% [1.0, 3.0]"


def test_what_should_not_be_above_may_be_below_or_unclear():
    for low, high, verdict in ((-2, -1, FOUND), (-1, 1, FOUND), (0, 1, FOUND), (0.1, 1, CONTRADICTED)):
        assert no_more({"low": low, "estimate": (low + high) / 2, "high": high}, 0) == verdict
    assert no_more(None, 0) == OPEN


def test_parts_hold_together_only_if_all_do():
    for pair in product(KINDS, repeat=2):
        assert KINDS.index(together(pair)) == max(map(KINDS.index, pair))
        assert KINDS.index(any_of(pair)) == min(map(KINDS.index, pair))
    assert (any_of([OPEN, NOT_FOUND]), any_of([OPEN]), any_of([])) == (NOT_FOUND, OPEN, OPEN)
    assert together([FOUND, OPEN, CONTRADICTED]) == OPEN
    assert together([]) == OPEN


def test_what_has_nothing_to_do_with_chance_holds_or_not():
    assert [true(holds) for holds in (True, False, None)] == [FOUND, CONTRADICTED, OPEN]


def test_totals_count_each_kind():
    assert counted([FOUND, CONTRADICTED, OPEN, FOUND]) == "found: 2; contradicted: 1"
    assert counted([OPEN]) == OPEN
