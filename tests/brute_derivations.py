"""Slow and obvious: the best, the sum and all of the derivations of a transition system with scored arcs.

Stack and buffer settle what can still happen, so the configurations of n words are a graph that is built once, from the
rules of the system itself, and serves every table of scores.
"""

from __future__ import annotations

from functools import cache
from math import exp, inf, log
from typing import TYPE_CHECKING, NamedTuple

from tanglewood.core.state import State
from tanglewood.systems import make_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tanglewood.core.system import TransitionSystem

    Score = Callable[["Edge"], float]


class Edge(NamedTuple):
    """A move from one configuration to another: its number, its arc or (-1, -1), the target, and what is on view."""

    move: int
    head: int
    dependent: int
    target: int
    view: tuple[int, int, int, int]  # s2, s1, s0, b0; -1 if there is none


def view_of(s: State) -> tuple[int, int, int, int]:
    stack = [-1, -1, -1, *s.stack_nodes()]
    return (stack[-3], stack[-2], stack[-1], s.buffer_nodes()[0] if s.n_buffer else -1)


@cache
def graph(name: str, n: int, single_root: bool, options: tuple = ()) -> list[list[Edge]]:
    """The moves out of every configuration, targets before sources; the last is the start. Dead ends have no moves.

    A final configuration has none either and comes first.
    """
    system = make_system(name, single_root=single_root, **dict(options))
    numbers: dict[tuple, int] = {}
    edges: list[list[Edge]] = [[]]

    def visit(s: State) -> int:
        if system.is_final(s):
            return 0
        key = (*s.stack_nodes(), -1, s.n_buffer)
        if key not in numbers:
            moves = []
            for move in system.legal_moves(s):
                after = s.copy()
                system.apply(after, move)
                moves.append(Edge(move, *system.arc(s, move), visit(after), view_of(s)))
            numbers[key] = len(edges)
            edges.append(moves)
        return numbers[key]

    visit(system.start(n))
    return edges


def by_arc(table: Sequence[Sequence[float]]) -> Score:
    """The score of a move: of its arc, or 0."""
    return lambda edge: table[edge.head][edge.dependent] if edge.dependent > 0 else 0.0


def best_value(edges: list[list[Edge]], score: Score) -> float:
    """The value of the best derivation."""
    values = [0.0]
    for moves in edges[1:]:
        values.append(max((score(edge) + values[edge.target] for edge in moves), default=-inf))
    return values[-1]


def log_sums(edges: list[list[Edge]], score: Score) -> list[float]:
    """The logarithm of the sum of exp(value) over all ways to the end, from every configuration; the start is last."""
    values = [0.0]
    for moves in edges[1:]:
        terms = [score(edge) + values[edge.target] for edge in moves]
        top = max(terms, default=-inf)
        values.append(top + log(sum(exp(term - top) for term in terms)) if top > -inf else -inf)
    return values


def derivations(edges: list[list[Edge]]) -> Iterator[list[Edge]]:
    """All derivations, one after the other."""

    def continue_from(number: int) -> Iterator[list[Edge]]:
        if number == 0:
            yield []
        for edge in edges[number]:
            for rest in continue_from(edge.target):
                yield [edge, *rest]

    yield from continue_from(len(edges) - 1)


def replay(system: TransitionSystem, n: int, moves: Sequence[int]) -> list[int]:
    """Take the moves, which must be legal and lead to the end; the heads of all nodes, -1 for 0."""
    s = system.start(n)
    for move in moves:
        system.apply(s, move)
    assert system.is_final(s)
    return [-1, *s.word_heads()]
