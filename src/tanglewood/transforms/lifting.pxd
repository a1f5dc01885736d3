cimport cython

cdef bint _is_nonprojective(int[::1] heads, int head, int dependent) noexcept nogil

@cython.locals(left=int)
cdef tuple _ranked(int head, int dependent)

@cython.locals(dependent=int, head=int, other=int)
cdef object _lift(int[::1] heads, int[::1] nonprojective, int[::1] passed, int n)
