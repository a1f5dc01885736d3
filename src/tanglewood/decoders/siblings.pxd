cimport cython

@cython.locals(size=Py_ssize_t, node=Py_ssize_t, word=Py_ssize_t)
cpdef void find_nearer(const int[::1] heads, int[::1] out) noexcept nogil
@cython.locals(word=Py_ssize_t, total=double)
cpdef double second_order_value(const float[:, ::1] scores, const float[:, :, ::1] siblings, const int[::1] heads, int[::1] nearer) noexcept nogil
