from tanglewood.core.oracle cimport Oracle, ReachOracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport FrontArcSystem

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE, SWITCH

cdef class Planar(FrontArcSystem):
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil

cdef class TwoPlanar(Planar):
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] plane
    cdef int[:, ::1] leftmost
    cdef bint drawable
    cdef int _move(self, State s) noexcept nogil
    cdef bint _waits(self, State s, int plane, int below) noexcept nogil

cdef class DynamicOracle(ReachOracle):
    cdef StaticOracle static
    cdef int[::1] stacked
    cdef int _move(self, State s) noexcept nogil
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
