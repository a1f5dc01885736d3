"""swap: figure 3 of Nivre 2009 move by move, and how many swaps each oracle takes."""

from collections import deque

import pytest
from hypothesis import given, settings

from brute_trees import projective_order, random_heads
from exhaustive import COMPILED, Heads, bind, follow, trees, up_to_six_words, with_any_and_single_root
from tanglewood.core.state import State
from tanglewood.systems import make_system
from tanglewood.systems.swap_search import search_fewest_swaps

FIGURE_1 = [2, 3, 0, 3, 2, 7, 5, 4, 3]  # A hearing is scheduled on the issue today .
FIGURE_3 = [
    # transition, stack, buffer, added arc
    ("SHIFT", [0, 1], [2, 3, 4, 5, 6, 7, 8, 9], None),
    ("SHIFT", [0, 1, 2], [3, 4, 5, 6, 7, 8, 9], None),
    ("LEFT-ARC", [0, 2], [3, 4, 5, 6, 7, 8, 9], (2, 1)),
    ("SHIFT", [0, 2, 3], [4, 5, 6, 7, 8, 9], None),
    ("SHIFT", [0, 2, 3, 4], [5, 6, 7, 8, 9], None),
    ("SHIFT", [0, 2, 3, 4, 5], [6, 7, 8, 9], None),
    ("SWAP", [0, 2, 3, 5], [4, 6, 7, 8, 9], None),
    ("SWAP", [0, 2, 5], [3, 4, 6, 7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 3], [4, 6, 7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 3, 4], [6, 7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 3, 4, 6], [7, 8, 9], None),
    ("SWAP", [0, 2, 5, 3, 6], [4, 7, 8, 9], None),
    ("SWAP", [0, 2, 5, 6], [3, 4, 7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 6, 3], [4, 7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 6, 3, 4], [7, 8, 9], None),
    ("SHIFT", [0, 2, 5, 6, 3, 4, 7], [8, 9], None),
    ("SWAP", [0, 2, 5, 6, 3, 7], [4, 8, 9], None),
    ("SWAP", [0, 2, 5, 6, 7], [3, 4, 8, 9], None),
    ("LEFT-ARC", [0, 2, 5, 7], [3, 4, 8, 9], (7, 6)),
    ("RIGHT-ARC", [0, 2, 5], [3, 4, 8, 9], (5, 7)),
    ("RIGHT-ARC", [0, 2], [3, 4, 8, 9], (2, 5)),
    ("SHIFT", [0, 2, 3], [4, 8, 9], None),
    ("LEFT-ARC", [0, 3], [4, 8, 9], (3, 2)),
    ("SHIFT", [0, 3, 4], [8, 9], None),
    ("SHIFT", [0, 3, 4, 8], [9], None),
    ("RIGHT-ARC", [0, 3, 4], [9], (4, 8)),
    ("RIGHT-ARC", [0, 3], [9], (3, 4)),
    ("SHIFT", [0, 3, 9], [], None),
    ("RIGHT-ARC", [0, 3], [], (3, 9)),
    ("RIGHT-ARC", [0], [], (0, 3)),
]


def derive(oracle: str, heads: Heads) -> tuple[State, list[str]]:
    system = make_system("swap")
    bound = system.oracle(oracle)
    bind(bound, heads)
    return follow(system, bound, len(heads))


@with_any_and_single_root
def test_the_eager_oracle_derives_figure_3_of_nivre_2009_move_by_move(single_root):
    system = make_system("swap", single_root=single_root)
    oracle = system.oracle("eager")
    bind(oracle, FIGURE_1)
    s = system.start(9)
    for name, stack, buffer, arc in FIGURE_3:
        move, label = oracle.action(s)
        assert system.moves[move].name == name
        assert system.arc(s, move, label) == (arc or (-1, -1))
        system.apply(s, move, label)
        assert (s.stack_nodes(), s.buffer_nodes()) == (stack, buffer)
    assert system.is_final(s)
    assert s.word_heads() == FIGURE_1


@pytest.mark.parametrize(("oracle", "swaps", "moves"), [("eager", 6, 30), ("lazy", 2, 22), ("fewest", 2, 22)])
def test_figure_1_takes_6_swaps_eager_and_2_at_least(oracle, swaps, moves):
    s, names = derive(oracle, FIGURE_1)
    assert s.word_heads() == FIGURE_1
    assert (names.count("SWAP"), len(names)) == (swaps, moves)


