cimport cython
from tanglewood.scorers.linear_weights cimport LearningWeights, Weights

cdef int CLASS_BITS, CLASS_MASK, DIGIT, STOP, ASKS, DOUBLE_QUOTE, OPENS, CLOSES, ELLIPSIS, NEWLINE
cdef int MOST_CHUNK, MOST_SPACE, MOST_TOKENS, LONGEST, AHEAD, MOST_KEYS, EXAMPLE
cdef int TOGETHER, SPACE, SPACES, NEW_LINE, NEW_PARAGRAPH
cdef unsigned long long LOW_BITS, SPREAD, LAST_SPREAD

@cython.final
cdef class Scanner:
    cdef const unsigned char[::1] may_cut
    cdef bint joins
    cdef Weights cuts, stops
    cdef double threshold
    cdef int[::1] keys, places, sums
    cdef float[::1] out
    cdef readonly int n_keys, n_tokens, n_examples
    cdef int size, begin, end, marks
    cdef unsigned int chunk
    cdef const int[::1] codes
    cdef int[::1] characters, starts, ends, firsts, to_stop, to_end
    cdef unsigned int[::1] small, forms, shapes, suffixes
    cdef signed char[::1] gaps, last
    @cython.locals(i=int)
    cdef void _look_up(self, const int[::1] table) noexcept nogil
    cdef unsigned long long _mix(self, unsigned long long hashed, unsigned long long value) noexcept nogil
    @cython.locals(hashed="unsigned long long")
    cdef void _add(self, unsigned long long template, unsigned long long one, unsigned long long two, unsigned long long three) noexcept nogil
    cdef unsigned int _low(self, int i) noexcept nogil
    cdef unsigned int _class(self, int i) noexcept nogil
    @cython.locals(i=int, value="unsigned int")
    cdef unsigned int _classes(self, int first, int last) noexcept nogil
    @cython.locals(i=int, hashed="unsigned long long")
    cdef unsigned int _letters(self, int first, int last) noexcept nogil
    @cython.locals(i=int, hashed="unsigned long long", before=int, which=int)
    cdef unsigned int _shape(self, int first, int last) noexcept nogil
    cdef bint _is_wordy(self, int i) noexcept nogil
    @cython.locals(
        begin=int, end=int, pair="unsigned int", far_left=int, far_right=int, left=int, right=int, after="unsigned int",
        left_word="unsigned int", right_word="unsigned int", so_far="unsigned int", rest="unsigned int", is_end=int,
        a="unsigned int", b="unsigned int", c="unsigned int", d="unsigned int", e="unsigned int", f="unsigned int",
    )
    cdef void _cut_features(self, int i, int token, int following) noexcept nogil
    @cython.locals(i=int, end=int, letter=int)
    cdef void _describe_chunk(self) noexcept nogil
    cdef bint _is_joint(self, int i) noexcept nogil
    @cython.locals(start=int, lines=int)
    cdef int _gap(self, int i) noexcept nogil
    cdef void _token(self, int start, int end, int gap) noexcept nogil
    @cython.locals(
        learning=bint, following=int, begin=int, end=int, gap=int, described=bint, token=int, i=int, before=int,
        which=int, cut=bint,
    )
    cdef void _find_tokens(self, const signed char[::1] gold, int[::1] examples) noexcept nogil
    @cython.locals(
        to_stop=int, to_end=int, k=int, start=int, end=int, first=int, stop=int, i=int, hashed="unsigned long long",
    )
    cdef void _describe_tokens(self) noexcept nogil
    @cython.locals(
        gap="unsigned int", small="unsigned int", form="unsigned int", shape="unsigned int", small1="unsigned int",
        form1="unsigned int", shape1="unsigned int", small2="unsigned int", shape2="unsigned int",
        next_small="unsigned int", next_form="unsigned int", next_shape="unsigned int", next_first="unsigned int",
        small3="unsigned int", form3="unsigned int", shape3="unsigned int", shape4="unsigned int", length=int,
        shapes="unsigned long long", around="unsigned long long",
    )
    cdef void _stop_features(self, int k, int first, int depth, int quotes) noexcept nogil
    @cython.locals(first=int, depth=int, quotes=int, k=int, which=int, gap=int, ends=bint)
    cdef void _find_sentences(self) noexcept nogil
    cdef int _depth(self, int depth, int which) noexcept nogil
    cpdef prepare(self)
    @cython.locals(none="signed char[::1]", nothing="int[::1]")
    cpdef int scan(self)

@cython.final
cdef class Teacher:
    cdef Scanner scanner
    cdef readonly LearningWeights weights
    cdef readonly double margin, most, time
    cdef readonly int mistakes
    cdef float[::1] score
    @cython.locals(count=int)
    cpdef learn(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, bint stops)
    @cython.locals(n=int, at=int, place=int, sign=double, lead=double, step=double)
    cdef void _learn(self, const int[::1] examples, const signed char[::1] gold, const int[::1] order, int count, bint stops) noexcept nogil
