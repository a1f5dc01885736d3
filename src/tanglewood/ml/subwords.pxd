cimport cython

cdef unsigned long long MASK32, MASK64, FIRST, SECOND, LAST_FIRST, LAST_SECOND

@cython.locals(letters="Py_ssize_t", begin="Py_ssize_t", size="Py_ssize_t", place="Py_ssize_t", value="unsigned int", byte="unsigned char")
cpdef add_fasttext(list found, bytes data, list places, int least, int most, unsigned int buckets)
@cython.locals(letters="Py_ssize_t", begin="Py_ssize_t", size="Py_ssize_t", number="unsigned int")
cpdef add_floret(list found, bytes data, list places, int least, int most, unsigned int buckets, int hashes, unsigned int seed)
@cython.locals(first="unsigned long long", second="unsigned long long", place="Py_ssize_t")
cpdef list murmur(bytes data, Py_ssize_t start, Py_ssize_t end, unsigned int seed)
@cython.locals(value="unsigned long long", place="Py_ssize_t", byte="unsigned char")
cdef unsigned long long word_at(bytes data, Py_ssize_t start, Py_ssize_t end)
cdef unsigned long long rotated(unsigned long long value, int bits) noexcept
cdef unsigned long long mixed_first(unsigned long long word) noexcept
cdef unsigned long long mixed_second(unsigned long long word) noexcept
cdef unsigned long long finished(unsigned long long value) noexcept
