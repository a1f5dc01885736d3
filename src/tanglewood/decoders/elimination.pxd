cimport cython
from tanglewood.core.logs cimport exp, log

cdef extern from "tanglewood/decoders/elimination.h" nogil:
    void tw_add_rows(int level, double *out, const double *factors, const double *rows, Py_ssize_t stride, Py_ssize_t count, Py_ssize_t size)
    void tw_exp_row(int level, double *out, const float *scores, const double *tops, Py_ssize_t size)

cdef double LOWEST, LEAST, TOLERANCE

cdef class Elimination:
    cdef int level
    cdef Py_ssize_t room, size
    cdef readonly double total
    cdef double[::1] weights, arcs, slopes, turned, sums, tops, factors, through
    @cython.locals(word=Py_ssize_t)
    cdef void _raise_tops(self, const float[:, ::1] scores, Py_ssize_t head, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    @cython.locals(word=Py_ssize_t, row=Py_ssize_t)
    cdef void _exponentials(self, const float[:, ::1] scores, Py_ssize_t head, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    @cython.locals(head=Py_ssize_t, word=Py_ssize_t)
    cdef bint _weigh(self, const float[:, ::1] scores, bint single_root) noexcept nogil
    @cython.locals(word=Py_ssize_t, top=double, whole=double)
    cdef bint _weigh_roots(self, const float[:, ::1] scores) noexcept nogil
    @cython.locals(k=Py_ssize_t, i=Py_ssize_t)
    cdef void _add_rows(self, double[::1] out, Py_ssize_t place, double[::1] factors, Py_ssize_t first, double[::1] rows, Py_ssize_t top, Py_ssize_t count, Py_ssize_t length) noexcept nogil
    @cython.locals(k=Py_ssize_t, row=Py_ssize_t, below=Py_ssize_t, gone=Py_ssize_t, word=Py_ssize_t, head=Py_ssize_t, other=Py_ssize_t, log_z=double, whole=double)
    cdef bint _take_out(self, bint single_root) noexcept nogil
    @cython.locals(row=Py_ssize_t, word=Py_ssize_t, head=Py_ssize_t, other=Py_ssize_t, children=double, slope=double, is_counted=bint)
    cdef void _go_back(self, bint single_root) noexcept nogil
    @cython.locals(head=Py_ssize_t, word=Py_ssize_t, place=Py_ssize_t)
    cdef bint _finish(self) noexcept nogil
    @cython.locals(several=bint, done=bint)
    cpdef bint add_up(self, const float[:, ::1] scores, bint single_root, bint with_arcs) except -1
    @cython.locals(head=Py_ssize_t, word=Py_ssize_t)
    cpdef write_doubles(self, double[:, ::1] out)
    @cython.locals(head=Py_ssize_t, word=Py_ssize_t)
    cpdef write_floats(self, float[:, ::1] out)
