cdef extern from "tanglewood/ml/kernels.h" nogil:
    ctypedef struct tw_kernels:
        int group, offset
        void (*rectified_sum)(float *out, float **rows, int n_rows, int size) noexcept nogil
        void (*add_to_rows)(float **rows, int n_rows, float *change, int size) noexcept nogil
        void (*few_outputs)(float *out, float *bias, float *weights, float *inputs, int n_out, int n_in) noexcept nogil
        void (*few_outputs_back)(
            float *errors, float *weights, float *inputs, float *d_inputs, float *d_weights, float *d_bias,
            int n_out, int n_in
        ) noexcept nogil
        void (*many_outputs)(float *out, float *bias, float *weights, float *inputs, int n_out, int n_in) noexcept nogil
        void (*many_outputs_back)(
            float *errors, float *weights, float *inputs, float *d_inputs, float *d_weights, float *d_bias,
            int n_out, int n_in
        ) noexcept nogil
        void (*dense)(
            float *out, float *bias, float *weights, float *rows, int n_rows, int n_out, int n_in
        ) noexcept nogil
        void (*rounded)(
            float *out, float *rows, signed char *packed, float *scales, float *excess, unsigned char *scratch,
            float *units, int n_rows, int n_in, int n_out
        ) noexcept nogil
        void (*lstm_step)(
            float *gates, float *cells, float *squashed, float *outputs, float *recurrent,
            Py_ssize_t start, Py_ssize_t before, int rows, int width
        ) noexcept nogil
        void (*lstm_step_back)(
            float *gates, float *cells, float *squashed, float *d_outputs, float *d_cells, float *d_gates,
            float *transposed, Py_ssize_t start, Py_ssize_t before, int rows, int width
        ) noexcept nogil
        void (*adam)(
            float *values, float *first, float *second, float *averaged, float *gradient,
            float rate, float keep_first, float keep_second, float epsilon, float keep_average, size_t size
        ) noexcept nogil

cdef extern from "tanglewood/ml/families.h" nogil:
    const tw_kernels *tw_family(int family)

cdef const tw_kernels *fast_family(int family) noexcept nogil
