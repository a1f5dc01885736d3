"""Costs of moves, compared with the loss of all legal continuations, for every state and every gold tree."""

from functools import cache
from itertools import chain, combinations
from pathlib import Path

import pytest

from brute_trees import crossing_pairs
from exhaustive import (
    COMPILED,
    EXPLORING,
    LABEL,
    Heads,
    bind,
    key,
    label_of,
    losses,
    reachable_states,
    trees,
    with_any_and_single_root,
)
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system
from tanglewood.systems.attardi import all_reduces, name_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
APPROXIMATE = {"swap", "joint-swap", "arc-hybrid-swap"}  # finding the exact loss is hard there
PLANAR = {"planar", "two-planar"}  # arcs are looked at one by one, though they may rule each other out
EXACT = [row for row in EXPLORING if row[0] not in APPROXIMATE | PLANAR]
SWAP = [row for row in EXPLORING if row[0] in APPROXIMATE - {"joint-swap"}]  # which has the costs of swap
words = pytest.mark.parametrize("n", [1, 2, 3, 4])

Pair = tuple[State, list[tuple[int, list[int]]]]


@cache
def brute_costs(name: str, options: tuple, single_root: bool, n: int) -> list[Pair]:
    """Every state that is not final, with its legal moves and what each costs for every gold tree in turn."""
    system = make_system(name, single_root=single_root, **dict(options))
    golds = trees(n, single_root)
    memo: dict[tuple, list[int]] = {}
    found = []
    for s in reachable_states(system, n):
        if system.is_final(s):
            continue
        here = losses(system, s, golds, memo)
        rows = []
        for move in system.legal_moves(s):
            after = s.copy()
            system.apply(after, move, LABEL)
            there = losses(system, after, golds, memo)
            rows.append((move, [loss - least for loss, least in zip(there, here, strict=True)]))
        found.append((s, rows))
    return found


def test_the_exact_dynamic_oracles_are_those_of_the_papers():
    assert {(name, oracle) for name, _, oracle in EXACT} >= {
        ("arc-standard", "dynamic"),
        ("arc-eager", "dynamic"),
        ("arc-hybrid", "dynamic"),
        ("covington", "dynamic"),
        ("choi-palmer", "dynamic"),
        ("attardi", "dynamic"),
        ("attardi-alldeg1", "dynamic"),
        ("attardi-all", "dynamic"),
        ("attardi-alls0s1", "dynamic"),
    }


