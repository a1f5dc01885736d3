"""Cross-validate: train on all folds but one, parse that one, and score all of them together."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tanglewood.cli.common import (
    Reading,
    add_dask,
    add_json,
    add_processes,
    add_reading,
    check_cluster,
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
  tanglewood crossval treebank.conllu --folds 5 --learner linear --system three-step --json
  tanglewood crossval treebank.conllu -j 2
  tanglewood crossval treebank.conllu --dask tcp://scheduler:8786"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    add_json(parser)
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="number of folds (default 10)")
    add_processes(parser, "do N folds at a time (default 1)")
    add_dask(parser, "the folds")
    add_choices(parser)


def run(args: argparse.Namespace) -> int:
    """Train one parser per fold; the seed decides which sentences go into which fold."""
    use_one_matrix_thread()
    from tanglewood.run.engine import Engine
    from tanglewood.run.processes import checked
    from tanglewood.training.crossval import CrossValidation

    checked(args.processes)
    check_cluster(args)
    config = chosen_config(args)
    reading = Reading(args)
    sentences = [sentence for file in args.files for sentence in reading.sentences(file)]
    validation = CrossValidation(config, sentences, args.folds, Engine(args.processes, args.dask or ""))
    rows: list[dict[str, Any]] = []
    for fold, scores in enumerate(validation.run(), 1):
        rows.append({"fold": fold, **scores.as_dict()})
        print(f"fold {fold}/{args.folds}: LAS {scores.las:.2f}  UAS {scores.uas:.2f}", file=sys.stderr)
    rows.append({"fold": "all", **validation.total.as_dict()})
    if args.json:
        print_json(rows)
    else:
        keys = ["las", "uas", "la", "exact_match", "nonprojective_las", "nonprojective_f1"]
        keys += [config.tag_column] if config.tag_column else []
        print_table(
            ["fold", *keys],
            [[str(row["fold"]), *(f"{row[k]:.2f}" if row[k] is not None else "-" for k in keys)] for row in rows],
        )
    return reading.close()
