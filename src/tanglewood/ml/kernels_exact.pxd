from tanglewood.ml.kernels_fast cimport tw_kernels

cdef extern from "tanglewood/ml/families.h" nogil:
    const tw_kernels *tw_family(int family)

cdef const tw_kernels *exact_family(int family) noexcept nogil
