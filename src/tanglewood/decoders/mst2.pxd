cimport cython
from tanglewood.decoders.siblings cimport second_order_value

cdef double MINUS

cdef class Climber:
    cdef int size, new_head
    cdef bint single_root
    cdef const float[:, ::1] scores
    cdef const float[:, :, ::1] siblings
    cdef readonly int[::1] heads
    cdef int[::1] nearer, before, after
    cdef double gain
    @cython.locals(node=int)
    cdef void _look_around(self, int word) noexcept nogil
    @cython.locals(far=int, near=int, worth=double)
    cdef double _worth(self, int head, int word) noexcept nogil
    cdef bint _is_below(self, int node, int word) noexcept nogil
    @cython.locals(best=int, word=int, old=int, head=int, worth=double, gain=double)
    cdef int _best_change(self) noexcept nogil
    @cython.locals(value=double, higher=double, word=int, old=int)
    cpdef double climb(self)
