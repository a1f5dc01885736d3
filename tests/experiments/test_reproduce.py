"""The papers' experiments, on invented sentences: they run, go on after a stop, and report what they found."""

import json
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from brute_trees import all_trees
from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ConfigError
from tanglewood.experiments import PAPERS, experiment, nivre2007, nivre2009, published, shi2018
from tanglewood.experiments.markdown import p_value, table
from tanglewood.experiments.running import (
    Learning,
    Run,
    Treebank,
    as_json,
    mcnemar_of,
    parse,
    projective,
    train,
    with_options,
)
from tanglewood.experiments.summary import summarize
from tanglewood.measure.coverage import Coverage
from tanglewood.show.scatter import Panel, Series, scatter, tick_step
from tanglewood.treebank.tree import Tree
from toy import toy_sentences, toy_text

SIZES = {"train": (14, 1), "dev": (4, 2), "test": (8, 3)}
COMMANDS = {
    "nivre2009": ["--epochs", "1"],
    "nivre2007": ["--epochs", "1"],
    "shi2018": ["--longest", "6"],
    "lacroix2014": ["--epochs", "1", "--folds", "2", "--gold-tags"],
    "systems": ["--epochs", "1"],
}
CHANGING = {"seconds", "seconds_reduction"}  # what two runs do not share


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "Danish-toy"
    folder.mkdir()
    for part, (size, seed) in SIZES.items():
        (folder / f"{part}.conllu").write_text(toy_text(size, seed))
    return folder


def command(paper, treebank, folder, *more):
    data = [f"{treebank}/train.conllu", f"{treebank}/test.conllu"] if paper == "shi2018" else ["--treebank", treebank]
    return [str(word) for word in ("reproduce", paper, *data, *COMMANDS[paper], *more, "-o", folder)]


@pytest.fixture(scope="module")
def finished(treebank, tmp_path_factory):
    """The folders of finished runs, by paper."""
    folders = {}
    for paper in PAPERS:
        folders[paper] = tmp_path_factory.mktemp("runs") / f"{paper}-toy"
        assert main(command(paper, treebank, folders[paper])) == 0
    return folders


def results_of(folder):
    return json.loads((folder / "results.json").read_text())


def settled(data):
    """The results without what changes from run to run."""
    if isinstance(data, dict):
        return {key: settled(value) for key, value in data.items() if key not in CHANGING}
    return [settled(item) for item in data] if isinstance(data, list) else data


# What a run writes. ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_the_report_is_made_of_the_results_alone(finished, paper):
    text = (finished[paper] / "report.md").read_text()
    assert experiment(paper).report(results_of(finished[paper])) == text
    lines = text.splitlines()
    assert lines[0].startswith(f"# {paper}: ")
    assert published.TITLES[paper] in text
    rows = 0
    for line, before in zip(lines[1:], lines, strict=False):
        assert not (line.startswith("#") and before), "headings stand alone"
        if line.startswith("|") and before.startswith("|"):
            rows += 1
            assert line.count("|") == before.count("|")
    assert rows > 10
    for word in ("None", "nan", "inf ", "/tmp"):
        assert word not in text
    for picture in re.findall(r"!\[.*\]\((.*)\)", text):
        ElementTree.parse(finished[paper] / picture)


def test_nivre2009_has_every_number_of_table_1_and_figure_5(finished):
    results = results_of(finished["nivre2009"])
    assert list(results["scores"]) == ["su", "su-lazy", "sp", "spp"]
    for scores in results["scores"].values():
        assert {"las", "nonprojective_las", "exact_match"} <= scores.keys()
    assert len(results["mcnemar"]) == 6
    assert set(results["mcnemar"][0]) == {"first", "second", "las", "uas", "exact_match"}
    for sides in results["running_time"].values():
        assert [sides[side]["sentences"] for side in ("oracle", "parser")] == [14, 8]
        assert all(2 <= sides[side]["slope"] < 4 for side in ("oracle", "parser"))
    report = (finished["nivre2009"] / "report.md").read_text()
    assert "| 84.2 (22.5) | 26.7 |" in report
    assert "2.22 (0.85)" in report
    dots = (finished["nivre2009"] / "figure5.svg").read_text()
    assert f"m = {results['running_time']['su']['oracle']['slope']:.2f} n" in dots


