cimport cython
from libc.math cimport expf
from tanglewood.core.addresses cimport Addresses
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.search cimport MoveScorer, Search
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem
from tanglewood.ml.kernels cimport Kernels
from tanglewood.ml.vectors cimport (
    add_to_rows, few_outputs, few_outputs_back, many_outputs, many_outputs_back, part_of, rectified_sum,
)

cdef int LABELLED

@cython.locals(top=float, total=float)
cdef void softmax(float[::1] scores, int size) noexcept nogil

cdef class NetworkCore(MoveScorer):
    cdef Kernels kernels
    cdef Addresses slots, label_slots
    cdef readonly int hidden_size, n_labels, offset
    cdef float[:, ::1] rows, bias, empty, label_table, distances, flags, move_weights, label_bias
    cdef float[:, :, ::1] label_weights
    cdef float[::1] move_bias, hidden
    cdef int[::1] label_set, active, slot_nodes, slot_labels
    cdef int distance, near, far, n_flags, n_parts
    cdef float *parts[64]
    cdef void _look(self, State s) noexcept nogil
    @cython.locals(size=int, n=int)
    cdef void _gather(
        self, float[:, ::1] rows, float[:, ::1] bias, float[:, ::1] empty, float[:, ::1] labels,
        float[:, ::1] distances, float[:, ::1] flags,
    ) noexcept nogil
    cdef void _activate(self, State s) noexcept nogil
    cdef void _score_moves(self, State s, float[::1] out) noexcept nogil
    cdef void _score_labels(self, State s, int move, float[::1] out) noexcept nogil

cdef class NetworkTrainer(NetworkCore):
    cdef float[:, ::1] d_rows, d_bias, d_empty, d_label_table, d_distances, d_flags, d_move_weights, d_label_bias
    cdef float[:, :, ::1] d_label_weights
    cdef float[::1] d_move_bias, d_hidden, mask, move_scores, label_scores, move_errors, label_errors
    cdef int[::1] costs
    cdef public int[::1] move_counts
    cdef public double loss
    cdef public int n_states
    cdef public long rng
    cdef float keep
    cdef public float explore
    cdef double _random(self) noexcept nogil
    @cython.locals(scale=float)
    cdef void _drop(self) noexcept nogil
    @cython.locals(point=double)
    cdef int _draw(self, float[::1] probabilities, int size, int otherwise) noexcept nogil
    cdef void _moves_back(self) noexcept nogil
    cdef void _labels_back(self, int label_set) noexcept nogil
    cdef void _hidden_back(self) noexcept nogil
    @cython.locals(following=int, has_label=bint)
    cdef void _learn(self, Search search, Oracle oracle, State s) noexcept nogil
    cpdef learn(self, Search search, Oracle oracle, State s, int offset)