def test_the_projective_order_of_figure_1_is_the_order_in_which_nodes_end_on_the_stack():
    assert projective_order(FIGURE_1) == [0, 1, 2, 5, 6, 7, 3, 4, 8, 9]


@pytest.mark.parametrize(
    ("name", "covered"),
    [("attardi", False), ("attardi-alldeg1", True), ("attardi-all", True), ("attardi-alls0s1", True)],
)
def test_figure_1_is_in_all_of_the_attardi_family_but_attardi(name, covered):
    oracle = make_system(name).oracle()
    bind(oracle, FIGURE_1)
    assert oracle.reaches_gold(State(9)) == covered


@up_to_six_words
def test_swap_takes_2n_moves_and_two_for_each_swap_and_the_lazy_oracle_never_swaps_more(n):
    for heads in trees(n):
        swaps = {}
        for oracle in ("eager", "lazy"):
            s, names = derive(oracle, heads)
            swaps[oracle] = names.count("SWAP")
            assert s.steps == len(names) == 2 * n + 2 * swaps[oracle]
        assert swaps["lazy"] <= swaps["eager"]
        assert (swaps["eager"] == 0) == (projective_order(heads) == list(range(n + 1)))


@settings(max_examples=100 if COMPILED else 20, deadline=None)
@given(heads=random_heads(25, 1))
def test_the_lazy_oracle_swaps_no_more_than_the_eager_one_on_long_random_trees(heads):
    (eager, eager_moves), (lazy, lazy_moves) = derive("eager", heads), derive("lazy", heads)
    assert eager.word_heads() == lazy.word_heads() == heads
    assert lazy_moves.count("SWAP") <= eager_moves.count("SWAP")


def fewest_swaps(heads: Heads) -> int:
    """Over all derivations of the tree, whatever the order of its moves, by trying all."""
    gold = [-1, *heads]
    first = ((0,), tuple(range(1, len(gold))))
    swaps = {first: 0}
    agenda = deque([first])
    while True:
        stack, buffer = here = agenda.popleft()
        if here == ((0,), ()):
            return swaps[here]
        awaited = {gold[node] for node in (*stack, *buffer)}
        after = [(((*stack, buffer[0]), buffer[1:]), 0)] if buffer else []
        if len(stack) > 1:
            *rest, i, j = stack
            if gold[i] == j and i not in awaited:
                after.append((((*rest, j), buffer), 0))
            if gold[j] == i and j not in awaited:
                after.append((((*rest, i), buffer), 0))
            if 0 < i < j:
                after.append((((*rest, j), (i, *buffer)), 1))
        for there, cost in after:
            if swaps[here] + cost < swaps.get(there, 10**9):
                swaps[there] = swaps[here] + cost
                (agenda.append if cost else agenda.appendleft)(there)


@up_to_six_words
def test_the_fewest_swaps_are_those_of_the_best_of_all_derivations(n):
    oracle = make_system("swap").oracle("fewest")
    for heads in trees(n):
        s, names = derive("fewest", heads)
        bind(oracle, heads)
        assert s.word_heads() == list(heads)
        assert names.count("SWAP") == oracle.at_least == fewest_swaps(heads)


@settings(max_examples=30 if COMPILED else 5, deadline=None)
@given(heads=random_heads(9, 5))
def test_the_fewest_swaps_of_longer_trees_are_no_more_than_the_lazy_ones(heads):
    (lazy, lazy_moves), (fewest, moves) = derive("lazy", heads), derive("fewest", heads)
    assert fewest.word_heads() == lazy.word_heads() == heads
    assert moves.count("SWAP") <= lazy_moves.count("SWAP")


def test_a_search_for_the_fewest_swaps_that_gives_up_says_how_many_there_are_at_least():
    heads = [-1, *FIGURE_1[:5], *[1] * 4]  # needs 3
    needed = fewest_swaps(heads[1:])
    assert search_fewest_swaps(heads, 20).at_least == needed > 1
    assert search_fewest_swaps(heads, needed) == ([], needed)
    moves, at_least = search_fewest_swaps(heads, 20, limit=30)
    assert moves == []
    assert 0 < at_least <= needed
