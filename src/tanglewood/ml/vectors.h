/* Vector kernels of the network for one family: families.h includes this file once for each, having defined NAME(f),
   TARGET, WIDTH, VEC, INTS and UINTS (vectors of so many floats, ints and unsigned ints), AT(pointer) (a vector
   anywhere among floats), LANE(vector, i), BITS(vector) and OF_BITS(bits) (floats as unsigned ints and back),
   WHERE(condition, one, other), DENSE_ROWS and DENSE_VECTORS. A vector may be a single float. Every output is summed in
   the same order in all families, so that only fused multiply-adds, which kernels_exact.py is compiled without, make a
   difference. vectors_plain.py says the same without any tricks. */

/* to += scale * from */
TARGET INLINE void NAME(add_scaled)(float *to, const float *from, float scale, int size) {
    int i = 0;
    for (; i + WIDTH <= size; i += WIDTH) AT(to + i) += scale * AT(from + i);
    for (; i < size; i++) to[i] += scale * from[i];
}

/* The sum of 16 lanes, each summed in order, whatever the width of vectors. */
TARGET INLINE float NAME(dot)(const float *a, const float *b, int size) {
    VEC sums[LANES / WIDTH];
    float total = 0;
    int i = 0;
    UNROLL for (int v = 0; v < LANES / WIDTH; v++) sums[v] = (VEC){0};
    for (; i + LANES <= size; i += LANES)
        UNROLL for (int v = 0; v < LANES / WIDTH; v++) sums[v] += AT(a + i + v * WIDTH) * AT(b + i + v * WIDTH);
    for (; i < size; i++) total += a[i] * b[i];
    UNROLL for (i = 0; i < LANES; i++) total += LANE(sums[i / WIDTH], i % WIDTH);
    return total;
}

/* out = sum of the rows; negative sums become 0. */
TARGET static void NAME(rectified_sum)(float *out, float *const *rows, int n_rows, int size) {
    int i = 0;
    for (; i + 4 * WIDTH <= size; i += 4 * WIDTH) {
        VEC a = {0}, b = {0}, c = {0}, d = {0};
        for (int r = 0; r < n_rows; r++) {
            const float *row = rows[r] + i;
            a += AT(row), b += AT(row + WIDTH), c += AT(row + 2 * WIDTH), d += AT(row + 3 * WIDTH);
        }
        AT(out + i) = a, AT(out + i + WIDTH) = b, AT(out + i + 2 * WIDTH) = c, AT(out + i + 3 * WIDTH) = d;
    }
    for (; i < size; i++) {
        out[i] = 0;
        for (int r = 0; r < n_rows; r++) out[i] += rows[r][i];
    }
    for (i = 0; i < size; i++) out[i] = out[i] > 0 ? out[i] : 0;
}

/* Each of the rows += from. */
TARGET static void NAME(add_to_rows)(float *const *rows, int n_rows, const float *from, int size) {
    for (int r = 0; r < n_rows; r++) NAME(add_scaled)(rows[r], from, 1, size);
}

/* out[m] = bias[m] + weights[m] . inputs, for a few outputs: each has a row of weights. */
TARGET static void NAME(few_outputs)(float *out, const float *bias, const float *weights, const float *inputs,
                                     int n_out, int n_in) {
    for (int m = 0; m < n_out; m++) out[m] = bias[m] + NAME(dot)(weights + (size_t)m * n_in, inputs, n_in);
}

/* d_inputs = errors . weights; d_weights and d_bias take up the errors. */
TARGET static void NAME(few_outputs_back)(const float *errors, const float *weights, const float *inputs,
                                          float *d_inputs, float *d_weights, float *d_bias, int n_out, int n_in) {
    memset(d_inputs, 0, sizeof(float) * n_in);
    for (int m = 0; m < n_out; m++) {
        if (errors[m] == 0) continue;
        NAME(add_scaled)(d_inputs, weights + (size_t)m * n_in, errors[m], n_in);
        NAME(add_scaled)(d_weights + (size_t)m * n_in, inputs, errors[m], n_in);
        d_bias[m] += errors[m];
    }
}

/* Note which inputs are not 0: after a rectifier about half are, at random, so that a branch would guess wrong. */
TARGET INLINE int NAME(find_used)(int *used, const float *inputs, int n_in) {
    int n_used = 0;
    for (int k = 0; k < n_in; k++) {
        used[n_used] = k;
        n_used += inputs[k] != 0;
    }
    return n_used;
}

