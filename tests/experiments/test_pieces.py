"""What the experiments are made of, against brute force; and small things such as tables and plots."""

import json
import re
import xml.etree.ElementTree as ElementTree
from operator import le

import pytest

from brute_trees import all_trees
from tanglewood.experiments import nivre2007, published, shi2018
from tanglewood.experiments.data_text import as_json
from tanglewood.experiments.markdown import p_value, table
from tanglewood.experiments.running import (
    Learning,
    mcnemar_of,
    parse,
    parsing_times,
    projective,
    train,
    with_options,
)
from tanglewood.measure.coverage import Coverage
from tanglewood.show.scatter import Panel, Series, scatter, tick_step
from tanglewood.systems import make_system
from tanglewood.treebank.tree import Tree
from toy import toy_sentences

# Against brute force. ----------------------------------------------------------------------------------------------


def test_lifted_trees_are_projective_and_keep_their_labels():
    sentences = toy_sentences(20)
    for old, new in zip(sentences, projective(sentences), strict=True):
        assert new.tree.is_projective()
        assert new.deprels == old.deprels
        assert old.tree.is_projective() == (new is old)


def test_counted_parses_are_those_of_parse_all_and_bounds_hold():
    sentences = toy_sentences(20)
    learning = Learning(settings={"epochs": 2})
    parser = train(learning.config("swap", oracle="eager"), sentences, (), lambda *_: None)
    found = parse(parser, sentences)
    assert [s.tree for s in found.sentences] == [s.tree for s in parser.parse_all(sentences)]
    for sentence, moves in zip(sentences, found.transitions, strict=True):
        assert moves >= 2 * len(sentence)
        assert moves % 2 == 0
    covington = train(learning.config("covington", oracle="static"), sentences, (), lambda *_: None)
    flat = parse(with_options(covington, max_degree=0), sentences)
    assert all(s.tree.is_projective() for s in flat.sentences)
    free = parse(with_options(covington), sentences)
    assert [s.tree for s in free.sentences] == [s.tree for s in parse(covington, sentences).sentences]
    assert all(map(le, flat.calls, free.calls))
    times = parsing_times({"flat": with_options(covington, max_degree=0), "free": covington}, sentences[:5])
    assert list(times) == ["flat", "free"]
    assert all(len(row) == 5 and min(row) >= 0 and sum(row) > 0 for row in times.values())


def brute_links(tree):
    """The two loops of Nivre (2007) with the gold tree as oracle and d = 0, the degree counted anew for each pair."""
    built = [-1] + [None] * len(tree)
    for right in range(1, len(tree) + 1):
        for left in range(right - 1, 0, -1):
            outside = [
                node for node in range(left + 1, right) if built[node] is None or not left <= built[node] <= right
            ]
            if not outside and tree.heads[right] == left:
                built[right] = left
            if not outside and tree.heads[left] == right:
                built[left] = right
    return [0 if head is None else head for head in built]


def test_projective_links_are_those_of_the_two_loops_for_every_short_tree():
    system = make_system("covington", max_degree=0, every_pair=True)
    lost = 0
    for n in range(1, 6):
        for heads in all_trees(n):
            tree = Tree(heads)
            found = nivre2007.linked(tree)
            assert found == brute_links(tree)
            assert (found == list(tree.heads)) == tree.is_projective()
            if n < 5:
                assert Coverage({"d0": system}).add(Tree(found[1:])) == []
            lost += found != list(tree.heads)
    assert lost > 100


def test_words_that_lose_their_link_hang_from_0_with_its_label():
    sentences = toy_sentences(20)
    changed = 0
    for old, new in zip(sentences, nivre2007.projective_links(sentences), strict=True):
        assert old.tree.is_projective() == (new is old)
        for word in range(1, len(old) + 1):
            if new.tree.heads[word] != old.tree.heads[word]:
                changed += 1
                assert (new.tree.heads[word], new.tree.labels[word]) == (0, "root")
            else:
                assert new.tree.labels[word] == old.tree.labels[word]
    assert changed > 5


@pytest.mark.parametrize("kind", shi2018.FAMILY)
def test_the_chart_derives_what_the_oracle_covers_for_every_short_tree(kind):
    system = kind()
    chart = system.exact()
    for heads in all_trees(4):
        tree = Tree(heads, ["dep"] * 4)
        coverage = Coverage({kind.name: system})
        coverage.add(tree)
        assert shi2018.is_derived_by(chart, tree) == (coverage.covered[kind.name] == 1)


