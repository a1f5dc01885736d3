"""Cross-validate: train on all folds but one, parse that one, and score all of them together."""

from __future__ import annotations

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
from tanglewood.cli.train import add_choices, chosen_config, tag_column_of

if TYPE_CHECKING:
    import argparse

    from tanglewood.training.config import Config
    from tanglewood.treebank.sentence import Sentence

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
    from tanglewood.measure.scores import Scores, aligned, compare
    from tanglewood.training.folds import deal_out
    from tanglewood.training.loop import Training

    config = chosen_config(args)
    tag_column = tag_column_of(config)
    reading = Reading(args)
    sentences = [sentence for file in args.files for sentence in reading.sentences(file)]
    rows: list[dict[str, Any]] = []
    total = Scores()
    for fold, (places, others) in enumerate(deal_out(sentences, args.folds, config.seed), 1):
        held_out = [sentences[place] for place in places]
        rest = [sentences[place] for place in others]
        words = held_out
        if tag_column:
            rest, words = _with_candidates(rest, held_out, tag_column, config)
        for progress in Training(config, rest).run():
            parser = progress.parser
        scores = Scores()
        for gold, (parsed,) in aligned(held_out, [parser.parse_all(words, beam=config.beam)]):
            comparison = compare(gold, parsed)
            scores.add(comparison)
            total.add(comparison)
        rows.append({"fold": fold, **scores.as_dict()})
        print(f"fold {fold}/{args.folds}: LAS {scores.las:.2f}  UAS {scores.uas:.2f}", file=sys.stderr)
    rows.append({"fold": "all", **total.as_dict()})
    if args.json:
        print_json(rows)
    else:
        keys = ["las", "uas", "la", "exact_match", "nonprojective_las", "nonprojective_f1"]
        keys += [tag_column] if tag_column else []
        print_table(
            ["fold", *keys],
            [[str(row["fold"]), *(f"{row[k]:.2f}" if row[k] is not None else "-" for k in keys)] for row in rows],
        )
    return reading.close()


def _with_candidates(
    rest: list[Sentence], held_out: list[Sentence], column: str, config: Config
) -> tuple[list[Sentence], list[Sentence]]:
    """Return both with what taggers offer for a column; those of a sentence have not seen it."""
    from tanglewood.training.pipeline import TagPlan, prepare_tags, with_tags_of

    plan = TagPlan(seed=config.seed, folds=config.folds, tag_column=column)
    tagger, tagged, _ = prepare_tags(rest, (), plan)
    return tagged, with_tags_of(tagger, held_out, column)
