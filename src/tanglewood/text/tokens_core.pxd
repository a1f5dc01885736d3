cimport cython
from tanglewood.ml.linear_weights cimport Weights
from tanglewood.text.hashed cimport Features

cdef int CLASS_BITS, CLASS_MASK, LOWER, DIGIT, MARK, NEWLINE, LONG_DASH, MOST_CHUNK, MOST_SPACE, LONGEST, EXAMPLE
cdef int TOGETHER, SPACE, SPACES, NEW_LINE, NEW_PARAGRAPH
cdef unsigned long long LOW_BITS, SPREAD

@cython.final
cdef class TokenScanner:
    cdef const unsigned char[::1] may_cut
    cdef Weights cuts
    cdef bint joins, lines
    cdef Features features
    cdef readonly int n_tokens, n_examples
    cdef int size, begin, end, marks
    cdef unsigned int chunk
    cdef const int[::1] codes
    cdef int[::1] characters, starts, ends
    cdef signed char[::1] gaps
    cpdef use(self, const int[::1] codes, const int[::1] table)
    @cython.locals(i=int)
    cdef void _look_up(self, const int[::1] table) noexcept nogil
    cdef unsigned int _low(self, int i) noexcept nogil
    cdef unsigned int _class(self, int i) noexcept nogil
    @cython.locals(i=int, value="unsigned int")
    cdef unsigned int _classes(self, int first, int last) noexcept nogil
    @cython.locals(i=int, hashed="unsigned long long")
    cdef unsigned int _letters(self, int first, int last) noexcept nogil
    @cython.locals(i=int, hashed="unsigned long long")
    cdef unsigned int _form(self, int first, int last) noexcept nogil
    @cython.locals(i=int, hashed="unsigned long long", before=int, which=int)
    cdef unsigned int _shape(self, int first, int last) noexcept nogil
    cdef bint _is_wordy(self, int i) noexcept nogil
    @cython.locals(
        begin=int, end=int, pair="unsigned int", far_left=int, far_right=int, left=int, right=int, after="unsigned int",
        left_word="unsigned int", right_word="unsigned int", so_far="unsigned int", rest="unsigned int", is_end=int,
        a="unsigned int", b="unsigned int", c="unsigned int", d="unsigned int", e="unsigned int", f="unsigned int",
    )
    cdef void _cut_features(self, int i, int token, int following) noexcept nogil
    @cython.locals(i=int, stop=int, letter=int)
    cdef void _turn_to(self, int begin, int end) noexcept nogil
    cdef bint _is_joint(self, int i) noexcept nogil
    @cython.locals(start=int, lines=int)
    cdef int _gap(self, int i) noexcept nogil
    cdef void _token(self, int start, int end, int gap) noexcept nogil
    @cython.locals(
        learning=bint, following=int, begin=int, end=int, gap=int, described=bint, token=int, i=int, before=int,
        which=int, cut=bint, dash=bint,
    )
    cdef void _find_tokens(self, const signed char[::1] gold, int[::1] examples) noexcept nogil
    @cython.locals(none="signed char[::1]", nothing="int[::1]")
    cpdef scan(self)
