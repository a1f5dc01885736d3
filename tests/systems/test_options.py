"""Names, options and inventories: what every system says of itself, and what it refuses with a reason."""

import re

import pytest

from brute_trees import all_trees
from exhaustive import NOT_CLOSED, WITH_A_HOLE, label_of, reachable_states
from tanglewood.core.system import Option
from tanglewood.errors import ConfigError
from tanglewood.systems import SYSTEMS, make_system, options_of_systems
from tanglewood.systems.attardi import (
    all_reduces,
    alldeg1_reduces,
    alls0s1_reduces,
    attardi_reduces,
    is_deletion_closed,
    parse_reduces,
)

# Names and options. -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_says_what_it_is(name):
    system = make_system(name)
    assert system.name == name
    assert system.covers
    assert system.paper
    assert system.oracles
    assert system.n_moves == len(system.moves) > 0
    assert len({move.name for move in system.moves}) == system.n_moves
    assert all(move.labelled for move in system.moves if move.makes_arc)


@pytest.mark.parametrize("name", SYSTEMS)
def test_wrong_options_and_oracles_are_answered_with_the_right_ones(name):
    with pytest.raises(ConfigError, match=f"{name} has no option 'colour'; it has single_root"):
        make_system(name, colour="red")
    system = make_system(name)
    with pytest.raises(ConfigError, match=f"{name} has no oracle 'delphi'; it has {', '.join(system.oracles)}"):
        system.oracle("delphi")


def test_options_of_one_name_are_one_option():
    """They are one word on the command line, with one help text."""
    for name, (option, systems) in options_of_systems().items():
        assert all(SYSTEMS[system].options[name] == option for system in systems), name


@pytest.mark.parametrize(
    ("value", "problem"),
    [(True, "a whole number"), (0, "from 1 to 9"), (10, "from 1 to 9"), ("2", "a whole number"), (2, None)],
)
def test_an_option_takes_what_it_declares_and_says_so_otherwise(value, problem):
    option = Option("degree", int, 2, "a degree", least=1, most=9)
    if problem is None:
        option.check(value)
        return
    with pytest.raises(ConfigError, match=problem):
        option.check(value)


def test_an_unknown_system_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=f"unknown system 'malt'; choose from {', '.join(SYSTEMS)}"):
        make_system("malt")


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("covington", {"max_degree": -1}, "max_degree=-1: it should be 0 or more"),
        ("attardi", {"degree": 0}, "degree=0: it should be from 1 to 9"),
        ("attardi", {"degree": 10}, "degree=10: it should be from 1 to 9"),
        ("three-step", {"first": "swap"}, "first='swap': choose from arc-eager, arc-hybrid, arc-standard"),
        ("attardi", {"reduces": "s0>s1"}, "inventory 's0>s1' needs s1>s0"),
        ("attardi", {"reduces": ""}, "needs s1>s0"),
        ("attardi", {"reduces": "s1>s0,s0>b0"}, "reduce 's0>b0' is not of the form s0>s1"),
        ("attardi", {"reduces": "s1>s0,s1>s1"}, "reduce 's1>s1' is not of the form"),
        ("attardi", {"reduces": "s1>s0,b1>s0"}, "reduce 'b1>s0' is not of the form"),
        ("attardi", {"reduces": "s1>s0;s0>s1"}, "is not of the form"),
        ("attardi", {"reduces": "s1>s0 s12>s0"}, "reduce 's12>s0' is not of the form"),
        ("attardi", {"reduces": 1}, "option reduces is 1; it should be a text"),
        ("covington", {"max_degree": "two"}, "option max_degree is 'two'; it should be a whole number"),
        ("covington", {"max_degree": True}, "a whole number"),
        ("covington", {"every_pair": "no"}, "option every_pair is 'no'; it should be true or false"),
        ("swap", {"single_root": "no"}, "true or false"),
        ("joint-swap", {"tag_threshold": "far"}, "a number"),
    ],
    ids=label_of,
)
def test_options_that_make_no_sense_are_refused_with_a_reason(name, options, problem):
    with pytest.raises(ConfigError, match=re.escape(problem)):
        make_system(name, **options)


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("attardi", {"degree": 3}, "up to degree 2 only"),
        ("attardi-all", {"degree": 4}, "up to degree 2 only"),
        ("attardi", {"reduces": "s0>s1,s1>s0,b0>s1"}, "with these reduces has no dynamic oracle"),  # not closed
        ("attardi", {"reduces": "s1>s0,s2>s1,s2>s0"}, "with these reduces has no dynamic oracle"),  # s1: no other head
    ],
)
def test_the_attardi_family_has_a_dynamic_oracle_up_to_degree_2_where_leaves_may_be_dropped(name, options, why):
    with pytest.raises(ConfigError, match=why):
        make_system(name, **options).oracle("dynamic")


