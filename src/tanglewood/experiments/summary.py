"""One table per paper from the results of many runs: what was found, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tanglewood.errors import ConfigError
from tanglewood.experiments import PAPERS, experiment
from tanglewood.experiments.judging import KINDS, OPEN, Finding
from tanglewood.experiments.markdown import findings_table, table
from tanglewood.experiments.published import TITLES
from tanglewood.experiments.running import FORMAT, RESULTS, Data


def read_results(folder: Path) -> Data:
    """Return the results of a finished run."""
    file = folder / RESULTS
    if not file.exists():
        raise ConfigError(f"{folder}: there is no {RESULTS} in it; is the run finished?")
    found: Data = json.loads(file.read_text(encoding="utf-8"))
    if found["options"].get("format") != FORMAT:
        raise ConfigError(f"{folder}: its results are of an earlier version of the experiments; run them again")
    return found


def summarize(folders: Sequence[Path], *, links: bool = False) -> str:
    """Return a section for each paper that has results: its runs, and a table with a row for each claim.

    Claims have long names and many, so the numbers stay in the reports where there is more than one run: the table says
    which runs found a claim. With ``links`` the name of a run's folder is a link to the page of that name.
    """
    runs = [(folder.resolve().name, read_results(folder)) for folder in folders]
    texts = []
    for paper in PAPERS:
        found = [(name, results) for name, results in runs if results["paper"] == paper]
        if not found:
            continue
        titles = [results["options"].get("treebank", name) for name, results in found]
        findings = [experiment(paper).findings(results) for _, results in found]
        rows = [
            [f"[{title}]({name}.md)" if links else title, results["options"].get("learner", "-"), results["date"]]
            for title, (name, results) in zip(titles, found, strict=True)
        ]
        texts += [f"## {paper}", TITLES[paper], table(["treebank", "learner", "run"], rows)]
        texts.append(findings_table(findings[0]) if len(found) == 1 else _claims(titles, findings))
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"


def _claims(titles: Sequence[str], findings: Sequence[Sequence[Finding]]) -> str:
    """Return a table of the claims of a paper: in how many runs each has each verdict, and in which."""
    rows = []
    for of_claim in zip(*findings, strict=True):
        cells = []
        for kind in (*KINDS, OPEN):
            named = [title for title, finding in zip(titles, of_claim, strict=True) if finding.verdict == kind]
            cells.append(f"{len(named)}: {', '.join(named)}" if named else "-")
        rows.append([of_claim[0].claim, *cells])
    return table(["what the paper found", *KINDS, OPEN], rows)
