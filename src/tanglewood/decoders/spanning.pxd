cimport cython
from tanglewood.decoders.values cimport tree_value

cdef int UNSEEN, ON_PATH, DONE, MERGED, FORBIDDEN
cdef double LOWEST
cdef float NOTHING

cdef class Edmonds:
    cdef int size, room, table_room
    cdef float[::1] tops
    cdef double[::1] levels, values
    cdef int[::1] arc_heads, arc_words, states, path, sources, numbers, above, chosen_heads, chosen_words
    cpdef _make_room(self, int size)
    cpdef _make_tables(self, int size)
    @cython.locals(value=float, top=float)
    cdef void _compare(self, const float[:, ::1] scores, int head, int first, int last, int[::1] heads) noexcept nogil
    cdef bint _choose(self, const float[:, ::1] scores, bint single_root, int[::1] heads) noexcept nogil
    @cython.locals(value=double, is_allowed=bint, place=Py_ssize_t)
    cdef void _fill(self, const float[:, ::1] scores, bint single_root) noexcept nogil
    @cython.locals(place=Py_ssize_t)
    cdef int _best_source(self, int slot) noexcept nogil
    @cython.locals(place=Py_ssize_t, own=Py_ssize_t, entry=Py_ssize_t, leaving=Py_ssize_t)
    cdef void _contract(self, int first, int last) noexcept nogil
    cdef void _set(self, Py_ssize_t place, Py_ssize_t arc, double level, double value) noexcept nogil
    cdef void _run(self, const float[:, ::1] scores, bint single_root, int[::1] heads) noexcept nogil
    cpdef double run(self, const float[:, ::1] scores, bint single_root, int[::1] heads) except? -1
    @cython.locals(is_best=bint)
    cpdef double best(self, const float[:, ::1] scores, bint single_root, int[::1] heads) except? -1
