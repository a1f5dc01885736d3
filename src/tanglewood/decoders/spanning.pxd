cimport cython

cdef int UNSEEN, ON_PATH, DONE, MERGED, FORBIDDEN
cdef double LOWEST

cdef class Edmonds:
    cdef int size
    cdef double[::1] levels, values
    cdef int[::1] arc_heads, arc_words, states, path, sources, numbers, above, chosen_heads, chosen_words
    cdef readonly int[::1] heads
    @cython.locals(value=double, is_allowed=bint, place=Py_ssize_t)
    cdef void _fill(self, const float[:, ::1] scores, bint single_root) noexcept nogil
    @cython.locals(place=Py_ssize_t)
    cdef int _best_source(self, int slot) noexcept nogil
    @cython.locals(place=Py_ssize_t, own=Py_ssize_t, entry=Py_ssize_t, leaving=Py_ssize_t)
    cdef void _contract(self, int first, int last) noexcept nogil
    cdef void _set(self, Py_ssize_t place, Py_ssize_t arc, double level, double value) noexcept nogil
    cdef void _run(self, const float[:, ::1] scores, bint single_root) noexcept nogil
    cpdef run(self, const float[:, ::1] scores, bint single_root)
