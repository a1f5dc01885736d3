"""The systems that the papers cite and their successors: what is true of one of them only."""

import pytest
from hypothesis import given, settings

from brute_trees import random_heads
from exhaustive import (
    COMPILED,
    LABEL,
    Heads,
    bind,
    claimed_trees,
    key,
    losses,
    number_of,
    reachable_states,
    successors,
    trees,
    up_to_five_words,
    with_any_and_single_root,
)
from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.systems import make_system

# By number of words: all trees, single-rooted trees; exhaustive search (test_oracles.py compares all with it).
COUNTS = {
    ("stack-swap", ()): {1: (1, 1), 2: (3, 2), 3: (14, 9), 4: (86, 57), 5: (631, 433)},
    ("stack-swap-planar", ()): {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (125, 64), 5: (1260, 595)},
    ("buffer-arcs", ()): {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (112, 55), 5: (885, 406)},
    ("buffer-arcs", ("left",)): {1: (1, 1), 2: (3, 2), 3: (14, 8), 4: (80, 43), 5: (518, 271)},
    ("buffer-arcs", ("right",)): {1: (1, 1), 2: (3, 2), 3: (15, 8), 4: (90, 42), 5: (580, 252)},
}
Steps = dict[tuple, tuple[State, list[tuple[int, tuple, list[int]]]]]  # of states, moves, where to, and their losses


def moves_of(system: TransitionSystem, oracle: Oracle, heads: Heads) -> list[str]:
    """The names of the oracle's moves to the end."""
    bind(oracle, heads)
    s = system.start(len(heads))
    names = []
    while not system.is_final(s):
        move, label = oracle.action(s)
        names.append(system.moves[move].name)
        system.apply(s, move, label)
    return names


@up_to_five_words
@pytest.mark.parametrize(("name", "sides"), COUNTS)
def test_systems_that_miss_trees_cover_as_many_as_exhaustive_search_found(name, sides, n):
    options = dict.fromkeys(["buffer_arcs"], sides[0]) if sides else {}
    counts = [
        len(claimed_trees(make_system(name, single_root=roots, **options).oracle(), n)) for roots in (False, True)
    ]
    assert tuple(counts) == COUNTS[name, sides][n]


@up_to_five_words
@pytest.mark.parametrize(
    ("name", "plain"), [("buffer-arcs", "arc-eager"), ("stack-swap", "arc-standard"), ("stack-swap-planar", "planar")]
)
@with_any_and_single_root
def test_trees_of_the_plain_system_are_derived_as_there(name, plain, single_root, n):
    """So that nothing new has to be learnt for them."""
    system, base = (make_system(each, single_root=single_root) for each in (name, plain))
    oracle, plain_oracle = system.oracle(), base.oracle()
    covered = claimed_trees(plain_oracle, n)
    assert covered <= claimed_trees(oracle, n)
    for heads in covered:
        assert moves_of(system, oracle, heads) == moves_of(base, plain_oracle, heads)


# SWAP on the stack, and what completeness needs. ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heads", "covered"),
    [
        ((3, 0, 2), {"swap", "stack-swap", "stack-swap-planar"}),  # 1 has to get past 2
        ((4, 4, 0, 3), {"swap", "stack-swap-planar"}),  # 1 and 2 have to be past 3 together
        ((5, 3, 0, 2, 3), {"swap", "stack-swap", "stack-swap-planar"}),  # 2 gets past 3 and is attached, then 1
        ((0, 1, 1, 2, 1), {"swap"}),  # 2 waits for 4 above 1, or below it, and 1 is needed both before and after that
    ],
)
def test_words_have_to_go_back_into_the_buffer_to_get_all_trees(heads, covered):
    for name in ("swap", "stack-swap", "stack-swap-planar"):
        oracle = make_system(name).oracle()
        bind(oracle, heads)
        assert oracle.reaches_gold(State(len(heads))) == (name in covered)


def test_swap_exchanges_the_two_topmost_nodes_once():
    system = make_system("stack-swap")
    shift, swap = number_of(system, "SHIFT"), number_of(system, "SWAP")
    s = system.start(3)
    for move in (shift, shift, swap):
        system.apply(s, move)
    assert (s.stack_nodes(), s.buffer_nodes()) == ([0, 2, 1], [3])
    assert not system.is_legal(s, swap)
    system.apply(s, shift)
    system.apply(s, swap)
    assert (s.stack_nodes(), s.buffer_nodes()) == ([0, 2, 3, 1], [])


# buffer-arcs. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heads", "move", "sides"),
    [((3, 0, 2), "LEFT-NONPROJ", {"both", "left"}), ((0, 0, 1), "RIGHT-NONPROJ", {"both", "right"})],
)
def test_an_arc_skips_the_front_of_the_buffer_on_the_side_that_is_allowed(heads, move, sides):
    for side in ("both", "left", "right"):
        system = make_system("buffer-arcs", buffer_arcs=side)
        oracle = system.oracle()
        bind(oracle, heads)
        assert oracle.reaches_gold(State(3)) == (side in sides)
        if side in sides:
            assert moves_of(system, oracle, heads).count(move) == 1


