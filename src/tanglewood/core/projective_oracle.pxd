from tanglewood.core.oracle cimport LossOracle
from tanglewood.core.state cimport State

cdef int NEVER

cdef class ProjectiveOracle(LossOracle):
    cdef int[::1] nodes, gains, closed_left, closed_right, open_left, open_right
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
    cdef int _best_gain(self, int first, int last) noexcept nogil
