"""A subclass in Python that overrides rules of a compiled system is refused with the way to do it, never ignored."""

import pytest

from tanglewood import compiled
from tanglewood.core.oracle import GreedyOracle
from tanglewood.errors import ConfigError
from tanglewood.systems.swap import Swap

SWAP = 3


class NoSwap(Swap):
    def _is_legal(self, s, move, label):
        return move != SWAP and Swap._is_legal(self, s, move, label)


class Renamed(Swap):
    name = "renamed"  # no rule


class NeverArcs(GreedyOracle):
    def _move(self, s):
        return 0


def test_overridden_rules_are_seen_or_refused():
    if compiled():
        with pytest.raises(ConfigError, match=r"NoSwap overrides _is_legal in Python.* \.pxd beside it.*_PURE=1"):
            NoSwap()
        return
    s = NoSwap().start(3)
    for move in (0, 0):
        NoSwap().apply(s, move)
    assert SWAP not in NoSwap().legal_moves(s)


def test_overridden_oracles_are_seen_or_refused():
    if compiled():
        with pytest.raises(ConfigError, match="NeverArcs overrides _move in Python"):
            NeverArcs(Swap())
        return
    oracle = NeverArcs(Swap())
    oracle.bind([-1, 0])
    assert oracle._move(Swap().start(1)) == 0


def test_a_subclass_that_overrides_no_rule_is_as_good_as_its_parent():
    system = Renamed()
    s = system.start(3)
    assert system.name == "renamed"
    assert system.legal_moves(s) == Swap().legal_moves(s)
