cimport cython
from tanglewood.core.addresses cimport Addresses
from tanglewood.core.state cimport State
from tanglewood.ml.word_table cimport WordTable

cdef int N_COLUMNS, UPOS, FEATS, LABEL, LEFTS, RIGHTS, DEPS, DISTANCE, DIRECTION, ARC_THERE, BETWEEN, MOST, FARTHEST
cdef int FLAGS, VALENCIES, SIDE_LABELS, CHOICES, TAG, FIRST_TAG
cdef unsigned long long LOW_BITS, SPREAD, LAST_SPREAD

@cython.final
cdef class FeatureSet:
    cdef Addresses addresses
    cdef int[::1] steps, starts, attributes, first, second, parts, ends, many, nodes, n_values, feat_starts, backwards
    cdef unsigned int[::1] seeds, values, columns, feats, tags
    cdef int[::1] keys
    cdef readonly int most_keys
    cdef public int sibling
    cdef int n_atoms, n_templates, offset, tag_column, n_phases
    cpdef share_keys(self, FeatureSet other)
    cpdef use(self, WordTable table, int offset)
    cdef unsigned long long _mix(self, unsigned long long hashed, unsigned long long value) noexcept nogil
    cdef int _key(self, unsigned long long hashed) noexcept nogil
    cdef int _bucket(self, int gap) noexcept nogil
    cdef int _flags(self, State s) noexcept nogil
    cdef unsigned int _tag(self, State s, int node) noexcept nogil
    cdef int _add(self, unsigned int value, int place, int count) noexcept nogil
    @cython.locals(is_backwards=bint)
    cdef int _side_labels(self, State s, int node, int place) noexcept nogil
    @cython.locals(value="unsigned int")
    cdef int _between(self, State s, int low, int high, int place) noexcept nogil
    cdef int _look_up(self, State s, int atom, int node, int other) noexcept nogil
    @cython.locals(apart="unsigned long long", hashed="unsigned long long", longer="unsigned long long")
    cdef int _extract(self, State s, int head, int dependent, unsigned long long seed) noexcept nogil
