/* Products of rows of floats with one matrix, in 8-bit integers, for one family: families.h includes this file once for
   each, having defined NAME(f), TARGET, WIDTH, VEC and INTS (vectors of so many floats or ints), FLOATS (of ints), INPUT,
   ADDED, ADD_GROUPS, PRODUCT_ROWS and PRODUCT_BLOCKS. The sums are exact, so that their order does not matter.
   products.py describes the layout.

   A group of inputs takes up 4 bytes: four bytes, if INPUT is int8_t or uint8_t (which VNNI wants, OFFSET being ADDED),
   or a pair of int16_t. ADD_GROUPS(sum, inputs, weights) adds to each int the products of a group. */

/* Round a row to integers; returns what one of them stands for. */
TARGET static float NAME(round_row)(const float *row, void *rounded, int size) {
    float largest = 0;
    for (int i = 0; i < size; i++) {
        float absolute = fabsf(row[i]);
        largest = absolute > largest ? absolute : largest;
    }
    float factor = largest > LEAST ? LARGEST / largest : 0;
    for (int i = 0; i < size; i++)
        ((INPUT *)rounded)[i] = (INPUT)((int)(row[i] * factor + OFFSET + 0.5f) - OFFSET + ADDED);
    return largest / LARGEST;
}

#define PARTS (LANES / WIDTH) /* vectors of a block of 16 columns */
#define BLOCK_BYTES 64             /* weights of a block for one group of inputs */

/* Up to PRODUCT_ROWS rows of integers times PRODUCT_BLOCKS blocks of columns; a row has `n_groups` groups. */
TARGET static void NAME(product_tile)(float *out, const uint8_t *rows, const float *units, const uint8_t *packed,
                                      const float *scales, const float *excess, int n_rows, int n_groups, int n_out) {
    INTS sums[PRODUCT_ROWS][PRODUCT_BLOCKS * PARTS];
    const uint8_t *row[PRODUCT_ROWS];
    UNROLL for (int r = 0; r < PRODUCT_ROWS; r++) {
        row[r] = rows + (size_t)(r < n_rows ? r : n_rows - 1) * n_groups * 4;
        UNROLL for (int v = 0; v < PRODUCT_BLOCKS * PARTS; v++) sums[r][v] = (INTS){0};
    }
    for (int g = 0; g < n_groups; g++) {
        INTS columns[PRODUCT_BLOCKS * PARTS];
        UNROLL for (int v = 0; v < PRODUCT_BLOCKS * PARTS; v++)
            memcpy(&columns[v],
                   packed + ((size_t)(v / PARTS) * n_groups + g) * BLOCK_BYTES + (v % PARTS) * sizeof(INTS),
                   sizeof(INTS));
        UNROLL for (int r = 0; r < PRODUCT_ROWS; r++) {
            int32_t group;
            memcpy(&group, row[r] + 4 * g, 4);
            INTS inputs = (INTS){0} + group;
            UNROLL for (int v = 0; v < PRODUCT_BLOCKS * PARTS; v++)
                sums[r][v] = ADD_GROUPS(sums[r][v], inputs, columns[v]);
        }
    }
    UNROLL for (int r = 0; r < PRODUCT_ROWS; r++) {
        if (r >= n_rows) continue;
        UNROLL for (int v = 0; v < PRODUCT_BLOCKS * PARTS; v++) {
            VEC scale, over, sum = FLOATS(sums[r][v]);
            memcpy(&scale, scales + WIDTH * v, sizeof(VEC));
            memcpy(&over, excess + WIDTH * v, sizeof(VEC));
            sum = (sum - over) * (units[r] * scale);
            memcpy(out + (size_t)r * n_out + WIDTH * v, &sum, sizeof(VEC));
        }
    }
}

/* `excess` is what the offset adds to each column's sum; `scratch` and `units` are room for the rounded rows. */
TARGET static void NAME(rounded)(float *out, const float *rows, const signed char *packed, const float *scales,
                                 const float *excess, unsigned char *scratch, float *units, int n_rows, int n_in,
                                 int n_out) {
    int n_groups = n_in / (int)GROUP;
    for (int r = 0; r < n_rows; r++)
        units[r] = NAME(round_row)(rows + (size_t)r * n_in, scratch + (size_t)r * n_groups * 4, n_in);
    for (int column = 0; column < n_out; column += LANES * PRODUCT_BLOCKS)
        for (int r = 0; r < n_rows; r += PRODUCT_ROWS)
            NAME(product_tile)(out + (size_t)r * n_out + column, scratch + (size_t)r * n_groups * 4, units + r,
                               (const uint8_t *)packed + (size_t)column / LANES * n_groups * BLOCK_BYTES,
                               scales + column, excess + column, n_rows - r, n_groups, n_out);
}

#undef PARTS
#undef BLOCK_BYTES
