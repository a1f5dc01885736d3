"""Sentences of many thousand words: numbers of moves beyond 32 bits, and nothing that grows faster than the moves."""

from array import array

import pytest

from exhaustive import COMPILED
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.derivation import trace
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.running_time import RunningTime
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.tree import Tree

LONG = 70_000 if COMPILED else 2000  # 70,000 * 70,000 is more than an int holds
CHAIN = Tree([0, *range(1, LONG)])
PAIRS = Tree([0, 1, *(word - 2 if word % 50 == 4 else word - 1 for word in range(3, LONG + 1))])  # a few arcs cross


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_derives_a_long_sentence(name):
    coverage = Coverage({name: make_system(name)})
    coverage.add(CHAIN)
    assert coverage.covered[name] == 1
    for oracle in SYSTEMS[name].oracles:
        if oracle == "dynamic":
            continue  # its costs take a look at the whole sentence for each move
        time = RunningTime(make_system(name), oracle)
        time.add(CHAIN)
        assert LONG <= time.transitions[0] <= 4 * LONG


@pytest.mark.parametrize(
    "name", ["swap", "arc-hybrid-swap", "joint-swap", "covington", "choi-palmer", "two-planar", "attardi-all"]
)
def test_crossing_arcs_of_a_long_sentence_are_derived(name):
    coverage = Coverage({name: make_system(name)})
    coverage.add(PAIRS)
    assert coverage.covered[name] == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_first_steps_of_a_long_derivation_come_at_once(name):
    steps = trace(CHAIN, name, short=True)
    lists = [len(step.stack) + len(step.buffer) + len(step.aside) for step, _ in zip(steps, range(50), strict=False)]
    assert max(lists) <= 12


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("steps", [0, 1, 2**30 - 1, 2**30, 2**31, 5 * 10**9])
def test_more_moves_than_an_int_holds_are_kept_in_a_beam(steps, whole):
    state, other = State(3), State(3)
    state.steps = steps
    assert state.copy().steps == steps
    beam = Beam(Search(Actions(make_system("swap"), ["x"]), MoveScorer()), 1)
    beam.make_room(state)
    if not COMPILED:
        state._save(beam.pool, 0, whole)
        other._load(beam.pool, 0, whole)
        assert other.steps == steps


@pytest.mark.parametrize("name", ["swap", "arc-hybrid-swap", "covington", "choi-palmer", "joint-swap"])
def test_the_limit_of_an_oracle_is_beyond_an_int(name):
    system = make_system(name)
    oracle = system.oracle(None)
    n = 70_000
    tags = array("i", [-1, *[0] * n]) if system.tag_column else None
    oracle.bind([-1, 0, *range(1, n)], [-1, *[0] * n], tags)
    assert oracle.limit == system.max_steps(n) > 2**31
