cimport cython
from tanglewood.ml.vectors cimport adam, lstm_step, lstm_step_back

@cython.locals(start=Py_ssize_t, before=Py_ssize_t, t=Py_ssize_t)
cpdef lstm_forward_steps(
    float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] outputs,
    float[:, ::1] recurrent, int[::1] sizes,
)
@cython.locals(start=Py_ssize_t, before=Py_ssize_t, t=Py_ssize_t)
cpdef lstm_backward_steps(
    float[:, ::1] gates, float[:, ::1] cells, float[:, ::1] squashed, float[:, ::1] d_outputs, float[:, ::1] d_cells,
    float[:, ::1] d_gates, float[:, ::1] transposed, int[::1] sizes,
)
cpdef adam_step(
    float[::1] values, float[::1] first, float[::1] second, float[::1] averaged, float[::1] gradient,
    float rate, float keep_first, float keep_second, float epsilon, float keep_average,
)
