"""Trace a derivation: transition, stack, buffer and added arc after every move (Nivre 2009, Figure 3).

The moves are those of an oracle or of a trained parser; either way the steps have one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tanglewood.core.actions import Actions
from tanglewood.core.short import ends_of
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ArgumentError, ConfigError, IllegalMove, OracleError, given
from tanglewood.learners.tag_candidates import tags_to_give
from tanglewood.systems import make_system
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

if TYPE_CHECKING:
    from tanglewood.options import ParseOptions
    from tanglewood.parser import Parser

Arc = tuple[int, str, int]  # head, label, dependent
FINISH = "FINISH"  # in place of a move in the last step, if the parser changes its tree after the last move


@dataclass(frozen=True, slots=True)
class LegalMove:
    """A move that may be taken in a configuration.

    A model gives it a score and its best label; an oracle that knows costs says how many heads it makes wrong.
    """

    move: str
    label: str | None = None
    taken: bool = False
    score: float | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a trace: a move (None in the first line), its label, and the configuration it leads to.

    ``arc`` is the move's own. ``attached`` are all arcs that are new or changed, including those that some systems add
    after their last move; in three-step an arc may replace an older one. ``legal`` are the moves that may follow.
    """

    move: str | None
    label: str | None
    stack: list[int]
    buffer: list[int]
    aside: list[tuple[int, str | None]]
    arc: Arc | None
    attached: list[Arc] = field(default_factory=list)
    legal: list[LegalMove] = field(default_factory=list)

    @property
    def transition(self) -> str:
        """The move with its label, as in LEFT-ARC(DET)."""
        if self.move is None:
            return ""
        return self.move if self.label is None else f"{self.move}({self.label})"

    def as_dict(self) -> dict[str, Any]:
        """Return the step as plain data for JSON, its lists not copied."""
        legal = [_fields(move) for move in self.legal]
        return {**_fields(self), "legal": legal, "transition": self.transition}


def _fields(record: LegalMove | Step) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


_TOO_MANY = "the parse is over after {} moves, and {} are given"
Decision = tuple[int, int, list[LegalMove]]  # move (or -1: none leads on), label and all legal moves


def _derive(actions: Actions, s: State, decide: Callable[[State], Decision], *, short: bool = False) -> Iterator[Step]:
    """Yield the initial configuration and then every move decided on, until one is -1 or the parse is over.

    If ``short``, only the ends of long lists are in the steps.
    """
    system, names = actions.system, actions.labels
    heads = s.word_heads()
    name, label, arc = None, None, None
    while True:
        final = system.is_final(s)
        move, number, legal = (-1, -1, []) if final else decide(s)
        aside = [(node, names[open_] if open_ >= 0 else None) for node, open_ in system.aside(s, short)]
        attached = []
        # A move changes the head of its arc's dependent only; what follows the last move may change any.
        for word in range(1, s.n + 1) if final else () if arc is None else (arc[2],):
            if s.heads[word] != heads[word - 1]:
                heads[word - 1] = s.heads[word]
                attached.append((heads[word - 1], names[s.labels[word]] if s.labels[word] >= 0 else "", word))
        if short:
            stack, buffer = ends_of(s.stack[: s.depth]), ends_of(s.buffer[: s.n_buffer][::-1])
        else:
            stack, buffer = s.stack_nodes(), s.buffer_nodes()
        yield Step(name, label, stack, buffer, aside, arc, attached, legal)
        if move < 0:
            return
        head, dependent = system.arc(s, move, number)
        name = system.moves[move].name
        label = actions.name(move, number)
        system.apply(s, move, number)
        arc = (head, label or "", dependent) if head >= 0 else None


def trace(
    source: Sentence | Tree,
    system: str | TransitionSystem = "swap",
    oracle: str | None = None,
    *,
    short: bool = False,
    moves: Sequence[str] = (),
    **options: Any,  # noqa: ANN401 - options of systems
) -> Iterator[Step]:
    """Yield the initial configuration and then every move of the oracle's derivation of a tree.

    The system is given by its name, with its ``options``, or as an instance; ``oracle`` is by default its first one.
    Where the system gives tags, those of a sentence are shown. ``short`` steps are for tables of long sentences: all
    but the ends of a long stack or buffer is replaced by GAP, and ``legal`` is empty. ``moves`` are taken first,
    whatever the oracle would do: each the `transition` of a step, or the name of a move alone, which then gets the
    label of the tree. An oracle that may be asked from any state goes on from there.

    Raises OracleError after the last move that could be made if the system does not cover the tree, or if ``moves``
    lead to where the oracle does not know on or to another tree.
    """
    if isinstance(source, TransitionSystem | str) or isinstance(system, Sentence | Tree):
        raise ArgumentError('trace takes the sentence or tree first, then the system: trace(sentence, system="swap")')
    if not isinstance(source, Sentence | Tree):
        raise ArgumentError(f"trace needs a Sentence or a Tree, not {given(source)}")
    if isinstance(system, str):
        system = make_system(system, **options)
    elif not isinstance(system, TransitionSystem):
        raise ArgumentError(f"the system should be a name or a TransitionSystem, not {given(system)}")
    elif options:
        raise ConfigError(f"{', '.join(options)}: a system that is made already has its options")
    goal = _Goal(source, system, moves)
    return _trace(goal, goal.oracle(oracle), moves, short=short)


