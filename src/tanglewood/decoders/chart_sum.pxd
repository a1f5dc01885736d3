cimport cython
from tanglewood.core.logs cimport exp, log
from tanglewood.decoders.chart cimport node_at
from tanglewood.decoders.chart_s2 cimport ChartS2
from tanglewood.decoders.maxplus cimport padded, pairs

cdef double MINUS

cdef class ChartSum(ChartS2):
    cdef double[::1] inside, expected, hooked, hooked_expected, expected_bottom, arcs, uniform
    cdef double total, mass, top, sum
    cdef bint chosen, maximise, scored
    cdef int view_size
    cdef double[::1] reduces, shifts
    cdef int[::1] choose
    cdef int drawn
    cdef double _item(self, int h1, int i, int h2, int t, int j) noexcept nogil
    @cython.locals(place=int)
    cdef double _reduce_score(self, int kind, int s2, int s1, int s0, int b0) noexcept nogil
    @cython.locals(place=int)
    cdef double _shift_score(self, int s1, int s0, int b0) noexcept nogil
    @cython.locals(score=double)
    cdef double _way_score(self, int kind, int h2, int h3, int k, int h4, int h5, int j) noexcept nogil
    @cython.locals(score=double)
    cdef double _bottom_score(self, int kind, int k, int h5, int j) noexcept nogil
    cdef void _begin(self, double total) noexcept nogil
    cdef bint _offer(self, double value) noexcept nogil
    cdef void _start(self, double value) noexcept nogil
    cdef void _add(self, double value) noexcept nogil
    cdef double _log(self) noexcept nogil
    cdef int _wplace(self, int k, int t, int h2, int h3) noexcept nogil
    cdef int _last_k(self, int t, int h3, int j) noexcept nogil
    @cython.locals(j=int, t=int, h=int, h3=int, place=int)
    cdef void _fill(self) noexcept nogil
    @cython.locals(j=int, t=int, k=int, h3=int, h5=int, place=int, value=double, share=double)
    cdef void _expect(self) noexcept nogil
    @cython.locals(k=int, h5=int, place=int, score=double)
    cdef void _close(self, int j) noexcept nogil
    @cython.locals(k=int, t=int, h2=int, h4=int, h5=int)
    cdef void _reduced(self, int j, int h3, bint down) noexcept nogil
    @cython.locals(y=double, value=double, share=double, modifier=int, whole=int, place=int, head=int, kind=int)
    cdef void _reduce(self, int j, int h3, int k, int h2, int h4, int h5, int modifier_place, int t, bint down) noexcept nogil
    @cython.locals(h1=int, h2=int, i=int, k=int, t=int, below=int, place=int, first=int, weight=int, value=double, share=double)
    cdef void _joined(self, int j, int h3, bint down) noexcept nogil
    @cython.locals(h1=int, i=int, k=int, h4=int, h5=int, place=int, y=int, z=int, column=int, head_place=int, value=double, share=double)
    cdef void _joined_s2(self, int j, int h3, bint down) noexcept nogil
    @cython.locals(h1=int, h2=int, i=int, column=int, head=int, whole=int, place=int, value=double, share=double)
    cdef void _hooked(self, int t, int k, bint down) noexcept nogil
    cpdef double run(self)
