cimport cython
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.search cimport MoveScorer, Search
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem
from tanglewood.learners.features cimport FeatureSet
from tanglewood.ml.word_table cimport WordTable
from tanglewood.ml.linear_weights cimport LearningWeights, Weights

cdef int TAGGED

cdef class LinearScorer(MoveScorer):
    cdef TransitionSystem system
    cdef FeatureSet moves, labels, tags
    cdef int _move_features(self, State s) noexcept nogil
    cdef int _label_features(self, State s, int move) noexcept nogil

cdef class LinearCore(LinearScorer):
    cdef Weights move_weights, label_weights
    cdef int[::1] sums, places
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil

cdef class LinearTrainer(LinearScorer):
    cdef readonly LearningWeights learnt_moves, learnt_labels
    cdef float[::1] move_scores, label_scores
    cdef int[::1] costs
    cdef double margin, most
    cdef public double explore, time, loss
    cdef public Py_ssize_t rng
    cdef public int n_states
    cdef int n_move_features, n_label_features
    cdef double _random(self) noexcept nogil
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil
    cdef double _step(self, double lead, int count) noexcept nogil
    @cython.locals(lead=double, step=double)
    cdef int _learn_label(self, Search search, State s, int move, int label, int head) noexcept nogil
    @cython.locals(lead=double, step=double, is_wrong_tag=bint)
    cdef void _learn(self, Search search, Oracle oracle, State s, bint explores) noexcept nogil
    cpdef learn(self, Search search, Oracle oracle, State s, bint explores)
