"""Run the experiments of a paper on any treebank: its tables and figures, beside the paper's own numbers.

Each paper writes a folder: results.json (every number), report.md, figures, the options, and the parsed sentences. If a
run is interrupted, the same command continues where it stopped. The results of another run are overwritten only with
--restart.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import HelpFormatter, add_dask, add_processes, check_cluster, use_one_matrix_thread
from tanglewood.errors import ConfigError
from tanglewood.learners import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tanglewood.experiments.running import Learning

HELP = "the experiments of the papers on any treebank"
MOVES = tuple(name for name, entry in LEARNERS.items() if entry.scores_moves and entry.every_system)
EXAMPLES = """\
  tanglewood reproduce nivre2009 --treebank Danish-CDT1
  tanglewood reproduce nivre2007 --treebank Dutch-AlpinoNative --learner network
  tanglewood reproduce shi2018 */train.conllu -o coverage
  tanglewood reproduce lacroix2014 --treebank French-Sequoia --gold-tags
  tanglewood reproduce systems --treebank Hungarian-Szeged -j 2
  tanglewood reproduce summary nivre2009-*          what was found, in one table"""
PAPERS = {  # paper -> help, description, example
    "nivre2009": (
        "SWAP, projective and pseudo-projective parsing; transitions by length",
        "Table 1 and Figure 5 of Nivre (2009): Su (swap, eager and lazy oracle), Sp (arc-standard) and Spp (with\n"
        "pseudo-projective labels), same learner: labelled attachment, non-projective arcs, exact match, McNemar's\n"
        "tests; transitions of oracle and parser by sentence length, with fitted lines. For the paper's five\n"
        "languages also Malt-06, MST-06 and MST guided by Malt-06.",
        "  tanglewood reproduce nivre2009 --treebank Danish-CDT1 --learner svm -o danish",
    ),
    "nivre2007": (
        "Covington's parser with bounded degree: accuracy and time",
        "Tables 1 to 4 of Nivre (2007): covington with d = unbounded, 2, 1 and 0 on a fifth of the training data:\n"
        "unlabelled attachment, error reduction against two projective baselines, parsing time; then all training\n"
        "data and the test set, beside spanning-tree parsers and a pseudo-projective one.",
        "  tanglewood reproduce nivre2007 --treebank Dutch-AlpinoNative -o dutch",
    ),
    "shi2018": (
        "coverage of the Attardi family, oracle checked by chart",
        "Figure 1 and footnote 7 of Shi & Lee (2018): which non-projective trees the systems of the Attardi family\n"
        "cover, at degree 2 and 3 and with the leftward inventory; static oracle against chart on short sentences.",
        "  tanglewood reproduce shi2018 */*.conllu -o coverage",
    ),
    "lacroix2014": (
        "the three-step system by folds, arcs by direction",
        "Table 7 of Lacroix & Béchet (2014): covington, pseudo-projective arc-eager and three-step on folds of the\n"
        "whole treebank: label accuracy, unlabelled and labelled attachment of all, projective and non-projective\n"
        "arcs, by direction too. Test folds are tagged by a tagger that was trained on the other folds.",
        "  tanglewood reproduce lacroix2014 --treebank French-Sequoia -o french --gold-tags",
    ),
    "systems": (
        "the papers' parsers, those they cite and later ones in one table, with commands",
        "The parsers of the papers' tables, the transition systems that they cite for crossing arcs and later ones,\n"
        "each trained, parsed and scored once: a table with a link to its code and the command that trains it.\n"
        "Transition systems have the linear learner, Malt-06 the svm, MST and exact inference the arcs learner; joint\n"
        "tagging is compared with a tagger and a parser.",
        "  tanglewood reproduce systems --treebank Hungarian-Szeged -o systems",
    ),
    "summary": (
        "what was found, from the folders of finished runs",
        "For each paper a table in Markdown with a row for each claim: how many runs found it, or not, and which.",
        "  tanglewood reproduce summary nivre2009-* nivre2007-* > summary.md",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the papers and their options."""
    papers = parser.add_subparsers(dest="paper", metavar="PAPER", required=True)
    for name, (help_, description, example) in PAPERS.items():
        sub = papers.add_parser(
            name,
            help=help_,
            description=description,
            epilog=f"example:\n{example}",
            formatter_class=HelpFormatter,
        )
        if name == "summary":
            sub.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folder of a finished run")
            sub.add_argument("--links", action="store_true", help="make the name of each run a link to FOLDER.md")
            continue
        if name == "shi2018":
            sub.add_argument("files", nargs="+", type=Path, metavar="FILE", help="treebank, CoNLL-U or CoNLL-X")
            sub.add_argument(
                "--longest",
                type=int,
                default=10,
                metavar="N",
                help="longest sentence, in words, to check by chart (default 10)",
            )
        else:
            _add_learning(sub, ("linear",) if name == "systems" else MOVES)
        default = name if name == "shi2018" else f"{name}-TREEBANK"
        sub.add_argument("-o", "--output", type=Path, metavar="FOLDER", help=f"folder to write (default {default})")
        add_processes(sub, "make N parts of the experiment at a time (default 1)")
        add_dask(sub, "the parts of the experiment")
        sub.add_argument("--restart", action="store_true", help="start over: remove the results of an earlier run")
        if name == "nivre2009":
            sub.add_argument(
                "--graph",
                action=argparse.BooleanOptionalAction,
                help="add Malt-06, spanning-tree parsers of first and second order (MST-06), and one guided by Malt-06 "
                "(MSTMalt); by default for the paper's five languages",
            )
            sub.add_argument(
                "--language",
                default="",
                metavar="NAME",
                help="language whose settings of CoNLL-X the svm has, where known (default: that of the treebank's "
                "name; none: those of no language)",
            )
        if name == "nivre2007":
            sub.add_argument(
                "--baseline",
                choices=("links", "lifted"),
                default="links",
                help="what the projective parser has learnt from that claims are judged against: projective links "
                "only, as in the paper, or lifted trees (default links; both are in the report)",
            )
        if name == "lacroix2014":
            sub.add_argument("--folds", type=int, default=10, metavar="N", help="number of folds (default 10)")
            sub.add_argument("--gold-tags", action="store_true", help="parse with gold tags: no tagger is trained")
            sub.add_argument(
                "--tagger-epochs",
                type=int,
                default=0,
                metavar="N",
                help="epochs of the tagger (default: by the size of the data)",
            )
            sub.add_argument(
                "--anchors",
                default="",
                metavar="COLUMN",
                help="add three-step with anchors from the files: PHEAD, the ninth column of CoNLL-X, or a key of MISC",
            )


