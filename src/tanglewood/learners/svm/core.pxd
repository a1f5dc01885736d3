cimport cython
from tanglewood.core.actions cimport Actions
from tanglewood.core.search cimport MoveScorer
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem
from tanglewood.learners.features cimport FeatureSet
from tanglewood.ml.word_table cimport WordTable

cdef int KEY_BITS
cdef unsigned long long KEY_MASK, APART
cdef float LOW

cdef class KeyTable:
    cdef readonly int n_keys
    cdef unsigned long long size
    cdef int[::1] slots
    @cython.locals(slot="unsigned long long")
    cdef int _slot(self, int part, int key) noexcept nogil
    cdef void _put(self, int part, int key, int number) noexcept nogil
    cdef int _find(self, int part, int key) noexcept nogil

cdef class Parts:
    cdef readonly int size, n_keys, n_classes, most_classes
    cdef const int[::1] keys, numbers, starts, classes, moves, labels
    cdef const float[::1] prior

cdef class ClassScorer(MoveScorer):
    cdef TransitionSystem system
    cdef Actions actions
    cdef int time
    cdef bint by_phase
    cdef FeatureSet features, splitting
    cdef Parts parts
    cdef KeyTable keys
    cdef double[::1] values
    cdef float[::1] scores
    cdef int[::1] found, seen
    cpdef use(self, WordTable table, int offset)
    cdef int _look_up(self, int part, int[::1] keys, int count) noexcept nogil
    cdef void _decide(self, int part, int[::1] keys, int count) noexcept nogil
    cdef int _part(self, State s) noexcept nogil
    cdef void _score_classes(self, State s) noexcept nogil
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil

cdef class SupportVectors:
    cdef readonly int n_vectors
    cdef const double[::1] kernel, intercepts, coef_values
    cdef const int[::1] vectors, pairs, coef_starts, coef_pairs, index_starts, index

cdef class SvmCore(ClassScorer):
    cdef SupportVectors learnt
    cdef int[::1] common
    cdef double[::1] sums
    cdef void _decide(self, int part, int[::1] keys, int count) noexcept nogil
    @cython.locals(value=double)
    cdef void _sum(self, int part, int[::1] keys, int count) noexcept nogil

cdef class LiblinearCore(ClassScorer):
    cdef const int[::1] starts, places
    cdef const float[::1] weights
    cdef void _decide(self, int part, int[::1] keys, int count) noexcept nogil
