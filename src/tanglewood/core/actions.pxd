cimport cython
from tanglewood.core.state cimport State
from tanglewood.core.system cimport TransitionSystem

cdef int TAGGED

@cython.final
cdef class Actions:
    cdef readonly TransitionSystem system
    cdef readonly list labels, tags
    cdef readonly int n_arc_labels, n_tags, n_labels, root_label
    cdef bint label_matters
    cdef int _settled_label(self, int head) noexcept nogil
    cdef bint _may_label(self, int head, int label) noexcept nogil
    cdef bint _is_root_arc(self, State s, int move) noexcept nogil
    cdef bint _fits(self, State s, int move, int label, int head) noexcept nogil
    cdef int _rule_out(self, State s, int move, int head, float[::1] scores) noexcept nogil
