cimport cython
from tanglewood.ml.kernels cimport Kernels
from tanglewood.ml.vectors cimport adam, add_rows, dense_layer, lstm_step, lstm_step_back, take_rows

@cython.locals(start=Py_ssize_t, before=Py_ssize_t, t=Py_ssize_t)
cpdef lstm_forward_steps(
    Kernels kernels, float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] outputs,
    float[:, ::1] recurrent, int[::1] sizes,
)
@cython.locals(half=Py_ssize_t, first=Py_ssize_t, start=Py_ssize_t, before=Py_ssize_t, t=Py_ssize_t)
cpdef lstm_add_steps(
    Kernels kernels, float[:, ::1] context, int column, float[:, ::1] inputs, int[::1] places, int[::1] nodes,
    float[:, ::1] recurrent, int[::1] sizes, float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed,
    float[:, ::1] outputs,
)
@cython.locals(start=Py_ssize_t, before=Py_ssize_t, t=Py_ssize_t)
cpdef lstm_backward_steps(
    Kernels kernels, float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] d_outputs,
    float[:, ::1] d_cells, float[:, ::1] d_gates, float[:, ::1] transposed, int[::1] sizes,
)
cpdef adam_step(
    Kernels kernels, float[::1] values, float[::1] first, float[::1] second, float[::1] averaged, float[::1] gradient,
    float rate, float keep_first, float keep_second, float epsilon, float keep_average,
)
cpdef dense_rows(Kernels kernels, float[:, ::1] out, float[::1] bias, float[:, ::1] weights, float[:, ::1] rows)
