"""Score predicted trees against gold trees: attachment, exact match, non-projective arcs, several systems side by side.

Where all files have the same words, there are also bootstrap intervals and McNemar's test for each pair of systems.
Where the words differ, as after parsing raw text, they are aligned by characters, and the scores are those of the CoNLL
2018 shared task, from tokens and sentences to LAS, MLAS and BLEX; the text must be the same, apart from spaces.
With --agreement, the two files are those of two annotators, and what is counted is how far they agree, with Cohen's
kappa. With --calibration, it also says how well the confidence that parse --confidence wrote agrees with the share
of heads that are right.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_json, add_max_sentence, print_json, print_table
from tanglewood.errors import ConfigError, FormatError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from tanglewood.measure.aligned_scores import AlignedScores
    from tanglewood.measure.calibration import Calibration
    from tanglewood.measure.scores import Scores
    from tanglewood.measure.shares import Metric
    from tanglewood.measure.significance import Intervals, McNemar
    from tanglewood.measure.sources import Source
    from tanglewood.measure.tables import Table
    from tanglewood.treebank.sentence import Sentence

HELP = "how well predicted trees match gold trees"
EXAMPLES = """\
  tanglewood evaluate gold.conllu parsed.conllu
  tanglewood evaluate gold.conllu swap.conllu planar.conllu    and test whether they differ
  tanglewood evaluate gold.conllu from-raw-text.conllu         aligned by characters where the words differ
  tanglewood evaluate gold.conllu parsed.conllu --no-punctuation --by label
  tanglewood evaluate gold.conllu parsed.conllu --json --by all > scores.json
  tanglewood evaluate gold.conllu parsed.conllu --calibration --plot reliability.svg
  tanglewood evaluate anna.conllu bert.conllu --agreement      two annotators, neither of whom is gold"""
TABLES = ("label", "length", "direction", "degree", "crossing")
SCORES = (  # (name in the table, name of the score)
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
ALIGNED = (  # the same, where the words differ
    ("Tokens", "tokens"),
    ("Sentences", "sentences"),
    ("Words", "words"),
    ("UPOS", "upos"),
    ("XPOS", "xpos"),
    ("UFeats", "ufeats"),
    ("AllTags", "alltags"),
    ("Lemmas", "lemmas"),
    ("UAS", "uas"),
    ("LAS", "las"),
    ("CLAS", "clas"),
    ("MLAS", "mlas"),
    ("BLEX", "blex"),
    ("non-projective arcs", "nonprojective"),
    ("the same with labels", "nonprojective_labelled"),
)
TESTED = {"las": "LAS", "uas": "UAS", "exact_match": "exact match"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or CoNLL-X, plain, .gz, .xz or .zst; - is stdin")
    parser.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="the same text with the words and trees of a system"
    )
    add_json(parser)
    parser.add_argument(
        "--align",
        action="store_true",
        help="align by characters even if the words are the same, and score as CoNLL 2018",
    )
    parser.add_argument(
        "--no-punctuation", action="store_true", help="do not score words whose every character is Unicode punctuation"
    )
    parser.add_argument(
        "--by", action="append", choices=(*TABLES, "all"), default=[], help="a table of scores by groups of arcs"
    )
    parser.add_argument(
        "--calibration",
        action="store_true",
        help="how well Confidence= in MISC, which parse --confidence writes, agrees with the share of heads that are "
        "right",
    )
    parser.add_argument(
        "--agreement",
        action="store_true",
        help="for the files of two annotators: agreement and Cohen's kappa of heads, labels and tags, and by label; "
        "sentences are matched by sent_id, and those that one has left out are named",
    )
    parser.add_argument("--plot", metavar="OUT", help="draw the calibration to OUT (.svg, or .png with the extra png)")
    parser.add_argument(
        "--bootstrap", type=int, default=1000, metavar="N", help="samples for the intervals (default 1000; 0: none)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="seed of the samples (default 1)")
    add_max_sentence(parser)
    parser.set_defaults(on_error="stop")  # a sentence left out of one file would shift the others


def run(args: argparse.Namespace) -> int:
    """Score, and print tables or JSON."""
    from tanglewood.errors import WordsDifferError
    from tanglewood.measure.sources import Source
    from tanglewood.treebank.conllu import read

    if [args.gold, *args.systems].count("-") > 1:
        raise ConfigError("standard input (-) can be one of the files only")
    if args.bootstrap < 0:
        raise ConfigError(f"--bootstrap {args.bootstrap}: the number of samples should be 1 or more, or 0 for none")
    if args.plot is not None:
        from tanglewood.show.reliability import check_target

        if not args.calibration:
            raise ConfigError("--plot draws the calibration, so it needs --calibration too")
        check_target(args.plot)  # fail now, not after the work
    reading = Reading(args)
    if args.agreement:
        from tanglewood.cli.agreement import run_agreement

        return run_agreement(args, reading)
    gold = Source(args.gold, lambda file: _not_empty(reading.sentences(str(file)), str(file)))
    read_system = partial(read, max_sentence=reading.max_sentence)
    systems = [Source(file, lambda file: _not_empty(read_system(file), str(file))) for file in args.systems]
    reason = "with --align they may differ"
    if not args.align:
        try:
            _run_same_words(args, gold, systems)
            return 0
        except WordsDifferError as error:
            reason = str(error)
    if args.by or args.no_punctuation:
        option = "--by" if args.by else "--no-punctuation"
        raise ConfigError(f"{option} needs the same words in gold and system: {reason}")
    _run_aligned(args, gold, systems)
    return 0


def _run_same_words(args: argparse.Namespace, gold: Source, systems: Sequence[Source]) -> None:
    from tanglewood.measure.calibration import Calibration
    from tanglewood.measure.scores import Scores, aligned, compare
    from tanglewood.measure.significance import Pairs, bootstrap
    from tanglewood.measure.tables import Table

    tables = TABLES if "all" in args.by else tuple(name for name in TABLES if name in args.by)
    results = [(Scores(), [Table(by) for by in tables]) for _ in systems]
    calibrations = [Calibration() for _ in systems if args.calibration]
    pairs = Pairs(len(systems))
    for sentence, outputs in aligned(gold, systems):
        comparisons = [compare(sentence, output, punctuation=not args.no_punctuation) for output in outputs]
        for comparison, (scores, parts) in zip(comparisons, results, strict=True):
            scores.add(comparison)
            for table in parts:
                table.add(comparison)
        for comparison, calibration in zip(comparisons, calibrations, strict=False):
            calibration.add(comparison)
        pairs.add(comparisons)
    if not results[0][0].words:
        raise FormatError("every word is punctuation, so there is nothing to score", file=args.gold)
    intervals = [bootstrap(scores, samples=args.bootstrap, seed=args.seed) for scores, _ in results if args.bootstrap]
    _plot(args, calibrations)
    if args.json:
        print_json(_with_calibrations(_json(args.systems, results, intervals, pairs.tests()), calibrations))
    else:
        _print(args, results, intervals, pairs.tests())
        _print_calibrations(_names(args.systems), calibrations)


def _run_aligned(args: argparse.Namespace, gold: Source, systems: Sequence[Source]) -> None:
    from tanglewood.measure.aligned_scores import score_aligned
    from tanglewood.measure.alignment import Side
    from tanglewood.measure.calibration import Calibration

    side = Side(gold)
    results = []
    calibrations = [Calibration() for _ in systems if args.calibration]
    for number, system in enumerate(systems):
        other = Side(system)
        results.append(score_aligned(side, other))
        if calibrations:
            calibrations[number].add_aligned(side, other)
    _plot(args, calibrations)
    if args.json:
        rows = zip(args.systems, results, strict=True)
        print_json(_with_calibrations([{"file": file, **scores.as_dict()} for file, scores in rows], calibrations))
    else:
        _print_aligned(_names(args.systems), results, differ=not args.align)
        _print_calibrations(_names(args.systems), calibrations)


def _not_empty(sentences: Iterator[Sentence], file: str) -> Iterator[Sentence]:
    """Yield the sentences of a file; a file without any is an error."""
    found = False
    for sentence in sentences:
        found = True
        yield sentence
    if not found:
        raise FormatError("there are no sentences in it", file=file)


def _names(files: Sequence[str]) -> Sequence[str]:
    """Return the names of the files for tables: without folders, if they are then all different."""
    names = [Path(file).name for file in files]
    return files if len(set(names)) < len(names) else names


Results = list[tuple["Scores", list["Table"]]]
Tests = dict[tuple[int, int], dict[str, "McNemar"]]


def _json(
    files: Sequence[str], results: Results, intervals: Sequence[Intervals], tests: Tests
) -> list[dict[str, object]]:
    """Return one object per system; each is compared with the systems before it."""
    rows = []
    for number, (file, (scores, tables)) in enumerate(zip(files, results, strict=True)):
        row: dict[str, object] = {"file": file, **scores.as_dict()}
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


def _with_calibrations(rows: list[dict[str, object]], calibrations: Sequence[Calibration]) -> list[dict[str, object]]:
    """Return the objects of the systems with their calibrations, if these were asked for."""
    for row, calibration in zip(rows, calibrations, strict=False):
        row["calibration"] = calibration.as_dict()
    return rows


def _plot(args: argparse.Namespace, calibrations: Sequence[Calibration]) -> None:
    if args.plot is not None:
        from tanglewood.show.reliability import save

        save(args.plot, [*zip(_names(args.systems), calibrations, strict=True)])


def _print(args: argparse.Namespace, results: Results, intervals: Sequence[Intervals], tests: Tests) -> None:
    names = _names(args.systems)
    first = results[0][0]
    left_out = ", punctuation left out" if args.no_punctuation else ""
    print(f"{first.words:,} words in {first.sentences:,} sentences{left_out}; ", end="")
    print(f"{first.nonprojective.words:,} non-projective arcs in gold\n")
    data = [scores.as_dict() for scores, _ in results]
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
        for table in results[number][1]:
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


def _print_aligned(names: Sequence[str], results: Sequence[AlignedScores], *, differ: bool) -> None:
    gold = results[0]
    print(f"{gold.words:,} words in {gold.sentences:,} sentences in gold")
    for name, scores in zip(names, results, strict=True):
        words, sentences = scores.metrics["words"], scores.metrics["sentences"]
        print(f"{words.system:,} words in {sentences.system:,} sentences in {name}, {words.right:,} of them aligned")
    print(
        f"\n{'The words differ, so they' if differ else 'Words'} are aligned by characters and scored as in CoNLL 2018:"
    )
    print("labels count without subtypes. Intervals and McNemar's test, which need the same words, are left out.")
    rows = [(title, [scores.metrics[name] for scores in results]) for title, name in ALIGNED]
    rows = [row for row in rows if row[0] != "XPOS" or any(metric.gold for metric in row[1])]
    if len(names) > 1:
        print()
        print_table(["F1", *names], [[title, *(_cell(metric.f1) for metric in metrics)] for title, metrics in rows])
    for number, name in enumerate(names):
        print(f"\n{name}")
        print_table(
            ["score", "precision", "recall", "F1", "aligned accuracy"],
            [[title, *_metric_cells(metrics[number])] for title, metrics in rows],
        )


def _print_calibrations(names: Sequence[str], calibrations: Sequence[Calibration]) -> None:
    """Print the calibration of each system, and then its bins, as far as they have words."""
    if not calibrations:
        return
    print("\nCalibration of heads: expected calibration error (ECE) over bins of confidence; all in percent")
    rows = [*zip(names, calibrations, strict=True)]
    print_table(
        ["system", "words", "ECE", "mean confidence", "UAS"],
        [[name, found.words, *map(_cell, (found.ece, found.mean_confidence, found.uas))] for name, found in rows],
    )
    for name, found in rows:
        print(f"\n{name} by confidence")
        print_table(
            ["from", "to", "words", "right heads", "mean confidence", "UAS"],
            [
                [
                    *(_cell(100 * one.low), _cell(100 * one.high), one.words, one.right),
                    *(_cell(one.mean_confidence), _cell(one.uas)),
                ]
                for one in found.bins
                if one.words
            ],
        )


def _metric_cells(metric: Metric) -> list[str]:
    return [*map(_cell, (metric.precision, metric.recall, metric.f1, metric.aligned_accuracy))]


def _cell(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
