cdef class WordTable:
    cdef unsigned int[::1] columns, feats
    cdef int[::1] feat_starts
