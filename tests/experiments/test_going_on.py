"""Runs of the experiments that are stopped, started again, or asked for wrongly."""

import re
import signal
import subprocess
import sys
import time

import pytest
from toy_runs import command, results_of, settled

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ConfigError
from tanglewood.experiments import PAPERS
from tanglewood.experiments.running import Run, Treebank
from toy import toy_text

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


def test_the_papers_languages_have_every_row_of_table_1(treebank, tmp_path):
    words = [word for word in command("nivre2009", treebank, tmp_path / "run") if word != "--no-graph"]
    assert main(words) == 0
    results = results_of(tmp_path / "run")
    assert list(results["scores"]) == ["su", "su-lazy", "sp", "spp", "malt", "mst", "mst2", "mstmalt"]
    assert results["options"]["graph"] is True
    lines = (tmp_path / "run/report.md").read_text().splitlines()
    for name, cell in (
        ("Malt-06", "84.8 (27.5)"),
        ("MST-06, second-order", "84.8 (62.5)"),
        ("MST + Malt", "86.7 (60.0)"),
    ):
        assert any(line.startswith(f"| {name} |") and f"| {cell} |" in line for line in lines)
    assert any(line.startswith("| MST, first-order | ") and line.endswith("| - | - |") for line in lines)
    assert any("MST-06 of the paper is second-order" in line for line in lines)
    assert not list((tmp_path / "run/parts").glob("*.tw"))


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
