cimport cython
from libc.math cimport lrint
from tanglewood.core.oracle cimport GreedyOracle, LossOracle
from tanglewood.core.state cimport State
from tanglewood.decoders.chart_s2 cimport ChartS2

cdef int B0, CHART_LIMIT
cdef double NEVER

cdef class StackedChart(ChartS2):
    cdef int stacked
    @cython.locals(j=int, h=int, h3=int, t=int)
    cdef void _fill(self) noexcept nogil
    cpdef int value(self, int stacked)

cdef class DynamicOracle(LossOracle):
    cdef int[::1] head_place, modifier_place, before, next, waiting, number, kept
    cdef bint reaches_third
    cdef int top
    cdef StackedChart chart
    cdef GreedyOracle greedy
    @cython.locals(word=int)
    cdef int _move(self, State s) noexcept nogil
    cdef int _loss(self, State s) noexcept nogil
    cdef void _line_up(self, State s) noexcept nogil
    cdef int _node(self, int place) noexcept nogil
    cdef int _drop(self, int node) noexcept nogil
    cdef int _drop_leaves(self) noexcept nogil
    @cython.locals(move=int, head=int, node=int, gold=int)
    cdef int _leaf_of_stack(self) noexcept nogil
    cdef bint _is_last(self, int node) noexcept nogil
    @cython.locals(free=bint)
    cdef int _leaf_of_buffer(self) noexcept nogil
    cdef int _best_arcs(self) noexcept nogil
    cdef bint _reaches(self, int arcs) noexcept nogil
    cdef int _search(self, int nodes, int stacked)