def _add_learning(parser: argparse.ArgumentParser, learners: tuple[str, ...]) -> None:
    parser.add_argument(
        "--treebank",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder with train, dev and test as .conllu or .conll; dev may be missing",
    )
    parser.add_argument(
        "--learner", choices=learners, default="linear", help="learner of all transition-based parsers (default linear)"
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="number of passes over the data")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of everything random (default 1)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the learner, as in train"
    )


def run(args: argparse.Namespace) -> int:
    """Run the experiment and say where its results are."""
    use_one_matrix_thread()
    if args.paper == "summary":
        from tanglewood.experiments.summary import summarize

        print(summarize(args.folders, links=args.links), end="")
        return 0
    from tanglewood.experiments import experiment
    from tanglewood.experiments.running import Treebank, clear
    from tanglewood.experiments.sharing import Again, Sharing
    from tanglewood.run.engine import Engine
    from tanglewood.run.processes import checked

    module = experiment(args.paper)
    engine = Engine(checked(args.processes), args.dask or "")
    check_cluster(args)
    command = _command(args)
    say = _teller()
    try:
        if args.paper == "shi2018":
            if args.longest < 1:
                raise ConfigError(f"--longest {args.longest}: it should be 1 or more")
            folder = args.output or Path(args.paper)
            if args.restart:
                clear(folder)
            files = [file.absolute() for file in args.files]
            chosen = {"longest": args.longest}
            again = Again(args.paper, folder.absolute(), command, files=files, more=chosen)
            module.run(args.files, folder, **chosen, command=command, say=say, sharing=Sharing(engine, again))
            return 0
        treebank = Treebank.read(args.treebank, ("train", "test"))
        learning = _learning(args)
        folder = args.output or Path(f"{args.paper}-{treebank.name}")
        if args.restart:
            clear(folder)
        keys = ("graph", "language", "baseline", "folds", "gold_tags", "tagger_epochs", "anchors")
        more = {key: getattr(args, key) for key in keys if key in args}
        again = Again(args.paper, folder.absolute(), command, args.treebank.absolute(), (), learning, more)
        module.run(treebank, folder, learning, **more, command=command, say=say, sharing=Sharing(engine, again))
    except KeyboardInterrupt:
        print("\nwhat is finished is kept: the same command goes on from there", file=sys.stderr)
        raise
    return 0


def _learning(args: argparse.Namespace) -> Learning:
    from tanglewood.experiments.running import Learning
    from tanglewood.training.config import Config, read_config

    config = read_config(None, args.set)
    settings = dict(config.settings)
    if Config(settings=settings) != config:
        raise ConfigError("--set is for settings of the learner here; the rest is fixed by the paper")
    if args.epochs is not None:
        settings["epochs"] = args.epochs
    Config(learner=args.learner, settings=settings, seed=args.seed).learner_options()  # raises if one is unknown
    return Learning(args.learner, settings, args.seed)


def _command(args: argparse.Namespace) -> str:
    """Return the command as it could be given on any machine: files and folders by their names only."""
    words = ["tanglewood", "reproduce", args.paper]
    if args.paper == "shi2018":
        words += ["FILE..." if len(args.files) > 3 else " ".join(file.name for file in args.files)]
        words += ["--longest", str(args.longest)]
        return " ".join(words)
    words += ["--treebank", args.treebank.resolve().name, "--learner", args.learner, "--seed", str(args.seed)]
    words += [] if args.epochs is None else ["--epochs", str(args.epochs)]
    words += [word for item in args.set for word in ("--set", item)]
    if args.paper == "nivre2009":
        words += [] if args.graph is None else ["--graph" if args.graph else "--no-graph"]
        words += ["--language", args.language] if args.language else []
    if args.paper == "nivre2007":
        words += ["--baseline", args.baseline]
    if args.paper == "lacroix2014":
        words += ["--folds", str(args.folds)]
        words += ["--gold-tags"] if args.gold_tags else []
        words += ["--tagger-epochs", str(args.tagger_epochs)] if args.tagger_epochs else []
        words += ["--anchors", args.anchors] if args.anchors else []
    return shlex.join(words)


def _teller() -> Callable[[str, bool], None]:
    """Return a function that reports progress: in lines that stay and, on a terminal, in one that changes."""
    terminal = sys.stderr.isatty()

    def say(text: str, stays: bool) -> None:
        if terminal:
            print(f"\r{text}\x1b[K", end="\n" if stays else "", file=sys.stderr, flush=True)
        elif stays:
            print(text, file=sys.stderr, flush=True)

    return say
