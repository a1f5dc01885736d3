"""The kernels of vectors.h for whole arrays; interpreted, vectors_plain.py stands in for this file."""

cdef extern from "tanglewood/ml/vectors.h" nogil:
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

cdef inline void adam(
    float[::1] values, float[::1] first, float[::1] second, float[::1] averaged, float[::1] gradient,
    float rate, float keep_first, float keep_second, float epsilon, float keep_average,
) noexcept nogil:
    tw_adam(
        &values[0], &first[0], &second[0], &averaged[0], &gradient[0],
        rate, keep_first, keep_second, epsilon, keep_average, values.shape[0],
    )

cdef inline void lstm_step(
    float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] outputs, float[:, ::1] recurrent,
    Py_ssize_t start, Py_ssize_t before, int rows,
) noexcept nogil:
    tw_lstm_step(
        &gates[0, 0], &cells[0, 0], &squashed[0, 0], &outputs[0, 0], &recurrent[0, 0],
        start, before, rows, <int>recurrent.shape[0],
    )

cdef inline void lstm_step_back(
    float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] d_outputs, float[:, ::1] d_cells,
    float[:, ::1] d_gates, float[:, ::1] transposed, Py_ssize_t start, Py_ssize_t before, int rows,
) noexcept nogil:
    tw_lstm_step_back(
        &gates[0, 0], &cells[0, 0], &squashed[0, 0], &d_outputs[0, 0], &d_cells[0, 0], &d_gates[0, 0],
        &transposed[0, 0], start, before, rows, <int>transposed.shape[1],
    )
