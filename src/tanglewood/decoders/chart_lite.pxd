cimport cython
from tanglewood.decoders.chart cimport Chart, node_at
from tanglewood.decoders.maxplus cimport maximum, outer, padded, pairs, product, row_product

cdef int B0_S0, B0_S1, S0_S1, S1_S0, UNUSED, USED
cdef float MINUS

cdef class ChartLite(Chart):
    cdef int[::1] block, first, first_q
    cdef int merged, unused, r, w, v, u, y
    cdef int _u(self, int t, int j) noexcept nogil
    cdef int _n(self, int t, int j) noexcept nogil
    cdef int _q(self, int k, int column) noexcept nogil
    cdef double _item(self, int kind, int h1, int i, int t, int j) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    @cython.locals(j=int, t=int, h3=int)
    cdef void _fill(self) noexcept nogil
    @cython.locals(rows=int, h5=int)
    cdef void _join_hooked(self, int j, int k) noexcept nogil
    @cython.locals(width=int, c=int, term=int, k=int, h=int, i=int, h5=int, last=int, first=int, row=int, score=float, best=float)
    cdef void _join(self, int j, int h3) noexcept nogil
    @cython.locals(columns=int, c=int, i=int, h3=int, begin=int, end=int, of_k=int)
    cdef void _hook(self, int k) noexcept nogil
    @cython.locals(value=double, score=double, k=int, h3=int, h5=int, reduced=int, place=int, first=int, second=int, used=bint, best_k=int, best_h3=int, best_h5=int, best_first=int, best_second=int, best_place=int, modifier=int, head=int)
    cdef void _unfold(self, int h1, int i, int h2, int t, int j) noexcept nogil