/* out += sum of inputs[k] * weights[k] over up to MOST_USED inputs that are not 0: each input has a row of weights.
   Columns are taken four vectors at a time; the last vectors may overlap, since they begin from a copy of what `out`
   was. */
TARGET INLINE void NAME(add_some_products)(float *out, const float *weights, const float *inputs, int n_out, int n_in) {
    int used[MOST_USED];
    int n_used = NAME(find_used)(used, inputs, n_in);
    if (n_out < WIDTH) {
        for (int u = 0; u < n_used; u++)
            for (int m = 0; m < n_out; m++) out[m] += inputs[used[u]] * weights[(size_t)used[u] * n_out + m];
        return;
    }
    VEC last_was = AT(out + n_out - WIDTH);
    for (int start = 0; start < n_out; start += 4 * WIDTH) {
        int at[4];
        VEC sum[4];
        for (int v = 0; v < 4; v++) {
            at[v] = start + v * WIDTH + WIDTH <= n_out ? start + v * WIDTH : n_out - WIDTH;
            sum[v] = last_was;
            if (at[v] < n_out - WIDTH) sum[v] = AT(out + at[v]);
        }
        VEC a = sum[0], b = sum[1], c = sum[2], d = sum[3];
        for (int u = 0; u < n_used; u++) {
            float input = inputs[used[u]];
            const float *row = weights + (size_t)used[u] * n_out;
            a += input * AT(row + at[0]), b += input * AT(row + at[1]);
            c += input * AT(row + at[2]), d += input * AT(row + at[3]);
        }
        AT(out + at[0]) = a, AT(out + at[1]) = b, AT(out + at[2]) = c, AT(out + at[3]) = d;
    }
}

/* The same over any number of inputs. */
TARGET INLINE void NAME(add_products)(float *out, const float *weights, const float *inputs, int n_out, int n_in) {
    for (int k = 0; k < n_in; k += MOST_USED)
        NAME(add_some_products)(out, weights + (size_t)k * n_out, inputs + k, n_out,
                                n_in - k < MOST_USED ? n_in - k : MOST_USED);
}

/* out = bias + sum of inputs[k] * weights[k], for many outputs. */
TARGET static void NAME(many_outputs)(float *out, const float *bias, const float *weights, const float *inputs,
                                      int n_out, int n_in) {
    memcpy(out, bias, sizeof(float) * n_out);
    NAME(add_products)(out, weights, inputs, n_out, n_in);
}

/* The outputs of such a layer for a tile of up to DENSE_ROWS rows and DENSE_VECTORS vectors of columns; the bias of each
   row lies `step` numbers after that of the row before. */
TARGET INLINE void NAME(dense_tile)(const int vectors, float *out, const float *bias, size_t step, const float *weights,
                                    const float *rows, int n_rows, int n_out, int n_in) {
    VEC sum[DENSE_ROWS][DENSE_VECTORS];
    const float *row[DENSE_ROWS];
    UNROLL for (int r = 0; r < DENSE_ROWS; r++) {
        size_t place = r < n_rows ? r : n_rows - 1;
        row[r] = rows + place * n_in;
        UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = AT(bias + place * step + v * WIDTH);
    }
    for (int k = 0; k < n_in; k++) {
        const float *weight = weights + (size_t)k * n_out;
        UNROLL for (int r = 0; r < DENSE_ROWS; r++) {
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += row[r][k] * AT(weight + v * WIDTH);
        }
    }
    UNROLL for (int r = 0; r < DENSE_ROWS; r++) {
        if (r >= n_rows) continue;
        UNROLL for (int v = 0; v < vectors; v++) AT(out + (size_t)r * n_out + v * WIDTH) = sum[r][v];
    }
}

/* The outputs of such a layer for many rows. The last vectors of columns may overlap: both compute the same. */
TARGET static void NAME(dense)(float *out, const float *bias, const float *weights, const float *rows, int n_rows,
                               int n_out, int n_in) {
    if (n_out < WIDTH) {
        for (int r = 0; r < n_rows; r++) {
            memcpy(out + (size_t)r * n_out, bias, sizeof(float) * n_out);
            for (int k = 0; k < n_in; k++)
                for (int m = 0; m < n_out; m++)
                    out[(size_t)r * n_out + m] += rows[(size_t)r * n_in + k] * weights[(size_t)k * n_out + m];
        }
        return;
    }
    for (int start = 0; start < n_out;) {
        int wide = start + DENSE_VECTORS * WIDTH <= n_out;
        int m = wide || start + WIDTH <= n_out ? start : n_out - WIDTH;
        for (int r = 0; r < n_rows; r += DENSE_ROWS) {
            float *to = out + (size_t)r * n_out + m;
            const float *from = rows + (size_t)r * n_in;
            if (wide) NAME(dense_tile)(DENSE_VECTORS, to, bias + m, 0, weights + m, from, n_rows - r, n_out, n_in);
            else NAME(dense_tile)(1, to, bias + m, 0, weights + m, from, n_rows - r, n_out, n_in);
        }
        start = m + (wide ? DENSE_VECTORS : 1) * WIDTH;
    }
}

