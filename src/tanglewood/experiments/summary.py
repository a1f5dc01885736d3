"""One table per paper from the results of many runs: what was found, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tanglewood.errors import ConfigError
from tanglewood.experiments import PAPERS, experiment
from tanglewood.experiments.judging import counted
from tanglewood.experiments.markdown import table
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
    """Return a section for each paper that has results, with a row for each run and one that counts the verdicts.

    With ``links`` the name of a run's folder is a link to the page of that name.
    """
    runs = [(folder.resolve().name, read_results(folder)) for folder in folders]
    texts = []
    for paper in PAPERS:
        rows: list[list[str]] = []
        verdicts: list[list[str]] = []
        claims: list[str] = []
        for name, results in runs:
            if results["paper"] != paper:
                continue
            findings = experiment(paper).findings(results)
            claims = [finding.claim for finding in findings]
            title = results["options"].get("treebank", name)
            verdicts.append([finding.verdict for finding in findings])
            cells = [f"{finding.verdict}: {finding.evidence}" for finding in findings]
            rows.append(
                [
                    f"[{title}]({name}.md)" if links else title,
                    results["options"].get("learner", "-"),
                    results["date"],
                    *cells,
                ]
            )
        if len(rows) > 1:
            totals = (counted(column) for column in zip(*verdicts, strict=True))
            rows.append(["**in all**", "", "", *(f"**{total}**" for total in totals)])
        if rows:
            texts += [f"## {paper}", TITLES[paper], table(["treebank", "learner", "run", *claims], rows)]
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"
