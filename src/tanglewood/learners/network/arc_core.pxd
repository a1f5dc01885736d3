cimport cython
from tanglewood.core.logs cimport exp, log

cdef double TINY

@cython.locals(length=int, kind=int)
cpdef int kind_of(int head, int word) noexcept nogil
@cython.locals(i=Py_ssize_t, k=Py_ssize_t, width=Py_ssize_t, total=float)
cpdef label_layer(
    const float[:, ::1] rows, const int[::1] begins, const int[::1] heads, const int[::1] words,
    const float[:, ::1] worth, const float[::1] bias, int start, int[::1] kinds, float[:, ::1] out,
)
@cython.locals(size=int, head=int, word=int, kind=int)
cpdef add_kinds(float[:, ::1] scores, const float[::1] worth, const float[:, ::1] words, const float[:, ::1] heads)
@cython.locals(size=int, head=int, word=int, kind=int)
cpdef add_kinds_back(const float[:, ::1] d_scores, float[::1] d_worth, float[:, ::1] d_words, float[:, ::1] d_heads)
@cython.locals(size=int, head=int, word=int, top=float, total=double)
cpdef head_shares(const float[:, ::1] scores, float[:, ::1] shares)
@cython.locals(size=int, head=int, word=int, mean=double)
cpdef head_shares_back(const float[:, ::1] shares, const float[:, ::1] d_shares, float[:, ::1] d_scores)
@cython.locals(row=Py_ssize_t)
cpdef softmax_rows(float[:, ::1] scores)
@cython.locals(i=Py_ssize_t, top=float, total=double)
cdef void _softmax(float[:, ::1] scores, Py_ssize_t row, int largest) noexcept nogil
@cython.locals(i=Py_ssize_t, total=double)
cpdef double sum_of_tree(
    const float[:, ::1] scores, const float[:, ::1] chances, const int[::1] heads, const int[::1] labels
) except? -1
@cython.locals(tree=Py_ssize_t, word=Py_ssize_t)
cpdef add_votes(float[:, ::1] scores, const int[:, ::1] heads, const float[::1] weights)
@cython.locals(tree=Py_ssize_t, word=Py_ssize_t, chosen=int, differs=bint)
cpdef voted_labels(
    float[:, ::1] scores, const int[::1] own, const int[:, ::1] heads, const int[:, ::1] labels,
    const float[::1] weights, int[::1] best,
)
@cython.locals(i=Py_ssize_t, best=int)
cdef int _largest(float[:, ::1] scores, Py_ssize_t row) noexcept nogil
