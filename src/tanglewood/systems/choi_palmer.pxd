from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem
from tanglewood.systems.covington cimport DynamicOracle

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, NO_ARC, LEFT_POP

cdef class ChoiPalmer(TransitionSystem):
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] leftmost, rightmost
    cdef int _move(self, State s) noexcept nogil

cdef class PopOracle(DynamicOracle):
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
