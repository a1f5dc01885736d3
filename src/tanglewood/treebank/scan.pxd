cimport cython

cdef int FIELDS, TAB, NEWLINE, RETURN, SPACE, ZERO, UNDERSCORE, MISSING, TOO_LARGE

cdef Py_ssize_t _find(const unsigned char[::1] data, int byte, Py_ssize_t start, Py_ssize_t end) noexcept nogil

cdef Py_ssize_t _column(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t end, int steps) noexcept nogil

@cython.locals(i=Py_ssize_t)
cdef bint _is_blank(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

@cython.locals(i=Py_ssize_t, value=int)
cpdef int decimal(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

cdef class BlockFinder:
    cdef bint at_once, begun, ended, said
    cdef Py_ssize_t line
    cdef public Py_ssize_t seen
    cdef readonly Py_ssize_t lines
    @cython.locals(size=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t)
    cpdef list ends(self, const unsigned char[::1] data, Py_ssize_t skip, bint whole)
    cpdef object drop(self, const unsigned char[::1] data, Py_ssize_t count)

@cython.locals(
    size=Py_ssize_t, stop=Py_ssize_t, place=Py_ssize_t, newline=Py_ssize_t, end=Py_ssize_t, form=Py_ssize_t,
    head=Py_ssize_t, label=Py_ssize_t, deps=Py_ssize_t, misc=Py_ssize_t, is_missing=bint, spans="long long[::1]",
    heads="int[::1]",
)
cpdef tuple scan(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t n_lines)

@cython.locals(i=Py_ssize_t)
cpdef list slices(bytes data, long long[::1] spans, int first, int last, int less)

@cython.locals(size=Py_ssize_t, i=Py_ssize_t, after=int)
cpdef bint has_empty_column(const unsigned char[::1] data)

@cython.locals(start=Py_ssize_t, word=Py_ssize_t)
cpdef bytes with_arcs(bytes data, long long[::1] spans, list heads, list labels)
