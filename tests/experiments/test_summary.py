"""What several runs found, in one table, and the pages of the documentation that are made of them."""

import json
import subprocess
import sys
from pathlib import Path

from toy_runs import results_of

from tanglewood.cli import main
from tanglewood.experiments import PAPERS, experiment, nivre2009
from tanglewood.experiments.judging import KINDS, OPEN
from tanglewood.experiments.summary import summarize


def test_the_summary_of_single_runs_has_their_findings(finished, capsys):
    assert main(["reproduce", "summary", *map(str, finished.values()), "--links"]) == 0
    text = capsys.readouterr().out
    for paper in PAPERS:
        assert f"## {paper}" in text
    assert text.count("[Danish-toy](") == 4
    finding = experiment("nivre2009").findings(results_of(finished["nivre2009"]))[0]
    assert f"| {finding.claim} | {finding.verdict} | {finding.evidence} |" in text


def test_the_summary_of_several_runs_says_which_found_a_claim(finished, tmp_path):
    folder = finished["nivre2009"]
    results = results_of(folder)
    other = {**results, "options": {**results["options"], "treebank": "Czech-toy", "language": "Czech"}}
    (tmp_path / "results.json").write_text(json.dumps(other))
    lines = summarize([folder, tmp_path]).splitlines()
    kinds = lines[next(place for place, line in enumerate(lines) if "what the paper found" in line)]
    assert kinds == ("| what the paper found | found | found, not significantly | not found | contradicted | open |")
    for one, two in zip(nivre2009.findings(results), nivre2009.findings(other), strict=True):
        cells = []
        for kind in (*KINDS, OPEN):
            named = [name for name, found in (("Danish-toy", one), ("Czech-toy", two)) if found.verdict == kind]
            cells.append(f"{len(named)}: {', '.join(named)}" if named else "-")
        assert f"| {one.claim} | {' | '.join(cells)} |" in lines


def test_results_of_earlier_experiments_are_not_judged_anew(finished, tmp_path, capsys):
    results = results_of(finished["nivre2009"])
    del results["options"]["format"]
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert main(["reproduce", "summary", str(tmp_path)]) == 1
    assert "of an earlier version of the experiments; run them again" in capsys.readouterr().err


def test_the_pages_of_the_documentation_are_made_of_runs(finished, tmp_path):
    mark = "<!-- made by bench/reproductions.py: nothing below is typed by hand -->\n"
    kept = "## systems\n\n| of earlier | code |\n"
    (tmp_path / "README.md").write_text(f"# By hand\n\n{mark}\n## nivre2009\n\nold\n\n{kept}")
    for name, day in (("nivre2009-before", "2026-10-31"), ("nivre2007-other", "2026-11-02")):
        made = f"Made by `x` with tanglewood 0.1.0 (compiled core), {day}. All\n"
        (tmp_path / f"{name}.md").write_text(made)
    script = Path(__file__).resolve().parents[2] / "bench/reproductions.py"
    folders = [folder for paper, folder in finished.items() if paper != "systems"]
    subprocess.run([sys.executable, script, *folders, "--docs", tmp_path], check=True)
    text = (tmp_path / "README.md").read_text()
    assert text.startswith(f"# By hand\n\n{mark}\n## nivre2009")
    assert "old" not in text
    assert "|\n\nNot run again: [before](nivre2009-before.md) (2026-10-31).\n\n## nivre2007\n" in text
    assert "|\n\nNot run again: [other](nivre2007-other.md) (2026-11-02).\n\n## shi2018\n" in text
    assert text.endswith(f"|\n\n{kept}")  # a paper without a run
    page = (tmp_path / "nivre2009-toy.md").read_text()
    assert page == (finished["nivre2009"] / "report.md").read_text().replace("(figure5.svg)", "(nivre2009-toy.svg)")
    assert (tmp_path / "nivre2009-toy.svg").read_text() == (finished["nivre2009"] / "figure5.svg").read_text()
