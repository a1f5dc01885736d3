from tanglewood.core.state cimport State

cdef int STACK, BUFFER, ASIDE, CONTEXT, UNREAD, LEFT1, LEFT2, RIGHT1, RIGHT2, HEAD, PREVIOUS, NEXT

cdef class Addresses:
    cdef readonly object names
    cdef readonly int size
    cdef int[::1] lists, places, first_steps, second_steps
    cdef int _node(self, State s, int index) noexcept nogil
    cdef int _context(self, State s, int place) noexcept nogil
    cdef int _step(self, State s, int node, int step) noexcept nogil
