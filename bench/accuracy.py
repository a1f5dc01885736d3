"""Accuracy of the plain command on any number of treebanks: the table of docs/training.md.

    python bench/accuracy.py TREEBANK_DIR... [--learner network|linear] [--beams 1,8] [--seeds 1,2,3] [--part test]

Each folder holds train.conllu, dev.conllu and test.conllu. Every treebank is trained once a seed with all defaults; the
table has the mean over the seeds, and the smallest and largest of them behind it. Models and scores are kept in --work
DIR: a run that was stopped goes on where it was, and what is finished is not done again.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import mean

from tanglewood import read
from tanglewood.cli import main as tanglewood
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.measure.scores import evaluate
from timing import print_markdown

SCORES = {"las": "LAS", "uas": "UAS", "exact_match": "exact match", "nonprojective_f1": "NP-F1"}


def run(*arguments: object) -> None:
    """Run a command of tanglewood; stop with its status if it fails."""
    status = tanglewood([str(argument) for argument in arguments])
    if status:
        sys.exit(status)


def scores_of(treebank: Path, seed: int, beam: int, args: argparse.Namespace) -> dict[str, float]:
    """Scores of one treebank, seed and beam; whatever they need and is not kept is made."""
    folder = args.work / args.learner
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{treebank.resolve().name}.{seed}"
    model = folder / f"{stem}.tw"
    if not model.exists() or Path(f"{model}.training").exists():
        print(f"training {stem}", file=sys.stderr)
        train, dev = treebank / "train.conllu", treebank / "dev.conllu"
        run("train", train, "--dev", dev, "--learner", args.learner, "--seed", seed, "-o", model, "--resume")
    kept = folder / f"{stem}.{args.part}.beam{beam}.json"
    if not kept.exists():
        gold = treebank / f"{args.part}.conllu"
        parsed = kept.with_suffix(".conllu")
        run("parse", "-m", model, gold, "--beam", beam, "-o", parsed)
        kept.write_text(json.dumps(evaluate(read(gold), read(parsed)).as_dict()))
    return json.loads(kept.read_text())


def spread(values: list[float], decimals: int) -> str:
    """Mean, and the range in brackets if there is one."""
    text = f"{mean(values):.{decimals}f}"
    return text if len(values) == 1 else f"{text} ({min(values):.{decimals}f}-{max(values):.{decimals}f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--learner", choices=("network", "linear"), default="network")
    parser.add_argument("--beams", default="1,8", metavar="K,...", help="default 1,8; 1 is greedy search")
    parser.add_argument("--seeds", default="1", metavar="N,...", help="default 1")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-accuracy",
        metavar="DIR",
        help="where models are kept (default: tanglewood-accuracy in the temporary folder)",
    )
    args = parser.parse_args()
    use_one_matrix_thread()
    rows = []
    for treebank in args.treebanks:
        for beam in map(int, args.beams.split(",")):
            found = [scores_of(treebank, seed, beam, args) for seed in map(int, args.seeds.split(","))]
            columns = []
            for score in SCORES:
                values = [scores[score] for scores in found if scores[score] is not None]
                columns.append(spread(values, 1 if score == "nonprojective_f1" else 2) if values else "-")
            rows.append([treebank.resolve().name, "greedy" if beam == 1 else f"beam {beam}", *columns])
    print_markdown(["treebank", "search", *SCORES.values()], rows)


if __name__ == "__main__":
    main()
