from tanglewood.ml.kernels_exact cimport exact_family
from tanglewood.ml.kernels_fast cimport fast_family, tw_kernels

cdef class Kernels:
    cdef readonly object arithmetic
    cdef readonly bint reproducible
    cdef readonly int group, offset
    cdef const tw_kernels *table
