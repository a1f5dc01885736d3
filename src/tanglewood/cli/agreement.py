"""What `evaluate --agreement` prints: how far two annotators agree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, print_json, print_table
from tanglewood.errors import ConfigError, FormatError, one_line

if TYPE_CHECKING:
    import argparse

    from tanglewood.measure.agreement import Agreement, Matched

MOST_NAMED = 10  # sentences that are left out
MOST_PAIRS = 15  # of labels
KINDS = (
    ("heads", "heads"),
    ("labels", "labels"),
    ("labels of words with the same head", "labels_of_same_heads"),
    ("heads and labels", "arcs"),
    ("UPOS", "upos"),
)


def run_agreement(args: argparse.Namespace, reading: Reading) -> int:
    """Compare the files of two annotators."""
    from tanglewood.measure.agreement import Agreement, matched

    if len(args.systems) != 1 or args.by or args.align or args.calibration:
        raise ConfigError("--agreement compares two files, and goes with --no-punctuation and --json only")
    first, second = args.gold, args.systems[0]
    found = matched(reading.sentences(first), reading.sentences(second))
    if not found.pairs:
        raise FormatError(f"no sentence of it is in {second} with the same sent_id and the same words", file=first)
    counts = Agreement(punctuation=not args.no_punctuation)
    for pair in found.pairs:
        counts.add(*pair)
    if args.json:
        left_out = {
            "only_first": [sentence.sent_id for sentence in found.only_first],
            "only_second": [sentence.sent_id for sentence in found.only_second],
            "other_words": [sentence.sent_id or sentence.line for sentence, _ in found.other_words],
        }
        print_json({"first": first, "second": second, **counts.as_dict(), **left_out})
    else:
        _print(counts)
        _tell_left_out(found, first, second)
    return reading.close()


def _print(counts: Agreement) -> None:
    data = counts.as_dict()
    print(
        f"annotated by both: {data['words']:,} words, {data['sentences']:,} sentences, of which "
        f"{data['same_trees']:,} with the same tree\n"
    )
    print_table(
        ["agreement", "%", "kappa"],
        [[title, *_cells(data[name]["agreement"], data[name]["kappa"])] for title, name in KINDS],
    )
    print("\nBy label: how often each annotator has it, how often both at the same word")
    print_table(
        ["label", "first", "second", "both", "%", "kappa"],
        [
            [row["label"], row["first"], row["second"], row["both"], *_cells(row["agreement"], row["kappa"])]
            for row in data["by_label"]
        ],
    )
    if data["disagreements"]:
        print("\nWhere the labels differ")
        print_table(["first", "second", "words"], data["disagreements"][:MOST_PAIRS])
        if (more := len(data["disagreements"]) - MOST_PAIRS) > 0:
            print(f"... and {more} more pairs of labels (all of them with --json)")


def _cells(agreement: float | None, kappa: float | None) -> list[str]:
    return ["-" if agreement is None else f"{agreement:.2f}", "-" if kappa is None else f"{kappa:.3f}"]


def _tell_left_out(found: Matched, first: str, second: str) -> None:
    for name, sentences, what in (
        (first, found.only_first, f"not in {second}"),
        (second, found.only_second, f"not in {first}"),
        (first, [one for one, _ in found.other_words], f"the words differ in {second}"),
    ):
        if sentences:
            shown = ", ".join(one_line(one.sent_id or f"line {one.line}", 60) for one in sentences[:MOST_NAMED])
            more = ", ..." if len(sentences) > MOST_NAMED else ""
            print(
                f"{one_line(name)}: left out, since {one_line(what)}: {len(sentences):,} ({shown}{more})",
                file=sys.stderr,
            )
