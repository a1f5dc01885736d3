"""Train a parser on a treebank; the defaults suit a Universal Dependencies treebank.

With --pipeline the model also learns to split text into sentences and words and to tag them, so that it parses raw
text, and its parser learns from the tags that it will meet there.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    Reading,
    add_dask,
    add_processes,
    add_reading,
    add_restart,
    add_system_options,
    check_cluster,
    given_options,
    use_one_matrix_thread,
)
from tanglewood.cli.guard import stop_of
from tanglewood.decoders import SEARCHES, search_help
from tanglewood.errors import one_line
from tanglewood.learners import LEARNERS
from tanglewood.measure.clock import minutes

if TYPE_CHECKING:
    import argparse

    from tanglewood.training.config import Config

HELP = "train a parser on a treebank"
EXAMPLES = """\
  tanglewood train train.conllu --dev dev.conllu -o model.tw
  tanglewood train --pipeline nl-train.conllu --dev nl-dev.conllu -o nl.tw
  tanglewood train train.conllu --dev dev.conllu -o model.tw --learner linear
  tanglewood train train.conllu --dev dev.conllu -o model.tw --system arc-standard --pseudo-projective head+path
  tanglewood train train.conllu --dev dev.conllu -o arcs.tw --search mst
  tanglewood train train.conllu --dev dev.conllu -o stacked.tw --search mst --stacked model.tw
  tanglewood train train.conllu --dev dev.conllu -o model.tw --distil 5 -j 2
  tanglewood train train.conllu --dev dev.conllu -o model.tw --distil 5 --dask tcp://scheduler:8786
  tanglewood train train.conllu --dev dev.conllu -o model.tw --distil-from a.tw b.tw --unlabelled more.conllu
  tanglewood train --pipeline nl-train.conllu --dev nl-dev.conllu -o nl.tw --vectors cc.nl.300.vec.gz
  tanglewood train --pipeline la-train.conllu --dev la-dev.conllu -o la.tw --pretrained latin.pre.tw
  tanglewood train --from model.tw letters.conllu --dev dev.conllu -o letters.tw --epochs 5
  tanglewood train --pipeline train.conllu --dev dev.conllu -o nl.tw --distil 5 --unlabelled text.txt.xz
  tanglewood train --pipeline train.conllu --dev dev.conllu -o en.tw --silver parsed.conllu.xz
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
        help="continue where an interrupted run stopped (MODEL.training and MODEL.parts are kept until the end)",
    )
    add_restart(parser)
    parser.add_argument(
        "--pipeline", action="store_true", help="learn everything from raw text to trees: tokens, tags and lemmas too"
    )
    add_processes(
        parser,
        "learn N of a pipeline's taggers, or N teachers, at a time, and parse the dev set with N threads (default 1)",
    )
    add_dask(parser, "the training of teachers for --distil")
    add_choices(parser)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Declare the choices of a training run."""
    parser.add_argument(
        "--system", metavar="NAME", help="transition system (default swap, attardi-alls0s1 with --search; see info)"
    )
    parser.add_argument("--oracle", metavar="NAME", help="its oracle (default: the one that docs/training.md names)")
    parser.add_argument(
        "--pseudo-projective",
        choices=("head", "path", "head+path"),
        help="train on projectivized trees and move arcs back after parsing",
    )
    root = parser.add_mutually_exclusive_group()
    root.add_argument(
        "--single-root", action="store_const", const=True, help="one word depends on 0 (default: as in the data)"
    )
    root.add_argument(
        "--several-roots",
        dest="single_root",
        action="store_const",
        const=False,
        help="any number of words may depend on 0",
    )
    parser.add_argument(
        "--learner",
        choices=tuple(LEARNERS),
        help="network (default), linear, arcs (default with --search), triples (docs/exact-moves.md), or svm and "
        "liblinear (docs/svm.md)",
    )
    parser.add_argument(
        "--search",
        choices=tuple(SEARCHES),
        help="train a graph-based model (docs/graph.md) with this exact search: " + search_help(over_arcs=True),
    )
    parser.add_argument(
        *("--stacked", "--guide"),
        dest="stacked",
        metavar="MODEL",
        help="model whose trees a graph-based learner looks at; it becomes part of the new one (old name: --guide)",
    )
    parser.add_argument(
        "--distil",
        type=int,
        metavar="N",
        help="train N teachers first, then one parser that learns from all of them: 5 is a good number (default: "
        "none, but 3 with --pipeline and a treebank of 10,000 to 60,000 words)",
    )
    parser.add_argument(
        "--distil-from", nargs="+", metavar="MODEL", help="learn from these models instead of training teachers"
    )
    parser.add_argument(
        "--unlabelled",
        action="append",
        metavar="FILE",
        help="with teachers: learn from these sentences too, which need no trees; with --pipeline, raw text "
        "(may be given several times)",
    )
    parser.add_argument(
        "--silver",
        action="append",
        metavar="FILE",
        help="learn from these sentences too, which another parser has annotated, but not in the last epochs (may be "
        "given several times)",
    )
    parser.add_argument(
        "--vectors",
        metavar="FILE",
        help="word vectors for the network, which stay as they are: word2vec, fastText or floret (docs/training.md)",
    )
    parser.add_argument(
        "--vectors-rows", type=int, metavar="N", help="keep at most N vectors (default 50,000; the data's words first)"
    )
    parser.add_argument(
        "--vectors-width", type=int, metavar="N", help="reduce each to N numbers (default 64; 0: as in the file)"
    )
    parser.add_argument(
        "--from",
        dest="begin_from",
        metavar="MODEL",
        help="go on with a network that was trained before: it keeps what it knows and learns the new data's words and "
        "labels, too; of a pipeline, tokenizer and tagger stay as they are",
    )
    parser.add_argument(
        "--pretrained", metavar="FILE", help="begin with an encoder that was learnt from text by tanglewood pretrain"
    )
    parser.add_argument(
        "--contextual",
        nargs="+",
        metavar="FILE",
        help="vectors of a large encoder, from tanglewood embed: files that have all sentences; or the encoder itself",
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="number of passes over the data")
    parser.add_argument("--beam", type=int, metavar="K", help="beam for parsing dev after each epoch (default 1: none)")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of everything random (default 1)")
    parser.add_argument(
        "--config", metavar="FILE", help="TOML file with any of these choices and the learner's settings"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set one of these, overriding --config; templates=FILE: features of your own for linear, arcs and svm",
    )
    add_system_options(parser)


def chosen_config(args: argparse.Namespace) -> Config:
    """Return the choices of the configuration file, overridden by those of the command line."""
    from tanglewood.training.config import read_config

    chosen = {
        key: getattr(args, key)
        for key in (
            *("system", "oracle", "pseudo_projective", "learner", "search", "stacked"),
            *("beam", "seed", "single_root", "distil", "distil_from", "unlabelled", "silver"),
            *("vectors", "vectors_rows", "vectors_width", "pretrained", "contextual", "begin_from"),
        )
        if getattr(args, key) is not None
    }
    config = read_config(args.config, args.set)
    config = replace(config, **chosen, options={**config.options, **given_options(args)})
    if args.epochs is not None:
        config = replace(config, settings={**config.settings, "epochs": args.epochs})
    return config


def run(args: argparse.Namespace) -> int:
    """Train, report after each epoch, and keep the best model."""
    use_one_matrix_thread()
    from tanglewood.run.processes import checked
    from tanglewood.training.continuing import continued
    from tanglewood.training.session import Session, check_left, check_output
    from tanglewood.training.silver import is_text

    config = continued(chosen_config(args))
    config.check()
    checked(args.processes)
    check_cluster(args, wanted=bool(config.distil), what="--distil")
    check_output(args.output)
    check_left(args.output, resume=args.resume, restart=args.restart)
    reading = Reading(args)
    session = Session(
        config,
        [sentence for file in args.files for sentence in reading.sentences(file)],
        [sentence for file in args.dev for sentence in reading.sentences(file)],
        pipeline=args.pipeline,
        unlabelled=[
            sentence
            for file in config.unlabelled
            if not is_text(file)
            for sentence in reading.sentences(file, trees=False)
        ],
        silver=(sentence for file in config.silver for sentence in reading.sentences(file)),
        output=args.output,
        resume=args.resume,
        restart=args.restart,
        processes=args.processes,
        dask=args.dask or "",
        report=lambda event: print(event, file=sys.stderr),
        warn=lambda text: print(f"warning: {one_line(text)}", file=sys.stderr),
        tell=_tell if sys.stderr.isatty() else None,
    )
    try:
        model = session.run()
    except KeyboardInterrupt as error:
        status, told = stop_of(error)
        if not session.rescue():
            if not session.has_parts:
                raise
            print(f"\n{told}: what was finished is kept; --resume goes on", file=sys.stderr)
            return status
        resume = "; --resume goes on" if session.can_resume else ""
        print(f"\n{told}: the best parser so far is kept{resume}", file=sys.stderr)
        return status
    if session.dev:
        print(session.crossing_arcs(), file=sys.stderr)
    size = Path(args.output).stat().st_size / 1e6
    print(f"{one_line(args.output)}: {size:.1f} MB, epoch {model.description['epoch']}", file=sys.stderr)
    return reading.close()


def _tell(epoch: int, share: float, seconds_left: float) -> None:
    """Say how much of an epoch is done, in a line that the next one overwrites."""
    print(f"\repoch {epoch}: {share:.0%}, {minutes(seconds_left)} left\x1b[K\r", end="", file=sys.stderr, flush=True)
