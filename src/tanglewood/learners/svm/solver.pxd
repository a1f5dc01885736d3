cimport cython

cdef double TINY, INFINITE
cdef int PATIENCE
cdef long long MOST_STEPS
cdef int COMMON

cdef class Rows:
    cdef const int[::1] starts, features, classes, index_starts, index
    cdef int[::1] columns
    cdef unsigned char[::1] common
    cdef int n_rows

cdef class PairSolver:
    cdef Rows rows
    cdef int first, n_first, second, n_active, rising, falling, n_kernel
    cdef readonly int size
    cdef double cost, tolerance
    cdef readonly double intercept
    cdef bint is_full_again
    cdef const double[::1] kernel
    cdef const float[::1] rounded
    cdef double[::1] betas, slopes, fixed, own, one_table, other_table
    cdef signed char[::1] may_rise, may_fall
    cdef int[::1] order, owner
    cdef unsigned short[::1] kept
    cdef long long[::1] used, place
    cdef long long n_kept, time  # numbers of rows times rows may have more than 31 bits
    cpdef object solve(self)
    cdef int _row(self, int t) noexcept nogil
    @cython.locals(slot="long long", start="long long")
    cdef long long _counts(self, int t) noexcept nogil
    @cython.locals(column="long long")
    cdef void _count(self, int t, long long start) noexcept nogil
    cdef void _add_column(self, long long begin, int n, long long start) noexcept nogil
    @cython.locals(shift="long long")
    cdef void _count_class(self, int feature, int begin, int end, long long start) noexcept nogil
    @cython.locals(low=int, high=int)
    cdef int _first_of(self, int feature, int begin) noexcept nogil
    cdef void _solve(self) noexcept nogil
    cdef double _side(self, int t) noexcept nogil
    cdef void _bound(self, int t) noexcept nogil
    cdef double _end(self, int t) noexcept nogil
    @cython.locals(steepest=double, highest=double, best=double, slope=double, gap=double, curvature=double, gain=double)
    cdef bint _choose(self) noexcept nogil
    @cython.locals(top=double, bottom=double, risen=double, fallen=double)
    cdef void _step(self, int one, int other) noexcept nogil
    cdef void _moved(self, int t, long long counts) noexcept nogil
    @cython.locals(steepest=double, highest=double)
    cdef void _shrink(self) noexcept nogil
    cdef bint _stays(self, int t, double steepest, double highest) noexcept nogil
    cdef void _unshrink(self) noexcept nogil
    @cython.locals(high=double, low=double, total=double)
    cdef void _set_intercept(self) noexcept nogil
