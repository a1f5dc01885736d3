cimport cython
from tanglewood.core.logs cimport exp, log, log1p

cdef double NOTHING, LOWEST

cdef class MatrixTree:
    cdef int n, size, depths, sum_level
    cdef bint single_root
    cdef double sum
    cdef double[::1] logs, shares, history, probabilities
    cdef int[::1] levels, share_levels, order, history_levels
    cdef void _fill(self, const float[:, ::1] scores) noexcept nogil
    @cython.locals(old=double)
    cdef void _add(self, double[::1] logs, int[::1] levels, Py_ssize_t place, double value, int level) noexcept nogil
    @cython.locals(row=Py_ssize_t, place=Py_ssize_t, top=double, total=double)
    cdef bint _take_out(self, Py_ssize_t table, int word, int first, int last) noexcept nogil
    cdef Py_ssize_t _copy(self, Py_ssize_t table, int first, int last) noexcept nogil
    @cython.locals(table=Py_ssize_t, total=double)
    cdef double _log_partition(self) noexcept nogil
    @cython.locals(total=double)
    cpdef double log_partition(self)
    @cython.locals(row=Py_ssize_t, place=Py_ssize_t, whole=double, through=double, total=double)
    cdef void _head_chances(self, int word, int gone) noexcept nogil
    @cython.locals(half=Py_ssize_t)
    cdef void _all_chances(self, Py_ssize_t table, int first, int last, int gone, double[:, ::1] out) noexcept nogil
    cpdef fill_marginals(self, double[:, ::1] out)
    @cython.locals(table=Py_ssize_t)
    cdef void _chances_of(self, int word) noexcept nogil
