cimport cython
from tanglewood.decoders.chart cimport Chart
from tanglewood.decoders.maxplus cimport lift, padded, product

cdef int B0_S0, B0_S1, S0_S1, S1_S0, VECTOR
cdef float MINUS

cdef class ChartLeftward(Chart):
    cdef int[::1] row, first, first_hook
    cdef int r, y, z
    cdef int _n(self, int t, int j) noexcept nogil
    cdef int _h(self, int k, int g) noexcept nogil
    cdef double _item(self, int i, int t, int j) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    @cython.locals(j=int, k=int)
    cdef void _fill(self) noexcept nogil
    @cython.locals(width=int, of_j=int, of_k=int, hooks=int, size=int, place=int, c=int, h3=int, from_j=int, best=float)
    cdef void _join(self, int j, int k) noexcept nogil
    @cython.locals(k=int, h5=int, best=double)
    cdef void _close(self, int j) noexcept nogil
    @cython.locals(columns=int, c=int, h3=int, vector=int, begin=int, end=int, low=int, scores=int)
    cdef void _hook(self, int k) noexcept nogil
    @cython.locals(k=int, h3=int, h5=int, best_k=int, best_h3=int, best_h5=int, kind=int, head=int, inside=double, value=double)
    cdef void _unfold(self, int h1, int i, int h2, int t, int j) noexcept nogil