class _Goal:
    """A tree to derive, with its labels and tags in the numbers of a system's actions."""

    def __init__(self, source: Sentence | Tree, system: TransitionSystem, moves: Sequence[str] = ()) -> None:
        self.tree = source if isinstance(source, Tree) else source.tree
        tags = [] if isinstance(source, Tree) else tags_to_give(system, source)
        given = [label for _, label in map(_parts, moves) if label]  # those of a model may be none of the tree's
        self.actions = Actions(
            system,
            list(dict.fromkeys([*self.tree.labels[1:], *given])),
            tags=list(dict.fromkeys([*tags, *given])) if tags else [],
        )
        self.labels = self.actions.label_numbers(self.tree)
        self.tags = self.actions.tag_numbers(tags) if tags else None

    def oracle(self, name: str | None) -> Any:  # noqa: ANN401 - an Oracle; systems return it untyped
        """Return an oracle that knows the tree."""
        oracle = self.actions.system.oracle(name)
        oracle.bind(self.tree.heads, self.labels, self.tags)
        return oracle

    def number(self, s: State, move: int) -> int:
        """Return the label, or tag, for a move that was chosen without one.

        It is that of the word the move is about; if it may not be, the first that may.
        """
        system = self.actions.system
        if not system.moves[move].labelled:
            return -1
        dependent = system.arc(s, move)[1]
        word = dependent if dependent > 0 else s.buffer_nodes()[0]
        known, names = (self.tags, self.actions.tags) if system.moves[move].tags else (self.labels, self.actions.labels)
        likely = [] if known is None else [known[word]]
        return next(
            (number for number in [*likely, *range(len(names))] if number >= 0 and system.is_legal(s, move, number)), -1
        )

    def taken(self, s: State, transition: str) -> tuple[int, int]:
        """Return the (move, label) of a transition, which may be the name of a move alone."""
        name, label = _parts(transition)
        move = _named(self.actions.system, s, name)
        return move, self.number(s, move) if label is None else _numbered(self.actions, s, move, label)


def _named(system: TransitionSystem, s: State, name: str) -> int:
    """Return the legal move of a name; in three-step, moves of several steps may share one."""
    legal = system.legal_moves(s)
    found = next((move for move in legal if system.moves[move].name == name), -1)
    if found < 0:
        known = ", ".join(dict.fromkeys(system.moves[move].name for move in legal)) or "none, the parse is over"
        problem = (
            "is not legal here" if name in {move.name for move in system.moves} else f"is no move of {system.name}"
        )
        raise IllegalMove(f"move {s.steps + 1}: {name!r} {problem}; legal moves: {known}")
    return found


def _numbered(actions: Actions, s: State, move: int, label: str) -> int:
    """Return the number of a label, or tag, that a move may have."""
    kind = actions.system.moves[move]
    names = (actions.tags if kind.tags else actions.labels) if kind.labelled else []
    number = names.index(label) if label in names else -1
    if number < 0 or not actions.system.is_legal(s, move, number):
        raise IllegalMove(
            f"move {s.steps + 1}: {kind.name} may not have {label!r} here; without it, it gets what it may"
        )
    return number


def _parts(transition: str) -> tuple[str, str | None]:
    """Return the name and the label, if there is one, of a transition such as LEFT-ARC(det)."""
    name, opened, label = transition.partition("(")
    return name, label.removesuffix(")") if opened else None


def _legal_moves(goal: _Goal, s: State, costs: Sequence[int] | None, taken: int, number: int) -> list[LegalMove]:
    """Return what may be done in a state; what is taken there has its label."""
    actions = goal.actions
    return [
        LegalMove(
            actions.system.moves[move].name,
            actions.name(move, number) if move == taken else None,
            move == taken,
            cost=None if costs is None else costs[move],
        )
        for move in actions.system.legal_moves(s)
    ]


