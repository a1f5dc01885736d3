cimport cython
from tanglewood.ml.linear_weights cimport LearningWeights
from tanglewood.text.hashed cimport Features
from tanglewood.text.sentences_core cimport SentenceScanner
from tanglewood.text.tokens_core cimport TokenScanner

cdef int BATCH, EXAMPLE, CUTS, STOPS, SPLITS

@cython.final
cdef class Teacher:
    cdef TokenScanner tokens
    cdef SentenceScanner sentences
    cdef readonly LearningWeights weights
    cdef readonly double margin, most, time
    cdef readonly int mistakes
    cdef float[::1] score
    @cython.locals(count=int)
    cpdef _learn_some(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, int kind)
    @cython.locals(n=int, at=int, place=int, sign=double)
    cdef void _learn(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, int count, int kind) noexcept nogil
    @cython.locals(lead=double, step=double)
    cdef void _step(self, Features features, double sign) noexcept nogil
