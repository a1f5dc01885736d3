cimport cython

cdef int FIELDS, NUMBERS, HALF, FIRST_TAG

@cython.final
cdef class State:
    cdef readonly int n
    cdef int[::1] block
    cdef public int[::1] stack, buffer, heads, labels, n_deps, aside, aside_labels, component, marks
    cdef public int[::1] left1, left2, right1, right2
    cdef int[::1] tag_candidates
    cdef int candidate_width
    cdef public int depth, n_buffer, aside_depth, phase, arcs, count, repaired, put_back
    cdef public long long steps
    cdef void _lie_in(self, int[::1] block) noexcept nogil
    cdef void _clear(self) noexcept nogil
    cdef void _copy_from(self, State other) noexcept nogil
    cdef int _size(self) noexcept nogil
    @cython.locals(size=int, i=int, high="long long")
    cdef void _load(self, int[::1] pool, Py_ssize_t start, bint whole) noexcept nogil
    @cython.locals(size=int, i=int)
    cdef void _save(self, int[::1] pool, Py_ssize_t start, bint whole) noexcept nogil
    cdef void _attach(self, int head, int dependent, int label) noexcept nogil
    cdef void _see_child(self, int head, int dependent) noexcept nogil
    cdef void _part(self) noexcept nogil
    cdef int _root_of(self, int node) noexcept nogil
    cdef int _top(self) noexcept nogil
    cdef int _front(self) noexcept nogil
    cdef void _shift(self) noexcept nogil
