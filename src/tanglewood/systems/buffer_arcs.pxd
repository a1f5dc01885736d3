from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.systems.arc_eager cimport ArcEager

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE, FIRST_EXTRA

cdef class BufferArcs(ArcEager):
    cdef readonly int left_nonproj, right_nonproj
    cdef int _second(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] leftmost
    cdef int left_nonproj, right_nonproj
    cdef int _move(self, State s) noexcept nogil
    cdef bint _reduces(self, State s, int i, int j, int k) noexcept nogil
