"""Cross-validate: train on all folds but one, parse that one, and score all of them together."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

from tanglewood.cli.common import (
    Reading,
    add_json,
    add_reading,
    print_json,
    print_table,
    use_one_matrix_thread,
)
from tanglewood.cli.train import add_choices, chosen_config

if TYPE_CHECKING:
    import argparse

HELP = "train and score on folds of a treebank"
EXAMPLES = """\
  tanglewood crossval treebank.conllu --folds 10
  tanglewood crossval treebank.conllu --folds 5 --learner linear --system three-step --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    add_json(parser)
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="number of folds (default 10)")
    add_choices(parser)


def run(args: argparse.Namespace) -> int:
    """Train as many parsers as there are folds; sentences are dealt out at random, by the seed."""
    use_one_matrix_thread()
    from tanglewood.errors import ConfigError
    from tanglewood.evaluate.scores import Scores, aligned, compare
    from tanglewood.training.loop import Training

    config = chosen_config(args)
    reading = Reading(args)
    sentences = [sentence for file in args.files for sentence in reading.sentences(file)]
    if not 2 <= args.folds <= len(sentences):
        raise ConfigError(
            f"{args.folds} folds of {len(sentences)} sentences: there must be 2 or more, none of them empty"
        )
    random.Random(config.seed).shuffle(sentences)
    rows: list[dict[str, Any]] = []
    total = Scores()
    for fold in range(args.folds):
        held_out = sentences[fold :: args.folds]
        rest = [sentence for i, sentence in enumerate(sentences) if i % args.folds != fold]
        for progress in Training(config, rest).run():
            parser = progress.parser
        scores = Scores()
        for gold, (parsed,) in aligned(held_out, [parser.parse_all(held_out, beam=config.beam)]):
            comparison = compare(gold, parsed)
            scores.add(comparison)
            total.add(comparison)
        rows.append({"fold": fold + 1, **scores.as_dict()})
        print(f"fold {fold + 1}/{args.folds}: LAS {scores.las:.2f}  UAS {scores.uas:.2f}", file=sys.stderr)
    rows.append({"fold": "all", **total.as_dict()})
    if args.json:
        print_json(rows)
    else:
        keys = ("las", "uas", "la", "exact_match", "nonprojective_las", "nonprojective_f1")
        print_table(
            ["fold", *keys],
            [[str(row["fold"]), *(f"{row[k]:.2f}" if row[k] is not None else "-" for k in keys)] for row in rows],
        )
    return reading.close()
