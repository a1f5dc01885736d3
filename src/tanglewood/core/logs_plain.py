"""What logs.h does, in Python: e^x and logarithms that are the same numbers on every machine.

They are within 3 units in the last place of the true values.
"""

from __future__ import annotations

from math import frexp, inf, ldexp, nan

LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2
SHIFT = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number


def exp(x: float) -> float:
    """Return e^x; 0 from -745.13 down, infinity from 709.78 up."""
    x = float(x)  # not one of NumPy's, which may have fewer digits
    if not x <= 709.78:
        return x if x != x else inf  # noqa: PLR0124 - not a number
    if x < -745.13:
        return 0.0
    n = (x * 1.44269504088896338700 + SHIFT) - SHIFT
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    a = (1 / 2.0 + r * (1 / 6.0)) + r2 * (1 / 24.0 + r * (1 / 120.0))
    b = (1 / 720.0 + r * (1 / 5040.0)) + r2 * (1 / 40320.0 + r * (1 / 362880.0))
    c = (1 / 3628800.0 + r * (1 / 39916800.0)) + r2 * (1 / 479001600.0 + r * (1 / 6227020800.0))
    return ldexp(1 + (r + r2 * (a + r4 * (b + r4 * c))), int(n))


def _log_series(s: float) -> float:
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    a = (1 / 3.0 + z * (1 / 5.0)) + z2 * (1 / 7.0 + z * (1 / 9.0))
    b = (1 / 11.0 + z * (1 / 13.0)) + z2 * (1 / 15.0 + z * (1 / 17.0))
    c = (1 / 19.0 + z * (1 / 21.0)) + z2 * (1 / 23.0)
    return z * (a + z4 * (b + z4 * c))


def log(x: float) -> float:
    """Return the natural logarithm; that of 0 is minus infinity."""
    if not x > 0:
        return -inf if x == 0 else nan
    if x == inf:
        return x
    m, n = frexp(x)
    if m < 0.70710678118654757:
        m, n = m + m, n - 1
    s = (m - 1) / (m + 1)
    twice = s + s
    return n * LN2_HIGH + (twice + (twice * _log_series(s) + n * LN2_LOW))


def log1p(x: float) -> float:
    """Return log(1 + x) for x >= 0."""
    if not x < 0.4:
        return log(1 + x)
    s = x / (2 + x)
    twice = s + s
    return twice + twice * _log_series(s)
