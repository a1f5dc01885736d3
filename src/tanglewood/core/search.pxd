cimport cython
from tanglewood.core.actions cimport Actions
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef float LOW

cdef class MoveScorer:
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil

cdef class Search:
    cdef readonly Actions actions
    cdef readonly TransitionSystem system
    cdef readonly MoveScorer scorer
    cdef readonly int n_labels
    cdef int chosen_label
    cdef readonly long moves_taken, states_scored, labels_scored
    cdef float[::1] move_scores, spare_scores, label_scores
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move) noexcept nogil
    cdef void _take(self, State s, int move, int label) noexcept nogil
    cdef int _best_label(self, State s, int move, bint scored) noexcept nogil
    cdef int _choose(self, State s) noexcept nogil
    cdef void _greedy(self, State s) noexcept nogil
    cpdef greedy(self, State s)
    @cython.locals(n=int, i=int, label=int)
    cpdef follow(self, State s, int[::1] moves)
    cpdef choose(self, State s)
    cpdef weigh(self, State s)
