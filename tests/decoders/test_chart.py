"""Exact search of the Attardi family against the best of all transition sequences."""

import json
from array import array
from concurrent.futures import ThreadPoolExecutor
from math import inf, isclose
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_derivations import best_value, by_arc, graph, replay
from exhaustive import COMPILED, NOT_CLOSED, with_any_and_single_root
from tanglewood.decoders.base import score_table, words_in
from tanglewood.decoders.chart import ChartS0S1
from tanglewood.decoders.chart_lite import ChartLite
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.decoders.chart_sum import ChartSum
from tanglewood.decoders.exact import ShortcutDecoder, derivation
from tanglewood.decoders.limits import LimitedDecoder
from tanglewood.decoders.maxplus import instructions, limit_instructions
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.decoders.values import tree_value
from tanglewood.derivation import trace
from tanglewood.errors import ConfigError
from tanglewood.systems import make_system
from tanglewood.treebank.conllu import read
from tanglewood.treebank.tree import Tree

FAMILY = ["attardi", "attardi-alldeg1", "attardi-all", "attardi-alls0s1"]
OTHERS = [
    ("attardi", (("degree", 1),)),
    ("attardi", (("reduces", NOT_CLOSED),)),
    ("attardi", (("reduces", "s1>s0,s1>s2,b0>s2"),)),
    ("attardi-alls0s1", (("degree", 1),)),
]
LONGEST = 6 if COMPILED else 5
DRAWS = 1500 if COMPILED else 60
over_family = pytest.mark.parametrize("name", FAMILY)

DRAW = {
    "whole": lambda rng: rng.randint(-100, 100),
    "with ties": lambda rng: rng.randint(0, 2),
    "real": lambda rng: rng.gauss(0, 3),
    "with holes": lambda rng: rng.choice([-inf, 0, 1, 2]),
}


def random_scores(rng: Random, n: int, kind: str | None = None):
    scores = score_table(n)
    draw = DRAW[kind or rng.choice(list(DRAW))]
    for head in range(n + 1):
        for modifier in range(n + 1):
            scores[head, modifier] = draw(rng)
    return scores


def check(system, decoder, scores, options=()):
    """The value is that of brute force, the tree has it, and its moves derive it; returns what was decoded."""
    n = words_in(scores)
    decoded = decoder.best(scores)
    best = best_value(graph(system.name, n, system.single_root, options), by_arc(scores.tolist()))
    if best == -inf:
        assert not decoded.found
        return decoded
    assert isclose(decoded.value, best, rel_tol=1e-5, abs_tol=1e-4)
    assert isclose(decoded.value, tree_value(scores, decoded.heads))
    assert replay(system, n, decoded.moves) == list(decoded.heads)
    assert not system.single_root or n == 0 or list(decoded.heads).count(0) == 1
    return decoded


@over_family
@with_any_and_single_root
def test_the_value_is_the_best_of_all_transition_sequences_and_the_moves_derive_the_tree(name, single_root):
    rng = Random(f"{name} {single_root}")
    system = make_system(name, single_root=single_root)
    decoder = system.exact()
    for _ in range(DRAWS):
        check(system, decoder, random_scores(rng, rng.randint(0, LONGEST)))


