/* e^x and logarithms of doubles made of additions, multiplications and divisions in a fixed order, so that they are the
   same numbers on every machine; those of C libraries differ in the last bit. logs_plain.py says the same in Python. */
#ifndef TANGLEWOOD_LOGS_H
#define TANGLEWOOD_LOGS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tanglewood/arithmetic.h"

#define LOGS TW_UNUSED static inline
#define LN2_HIGH 0.693147180369123816490 /* ln 2 in two parts; few whole numbers times the first are rounded */
#define LN2_LOW 1.90821492927058770002e-10

/* The series of e^r for |r| <= ln 2 / 2, in pairs of terms, so that the processor need not wait for each in turn. */
LOGS double tw_exp_series(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double a = (1 / 2.0 + r * (1 / 6.0)) + r2 * (1 / 24.0 + r * (1 / 120.0));
    double b = (1 / 720.0 + r * (1 / 5040.0)) + r2 * (1 / 40320.0 + r * (1 / 362880.0));
    double c = (1 / 3628800.0 + r * (1 / 39916800.0)) + r2 * (1 / 479001600.0 + r * (1 / 6227020800.0));
    return 1 + (r + r2 * (a + r4 * (b + r4 * c)));
}

#define SHIFT 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number */

/* e^x where 2^n may not be a normal number. */
TW_UNUSED TW_NOINLINE static double tw_exp_far(double x) {
    if (!(x <= 709.78)) return x != x ? x : INFINITY;
    if (x < -745.13) return 0;
    double n = (x * 1.44269504088896338700 + SHIFT) - SHIFT;
    return ldexp(tw_exp_series((x - n * LN2_HIGH) - n * LN2_LOW), (int)n);
}

/* e^x where it is not far: between -700 and 700. */
LOGS double tw_exp_near(double x) {
    double shifted = x * 1.44269504088896338700 + SHIFT;
    double n = shifted - SHIFT, scale;
    uint64_t bits;
    memcpy(&bits, &shifted, 8);
    bits = (bits + 1023) << 52; /* 2^n: the last bits of what was shifted are n */
    memcpy(&scale, &bits, 8);
    return tw_exp_series((x - n * LN2_HIGH) - n * LN2_LOW) * scale;
}

LOGS double tw_exp(double x) { return x > -700 && x < 700 ? tw_exp_near(x) : tw_exp_far(x); }

/* The series of the inverse hyperbolic tangent of s, less s, divided by s; for |s| < 0.172. */
LOGS double tw_log_series(double s) {
    double z = s * s, z2 = z * z, z4 = z2 * z2;
    double a = (1 / 3.0 + z * (1 / 5.0)) + z2 * (1 / 7.0 + z * (1 / 9.0));
    double b = (1 / 11.0 + z * (1 / 13.0)) + z2 * (1 / 15.0 + z * (1 / 17.0));
    double c = (1 / 19.0 + z * (1 / 21.0)) + z2 * (1 / 23.0);
    return z * (a + z4 * (b + z4 * c));
}

LOGS double tw_log(double x) {
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    int n = 0;
    if (x < 2.2250738585072014e-308) { /* denormal */
        x = x * 18014398509481984.0; /* 2^54 */
        n = -54;
    }
    uint64_t bits;
    double m;
    memcpy(&bits, &x, 8);
    n += (int)(bits >> 52) - 1022;
    bits = (bits & 0xfffffffffffff) | 0x3fe0000000000000; /* x is m * 2^n, 0.5 <= m < 1 */
    memcpy(&m, &bits, 8);
    if (m < 0.70710678118654757) {
        m = m + m;
        n = n - 1;
    }
    double s = (m - 1) / (m + 1);
    double twice = s + s;
    return n * LN2_HIGH + (twice + (twice * tw_log_series(s) + n * LN2_LOW));
}

/* log(1 + x) for x >= 0. */
LOGS double tw_log1p(double x) {
    if (!(x < 0.4)) return tw_log(1 + x);
    double s = x / (2 + x);
    double twice = s + s;
    return twice + twice * tw_log_series(s);
}
#endif
