"""How transitions grow with length: fits against numpy's, on data whose answer is known."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tanglewood.measure.running_time import (
    fit_exponent,
    fit_quadratic,
    fit_slope,
    fit_through_origin,
    slope_difference,
    variance_difference,
)


@pytest.fixture
def noisy():
    rng = random.Random(3)
    lengths = [rng.randrange(1, 60) for _ in range(400)]
    return lengths, [2 * n + 2 * rng.randrange(0, n) for n in lengths]


@pytest.mark.parametrize(("power", "exponent"), [(1, 1.0), (2, 2.0)])
def test_a_pure_power_has_its_exponent_and_no_width(power, exponent):
    lengths = list(range(1, 50))
    found = fit_exponent(lengths, [3 * n**power for n in lengths])
    for value in (found.low, found.estimate, found.high):
        assert value == pytest.approx(exponent, abs=1e-6)


@pytest.mark.parametrize("quadratic", [0, 1, 5])
def test_a_pure_quadratic_has_its_term_and_no_width(quadratic):
    lengths = list(range(1, 50))
    found = fit_quadratic(lengths, [2 * n + quadratic * n * n for n in lengths])
    for value in (found.low, found.estimate, found.high):
        assert value == pytest.approx(quadratic, abs=1e-9)


def test_fits_are_those_of_least_squares(noisy):
    lengths, moves = noisy
    n, m = np.array(lengths, float), np.array(moves, float)
    assert fit_exponent(lengths, moves).estimate == pytest.approx(np.polyfit(np.log(n), np.log(m), 1)[0], abs=1e-6)
    (_, quadratic), *_ = np.linalg.lstsq(np.stack([n, n * n], axis=1), m, rcond=None)
    assert fit_quadratic(lengths, moves).estimate == pytest.approx(quadratic, abs=1e-9)


def test_intervals_are_near_the_closed_form_of_a_regression(noisy):
    lengths, _ = noisy
    rng = np.random.default_rng(5)
    n = np.array(lengths, float)
    moves = np.rint(1000 * n * np.exp(rng.normal(0, 0.1, len(n)))).astype(int).tolist()
    found = fit_exponent(lengths, moves)
    x = np.log(n)
    width = 2 * 1.96 * 0.1 / np.sqrt(((x - x.mean()) ** 2).sum())
    assert found.low < 1 < found.high
    assert found.high - found.low == pytest.approx(width, rel=0.25)


def test_the_difference_of_slopes_is_that_of_two_fits(noisy):
    lengths, moves = noisy
    fewer = [2 * n for n in lengths]
    found = slope_difference(lengths, fewer, moves)
    expected = fit_through_origin(lengths, fewer)[0] - fit_through_origin(lengths, moves)[0]
    assert found.estimate == pytest.approx(expected)
    assert found.low < expected < found.high < 0


def test_one_length_has_no_growth():
    assert fit_exponent([4, 4], [8, 10]) is None
    assert fit_quadratic([4, 4], [8, 10]) is None
    assert fit_exponent([], []) is None
    assert slope_difference([], [], []) is None
    assert fit_exponent([0, 1, 2], [0, 2, 4]).estimate == pytest.approx(1)


def test_a_slope_with_its_interval_is_that_of_the_line(noisy):
    lengths, moves = noisy
    found = fit_slope(lengths, moves)
    assert found.estimate == pytest.approx(fit_through_origin(lengths, moves)[0], abs=1e-9)
    assert found.low < found.estimate < found.high
    assert fit_slope([], []) is None


def test_the_difference_of_variances_is_that_of_the_distances_from_two_lines(noisy):
    lengths, moves = noisy
    calmer = [2 * n + 2 * (n // 5) for n in lengths]

    def variance(found):
        slope, _ = fit_through_origin(lengths, found)
        return sum((m - slope * n) ** 2 for n, m in zip(lengths, found, strict=True)) / len(lengths)

    found = variance_difference(lengths, calmer, moves)
    assert found.estimate == pytest.approx(variance(calmer) - variance(moves), rel=1e-9)
    assert found.high < 0
    assert variance_difference(lengths, moves, moves).estimate == 0
    assert variance_difference([], [], []) is None
