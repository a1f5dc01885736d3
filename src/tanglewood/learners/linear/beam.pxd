cimport cython
from tanglewood.core.beam cimport Beam
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.search cimport Search
from tanglewood.core.state cimport State
from tanglewood.learners.linear.core cimport LinearTrainer

cdef class BeamTrainer:
    cdef LinearTrainer trainer
    cdef Search search
    cdef Beam beam
    cdef int width
    cdef int[::1] gold_moves, gold_labels, guess_moves, guess_labels, parents, moves, labels
    cdef double[::1] gold_scores
    cdef bint _is_open(self, State s) noexcept nogil
    cdef bint _has_label(self, State s, int move, int label) noexcept nogil
    @cython.locals(score=double)
    cdef int _follow_gold(self, Oracle oracle, State s, int steps) noexcept nogil
    @cython.locals(ahead=double, most=double)
    cdef int _run_beam(self, State s, int length) noexcept nogil
    cdef void _trace_back(self, int step) noexcept nogil
    @cython.locals(time=double)
    cdef void _change(self, State s, int[::1] moves, int[::1] labels, int same, int end, double change) noexcept nogil
    cdef void _learn(self, Oracle oracle, State s, int steps) noexcept nogil
    cpdef learn(self, Oracle oracle, State s)
