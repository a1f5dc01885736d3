"""Traces of trained parsers: they take the moves that parsing takes, and end with its tree."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tanglewood.derivation import FINISH, trace, trace_model
from tanglewood.systems import make_system
from toy import toy_sentences, train_parser

CHOICES = [
    {"system": "swap"},
    {"system": "covington"},
    {"system": "three-step"},
    {"system": "two-planar"},
    {"system": "arc-eager", "pseudo_projective": "head"},
]


@pytest.mark.parametrize("choices", CHOICES, ids=[choice["system"] for choice in CHOICES])
def test_a_models_trace_ends_with_the_tree_that_it_parses(choices):
    parser = train_parser(toy_sentences(10), **choices)
    for sentence in toy_sentences(8, seed=5):
        steps = list(trace_model(parser, sentence))
        arcs = {word: (head, label) for step in steps for head, label, word in step.attached}
        tree = parser.parse(sentence)
        assert arcs == {word: (head, label) for head, label, word in tree.arcs()}
        for step, following in pairwise(steps):
            if following.move != FINISH:
                (taken,) = [legal for legal in step.legal if legal.taken]
                assert (taken.move, taken.label) == (following.move, following.label)
                assert taken.score == max(legal.score for legal in step.legal)
        assert not steps[-1].legal


def test_an_oracles_trace_says_what_is_legal_taken_and_what_it_costs():
    """A dynamic oracle takes a move that costs nothing."""
    system = make_system("covington")
    for sentence in toy_sentences(5):
        for name in ("static", "dynamic"):
            for step in trace(sentence, system, name):
                assert step.arc is None or step.arc in step.attached  # the final step may attach more
                for legal in step.legal:
                    assert (legal.cost is None) == (name == "static")
                    assert not legal.taken or not legal.cost