@pytest.mark.parametrize(("name", "options"), OTHERS, ids=str)
@with_any_and_single_root
def test_other_inventories_of_degree_2_have_their_own_deduction_rules(name, options, single_root):
    rng = Random(str(options))
    system = make_system(name, single_root=single_root, **dict(options))
    decoder = system.exact()
    for _ in range(DRAWS // 4):
        check(system, decoder, random_scores(rng, rng.randint(0, LONGEST)), options)


@settings(deadline=None, max_examples=200 if COMPILED else 20)
@given(data=st.data())
def test_any_scores_are_decoded_to_the_best_value(data):
    n = data.draw(st.integers(0, LONGEST))
    system = make_system(data.draw(st.sampled_from(FAMILY)), single_root=data.draw(st.booleans()))
    scores = score_table(n)
    values = st.one_of(st.integers(-8, 8), st.just(-inf), st.floats(-1e3, 1e3, width=32))
    for head in range(n + 1):
        for modifier in range(1, n + 1):
            scores[head, modifier] = data.draw(values)
    check(system, system.exact(), scores)


@over_family
def test_labels_are_decoded_by_the_best_label_of_each_arc(name):
    rng = Random(name)
    system = make_system(name)
    for _ in range(DRAWS // 20):
        n = rng.randint(1, min(LONGEST, 5))
        labelled = [random_scores(rng, n, "with ties") for _ in range(3)]
        scores = score_table(n)
        for head in range(n + 1):
            for modifier in range(1, n + 1):
                scores[head, modifier] = max(table[head, modifier] for table in labelled)
        decoded = check(system, system.exact(), scores)
        # A labelled derivation is one whose every arc chooses a label: three edges for every one of the graph.
        edges = graph(name, n, False)
        best = [0.0]
        for moves in edges[1:]:
            best.append(
                max(
                    best[edge.target] + (table[edge.head, edge.dependent] if edge.dependent > 0 else 0.0)
                    for edge in moves
                    for table in labelled
                )
            )
        assert decoded.value == best[-1]


def ground_truth_scores(n: int, seed: int):
    scores = score_table(n)
    for head in range(n + 1):
        for modifier in range(1, n + 1):
            if head != modifier:
                mixed = head * 7919 + modifier * 104729 + n * 1299709 + seed * 15485863 + head * modifier * 31337
                scores[head, modifier] = mixed % 2003 - 1000
    return scores


def test_the_values_of_the_ground_truth_are_reproduced(shared):
    cases = json.loads((shared / "ground_truth" / "exact_decoder.json").read_text())["cases"]
    assert len(cases) == 66
    decoders = {
        name + "_single_root" * single_root: make_system(name, single_root=single_root).exact()
        for name in FAMILY
        for single_root in (False, True)
    }
    for case in cases:
        if COMPILED or case["n"] <= 5:
            scores = ground_truth_scores(case["n"], case["seed"])
            for name, decoder in decoders.items():
                assert name not in case or decoder.best(scores).value == case[name], (name, case)


@pytest.mark.skipif(not COMPILED, reason="long sentences")
@pytest.mark.parametrize("level", ["portable", "avx2"])
def test_all_vector_instructions_compute_the_same(level):
    rng = Random(level)
    before = instructions()
    for name in FAMILY:
        for n in (1, 7, 23, 30):
            scores = random_scores(rng, n, "real")
            expected = make_system(name).exact().best(scores)
            limit_instructions(level)
            assert make_system(name).exact().best(scores) == expected
            limit_instructions(before)


@pytest.mark.skipif(not COMPILED, reason="long sentences")
@over_family
@with_any_and_single_root
def test_longer_sentences_are_decoded_to_trees_of_the_class_that_local_changes_do_not_beat(name, single_root):
    """Moving a word to another head gives no better tree of the class."""
    rng = Random(name)
    system = make_system(name, single_root=single_root)
    n = 25
    scores = random_scores(rng, n, "real")
    decoded = system.exact().best(scores)
    assert replay(system, n, decoded.moves) == list(decoded.heads)
    better = 0
    for word in range(1, n + 1):
        for head in range(n + 1):
            gain = scores[head, word] - scores[decoded.heads[word], word]
            above = head
            while above > 0 and above != word:
                above = decoded.heads[above]
            if gain > 1e-4 and above == 0:
                other = array("i", decoded.heads)
                other[word] = head
                better += 1
                assert derivation(system, other) is None
    assert better > 0


def test_a_decoder_reuses_its_chart_for_sentences_of_any_length_in_any_order():
    rng = Random(5)
    for name in FAMILY:
        decoder = make_system(name).exact()
        for n in (3, 0, 4, 1, 4, 2):
            scores = random_scores(rng, n)
            assert decoder.best(scores) == make_system(name).exact().best(scores)


def test_one_decoder_serves_several_threads():
    rng = Random(6)
    longest = 30 if COMPILED else 4
    for name in FAMILY:
        decoder = make_system(name).exact()
        tables = [random_scores(rng, rng.randint(0, longest)) for _ in range(12)]
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(decoder.best, tables)) == [make_system(name).exact().best(scores) for scores in tables]


def test_the_tree_can_be_traced():
    system = make_system("attardi-all")
    decoded = system.exact().best(ground_truth_scores(4, 1))
    steps = list(trace(Tree(list(decoded.heads[1:])), system))
    assert len(steps) == len(decoded.moves) + 1
    assert steps[-1].stack == [0]


def test_memory_is_known_beforehand_and_is_what_the_paper_says():
    for name, power in (("attardi-alls0s1", 4), ("attardi-all", 5)):
        decoder = make_system(name).exact()
        growth = decoder.memory(400) / decoder.memory(200)
        assert 2 ** (power - 0.2) < growth < 2 ** (power + 0.1)
    if COMPILED:
        assert make_system("attardi-alls0s1").exact().memory(100) <= 25e6


@pytest.mark.parametrize("kind", [ChartS0S1, ChartS2, ChartLite, ChartSum])
def test_the_size_of_a_chart_is_where_its_plan_ends(kind):
    chart = kind(make_system("attardi-alls0s1" if kind in {ChartS0S1, ChartLite} else "attardi-all").inventory, False)
    for n in (0, 1, 2, 7, 15, 16, 17):
        chart.load(score_table(n, 0.0))
        assert chart._plan(n) == chart.size(n)


def test_what_is_no_table_of_scores_is_refused():
    decoder = make_system("attardi-alls0s1").exact()
    wrong = [
        array("f", [0.0] * 4),
        memoryview(bytes(16)).cast("f", (2, 2))[:0],
        memoryview(bytes(32)).cast("d", (2, 2)),
    ]
    for scores in wrong:
        with pytest.raises(ConfigError, match="float32"):
            decoder.best(scores)
    for bad in (inf, float("nan")):
        scores = score_table(2, 0.0)
        scores[1, 2] = bad
        with pytest.raises(ConfigError, match="NaN"):
            decoder.best(scores)
        assert decoder.best(score_table(7, 1.0)).value == 7


def test_systems_beyond_degree_2_are_refused():
    with pytest.raises(ConfigError, match="degree"):
        make_system("attardi", degree=3).exact()


def test_a_sentence_too_long_for_any_chart_is_refused_before_memory_is_asked_for():
    decoder = make_system("attardi-all").exact()
    for decode in (decoder.best, decoder.log_partition):
        with pytest.raises(ConfigError, match="too long"):
            decode(score_table(300))


# The shortcut. ------------------------------------------------------------------------------------------------------


@over_family
@with_any_and_single_root
def test_the_shortcut_gives_the_value_of_the_chart_and_says_how(name, single_root):
    rng = Random(name)
    system = make_system(name, single_root=single_root)
    decoder = ShortcutDecoder(system, system.exact(), SpanningTree(single_root=single_root))
    proofs = set()
    for _ in range(200 if COMPILED else 20):
        n = rng.randint(1, 5 if COMPILED else 4)
        decoded = check(system, decoder, random_scores(rng, n))
        proofs.add(decoded.proof)
    assert proofs <= {"spanning-tree", "chart"}
    if COMPILED:
        assert "spanning-tree" in proofs


CROSSING = [-1, 4, 5, 6, 0, 4, 4]  # 1 <- 4, 2 <- 5, 3 <- 6: not in attardi


def crossing_scores():
    scores = score_table(6, 0.0)
    for modifier in range(1, 7):
        scores[CROSSING[modifier], modifier] = 1.0
    return scores


def test_beyond_its_limits_the_chart_falls_back_and_says_so():
    system = make_system("attardi")
    spanning = SpanningTree()
    chart = system.exact()
    exact = ShortcutDecoder(system, chart, spanning)
    assert exact.best(crossing_scores()).proof == "chart"
    assert exact.best(crossing_scores()).value < 6
    assert exact.memory(6) == chart.memory(6)
    for limit in ({"max_words": 5, "max_bytes": None}, {"max_words": None, "max_bytes": chart.memory(6) - 1}):
        limited = ShortcutDecoder(system, LimitedDecoder(chart, spanning, **limit), spanning)
        assert limited.memory(6) == spanning.memory(6)
        assert limited.best(crossing_scores()) == spanning.best(crossing_scores())._replace(proof="fallback")
        assert limited.best(crossing_scores()).value == 6


# Coverage. ----------------------------------------------------------------------------------------------------------


def coverage_differs(tree, systems, decoders):
    """The systems whose chart and oracle disagree on whether the tree is in the class."""
    n = len(tree)
    scores = score_table(n, 0.0)
    for word in range(1, n + 1):
        scores[tree.heads[word], word] = 1.0
    return [
        name
        for name, system in systems.items()
        if (decoders[name].best(scores).value == n) != (derivation(system, tree.heads) is not None)
    ]


def treebank_trees(shared, longest, every):
    """Every n-th sentence of all treebanks that is not too long, no tree twice; interpreted, of their dev parts."""
    seen = set()
    for number, file in enumerate(sorted((shared / "treebanks").glob("*/*.conll*" if COMPILED else "*/dev.conll*"))):
        for place, sentence in enumerate(read(str(file))):
            if (place + number) % every or len(sentence) > longest:
                continue
            tree = sentence.tree
            if tuple(tree.heads) not in seen:
                seen.add(tuple(tree.heads))
                yield tree


def check_coverage(trees, least):
    systems = {name: make_system(name) for name in FAMILY}
    decoders = {name: system.exact() for name, system in systems.items()}
    seen = 0
    for tree in trees:
        assert coverage_differs(tree, systems, decoders) == [], tree
        seen += 1
    assert seen >= least


def test_coverage_through_the_chart_is_coverage_through_the_oracle_on_a_sample(shared):
    longest, every, least = (30, 200, 400) if COMPILED else (6, 8, 80)
    check_coverage(treebank_trees(shared, longest, every), least)


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="long sentences")
def test_coverage_through_the_chart_is_coverage_through_the_oracle_up_to_40_words(shared):
    check_coverage(treebank_trees(shared, 40, 1), 50_000)
