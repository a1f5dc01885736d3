/* Vector kernels of the network. They are compiled for several widths of vectors, of which the widest that the machine
   has is taken when the program starts. vectors_plain.py says the same without any tricks. */
#ifndef TANGLEWOOD_VECTORS_H
#define TANGLEWOOD_VECTORS_H

#include <limits.h> /* defines __GLIBC__ where it is so */
#include <math.h>
#include <stddef.h>
#include <string.h>

#ifndef __GNUC__
#error "GCC or Clang is needed; with other compilers install with TANGLEWOOD_PURE=1"
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__)
#define WIDE __attribute__((unused, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE __attribute__((unused))
#endif
#define INLINE static inline __attribute__((always_inline))

#define LANES 16
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef lanes at_floats __attribute__((aligned(4), may_alias)); /* lanes anywhere among floats */
#define AT(pointer) (*(at_floats *)(pointer))

/* to += scale * from */
INLINE void add_scaled(float *to, const float *from, float scale, int size) {
    int i = 0;
    for (; i + LANES <= size; i += LANES) AT(to + i) += scale * AT(from + i);
    for (; i < size; i++) to[i] += scale * from[i];
}

INLINE float dot(const float *a, const float *b, int size) {
    lanes sums = {0};
    float total = 0;
    int i = 0;
    for (; i + LANES <= size; i += LANES) sums += AT(a + i) * AT(b + i);
    for (; i < size; i++) total += a[i] * b[i];
    for (i = 0; i < LANES; i++) total += sums[i];
    return total;
}

/* out = sum of the rows; negative sums become 0. */
WIDE static void tw_rectified_sum(float *out, float *const *rows, int n_rows, int size) {
    int i = 0;
    for (; i + 4 * LANES <= size; i += 4 * LANES) {
        lanes a = {0}, b = {0}, c = {0}, d = {0};
        for (int r = 0; r < n_rows; r++) {
            const float *row = rows[r] + i;
            a += AT(row), b += AT(row + LANES), c += AT(row + 2 * LANES), d += AT(row + 3 * LANES);
        }
        AT(out + i) = a, AT(out + i + LANES) = b, AT(out + i + 2 * LANES) = c, AT(out + i + 3 * LANES) = d;
    }
    for (; i < size; i++) {
        out[i] = 0;
        for (int r = 0; r < n_rows; r++) out[i] += rows[r][i];
    }
    for (i = 0; i < size; i++) out[i] = out[i] > 0 ? out[i] : 0;
}

/* Each of the rows += from. */
WIDE static void tw_add_to_rows(float *const *rows, int n_rows, const float *from, int size) {
    for (int r = 0; r < n_rows; r++) add_scaled(rows[r], from, 1, size);
}

/* out[m] = bias[m] + weights[m] . inputs, for a few outputs: each has a row of weights. */
WIDE static void tw_few_outputs(float *out, const float *bias, const float *weights, const float *inputs, int n_out,
                                int n_in) {
    for (int m = 0; m < n_out; m++) out[m] = bias[m] + dot(weights + (size_t)m * n_in, inputs, n_in);
}

/* d_inputs = errors . weights; d_weights and d_bias take up the errors. */
WIDE static void tw_few_outputs_back(const float *errors, const float *weights, const float *inputs, float *d_inputs,
                                     float *d_weights, float *d_bias, int n_out, int n_in) {
    memset(d_inputs, 0, sizeof(float) * n_in);
    for (int m = 0; m < n_out; m++) {
        if (errors[m] == 0) continue;
        add_scaled(d_inputs, weights + (size_t)m * n_in, errors[m], n_in);
        add_scaled(d_weights + (size_t)m * n_in, inputs, errors[m], n_in);
        d_bias[m] += errors[m];
    }
}

/* out += sum of inputs[k] * weights[k]: each input has a row of weights. Columns are taken four vectors at a time; the
   last vectors may overlap, since they begin from a copy of what `out` was. */
INLINE void add_products(float *out, const float *weights, const float *inputs, int n_out, int n_in) {
    if (n_out < LANES) {
        for (int k = 0; k < n_in; k++)
            for (int m = 0; m < n_out; m++) out[m] += inputs[k] * weights[(size_t)k * n_out + m];
        return;
    }
    lanes last_was = AT(out + n_out - LANES);
    for (int start = 0; start < n_out; start += 4 * LANES) {
        int at[4];
        lanes sum[4];
        for (int v = 0; v < 4; v++) {
            at[v] = start + v * LANES + LANES <= n_out ? start + v * LANES : n_out - LANES;
            sum[v] = last_was;
            if (at[v] < n_out - LANES) sum[v] = AT(out + at[v]);
        }
        lanes a = sum[0], b = sum[1], c = sum[2], d = sum[3];
        for (int k = 0; k < n_in; k++) {
            float input = inputs[k];
            if (input == 0) continue; /* after a rectifier many are */
            const float *row = weights + (size_t)k * n_out;
            a += input * AT(row + at[0]), b += input * AT(row + at[1]);
            c += input * AT(row + at[2]), d += input * AT(row + at[3]);
        }
        AT(out + at[0]) = a, AT(out + at[1]) = b, AT(out + at[2]) = c, AT(out + at[3]) = d;
    }
}

