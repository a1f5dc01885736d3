cimport cython
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int PROJECTIVE, LEFT_PASS, RIGHT_PASS, PUT, DIST, SHIFT

cdef class ThreeStep(TransitionSystem):
    cdef readonly TransitionSystem first
    cdef readonly int base
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _kind(self, State s, int move) noexcept nogil
    cdef int _open_valency(self, State s, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef Oracle first
    cdef readonly int[::1] anchors
    cdef ThreeStep steps
    @cython.locals(is_lifted=bint)
    cdef int _move(self, State s) noexcept nogil
    cdef int _label(self, State s, int move) noexcept nogil
    cdef int _wanted(self, State s) noexcept nogil
