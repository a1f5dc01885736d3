from libc.math cimport lrint
from tanglewood.decoders.eisner cimport EisnerChart
from tanglewood.core.oracle cimport LossOracle
from tanglewood.core.state cimport State

cdef int NEVER

cdef class ProjectiveOracle(LossOracle):
    cdef int[::1] nodes
    cdef EisnerChart chart
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
