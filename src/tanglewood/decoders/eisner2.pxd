cimport cython

cdef double LOWEST, MINUS
cdef int CLOSED_LEFT, CLOSED_RIGHT, OPEN_LEFT, OPEN_RIGHT, PAIR

cdef class SiblingChart:
    cdef int size
    cdef Py_ssize_t area
    cdef bint single_root
    cdef const float[:, ::1] scores
    cdef const float[:, :, ::1] siblings
    cdef double[::1] items
    cdef int[::1] agenda
    cdef readonly int[::1] heads
    cdef double value
    cdef double _item(self, int kind, int left, int right) noexcept nogil
    @cython.locals(best=int, low=int, high=int, k=int, top=double, value=double)
    cdef int _way(self, int kind, int left, int right) noexcept nogil
    @cython.locals(node=int, width=int, left=int, step=int, kind=int)
    cdef double _fill(self) noexcept nogil
    cdef int _push(self, int depth, int kind, int left, int right) noexcept nogil
    @cython.locals(depth=int, kind=int, left=int, right=int, k=int)
    cdef void _trace(self) noexcept nogil
    @cython.locals(best=double)
    cpdef double run(self)