def test_nivre2009_says_what_is_known_to_differ_in_this_run_only():
    results = {"scores": {"su": {"las": 83.0}}, "data": {"train": {}, "test": {}}}
    results["options"] = {"treebank": "Danish-toy", "learner": "linear", "settings": {}}
    said = nivre2009.distance(results, 84.2)
    assert (
        said
        == "- Su is 1.2 points below the paper's 84.2. What is known to differ: the data; the learner and its features."
    )
    results["data"]["dev"] = {}
    results["options"] |= {"learner": "svm", "settings": {"features": "nivre2006"}}
    said = nivre2009.distance(results, 84.2)
    assert "a dev set is held out" in said
    assert "a split by part of speech" in said
    results["options"]["settings"]["split"] = ""
    assert "a split" not in nivre2009.distance(results, 84.2)


def test_nivre2007_has_every_number_of_tables_1_to_4(finished):
    results = results_of(finished["nivre2007"])
    assert list(results["bounds"]) == ["unbounded", "d2", "d1", "d0"]
    base = results["scores"]["d0"]["uas"]
    for name, row in results["bounds"].items():
        assert row["uas"] == results["scores"][name]["uas"]
        if name != "d0" and base < 100:
            assert row["error_reduction"] == pytest.approx(100 * (row["uas"] - base) / (100 - base), abs=1e-3)
        assert row["seconds"] > 0
        assert 0 < row["calls"] <= results["bounds"]["unbounded"]["calls"]
    assert results["bounds"]["d0"]["error_reduction"] is None
    assert list(results["final"]["scores"]) == ["covington", "mst", "pseudo"]
    fifth, rest = results["data"]["one fifth of train"], results["data"]["four fifths of train"]
    assert (fifth["sentences"], rest["sentences"]) == (3, 11)
    assert fifth["tokens"] + rest["tokens"] == results["data"]["train"]["tokens"]


def test_lacroix2014_has_every_number_of_table_7_and_directions(finished):
    results = results_of(finished["lacroix2014"])
    assert list(results["scores"]) == list(published.LACROIX2014)
    for name, scores in results["scores"].items():
        assert scores["sentences"] == 26
        assert all(
            f"{arcs}{key}" in scores for arcs in ("", "projective_", "nonprojective_") for key in ("la", "uas", "las")
        )
        groups = results["by_crossing"][name]
        assert sum(row["gold"] for row in groups.values()) == scores["words"]
        crossing = [row for group, row in groups.items() if group.startswith("non-projective") and row["gold"]]
        right = sum(row["las"] * row["gold"] for row in crossing)
        assert right / sum(row["gold"] for row in crossing) == pytest.approx(scores["nonprojective_las"], abs=1e-3)


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


def test_the_summary_has_a_row_for_each_run(finished, capsys):
    assert main(["reproduce", "summary", *map(str, finished.values()), "--links"]) == 0
    text = capsys.readouterr().out
    for paper in PAPERS:
        assert f"## {paper}" in text
    assert text.count("[Danish-toy](") == 4
    finding = experiment("nivre2009").findings(results_of(finished["nivre2009"]))[0]
    assert f"{finding.verdict}: {finding.evidence}" in text


def test_the_summary_of_several_runs_counts_what_was_found(finished):
    folder = finished["nivre2009"]
    found = [finding.found for finding in experiment("nivre2009").findings(results_of(folder))]
    *_, last = summarize([folder, folder]).splitlines()
    cells = [f"**found in {2 * bool(one)} of {2 * (one is not None)}**" for one in found]
    assert last == f"| **in all** |  | {' | '.join(cells)} |"