/* out = bias + sum of inputs[k] * weights[k], for many outputs. */
WIDE static void tw_many_outputs(float *out, const float *bias, const float *weights, const float *inputs, int n_out,
                                 int n_in) {
    memcpy(out, bias, sizeof(float) * n_out);
    add_products(out, weights, inputs, n_out, n_in);
}

/* d_inputs += weights . errors, where the input is not 0; d_weights and d_bias take up the errors. */
WIDE static void tw_many_outputs_back(const float *errors, const float *weights, const float *inputs, float *d_inputs,
                                      float *d_weights, float *d_bias, int n_out, int n_in) {
    for (int k = 0; k < n_in; k++) {
        if (inputs[k] == 0) continue;
        d_inputs[k] += dot(errors, weights + (size_t)k * n_out, n_out);
        add_scaled(d_weights + (size_t)k * n_out, errors, inputs[k], n_out);
    }
    add_scaled(d_bias, errors, 1, n_out);
}

/* Adam: moves values against the gradient, and their running average after them. */
WIDE static void tw_adam(float *restrict values, float *restrict first, float *restrict second,
                         float *restrict averaged, const float *restrict gradient, float rate, float keep_first,
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
INLINE float small_exp(float x) {
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    float n = x * 1.44269504f + shift;
    int bits;
    memcpy(&bits, &n, 4);
    n -= shift;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* ln 2 in two parts, the first exact in few bits */
    float series = 1 + r * (1 + r * (1 / 2.0f + r * (1 / 6.0f + r * (1 / 24.0f + r * (1 / 120.0f + r / 720.0f)))));
    bits = (int)((unsigned)bits << 23) + 0x3f800000; /* n as the exponent of a float: 2^n */
    float scale;
    memcpy(&scale, &bits, 4);
    return series * scale;
}

INLINE float limited(float x) { return x < -30 ? -30 : x > 30 ? 30 : x; }
INLINE float sigmoid(float x) { return 1 / (1 + small_exp(-limited(x))); }
INLINE float squash(float x) { return 1 - 2 / (1 + small_exp(2 * limited(x))); } /* tanh */

/* One step of an LSTM for some sentences at once: `rows` rows of gates (input, forget, output, cell; not yet squashed,
   without the part of the last outputs), and likewise of cells, squashed cells and outputs. `before` is where the rows
   of the step before lie, or -1. */
WIDE static void tw_lstm_step(float *gates, float *cells, float *squashed, float *outputs, const float *recurrent,
                              ptrdiff_t start, ptrdiff_t before, int rows, int width) {
    for (int r = 0; r < rows; r++) {
        float *restrict gate = gates + (start + r) * 4 * width;
        float *restrict cell = cells + (start + r) * width;
        float *restrict tanh_cell = squashed + (start + r) * width;
        float *restrict output = outputs + (start + r) * width;
        const float *restrict last = before < 0 ? cell : cells + (before + r) * width;
        if (before >= 0) add_products(gate, recurrent, outputs + (before + r) * width, 4 * width, width);
        for (int i = 0; i < 3 * width; i++) gate[i] = sigmoid(gate[i]);
        for (int i = 3 * width; i < 4 * width; i++) gate[i] = squash(gate[i]);
        for (int i = 0; i < width; i++) cell[i] = gate[i] * gate[3 * width + i];
        if (before >= 0)
            for (int i = 0; i < width; i++) cell[i] += gate[width + i] * last[i];
        for (int i = 0; i < width; i++) tanh_cell[i] = squash(cell[i]);
        for (int i = 0; i < width; i++) output[i] = gate[2 * width + i] * tanh_cell[i];
    }
}

/* The same step backwards. `d_outputs` and `d_cells` hold what is known of the gradients so far and are passed on to
   the step before; `d_gates` takes the gradient of the gates before squashing; `transposed` is recurrent, transposed. */
WIDE static void tw_lstm_step_back(const float *gates, const float *cells, const float *squashed, float *d_outputs,
                                   float *d_cells, float *d_gates, const float *transposed, ptrdiff_t start,
                                   ptrdiff_t before, int rows, int width) {
    for (int r = 0; r < rows; r++) {
        const float *restrict gate = gates + (start + r) * 4 * width;
        const float *restrict tanh_cell = squashed + (start + r) * width;
        const float *restrict last = before < 0 ? tanh_cell : cells + (before + r) * width;
        const float *restrict d_output = d_outputs + (start + r) * width;
        float *restrict d_cell = d_cells + (start + r) * width;
        float *restrict d_last = before < 0 ? d_cell : d_cells + (before + r) * width;
        float *restrict d_gate = d_gates + (start + r) * 4 * width;
        for (int i = 0; i < width; i++) {
            float in = gate[i], forget = gate[width + i], out = gate[2 * width + i], new = gate[3 * width + i];
            float d = d_cell[i] + d_output[i] * out * (1 - tanh_cell[i] * tanh_cell[i]);
            d_gate[i] = d * new * in * (1 - in);
            d_gate[2 * width + i] = d_output[i] * tanh_cell[i] * out * (1 - out);
            d_gate[3 * width + i] = d * in * (1 - new * new);
            d_gate[width + i] = before >= 0 ? d * last[i] * forget * (1 - forget) : 0;
            if (before >= 0) d_last[i] += d * forget;
        }
        if (before >= 0) add_products(d_outputs + (before + r) * width, transposed, d_gate, width, 4 * width);
    }
}
#endif
