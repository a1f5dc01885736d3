"""The four verdicts, by tables of all cases."""

from itertools import product

import pytest

from tanglewood.experiments import judging
from tanglewood.experiments.judging import (
    CONTRADICTED,
    FOUND,
    KINDS,
    NOT_FOUND,
    OPEN,
    WEAKLY,
    alike,
    any_of,
    better,
    gain,
    interval,
    more,
    no_loss,
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
    ("first", "second", "verdict"),
    [
        (60, 20, FOUND),
        (12, 10, WEAKLY),
        (10, 10, NOT_FOUND),
        (10, 12, NOT_FOUND),
        (20, 60, CONTRADICTED),
        (0, 6, CONTRADICTED),
        (0, 5, NOT_FOUND),
        (0, 0, NOT_FOUND),
    ],
)
def test_systems_are_judged_by_what_only_one_got_right(first, second, verdict):
    assert better(McNemar(first, second).as_dict()) == verdict


@pytest.mark.parametrize(
    ("first", "second", "items", "is_no_worse", "is_alike"),
    [
        (100, 100, 10_000, FOUND, FOUND),
        (100, 110, 10_000, FOUND, FOUND),
        (10, 12, 100, NOT_FOUND, NOT_FOUND),  # 2 points less, though the test is too weak to see it
        (10, 10, 100, WEAKLY, WEAKLY),  # nothing less, but nobody knows: the interval reaches far
        (0, 0, 10, WEAKLY, WEAKLY),
        (0, 0, 10_000, FOUND, FOUND),
        (20, 60, 10_000, NOT_FOUND, NOT_FOUND),  # significantly less, but within the margin
        (20, 60, 1_000, CONTRADICTED, CONTRADICTED),
        (60, 20, 10_000, FOUND, NOT_FOUND),
        (60, 20, 1_000, FOUND, CONTRADICTED),
        (0, 0, 0, OPEN, OPEN),
    ],
)
def test_no_loss_has_to_be_seen_within_the_margin(first, second, items, is_no_worse, is_alike):
    test = {**McNemar(first, second).as_dict(), "items": items}
    assert (no_worse(test), alike(test)) == (is_no_worse, is_alike)
    if items:
        assert gain(test)["estimate"] == pytest.approx(100 * (first - second) / items)


def test_scores_of_few_arcs_have_a_wider_margin():
    test = {**McNemar(40, 45).as_dict(), "items": 1000}
    assert (no_worse(test), no_worse(test, judging.MARGIN_OF_FEW)) == (WEAKLY, FOUND)


@pytest.mark.parametrize(
    ("loss", "most", "significant", "verdict"),
    [
        (-1, 0.9, False, FOUND),
        (0.5, 0.9, False, FOUND),
        (0.5, 1.0, False, WEAKLY),
        (1.0, 3.0, False, NOT_FOUND),
        (0.5, 0.9, True, NOT_FOUND),
        (0.5, 1.1, True, CONTRADICTED),
        (2.0, 3.0, True, CONTRADICTED),
        (-2.0, -1.0, True, FOUND),
    ],
)
def test_a_loss_is_judged_by_its_size_and_its_significance(loss, most, significant, verdict):
    assert no_loss(loss, most, 1.0, significant=significant) == verdict


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
    assert interval({"estimate": 2}, 1, "%") == "2.0%"


def test_what_should_not_be_above_0_has_to_stay_below_the_margin():
    for low, high, verdict in (
        (-2, -1, FOUND),
        (-1, 1, FOUND),
        (-1, 11, WEAKLY),
        (-1, 30, NOT_FOUND),
        (0.1, 1, NOT_FOUND),
        (0.1, 11, CONTRADICTED),
    ):
        assert no_more({"low": low, "estimate": (low + high) / 2, "high": high}, 10) == verdict
    assert no_more(None, 10) == OPEN


def test_parts_hold_together_only_if_all_do():
    for pair in product(KINDS, repeat=2):
        assert KINDS.index(together(pair)) == max(map(KINDS.index, pair))
        assert KINDS.index(any_of(pair)) == min(map(KINDS.index, pair))
    assert (any_of([OPEN, NOT_FOUND]), any_of([OPEN]), any_of([])) == (NOT_FOUND, OPEN, OPEN)
    assert together([FOUND, OPEN, CONTRADICTED]) == OPEN
    assert together([]) == OPEN


def test_what_has_nothing_to_do_with_chance_holds_or_not():
    assert [true(holds) for holds in (True, False, None)] == [FOUND, CONTRADICTED, OPEN]
