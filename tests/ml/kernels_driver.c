/* Runs every family of kernels that the machine has on the numbers of standard input, and writes what they compute:
   for each family its number, how many floats follow, and these. test_kernels_elsewhere.py compiles it.

   kernels_driver ROWS INPUTS OUTPUTS WIDTH < floats > floats; without arguments: the families, as bits. */
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "tanglewood/ml/families.h"

enum { ROOM = 1 << 20, MOST_ROWS = 64 };
static float given[ROOM], found[ROOM];
static size_t n_given, taken, n_found;

/* The next numbers of the input, as a copy that may be changed. */
static float *take(int count) {
    if (taken + (size_t)count > n_given) exit(3);
    float *copy = malloc(sizeof(float) * (size_t)count + 1);
    memcpy(copy, given + taken, sizeof(float) * (size_t)count);
    taken += (size_t)count;
    return copy;
}

static float *zeros(int count) { return calloc((size_t)count + 1, sizeof(float)); }

static void keep(const float *numbers, int count) {
    if (n_found + (size_t)count > ROOM) exit(4);
    memcpy(found + n_found, numbers, sizeof(float) * (size_t)count);
    n_found += (size_t)count;
}

/* As products.py packs a matrix. */
static void rounded_products(const tw_kernels *kernels, int rows, int n_in, int n_out) {
    const float *matrix = take(n_in * n_out), *inputs = take(rows * n_in);
    float *scales = zeros(n_out), *excess = zeros(n_out), *out = zeros(rows * n_out), *units = zeros(rows);
    int group = kernels->group;
    signed char *packed = calloc((size_t)n_in * (size_t)n_out * 4 / (size_t)group, 1);
    unsigned char *scratch = calloc((size_t)rows * (size_t)n_in * 4 / (size_t)group, 1);
    for (int m = 0; m < n_out; m++) {
        float largest = 1e-30f;
        for (int k = 0; k < n_in; k++) largest = fmaxf(largest, fabsf(matrix[k * n_out + m]));
        scales[m] = largest / LARGEST;
        int sum = 0;
        for (int k = 0; k < n_in; k++) {
            int whole = (int)rintf(matrix[k * n_out + m] / scales[m]);
            size_t place = (((size_t)(m / LANES) * (n_in / group) + k / group) * LANES + m % LANES) * group + k % group;
            if (group == 4) packed[place] = (signed char)whole;
            else ((int16_t *)packed)[place] = (int16_t)whole;
            sum += whole;
        }
        excess[m] = (float)(kernels->offset * sum);
    }
    kernels->rounded(out, inputs, packed, scales, excess, scratch, units, rows, n_in, n_out);
    keep(out, rows * n_out);
}

static void lstm(const tw_kernels *kernels, int rows, int width) {
    float *gates = take(8 * rows * width), *recurrent = take(4 * width * width);
    float *cells = zeros(2 * rows * width), *squashed = zeros(2 * rows * width), *outputs = zeros(2 * rows * width);
    kernels->lstm_step(gates, cells, squashed, outputs, recurrent, 0, -1, rows, width);
    kernels->lstm_step(gates, cells, squashed, outputs, recurrent, rows, 0, rows, width);
    keep(gates, 8 * rows * width);
    keep(cells, 2 * rows * width), keep(squashed, 2 * rows * width), keep(outputs, 2 * rows * width);
    float *d_outputs = take(2 * rows * width), *transposed = take(4 * width * width);
    float *d_cells = zeros(2 * rows * width), *d_gates = zeros(8 * rows * width);
    kernels->lstm_step_back(gates, cells, squashed, d_outputs, d_cells, d_gates, transposed, rows, 0, rows, width);
    kernels->lstm_step_back(gates, cells, squashed, d_outputs, d_cells, d_gates, transposed, 0, -1, rows, width);
    keep(d_gates, 8 * rows * width);
}

static void run(const tw_kernels *kernels, int rows, int n_in, int n_out, int width) {
    float *table[MOST_ROWS], *out = zeros(rows * n_out);
    for (int r = 0; r < rows; r++) table[r] = take(n_out);
    kernels->rectified_sum(out, table, rows, n_out);
    keep(out, n_out);
    float *bias = take(n_out), *few = take(n_out * n_in), *many = take(n_in * n_out), *inputs = take(rows * n_in);
    kernels->few_outputs(out, bias, few, inputs, n_out, n_in);
    keep(out, n_out);
    kernels->many_outputs(out, bias, many, inputs, n_out, n_in);
    keep(out, n_out);
    kernels->dense(out, bias, many, inputs, rows, n_out, n_in);
    keep(out, rows * n_out);
    rounded_products(kernels, rows, n_in, n_out);
    lstm(kernels, rows, width);
    /* What only learning needs. */
    float *d_inputs = zeros(n_in), *d_weights = zeros(n_in * n_out), *d_bias = zeros(n_out);
    kernels->few_outputs_back(bias, few, inputs, d_inputs, d_weights, d_bias, n_out, n_in);
    kernels->many_outputs_back(bias, many, inputs, d_inputs, d_weights, d_bias, n_out, n_in);
    keep(d_inputs, n_in), keep(d_weights, n_in * n_out), keep(d_bias, n_out);
    kernels->add_to_rows(table, rows, bias, n_out);
    for (int r = 0; r < rows; r++) keep(table[r], n_out);
    float *first = zeros(n_out), *second = zeros(n_out), *averaged = take(n_out);
    for (int step = 0; step < 2; step++)
        kernels->adam(bias, first, second, averaged, table[0], 0.01f, 0.9f, 0.99f, 1e-6f, 0.9f, (size_t)n_out);
    keep(bias, n_out), keep(averaged, n_out);
}

int main(int count, char **arguments) {
    if (count != 5) {
        printf("%d\n", tw_families());
        return 0;
    }
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY), _setmode(_fileno(stdout), _O_BINARY);
#endif
    int rows = atoi(arguments[1]), n_in = atoi(arguments[2]), n_out = atoi(arguments[3]), width = atoi(arguments[4]);
    if (rows < 1 || rows > MOST_ROWS || n_in % 4 || n_out % 64) return 2;
    n_given = fread(given, sizeof(float), ROOM, stdin);
    for (int family = 0; family < 31; family++) {
        if (!(tw_families() >> family & 1)) continue;
        taken = n_found = 0;
        run(tw_family(family), rows, n_in, n_out, width);
        int32_t head[2] = {family, (int32_t)n_found};
        fwrite(head, sizeof head, 1, stdout);
        fwrite(found, sizeof(float), n_found, stdout);
    }
    return 0;
}
