from tanglewood.core.oracle cimport Oracle
from tanglewood.systems.projective_oracle cimport ProjectiveOracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport FrontArcSystem

cdef int SHIFT, LEFT_ARC, RIGHT_ARC, REDUCE

cdef class ArcEager(FrontArcSystem):
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil
    cdef bint _may_consume_last(self, State s, int move) noexcept nogil

cdef class StaticOracle(Oracle):
    cdef int[::1] leftmost
    cdef int _move(self, State s) noexcept nogil

cdef class DynamicOracle(ProjectiveOracle):
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
