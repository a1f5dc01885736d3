from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.systems.swap cimport Swap

cdef int SHIFT, RESHIFT, FIRST_TAG

cdef class JointSwap(Swap):
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class EagerTagOracle(Oracle):
    cdef Oracle inner
    cdef int[::1] tags
    cdef int _move(self, State s) noexcept nogil
    cdef int _label(self, State s, int move) noexcept nogil
    cdef void _costs(self, State s, int[::1] out) noexcept nogil

cdef class LazyTagOracle(EagerTagOracle):
    pass
