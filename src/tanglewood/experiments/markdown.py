"""Reports in Markdown: tables, and the parts that all of them have. Every number comes from the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tanglewood.experiments.judging import Finding
from tanglewood.experiments.published import TITLES
from tanglewood.experiments.running import Data

NONE = "-"
VERDICTS = (
    "A claim is *found* if its test says so at the level of 0.05, *contradicted* if the test says the opposite; "
    "between these it is *found, not significantly* or *not found*, by the sign of the difference. That there is no "
    "loss is *found* only if the interval of the difference stays within the margin that the claim names. Square "
    "brackets are intervals of 95%: by bootstrap over sentences; for differences of two systems Bonett and Price's, "
    "and for shares of sentences Wilson's, from the counts. *open*: these data cannot decide it, or the paper does not "
    "claim it for them."
)


def number(value: float | None, decimals: int = 1) -> str:
    """Return a number with this many decimals, or a dash for None."""
    return NONE if value is None else f"{value:.{decimals}f}"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; columns of numbers are aligned to the right."""
    body = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    marks = [
        "---:" if body and all(re.fullmatch(r"-|[-+]?[\d,.]+( ?\([-\d.]+\))?%?", row[place]) for row in body) else "---"
        for place in range(len(header))
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, marks, *body)) + "\n"


def p_value(test: Data, name: str = "") -> str:
    """Return a p-value, with its name before it if it has one, and a star after it if it is below 0.05."""
    p = test["p_value"]
    small = p < 0.0001
    value = "< 0.0001" if small else f"{p:.4f}"
    return (f"{name} {'' if small else '= '}" if name else "") + value + (" *" if test["significant"] else "")


def data_table(data: Data) -> str:
    """Return a table of how large the parts of the data are, and how non-projective."""
    return table(
        ["data", "sentences", "tokens", "non-projective sentences %", "non-projective arcs %"],
        [
            [
                part,
                found["sentences"],
                found["tokens"],
                number(found["nonprojective_sentences_percent"], 2),
                number(found["nonprojective_arcs_percent"], 2),
            ]
            for part, found in data.items()
        ],
    )


def findings_table(findings: Sequence[Finding]) -> str:
    """Return a table of what was found."""
    return table(
        ["what the paper found", "here", "numbers"],
        [[finding.claim, finding.verdict, finding.evidence] for finding in findings],
    )


def whole(results: Data, subject: str, sections: Sequence[tuple[str, str]], findings: Sequence[Finding]) -> str:
    """Return a report: title, what was run, the findings, the sections, and how to run it again."""
    options = results["options"]
    core = "compiled" if options["compiled"] else "interpreted"
    texts = [
        f"# {results['paper']}: {subject}",
        f"The experiments of {TITLES[results['paper']]}",
        f"Made by `{options['command']}` with tanglewood {options['version']} ({core} core), {results['date']}. "
        "All numbers are those of `results.json`, which this command writes beside this report.",
        "## Found or not",
        findings_table(findings),
        VERDICTS,
        *(text for title, body in sections for text in (f"## {title}", body)),
        "## Exactly what was run",
        _options(options),
    ]
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"


def learner_note(options: Data, theirs: str) -> str:
    """Say how our learner differs from the paper's."""
    settings = _plain(options["settings"])
    return (
        f"- The learner: the paper has {theirs}; here `{options['learner']}`"
        + (f" ({settings})" if settings else " with its own features and settings")
        + "."
    )


def _options(options: Data) -> str:
    rows: list[list[object]] = [
        [key, "-" if value in ("", {}, None) else _plain(value)]
        for key, value in options.items()
        if key not in {"command", "files"}
    ]
    files = [
        [name, file["sentences"], file["words"], f"`{file['sha256'][:16]}…`"]
        for name, file in options.get("files", {}).items()
    ]
    return table(["option", "value"], rows) + "\n" + table(["file", "sentences", "words", "SHA-256"], files)


def _plain(value: Any) -> str:  # noqa: ANN401 - an option
    if isinstance(value, dict):
        return ", ".join(f"{key}={_plain(inner)}" for key, inner in value.items())
    return "yes" if value is True else "no" if value is False else str(value)