/* out += rows . weights, for up to DENSE_ROWS rows: in tiles that share the weights, unless there are too few rows. */
TARGET INLINE void NAME(add_row_products)(float *out, const float *weights, const float *rows, int n_rows, int n_out,
                                          int n_in) {
    if (n_rows * 2 < DENSE_ROWS || n_out % (DENSE_VECTORS * WIDTH)) {
        for (int r = 0; r < n_rows; r++)
            NAME(add_products)(out + (size_t)r * n_out, weights, rows + (size_t)r * n_in, n_out, n_in);
        return;
    }
    for (int m = 0; m < n_out; m += DENSE_VECTORS * WIDTH)
        NAME(dense_tile)(DENSE_VECTORS, out + m, out + m, n_out, weights + m, rows, n_rows, n_out, n_in);
}

/* d_inputs += weights . errors, where the input is not 0; d_weights and d_bias take up the errors. */
TARGET static void NAME(many_outputs_back)(const float *errors, const float *weights, const float *inputs,
                                           float *d_inputs, float *d_weights, float *d_bias, int n_out, int n_in) {
    for (int k = 0; k < n_in; k++) {
        if (inputs[k] == 0) continue;
        d_inputs[k] += NAME(dot)(errors, weights + (size_t)k * n_out, n_out);
        NAME(add_scaled)(d_weights + (size_t)k * n_out, errors, inputs[k], n_out);
    }
    NAME(add_scaled)(d_bias, errors, 1, n_out);
}

/* Adam: moves values against the gradient, and their running average after them. */
TARGET static void NAME(adam)(float *__restrict values, float *__restrict first, float *__restrict second,
                              float *__restrict averaged, const float *__restrict gradient, float rate, float keep_first,
                              float keep_second, float epsilon, float keep_average, size_t size) {
    for (size_t i = 0; i < size; i++) {
        float g = gradient[i];
        float f = first[i] + (1 - keep_first) * (g - first[i]);
        float s = second[i] + (1 - keep_second) * (g * g - second[i]);
        float v = values[i] - rate * f / (sqrtf(s) + epsilon);
        first[i] = f;
        second[i] = s;
        values[i] = v;
        averaged[i] += (1 - keep_average) * (v - averaged[i]);
    }
}

/* e^x for |x| <= 60: 2^n times the series of what is left. */
TARGET INLINE VEC NAME(small_exp)(VEC x) {
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    VEC n = x * 1.44269504f + shift;
    UINTS scale = (BITS(n) << 23) + 0x3f800000; /* n as the exponent of a float: 2^n */
    n -= shift;
    VEC r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* ln 2 in two parts, the first exact in few bits */
    VEC series = 1 + r * (1 + r * (1 / 2.0f + r * (1 / 6.0f + r * (1 / 24.0f + r * (1 / 120.0f + r / 720.0f)))));
    return series * OF_BITS(scale);
}

TARGET INLINE VEC NAME(limited)(VEC x) {
    const VEC most = (VEC){0} + 30;
    x = WHERE(x > most, most, x);
    return WHERE(x < -most, -most, x);
}

TARGET INLINE VEC NAME(sigmoid)(VEC x) { return 1 / (1 + NAME(small_exp)(-NAME(limited)(x))); }
TARGET INLINE VEC NAME(squash)(VEC x) { return 1 - 2 / (1 + NAME(small_exp)(2 * NAME(limited)(x))); } /* tanh */

/* Squash a vector of the gates (input, forget, output, cell), `width` numbers apart, and fill cells, squashed cells and
   outputs; `last` are the cells of the step before, or null. */
TARGET INLINE void NAME(lstm_vector)(float *gate, float *cell, float *tanh_cell, float *output, const float *last,
                                     int width) {
    VEC in = NAME(sigmoid)(AT(gate)), forget = NAME(sigmoid)(AT(gate + width));
    VEC out = NAME(sigmoid)(AT(gate + 2 * width)), new = NAME(squash)(AT(gate + 3 * width));
    VEC sum = in * new;
    if (last) sum += forget * AT(last);
    VEC squashed = NAME(squash)(sum);
    AT(gate) = in, AT(gate + width) = forget, AT(gate + 2 * width) = out, AT(gate + 3 * width) = new;
    AT(cell) = sum, AT(tanh_cell) = squashed, AT(output) = out * squashed;
}

