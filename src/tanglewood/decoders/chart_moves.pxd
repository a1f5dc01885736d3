cimport cython
from tanglewood.decoders.chart cimport node_at
from tanglewood.decoders.chart_s2 cimport ChartS2
from tanglewood.decoders.maxplus cimport padded, pairs, product, row_product

cdef int B0_S0, B0_S2, S0_S1, S0_S2, S1_S0, S1_S2, S2_S0
cdef float MINUS

cdef class ChartMoves(ChartS2):
    cdef int n_moves, closed, tables, z
    cdef int[::1] kind_of, view_of_kind, gold
    cdef float cost
    @cython.locals(fine=bint, move=int, kind=int, j=int, b=int, a=int, place=int, merged=int, score=float)
    cdef bint _read_moves(self, const float[:, :, ::1] scores) noexcept nogil
    @cython.locals(view=int, s2=int, s1=int, head=int, modifier=int)
    cdef float _legal(self, int kind, int a, int b, int j, float score) noexcept nogil
    cdef int _row(self, int move, int b, int j) noexcept nogil
    cdef float _at(self, int kind, int a, int b, int j) noexcept nogil
    cdef float _move_score(self, int kind, int s2, int s1, int s0, int j) noexcept nogil
    cdef double _charge(self, int h2, int t, int j) noexcept nogil
    @cython.locals(t=int, i=int, h=int, h2=int, row=int, place=int, block=int)
    cdef void _end_step(self, int j) noexcept nogil
    cdef double _bottom_item(self, int k, int h5, int j) noexcept nogil
    cdef double _bottom_score(self, int kind, int k, int h5, int j) noexcept nogil
    cdef double _way_score(self, int kind, int h2, int h3, int k, int h4, int h5, int j) noexcept nogil
    @cython.locals(score=float, move=int, by_s2=int, h2=int)
    cdef void _weights(self, int row, int h3, int modifier_place, int s1, int s0, int j) noexcept nogil
    cdef int _zplace(self, int h3, int k, int column) noexcept nogil
    @cython.locals(k=int, columns=int, c=int, of_h3=int, of_k=int, i=int, begin=int, end=int, h2=int, terms=int, step=int)
    cdef void _hook_at(self, int j, int h3, int table) noexcept nogil
    @cython.locals(width=int, rows=int, h4=int, h5=int, term=int, terms=int, k=int, c=int, columns=int, place=int, column_step=int)
    cdef void _join_s2(self, int j, int h3) noexcept nogil
