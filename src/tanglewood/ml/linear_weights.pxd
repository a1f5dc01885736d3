cimport cython
from libc.math cimport lrint

cdef int KEY_BITS, CLASS_BITS, LAST, CLASS_MASK, SLOT, ENTRY, ROOM

@cython.final
cdef class Weights:
    cdef const int[::1] keys, entries
    cdef int[::1] slots
    cdef readonly int n_classes
    cdef readonly double scale
    cdef long long size
    @cython.locals(i="long long", entry=int, weight=int, last=int)
    cdef bint _is_sound(self, long long n_keys, long long n_entries, int most) noexcept nogil
    @cython.locals(key="long long")
    cdef void _fill(self, int n_keys) noexcept nogil
    @cython.locals(key="long long", entry=int, at=int, touched=int)
    cdef void _score(self, int[::1] keys, int count, int[::1] places, int[::1] sums, float[::1] out) noexcept nogil

@cython.final
cdef class LearningWeights:
    cdef readonly int n_classes, n_keys, n_pool, touched
    cdef int[::1] slots
    cdef float[::1] pool
    cdef long long size
    @cython.locals(n_keys="long long", number="long long", slot="long long", start="long long", count="long long", block="long long", i="long long", which=float)
    cdef bint _is_sound(self, long long room) noexcept nogil
    cdef void _move_slots(self, int[::1] old, int old_size) noexcept nogil
    cdef long long _find(self, long long key) noexcept nogil
    @cython.locals(which=int, touched=int)
    cdef void _score(self, int[::1] keys, int count, float[::1] out) noexcept nogil
    @cython.locals(slot="long long")
    cdef long long _slot_for(self, long long key) noexcept nogil
    cdef void _change(self, int[::1] keys, int count, int which, double step, double time) noexcept nogil
    cdef void _update(self, int[::1] keys, int count, int good, int bad, double step, double time) noexcept nogil
    cdef void _add(self, long long slot, int which, double step, double time) noexcept nogil
    cdef double _average(self, long long place, double time) noexcept nogil
    @cython.locals(slot="long long", place="long long", value=double, top=double)
    cpdef double largest(self, double time)
    @cython.locals(slot="long long", place="long long", value=double, writing=bint, last=int)
    cdef void _freeze(self, double time, double scale, double least, int updates, int[::1] keys, int[::1] entries, int[::1] sizes) noexcept nogil
