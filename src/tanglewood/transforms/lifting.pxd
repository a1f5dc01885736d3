cdef bint _is_nonprojective(int[::1] heads, int head, int dependent) noexcept nogil
cdef int _smallest(int[::1] heads, int[::1] nonprojective, int n) noexcept nogil
cdef void _lift(int[::1] heads, int[::1] nonprojective, int[::1] passed, int n) noexcept nogil
