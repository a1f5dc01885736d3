from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State

cdef int NEVER

cdef class ProjectiveOracle(Oracle):
    cdef int[::1] nodes, gains, closed_left, closed_right, open_left, open_right
    cdef State after
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
    cdef int _move(self, State s) noexcept nogil
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
    cdef int _best_gain(self, int first, int last) noexcept nogil
    cdef int[::1] move_costs
