cimport cython
from tanglewood.decoders.chart cimport Chart, node_at
from tanglewood.decoders.maxplus cimport maximum, padded, pairs, product, row_product

cdef int B0_S0, B0_S2, S0_S1, S0_S2, S1_S0, S1_S2, S2_S0
cdef float MINUS

cdef class ChartS2(Chart):
    cdef int[::1] block, first, first_x, first_z
    cdef int merged, q, w, y, width
    cdef bint takes_s2, keeps_hooks
    cdef int _d(self, int t, int j) noexcept nogil
    cdef int _x(self, int h2, int t, int j) noexcept nogil
    cdef int _z(self, int t, int k, int column) noexcept nogil
    cdef int _place(self, int h1, int i, int h2, int t, int j) noexcept nogil
    cdef double _item(self, int h1, int i, int h2, int t, int j) noexcept nogil
    cdef double _way_score(self, int kind, int h2, int h3, int k, int h4, int h5, int j) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    @cython.locals(j=int, h=int, h3=int, t=int)
    cdef void _fill(self) noexcept nogil
    @cython.locals(t=int)
    cdef void _end_step(self, int j) noexcept nogil
    @cython.locals(h5=int, h4=int, k=int, start=int, place=int, value=float)
    cdef void _gather(self, int j, int h3) noexcept nogil
    @cython.locals(h2=int, reduced=int, by_s2=float, score=float)
    cdef void _weights(self, int row, int h3, int modifier_place, int s1, int s0, int j) noexcept nogil
    @cython.locals(width=int, step=int, row=int, term=int, column=int, h4=int, h5=int, t=int, place=int)
    cdef void _weigh(self, int j, int h3) noexcept nogil
    @cython.locals(h2=int, c=int, step=int, rows=int, place=int)
    cdef void _join_s0_s1(self, int j, int h3) noexcept nogil
    @cython.locals(width=int, rows=int, from_s0=bint, from_b0=bint, h4=int, h5=int, term=int, terms=int, k=int, c=int, columns=int, place=int, column_step=int)
    cdef void _join_s2(self, int j, int h3) noexcept nogil
    @cython.locals(columns=int, c=int, i=int, h2=int, begin=int, end=int, of_t=int, of_k=int)
    cdef void _hook(self, int t, int k) noexcept nogil
    @cython.locals(inside=double, value=double, k=int, h3=int, h4=int, h5=int, gone=int, place=int, best_k=int, best_h2=int, best_h3=int, best_h4=int, best_h5=int, kind=int, head=int)
    cdef void _unfold(self, int h1, int i, int h2, int t, int j) noexcept nogil
