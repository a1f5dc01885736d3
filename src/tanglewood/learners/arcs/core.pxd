cimport cython
from tanglewood.core.actions cimport Actions
from tanglewood.core.state cimport State
from tanglewood.learners.features cimport FeatureSet
from tanglewood.ml.word_table cimport WordTable
from tanglewood.ml.linear_weights cimport LearningWeights, Weights

@cython.final
cdef class ArcFeatures:
    cdef FeatureSet heads, words, pairs
    cdef readonly int most_keys
    cpdef use(self, WordTable table, int offset)
    cdef int _of_head(self, State s, int head, int to_right) noexcept nogil
    cdef int _of_word(self, State s, int word, int to_right) noexcept nogil

@cython.final
cdef class SiblingFeatures:
    cdef FeatureSet pairs, triples
    cdef readonly int most_keys
    cpdef use(self, WordTable table, int offset)
    cdef int _of_pair(self, State s, int nearer, int word) noexcept nogil
    cdef int _of_triple(self, State s, int head, int nearer, int word) noexcept nogil

cdef class ArcScorer:
    cdef ArcFeatures arcs, labels
    cdef SiblingFeatures siblings
    cdef readonly bint has_siblings
    cdef Actions actions
    cdef readonly int n_labels
    cdef State state
    cdef float[::1] arc_score, label_scores, head_scores, word_scores, head_labels, word_labels
    cdef bint is_learning
    cdef int[::1] gold_heads, gold_labels
    cdef double head_cost, label_cost, gold_value
    cpdef use(self, WordTable table, int offset, State state)
    cdef void _weigh_arcs(self, FeatureSet features, int count, float[::1] out) noexcept nogil
    cdef void _weigh_labels(self, FeatureSet features, int count, float[::1] out) noexcept nogil
    @cython.locals(place=Py_ssize_t)
    cdef void _weigh_ends(self) noexcept nogil
    @cython.locals(first=Py_ssize_t, second=Py_ssize_t, score=double, to_right=int)
    cdef int _best_label(self, int head, int word) noexcept nogil
    @cython.locals(score=double, to_right=int)
    cdef void _fill(self, float[:, ::1] scores, int[:, ::1] labels) noexcept nogil
    cpdef fill(self, float[:, ::1] scores, int[:, ::1] labels)
    @cython.locals(last=int, nearer=int, word=int, head=int, first=int, end=int, count=int, score=double)
    cdef void _fill_siblings(self, float[:, :, ::1] siblings) noexcept nogil
    @cython.locals(count=int)
    cdef void _weigh_triple(self, float[:, :, ::1] siblings, int head, int nearer, int word, double score) noexcept nogil
    cpdef fill_siblings(self, float[:, :, ::1] siblings)

cdef class ArcCore(ArcScorer):
    cdef Weights arc_weights, label_weights
    cdef int[::1] sums, places
    cdef void _weigh_arcs(self, FeatureSet features, int count, float[::1] out) noexcept nogil
    cdef void _weigh_labels(self, FeatureSet features, int count, float[::1] out) noexcept nogil

cdef class ArcTrainer(ArcScorer):
    cdef readonly LearningWeights learnt_arcs, learnt_labels
    cdef double most
    cdef public double time, loss
    cdef int[::1] heads, gold_nearer, nearer
    cdef bint by_siblings
    cdef void _weigh_arcs(self, FeatureSet features, int count, float[::1] out) noexcept nogil
    cdef void _weigh_labels(self, FeatureSet features, int count, float[::1] out) noexcept nogil
    @cython.locals(to_right=int, count=int, total=int)
    cdef int _change_arc(self, int head, int word, int other, double step) noexcept nogil
    @cython.locals(to_right=int)
    cdef int _change_label(self, int head, int word, int label, double step) noexcept nogil
    @cython.locals(count=int, total=int)
    cdef int _change_siblings(self, int head, int nearer, int word, int other, double step) noexcept nogil
    @cython.locals(total=int, before=int)
    cdef int _change_weights(self, int[:, ::1] labels, double step) noexcept nogil
    @cython.locals(lag=double, step=double, count=int)
    cpdef update(self, double value, int[:, ::1] labels)