def test_the_pages_of_the_documentation_are_made_of_runs(finished, tmp_path):
    mark = "<!-- made by bench/reproductions.py: nothing below is typed by hand -->\n"
    (tmp_path / "README.md").write_text(f"# By hand\n\n{mark}\nold\n")
    script = Path(__file__).resolve().parents[2] / "bench/reproductions.py"
    subprocess.run([sys.executable, script, *finished.values(), "--docs", tmp_path], check=True)
    text = (tmp_path / "README.md").read_text()
    assert text.startswith(f"# By hand\n\n{mark}\n## nivre2009")
    assert "old" not in text
    page = (tmp_path / "nivre2009-toy.md").read_text()
    assert page == (finished["nivre2009"] / "report.md").read_text().replace("(figure5.svg)", "(nivre2009-toy.svg)")
    assert (tmp_path / "nivre2009-toy.svg").read_text() == (finished["nivre2009"] / "figure5.svg").read_text()


# Going on and starting anew. ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_an_interrupted_run_goes_on_to_the_same_results(finished, treebank, tmp_path, monkeypatch, capsys, paper):
    if paper == "systems" and not COMPILED:
        pytest.skip("25 systems take long in an interpreted build; the compiled ones run this")
    whole = Run.part
    parts = []

    def part(self, name, make):
        if parts:
            raise KeyboardInterrupt
        parts.append(name)
        return whole(self, name, make)

    words = command(paper, treebank, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(Run, "part", part)
        assert main(words) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert not (tmp_path / "run/results.json").exists()
    assert main(words) == 0
    assert capsys.readouterr().err.count("kept from before") == 1
    assert settled(results_of(tmp_path / "run")) == settled(results_of(finished[paper]))


def test_a_killed_run_goes_on(finished, treebank, tmp_path):
    words = command("nivre2009", treebank, tmp_path / "run")
    running = subprocess.Popen([sys.executable, "-m", "tanglewood", *words], stderr=subprocess.DEVNULL)
    part = tmp_path / "run/parts/su.json"
    for _ in range(1200):
        if part.exists() or running.poll() is not None:
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert part.exists()
    assert main(words) == 0
    assert settled(results_of(tmp_path / "run")) == settled(results_of(finished["nivre2009"]))


def test_a_finished_run_does_nothing_again(finished, treebank, monkeypatch, capsys):
    monkeypatch.setattr("tanglewood.experiments.nivre2009.train", lambda *_: pytest.fail("trained again"))
    before = (finished["nivre2009"] / "report.md").read_text()
    assert main(command("nivre2009", treebank, finished["nivre2009"])) == 0
    assert capsys.readouterr().err.count("kept from before") == 6
    assert (finished["nivre2009"] / "report.md").read_text() == before


def test_the_time_left_does_not_count_what_is_kept(tmp_path):
    sizes, said = {"short": 1, "other": 1, "long": 1000}, []
    Run(tmp_path, {"command": "x"}, sizes).part("long", lambda _: {})
    run = Run(tmp_path, {"command": "x"}, sizes, lambda text, _: said.append(text))
    run.began -= 60  # as if it had taken a minute
    run.part("short", lambda _: {})
    assert re.match(r"1/3, about 1:0\d left: short done", said[-1])


def test_the_time_left_is_not_guessed_from_a_tiny_part(tmp_path):
    said = []
    run = Run(tmp_path, {"command": "x"}, {"tiny": 0.01, "long": 1}, lambda text, _: said.append(text))
    run.part("tiny", lambda _: {})
    assert said[-1].startswith("1/2: tiny done")
    run.part("long", lambda step: step(0.5, "half") or {})
    assert any(re.match(r"2/2, about 0:\d\d left: long, half", text) for text in said)


def test_results_of_another_run_are_kept_until_a_restart(treebank, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(command("shi2018", treebank, folder)) == 0
    before = (folder / "results.json").read_bytes()
    (folder / "notes.txt").write_text("mine")
    assert main(command("shi2018", treebank, folder, "--longest", "3")) == 1
    message = capsys.readouterr().err
    assert "the folder is of another run" in message
    assert "longest: 6 is now 3" in message
    assert "--restart" in message
    assert (folder / "results.json").read_bytes() == before
    assert main(command("shi2018", treebank, folder, "--longest", "3", "--restart")) == 0
    assert "kept" not in capsys.readouterr().err
    assert results_of(folder)["options"]["longest"] == 3
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("more", [[], ["--restart"]])
@pytest.mark.parametrize(("name", "text"), [("letter.txt", "mine"), ("options.json", "{}"), ("options.json", "[1")])
def test_a_folder_of_something_else_is_left_alone(treebank, tmp_path, capsys, name, text, more):
    (tmp_path / name).write_text(text)
    assert main(command("shi2018", treebank, tmp_path, *more)) == 1
    assert "not empty and of no earlier run" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, text)]


