"""Slow and obvious: everything a transition system can do on a short sentence, by trying all moves.

Also the systems that contract tests run over: all of the registry, each with the options worth a test of their own.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from brute_trees import all_trees
from tanglewood import compiled
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.systems import SYSTEMS, make_system

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tanglewood.core.oracle import Oracle
    from tanglewood.core.system import TransitionSystem

COMPILED = compiled()
LABEL = 0  # one label is enough to see which heads come out
Heads = tuple[int, ...]

# Parameters of the contract tests. --------------------------------------------------------------------------------

NOT_CLOSED = "s0>s1,s1>s0,b0>s1"  # inventories that are not deletion-closed; the first from Shi & Lee 2018
WITH_A_HOLE = "s0>s1,s1>s0,s0>s3,s3>s0"
EXTRA_OPTIONS: dict[str, list[dict]] = {
    "covington": [{"max_degree": 0}, {"max_degree": 1}, {"max_degree": 2}, {"every_pair": True}],
    "attardi": [{"degree": 1}, {"degree": 3}, {"reduces": NOT_CLOSED}, {"reduces": WITH_A_HOLE}],
    "attardi-alldeg1": [{"degree": 3}],
    "attardi-all": [{"degree": 3}],
    "attardi-alls0s1": [{"degree": 3}],
    "buffer-arcs": [{"buffer_arcs": "left"}, {"buffer_arcs": "right"}],
    "three-step": [{"first": "arc-hybrid"}, {"first": "arc-standard"}],
}
up_to_five_words = pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
up_to_six_words = pytest.mark.parametrize(
    "n",
    [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)],
)
VARIANTS = [(name, options) for name in SYSTEMS for options in [{}, *EXTRA_OPTIONS.get(name, [])]]


def oracles_of(name: str, options: dict) -> Iterator[str]:
    """The oracles that the system has with these options."""
    system = make_system(name, **options)
    for oracle in system.oracles:
        try:
            system.oracle(oracle)
        except ConfigError:
            continue
        yield oracle


def label_of(*parts: object) -> str:
    """A readable test id: ``covington-max_degree=1-static``."""
    return "-".join("-".join(f"{k}={v}" for k, v in p.items()) if isinstance(p, dict) else str(p) for p in parts if p)


ORACLES = [(name, options, oracle) for name, options in VARIANTS for oracle in oracles_of(name, options)]
EXPLORING = [row for row in ORACLES if make_system(row[0], **row[1]).oracle(row[2]).explores]

over_variants = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=[label_of(*row) for row in VARIANTS])
over_oracles = pytest.mark.parametrize(("name", "options", "oracle"), ORACLES, ids=[label_of(*row) for row in ORACLES])
over_exploring_oracles = pytest.mark.parametrize(
    ("name", "options", "oracle"), EXPLORING, ids=[label_of(*row) for row in EXPLORING]
)
with_any_and_single_root = pytest.mark.parametrize("single_root", [False, True], ids=["any_roots", "single_root"])


def number_of(system: TransitionSystem, move: str) -> int:
    """The number of a move, by name; the constants of a compiled module cannot be seen from outside."""
    return [m.name for m in system.moves].index(move)


# All states and trees. --------------------------------------------------------------------------------------------


def key(s: State) -> tuple:
    """All that the future of a state depends on."""
    return (
        *s.stack_nodes(),
        -9,  # keeps the lists apart
        *s.buffer_nodes(),
        -9,
        *s.aside_nodes(),
        *(s.aside_labels[i] for i in range(s.aside_depth)),
        -9,
        *s.word_heads(),
        *s.word_labels(),
        *(s.marks[i] for i in range(s.n + 1)),
        int(s.phase),
        s.count,
        s.repaired,
    )


def everything(s: State) -> tuple:
    """All that can be seen of a state."""
    tables = (s.n_deps, s.left1, s.left2, s.right1, s.right2)
    return (*key(s), -9, s.n, s.steps, s.arcs, *(table[i] for table in tables for i in range(s.n + 1)))


def successors(system: TransitionSystem, s: State) -> list[tuple[int, State]]:
    """Every legal move with the state it leads to."""
    found = []
    for move in system.legal_moves(s, LABEL):
        after = s.copy()
        system.apply(after, move, LABEL)
        found.append((move, after))
    return found


def reachable_states(system: TransitionSystem, n: int) -> list[State]:
    """All states that legal moves lead to; checks on the way that none is a dead end."""
    first = system.start(n)
    seen = {key(first): first}
    agenda = [first]
    while agenda:
        s = agenda.pop()
        nexts = successors(system, s)
        assert nexts or system.is_final(s), f"dead end: {s.stack_nodes()} {s.buffer_nodes()} {s.word_heads()}"
        assert s.steps <= system.max_steps(n)
        for _, after in nexts:
            after_key = key(after)
            if after_key not in seen:
                seen[after_key] = after
                agenda.append(after)
    return list(seen.values())


def longest_sequence(system: TransitionSystem, n: int) -> int:
    """The most moves that any parse of n words takes; fails if some sequence of moves comes back to a state."""
    longest: dict[tuple, int | None] = {}

    def moves_left(s: State) -> int:
        state_key = key(s)
        if state_key not in longest:
            longest[state_key] = None  # under way
            longest[state_key] = max((1 + moves_left(after) for _, after in successors(system, s)), default=0)
        moves = longest[state_key]
        assert moves is not None, f"moves could go on forever from {s.stack_nodes()} {s.buffer_nodes()}"
        return moves

    return moves_left(system.start(n))


def reachable_trees(system: TransitionSystem, n: int) -> set[Heads]:
    """Heads of all trees that legal moves lead to, those left out that needed the single-root repair."""
    return {tuple(s.word_heads()) for s in reachable_states(system, n) if system.is_final(s) and not s.repaired}


@cache
def trees(n: int, single_root: bool = False) -> list[Heads]:
    """The heads of all trees over n words, or of those with one root."""
    if single_root:
        return [heads for heads in trees(n) if heads.count(0) == 1]
    return [tuple(heads) for heads in all_trees(n)]


def bind(oracle: Oracle, heads: Sequence[int], label: int = LABEL) -> None:
    """Bind a tree given by the heads of its words, all with the same label."""
    oracle.bind([-1, *heads], [-1, *[label] * len(heads)])


def claimed_trees(oracle: Oracle, n: int) -> set[Heads]:
    """The trees over n words that the oracle says it can rebuild."""
    found = set()
    state = State(n)
    for heads in trees(n):
        bind(oracle, heads)
        if oracle.reaches_gold(state):
            found.add(heads)
    return found


# Losses. ----------------------------------------------------------------------------------------------------------


def heads_without_repair(s: State) -> Heads:
    """Heads in which a word that was left over hangs on 0, as before single_root repairs the tree."""
    return tuple(head if s.labels[word] >= 0 else 0 for word, head in enumerate(s.word_heads(), 1))


def wrong_heads(s: State, gold: Sequence[int]) -> int:
    """How many words have another head than in the gold tree, before any repair."""
    return sum(head != right for head, right in zip(heads_without_repair(s), gold, strict=True))


def losses(system: TransitionSystem, s: State, golds: list[Heads], memo: dict[tuple, list[int]]) -> list[int]:
    """For every gold tree, the fewest wrong heads that any legal continuation of this state ends with."""
    state_key = key(s)
    if state_key not in memo:
        if system.is_final(s):
            memo[state_key] = [wrong_heads(s, gold) for gold in golds]
        else:
            rows = [losses(system, after, golds, memo) for _, after in successors(system, s)]
            memo[state_key] = [min(column) for column in zip(*rows, strict=True)]
    return memo[state_key]


def follow(system: TransitionSystem, oracle: Oracle, n: int) -> tuple[State, list[str]]:
    """Take the oracle's actions by the public face; the last state and the names of the moves."""
    s = system.start(n)
    moves = []
    while not system.is_final(s):
        move, label = oracle.action(s)
        moves.append(system.moves[move].name)
        system.apply(s, move, label)
    return s, moves
