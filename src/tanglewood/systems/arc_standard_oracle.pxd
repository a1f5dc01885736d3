cimport cython
from tanglewood.core.oracle cimport LossOracle
from tanglewood.core.state cimport State

cdef int NEVER

cdef class DynamicOracle(LossOracle):
    cdef int[::1] nodes, left, right, arc_left, arc_right, reaching, buffer_left, buffer_right, buffer_arc_left
    @cython.locals(size=int, low=int, high=int, split=int, best=int, row=Py_ssize_t)
    cdef void _fill_buffer(self) noexcept nogil
    @cython.locals(row=Py_ssize_t)
    cdef int _left(self, int place, int high, int top) noexcept nogil
    @cython.locals(row=Py_ssize_t)
    cdef int _right(self, int place, int high, int top) noexcept nogil
    @cython.locals(size=Py_ssize_t, node=int, row=Py_ssize_t, place=int, word=int, alone=int, reaching=int, split=int, gain=int, best=int, arc=int, between=Py_ssize_t)
    cdef void _fill_row(self, int low, int top, int last) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