def test_folds_are_tagged_by_a_tagger_that_has_not_seen_them(treebank, tmp_path):
    words = ["reproduce", "lacroix2014", "--treebank", str(treebank), "--epochs", "1", "--folds", "2"]
    assert main([*words, "--tagger-epochs", "1", "-o", str(tmp_path / "run")]) == 0
    results = results_of(tmp_path / "run")
    assert 0 < results["tagging"] <= 100
    assert f"{results['tagging']:.2f}% of UPOS right" in (tmp_path / "run/report.md").read_text()
    assert len(list((tmp_path / "run/parsed").glob("tags-*.conllu"))) == 2


def test_a_spanning_tree_parser_stands_alone_and_is_guided(treebank, tmp_path):
    assert main(command("nivre2009", treebank, tmp_path / "run", "--graph")) == 0
    results = results_of(tmp_path / "run")
    assert list(results["scores"]) == ["su", "su-lazy", "sp", "spp", "mst", "mstmalt"]
    assert "| MST + Su |" in (tmp_path / "run/report.md").read_text()


# What is asked for wrongly. ----------------------------------------------------------------------------------------


def test_treebanks_may_lack_dev_and_be_conll_x(treebank, tmp_path):
    for part in ("train", "test"):
        lines = (treebank / f"{part}.conllu").read_text().splitlines(keepends=True)
        (tmp_path / f"{part}.conll").write_text("".join(line for line in lines if not line.startswith("#")))
    found = Treebank.read(tmp_path)
    assert (found.suffix, list(found.parts), found["dev"]) == (".conll", ["train", "test"], ())


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"test.conllu": 1}, "there is no train.conllu and no train.conll"),
        ({"train.conllu": 1, "train.conll": 1, "test.conllu": 1}, "there are both train.conllu and train.conll"),
        ({"train.conllu": 0, "test.conllu": 1}, "there are no sentences"),
    ],
)
def test_a_treebank_that_is_none_is_refused(tmp_path, files, problem):
    for name, size in files.items():
        (tmp_path / name).write_text(toy_text(size))
    with pytest.raises(ConfigError, match=problem):
        Treebank.read(tmp_path)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--set", "system=planar"], "fixed by the paper"),
        (["--set", "nonsense=1"], "the linear learner has no setting 'nonsense'"),
        (["--seed", "-1"], "seed=-1"),
    ],
)
def test_what_the_paper_fixes_cannot_be_chosen(treebank, tmp_path, capsys, words, problem):
    assert main(command("nivre2009", treebank, tmp_path / "run", *words)) == 1
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_file_is_counted_once(treebank, tmp_path, capsys):
    file = str(treebank / "train.conllu")
    assert main(["reproduce", "shi2018", file, file, "-o", str(tmp_path / "run")]) == 1
    assert "Danish-toy/train.conllu is given twice" in capsys.readouterr().err


def test_there_is_no_summary_of_an_unfinished_run(tmp_path, capsys):
    assert main(["reproduce", "summary", str(tmp_path)]) == 1
    assert "is the run finished?" in capsys.readouterr().err


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
    assert flat.calls <= free.calls


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


def test_error_reduction_is_the_share_of_errors_gone():
    assert nivre2007.error_reduction(90, 80) == pytest.approx(0.5)
    assert nivre2007.error_reduction(75, 80) == pytest.approx(-0.25)
    assert nivre2007.error_reduction(100, 100) == 0


def test_tests_are_found_in_either_order():
    row = {"first": "a", "second": "b", "las": {"only_first": 1, "only_second": 2, "p_value": 0.5}}
    assert mcnemar_of({"mcnemar": [row]}, "a", "b", "las")["only_first"] == 1
    assert mcnemar_of({"mcnemar": [row]}, "b", "a", "las")["only_first"] == 2


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
