from tanglewood.core.state cimport State

cdef class TransitionSystem:
    cdef public bint single_root
    cdef public object tag_column, phases
    cdef public int best_tags
    cdef public double tag_threshold
    cdef public object moves
    cdef public int n_moves
    cdef readonly int[::1] labelled
    cdef void _start(self, State s) noexcept nogil
    cdef bint _is_final(self, State s) noexcept nogil
    cdef bint _is_legal(self, State s, int move, int label) noexcept nogil
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
    cdef void _apply(self, State s, int move, int label) noexcept nogil
    cdef void _finish(self, State s) noexcept nogil
    cdef void _take(self, State s, int move, int label) noexcept nogil
    cdef void _fill(self, State s, int first_stacked, int first_buffered) noexcept nogil
    cdef bint _is_candidate(self, State s, int word, int tag) noexcept nogil
    cdef void _hang_left_over(self, State s) noexcept nogil

cdef int LEFT_ARC, RIGHT_ARC

cdef class FrontArcSystem(TransitionSystem):
    cdef int _head(self, State s, int move, int label) noexcept nogil
    cdef int _dependent(self, State s, int move, int label) noexcept nogil
