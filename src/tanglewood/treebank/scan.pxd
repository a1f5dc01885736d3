cimport cython

cdef int FIELDS, TAB, NEWLINE, RETURN, SPACE, ZERO, UNDERSCORE, MISSING, TOO_LARGE

cdef int _find(const unsigned char[::1] data, int byte, int start, int end) noexcept nogil

cdef int _column(const unsigned char[::1] data, int start, int end, int steps) noexcept nogil

@cython.locals(i=int)
cdef bint _is_blank(const unsigned char[::1] data, int start, int end) noexcept nogil

@cython.locals(i=int, value=int)
cpdef int decimal(const unsigned char[::1] data, int start, int end) noexcept nogil

@cython.locals(size=int, start=int, end=int, lines=int, begun=bint, ended=bint)
cpdef list block_ends(const unsigned char[::1] data, int skip, bint at_once, bint whole)

@cython.locals(
    size=int, stop=int, place=int, newline=int, end=int, form=int, head=int, label=int, deps=int, misc=int,
    is_missing=bint, spans="int[::1]", heads="int[::1]",
)
cpdef tuple scan(const unsigned char[::1] data, int start, int n_lines)

@cython.locals(i=int)
cpdef list slices(bytes data, int[::1] spans, int first, int last, int less)

@cython.locals(start=int, word=int)
cpdef bytes with_arcs(bytes data, int[::1] spans, list heads, list labels)
