cimport cython
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.search cimport MoveScorer, Search
from tanglewood.core.state cimport State
from tanglewood.learners.network.core cimport softmax
from tanglewood.ml.kernels cimport Kernels
from tanglewood.ml.vectors cimport (
    add_to_rows, few_outputs, few_outputs_back, many_outputs, many_outputs_back, part_of, rectified_sum,
)

cdef int GAPS, PARTS

@cython.locals(gap=int)
cpdef int gap_between(int low, int high) noexcept nogil

@cython.final
cdef class View:
    cdef Kernels kernels
    cdef readonly int size, n_moves
    cdef int column, low, high, front
    cdef public int offset
    cdef bint learning
    cdef int[::1] moves
    cdef float[:, ::1] rows, bias, empty, gaps, weights
    cdef float[:, ::1] d_rows, d_bias, d_empty, d_gaps, d_weights
    cdef float[::1] move_bias, d_move_bias, hidden, d_hidden, mask, out, errors
    cdef float *parts[6]
    cdef float *_part(self, float[:, ::1] rows, float[:, ::1] empty, int place, int node) noexcept nogil
    cdef void _gather(self, float[:, ::1] rows, float[:, ::1] bias, float[:, ::1] empty, float[:, ::1] gaps) noexcept nogil
    @cython.locals(k=int)
    cdef void _look(self, int low, int high, int front) noexcept nogil
    cdef void _score(self) noexcept nogil
    @cython.locals(i=int, k=int)
    cdef void _forget(self) noexcept nogil
    cdef void _back(self) noexcept nogil
    @cython.locals(k=int)
    cdef void _hidden_back(self) noexcept nogil

cdef class TripleCore(MoveScorer):
    cdef Kernels kernels
    cdef View view0, view1, view2
    cdef readonly int n_moves, n_labels
    cdef int s0, s1, s2, b0
    cdef float[:, :, ::1] label_weights
    cdef float[:, ::1] label_bias
    cdef int[::1] label_set, view_of_move, place_of_move
    cdef void _see(self, State s) noexcept nogil
    cdef void _look(self) noexcept nogil
    cdef float _move_score(self, int move) noexcept nogil
    @cython.locals(move=int)
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    @cython.locals(which=int)
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil
    @cython.locals(j=int, front=int, high=int, low=int, row=int, i=int)
    cdef void _fill(self, float[:, :, ::1] out, int n) noexcept nogil
    @cython.locals(n=int)
    cpdef fill(self, float[:, :, ::1] out)

cdef class TripleTrainer(TripleCore):
    cdef float[:, :, ::1] d_label_weights
    cdef float[:, ::1] d_label_bias
    cdef float[::1] move_scores, label_scores
    cdef public int[::1] move_counts
    cdef float keep
    cdef public float explore
    cdef public long rng
    cdef public double loss
    cdef public int n_states
    cdef double _random(self) noexcept nogil
    @cython.locals(k=int, scale=float)
    cdef void _drop(self) noexcept nogil
    cdef void _forget(self) noexcept nogil
    cdef void _blame(self, int move, float error) noexcept nogil
    cdef void _labels_back(self, View view, int which) noexcept nogil
    @cython.locals(which=int, of_view=int)
    cdef void _back(self, int labelled_move) noexcept nogil
    @cython.locals(head=int, i=int)
    cdef bint _learn_label(self, Search search, State s, int move, int label) noexcept nogil
    @cython.locals(target=int, legal=int, move=int, label=int, has_label=bint)
    cdef void _learn(self, Search search, Oracle oracle, State s) noexcept nogil
    cpdef learn(self, Search search, Oracle oracle, State s, int offset)
    @cython.locals(i=int, legal=int, move=int, label=int, has_label=bint)
    cdef void _follow(self, Search search, Oracle oracle, State s, int[::1] moves, int n, float error, bint right) noexcept nogil
    @cython.locals(n=int)
    cpdef follow(self, Search search, Oracle oracle, State s, int[::1] moves, float error, bint right)
