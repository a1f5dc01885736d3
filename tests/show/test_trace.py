"""The table of a derivation: the same from short steps as from whole ones, and given out as the derivation goes on."""

import contextlib
from itertools import islice

import pytest

from tanglewood.derivation import Step, trace
from tanglewood.errors import OracleError
from tanglewood.show import trace as show
from tanglewood.show.trace import format_trace, trace_lines
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.tree import Tree

TREES = [
    Tree([3, 4, 0, 3, 8, 8, 5, 3, 8], [f"l{word}" for word in range(9)]),
    Tree([2, 0, 2, 2, 2, 4, 4, 4]),
    Tree([0, 0, 0, 0, 0, 0]),
    Tree([0, *range(1, 12)]),
    Tree([*range(2, 12), 0]),
]


def steps_of(*args, **options):
    with contextlib.suppress(OracleError):
        yield from trace(*args, **options)


@pytest.mark.parametrize("name", SYSTEMS)
def test_short_steps_give_the_same_table(name):
    for tree in TREES:
        for oracle in SYSTEMS[name].oracles:
            forms = [f"w{word}" for word in range(len(tree))]
            aside = make_system(name).aside_name
            whole = [*steps_of(tree, name, oracle)]
            short = steps_of(tree, name, oracle, short=True)
            assert format_trace(short, forms, aside) == format_trace(whole, forms, aside)


@pytest.mark.parametrize("name", SYSTEMS)
def test_short_steps_go_on_as_whole_ones_do_where_no_tree_can_be_reached(name):
    for tree in TREES:
        system = make_system(name, single_root=True)
        forms = ["w"] * len(tree)
        whole = format_trace(steps_of(tree, system), forms, system.aside_name)
        assert format_trace(steps_of(tree, system, short=True), forms, system.aside_name) == whole


@pytest.mark.parametrize("name", SYSTEMS)
def test_attached_arcs_are_those_that_changed(name):
    for tree in TREES:
        heads = dict.fromkeys(range(1, len(tree) + 1), -1)
        for step in steps_of(tree, name):
            for head, _, word in step.attached:
                assert heads[word] != head
                heads[word] = head
            if step.arc is not None:
                assert heads[step.arc[2]] == step.arc[0]
        if make_system(name).oracle().system.covers == "all trees":
            assert [heads[word] for word in sorted(heads)] == tree.heads[1:].tolist()


def step(stack, label="x"):
    return Step("SHIFT", label, stack, [], [], None)


def test_lines_come_before_the_derivation_is_over(monkeypatch):
    monkeypatch.setattr(show, "FITTED", 3)
    asked = []
    steps = (asked.append(number) or step([number]) for number in range(100))
    lines = trace_lines(steps, ["w"] * 100)
    assert len([*islice(lines, 6)]) == 6
    assert len(asked) <= 5


def test_columns_become_wider_where_a_later_step_needs_it(monkeypatch):
    monkeypatch.setattr(show, "FITTED", 1)
    rows = trace_lines([step([0]), step([0], "long" * 3), step([0])], [])
    assert [*rows] == [
        "Transition  Stack    Buffer  Added arc",
        "─" * 38,
        "SHIFT(x)    [ROOT0]  []",
        "SHIFT(longlonglong)  [ROOT0]  []",
        "SHIFT(x)             [ROOT0]  []",
    ]


def test_all_columns_fit_as_long_as_the_derivation_is_not_very_long():
    assert show.FITTED >= 1000
    lines = format_trace([step([0]), step([0], "long" * 3)], []).split("\n")
    assert lines[2].index("[") == lines[3].index("[")
