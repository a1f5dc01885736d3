/* The max-plus kernels for one instruction set. maxplus.h includes this file once for each, having defined
   NAME(f), TARGET, VEC, WIDTH, LOAD, STORE, ADD, MAX, SPREAD and COLUMNS, the columns of a register tile. */

/* out[c][row..] = max(itself, max over k < first + step * c of a[k][row..] + y[k][c], then the scores),
   for a tile of `height` vectors and `columns` columns, both constants: `best` lives in registers. */
TARGET INLINE void NAME(tile)(const int height, const int columns, float *arena, const int *a, const float *y,
                              const int *out, int row, int first, int step, int row_score, const float *column_score) {
    VEC best[2][COLUMNS];
    UNROLL for (int v = 0; v < height; v++)
        UNROLL for (int c = 0; c < columns; c++) best[v][c] = SPREAD(-INFINITY);
    for (int k = 0; k < first; k++) {
        VEC term[2];
        UNROLL for (int v = 0; v < height; v++) term[v] = LOAD(arena + a[k] + row + v * WIDTH);
        UNROLL for (int c = 0; c < columns; c++) {
            VEC weight = SPREAD(y[k * COLUMNS + c]);
            UNROLL for (int v = 0; v < height; v++) best[v][c] = MAX(best[v][c], ADD(term[v], weight));
        }
    }
    if (step) {
        UNROLL for (int more = 0; more < columns - 1; more++) {
            VEC term[2];
            UNROLL for (int v = 0; v < height; v++) term[v] = LOAD(arena + a[first + more] + row + v * WIDTH);
            UNROLL for (int c = more + 1; c < columns; c++) {
                VEC weight = SPREAD(y[(first + more) * COLUMNS + c]);
                UNROLL for (int v = 0; v < height; v++) best[v][c] = MAX(best[v][c], ADD(term[v], weight));
            }
        }
    }
    UNROLL for (int v = 0; v < height; v++) {
        if (row_score >= 0) {
            VEC score = LOAD(arena + row_score + row + v * WIDTH);
            UNROLL for (int c = 0; c < columns; c++) best[v][c] = ADD(best[v][c], MAX(score, SPREAD(column_score[c])));
        }
        UNROLL for (int c = 0; c < columns; c++) {
            float *place = arena + out[c] + row + v * WIDTH;
            STORE(place, MAX(LOAD(place), best[v][c]));
        }
    }
}

/* All rows of some columns. */
TARGET INLINE void NAME(strip)(const int columns, float *arena, const int *a, const float *y, const int *out, int begin,
                               int end, int first, int step, int row_score, const float *column_score) {
    int row = begin;
    for (; row + 2 * WIDTH <= end; row += 2 * WIDTH)
        NAME(tile)(2, columns, arena, a, y, out, row, first, step, row_score, column_score);
    for (; row < end; row += WIDTH)
        NAME(tile)(1, columns, arena, a, y, out, row, first, step, row_score, column_score);
}

TARGET static void NAME(product)(float *arena, const int *a, const int *out, int y, int term_stride, int column_stride,
                                 int columns, int begin, int end, int first, int step, int row_score, int column_score) {
    float packed[MAX_TERMS * COLUMNS];
    int width;
    for (int c = 0; c < columns; c += width) {
        int left = columns - c, terms = first + step * c;
        width = left >= COLUMNS ? COLUMNS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        for (int k = 0; k < terms + step * (width - 1); k++)
            for (int w = 0; w < width; w++)
                packed[k * COLUMNS + w] = arena[y + k * term_stride + (c + w) * column_stride];
        const float *score = arena + (row_score >= 0 ? column_score + c : 0);
#define STRIP(width) NAME(strip)(width, arena, a, packed, out + c, begin, end, terms, step, row_score, score)
        if (width == COLUMNS) STRIP(COLUMNS);
        else if (width == 4) STRIP(4);
        else if (width == 2) STRIP(2);
        else STRIP(1);
#undef STRIP
    }
}

/* out[c][pair(i, h)] = max(itself, max over k < first + step * c of a[k][pair(i, h)] + w[k][c][h]), 0 <= h < i <= last;
   the tail of a vector reaches into the next i, where `mask` adds -inf. */
