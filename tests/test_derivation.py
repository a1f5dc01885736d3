"""Traces: of oracles, asked for by name, and of trained parsers, which end with the tree that parsing gives."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tanglewood.derivation import FINISH, trace, trace_model
from tanglewood.errors import ConfigError, OracleError, TreeError
from tanglewood.systems import make_system
from tanglewood.treebank import Tree
from toy import sentences_of, toy_sentences, train_parser

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
        tree = parser.parse(sentence, search="greedy")
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


CROSSED = Tree([3, 0, 2], ["amod", "root", "obj"])


def moves(*given, **options):
    return [step.transition for step in trace(*given, **options)][1:]


def test_a_system_is_given_by_name_with_its_options_or_made():
    assert moves(CROSSED) == moves(CROSSED, "swap") == moves(CROSSED, make_system("swap"), "eager")
    assert moves(CROSSED, system="swap", oracle="lazy") == moves(CROSSED, make_system("swap"), "lazy")
    wide = Tree([5, 0, 2, 2, 2])
    assert moves(wide, "attardi", degree=4) == moves(wide, make_system("attardi", degree=4))
    with pytest.raises(OracleError, match=r"attardi: .*not covered"):
        moves(wide, "attardi", degree=1)
    with pytest.raises(OracleError, match="another tree came out"):
        moves(Tree([0, 0]), "swap", single_root=True)
    assert moves(Tree([0, 0]), "swap", single_root=None)


def test_a_sentence_is_traced_as_its_tree_and_gives_its_own_tags():
    sentence = toy_sentences(1)[0]
    assert moves(sentence, "attardi-all") == moves(sentence.tree, "attardi-all")
    tagged = [move for move in moves(sentence, "joint-swap") if move.startswith("SHIFT")]
    assert {move.removeprefix("SHIFT(").rstrip(")") for move in tagged} == {*sentence.upos}
    fine = [move for move in moves(sentence, "joint-swap", tag_column="xpos") if move.startswith("SHIFT")]
    assert {move.removeprefix("SHIFT(").rstrip(")") for move in fine} == {*sentence.xpos}
    assert {move for move in moves(sentence.tree, "joint-swap") if move.startswith("SHIFT")} == {"SHIFT"}


@pytest.mark.parametrize("old", [(make_system("swap"), CROSSED), ("swap", CROSSED), (CROSSED, CROSSED)])
def test_the_old_order_is_told_the_new_one_at_once(old):
    with pytest.raises(TypeError, match=r'the sentence or tree first, .*: trace\(sentence, system="swap"\)'):
        trace(*old)


def test_what_cannot_be_traced_is_refused_at_once():
    with pytest.raises(TypeError, match=r"trace needs a Sentence or a Tree, not None \(NoneType\)"):
        trace(None)
    with pytest.raises(TypeError, match=r"should be a name or a TransitionSystem, not 5 \(int\)"):
        trace(CROSSED, 5)
    with pytest.raises(ConfigError, match="unknown system 'swop'; choose from arc-standard"):
        trace(CROSSED, "swop")
    with pytest.raises(ConfigError, match="degree: a system that is made already has its options"):
        trace(CROSSED, make_system("attardi"), degree=3)
    with pytest.raises(ConfigError, match="swap has no option 'degree'"):
        trace(CROSSED, "swap", degree=3)
    (bare,) = sentences_of("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", trees=False)
    with pytest.raises(TreeError, match="has no head"):
        trace(bare)
