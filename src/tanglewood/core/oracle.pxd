cimport cython
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int SHIFT

cdef class Oracle:
    cdef readonly TransitionSystem system
    cdef readonly int n
    cdef readonly long long limit
    cdef public int[::1] heads, labels, n_deps
    cdef int _move(self, State s) noexcept nogil
    cdef int _label(self, State s, int move) noexcept nogil
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
    cdef bint _is_gold(self, State s, int head, int dependent) noexcept nogil
    cdef int _check(self, State s) except -1
    cdef bint _follow(self, State s) noexcept nogil
    cdef bint _matches(self, State s) noexcept nogil
    @cython.locals(reached=bint)
    cpdef bint reaches_gold(self, State s) except -1

cdef class LossOracle(Oracle):
    cdef State after
    cdef int[::1] move_costs
    cdef int _loss(self, State s) noexcept nogil
    cdef void _costs(self, State s, int[::1] out) noexcept nogil
    cdef int _move(self, State s) noexcept nogil

cdef class ReachOracle(LossOracle):
    cdef int[::1] seen
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil

cdef class GreedyOracle(Oracle):
    cdef int _move(self, State s) noexcept nogil
    cdef bint _is_gold_move(self, State s, int move) noexcept nogil
