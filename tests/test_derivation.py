"""Traces: of oracles, asked for by name, and of trained parsers, which end with the tree that parsing gives."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest

from tanglewood.derivation import FINISH, trace, trace_model, weigh
from tanglewood.errors import ConfigError, IllegalMove, OracleError, TreeError
from tanglewood.systems import SYSTEMS, make_system
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


def as_far_as_it_goes(steps):
    """The steps, and what is said after the last of them."""
    found = []
    try:
        found += steps  # extends step by step
    except OracleError as error:
        return found, str(error)
    return found, None


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_oracles_own_moves_given_by_hand_lead_the_same_way(system):
    for sentence in toy_sentences(3):
        for oracle in make_system(system).oracles:
            steps, told = as_far_as_it_goes(trace(sentence, system, oracle))
            taken = [step.transition for step in steps[1:]]
            for k in (0, len(taken) // 2, len(taken)):
                again, reason = as_far_as_it_goes(trace(sentence, system, oracle, moves=taken[:k]))
                assert again == steps
                assert (reason is None) == (told is None)


@pytest.mark.parametrize("system", SYSTEMS)
def test_any_legal_moves_can_be_played_to_the_end_and_cost_what_the_oracle_says(system):
    """Moves are chosen by name alone; the costs are those of the trace where its oracle knows them."""
    random = Random(3)
    made = make_system(system)
    knowing = next((name for name, kind in made.oracles.items() if kind.explores), None)
    sentence = toy_sentences(3)[2]
    played = []
    while found := weigh(sentence, made, knowing, played):
        assert all((legal.cost is None) == (knowing is None) for legal in found)
        assert knowing is None or min(legal.cost for legal in found) == 0
        played.append(random.choice(found).move)
    steps, _ = as_far_as_it_goes(trace(sentence, system, knowing, moves=played))
    assert [step.move for step in steps[1:]] == played
    assert not steps[-1].legal
    for step, following in pairwise(steps):
        assert [legal.move for legal in step.legal if legal.taken] == [following.move]
    if knowing:
        assert [legal.cost for legal in weigh(sentence, made, knowing, played[:4])] == [
            legal.cost for legal in steps[4].legal
        ]


def test_after_a_mistake_a_dynamic_oracle_goes_on_and_a_static_one_does_not():
    tree = Tree([2, 0, 2], ["det", "root", "obj"])
    wrong = ["SHIFT", "SHIFT", "RIGHT-ARC"]  # the root of the tree becomes a dependent of its own
    static, told = as_far_as_it_goes(trace(tree, "arc-standard", "static", moves=wrong))
    assert (len(static), told) == (4, "arc-standard: this oracle knows on from its own moves only, and one was another")
    dynamic, told = as_far_as_it_goes(trace(tree, "arc-standard", "dynamic", moves=wrong))
    assert (len(dynamic), told) == (7, "arc-standard: the moves are at an end, and 3 of 3 heads are not the tree's")
    assert dynamic[3].arc == (1, "root", 2)  # it has the label that the word has in the tree
    (taken,) = [legal for legal in dynamic[2].legal if legal.taken]
    assert taken.cost == 3


def test_a_model_goes_on_from_moves_that_are_not_its_own():
    parser = train_parser(toy_sentences(10), system="swap")
    sentence = toy_sentences(1, seed=5)[0]
    steps = list(trace_model(parser, sentence))
    assert list(trace_model(parser, sentence, moves=[step.transition for step in steps[1:]])) == steps
    other = list(trace_model(parser, sentence, moves=["SHIFT", "SHIFT", "SWAP"]))
    assert [step.move for step in other[1:4]] == ["SHIFT", "SHIFT", "SWAP"]
    assert len({arc[2] for step in other for arc in step.attached}) == len(sentence)
    with pytest.raises(IllegalMove, match="move 2: 'SWAP' is not legal here; legal moves: SHIFT"):
        list(trace_model(parser, sentence, moves=["SHIFT", "SWAP"]))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["SHIFT", "SWAP"], "move 2: 'SWAP' is not legal here; legal moves: SHIFT, RIGHT-ARC"),
        (["JUMP"], "move 1: 'JUMP' is no move of swap; legal moves: SHIFT"),
        (["SHIFT(x)"], "move 1: SHIFT may not have 'x' here"),
        (["SHIFT", "RIGHT-ARC"] * 4, "the parse is over after 6 moves, and 8 are given"),
    ],
)
def test_moves_that_cannot_be_taken_are_refused(given, told):
    with pytest.raises(IllegalMove, match=re.escape(told)):
        list(trace(CROSSED, "swap", moves=given))
