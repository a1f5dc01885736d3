"""Count how non-projective treebanks are: sentences, arcs, degrees, labels, and the most tangled sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_json, add_reading, add_text, percent, print_json, print_table
from tanglewood.cli.inputs import shown_name, shown_text
from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from tanglewood.measure.stats import TreebankStats

HELP = "how non-projective treebanks are"
EXAMPLES = """\
  tanglewood stats train.conllu dev.conllu
  tanglewood stats --worst 20 train.conllu     the sentences with the most crossings, often annotation errors
  tanglewood stats letters.txt                 of a text, parsed with the English model
  tanglewood stats --json *.conllu.gz > stats.json"""
MOST_LABELS = 15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, text=True)
    add_text(parser)
    add_json(parser)
    parser.add_argument(
        "--worst",
        type=int,
        metavar="N",
        help="list the N sentences of a file with the most crossings, and their text",
    )


def run(args: argparse.Namespace) -> int:
    """Count, and print a table or JSON."""
    from tanglewood.measure.stats import TreebankStats

    if args.worst is not None and args.worst < 1:
        raise ConfigError(f"--worst {args.worst}: it should be 1 or more")
    reading = Reading(args, texts=True)
    counts: dict[str, TreebankStats] = {}
    for file in args.files:
        counts[file] = TreebankStats(keep_worst=args.worst or 0)
        for sentence in reading.sentences(file):
            counts[file].add(sentence)
    if args.json:
        print_json([{"file": file, **stats.as_dict()} for file, stats in counts.items()])
    else:
        _print(counts)
    return reading.close()


def _print(counts: dict[str, TreebankStats]) -> None:
    rows = [_row(shown_name(file), [stats]) for file, stats in counts.items()]
    if len(counts) > 1:
        rows.append(_row("all together", list(counts.values())))
    print_table(
        ["file", "sentences", "words", "non-proj.", "%", "non-proj. arcs", "%", "several roots", "longest"], rows
    )
    every = list(counts.values())
    sentences = sum(stats.sentences for stats in every)
    by_2007 = sum((stats.degree_2007 for stats in every), Counter[int]())
    by_2006 = sum((stats.degree_2006 for stats in every), Counter[int]())
    print("\nDegree of non-projectivity (sentences), as in Nivre 2007 and Nivre 2006")
    print_table(
        ["degree", "2007", "%", "2006", "%"],
        [
            [str(d), by_2007[d], percent(by_2007[d], sentences), by_2006[d], percent(by_2006[d], sentences)]
            for d in sorted(by_2007 | by_2006)
        ],
    )
    crossing = sum((stats.nonprojective_labels for stats in every), Counter[str]())
    labels = sum((stats.labels for stats in every), Counter[str]())
    if crossing:
        print("\nNon-projective arcs by label")
        print_table(
            ["label", "non-proj.", "of all", "%"],
            [[label, n, labels[label], percent(n, labels[label])] for label, n in crossing.most_common(MOST_LABELS)],
        )
        if len(crossing) > MOST_LABELS:
            print(f"... and {len(crossing) - MOST_LABELS} more labels (all of them with --json)")
        punctuation = sum(stats.nonprojective_punctuation for stats in every)
        print(f"\npunctuation: {punctuation:,} of {crossing.total():,} non-projective arcs (usually annotation errors)")
    for file, stats in counts.items():
        if stats.worst:
            print(f"\nMost crossing sentences of {shown_name(file)}")
            print_table(
                ["sent_id", "line", "crossing pairs (arcs from 0 included)", "non-proj. arcs", "text"],
                [
                    [
                        *(tangled.sent_id or "-", tangled.line, tangled.crossing_pairs, tangled.nonprojective_arcs),
                        shown_text(tangled.text),
                    ]
                    for tangled in sorted(stats.worst, reverse=True)
                ],
            )


def _row(name: str, parts: list[TreebankStats]) -> list[object]:
    sentences = sum(part.sentences for part in parts)
    words = sum(part.words for part in parts)
    crossing = sum(part.nonprojective_sentences for part in parts)
    arcs = sum(part.nonprojective_arcs for part in parts)
    return [
        name,
        sentences,
        words,
        crossing,
        percent(crossing, sentences),
        arcs,
        percent(arcs, words),
        sum(part.multi_root_sentences for part in parts),
        max(part.max_length for part in parts),
    ]
