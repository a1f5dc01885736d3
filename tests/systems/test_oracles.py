"""What oracles reach, compared with everything that legal moves reach, and the numbers of the papers."""

import json
from collections import deque
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings

from brute_trees import arc_degrees_2007, crossing_pairs, is_nonprojective, projective_order, random_heads
from exhaustive import (
    COMPILED,
    ORACLES,
    VARIANTS,
    WITH_A_HOLE,
    Heads,
    bind,
    claimed_trees,
    label_of,
    over_oracles,
    reachable_trees,
    successors,
    trees,
    with_any_and_single_root,
)
from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import OracleError, TreeError
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.systems.swap_search import search_fewest_swaps

INCOMPLETE = {"three-step"}  # its oracle has one choice of anchors only, so that it misses trees by design
COMPLETE = [row for row in ORACLES if row[0] not in INCOMPLETE]
FIVE_WORDS_AT_MOST = {"two-planar", "stack-swap-planar"}  # six have too many states
up_to_five_words = pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
up_to_six_words = pytest.mark.parametrize(
    "n",
    [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)],
)


@cache
def reached(name: str, options: tuple, single_root: bool, n: int) -> set[Heads]:
    return reachable_trees(make_system(name, single_root=single_root, **dict(options)), n)


def follow(system: TransitionSystem, oracle: Oracle, n: int) -> tuple[State, list[str]]:
    """Take the oracle's actions by the public face; the last state and the names of the moves."""
    s = system.start(n)
    moves = []
    while not system.is_final(s):
        move, label = oracle.action(s)
        moves.append(system.moves[move].name)
        system.apply(s, move, label)
    return s, moves


# Every system. ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=[label_of(*row) for row in VARIANTS])
def test_projective_systems_reach_no_tree_with_crossing_arcs_and_others_do(name, options):
    system = make_system(name, **options)
    n = 5 if "reduces" in options else 4  # arcs that skip two subtrees need more words to cross
    found = reached(name, tuple(options.items()), False, n)
    crossing = any(crossing_pairs(list(heads), with_root=False) for heads in found)
    assert system.projective == (not crossing)


@up_to_six_words
@pytest.mark.parametrize(("name", "options", "oracle"), COMPLETE, ids=[label_of(*row) for row in COMPLETE])
@with_any_and_single_root
def test_an_oracle_reaches_exactly_the_trees_that_some_moves_reach(name, options, oracle, single_root, n):
    if n > 5 and name in FIVE_WORDS_AT_MOST:
        pytest.skip("too many states")
    system = make_system(name, single_root=single_root, **options)
    claimed = claimed_trees(system.oracle(oracle), n)
    if n < 5 or claimed != set(trees(n, single_root)):  # more than all trees there cannot be
        assert claimed == reached(name, tuple(options.items()), single_root, n)


@over_oracles
@with_any_and_single_root
def test_a_tree_is_claimed_exactly_if_the_actions_lead_to_it(name, options, oracle, single_root):
    system = make_system(name, single_root=single_root, **options)
    bound = system.oracle(oracle)
    state = State(4)
    for heads in trees(4):
        bind(bound, heads, label=7)
        claimed = bound.reaches_gold(state)
        try:
            s, moves = follow(system, bound, 4)
        except OracleError:
            assert not claimed
            continue
        assert claimed == (tuple(s.word_heads()) == heads and not s.repaired)
        if claimed:
            assert (state.word_heads(), state.word_labels()) == (s.word_heads(), s.word_labels())
            assert state.steps == s.steps == len(moves)
            assert all(label == 7 or head == 0 for label, head in zip(s.word_labels(), heads, strict=True))


@over_oracles
@settings(max_examples=60 if COMPILED else 10, deadline=None)
@given(heads=random_heads(20, 5))
def test_every_arc_the_oracle_of_a_long_tree_makes_is_gold_if_it_claims_the_tree(name, options, oracle, heads):
    if oracle == "fewest":
        pytest.skip("its search takes a while for trees that cross at random; shorter ones are tried below")
    system = make_system(name, **options)
    bound = system.oracle(oracle)
    bind(bound, heads)
    state = State(len(heads))
    if bound.reaches_gold(state):
        assert follow(system, bound, len(heads))[0].word_heads() == heads
    assert state.steps <= system.max_steps(len(heads))


RAISING = ["arc-standard", "arc-hybrid", "attardi", "attardi-alldeg1", "attardi-all", "attardi-alls0s1"]


