/* The inner loops of elimination.py: rows of exponentials, and sums of rows, each times a factor. Every element of a sum
   is added up in the order of the rows, and products are rounded before they are added, so that all families of
   instructions give the same bits. */
#ifndef TANGLEWOOD_ELIMINATION_H
#define TANGLEWOOD_ELIMINATION_H

#include <stddef.h>

#include "tanglewood/arithmetic.h"
#include "tanglewood/core/logs.h"

/* out[j] += factors[k] * rows[k * stride + j] for j < size and every k < count; four rows at a time. */
#define ADD_ROWS(name, target) \
    target static void name(double *__restrict out, const double *__restrict factors, const double *__restrict rows, \
                            ptrdiff_t stride, ptrdiff_t count, ptrdiff_t size) { \
        ptrdiff_t k = 0; \
        for (; k + 4 <= count; k += 4) { \
            const double *a = rows + k * stride, *b = a + stride, *c = b + stride, *d = c + stride; \
            double fa = factors[k], fb = factors[k + 1], fc = factors[k + 2], fd = factors[k + 3]; \
            for (ptrdiff_t j = 0; j < size; j++) \
                out[j] = (((out[j] + fa * a[j]) + fb * b[j]) + fc * c[j]) + fd * d[j]; \
        } \
        for (; k < count; k++) { \
            const double *a = rows + k * stride; \
            double fa = factors[k]; \
            for (ptrdiff_t j = 0; j < size; j++) out[j] = out[j] + fa * a[j]; \
        } \
    }

/* out[j] = e^(scores[j] - tops[j]) for j < size; one branch for all of them, so that vectors can be used. */
#define EXP_ROW(name, target) \
    target static void name(double *__restrict out, const float *__restrict scores, const double *__restrict tops, \
                            ptrdiff_t size) { \
        int far = 0; \
        for (ptrdiff_t j = 0; j < size; j++) { \
            double x = scores[j] - tops[j]; \
            far |= !(x > -700); \
            out[j] = tw_exp_near(x); \
        } \
        if (far) \
            for (ptrdiff_t j = 0; j < size; j++) out[j] = tw_exp(scores[j] - tops[j]); \
    }

ADD_ROWS(add_rows_plain, )
EXP_ROW(exp_row_plain, )
#ifdef TW_X86
ADD_ROWS(add_rows_avx2, TW_TARGET_AVX2)
EXP_ROW(exp_row_avx2, TW_TARGET_AVX2)
#define CHOOSE_ROWS(f, level, ...) ((level) >= TW_AVX2 ? f##_avx2(__VA_ARGS__) : f##_plain(__VA_ARGS__))
#else
#define CHOOSE_ROWS(f, level, ...) f##_plain(__VA_ARGS__)
#endif

static inline void tw_add_rows(int level, double *out, const double *factors, const double *rows, ptrdiff_t stride,
                               ptrdiff_t count, ptrdiff_t size) {
    CHOOSE_ROWS(add_rows, level, out, factors, rows, stride, count, size);
}

static inline void tw_exp_row(int level, double *out, const float *scores, const double *tops, ptrdiff_t size) {
    CHOOSE_ROWS(exp_row, level, out, scores, tops, size);
}
#endif
