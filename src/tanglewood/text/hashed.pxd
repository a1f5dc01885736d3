cimport cython
from tanglewood.ml.linear_weights cimport Weights

cdef int MOST
cdef unsigned long long LOW_BITS, SPREAD, LAST_SPREAD

@cython.final
cdef class Features:
    cdef int[::1] keys, places, sums
    cdef float[::1] out
    cdef readonly int count
    cdef void _clear(self) noexcept nogil
    cdef unsigned long long _mix(self, unsigned long long hashed, unsigned long long value) noexcept nogil
    @cython.locals(hashed="unsigned long long")
    cdef void _add(self, unsigned long long template, unsigned long long one, unsigned long long two, unsigned long long three) noexcept nogil
    cdef double _score(self, Weights weights) noexcept nogil
