"""Searches with moves and arcs find what brute force finds with the same scores, and give way to moves alone."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

import tanglewood as tw
from brute_trees import all_trees, is_nonprojective
from exhaustive import COMPILED
from tanglewood import decoding, searches
from tanglewood.decoders import JOINT_SEARCHES, MOVE_SEARCHES, SEARCHES
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.base import TreeVote, Votes
from tanglewood.learners.network import arcs as arc_head
from tanglewood.ml.words import words_of
from tanglewood.options import ParseOptions
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.systems import SYSTEMS
from toy import toy_sentences, train_parser

LONGEST = 5  # words of sentences whose trees are all gone through
OF_NETWORKS = [name for name, entry in SEARCHES.items() if not entry.siblings]  # over arcs: they score no siblings


@pytest.fixture(scope="module")
def joint():
    return train_parser(toy_sentences(15))


@pytest.fixture(scope="module")
def projective():
    return train_parser(toy_sentences(15), system="arc-eager")


@pytest.fixture(scope="module")
def graph_based():
    return train_parser(toy_sentences(15), learner="network", search="mst")


@pytest.fixture
def short():
    found = [sentence for sentence in toy_sentences(80, seed=9) if len(sentence) <= LONGEST]
    assert len(found) > 5
    return found[:12]


def arcs_of(parser, sentence):
    """The scores of the arcs of a sentence."""
    workspace = parser.model.workspace()
    workspace.encode([words_of(sentence)])
    return workspace.score(0)


def by_both(parser, sentence, derivations):
    """Derivations with scores to which arcs and labels have added theirs."""
    arcs, share = arcs_of(parser, sentence), searches.ARCS_SHARE
    return [one._replace(score=one.score + share * arcs.tree_score(one.heads, one.labels)) for one in derivations]


def value(scores, heads):
    return sum(float(scores[head, word]) for word, head in enumerate(heads, 1))


def heads_of(parser, sentence, **options):
    (parsed,) = parser.parse_all([sentence], **options)
    return list(parsed.tree.heads[1:])


def best_value(scores, n, *, projective=False):
    return max(
        value(scores, heads)
        for heads in all_trees(n)
        if heads.count(0) == 1 and not (projective and any(is_nonprojective(heads, word) for word in range(1, n + 1)))
    )


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("kind", ["joint", "projective"])
def test_voting_finds_the_best_tree_by_arcs_and_votes(request, monkeypatch, short, kind, beam):
    monkeypatch.setattr(decoding, "CROSSING_GAIN", 0.0)  # crossing arcs need not gain anything
    monkeypatch.setattr(decoding, "AGREED_GAIN", 0.0)
    parser = request.getfixturevalue(kind)
    monkeypatch.setattr(parser.model, "votes", Votes(1.3, 0.9))
    for sentence in short:
        scores = np.array(arcs_of(parser, sentence).scores)
        if beam == 1:
            trees, shares, worth = [heads_of(parser, sentence, search="greedy")], [1.0], 1.3
        else:
            worker = parser.worker(ParseOptions(search="beam", beam=beam, nbest=beam))
            worker._encode([sentence])
            derivations = worker._derivations(sentence, 0, every=True)
            trees = [one.heads for one in derivations]
            weights = [math.exp(one.score) for one in by_both(parser, sentence, derivations)]
            shares, worth = [weight / sum(weights) for weight in weights], 0.9
        for tree, share in zip(trees, shares, strict=True):
            for word, head in enumerate(tree, 1):
                scores[head, word] += worth * share
        found = heads_of(parser, sentence, search="vote", beam=beam)
        best = best_value(scores, len(sentence), projective=kind == "projective")
        assert value(scores, found) == pytest.approx(best, abs=1e-4)


def test_votes_for_crossing_arcs_must_pay(monkeypatch):
    parser = train_parser(toy_sentences(60), settings={"epochs": 4})
    unseen = toy_sentences(40, seed=9)
    crossing = {}
    for gain, longest in ((0.0, 200), (1e6, 200), (1e6, 5)):
        monkeypatch.setattr(decoding, "CROSSING_GAIN", gain)
        monkeypatch.setattr(decoding, "AGREED_GAIN", gain)
        monkeypatch.setattr(decoding, "MOST_CAUTIOUS", longest)
        crossing[gain, longest] = sum(not s.tree.is_projective() for s in parser.parse_all(unseen, search="vote"))
    assert crossing[0.0, 200] > 0
    assert crossing[1e6, 200] == 0
    assert crossing[1e6, 5] > 0  # in longer sentences than these nobody looks
    monkeypatch.setattr(decoding, "MOST_CAUTIOUS", 200)
    monkeypatch.setattr(decoding, "AGREED_GAIN", 0.0)  # but what the moves lead to, too, is believed
    by_moves = list(parser.parse_all(unseen, search="greedy"))
    believed = list(parser.parse_all(unseen, search="vote"))
    assert any(not sentence.tree.is_projective() for sentence in believed)
    for moves, vote in zip(by_moves, believed, strict=True):
        assert all(moves.tree.heads[word] == vote.tree.heads[word] for word in vote.tree.nonprojective_arcs())


def test_without_votes_the_best_tree_of_all_or_of_the_projective_ones_is_found(joint, graph_based, short):
    for parser in (joint, graph_based):
        for sentence in short:
            scores = arcs_of(parser, sentence).scores
            for search in ("mst", "eisner"):
                found = value(scores, heads_of(parser, sentence, search=search))
                best = best_value(scores, len(sentence), projective=search == "eisner")
                assert found == pytest.approx(best, abs=1e-4)


def test_rescoring_takes_the_tree_of_the_beam_that_both_heads_find_best(joint, short):
    changed = 0
    for sentence in [*short, *toy_sentences(20, seed=11)]:
        arcs = arcs_of(joint, sentence)
        worker = joint.worker(ParseOptions(search="beam", beam=8))
        worker._encode([sentence])
        derivations = worker._derivations(sentence, 0, every=True)
        totals = [one.score + searches.ARCS_SHARE * arcs.tree_score(one.heads, one.labels) for one in derivations]
        best = derivations[totals.index(max(totals))]
        (parsed,) = joint.parse_all([sentence], search="rescore")
        assert list(parsed.tree.heads[1:]) == best.heads
        assert list(parsed.tree.labels[1:]) == [joint.model.actions.labels[label] for label in best.labels]
        changed += best is not derivations[0]
        ranked = list(joint.parse_all([sentence], search="rescore", nbest=3))
        assert ranked[0].tree == parsed.tree
        as_data = joint.worker(ParseOptions(search="rescore", nbest=3)).nbest(sentence)
        assert [tree for tree, _ in as_data] == [one.tree for one in ranked]
    assert changed, "rescoring changed nothing: nothing is tested"


@pytest.mark.parametrize("search", [*MOVE_SEARCHES, *JOINT_SEARCHES, *OF_NETWORKS])
def test_confidence_is_the_share_of_all_trees_that_have_the_head(joint, short, search):
    if search in ("exact", "lite"):
        pytest.skip("swap has no such search")
    for sentence in short[:6]:
        scores = np.array(arcs_of(joint, sentence).scores)
        if search == "vote":  # the votes count for confidence, too
            scores[heads_of(joint, sentence, search="greedy"), range(1, len(sentence) + 1)] += searches.BELIEVED_VOTE
        scores /= joint.model.temperature
        (parsed,) = joint.parse_all([sentence], search=search, confidence=True)
        (plain,) = joint.parse_all([sentence], search=search)
        assert parsed.tree == plain.tree
        trees = [
            heads
            for heads in all_trees(len(sentence))
            if heads.count(0) == 1
            and (search != "eisner" or not any(is_nonprojective(heads, word) for word in range(1, len(heads) + 1)))
        ]
        weights = [math.exp(value(scores, heads)) for heads in trees]
        for word, (head, misc) in enumerate(zip(parsed.tree.heads[1:], parsed.misc, strict=True)):
            share = sum(w for w, heads in zip(weights, trees, strict=True) if heads[word] == head) / sum(weights)
            assert float(misc.removeprefix("Confidence=")) == pytest.approx(share, abs=2e-4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_search_of_every_system_gives_trees(name):
    parser = train_parser(toy_sentences(6), system=name, settings={"epochs": 1})
    unseen = toy_sentences(8, seed=5)
    tried = 0
    for search in (*MOVE_SEARCHES, *JOINT_SEARCHES, *OF_NETWORKS):
        try:
            parsed = list(parser.parse_all(unseen, search=search))
        except ConfigError:
            assert search in ("exact", "lite") or (search in SEARCHES and parser.model.actions.tags)
            continue
        tried += 1
        for sentence in parsed:
            assert len(sentence.tree.roots()) == 1
            assert all(sentence.tree.labels[1:])
            assert sentence.tree.labels[1:].count("root") == 1
            if search == "vote" and parser.model.actions.system.projective:
                assert sentence.tree.is_projective()
    assert tried >= (4 if parser.model.actions.tags else 6)


@pytest.mark.parametrize("search", ["vote", "rescore", "mst"])
@pytest.mark.parametrize("limit", ["max_length", "max_memory", ""])
def test_in_long_sentences_moves_have_to_do(joint, monkeypatch, search, limit):
    unseen = toy_sentences(20, seed=9)
    longest = 6
    options = {"search": search}
    if limit == "max_length":
        options["max_length"] = longest
    elif limit == "max_memory":
        by_arcs = decoding.Decoding(joint.model.actions.system, ParseOptions(), "mst")
        options["max_memory"] = by_arcs.memory(longest)
    else:
        monkeypatch.setattr(searches, "MOST_ARC_WORDS", longest)
    moves = "beam" if search == "rescore" else "greedy"
    worker = joint.worker(ParseOptions(**options))
    found = [sentence for (sentence,) in worker.parse(unseen)]
    alone = list(joint.parse_all(unseen, search=moves))
    monkeypatch.undo()
    whole = list(joint.parse_all(unseen, search=search))
    long = [len(sentence) > longest for sentence in unseen]
    assert 0 < sum(long) < len(long)
    assert worker.fallbacks == sum(long)
    for sentence, by_moves, by_both, is_long in zip(found, alone, whole, long, strict=True):
        assert sentence.tree == (by_moves if is_long else by_both).tree
        comment = f"search = {moves} instead of {search}: {len(sentence)} words are beyond the limit"
        assert (comment in sentence.comments) == is_long


def test_votes_of_a_beam_count_less_for_confidence(joint, short):
    for sentence in short[:6]:
        worker = joint.worker(ParseOptions(search="beam", beam=8))
        worker._encode([sentence])
        derivations = worker._derivations(sentence, 0, every=True)
        scores = np.array(arcs_of(joint, sentence).scores)
        both = by_both(joint, sentence, derivations)
        for one, share in zip(both, searches.shares_of(both), strict=True):
            scores[one.heads, range(1, len(sentence) + 1)] += searches.BELIEVED_VOTE * share
        (parsed,) = joint.parse_all([sentence], accurate=True, confidence=True)
        trees = [heads for heads in all_trees(len(sentence)) if heads.count(0) == 1]
        weights = [math.exp(value(scores / joint.model.temperature, heads)) for heads in trees]
        for word, (head, misc) in enumerate(zip(parsed.tree.heads[1:], parsed.misc, strict=True)):
            share = sum(w for w, heads in zip(weights, trees, strict=True) if heads[word] == head) / sum(weights)
            assert float(misc.removeprefix("Confidence=")) == pytest.approx(share, abs=2e-4)


@pytest.mark.parametrize("kind", ["joint", "projective", "graph_based"])
def test_a_model_is_calibrated_on_what_it_writes(request, kind):
    parser, unseen = request.getfixturevalue(kind), toy_sentences(20, seed=13)
    options = ParseOptions(search="mst" if kind == "graph_based" else "vote", confidence=True)
    worker = parser.worker(options)
    for parsed, (scores, heads) in zip(parser.parse_all(unseen, options), worker.believed(unseen), strict=True):
        assert list(heads) == list(parsed.tree.heads[1:])
        chances = worker.decoding.marginals(scores, parser.model.temperature)
        for word, (head, misc) in enumerate(zip(heads, parsed.misc, strict=True), 1):
            assert misc == f"Confidence={chances[head, word]:.4f}"


def test_labels_of_moves_count_only_where_heads_agree(joint, monkeypatch):
    unseen = toy_sentences(30, seed=13)
    monkeypatch.setattr(arc_head, "LABEL_VOTE", 1e6)
    voted = list(joint.parse_all(unseen, search="vote"))
    greedy = list(joint.parse_all(unseen, search="greedy"))
    arcs = list(joint.parse_all(unseen, search="mst"))
    same = 0
    for one, moves, alone in zip(voted, greedy, arcs, strict=True):
        for word in range(1, len(one) + 1):
            if one.tree.heads[word] == moves.tree.heads[word]:
                assert one.tree.labels[word] == moves.tree.labels[word]
                same += 1
            elif one.tree.heads[word] == alone.tree.heads[word]:
                assert one.tree.labels[word] == alone.tree.labels[word]
    assert same


def test_a_graph_based_network_has_no_moves(graph_based, tmp_path):
    able = graph_based.model.capabilities
    assert (able.scores_moves, able.scores_arcs) == (False, True)
    assert not any(name.startswith(("hidden.", "move.", "label.")) for name in graph_based.model.arrays())
    for options in ({"search": "greedy"}, {"search": "vote"}, {"beam": 4}, {"nbest": 2}):
        with pytest.raises(ConfigError):
            list(graph_based.parse_all(toy_sentences(1), **options))
    graph_based.save(tmp_path / "model.tw")
    loaded = Parser.load(tmp_path / "model.tw")
    unseen = toy_sentences(10, seed=9)
    assert [s.tree for s in loaded.parse_all(unseen)] == [s.tree for s in graph_based.parse_all(unseen)]


def test_a_network_without_arcs_searches_with_moves_alone():
    parser = train_parser(toy_sentences(6), settings={"arcs": False, "epochs": 1})
    assert not parser.model.capabilities.scores_arcs
    assert parser.resolved(ParseOptions()).search == ""
    for search in (*JOINT_SEARCHES, *SEARCHES):
        with pytest.raises(ConfigError, match="takes greedy, beam"):
            parser.resolved(ParseOptions(search=search))
    with pytest.raises(ConfigError, match="nothing to learn"):
        train_parser(toy_sentences(2), settings={"arcs": False, "moves": False})


def test_a_calibrated_model_remembers_its_temperature(tmp_path):
    parser = train_parser(toy_sentences(10), toy_sentences(10, seed=3), settings={"epochs": 1})
    assert parser.model.calibrated
    parser.save(tmp_path / "model.tw")
    loaded = Parser.load(tmp_path / "model.tw")
    assert (loaded.model.temperature, loaded.model.calibrated) == (parser.model.temperature, True)


@pytest.mark.skipif(not COMPILED, reason="learns from longer sentences")
@pytest.mark.parametrize("name", ["Ancient_Greek-AGDT", "Basque-CoNLL2007"])
def test_trees_have_several_roots_where_those_of_the_treebank_do(shared, name):
    """Many words below 0 are learnt by the sum over all trees, and found by every search."""
    (path,) = (shared / "treebanks" / name).glob("train.conll*")
    train = [sentence for sentence in islice(tw.read(path), 400) if 1 < len(sentence) <= 20]
    several = sum(len(sentence.tree.roots()) > 1 for sentence in train)
    assert several > len(train) / 10
    parser = train_parser(train, settings={"epochs": 8})
    assert parser.description["single_root"] is False
    for search in ("vote", "mst", "eisner", "rescore"):
        found = sum(len(sentence.tree.roots()) > 1 for sentence in parser.parse_all(train[:100], search=search))
        assert found > 10, search


# Odd combinations. ------------------------------------------------------------------------------------------------


def test_confidence_belongs_to_the_head_that_is_written():
    """Where arcs are moved back after the search, another head than the one that was found first."""
    choices = {"system": "arc-standard", "pseudo_projective": "head"}
    parser = train_parser(toy_sentences(60), settings={"epochs": 4}, **choices)
    moved = 0
    for sentence in toy_sentences(40, seed=9):
        worker = parser.worker(ParseOptions(confidence=True))
        ((parsed,),) = worker.parse([sentence])
        arcs = arcs_of(parser, sentence)
        scores = arcs.with_votes(
            [TreeVote(one.heads, one.labels, 1.0) for one in worker._derivations(sentence, 0, every=False)],
            searches.BELIEVED_VOTE,
        )
        chances = worker.decoding.marginals(scores, parser.model.temperature)
        for word, (head, misc) in enumerate(zip(parsed.tree.heads[1:], parsed.misc, strict=True), 1):
            assert misc == f"Confidence={chances[head, word]:.4f}"
        moved += not parsed.tree.is_projective()
    assert moved


@pytest.mark.parametrize("search", ["greedy", "beam", "rescore", "vote"])
def test_confidence_of_long_sentences_comes_from_the_beam_if_there_is_one(joint, search):
    unseen = toy_sentences(20, seed=9)
    found = list(joint.parse_all(unseen, search=search, confidence=True, max_length=6))
    for sentence in found:
        if len(sentence) > 6:
            wide = search in ("beam", "rescore")
            assert all(misc.startswith("Confidence=") == wide for misc in sentence.misc)
            asked = "sums over all trees" if search in MOVE_SEARCHES else search
            how = "beam" if wide else "greedy"
            assert f"search = {how} instead of {asked}: {len(sentence)} words are beyond the limit" in sentence.comments


def test_a_sentence_with_several_trees_falls_back_once(joint):
    unseen = [sentence for sentence in toy_sentences(20, seed=9) if len(sentence) > 4][:3]
    worker = joint.worker(ParseOptions(search="rescore", nbest=3, max_length=4))
    found = worker.parse(unseen)
    assert sum(map(len, found)) > len(unseen)
    assert worker.fallbacks == len(unseen)


@pytest.mark.parametrize("search", [*MOVE_SEARCHES, *JOINT_SEARCHES, "mst", "eisner"])
def test_every_search_says_what_it_was_if_asked(joint, search):
    for sentence in joint.parse_all(toy_sentences(3), search=search, show_search=True):
        (comment,) = [comment for comment in sentence.comments if comment.startswith("search = ")]
        assert comment.split(",")[0] == f"search = {search}"


@pytest.mark.parametrize("search", [name for name in SEARCHES if name not in OF_NETWORKS])
def test_networks_score_no_siblings(joint, graph_based, search):
    for parser in (joint, graph_based):
        with pytest.raises(ConfigError, match=f"{search!r} is for models that score arcs and siblings"):
            list(parser.parse_all(toy_sentences(1), search=search))


def test_systems_that_give_tags_take_no_search_that_gives_none():
    parser = train_parser(toy_sentences(6), system="joint-swap", settings={"epochs": 1})
    for search in ("mst", "eisner"):
        with pytest.raises(ConfigError, match="joint-swap gives tags by its moves"):
            list(parser.parse_all(toy_sentences(1), search=search))
    assert list(parser.parse_all(toy_sentences(2)))
    with pytest.raises(ConfigError, match="joint-swap gives tags by its moves"):
        train_parser(toy_sentences(2), system="joint-swap", learner="network", search="mst")


def test_n_best_trees_as_data_come_from_searches_that_have_them(joint):
    nlp = Pipeline(joint)
    for search in ("mst", "vote", "greedy"):
        with pytest.raises(ConfigError, match="n-best trees come from beam or rescore"):
            nlp.nbest(toy_sentences(1)[0], 1, search=search)


def test_a_dev_set_of_very_long_sentences_leaves_the_temperature_alone(monkeypatch):
    monkeypatch.setattr("tanglewood.training.loop.MOST_ARC_WORDS", 1)
    parser = train_parser(toy_sentences(4), toy_sentences(2), settings={"epochs": 1})
    assert (parser.model.temperature, parser.model.calibrated) == (1.0, True)


def test_weights_that_grow_beyond_all_bounds_are_an_error_that_says_what_helps(joint):
    with pytest.raises(ModelError, match="a lower rate"), np.errstate(all="ignore"):
        train_parser(toy_sentences(10), settings={"rate": 1e5, "epochs": 2})
    parameters = {**joint.model.parameters, "arc.pairs": np.full_like(joint.model.parameters["arc.pairs"], 1e38)}
    broken = type(joint)(type(joint.model)(joint.model.actions, joint.model.vocabulary, parameters), joint.description)
    with pytest.raises(ModelError, match="too large"), np.errstate(all="ignore"):
        list(broken.parse_all(toy_sentences(3)))


def test_in_a_very_long_sentence_the_greedy_tree_votes_instead_of_the_beam(joint, monkeypatch):
    unseen = toy_sentences(30, seed=13)
    monkeypatch.setattr("tanglewood.searches.MOST_BEAM_WORDS", 6)
    beam, greedy = (list(joint.parse_all(unseen, search="vote", beam=width)) for width in (4, 1))
    monkeypatch.undo()
    whole = list(joint.parse_all(unseen, search="vote", beam=4))
    assert {len(sentence) > 6 for sentence in unseen} == {True, False}
    for sentence, one, all_of_it in zip(beam, greedy, whole, strict=True):
        long = len(sentence) > 6
        assert sentence.tree == (one if long else all_of_it).tree
        why = f"search = greedy and vote instead of a beam of 4 and vote: {len(sentence)} words are beyond the limit"
        assert (why in sentence.comments) == long
