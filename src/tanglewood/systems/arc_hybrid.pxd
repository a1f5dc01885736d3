from tanglewood.systems.projective_oracle cimport ProjectiveOracle
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int SHIFT, LEFT_ARC, RIGHT_ARC

cdef class ArcHybrid(TransitionSystem):
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil

cdef class DynamicOracle(ProjectiveOracle):
    cdef bint _is_open(self, State s, int head, int dependent) noexcept nogil
