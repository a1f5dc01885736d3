from tanglewood.core.oracle cimport Oracle, ReachOracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport FrontArcSystem

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, NO_ARC

cdef class Covington(FrontArcSystem):
    cdef readonly int bound
    cdef readonly bint every_pair
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef bint _is_permissible(self, State s) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] leftmost
    cdef bint every_pair
    cdef int _move(self, State s) noexcept nogil

cdef class DynamicOracle(ReachOracle):
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