def test_learners_learn_from_the_states_of_the_oracle_unless_told_otherwise():
    assert Learning().as_in_paper("nivre2006").settings == {"explore": 0.0}
    assert Learning(settings={"explore": 0.5}).as_in_paper("nivre2006").settings == {"explore": 0.5}

    assert Learning().as_in_paper("lacroix2014", always=True).settings == {"explore": 0.0, "features": "lacroix2014"}
    own = Learning(settings={"features": ""})
    assert own.as_in_paper("lacroix2014", always=True).settings == {"explore": 0.0, "features": ""}


def test_error_reduction_is_the_share_of_errors_gone():
    assert nivre2007.error_reduction(100, 90, 80) == pytest.approx(50)
    assert nivre2007.error_reduction(100, 75, 80) == pytest.approx(-25)
    assert nivre2007.error_reduction(100, 100, 100) is None


def test_tests_are_found_in_either_order():
    row = {"first": "a", "second": "b", "las": {"only_first": 1, "only_second": 2, "p_value": 0.5}}
    scores = {"words": 40, "sentences": 5, "nonprojective_gold": 3}
    results = {"mcnemar": [row], "scores": {"a": scores, "b": scores}}
    assert mcnemar_of(results, "a", "b", "las") == {**row["las"], "items": 40}
    assert mcnemar_of(results, "b", "a", "las") == {**row["las"], "only_first": 2, "only_second": 1, "items": 40}


@pytest.mark.parametrize(
    ("by", "items"),
    [("las", 40), ("uas", 40), ("exact_match", 5), ("projective_las", 37), ("nonprojective_las", 3)],
)
def test_a_test_says_how_many_words_or_sentences_it_is_about(by, items):
    row = {"first": "a", "second": "b", by: {"only_first": 1, "only_second": 2}}
    scores = {"words": 40, "sentences": 5, "nonprojective_gold": 3}
    assert mcnemar_of({"mcnemar": [row], "scores": {"a": scores}}, "a", "b", by)["items"] == items


# Small things. -----------------------------------------------------------------------------------------------------


def test_json_reads_back_and_lists_of_numbers_take_one_line():
    data = {"a": [1, 2, 3], "b": [{"c": None, "d": []}, {}], "é": {"f": 1.5, "g": {}}}
    assert json.loads(as_json(data)) == data
    assert '"a": [1, 2, 3]' in as_json(data)


def test_tables_align_numbers_to_the_right():
    assert table(["a", "b", "c"], [["x", 1000, "1.5 (2.0)"], ["y", 2, "-"]]) == (
        "| a | b | c |\n| --- | ---: | ---: |\n| x | 1,000 | 1.5 (2.0) |\n| y | 2 | - |\n"
    )


@pytest.mark.parametrize(("most", "step"), [(1, 1), (6, 1), (7, 2), (30, 5), (31, 10), (240, 50), (700, 200)])
def test_ticks_are_round_and_few(most, step):
    assert tick_step(most) == step


def test_a_scatter_plot_shows_every_place_once_and_its_lines():
    panel = Panel("<a & b>", "x", "y", [Series("s", [(1, 2), (1, 2), (3, 6)], 2.0), Series("h", [], 0.0, hollow=True)])
    text = scatter([panel], title="t")
    tree = ElementTree.fromstring(text)
    assert tree.tag.endswith("svg")
    assert text.count("h0") == 2
    assert "&lt;a &amp; b&gt;" in text
    assert "polyline" not in text
    joined = Panel("p", "x", "y", [Series("s", [(4, 9), (1, 2), (2, 5)], None)])
    (line,) = re.findall('<polyline points="([^"]*)"', scatter([joined], title="t"))
    places = [tuple(map(float, place.split(","))) for place in line.split()]
    assert len(places) == 3
    assert places == sorted(places)  # from left to right


def test_languages_are_those_of_the_papers():
    assert published.language_of("Slovenian-SSJ") == "Slovene"
    assert published.language_of("Danish-CDT1") == "Danish"


def test_every_published_table_is_whole():
    assert published.SHI2018_TIMES.keys() == shi2018.systems().keys()
    assert {tuple(rows) for rows in published.NIVRE2009.values()} == {
        ("Su", "Sp", "Spp", "Malt-06", "MST-06", "MSTMalt")
    }
    assert {tuple(rows) for rows in published.LACROIX2014.values()} == {("all", "projective", "nonprojective")}
    assert set(published.SHI2018) == {kind.name for kind in shi2018.FAMILY}


def test_p_values_are_readable():
    assert p_value({"p_value": 0.03391, "significant": True}, "p") == "p = 0.0339 *"
    assert p_value({"p_value": 1e-9, "significant": True}, "p") == "p < 0.0001 *"
    assert p_value({"p_value": 0.5, "significant": False}) == "0.5000"
