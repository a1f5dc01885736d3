"""What the playground tells about a treebank: counts, coverage, and a row for every sentence that passes a filter."""

from __future__ import annotations

from io import BytesIO

import msgspec

from tanglewood.errors import LocatedError, one_line
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.find import Filter
from tanglewood.measure.stats import TreebankStats
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import Sentence
from tanglewood.web.limits import Deadline, Limits
from tanglewood.web.messages import CoverageCounts, LeftOut, Row, SentenceFilter, Stats, TreebankAnswer, TreebankRequest
from tanglewood.web.problems import Problem

LONGEST_TEXT = 300  # characters of a sentence that are shown in a row


def browse(request: TreebankRequest, limits: Limits, deadline: Deadline) -> TreebankAnswer:
    """Count a treebank, or a part of one that begins at ``first_line`` of its file.

    Sentences that are malformed or too long are left out and listed under ``errors``.
    """
    names = [str(name) for name in (SYSTEMS if request.systems is None else request.systems)]
    coverage = Coverage({name: make_system(name) for name in names})
    wanted = _filter(request.filter or SentenceFilter(), names)
    stats = TreebankStats()
    before = request.first_line - 1
    errors: list[LeftOut] = []

    def note(error: LocatedError) -> None:
        line = None if error.line is None else error.line + before
        errors.append(LeftOut(error=one_line(error.problem), line=line, sent_id=error.sent_id))

    rows = []
    for sentence in read(BytesIO(request.conllu.encode()), on_error=note):
        deadline.check()
        if len(sentence) > limits.max_words:
            problem = f"{len(sentence)} words; a sentence may have {limits.max_words}"
            note(LocatedError(problem, line=sentence.line, sent_id=sentence.sent_id))
            continue
        uncovered = coverage.add(sentence.tree)
        stats.add(sentence)
        if wanted.passes(sentence, uncovered):
            rows.append(_row(sentence, uncovered, before))
    counted = stats.as_dict()
    counted.pop("worst")  # none are kept; the rows show them
    stop = len(rows) if request.limit is None else request.offset + request.limit
    return TreebankAnswer(
        stats=msgspec.convert(counted, Stats),
        coverage=msgspec.convert(coverage.as_dict(), CoverageCounts),
        matches=len(rows),
        sentences=rows[request.offset : stop],
        errors=errors,
    )


def _filter(asked: SentenceFilter, names: list[str]) -> Filter:
    """Return the filter of a request.

    Regular expressions are not for the web: one that somebody else chose can keep a server busy for years.
    """
    system = asked.not_covered_by
    if system is not None and system not in names:
        problem = f"{system} is not among the systems to count; it should be one of {', '.join(names)}"
        raise Problem(422, problem, field="filter.not_covered_by")
    if asked.max_length is not None and asked.min_length > asked.max_length:
        problem = f"max_length is {asked.max_length}; it should be at least min_length, which is {asked.min_length}"
        raise Problem(422, problem, field="filter.max_length")
    return Filter(
        crossing=asked.crossing,
        degree=asked.degree,
        not_covered_by=str(system or ""),
        label=asked.label,
        search=asked.search,
        min_length=asked.min_length,
        max_length=asked.max_length,
    )


def _row(sentence: Sentence, uncovered: list[str], before: int) -> Row:
    """Return a sentence in brief."""
    tree = sentence.tree
    crossing = tree.nonprojective_arcs()
    text = sentence.text or " ".join(sentence.forms)
    return Row(
        first_line=sentence.line + before,
        last_line=sentence.line_of(len(sentence)) + before,
        sent_id=sentence.sent_id,
        text=text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…",
        words=len(sentence),
        crossing=len(crossing),
        degree=tree.degree(),
        uncovered=uncovered,
        labels=sorted(set(tree.labels[1:])),
        crossing_labels=sorted({tree.labels[word] for word in crossing}),
    )
