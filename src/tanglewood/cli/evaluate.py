"""Score predicted trees against gold trees with the same words: attachment, exact match, non-projective arcs.

Several systems stand side by side, with McNemar's test for each pair of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_json, print_json, print_table
from tanglewood.errors import ConfigError, FormatError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from tanglewood.measure.conll2018 import Conll2018
    from tanglewood.measure.scores import Scores
    from tanglewood.measure.significance import Intervals, McNemar
    from tanglewood.measure.tables import Table
    from tanglewood.treebank.sentence import Sentence

HELP = "how well predicted trees match gold trees"
EXAMPLES = """\
  tanglewood evaluate gold.conllu parsed.conllu
  tanglewood evaluate gold.conllu swap.conllu planar.conllu    with tests whether they differ
  tanglewood evaluate gold.conllu parsed.conllu --no-punctuation --by label
  tanglewood evaluate gold.conllu parsed.conllu --json --by all > scores.json"""
TABLES = ("label", "length", "direction", "degree", "crossing")
SCORES = (  # what the table for people calls each score
    ("LAS", "las"),
    ("UAS", "uas"),
    ("label accuracy", "la"),
    ("UPOS", "upos"),
    ("XPOS", "xpos"),
    ("exact match", "exact_match"),
    ("exact match, unlabelled", "exact_match_unlabelled"),
    ("projective arcs: LAS", "projective_las"),
    ("projective arcs: UAS", "projective_uas"),
    ("projective arcs: label accuracy", "projective_la"),
    ("non-projective arcs: LAS", "nonprojective_las"),
    ("non-projective arcs: UAS", "nonprojective_uas"),
    ("non-projective arcs: label accuracy", "nonprojective_la"),
    ("non-projective arcs found: precision", "nonprojective_precision"),
    ("non-projective arcs found: recall", "nonprojective_recall"),
    ("non-projective arcs found: F1", "nonprojective_f1"),
    ("the same with labels: precision", "nonprojective_labelled_precision"),
    ("the same with labels: recall", "nonprojective_labelled_recall"),
    ("the same with labels: F1", "nonprojective_labelled_f1"),
    ("CoNLL 2018: LAS, universal labels", "las_universal"),
    ("CoNLL 2018: CLAS", "clas"),
    ("CoNLL 2018: MLAS", "mlas"),
    ("CoNLL 2018: BLEX", "blex"),
)
TESTED = {"las": "LAS", "uas": "UAS", "exact_match": "exact match"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or CoNLL-X, plain, .gz or .xz; - is stdin")
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="the same words with the trees of a system")
    add_json(parser)
    parser.add_argument(
        "--no-punctuation", action="store_true", help="do not score words whose every character is Unicode punctuation"
    )
    parser.add_argument(
        "--by", action="append", choices=(*TABLES, "all"), default=[], help="a table of scores by groups of arcs"
    )
    parser.add_argument(
        "--bootstrap", type=int, default=1000, metavar="N", help="samples for the intervals (default 1000; 0: none)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="seed of the samples (default 1)")
    parser.set_defaults(on_error="stop")  # a sentence left out of one file would shift the others


def run(args: argparse.Namespace) -> int:
    """Score, and print tables for people or JSON."""
    from tanglewood.measure.conll2018 import Conll2018
    from tanglewood.measure.scores import Scores, aligned, compare
    from tanglewood.measure.significance import Pairs, bootstrap
    from tanglewood.measure.tables import Table
    from tanglewood.treebank.conllu import read

    if [args.gold, *args.systems].count("-") > 1:
        raise ConfigError("standard input (-) can be one of the files only")
    if args.bootstrap < 0:
        raise ConfigError(f"--bootstrap {args.bootstrap}: the number of samples should be 1 or more, or 0 for none")
    tables = TABLES if "all" in args.by else tuple(name for name in TABLES if name in args.by)
    results = [(Scores(), Conll2018(), [Table(by) for by in tables]) for _ in args.systems]
    pairs = Pairs(len(args.systems))
    gold = _not_empty(Reading(args).sentences(args.gold), args.gold)
    systems = [_not_empty(read(file), file) for file in args.systems]
    for sentence, outputs in aligned(gold, systems):
        comparisons = [compare(sentence, output, punctuation=not args.no_punctuation) for output in outputs]
        for comparison, (scores, conll2018, parts) in zip(comparisons, results, strict=True):
            scores.add(comparison)
            conll2018.add(comparison)
            for table in parts:
                table.add(comparison)
        pairs.add(comparisons)
    if not results[0][0].words:
        raise FormatError("every word is punctuation, so there is nothing to score", file=args.gold)
    intervals = [bootstrap(scores, samples=args.bootstrap, seed=args.seed) for scores, *_ in results if args.bootstrap]
    if args.json:
        print_json(_json(args.systems, results, intervals, pairs.tests()))
    else:
        _print(args, results, intervals, pairs.tests())
    return 0


def _not_empty(sentences: Iterator[Sentence], file: str) -> Iterator[Sentence]:
    """Give the sentences of a file; a file without any is an error."""
    found = False
    for sentence in sentences:
        found = True
        yield sentence
    if not found:
        raise FormatError("there are no sentences in it", file=file)


Results = list[tuple["Scores", "Conll2018", list["Table"]]]
Tests = dict[tuple[int, int], dict[str, "McNemar"]]


def _json(files: Sequence[str], results: Results, intervals: Sequence[Intervals], tests: Tests) -> list[object]:
    """Return one object a system; each is compared with the systems before it."""
    rows: list[object] = []
    for number, (file, (scores, conll2018, tables)) in enumerate(zip(files, results, strict=True)):
        row: dict[str, object] = {"file": file, **scores.as_dict(), **conll2018.as_dict()}
        if intervals:
            row["las_interval"] = [round(end, 4) for end in intervals[number].las]
            row["uas_interval"] = [round(end, 4) for end in intervals[number].uas]
        row["mcnemar"] = [
            {"first": files[one], "second": file, **{name: test.as_dict() for name, test in found.items()}}
            for (one, other), found in tests.items()
            if other == number
        ]
        row["by"] = {table.by: table.as_dict() for table in tables}
        rows.append(row)
    return rows


def _print(args: argparse.Namespace, results: Results, intervals: Sequence[Intervals], tests: Tests) -> None:
    names = [Path(file).name for file in args.systems]
    if len(set(names)) < len(names):
        names = args.systems
    first = results[0][0]
    left_out = ", punctuation left out" if args.no_punctuation else ""
    print(f"{first.words:,} words in {first.sentences:,} sentences{left_out}; ", end="")
    print(f"{first.nonprojective.words:,} non-projective arcs in gold\n")
    data = [scores.as_dict() | conll2018.as_dict() for scores, conll2018, _ in results]
    print_table(["score", *names], [[title, *(_cell(row[key]) for row in data)] for title, key in SCORES])
    if intervals:
        print(f"\n95% intervals from {args.bootstrap:,} bootstrap samples of the sentences (seed {args.seed})")
        print_table(
            ["system", "LAS from", "to", "UAS from", "to"],
            [
                [name, *(f"{end:.2f}" for end in (*interval.las, *interval.uas))]
                for name, interval in zip(names, intervals, strict=True)
            ],
        )
    if tests:
        _print_tests(names, tests)
    for number, name in enumerate(names):
        for table in results[number][2]:
            print(f"\n{name} by {table.by}")
            _print_groups(table)


def _print_tests(names: Sequence[str], tests: Tests) -> None:
    print("\nMcNemar's test for each pair: what only one of the two got right, and whether they differ (p < 0.05)")
    print_table(
        ["first", "second", "score", "only first", "only second", "p", "differ"],
        [
            [
                *(names[one], names[other], TESTED[score], test.only_first, test.only_second),
                *(f"{test.p_value:.4f}", "yes" if test.significant else "no"),
            ]
            for (one, other), found in tests.items()
            for score, test in found.items()
        ],
    )


def _print_groups(table: Table) -> None:
    keys = ("las", "uas", "la", "las_precision", "las_f1")
    rows = table.as_dict().items()
    print_table(
        [table.by, "gold", "system", "LAS", "UAS", "label acc.", "LAS precision", "LAS F1"],
        [[group, row["gold"], row["system"], *(_cell(row[key]) for key in keys)] for group, row in rows],
    )


def _cell(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
