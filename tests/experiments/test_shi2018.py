"""What is counted and judged of Shi & Lee 2018, on invented sentences."""

from toy_runs import SIZES, results_of, verdict_of

from brute_trees import all_trees
from tanglewood.experiments import shi2018
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.significance import McNemar
from tanglewood.treebank.tree import Tree
from toy import toy_sentences


def test_coverage_is_judged_in_the_papers_order(finished):
    results = results_of(finished["shi2018"])
    results["nonprojective_sentences"] = 10_000
    (row, other) = results["by_file"].values()
    row |= {"nonprojective_sentences": 10_000, "covered_nonprojective": dict.fromkeys(shi2018.systems(), 9_000)}
    other |= {"nonprojective_sentences": 0, "covered_nonprojective": dict.fromkeys(shi2018.systems(), 0)}

    def verdict(covered):
        row["covered_nonprojective"]["attardi-alls0s1"] = covered
        return verdict_of(shi2018.findings(results), "alls0s1 < alldeg1")

    verdicts = [verdict(covered) for covered in (8_800, 8_970, 9_000, 9_030, 9_200)]
    assert verdicts == ["found", "found, not significantly", "not found", "not found", "contradicted"]
    onward = next(row for row in results["compared"] if row["second"] == "leftward")
    for counts, expected in (((60, 10), "found"), ((3, 2), "found, not significantly"), ((0, 9), "contradicted")):
        onward |= McNemar(*counts).as_dict()
        assert verdict_of(shi2018.findings(results), "leftward < attardi") == expected


def test_counts_by_file_give_a_test_that_is_never_too_sure(finished):
    """Its p-value is at least that of the trees themselves."""
    results = results_of(finished["shi2018"])
    for row in results["compared"]:
        most = shi2018._at_least(results, row["first"], row["second"])
        assert most["p_value"] >= row["p_value"]
        assert most["only_first"] - most["only_second"] == row["only_first"] - row["only_second"]


def test_shi2018_counts_what_coverage_counts_and_the_chart_agrees(finished, treebank):
    results = results_of(finished["shi2018"])
    coverage = Coverage(shi2018.systems())
    for part in ("train", "test"):
        for sentence in toy_sentences(*SIZES[part]):
            coverage.add(sentence.tree)
    assert results["nonprojective_sentences"] == coverage.nonprojective_sentences
    assert {name: row["covered_nonprojective"] for name, row in results["systems"].items()} == (
        coverage.covered_nonprojective
    )
    assert [row["degree"] for row in results["systems"].values()] == [2, 2, 3, 2, 2, 3, 3, 4, 3]
    assert all(row["sentences"] > 5 and row["disagree"] == 0 for row in results["check"].values())
    assert list(results["by_file"]) == ["Danish-toy/train.conllu", "Danish-toy/test.conllu"]
    for row in results["compared"]:
        covered = [coverage.covered_nonprojective[row[side]] for side in ("first", "second")]
        assert row["only_first"] - row["only_second"] == covered[0] - covered[1]
    assert sum(row["trees"] for row in results["leftward"].values()) == coverage.nonprojective_sentences
    assert sum(row["covered"] for row in results["leftward"].values()) == coverage.covered_nonprojective["leftward"]


def test_the_leftward_system_derives_a_tree_whose_only_crossing_arc_goes_right():
    tree = Tree(shi2018.COUNTEREXAMPLE)
    assert [(tree.heads[word], word) for word in tree.nonprojective_arcs()] == [(1, 3)]
    assert shi2018.direction_of(tree) == "right"
    assert Coverage({"leftward": shi2018.systems()["leftward"]}).add(tree) == []


def test_directions_of_trees_are_those_of_their_crossing_arcs():
    for heads in all_trees(4):
        tree = Tree(heads)
        if not tree.is_projective():
            sides = {"right" if tree.heads[word] < word else "left" for word in tree.nonprojective_arcs()}
            assert shi2018.direction_of(tree) == ("both" if len(sides) > 1 else sides.pop())
