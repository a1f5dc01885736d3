from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.systems.arc_standard cimport ArcStandard
from tanglewood.systems.planar cimport Planar

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, STANDARD_SWAP, REDUCE, PLANAR_SWAP

cdef class StackSwap(ArcStandard):
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StackSwapPlanar(Planar):
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class SearchOracle(Oracle):
    cdef Oracle plain
    cdef bint planned
    cdef int[::1] plan
    cdef int plan_length
    cdef int _move(self, State s) noexcept nogil

cdef class StandardOracle(SearchOracle):
    cdef list last, enter, leave

cdef class PlanarOracle(SearchOracle):
    cdef list linked, last
