cimport cython
from tanglewood.core.actions cimport Actions
from tanglewood.core.oracle cimport Oracle
from tanglewood.core.search cimport MoveScorer, Search
from tanglewood.core.state cimport State
from tanglewood.learners.network.core cimport NetworkTrainer, softmax
from tanglewood.ml.vectors cimport few_outputs

cdef float LEAST

cdef class Teacher:
    cdef readonly Actions actions
    cdef readonly Teacher rest
    cdef bint has_rest
    cdef int n_moves, n_labels
    cdef float[::1] moves, labels
    cdef bint _weigh_moves(self, State s, int[::1] legal) noexcept nogil
    cdef bint _weigh_labels(self, State s, int move, int head) noexcept nogil
    cdef int _add_moves(self, State s, int[::1] legal, float[::1] out) noexcept nogil
    @cython.locals(weights=float)
    cdef float _add_labels(self, State s, int move, int head, float[::1] out) noexcept nogil

cdef class ScoringTeacher(Teacher):
    cdef readonly MoveScorer scorer
    cdef bint _weigh_moves(self, State s, int[::1] legal) noexcept nogil
    cdef bint _weigh_labels(self, State s, int move, int head) noexcept nogil

cdef class VotingTeacher(Teacher):
    cdef readonly Oracle oracle
    cdef int[::1] costs
    @cython.locals(free=int)
    cdef bint _weigh_moves(self, State s, int[::1] legal) noexcept nogil
    cdef bint _weigh_labels(self, State s, int move, int head) noexcept nogil

cdef class StudentTrainer(NetworkTrainer):
    cdef readonly Teacher teachers
    cdef public bint has_tree, explores
    cdef int[::1] legal
    cdef float[::1] goal, label_goal
    cdef int _rule_out_moves(self, Search search, State s) noexcept nogil
    cdef int _oracle_move(self, Search search, Oracle oracle, State s) noexcept nogil
    @cython.locals(heard=int)
    cdef bint _ask(self, Search search, State s) noexcept nogil
    @cython.locals(weights=float)
    cdef bint _ask_labels(self, State s, int move, int head) noexcept nogil
    cdef void _learn_label(self, Search search, State s, int move) noexcept nogil
    cdef void _learn_state(self, Search search, State s) noexcept nogil
    cdef int _taught_label(self, Search search, State s, int move) noexcept nogil
    @cython.locals(following=int, guided=bint, own=bint, is_taught=bint, target=int, first=int, label=int)
    cdef void _learn(self, Search search, Oracle oracle, State s) noexcept nogil
