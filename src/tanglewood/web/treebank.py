"""What the playground tells about a treebank: counts, coverage, and a row for every sentence that passes a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from tanglewood.errors import LocatedError
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.stats import TreebankStats
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import Sentence
from tanglewood.web.fields import Body, know, number_in, text_in, to_bytes
from tanglewood.web.limits import Deadline, Limits, Problem, short

LONGEST_TEXT = 300  # characters of a sentence that are shown in a row


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sentences are wanted; with ``crossing`` the label is one of a crossing arc."""

    crossing: bool = False
    degree: int = 0
    not_covered_by: str = ""
    label: str = ""
    search: str = ""

    @classmethod
    def of(cls, body: Body) -> Filter:
        """Return the filter of a request."""
        given = body.get("filter") or {}
        if not isinstance(given, dict):
            raise Problem(422, "filter should be an object", field="filter")
        know(given, *cls.__slots__)
        system = text_in(given, "not_covered_by", "")
        if system:
            make_system(system)  # raises with the list of known names
        crossing = given.get("crossing", False)
        if not isinstance(crossing, bool):
            raise Problem(422, "crossing should be true or false", field="filter")
        texts = {name: text_in(given, name, "") for name in ("label", "search")}
        return cls(crossing, number_in(given, "degree", 0), system, **texts)

    def passes(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is wanted."""
        labels = row["crossing_labels" if self.crossing else "labels"]
        return (
            (not self.crossing or row["crossing"] > 0)
            and row["degree"] >= self.degree
            and (not self.not_covered_by or self.not_covered_by in row["uncovered"])
            and (not self.label or self.label in labels)
            and (not self.search or self.search.casefold() in f"{row['sent_id'] or ''}\n{row['text']}".casefold())
        )


def browse(body: Body, limits: Limits, deadline: Deadline) -> dict[str, Any]:
    """Count a treebank, or a part of one that begins at ``first_line`` of its file.

    Sentences that are malformed or too long are left out and listed under ``errors``.
    """
    know(body, "conllu", "first_line", "systems", "filter", "offset", "limit")
    conllu = text_in(body, "conllu", None)
    if conllu is None:
        raise Problem(422, "conllu should be given: the text of a treebank", field="conllu")
    names = body.get("systems", list(SYSTEMS))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Problem(422, "systems should be a list of names", field="systems")
    coverage = Coverage({name: make_system(name) for name in names})
    wanted = Filter.of(body)
    if wanted.not_covered_by and wanted.not_covered_by not in names:
        raise Problem(422, f"{wanted.not_covered_by} is not among the systems to count", field="filter")
    stats = TreebankStats()
    before = number_in(body, "first_line", 1) - 1
    errors: list[dict[str, Any]] = []

    def note(error: LocatedError) -> None:
        line = None if error.line is None else error.line + before
        errors.append({"error": short(error.problem), "line": line, "sent_id": error.sent_id})

    rows = []
    for sentence in read(BytesIO(to_bytes(conllu)), on_error=note):
        deadline.check()
        if len(sentence) > limits.max_words:
            problem = f"{len(sentence)} words; a sentence may have {limits.max_words}"
            note(LocatedError(problem, line=sentence.line, sent_id=sentence.sent_id))
            continue
        row = _row(sentence, coverage, before)
        stats.add(sentence)
        if wanted.passes(row):
            rows.append(row)
    start = max(number_in(body, "offset", 0), 0)
    return {
        "stats": stats.as_dict(),
        "coverage": coverage.as_dict(),
        "matches": len(rows),
        "sentences": rows[start : start + max(number_in(body, "limit", len(rows)), 0)],
        "errors": errors,
    }


def _row(sentence: Sentence, coverage: Coverage, before: int) -> dict[str, Any]:
    """Count a sentence's coverage and return what there is to say about it."""
    tree = sentence.tree
    covered = dict(coverage.covered)
    coverage.add(tree)
    crossing = tree.nonprojective_arcs()
    text = sentence.text or " ".join(sentence.forms)
    return {
        "first_line": sentence.line + before,
        "last_line": sentence.line_of(len(sentence)) + before,
        "sent_id": sentence.sent_id,
        "text": text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…",
        "words": len(sentence),
        "crossing": len(crossing),
        "degree": tree.degree(),
        "uncovered": [name for name, count in coverage.covered.items() if count == covered[name]],
        "labels": sorted(set(tree.labels[1:])),
        "crossing_labels": sorted({tree.labels[word] for word in crossing}),
    }
