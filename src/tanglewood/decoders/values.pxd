cimport cython

@cython.locals(word=Py_ssize_t, total=double)
cpdef double tree_value(const float[:, ::1] scores, const int[::1] heads) except? -1
