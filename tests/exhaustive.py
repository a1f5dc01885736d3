"""Slow and obvious: everything a transition system can do on a short sentence, by trying all moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanglewood.core.state import State
    from tanglewood.core.system import TransitionSystem

LABEL = 0  # one label is enough to see which heads come out


def key(s: State) -> tuple:
    """All that the future of a state depends on."""
    return (
        tuple(s.stack_nodes()),
        tuple(s.buffer_nodes()),
        tuple(s.aside_nodes()),
        tuple(s.aside_labels[i] for i in range(s.aside_depth)),
        tuple(s.word_heads()),
        tuple(s.word_labels()),
        tuple(s.marks[i] for i in range(s.n + 1)),
        s.phase,
        s.count,
        s.repaired,
    )


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
        assert nexts or system.is_final(s), f"dead end: {key(s)}"
        assert s.steps <= system.max_steps(n)
        for _, after in nexts:
            if key(after) not in seen:
                seen[key(after)] = after
                agenda.append(after)
    return list(seen.values())


def reachable_trees(system: TransitionSystem, n: int) -> set[tuple[int, ...]]:
    """Heads of all trees that legal moves lead to, those left out that needed the single-root repair."""
    return {
        tuple(s.word_heads()) for s in reachable_states(system, n) if system.is_final(s) and not s.repaired
    }


def heads_without_repair(s: State) -> tuple[int, ...]:
    """Heads in which a word that was left over hangs on 0, as before single_root repairs the tree."""
    return tuple(max(head, 0) if s.labels[i + 1] >= 0 else 0 for i, head in enumerate(s.word_heads()))


def outcomes(system: TransitionSystem, s: State, memo: dict) -> frozenset[tuple[int, ...]]:
    """Heads of all trees that legal moves lead to from this state."""
    if key(s) not in memo:
        if system.is_final(s):
            memo[key(s)] = frozenset([heads_without_repair(s)])
        else:
            memo[key(s)] = frozenset().union(*(outcomes(system, after, memo) for _, after in successors(system, s)))
    return memo[key(s)]


def loss(outcomes_of_state: frozenset[tuple[int, ...]], gold: Sequence[int]) -> int:
    """Fewest wrong heads among the outcomes."""
    return min(sum(a != b for a, b in zip(heads, gold, strict=True)) for heads in outcomes_of_state)
