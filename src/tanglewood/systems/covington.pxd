from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int SHIFT, NO_ARC, LEFT_ARC, RIGHT_ARC

cdef class Covington(TransitionSystem):
    cdef readonly int bound
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef bint _is_permissible(self, State s) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] leftmost
    cdef int _move(self, State s) noexcept nogil

cdef class DynamicOracle(StaticOracle):
    cdef int[::1] seen
    cdef State after
    cdef int _loss(self, State s) noexcept nogil
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
