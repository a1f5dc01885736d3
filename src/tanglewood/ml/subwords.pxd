cimport cython

cdef unsigned int ABOVE
cdef unsigned long long MASK32, MASK64, FIRST, SECOND, LAST_FIRST, LAST_SECOND

@cython.final
cdef class Hasher:
    cdef bint floret
    cdef unsigned int buckets, seed
    cdef int least, most, hashes
    cdef str begin, end
    cpdef int fill(self, unsigned int[::1] found, str form)

@cython.final
cdef class Pieces:
    cdef object subwords
    cdef Hasher hasher
    cdef int[::1] slots
    cdef const int[::1] buckets
    cdef const signed char[:, ::1] vectors
    cdef const float[::1] scales
    cdef Py_ssize_t mask, width
    @cython.locals(slot="Py_ssize_t")
    cdef void _put(self, int number) noexcept
    @cython.locals(slot="Py_ssize_t")
    cdef int _find(self, int bucket) noexcept
    @cython.locals(place="Py_ssize_t", rows="unsigned int[::1]")
    cpdef write_means(self, list forms, const int[::1] nodes, float[:, ::1] out)
    @cython.locals(place="Py_ssize_t", k="Py_ssize_t", number=int, there=int, scale=float)
    cdef void _write_mean(self, unsigned int[::1] rows, Py_ssize_t count, float[:, ::1] out, Py_ssize_t node) noexcept

@cython.locals(begin="Py_ssize_t", place="Py_ssize_t", first="Py_ssize_t", value="unsigned int", byte="unsigned char", count=int, letters=int)
cpdef int fill_fasttext(unsigned int[::1] found, const unsigned char *data, Py_ssize_t size, int least, int most, unsigned int buckets)
@cython.locals(begin="Py_ssize_t", place="Py_ssize_t", count=int, letters=int)
cpdef int fill_floret(unsigned int[::1] found, const unsigned char *data, Py_ssize_t size, int least, int most, unsigned int buckets, int hashes, unsigned int seed)
@cython.locals(place=int)
cdef int add_murmur(unsigned int[::1] found, int count, const unsigned char *data, Py_ssize_t start, Py_ssize_t end, unsigned int buckets, int hashes, unsigned int seed)
@cython.locals(first="unsigned long long", second="unsigned long long", place="Py_ssize_t")
cpdef void murmur(unsigned int[::1] found, int at, const unsigned char *data, Py_ssize_t start, Py_ssize_t end, unsigned int seed)
@cython.locals(value="unsigned long long", place="Py_ssize_t", byte="unsigned char")
cdef unsigned long long word_at(const unsigned char *data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef unsigned long long rotated(unsigned long long value, int bits) noexcept
cdef unsigned long long mixed_first(unsigned long long word) noexcept
cdef unsigned long long mixed_second(unsigned long long word) noexcept
cdef unsigned long long finished(unsigned long long value) noexcept