@pytest.mark.parametrize("name", RAISING)
def test_the_static_oracle_says_so_where_a_tree_is_not_covered(name):
    system = make_system(name)
    oracle = system.oracle()
    missed = set(trees(4)) - claimed_trees(oracle, 4)
    assert missed
    for heads in missed:
        bind(oracle, heads)
        with pytest.raises(OracleError, match=f"{name}: no move leads on to the gold tree; it is not covered"):
            follow(system, oracle, 4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_tree_with_two_roots_is_not_claimed_under_single_root(name):
    oracle = make_system(name, single_root=True).oracle()
    bind(oracle, [0, 0])
    assert not oracle.reaches_gold(State(2))


# The classes of trees, by definition. -----------------------------------------------------------------------------


def is_projective(heads: Heads) -> bool:
    return not any(is_nonprojective(heads, word) for word in range(1, len(heads) + 1))


def is_planar(heads: Heads) -> bool:
    return not crossing_pairs(heads, with_root=False)


def degree_between_words(heads: Heads) -> int:
    return max((degree for degree, head in zip(arc_degrees_2007(heads)[1:], heads, strict=True) if head), default=0)


def is_two_planar(heads: Heads) -> bool:
    """Whether some set of arcs drawn in a second plane leaves no crossing in either."""
    crossing = crossing_pairs(heads, with_root=False)
    crossed = sorted({word for pair in crossing for word in pair})
    return any(
        all((one in second) != (other in second) for one, other in crossing)
        for size in range(len(crossed) // 2 + 1)
        for second in combinations(crossed, size)
    )


CLASSES = [
    ("arc-standard", {}, is_projective),
    ("arc-eager", {}, is_projective),
    ("arc-hybrid", {}, is_projective),
    ("attardi", {"degree": 1}, is_projective),
    ("covington", {"max_degree": 0}, is_projective),
    ("covington", {"max_degree": 1}, lambda heads: degree_between_words(heads) <= 1),
    ("covington", {"max_degree": 2}, lambda heads: degree_between_words(heads) <= 2),
    ("planar", {}, is_planar),
    ("swap", {}, lambda _: True),
    ("arc-hybrid-swap", {}, lambda _: True),
    ("covington", {}, lambda _: True),
    ("choi-palmer", {}, lambda _: True),
    ("two-planar", {}, is_two_planar),
]


@up_to_six_words
@pytest.mark.parametrize(("name", "options", "belongs"), CLASSES, ids=[label_of(*row[:2]) for row in CLASSES])
@with_any_and_single_root
def test_a_system_covers_the_class_of_trees_it_says(name, options, belongs, single_root, n):
    system = make_system(name, single_root=single_root, **options)
    expected = {heads for heads in trees(n, single_root) if belongs(heads)}
    assert claimed_trees(system.oracle(), n) == expected


@pytest.mark.parametrize(("n", "count"), [(3, 16), (4, 105), (5, 756)])
def test_planar_reaches_16_105_and_756_trees(n, count):
    assert len(claimed_trees(make_system("planar").oracle(), n)) == count


def test_two_planes_are_enough_for_all_trees_of_five_words_but_not_of_six():
    oracle = make_system("two-planar").oracle()
    assert claimed_trees(oracle, 5) == set(trees(5))
    assert len(trees(6)) - len(claimed_trees(oracle, 6)) == 428


# By number of words: all trees, single-rooted trees (exhaustive search, 2018 definitions of the variants).
ATTARDI_COUNTS = {
    "attardi": {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (117, 59), 5: (1011, 475)},
    "attardi-alldeg1": {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (119, 60), 5: (1067, 501)},
    "attardi-all": {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (122, 62), 5: (1177, 559)},
    "attardi-alls0s1": {1: (1, 1), 2: (3, 2), 3: (16, 9), 4: (119, 60), 5: (1069, 500)},
}


@up_to_five_words
@pytest.mark.parametrize("name", ATTARDI_COUNTS)
def test_the_attardi_family_covers_as_many_trees_as_exhaustive_search_found(name, n):
    counts = [
        len(claimed_trees(make_system(name, single_root=single_root).oracle(), n)) for single_root in (False, True)
    ]
    assert tuple(counts) == ATTARDI_COUNTS[name][n]


@pytest.mark.parametrize(
    "n",
    [*range(1, 6), 6, pytest.param(7, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", ATTARDI_COUNTS)
def test_the_attardi_family_covers_as_many_trees_as_the_ground_truth_says(name, n, shared):
    truth = json.loads((shared / "ground_truth/ground_truth.json").read_text())["trees_in_class"][str(n)]
    assert truth["trees"] == len(trees(n))
    claimed = claimed_trees(make_system(name).oracle(), n)
    assert len(claimed) == truth[name]["all"]
    alone = claimed_trees(make_system(name, single_root=True).oracle(), n)
    assert len(alone) == truth[name]["single_root"]
    assert alone == {heads for heads in claimed if heads.count(0) == 1}


@pytest.mark.parametrize("n", [4, 5])
def test_the_attardi_classes_include_each_other_as_the_paper_says(n):
    projective, attardi, alldeg1, all_, alls0s1 = (
        claimed_trees(make_system(name).oracle(), n) for name in ("arc-standard", *ATTARDI_COUNTS)
    )
    assert projective < attardi < alldeg1 < all_
    assert projective < alls0s1 < all_
    if n == 5:
        for other in (attardi, alldeg1):
            assert not other <= alls0s1
            assert not alls0s1 <= other


def test_the_greedy_oracle_would_not_do_for_an_inventory_that_is_not_closed():
    """The search finds trees that reducing as soon as possible misses; so it is needed."""
    system = make_system("attardi", reduces=WITH_A_HOLE)
    assert not system.is_closed
    greedy = claimed_trees(SYSTEMS["arc-standard"].oracles["static"](system), 4)
    searched = claimed_trees(system.oracle(), 4)
    assert greedy < searched
    assert (len(greedy), len(searched)) == (59, 70)


LAZY = ("attardi-alldeg1", "attardi-all", "attardi-alls0s1")  # those that reduce with a head in the buffer
AS_ARC_STANDARD = {"s0>s1": "LEFT-ARC", "s1>s0": "RIGHT-ARC", "SHIFT": "SHIFT"}


@up_to_five_words
@pytest.mark.parametrize("name", LAZY)
@with_any_and_single_root
def test_the_lazy_oracle_derives_projective_trees_as_arc_standard_does(name, single_root, n):
    system, standard = (make_system(each, single_root=single_root) for each in (name, "arc-standard"))
    lazy, plain = system.oracle("lazy"), standard.oracle()
    for heads in filter(is_projective, trees(n, single_root)):
        bind(lazy, heads)
        bind(plain, heads)
        first, *moves = follow(system, lazy, n)[1]
        assert first == "SHIFT"  # of 0
        assert [AS_ARC_STANDARD[move] for move in moves] == follow(standard, plain, n)[1]


def can_become(system: TransitionSystem, s: State, heads: Heads) -> bool:
    """Whether some moves lead to the tree, by trying all."""
    if any(found >= 0 and found != wanted for found, wanted in zip(s.word_heads(), heads, strict=True)):
        return False
    if system.is_final(s):
        return tuple(s.word_heads()) == heads
    return any(can_become(system, after, heads) for _, after in successors(system, s))


@pytest.mark.parametrize(
    ("name", "n"),
    [("attardi-all", 4), ("attardi-alls0s1", 4), pytest.param("attardi-alldeg1", 6, marks=pytest.mark.slow)],
)
@with_any_and_single_root
def test_the_lazy_oracle_takes_a_head_from_the_buffer_only_where_every_other_move_loses_the_tree(name, single_root, n):
    system = make_system(name, single_root=single_root)
    from_buffer = {move for move in range(system.n_moves) if system.moves[move].name.startswith("b0")}
    oracle = system.oracle("lazy")
    taken = 0
    for heads in claimed_trees(oracle, n):
        bind(oracle, heads)
        s = system.start(n)
        while not system.is_final(s):
            move, label = oracle.action(s)
            if move in from_buffer:
                others = (after for other, after in successors(system, s) if other not in from_buffer)
                assert not any(can_become(system, after, heads) for after in others)
                taken += 1
            system.apply(s, move, label)
    assert taken > 0


# three-step. ------------------------------------------------------------------------------------------------------

MISSED = [(3, 0, 0), (4, 2, 0), (5, 110, 28)]


@pytest.mark.parametrize("first", ["arc-eager", "arc-hybrid", "arc-standard"])
@pytest.mark.parametrize(("n", "missed", "missed_single_root"), MISSED)
def test_three_step_with_one_label_misses_a_known_number_of_trees(first, n, missed, missed_single_root):
    for single_root, number in ((False, missed), (True, missed_single_root)):
        oracle = make_system("three-step", first=first, single_root=single_root).oracle()
        assert len(trees(n, single_root)) - len(claimed_trees(oracle, n)) == number


@up_to_five_words
@with_any_and_single_root
def test_three_step_misses_nothing_if_all_labels_differ(single_root, n):
    oracle = make_system("three-step", single_root=single_root).oracle()
    for heads in trees(n, single_root):
        oracle.bind([-1, *heads], [-1, *range(n)])
        assert oracle.reaches_gold(State(n))


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
@with_any_and_single_root
def test_three_step_reaches_what_its_oracle_claims(single_root, n):
    system = make_system("three-step", single_root=single_root)
    assert claimed_trees(system.oracle(), n) <= reached("three-step", (), single_root, n) <= set(trees(n, single_root))


# swap. ------------------------------------------------------------------------------------------------------------

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


@over_oracles
def test_an_oracle_that_is_not_bound_or_bound_to_another_length_says_so(name, options, oracle):
    system = make_system(name, **options)
    guide = system.oracle(oracle)
    for ask in (guide.action, guide.costs, guide.matches, guide.reaches_gold, guide.reaches_gold_from):
        with pytest.raises(OracleError, match="call bind first"):
            ask(system.start(3))
    guide.bind([-1, 0])
    for ask in (guide.action, guide.costs, guide.matches, guide.reaches_gold, guide.reaches_gold_from):
        with pytest.raises(OracleError, match="one of 3 words, the bound gold tree has 1"):
            ask(system.start(3))


@pytest.mark.parametrize("heads", [[], [0], [-1, 2, 1, 0], [-1, 5], [-1, 1], [-1, -1], [0, 0]])
def test_bind_refuses_what_is_no_tree(heads):
    for name in SYSTEMS:
        with pytest.raises(TreeError):
            make_system(name).oracle().bind(heads)
