"""Train a parser on a treebank; the plain command is right for a Universal Dependencies treebank.

With --pipeline the model also learns to split text into sentences and words and to tag them, so that it parses raw
text, and its parser learns from the tags that it will meet there.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    Reading,
    add_processes,
    add_reading,
    add_system_options,
    given_options,
    use_one_matrix_thread,
)
from tanglewood.decoders.searches import SEARCHES
from tanglewood.errors import ConfigError
from tanglewood.learners import LEARNERS
from tanglewood.measure.clock import minutes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from tanglewood.parser import Parser
    from tanglewood.pipeline import Pipeline
    from tanglewood.training.config import Config
    from tanglewood.training.loop import Progress, Training
    from tanglewood.treebank.sentence import Sentence

PIPELINE_LAYERS = 2  # of LSTMs, for parsers of text: 83.5 instead of 83.1 LAS on English-EWT dev with predicted tags
HELP = "train a parser on a treebank"
EXAMPLES = """\
  tanglewood train train.conllu --dev dev.conllu -o model.tw
  tanglewood train --pipeline nl-train.conllu --dev nl-dev.conllu -o nl.tw
  tanglewood train train.conllu --dev dev.conllu -o model.tw --learner linear
  tanglewood train train.conllu --dev dev.conllu -o model.tw --system arc-standard --pseudo-projective head+path
  tanglewood train train.conllu --dev dev.conllu -o arcs.tw --search mst
  tanglewood train train.conllu --dev dev.conllu -o stacked.tw --search mst --guide model.tw
  tanglewood train train.conllu --dev dev.conllu -o model.tw --config my.toml --set epochs=10 --set rate=0.001"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    parser.add_argument(
        "--dev", action="append", default=[], metavar="FILE", help="treebank to choose the best epoch on"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="model file to write, such as model.tw")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on where an interrupted run stopped (MODEL.training is kept until the end)",
    )
    parser.add_argument(
        "--pipeline", action="store_true", help="learn all that leads from raw text to trees: tokens, tags, lemmas too"
    )
    add_processes(parser, "learn N of a pipeline's taggers at a time, and parse the dev set with N threads (default 1)")
    add_choices(parser)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Declare what a training run may choose."""
    parser.add_argument(
        "--system", metavar="NAME", help="transition system (default swap, attardi-alls0s1 with --search; see info)"
    )
    parser.add_argument("--oracle", metavar="NAME", help="its oracle (default: lazy or dynamic if there is such a one)")
    parser.add_argument(
        "--pseudo-projective",
        choices=("head", "path", "head+path"),
        help="train on projectivized trees and move arcs back after parsing",
    )
    root = parser.add_mutually_exclusive_group()
    root.add_argument("--single-root", action="store_const", const=True, help="one word on 0 (default: as in the data)")
    root.add_argument(
        "--several-roots", dest="single_root", action="store_const", const=False, help="any number of them"
    )
    parser.add_argument(
        "--learner",
        choices=tuple(LEARNERS),
        help="network (default), linear, arcs (default with --search), or svm and liblinear (docs/svm.md)",
    )
    parser.add_argument(
        "--search",
        choices=tuple(SEARCHES),
        help="learn a model of arcs (docs/graph.md) with this exact search: "
        + "; ".join(f"{name}: {what}" for name, what in SEARCHES.items()),
    )
    parser.add_argument(
        "--guide", metavar="MODEL", help="model whose trees the arc learner looks at; it becomes part of the new model"
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="times to go through the data")
    parser.add_argument(
        "--beam", type=int, metavar="K", help="beam for parsing dev after each epoch (default 1: greedy)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of all that is random (default 1)")
    parser.add_argument(
        "--config", metavar="FILE", help="TOML file with any of these choices and the learner's settings"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one of them")
    add_system_options(parser)


def chosen_config(args: argparse.Namespace) -> Config:
    """Return the choices of the configuration file with those of the command line over them."""
    from tanglewood.training.config import read_config

    chosen = {
        key: getattr(args, key)
        for key in (
            *("system", "oracle", "pseudo_projective", "learner", "search", "guide"),
            *("beam", "seed", "single_root"),
        )
        if getattr(args, key) is not None
    }
    config = read_config(args.config, args.set)
    config = replace(config, **chosen, options={**config.options, **given_options(args)})
    if args.epochs is not None:
        config = replace(config, settings={**config.settings, "epochs": args.epochs})
    return config


def tag_column_of(config: Config) -> str:
    """Return the column whose tags the system gives, choosing from what a tagger offers; mostly there is none."""
    from tanglewood.systems import make_system

    complete = config.completed()
    return make_system(complete.system, **complete.options).tag_column


def run(args: argparse.Namespace) -> int:
    """Train, say how it goes after each epoch, and keep the best."""
    use_one_matrix_thread()
    from tanglewood.training.loop import Training

    config = chosen_config(args)
    if args.processes < 1:
        raise ConfigError(f"the number of processes must be 1 or more, not {args.processes}")
    if not Path(args.output).resolve().parent.is_dir():
        raise ConfigError(f"{args.output}: there is no such folder to write the model to")
    reading = Reading(args)
    train = [sentence for file in args.files for sentence in reading.sentences(file)]
    dev = [sentence for file in args.dev for sentence in reading.sentences(file)]
    finish: Callable[[Parser], Parser | Pipeline] = lambda parser: parser  # noqa: E731
    parts = Path(f"{args.output}.parts")
    tag_column = tag_column_of(config)
    if args.pipeline or tag_column:  # a parser that gives tags chooses from what a tagger offers
        finish, train, dev = _prepare(args, config, train, dev, parts, tag_column)
        if config.completed().learner == "network":  # where tags may be wrong, the words around must say more
            config = replace(config, settings={"layers": PIPELINE_LAYERS, **config.settings})
    training = Training(config, train, dev, lambda text: print(text, file=sys.stderr))
    task, config = training.task, training.config
    way = f"{config.search} search" if config.search else f"{task.system.name}, {training.oracle_name} oracle"
    print(
        f"{len(train):,} sentences, {sum(map(len, train)):,} words; {way}, {config.learner} learner, "
        f"{len(task.labels)} labels{'' if dev else '; no dev set: the last epoch is kept'}",
        file=sys.stderr,
    )
    for warning in training.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    checkpoint = Path(f"{args.output}.training")
    if args.resume and checkpoint.exists():
        training.resume(checkpoint)
        print(f"going on after epoch {training.epoch}", file=sys.stderr)
    try:
        for progress in training.run(threads=args.processes, tell=_teller(training)):
            _report(progress, tag_column)
            try:
                training.save_checkpoint(checkpoint)
            except OSError as error:  # such as a full disk: what was learnt is still in memory
                print(f"warning: {checkpoint}: {error.strerror or error}; training goes on without it", file=sys.stderr)
    except KeyboardInterrupt:
        if training.best is None:
            raise
        resume = "; --resume goes on" if checkpoint.exists() else ""
        print(f"\ninterrupted: the best parser so far is kept{resume}", file=sys.stderr)
        _save(finish(training.best[1]), args.output)
        return 130
    if training.best is None:
        raise ConfigError("nothing was learnt")
    parser = training.best[1]
    _save(finish(parser), args.output)
    checkpoint.unlink(missing_ok=True)
    if args.pipeline or tag_column:
        rmtree(parts)
    if dev:
        _report_crossing(parser, dev, args.processes)
    size = Path(args.output).stat().st_size / 1e6
    print(f"{args.output}: {size:.1f} MB, epoch {parser.description['epoch']}", file=sys.stderr)
    return reading.close()


def _prepare(
    args: argparse.Namespace, config: Config, train: list[Sentence], dev: list[Sentence], parts: Path, tag_column: str
) -> tuple[Callable[[Parser], Pipeline], list[Sentence], list[Sentence]]:
    """Learn what comes before the parser; return how to make a pipeline of it, and the data for it with other tags."""
    from tanglewood.pipeline import Pipeline
    from tanglewood.training.pipeline import prepare

    if not args.resume and parts.exists():
        rmtree(parts)
    found = prepare(
        train,
        dev,
        seed=config.seed,
        folds=config.folds,
        processes=args.processes,
        tag_column=tag_column,
        folder=parts,
        report=lambda text: print(text, file=sys.stderr),
    )
    return lambda parser: Pipeline(parser, found.tagger, found.tokenizer), found.train, found.dev


def _save(model: Parser | Pipeline, output: str) -> None:
    """Write the model; if that fails, write it to the temporary folder and say so in the error."""
    try:
        model.save(output)
    except OSError as error:
        spare = Path(mkdtemp(prefix="tanglewood-")) / Path(output).name
        model.save(spare)
        raise OSError(error.errno, f"{error.strerror or error}; the model is in {spare} instead", output) from None


def _teller(training: Training) -> Callable[[float], None] | None:
    """Return what says on a terminal how far an epoch is; the line is written over by the next one."""
    if not sys.stderr.isatty():
        return None
    began = time.monotonic()

    def tell(share: float) -> None:
        left = (time.monotonic() - began) * (1 - share) / share
        text = f"epoch {training.epoch + 1}: {share:.0%}, {minutes(left)} left"
        print(f"\r{text}\x1b[K\r", end="", file=sys.stderr, flush=True)

    return tell


def _report(progress: Progress, tag_column: str) -> None:
    text = f"epoch {progress.epoch:2}/{progress.epochs}  loss {progress.loss:.3f}"
    if progress.scores is not None:
        text += (
            f"  dev LAS {progress.scores.las:.2f}  UAS {progress.scores.uas:.2f}"
            + (f"  {tag_column.upper()} {getattr(progress.scores, tag_column):.2f}" if tag_column else "")
            + ("  *" if progress.is_best else "   ")
        )
    left = progress.seconds * (progress.epochs - progress.epoch)
    print(f"{text}  {progress.seconds:.1f} s, {minutes(left)} left", file=sys.stderr)


def _report_crossing(parser: Parser, dev: list[Sentence], threads: int) -> None:
    from tanglewood.measure.scores import evaluate

    found = evaluate(dev, parser.parse_all(dev, threads=threads)).as_dict()
    gold, predicted = found["nonprojective_gold"], found["nonprojective_predicted"]
    precision, recall = (_percent(found[f"nonprojective_{score}"]) for score in ("precision", "recall"))
    print(
        f"crossing arcs on dev: {gold} in the data, {predicted} predicted, precision {precision}, recall {recall}",
        file=sys.stderr,
    )


def _percent(value: object) -> str:
    return f"{value:.1f}%" if isinstance(value, float) else "-"