def test_with_single_root_no_arc_from_0_skips_a_word():
    system = make_system("buffer-arcs", single_root=True)
    s = system.start(3)
    assert not system.is_legal(s, number_of(system, "RIGHT-NONPROJ"))
    assert make_system("buffer-arcs").is_legal(s, number_of(system, "RIGHT-NONPROJ"))


# choi-palmer. -----------------------------------------------------------------------------------------------------


def test_left_pop_drops_a_word_for_good_and_left_arc_keeps_it():
    system = make_system("choi-palmer")
    shift, left_arc, left_pop = (number_of(system, name) for name in ("SHIFT", "LEFT-ARC", "LEFT-POP"))
    for move, kept in ((left_pop, [0, 2]), (left_arc, [0, 1, 2])):
        s = system.start(3)
        system.apply(s, shift)
        system.apply(s, move, LABEL)
        assert s.word_heads()[0] == 2
        system.apply(s, shift)
        assert s.stack_nodes() == kept


@up_to_five_words
def test_words_are_dropped_as_soon_as_nothing_further_right_depends_on_them(n):
    """The moves are those of covington, but words that were dropped are passed by without NO-ARC."""
    system, covington = make_system("choi-palmer"), make_system("covington")
    oracle, plain = system.oracle(), covington.oracle()
    for heads in trees(n):
        moves = moves_of(system, oracle, heads)
        others = moves_of(covington, plain, heads)
        assert len(moves) <= len(others)
        dropped = 0
        for word, head in enumerate(heads, 1):
            last = max((other for other in range(1, n + 1) if heads[other - 1] == word), default=0)
            dropped += word < head > last
        assert moves.count("LEFT-POP") == dropped
        for name in ("RIGHT-ARC", "SHIFT"):
            assert moves.count(name) == others.count(name)
        assert moves.count("LEFT-ARC") + dropped == others.count("LEFT-ARC")


# arc-hybrid-swap. -------------------------------------------------------------------------------------------------


@settings(max_examples=100 if COMPILED else 20, deadline=None)
@given(heads=random_heads(25, 1))
def test_arc_hybrid_with_swap_derives_long_random_trees_and_swaps_once_a_pair_at_most(heads):
    system = make_system("arc-hybrid-swap")
    for name in system.oracles:
        oracle = system.oracle(name)
        bind(oracle, heads)
        s = State(len(heads))
        assert oracle.reaches_gold(s)
        assert system.swaps(s) == moves_of(system, oracle, heads).count("SWAP")


def reached_in_training(system: TransitionSystem, oracle: Oracle, steps: Steps) -> set[tuple]:
    """States that the paper's training may get into: any move but SWAP, which is made exactly where it is free."""
    swap = number_of(system, "SWAP")
    agenda = [key(system.start(oracle.n))]
    found = set()
    while agenda:
        state = agenda.pop()
        if state not in steps or state in found:
            continue
        found.add(state)
        s, moves = steps[state]
        forced = system.is_legal(s, swap) and oracle.costs(s)[swap] == 0
        agenda += [after for move, after, _ in moves if (move == swap) == forced]
    return found


# As docs/systems/arc-hybrid-swap.md says, by single_root: of all states, legal moves and gold trees of up to four
# words, how many there are, how many costs are not the loss, and how many of these are 0 while the loss is not; the
# same for states that the paper's training gets into.
DIFFERENCES = {
    False: ((233_488, 29_663, 6_420), (31_877, 3_895, 172)),
    True: ((84_455, 20_148, 4_530), (11_454, 2_655, 344)),
}


@pytest.mark.one_build
@with_any_and_single_root
def test_the_costs_of_the_static_dynamic_oracle_differ_from_the_loss_as_often_as_the_page_says(single_root):
    system = make_system("arc-hybrid-swap", single_root=single_root)
    oracle = system.oracle("static-dynamic")
    everywhere, in_training = [0, 0, 0], [0, 0, 0]
    for n in (1, 2, 3, 4):
        golds = trees(n, single_root)
        memo: dict[tuple, list[int]] = {}
        steps: Steps = {}
        for s in reachable_states(system, n):
            if not system.is_final(s):
                least = losses(system, s, golds, memo)
                steps[key(s)] = (
                    s,
                    [
                        (
                            move,
                            key(after),
                            [a - b for a, b in zip(losses(system, after, golds, memo), least, strict=True)],
                        )
                        for move, after in successors(system, s)
                    ],
                )
        for index, gold in enumerate(golds):
            bind(oracle, gold)
            trained = reached_in_training(system, oracle, steps)
            for state, (s, moves) in steps.items():
                costs = oracle.costs(s)
                for move, _, loss in moves:
                    found = (1, costs[move] != loss[index], costs[move] == 0 < loss[index])
                    for counts in (everywhere, in_training) if state in trained else (everywhere,):
                        for place, one in enumerate(found):
                            counts[place] += one
    assert (tuple(everywhere), tuple(in_training)) == DIFFERENCES[single_root]
