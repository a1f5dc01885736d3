/* Max-plus matrix products over one block of floats (`arena`); maxplus.py says what they compute, maxplus_tile.h how.
   `level` is a family of arithmetic.h. */
#ifndef TANGLEWOOD_MAXPLUS_H
#define TANGLEWOOD_MAXPLUS_H

#include <math.h>

#include "tanglewood/arithmetic.h"
#include "tanglewood/intrinsics.h"

#define MAX_TERMS 1024 /* of a product; charts are limited to fewer words */

#ifdef TW_X86
#define NAME(f) f##_avx512
#define TARGET TW_TARGET_AVX512
#define VEC __m512
#define WIDTH 16
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define ADD(a, b) _mm512_add_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define SPREAD(x) _mm512_set1_ps(x)
#define COLUMNS 8
#include "maxplus_tile.h"

#define NAME(f) f##_avx2
#define TARGET TW_TARGET_AVX2
#define VEC __m256
#define WIDTH 8
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define SPREAD(x) _mm256_set1_ps(x)
#define COLUMNS 5
#include "maxplus_tile.h"

#define TARGET
#define VEC __m128
#define WIDTH 4
#define LOAD(p) _mm_loadu_ps(p)
#define STORE(p, v) _mm_storeu_ps(p, v)
#define ADD(a, b) _mm_add_ps(a, b)
#define MAX(a, b) _mm_max_ps(a, b)
#define SPREAD(x) _mm_set1_ps(x)
#define COLUMNS 5

#elif defined(TW_ARM)

#define TARGET
#define VEC float32x4_t
#define WIDTH 4
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define ADD(a, b) vaddq_f32(a, b)
#define MAX(a, b) vmaxq_f32(a, b)
#define SPREAD(x) vdupq_n_f32(x)
#define COLUMNS 8

#else

#define TARGET
#define VEC float
#define WIDTH 1
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define ADD(a, b) ((a) + (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SPREAD(x) ((float)(x))
#define COLUMNS 4

#endif

#define NAME(f) f##_plain
#include "maxplus_tile.h"

#ifdef TW_X86
#define CHOOSE(f, level, ...) \
    ((level) >= TW_AVX512 ? f##_avx512(__VA_ARGS__) \
                          : (level) >= TW_AVX2 ? f##_avx2(__VA_ARGS__) : f##_plain(__VA_ARGS__))
#else
#define CHOOSE(f, level, ...) f##_plain(__VA_ARGS__)
#endif

static void tw_product(int level, float *arena, const int *a, const int *out, int y, int term_stride, int column_stride,
                       int columns, int begin, int end, int first, int step, int row_score, int column_score) {
    CHOOSE(product, level, arena, a, out, y, term_stride, column_stride, columns, begin, end, first, step, row_score,
           column_score);
}

static void tw_row_product(int level, float *arena, const int *a, const int *out, int w, int term_stride,
                           int column_stride, int columns, int first, int step, int last) {
    CHOOSE(row_product, level, arena, a, out, w, term_stride, column_stride, columns, first, step, last);
}

static void tw_maximum(int level, float *arena, int out, int one, int other, int rows) {
    CHOOSE(maximum, level, arena, out, one, other, rows);
}

static void tw_lift(int level, float *arena, const int *a, const int *out, int other, int y, int columns, int first,
                    int step) {
    CHOOSE(lift, level, arena, a, out, other, y, columns, first, step);
}

static void tw_outer(int level, float *arena, int out, int v, int w, int last) {
    CHOOSE(outer, level, arena, out, v, w, last);
}

static double tw_peak(int level, int rounds) { return CHOOSE(peak, level, rounds); }

#endif
