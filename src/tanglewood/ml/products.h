/* Products of rows of floats with one matrix, in 8-bit integers: twice as fast as in floats where the machine has
   AVX-512 VNNI; elsewhere a matrix library does better. products.py describes the layout. */
#ifndef TANGLEWOOD_PRODUCTS_H
#define TANGLEWOOD_PRODUCTS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LARGEST 127
#define OFFSET 128 /* the instruction wants one side unsigned */
#define TILE_ROWS 6
#define TILE_VECTORS 4

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

__attribute__((unused)) static int tw_has_products(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}

/* Round a row to integers; returns what one of them stands for. */
VNNI static float round_row(const float *row, uint8_t *rounded, int size) {
    float largest = 0;
    for (int i = 0; i < size; i++) {
        float absolute = fabsf(row[i]);
        largest = absolute > largest ? absolute : largest;
    }
    float factor = largest > 0 ? LARGEST / largest : 0;
    for (int i = 0; i < size; i++) rounded[i] = (uint8_t)(int)(row[i] * factor + OFFSET + 0.5f);
    return largest / LARGEST;
}

/* Up to TILE_ROWS rows of integers times TILE_VECTORS vectors of columns. */
VNNI static void product_tile(float *out, const uint8_t *rows, const float *units, const int8_t *packed,
                              const float *scales, const float *excess, int n_rows, int n_in, int n_out) {
    __m512i sums[TILE_ROWS][TILE_VECTORS];
    const uint8_t *row[TILE_ROWS];
    size_t vector = (size_t)n_in * 16; /* weights of one vector of columns */
#pragma GCC unroll 8
    for (int r = 0; r < TILE_ROWS; r++) {
        row[r] = rows + (size_t)(r < n_rows ? r : n_rows - 1) * n_in;
#pragma GCC unroll 8
        for (int v = 0; v < TILE_VECTORS; v++) sums[r][v] = _mm512_setzero_si512();
    }
    for (int k = 0; k < n_in; k += 4) {
        __m512i columns[TILE_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < TILE_VECTORS; v++)
            columns[v] = _mm512_loadu_si512((const void *)(packed + v * vector + (size_t)k * 16));
#pragma GCC unroll 8
        for (int r = 0; r < TILE_ROWS; r++) {
            int32_t four;
            memcpy(&four, row[r] + k, 4);
            __m512i inputs = _mm512_set1_epi32(four);
#pragma GCC unroll 8
            for (int v = 0; v < TILE_VECTORS; v++) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], inputs, columns[v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < TILE_ROWS; r++) {
        if (r >= n_rows) continue;
        __m512 unit = _mm512_set1_ps(units[r]);
#pragma GCC unroll 8
        for (int v = 0; v < TILE_VECTORS; v++) {
            __m512 scale = _mm512_mul_ps(unit, _mm512_loadu_ps(scales + 16 * v));
            __m512 sum = _mm512_sub_ps(_mm512_cvtepi32_ps(sums[r][v]), _mm512_loadu_ps(excess + 16 * v));
            _mm512_storeu_ps(out + (size_t)r * n_out + 16 * v, _mm512_mul_ps(sum, scale));
        }
    }
}

/* `excess` is what the offset adds to each column's sum; `rounded` and `units` are room for the rounded rows. */
__attribute__((unused)) static void tw_products(float *out, const float *rows, const signed char *packed,
                                                const float *scales, const float *excess, unsigned char *rounded,
                                                float *units, int n_rows, int n_in, int n_out) {
    for (int r = 0; r < n_rows; r++)
        units[r] = round_row(rows + (size_t)r * n_in, rounded + (size_t)r * n_in, n_in);
    for (int column = 0; column < n_out; column += 16 * TILE_VECTORS)
        for (int r = 0; r < n_rows; r += TILE_ROWS) {
            int left = n_rows - r < TILE_ROWS ? n_rows - r : TILE_ROWS;
            product_tile(out + (size_t)r * n_out + column, rounded + (size_t)r * n_in, units + r,
                         (const int8_t *)packed + (size_t)column * n_in, scales + column, excess + column, left, n_in,
                         n_out);
        }
}
#else
__attribute__((unused)) static int tw_has_products(void) { return 0; }
__attribute__((unused)) static void tw_products(float *out, const float *rows, const signed char *packed,
                                                const float *scales, const float *excess, unsigned char *rounded,
                                                float *units, int n_rows, int n_in, int n_out) {
    (void)out, (void)rows, (void)packed, (void)scales, (void)excess, (void)rounded, (void)units;
    (void)n_rows, (void)n_in, (void)n_out;
}
#endif
#endif
