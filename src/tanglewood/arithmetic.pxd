cdef extern from "tanglewood/arithmetic.h" nogil:
    int tw_families()
