"""The kernels of kernels.h for whole arrays; interpreted, vectors_plain.py stands in for this file."""

from libc.string cimport memcpy
from tanglewood.ml.kernels cimport Kernels

cdef inline float *part_of(float[:, ::1] table, int row, int start, int size) noexcept nogil:
    return &table[row, start]

cdef inline void rectified_sum(Kernels kernels, float[::1] out, float **rows, int n_rows) noexcept nogil:
    kernels.table.rectified_sum(&out[0], rows, n_rows, <int>out.shape[0])

cdef inline void add_to_rows(Kernels kernels, float **rows, int n_rows, float[::1] change) noexcept nogil:
    kernels.table.add_to_rows(rows, n_rows, &change[0], <int>change.shape[0])

cdef inline void few_outputs(
    Kernels kernels, float[::1] out, float[::1] bias, float[:, ::1] weights, float[::1] inputs
) noexcept nogil:
    kernels.table.few_outputs(
        &out[0], &bias[0], &weights[0, 0], &inputs[0], <int>weights.shape[0], <int>weights.shape[1]
    )

cdef inline void few_outputs_back(
    Kernels kernels, float[::1] errors, float[:, ::1] weights, float[::1] inputs,
    float[::1] d_inputs, float[:, ::1] d_weights, float[::1] d_bias,
) noexcept nogil:
    kernels.table.few_outputs_back(
        &errors[0], &weights[0, 0], &inputs[0], &d_inputs[0], &d_weights[0, 0], &d_bias[0],
        <int>weights.shape[0], <int>weights.shape[1],
    )

cdef inline void many_outputs(
    Kernels kernels, float[::1] out, float[:, ::1] bias, float[:, :, ::1] weights, int which, float[::1] inputs
) noexcept nogil:
    kernels.table.many_outputs(
        &out[0], &bias[which, 0], &weights[which, 0, 0], &inputs[0], <int>weights.shape[2], <int>weights.shape[1]
    )

cdef inline void many_outputs_back(
    Kernels kernels, float[::1] errors, float[:, :, ::1] weights, int which, float[::1] inputs,
    float[::1] d_inputs, float[:, :, ::1] d_weights, float[:, ::1] d_bias,
) noexcept nogil:
    kernels.table.many_outputs_back(
        &errors[0], &weights[which, 0, 0], &inputs[0], &d_inputs[0], &d_weights[which, 0, 0], &d_bias[which, 0],
        <int>weights.shape[2], <int>weights.shape[1],
    )

cdef inline void adam(
    Kernels kernels, float[::1] values, float[::1] first, float[::1] second, float[::1] averaged, float[::1] gradient,
    float rate, float keep_first, float keep_second, float epsilon, float keep_average,
) noexcept nogil:
    kernels.table.adam(
        &values[0], &first[0], &second[0], &averaged[0], &gradient[0],
        rate, keep_first, keep_second, epsilon, keep_average, values.shape[0],
    )

cdef inline void lstm_step(
    Kernels kernels, float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] outputs,
    float[:, ::1] recurrent, Py_ssize_t start, Py_ssize_t before, int rows,
) noexcept nogil:
    kernels.table.lstm_step(
        &gates[0, 0], &cells[0, 0], &squashed[0, 0], &outputs[0, 0], &recurrent[0, 0],
        start, before, rows, <int>recurrent.shape[0],
    )

cdef inline void take_rows(
    float[:, ::1] to, Py_ssize_t start, float[:, ::1] table, int[::1] places, Py_ssize_t first, int count
) noexcept nogil:
    cdef int r
    for r in range(count):
        memcpy(&to[start + r, 0], &table[places[first + r], 0], sizeof(float) * table.shape[1])

cdef inline void add_rows(
    float[:, ::1] to, int column, int[::1] places, Py_ssize_t first, float[:, ::1] rows, Py_ssize_t start, int count
) noexcept nogil:
    cdef int r, i
    cdef float *target
    for r in range(count):
        target = &to[places[first + r], column]
        for i in range(rows.shape[1]):
            target[i] += rows[start + r, i]

cdef inline void lstm_step_back(
    Kernels kernels, float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] d_outputs,
    float[:, ::1] d_cells, float[:, ::1] d_gates, float[:, ::1] transposed, Py_ssize_t start, Py_ssize_t before, int rows,
) noexcept nogil:
    kernels.table.lstm_step_back(
        &gates[0, 0], &cells[0, 0], &squashed[0, 0], &d_outputs[0, 0], &d_cells[0, 0], &d_gates[0, 0],
        &transposed[0, 0], start, before, rows, <int>transposed.shape[1],
    )

cdef inline void dense_layer(
    Kernels kernels, float[:, ::1] out, float[::1] bias, float[:, ::1] weights, float[:, ::1] rows
) noexcept nogil:
    kernels.table.dense(
        &out[0, 0], &bias[0], &weights[0, 0], &rows[0, 0],
        <int>rows.shape[0], <int>weights.shape[1], <int>weights.shape[0],
    )

cdef inline void rounded_products(
    Kernels kernels, signed char[::1] packed, float[::1] scales, float[::1] excess, unsigned char[::1] scratch,
    float[::1] units, float[:, ::1] rows, float[:, ::1] out,
) noexcept nogil:
    kernels.table.rounded(
        &out[0, 0], &rows[0, 0], &packed[0], &scales[0], &excess[0], &scratch[0], &units[0],
        <int>rows.shape[0], <int>rows.shape[1], <int>out.shape[1],
    )
