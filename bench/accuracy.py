"""Accuracy and speed of the plain commands on any number of treebanks: the tables of docs/training.md.

    python bench/accuracy.py TREEBANK_DIR... [--learner network|linear] [--searches "vote; vote, beam 8"]
                             [--distil 5] [--name NAME --train "OPTIONS"] [--seeds 1,2,3] [--part test]

Each folder holds train.conllu, dev.conllu and test.conllu. Every treebank is trained once a seed with all defaults, but
for --learner, --distil and the OPTIONS of train, with which models are kept under NAME; the table has the mean over the
seeds, and the smallest and largest of them behind it. Models and scores are kept in --work DIR: a run that was stopped
goes on where it was, and what is finished is not done again. Crossing arcs are the non-projective ones, without labels.
Words a second are of CPU time, start-up left out, the best of --rounds; seconds of training are CPU time of all
processes, teachers included.
"""

import argparse
import json
import resource
import shlex
import sys
import tempfile
from pathlib import Path

from tanglewood import read
from tanglewood.cli import main as tanglewood
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.measure.scores import evaluate
from timing import SEARCHES, least_cpu, print_markdown, searches_named, spread

SCORES = {  # and how many decimals they have
    "las": ("LAS", 2),
    "uas": ("UAS", 2),
    "exact_match": ("exact match", 2),
    "nonprojective_precision": ("crossing P", 1),
    "nonprojective_recall": ("R", 1),
    "nonprojective_f1": ("F1", 1),
    "speed": ("words/s", 0),
    "training": ("train CPU s", 0),
}


def run(*arguments: object) -> None:
    """Run a command of tanglewood; stop with its status if it fails."""
    status = tanglewood([str(argument) for argument in arguments])
    if status:
        sys.exit(status)


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def model_of(treebank: Path, seed: int, args: argparse.Namespace) -> Path:
    """The model of one treebank and seed, trained if it is not kept; the CPU time that took lies beside it."""
    folder = args.work / (args.name or (f"{args.learner}-distil{args.distil}" if args.distil else args.learner))
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"{treebank.resolve().name}.{seed}.tw"
    if not model.exists() or Path(f"{model}.training").exists():
        print(f"training {model.stem}", file=sys.stderr)
        resumed = any(Path(f"{model}.{end}").exists() for end in ("training", "parts"))
        before = cpu_seconds()
        train, dev = treebank / "train.conllu", treebank / "dev.conllu"
        distil = ["--distil", args.distil] if args.distil else []
        options = ["--learner", args.learner, "--seed", seed, "-j", args.processes, *distil, *shlex.split(args.train)]
        run("train", train, "--dev", dev, *options, "-o", model, "--resume")
        if not resumed:  # otherwise what was spent before is not known
            model.with_suffix(".seconds").write_text(str(cpu_seconds() - before))
    return model


def scores_of(treebank: Path, seed: int, search: str, args: argparse.Namespace) -> dict[str, float | None]:
    """Scores of one treebank, seed and search; whatever they need and is not kept is made."""
    model = model_of(treebank, seed, args)
    kept = model.with_suffix(f".{args.part}.{search.replace(', ', '-').replace(' ', '')}.json")
    if not kept.exists():
        gold = treebank / f"{args.part}.conllu"
        parsed = kept.with_suffix(".conllu")
        run("parse", "-m", model, gold, *SEARCHES[search][0], "-o", parsed)
        found = evaluate(read(gold), read(parsed)).as_dict()
        kept.write_text(json.dumps({**found, "speed": speed_of(model, gold, search, args.rounds)}))
    seconds = model.with_suffix(".seconds")
    return {**json.loads(kept.read_text()), "training": float(seconds.read_text()) if seconds.exists() else None}


def speed_of(model: Path, file: Path, search: str, rounds: int) -> float:
    """Words a CPU second, from sentences to sentences."""
    import tanglewood as tw

    nlp = tw.load(model)
    sentences = list(read(file, trees=False))
    words, seconds = least_cpu(rounds, lambda: sum(map(len, nlp.parse(sentences, **SEARCHES[search][1]))))
    return words / seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--learner", choices=("network", "linear"), default="network")
    parser.add_argument("--distil", type=int, default=0, metavar="N", help="learn from so many teachers (default 0)")
    parser.add_argument("--train", default="", metavar="OPTIONS", help='more options of train: "--pretrained x.pre.tw"')
    parser.add_argument("--name", default="", metavar="NAME", help="of the folder of their models")
    parser.add_argument(
        "--searches", default="vote; vote, beam 8", metavar="A; B; ...", help=f"of {'; '.join(SEARCHES)}"
    )
    parser.add_argument("--seeds", default="1", metavar="N,...", help="default 1")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings, the best counts (default 3)")
    parser.add_argument("-j", "--processes", type=int, default=1, metavar="N", help="for training teachers (default 1)")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-accuracy",
        metavar="DIR",
        help="where models are kept (default: tanglewood-accuracy in the temporary folder)",
    )
    args = parser.parse_args()
    if args.train and not args.name:
        parser.error("--train needs a --name under which models are kept")
    searches = searches_named(args.searches)
    use_one_matrix_thread()
    rows = []
    for treebank in args.treebanks:
        for search in searches:
            found = [scores_of(treebank, seed, search, args) for seed in map(int, args.seeds.split(","))]
            columns = []
            for score, (_, decimals) in SCORES.items():
                values = [scores[score] for scores in found if scores[score] is not None]
                columns.append(spread(values, decimals) if values else "-")
            rows.append([treebank.resolve().name, search, *columns])
    print_markdown(["treebank", "search", *(title for title, _ in SCORES.values())], rows)


if __name__ == "__main__":
    main()
