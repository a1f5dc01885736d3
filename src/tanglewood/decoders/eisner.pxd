cimport cython
from tanglewood.core.logs cimport exp, log

cdef double LOWEST
cdef int CLOSED_LEFT, CLOSED_RIGHT, OPEN_LEFT, OPEN_RIGHT

cdef class EisnerChart:
    cdef int size
    cdef Py_ssize_t area
    cdef bint single_root
    cdef double[::1] scores, items, weights
    cdef int[::1] agenda
    cdef readonly int[::1] heads
    cpdef fill(self, const float[:, ::1] scores)
    cdef int _ways(self, int kind, int left, int right) noexcept nogil
    @cython.locals(diagonal=Py_ssize_t)
    cdef Py_ssize_t _first(self, int kind, int left, int right) noexcept nogil
    @cython.locals(here=Py_ssize_t)
    cdef Py_ssize_t _second(self, int kind, int left, int right) noexcept nogil
    @cython.locals(first=Py_ssize_t, second=Py_ssize_t, k=Py_ssize_t, ways=Py_ssize_t, best=double, total=double)
    cdef double _join(self, int kind, int left, int right, bint sums) noexcept nogil
    @cython.locals(here=Py_ssize_t, below=double)
    cdef double _fill_items(self, int last, bint sums) noexcept nogil
    @cython.locals(first=Py_ssize_t, second=Py_ssize_t, value=double, top=double, rest=double)
    cdef int _choose(self, int kind, int left, int right, double draw) noexcept nogil
    cdef int _push(self, int depth, int kind, int left, int right) noexcept nogil
    @cython.locals(is_random=bint)
    cdef void _trace(self, int last, double[::1] draws) noexcept nogil
    @cython.locals(first=Py_ssize_t, second=Py_ssize_t, share=double)
    cdef void _hand_down(self, int kind, int left, int right, double value, double weight) noexcept nogil
    @cython.locals(here=Py_ssize_t, open_left=Py_ssize_t, open_right=Py_ssize_t, closed_right=Py_ssize_t, weight=double)
    cdef void _fill_weights(self, int last, double[:, ::1] out) noexcept nogil
    cpdef double best(self)
    cpdef double total(self)
    cpdef trace(self, double[::1] draws)
    cpdef fill_marginals(self, double[:, ::1] out)
