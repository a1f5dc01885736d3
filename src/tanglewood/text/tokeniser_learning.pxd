cimport cython
from tanglewood.scorers.linear_weights cimport LearningWeights
from tanglewood.text.tokeniser_core cimport Scanner

cdef int EXAMPLE, DOUBLE_QUOTE, NEW_PARAGRAPH, CUTS, STOPS, SPLITS

@cython.final
cdef class Teacher:
    cdef Scanner scanner
    cdef readonly LearningWeights weights
    cdef readonly double margin, most, time
    cdef readonly int mistakes
    cdef float[::1] score
    @cython.locals(count=int)
    cpdef learn(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, int kind)
    @cython.locals(n=int, at=int, place=int, sign=double, lead=double, step=double)
    cdef void _learn(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, int count, int kind) noexcept nogil
