cimport cython

cdef extern from "tanglewood/decoders/maxplus.h" nogil:
    double tw_peak(int level, int rounds)
    void tw_product(int level, float *arena, const int *a, const int *out, int y, int term_stride, int column_stride, int columns, int begin, int end, int first, int step, int row_score, int column_score)
    void tw_row_product(int level, float *arena, const int *a, const int *out, int w, int term_stride, int column_stride, int columns, int first, int step, int last)
    void tw_maximum(int level, float *arena, int out, int one, int other, int rows)
    void tw_lift(int level, float *arena, const int *a, const int *out, int other, int y, int columns, int first, int step)
    void tw_outer(int level, float *arena, int out, int v, int w, int last)

cdef int LEVEL, LANES
cdef double MINUS

@cython.locals(c=int, k=int, row=int, best=double)
cpdef void product(float[::1] arena, int[::1] a, int[::1] out, int y, int term_stride, int column_stride, int columns, int begin, int end, int first, int step, int row_score, int column_score) noexcept nogil
@cython.locals(c=int, k=int, i=int, h=int, row=int, value=double)
cpdef void row_product(float[::1] arena, int[::1] a, int[::1] out, int w, int term_stride, int column_stride, int columns, int first, int step, int last) noexcept nogil
@cython.locals(row=int)
cpdef void maximum(float[::1] arena, int out, int one, int other, int rows) noexcept nogil
@cython.locals(c=int, row=int, value=double)
cpdef void lift(float[::1] arena, int[::1] a, int[::1] out, int other, int y, int columns, int first, int step) noexcept nogil
@cython.locals(row=int, i=int, h=int)
cpdef void outer(float[::1] arena, int out, int v, int w, int last) noexcept nogil
cpdef int padded(int rows) noexcept nogil
cpdef int pairs(int t) noexcept nogil
@cython.locals(done=double)
cpdef double peak(int rounds)
