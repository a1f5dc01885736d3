cimport cython
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.systems.arc_standard cimport ArcStandard

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, SWAP

cdef class Swap(ArcStandard):
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class EagerOracle(Oracle):
    cdef int[::1] order, best, best_order, pending, first, sibling, path
    cdef int _move(self, State s) noexcept nogil
    cdef bint _may_swap(self, State s) noexcept nogil
    @cython.locals(wants_swap=bint)
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
    cdef void _aim(self, State s) noexcept nogil
    cdef int _fragment(self, State s, int node) noexcept nogil
    cdef bint _is_above(self, int node, int below) noexcept nogil
    cdef void _sort(self, State s) noexcept nogil

cdef class LazyOracle(EagerOracle):
    cdef int[::1] components
    cdef bint _may_swap(self, State s) noexcept nogil

cdef class FewestOracle(LazyOracle):
    cdef int[::1] plan
    cdef int plan_length
    cdef readonly int at_least
    cdef int _move(self, State s) noexcept nogil
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
