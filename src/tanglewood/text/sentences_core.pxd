cimport cython
from tanglewood.ml.linear_weights cimport Weights
from tanglewood.text.hashed cimport Features
from tanglewood.text.tokens_core cimport TokenScanner

cdef int CLASS_MASK, LOWER, UPPER, STOP, ASKS, DOUBLE_QUOTE, OPENS, CLOSES, ELLIPSIS
cdef int DIGIT, COLON, APOSTROPHE, LEARNT, PUNCTUATION, BLANK_LINES, NEWLINE, FULL_STOP, SHORT, NUMBER, BULLET, LIKELIER, ENDS, NEVER
cdef double LINE_END
cdef int TOGETHER, NEW_PARAGRAPH, LONGEST, MOST_SPACE, MOST_TOKENS, AHEAD

@cython.final
cdef class SentenceScanner:
    cdef TokenScanner tokens
    cdef Weights stops, splits
    cdef Features features
    cdef public double threshold
    cdef const int[::1] common
    cdef int n_common, n_titles, ahead, rule
    cdef unsigned int[::1] titles
    cdef readonly int n_tokens
    cdef int[::1] firsts, to_stop, to_end, begins
    cdef unsigned int[::1] small, forms, shapes, suffixes
    cdef signed char[::1] gaps, last, layout
    cdef double[::1] scores
    cdef float[::1] hints
    cpdef prepare(self)
    @cython.locals(to_stop=int, to_end=int, k=int, start=int, end=int, first=int, stop=int)
    cdef void _describe_tokens(self) noexcept nogil
    @cython.locals(line=int, k=int, end=int, start=int, broken=bint, i=int, word=int, early=bint, last=int, item=int)
    cdef void _look_at_lines(self) noexcept nogil
    cdef void _keep_with_item(self, int k, int start) noexcept nogil
    @cython.locals(size=int, code=int, which=int)
    cdef int _list_item(self, int i) noexcept nogil
    cdef bint _space_follows(self, int i) noexcept nogil
    @cython.locals(low=int, high=int, middle=int)
    cdef bint _is_common(self, unsigned int small) noexcept nogil
    @cython.locals(
        gap="unsigned int", small="unsigned int", form="unsigned int", shape="unsigned int", small1="unsigned int",
        form1="unsigned int", shape1="unsigned int", shape2="unsigned int",
        next_small="unsigned int", next_form="unsigned int", next_shape="unsigned int", next_first="unsigned int",
        small3="unsigned int", form3="unsigned int", shape3="unsigned int", shape4="unsigned int", length=int,
        shapes="unsigned long long", around="unsigned long long",
    )
    cdef void _stop_features(self, int k, int first, int depth, int quotes) noexcept nogil
    @cython.locals(first=int, depth=int, quotes=int, k=int, which=int, gap=int, ends=bint, score=double, final=bint)
    cdef void _find_sentences(self) noexcept nogil
    @cython.locals(start=int, end=int, small="unsigned int", i=int)
    cdef bint _is_title(self, int k, int first) noexcept nogil
    cdef bint _is_mark(self, int k) noexcept nogil
    cdef int _depth(self, int depth, int which) noexcept nogil
    cpdef scan(self)
    cpdef scan_again(self, float[::1] hints)
    @cython.locals(k=int)
    cpdef doubtful(self, double most)
    @cython.locals(k=int)
    cpdef paragraph_ends(self)
    @cython.locals(
        small="unsigned int", left="unsigned int", left_suffix="unsigned int", left2="unsigned int",
        right="unsigned int", right_suffix="unsigned int", right2="unsigned int",
    )
    cdef void _split_features(self, int k) noexcept nogil
    cpdef bint is_several(self, int k)
    @cython.locals(sure=int, k=int)
    cpdef int settled(self)
    cdef bint _ends_chunk(self, int k) noexcept nogil
