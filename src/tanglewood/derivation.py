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
from tanglewood.errors import ArgumentError, ConfigError, OracleError, given
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
    **options: Any,  # noqa: ANN401 - options of systems
) -> Iterator[Step]:
    """Yield the initial configuration and then every move of the oracle's derivation of a tree.

    The system is given by its name, with its ``options``, or as an instance; ``oracle`` is by default its first one.
    Where the system gives tags, those of a sentence are shown. ``short`` steps are for tables of long sentences: all
    but the ends of a long stack or buffer is replaced by GAP, and ``legal`` is empty.

    Raises OracleError after the last move that could be made if the system does not cover the tree.
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
    if isinstance(source, Tree):
        return _trace(system, source, oracle, (), short=short)
    return _trace(system, source.tree, oracle, tags_to_give(system, source), short=short)


def _trace(
    system: TransitionSystem, tree: Tree, oracle: str | None, tags: Sequence[str], *, short: bool
) -> Iterator[Step]:
    actions = Actions(system, list(dict.fromkeys(tree.labels[1:])), tags=list(dict.fromkeys(tags)))
    guide = system.oracle(oracle)
    guide.bind(tree.heads, actions.label_numbers(tree), actions.tag_numbers(tags) if tags else None)
    failure: OracleError | None = None

    static = short  # the costs of moves, which take long, are needed only where the static oracle does not know on

    def decide(s: State) -> Decision:
        nonlocal failure, static
        taken, number = -1, -1
        try:
            try:
                taken, number = guide.action(s, static)
            except OracleError:
                if not static:
                    raise
                static = False
                taken, number = guide.action(s)
        except OracleError as error:
            failure = error
        if short:
            return taken, number, []
        costs = guide.costs(s) if guide.explores else None
        legal = [
            LegalMove(
                system.moves[move].name,
                actions.name(move, number) if move == taken else None,
                move == taken,
                cost=None if costs is None else costs[move],
            )
            for move in system.legal_moves(s)
        ]
        return taken, number, legal

    s = system.start(len(tree))
    yield from _derive(actions, s, decide, short=short)
    if failure is not None:
        raise failure
    if not guide.matches(s):
        raise OracleError(f"{system.name}: the moves are at an end and another tree came out; this one is not covered")


def trace_model(
    parser: Parser, sentence: Sentence, options: ParseOptions | None = None, *, short: bool = False
) -> Iterator[Step]:
    """Yield the initial configuration and then every move that greedy search takes, with the scores of all legal ones.

    If the parser then changes the tree (it moves lifted arcs back, or labels arcs that no move made), a last step
    called FINISH says so. ``short`` is as in :func:`trace`.
    """
    from tanglewood.searches import MoveWorker

    worker = parser.worker(options)
    if not isinstance(worker, MoveWorker):
        raise ConfigError("this model is graph-based: it makes no moves; transition-based models can be traced")
    search = worker.turn_to(sentence)
    system, actions = search.system, parser.model.actions

    def decide(s: State) -> Decision:
        weighed = [] if short else search.weigh(s)
        taken, number = search.choose(s)
        legal = [
            LegalMove(
                system.moves[move].name,
                actions.name(move, label),
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
    changed = [arc for arc in worker.tree_of(s).arcs() if arcs[arc[2]] != arc]
    if changed:
        yield Step(FINISH, None, step.stack, step.buffer, step.aside, None, changed)


def count_transitions(steps: Iterable[Step]) -> int:
    """Return how many of the steps are moves of the system."""
    return sum(step.move not in (None, FINISH) for step in steps)
