# Views are declared as strings because a slice is not an expression that Python could read in a decorator.
cimport cython

cpdef object zeros(int size)

@cython.locals(n=int, word=int, node=int, step=int, smallest=int, mark="int[::1]")
cpdef int offender(int[::1] heads) except -1

@cython.locals(word=int)
cdef void _children(int[::1] heads, int[::1] first, int[::1] following) noexcept nogil

@cython.locals(n=int, clock=int, node=int, child=int, first="int[::1]", following="int[::1]")
cdef void _tour(int[::1] heads, int[::1] enter, int[::1] leave) except *

@cython.locals(
    n=int, word=int, low=int, high=int, out="int[::1]", first="int[::1]", following="int[::1]", by_low="int[::1]",
    next_low="int[::1]", by_high="int[::1]", next_high="int[::1]", fenwick="int[::1]",
)
cpdef object arc_degrees_2007(int[::1] heads)

@cython.locals(size=int)
cdef void _add(int[::1] fenwick, int place) noexcept nogil

@cython.locals(total=int)
cdef int _sum(int[::1] fenwick, int place) noexcept nogil

@cython.locals(
    n=int, word=int, head=int, low=int, high=int, count=int, between=int, out="int[::1]", enter="int[::1]",
    leave="int[::1]",
)
cpdef object arc_degrees_2006(int[::1] heads)

cpdef list crossing_pairs(int[::1] heads, bint with_root, int limit)

@cython.locals(n=int, word=int, smallest=int, above="int[::1]", sides="int[::1]", out="int[::1]", marks="int[::1]")
cpdef object two_planes(int[::1] heads)

@cython.locals(top=int, side=int, parent=int, rest=int)
cdef int _top(int[::1] above, int[::1] sides, int node) noexcept nogil

@cython.locals(first=int, second=int)
cdef bint _part(int[::1] above, int[::1] sides, int one, int other) noexcept nogil

@cython.locals(
    n=int, node=int, word=int, other=int, last=int, opening="int[::1]", next_opening="int[::1]", closing="int[::1]",
    next_closing="int[::1]", first="int[::1]", following="int[::1]", before="int[::1]", behind="int[::1]",
)
cdef bint _sweep(
    int[::1] heads, bint with_root, int limit, list pairs, int[::1] above, int[::1] sides
) except -1

@cython.locals(
    n=int, word=int, left=int, right=int, seen=int, total="long long", by_right="int[::1]", next_right="int[::1]",
    fenwick="int[::1]", ended="int[::1]",
)
cpdef long long count_crossing_pairs(int[::1] heads, bint with_root) except -1

@cython.locals(n=int, word=int, node=int, place=int, out="int[::1]", enter="int[::1]", leave="int[::1]")
cpdef object block_counts(int[::1] heads)

@cython.locals(
    n=int, word=int, node=int, child=int, above=int, place=int, enter="int[::1]", leave="int[::1]", top="int[::1]",
    below="int[::1]", status="int[::1]",
)
cpdef bint is_well_nested(int[::1] heads) except -1

@cython.locals(
    n=int, node=int, child=int, size=int, out="int[::1]", first="int[::1]", following="int[::1]", said="int[::1]",
)
cpdef object projective_order(int[::1] heads)
