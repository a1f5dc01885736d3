cimport cython
from tanglewood.decoders.maxplus cimport padded, pairs, product, row_product

cdef int SHIFT, B0_S0, B0_S1, S0_S1, S1_S0, S2_S0, S2_S1
cdef float MINUS

cpdef int node_at(int place, int s2, int s1, int s0, int b0) noexcept nogil

cdef class Chart:
    cdef readonly bint single_root
    cdef readonly int n
    cdef float[::1] arena
    cdef float[::1] on
    cdef double[::1] bottom, root
    cdef int[::1] move_of, a, a2, out, out2, stack
    cdef readonly int[::1] heads, moves
    cdef int stride, by_head, by_modifier, depth, steps
    cdef double best
    @cython.locals(fine=bint, place=int, modifier=int, head=int)
    cdef bint _read(self, const float[:, ::1] scores) noexcept nogil
    cdef float _score(self, int kind, int head, int modifier) noexcept nogil
    @cython.locals(place=int)
    cdef void _clear(self, int start, int end) noexcept nogil
    cdef void _fill(self) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    cdef double _bottom_score(self, int kind, int k, int h5, int j) noexcept nogil
    @cython.locals(k=int, h5=int, score=double)
    cdef void _close(self, int j) noexcept nogil
    @cython.locals(j=int, k=int, h5=int, best_k=int, best_h5=int, kind=int, place=int, inside=double, value=double)
    cdef void _trace(self) noexcept nogil
    cdef void _begin(self, double total) noexcept nogil
    cdef bint _offer(self, double value) noexcept nogil
    cdef void _push(self, int h1, int i, int h2, int t, int j) noexcept nogil
    cdef void _emit(self, int kind, int head, int modifier) noexcept nogil
    cdef void _unfold(self, int h1, int i, int h2, int t, int j) noexcept nogil
    cpdef double run(self)

cdef class ChartS0S1(Chart):
    cdef int[::1] block, first
    cdef int row_scores, column_scores, q, r, y
    cdef double _item(self, int h1, int i, int t, int j) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    @cython.locals(t=int, i=int, h=int, j=int, h3=int, last=int)
    cdef void _fill(self) noexcept nogil
    @cython.locals(width=int, c=int, term=int, h=int, h5=int, k=int, score=float, place=int)
    cdef void _join(self, int j, int h3) noexcept nogil
    @cython.locals(k=int, h3=int, h5=int, place=int, node=int, best_k=int, best_h3=int, best_h5=int, kind=int, head=int, inside=double, value=double)
    cdef void _unfold(self, int h1, int i, int h2, int t, int j) noexcept nogil