/* The same for a whole row. */
TARGET INLINE void NAME(lstm_row)(float *gate, float *cell, float *tanh_cell, float *output, const float *last,
                                  int width) {
    int i = 0;
    for (; i + WIDTH <= width; i += WIDTH)
        NAME(lstm_vector)(gate + i, cell + i, tanh_cell + i, output + i, last ? last + i : 0, width);
    if (i == width) return;
    float rest[8][WIDTH] = {{0}}; /* the last vector, filled up */
    size_t size = sizeof(float) * (width - i);
    for (int g = 0; g < 4; g++) memcpy(rest[g], gate + g * width + i, size);
    if (last) memcpy(rest[4], last + i, size);
    NAME(lstm_vector)(rest[0], rest[5], rest[6], rest[7], last ? rest[4] : 0, WIDTH);
    for (int g = 0; g < 4; g++) memcpy(gate + g * width + i, rest[g], size);
    memcpy(cell + i, rest[5], size), memcpy(tanh_cell + i, rest[6], size), memcpy(output + i, rest[7], size);
}

/* One step of an LSTM for some sentences at once: `rows` rows of gates (not yet squashed, without the part of the last
   outputs), and likewise of cells, squashed cells and outputs. `before` is where the rows of the step before lie, or
   -1. */
TARGET static void NAME(lstm_step)(float *gates, float *cells, float *squashed, float *outputs, const float *recurrent,
                                   ptrdiff_t start, ptrdiff_t before, int rows, int width) {
    for (int r = 0; r < rows; r += DENSE_ROWS) {
        int some = rows - r < DENSE_ROWS ? rows - r : DENSE_ROWS;
        if (before >= 0)
            NAME(add_row_products)(gates + (start + r) * 4 * width, recurrent, outputs + (before + r) * width, some,
                                   4 * width, width);
        for (int i = r; i < r + some; i++)
            NAME(lstm_row)(gates + (start + i) * 4 * width, cells + (start + i) * width, squashed + (start + i) * width,
                           outputs + (start + i) * width, before < 0 ? 0 : cells + (before + i) * width, width);
    }
}

/* The same step backwards. `d_outputs` and `d_cells` hold what is known of the gradients so far and are passed on to
   the step before; `d_gates` takes the gradient of the gates before squashing; `transposed` is recurrent, transposed. */
TARGET static void NAME(lstm_step_back)(const float *gates, const float *cells, const float *squashed, float *d_outputs,
                                        float *d_cells, float *d_gates, const float *transposed, ptrdiff_t start,
                                        ptrdiff_t before, int rows, int width) {
    for (int r = 0; r < rows; r++) {
        const float *__restrict gate = gates + (start + r) * 4 * width;
        const float *__restrict tanh_cell = squashed + (start + r) * width;
        const float *__restrict last = before < 0 ? tanh_cell : cells + (before + r) * width;
        const float *__restrict d_output = d_outputs + (start + r) * width;
        float *__restrict d_cell = d_cells + (start + r) * width;
        float *__restrict d_last = before < 0 ? d_cell : d_cells + (before + r) * width;
        float *__restrict d_gate = d_gates + (start + r) * 4 * width;
        for (int i = 0; i < width; i++) {
            float in = gate[i], forget = gate[width + i], out = gate[2 * width + i], new = gate[3 * width + i];
            float d = d_cell[i] + d_output[i] * out * (1 - tanh_cell[i] * tanh_cell[i]);
            d_gate[i] = d * new * in * (1 - in);
            d_gate[2 * width + i] = d_output[i] * tanh_cell[i] * out * (1 - out);
            d_gate[3 * width + i] = d * in * (1 - new * new);
            d_gate[width + i] = before >= 0 ? d * last[i] * forget * (1 - forget) : 0;
            if (before >= 0) d_last[i] += d * forget;
        }
    }
    for (int r = 0; r < rows && before >= 0; r += DENSE_ROWS)
        NAME(add_row_products)(d_outputs + (before + r) * width, transposed, d_gates + (start + r) * 4 * width,
                               rows - r < DENSE_ROWS ? rows - r : DENSE_ROWS, width, 4 * width);
}
