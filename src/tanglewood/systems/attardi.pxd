from tanglewood.core.oracle cimport GreedyOracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int SHIFT, B0

cdef class Attardi(TransitionSystem):
    cdef int[::1] head_place, modifier_place
    cdef readonly object inventory
    cdef readonly bint is_closed
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _node(self, State s, int place) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StaticOracle(GreedyOracle):
    cdef int[::1] plan
    cdef bint planned
    cdef GreedyOracle closure
    cdef int plan_length
    cdef int _move(self, State s) noexcept nogil

cdef class LazyOracle(StaticOracle):
    cdef GreedyOracle greedy
    cdef State after
    cdef int[::1] waits
    cdef int _move(self, State s) noexcept nogil
