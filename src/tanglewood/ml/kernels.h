/* The kernels of one family; vectors.h and products.h say what each does. */
#ifndef TANGLEWOOD_KERNELS_H
#define TANGLEWOOD_KERNELS_H

#include <stddef.h>

typedef struct {
    int group, offset; /* how `rounded` wants its weights: in groups of so many, with so much added to inputs */
    void (*rectified_sum)(float *out, float *const *rows, int n_rows, int size);
    void (*add_to_rows)(float *const *rows, int n_rows, const float *from, int size);
    void (*few_outputs)(float *out, const float *bias, const float *weights, const float *inputs, int n_out, int n_in);
    void (*few_outputs_back)(const float *errors, const float *weights, const float *inputs, float *d_inputs,
                             float *d_weights, float *d_bias, int n_out, int n_in);
    void (*many_outputs)(float *out, const float *bias, const float *weights, const float *inputs, int n_out, int n_in);
    void (*many_outputs_back)(const float *errors, const float *weights, const float *inputs, float *d_inputs,
                              float *d_weights, float *d_bias, int n_out, int n_in);
    void (*dense)(float *out, const float *bias, const float *weights, const float *rows, int n_rows, int n_out,
                  int n_in);
    void (*rounded)(float *out, const float *rows, const signed char *packed, const float *scales, const float *excess,
                    unsigned char *scratch, float *units, int n_rows, int n_in, int n_out);
    void (*lstm_step)(float *gates, float *cells, float *squashed, float *outputs, const float *recurrent,
                      ptrdiff_t start, ptrdiff_t before, int rows, int width);
    void (*lstm_step_back)(const float *gates, const float *cells, const float *squashed, float *d_outputs,
                           float *d_cells, float *d_gates, const float *transposed, ptrdiff_t start, ptrdiff_t before,
                           int rows, int width);
    void (*adam)(float *values, float *first, float *second, float *averaged, const float *gradient, float rate,
                 float keep_first, float keep_second, float epsilon, float keep_average, size_t size);
} tw_kernels;
#endif