TARGET INLINE void NAME(rows_tile)(const int columns, float *arena, const int *a, const int *out, int w, int term_stride,
                                   int column_stride, int terms, int last, const float *mask) {
    for (int i = 1; i <= last; i++) {
        for (int h = 0; h < i; h += WIDTH) {
            int row = i * (i - 1) / 2 + h;
            VEC best[4];
            UNROLL for (int c = 0; c < columns; c++) best[c] = SPREAD(-INFINITY);
            for (int k = 0; k < terms; k++) {
                VEC term = LOAD(arena + a[k] + row);
                const float *weight = arena + w + k * term_stride + h;
                UNROLL for (int c = 0; c < columns; c++)
                    best[c] = MAX(best[c], ADD(term, LOAD(weight + c * column_stride)));
            }
            VEC tail = LOAD(mask + (i - h < WIDTH ? WIDTH - (i - h) : 0));
            UNROLL for (int c = 0; c < columns; c++) {
                float *place = arena + out[c] + row;
                STORE(place, MAX(LOAD(place), ADD(best[c], tail)));
            }
        }
    }
}

TARGET static void NAME(row_product)(float *arena, const int *a, const int *out, int w, int term_stride,
                                     int column_stride, int columns, int first, int step, int last) {
    float mask[2 * WIDTH];
    for (int lane = 0; lane < 2 * WIDTH; lane++) mask[lane] = lane < WIDTH ? 0 : -INFINITY;
    int c = 0;
    for (; c + 4 <= columns; c += 4)
        NAME(rows_tile)(4, arena, a, out + c, w + c * column_stride, term_stride, column_stride, first + step * (c + 3),
                        last, mask);
    for (; c < columns; c++)
        NAME(rows_tile)(1, arena, a, out + c, w + c * column_stride, term_stride, column_stride, first + step * c, last,
                        mask);
}

TARGET static void NAME(maximum)(float *arena, int out, int one, int other, int rows) {
    for (int row = 0; row < rows; row += WIDTH)
        STORE(arena + out + row, MAX(LOAD(arena + one + row), LOAD(arena + other + row)));
}

/* out[c][row] = max(itself, max(a[c][row], other[row]) + y[c]) for the first rows of every column. */
TARGET static void NAME(lift)(float *arena, const int *a, const int *out, int other, int y, int columns, int first,
                              int step) {
    for (int c = 0; c < columns; c++) {
        VEC weight = SPREAD(arena[y + c]);
        const float *from = arena + a[c];
        float *to = arena + out[c];
        int rows = first + step * c;
        if (other >= 0)
            for (int row = 0; row < rows; row += WIDTH) {
                VEC value = ADD(MAX(LOAD(from + row), LOAD(arena + other + row)), weight);
                STORE(to + row, MAX(LOAD(to + row), value));
            }
        else
            for (int row = 0; row < rows; row += WIDTH)
                STORE(to + row, MAX(LOAD(to + row), ADD(LOAD(from + row), weight)));
    }
}

TARGET static void NAME(outer)(float *arena, int out, int v, int w, int last) {
    float mask[2 * WIDTH];
    for (int lane = 0; lane < 2 * WIDTH; lane++) mask[lane] = lane < WIDTH ? 0 : -INFINITY;
    for (int i = 1; i <= last; i++) {
        VEC value = SPREAD(arena[v + i]);
        float *place = arena + out + i * (i - 1) / 2;
        int h = 0;
        for (; h + WIDTH <= i; h += WIDTH) STORE(place + h, MAX(LOAD(place + h), ADD(value, LOAD(arena + w + h))));
        if (h < i) {
            VEC tail = ADD(ADD(value, LOAD(arena + w + h)), LOAD(mask + WIDTH - (i - h)));
            STORE(place + h, MAX(LOAD(place + h), tail));
        }
    }
}

/* Nothing but additions and maxima in registers: the rate that no kernel can beat. */
TARGET static double NAME(peak)(int rounds) {
    VEC best[12], step = SPREAD(-1e-3f), least = SPREAD(-1e6f);
    UNROLL for (int c = 0; c < 12; c++) best[c] = SPREAD((float)c);
    for (int i = 0; i < rounds; i++) {
        UNROLL for (int c = 0; c < 12; c++) best[c] = MAX(ADD(best[c], step), least);
    }
    float sum = 0, part[WIDTH];
    for (int c = 0; c < 12; c++) {
        STORE(part, best[c]);
        sum += part[0];
    }
    return sum > 1e30f ? 0 : 12.0 * WIDTH * rounds;
}

#undef NAME
#undef TARGET
#undef VEC
#undef WIDTH
#undef LOAD
#undef STORE
#undef ADD
#undef MAX
#undef SPREAD
#undef COLUMNS
