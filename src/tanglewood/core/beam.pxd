cimport cython
from tanglewood.core.logs cimport exp, log
from tanglewood.core.search cimport Search
from tanglewood.core.state cimport State

cdef int LABELS, LONG

cdef class Beam:
    cdef readonly Search search
    cdef readonly int width
    cdef readonly Py_ssize_t size
    cdef State at
    cdef int[::1] pool, slots, next_slots, heirs, done
    cdef double[::1] scores
    cdef int n_candidates
    cdef bint normalized, weighs_labels, copies
    cdef int least_long
    cdef double[::1] candidate_scores
    cdef int[::1] candidate_items, candidate_moves, candidate_labels
    cdef void _offer(self, double score, int item, int move, int label) noexcept nogil
    cdef double _threshold(self) noexcept nogil
    @cython.locals(total=double, top=double)
    cdef double _log_total(self, float[::1] scores, int size) noexcept nogil
    @cython.locals(score=double, total=double)
    cdef void _expand(self, State s, int item) noexcept nogil
    @cython.locals(total=double)
    cdef void _label(self, State s, int item, int move, double score) noexcept nogil
    cdef void _run(self, State s) noexcept nogil
    cdef int _begin(self) noexcept nogil
    cdef int _advance(self) noexcept nogil
    cdef void _visit(self, int item) noexcept nogil
    cdef void _leave(self, int item) noexcept nogil
    cdef void _share_out(self, int items) noexcept nogil
    @cython.locals(i=Py_ssize_t)
    cdef void _copy(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil
    cdef void _take_out(self, State s, int item) noexcept nogil
    cpdef make_room(self, State s)
    cpdef object parse(self, State s)
    cpdef object restore(self, State s, int rank)