def _trace(goal: _Goal, guide: Any, moves: Sequence[str], *, short: bool) -> Iterator[Step]:  # noqa: ANN401 - an Oracle
    system = goal.actions.system
    failure: OracleError | None = None
    waiting = iter(moves)
    followed = True  # whether all moves so far are the oracle's own

    static = short  # the costs of moves, which take long, are needed only where the static oracle does not know on

    def decide(s: State) -> Decision:
        nonlocal failure, followed
        transition = next(waiting, None)
        if transition is not None:
            taken, number = goal.taken(s, transition)
            if followed and not guide.explores:
                try:
                    followed = guide.action(s)[0] == taken
                except OracleError:
                    followed = False
        elif followed or guide.explores:
            taken, number = ask(s)
        else:
            taken, number = -1, -1
            failure = OracleError(f"{system.name}: this oracle knows on from its own moves only, and one was another")
        if short:
            return taken, number, []
        return taken, number, _legal_moves(goal, s, guide.costs(s) if guide.explores else None, taken, number)

    def ask(s: State) -> tuple[int, int]:
        nonlocal failure, static
        try:
            try:
                return guide.action(s, static)  # type: ignore[no-any-return]
            except OracleError:
                if not static:
                    raise
                static = False
                return guide.action(s)  # type: ignore[no-any-return]
        except OracleError as error:
            failure = error
            return -1, -1

    s = system.start(len(goal.tree))
    yield from _derive(goal.actions, s, decide, short=short)
    if failure is not None:
        raise failure
    if next(waiting, None) is not None:
        raise IllegalMove(_TOO_MANY.format(s.steps, len(moves)))
    if not guide.matches(s):
        wrong = sum(head != gold for head, gold in zip(s.word_heads(), goal.tree.heads[1:], strict=True))
        if moves and wrong:
            raise OracleError(f"{system.name}: the moves are at an end, and {wrong} of {s.n} heads are not the tree's")
        raise OracleError(f"{system.name}: the moves are at an end and another tree came out; this one is not covered")


def weigh(
    source: Sentence | Tree, system: TransitionSystem, oracle: str | None, moves: Sequence[str]
) -> list[LegalMove]:
    """Return what may be done after some moves, which are as those of :func:`trace`, and what each choice costs.

    The costs are those of an oracle that may be asked from any state; without one there are none.
    """
    goal = _Goal(source, system, moves)
    s = system.start(len(goal.tree))
    for transition in moves:
        system.apply(s, *goal.taken(s, transition))
    costs = None if oracle is None or system.is_final(s) else goal.oracle(oracle).costs(s)
    return _legal_moves(goal, s, costs, -1, -1)


def trace_model(
    parser: Parser,
    sentence: Sentence,
    options: ParseOptions | None = None,
    *,
    short: bool = False,
    moves: Sequence[str] = (),
) -> Iterator[Step]:
    """Yield the initial configuration and then every move that greedy search takes, with the scores of all legal ones.

    If the parser then changes the tree (it moves lifted arcs back, or labels arcs that no move made), a last step
    called FINISH says so. ``short`` and ``moves`` are as in :func:`trace`; a move without a label has the one that the
    model likes best.
    """
    from tanglewood.searches import MoveWorker

    worker = parser.worker(options)
    if not isinstance(worker, MoveWorker):
        raise ConfigError("this model is graph-based: it makes no moves; transition-based models can be traced")
    search = worker.turn_to(sentence)
    system, actions = search.system, parser.model.actions

    waiting = iter(moves)

    def decide(s: State) -> Decision:
        transition = next(waiting, None)
        weighed = [] if short and transition is None else search.weigh(s)
        if transition is None:
            taken, number = search.choose(s)
        else:
            name, label = _parts(transition)
            taken = _named(system, s, name)
            likely = next(number for move, number, _ in weighed if move == taken)
            number = likely if label is None else _numbered(actions, s, taken, label)
        legal = [
            LegalMove(
                system.moves[move].name,
                actions.name(move, number if move == taken else label),
                move == taken,
                round(score, 4),
            )
            for move, label, score in weighed
        ]
        return taken, number, legal

    s = system.start(len(sentence))
    worker.give_candidates(s)
    arcs: dict[int, Arc] = {}
    for step in _derive(actions, s, decide, short=short):
        arcs.update((arc[2], arc) for arc in step.attached)
        yield step
    if next(waiting, None) is not None:
        raise IllegalMove(_TOO_MANY.format(s.steps, len(moves)))
    changed = [arc for arc in worker.tree_of(s).arcs() if arcs[arc[2]] != arc]
    if changed:
        yield Step(FINISH, None, step.stack, step.buffer, step.aside, None, changed)


def count_transitions(steps: Iterable[Step]) -> int:
    """Return how many of the steps are moves of the system."""
    return sum(step.move not in (None, FINISH) for step in steps)