def test_covington_with_a_bound_has_no_dynamic_oracle():
    with pytest.raises(ConfigError, match="covington with max_degree has no dynamic oracle"):
        make_system("covington", max_degree=1).oracle("dynamic")


# Inventories. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", range(1, 10))
@pytest.mark.parametrize("reduces", [attardi_reduces, alldeg1_reduces, all_reduces, alls0s1_reduces])
def test_shipped_inventories_are_deletion_closed(reduces, degree):
    assert is_deletion_closed(reduces(degree))


def test_inventories_with_holes_are_not_deletion_closed():
    assert not is_deletion_closed(parse_reduces(NOT_CLOSED))
    assert not is_deletion_closed(parse_reduces(WITH_A_HOLE))
    assert is_deletion_closed(parse_reduces("s0>s1 s1>s0"))
    assert is_deletion_closed(parse_reduces("s1>s0 b0>s0"))


@pytest.mark.parametrize(
    ("name", "reduces"),
    [
        ("attardi", "s0>s1 s1>s0 s0>s2 s2>s0"),
        ("attardi-alldeg1", "s0>s1 s1>s0 s0>s2 s2>s0 b0>s0 s1>s2 s2>s1"),
        ("attardi-all", "s0>s1 s1>s0 s0>s2 s2>s0 b0>s0 s1>s2 s2>s1 b0>s1 b0>s2"),
        ("attardi-alls0s1", "s0>s1 s1>s0 s2>s0 s2>s1 b0>s0 b0>s1"),
    ],
)
def test_the_attardi_family_has_the_reduces_of_the_papers(name, reduces):
    system = make_system(name)
    assert {move.name for move in system.moves} == {"SHIFT", *reduces.split()}
    assert {move.name for move in make_system("attardi", reduces=reduces).moves} == {"SHIFT", *reduces.split()}


@pytest.mark.parametrize("n", [4, 5])
def test_the_attardi_stack_is_always_in_the_order_of_the_sentence(n):
    for s in reachable_states(make_system("attardi-all", degree=3), n):
        assert s.stack_nodes() == sorted(s.stack_nodes())


@pytest.mark.parametrize("bound", [None, 2, 1, 0])
def test_covington_with_every_pair_decides_where_the_papers_loops_call_link(bound):
    """For j = 1..n, for i = j-1 down to 0: LINK(i, j) if one head a word, no cycle and PERMISSIBLE allow an arc."""
    system = make_system("covington", max_degree=bound, every_pair=True)
    shift, left_arc, right_arc, no_arc = range(system.n_moves)
    for gold in [*all_trees(3), *list(all_trees(4))[::7], *list(all_trees(5))[::501]]:
        built: dict[int, int] = {}
        s = system.start(len(gold))
        for j in range(1, len(gold) + 1):
            for i in range(j - 1, -1, -1):
                loose = sum(not i <= built.get(k, -1) <= j for k in range(i + 1, j))
                near = bound is None or i == 0 or loose <= bound
                free = near and top(built, i) != top(built, j)
                expected = [no_arc]
                if free and i > 0 and i not in built:
                    expected.append(left_arc)
                if free and j not in built:
                    expected.append(right_arc)
                assert sorted(expected) == system.legal_moves(s)
                move = no_arc
                if left_arc in expected and gold[i - 1] == j:
                    move, built[i] = left_arc, j
                elif right_arc in expected and gold[j - 1] == i:
                    move, built[j] = right_arc, i
                system.apply(s, move)
            assert system.legal_moves(s) == [shift]
            system.apply(s, shift)
        assert system.is_final(s)


def top(heads: dict[int, int], node: int) -> int:
    while node in heads:
        node = heads[node]
    return node
