cimport cython
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, SWAP

cdef class ArcHybridSwap(TransitionSystem):
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] order
    cdef int _move(self, State s) noexcept nogil
    cdef bint _must_swap(self, State s) noexcept nogil

cdef class StaticDynamicOracle(StaticOracle):
    cdef int[::1] place
    @cython.locals(forced=bint)
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
    cdef int _loses_by_arc(self, State s, int move) noexcept nogil
    cdef int _loses_by_shift(self, State s) noexcept nogil
    cdef bint _comes_back(self, State s, int node) noexcept nogil
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
