"""The kernels of vectors.h for whole arrays; interpreted, vectors_plain.py stands in for this file."""

cdef extern from "tanglewood/scorers/vectors.h" nogil:
    void tw_rectified_sum(float *out, float **rows, int n_rows, int size)
    void tw_add_to_rows(float **rows, int n_rows, float *change, int size)
    void tw_few_outputs(float *out, float *bias, float *weights, float *inputs, int n_out, int n_in)
    void tw_few_outputs_back(
        float *errors, float *weights, float *inputs, float *d_inputs, float *d_weights, float *d_bias, int n_out, int n_in
    )
    void tw_many_outputs(float *out, float *bias, float *weights, float *inputs, int n_out, int n_in)
    void tw_many_outputs_back(
        float *errors, float *weights, float *inputs, float *d_inputs, float *d_weights, float *d_bias, int n_out, int n_in
    )
    void tw_adam(
        float *values, float *first, float *second, float *averaged, float *gradient,
        float rate, float keep_first, float keep_second, float epsilon, float keep_average, size_t size
    )
    void tw_lstm_step(
        float *gates, float *cells, float *squashed, float *outputs, float *recurrent,
        Py_ssize_t start, Py_ssize_t before, int rows, int width
    )
    void tw_lstm_step_back(
        float *gates, float *cells, float *squashed, float *d_outputs, float *d_cells, float *d_gates,
        float *transposed, Py_ssize_t start, Py_ssize_t before, int rows, int width
    )

cdef inline void rectified_sum(float[::1] out, float **rows, int n_rows) noexcept nogil:
    tw_rectified_sum(&out[0], rows, n_rows, <int>out.shape[0])

cdef inline void add_to_rows(float **rows, int n_rows, float[::1] change) noexcept nogil:
    tw_add_to_rows(rows, n_rows, &change[0], <int>change.shape[0])

cdef inline void few_outputs(float[::1] out, float[::1] bias, float[:, ::1] weights, float[::1] inputs) noexcept nogil:
    tw_few_outputs(&out[0], &bias[0], &weights[0, 0], &inputs[0], <int>weights.shape[0], <int>weights.shape[1])

cdef inline void few_outputs_back(
    float[::1] errors, float[:, ::1] weights, float[::1] inputs,
    float[::1] d_inputs, float[:, ::1] d_weights, float[::1] d_bias,
) noexcept nogil:
    tw_few_outputs_back(
        &errors[0], &weights[0, 0], &inputs[0], &d_inputs[0], &d_weights[0, 0], &d_bias[0],
        <int>weights.shape[0], <int>weights.shape[1],
    )

cdef inline void many_outputs(
    float[::1] out, float[:, ::1] bias, float[:, :, ::1] weights, int which, float[::1] inputs
) noexcept nogil:
    tw_many_outputs(
        &out[0], &bias[which, 0], &weights[which, 0, 0], &inputs[0], <int>weights.shape[2], <int>weights.shape[1]
    )

cdef inline void many_outputs_back(
    float[::1] errors, float[:, :, ::1] weights, int which, float[::1] inputs,
    float[::1] d_inputs, float[:, :, ::1] d_weights, float[:, ::1] d_bias,
) noexcept nogil:
    tw_many_outputs_back(
        &errors[0], &weights[which, 0, 0], &inputs[0], &d_inputs[0], &d_weights[which, 0, 0], &d_bias[which, 0],
        <int>weights.shape[2], <int>weights.shape[1],
    )
