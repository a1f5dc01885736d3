from tanglewood.core.oracle cimport GreedyOracle, Oracle
from tanglewood.core.state cimport State
from tanglewood.systems.arc_standard cimport ArcStandard

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, TAG, TAGGING, BUILDING, FIRST_TAG

cdef class TagFirstOracle(Oracle):
    cdef GreedyOracle builder
    cdef int[::1] tags
    cdef int _move(self, State s) noexcept nogil
    cdef int _label(self, State s, int move) noexcept nogil

cdef class TagFirst(ArcStandard):
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