@words
@pytest.mark.parametrize(("name", "options", "oracle"), EXACT, ids=[label_of(*row) for row in EXACT])
@with_any_and_single_root
def test_the_cost_of_every_move_in_every_state_is_the_loss_of_the_best_continuation(
    name, options, oracle, single_root, n
):
    system = make_system(name, single_root=single_root, **options)
    states = brute_costs(name, tuple(options.items()), single_root, n)
    bound = system.oracle(oracle)
    golds = list(enumerate(trees(n, single_root)))
    for index, gold in golds if COMPILED else golds[:: n * n // 2 or 1]:  # interpreted, every eighth tree of four words
        bind(bound, gold)
        for s, rows in states:
            costs = bound.costs(s)
            for move, expected in rows:
                assert costs[move] == expected[index], describe(system, s, gold, move)
                assert costs[move] >= 0


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
@with_any_and_single_root
def test_every_inventory_that_the_oracle_of_attardi_accepts_has_exact_costs(single_root, n):
    """Not only the named ones: all sets of reduces up to degree 2, such as s1>s0 alone, which is refused."""
    more = sorted(all_reduces(2) - {(1, 0)})
    for chosen in chain.from_iterable(combinations(more, size) for size in range(len(more) + 1)):
        reduces = ",".join(map(name_of, [(1, 0), *chosen]))
        system = make_system("attardi", reduces=reduces, single_root=single_root)
        try:
            bound = system.oracle("dynamic")
        except ConfigError:
            continue
        states = brute_costs("attardi", (("reduces", reduces),), single_root, n)
        for index, gold in enumerate(trees(n, single_root)):
            bind(bound, gold)
            for s, rows in states:
                costs, moves = bound.costs(s), [move for move, _ in rows]
                assert [costs[move] for move in moves] == [row[index] for _, row in rows], (
                    reduces,
                    s.stack_nodes(),
                    gold,
                )


@pytest.mark.parametrize("reduces", ["s1>s0", "s1>s0,s2>s0"])
def test_the_oracle_of_attardi_refuses_inventories_that_give_no_word_to_its_right_neighbour(reduces):
    with pytest.raises(ConfigError, match="no dynamic oracle"):
        make_system("attardi", reduces=reduces).oracle("dynamic")


@with_any_and_single_root
def test_a_chart_that_would_be_too_large_is_not_made(single_root):
    """No word but the first is next to its head: all stay in play, more than a chart may have."""
    gold = [0, *range(62, 122), *[1] * 60]
    n = len(gold)
    system = make_system("attardi", single_root=single_root)
    oracle = system.oracle("dynamic")
    bind(oracle, gold)
    s = system.start(n)
    for _ in range(20):
        costs = oracle.costs(s)
        free = [move for move in system.legal_moves(s) if costs[move] == 0]
        assert free
        system.apply(s, free[-1], LABEL)


slow = pytest.mark.slow
# How many pairs of a state and a gold tree there are, in how many some cost is not the exact one, and in how many a
# move of cost 0 loses an arc: with any roots, and with a single one. docs/systems has these counts.
DIFFERING = [
    ("planar", "dynamic", 1, (1, 0, 0), (1, 0, 0)),
    ("planar", "dynamic", 2, (21, 0, 0), (14, 0, 0)),
    ("planar", "dynamic", 3, (880, 0, 0), (495, 0, 0)),
    ("planar", "dynamic", 4, (58_375, 46, 6), (29_888, 35, 3)),
    ("two-planar", "dynamic", 1, (2, 0, 0), (2, 0, 0)),
    ("two-planar", "dynamic", 2, (138, 0, 0), (92, 0, 0)),
    ("two-planar", "dynamic", 3, (13_024, 0, 0), (7_326, 0, 0)),
    pytest.param("two-planar", "dynamic", 4, (2_205_750, 632, 432), (1_129_344, 474, 322), marks=slow),
    *(
        (name, *row)
        for name in ("swap", "joint-swap")  # with one tag they have the same states and costs
        for row in (
            ("lazy", 1, (2, 0, 0), (2, 0, 0)),
            ("lazy", 2, (33, 3, 0), (14, 2, 0)),
            ("lazy", 3, (1_440, 377, 34), (423, 133, 5)),
            ("lazy", 4, (125_750, 50_214, 4_858), (30_784, 14_235, 922)),
            ("eager", 3, (1_440, 377, 34), (423, 133, 5)),
            ("eager", 4, (125_750, 50_216, 4_856), (30_784, 14_237, 924)),
        )
    ),
    ("arc-hybrid-swap", "static-dynamic", 1, (2, 0, 0), (2, 0, 0)),
    ("arc-hybrid-swap", "static-dynamic", 2, (36, 3, 0), (20, 3, 0)),
    ("arc-hybrid-swap", "static-dynamic", 3, (1_504, 199, 32), (657, 151, 33)),
    ("arc-hybrid-swap", "static-dynamic", 4, (122_500, 19_980, 4_049), (47_104, 12_843, 3_465)),
]


@pytest.mark.parametrize(("name", "oracle", "n", "any_roots", "one_root"), DIFFERING)
@with_any_and_single_root
def test_the_costs_of_approximate_oracles_differ_from_the_exact_ones_in_a_known_number_of_states(
    name, oracle, n, any_roots, one_root, single_root
):
    """Those of planar systems only with gold trees that have crossing arcs."""
    system = make_system(name, single_root=single_root)
    bound = system.oracle(oracle)
    pairs = differing = losing = 0
    states = brute_costs(name, (), single_root, n)
    for index, gold in enumerate(trees(n, single_root)):
        bind(bound, gold)
        for s, rows in states:
            costs = bound.costs(s)
            pairs += 1
            if any(costs[move] != expected[index] for move, expected in rows):
                differing += 1
                assert name not in PLANAR or crossing_pairs(list(gold), with_root=False)
            losing += any(expected[index] > 0 for move, expected in rows if costs[move] == 0)
    assert (pairs, differing, losing) == (one_root if single_root else any_roots)


def test_every_approximate_oracle_is_counted():
    counted = {(row.values if hasattr(row, "values") else row)[:2] for row in DIFFERING}
    assert counted == {(name, oracle) for name, _, oracle in EXPLORING if name in APPROXIMATE | PLANAR}


def test_the_pages_have_the_counts():
    named = {("swap", "lazy"): "swap", ("swap", "eager"): "swap", ("joint-swap", "lazy"): "joint"}
    named |= dict.fromkeys([("planar", "dynamic"), ("two-planar", "dynamic")], "planar")
    named["arc-hybrid-swap", "static-dynamic"] = "arc-hybrid-swap"
    for row in DIFFERING:
        name, oracle, n, *counts = row.values if hasattr(row, "values") else row
        if n < 4 or (name, oracle) not in named:
            continue
        page = (DOCS / f"systems/{named[name, oracle]}.md").read_text(encoding="utf-8")
        for numbers in counts[: 1 if name == "joint-swap" else 2]:
            assert any(all(f"{number:,}" in line for number in numbers) for line in page.splitlines())


def describe(system, s: State, gold: Heads, move: int) -> str:
    return f"{system.moves[move].name} at {s.stack_nodes()} {s.buffer_nodes()} {s.word_heads()}, gold {gold}"


@words
@pytest.mark.parametrize(("name", "options", "oracle"), SWAP, ids=[label_of(*row) for row in SWAP])
@with_any_and_single_root
def test_free_moves_of_swap_lose_nothing_on_the_way_of_the_static_oracle(name, options, oracle, single_root, n):
    system = make_system(name, single_root=single_root, **options)
    rows_of = {key(s): rows for s, rows in brute_costs(name, tuple(options.items()), single_root, n)}
    bound = system.oracle(oracle)
    for index, gold in enumerate(trees(n, single_root)):
        bind(bound, gold)
        s = system.start(n)
        while not system.is_final(s):
            costs = bound.costs(s)
            best, label = bound.action(s)
            assert costs[best] == 0, describe(system, s, gold, best)
            for move, expected in rows_of[key(s)]:
                if costs[move] == 0:
                    assert expected[index] == 0, describe(system, s, gold, move)
            system.apply(s, best, label)
