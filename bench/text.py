"""From raw text to trees: official scores and speed of pipelines, the table of docs/text.md.

    python bench/text.py TREEBANK_DIR... [--model MODEL] [--searches "vote; vote, beam 8"] [--part dev|test]
                         [--name NAME --train "OPTIONS"] [--seeds 1,2,3]

The raw text is that of the treebank's sentences, as in the CoNLL 2018 shared task; the scores are those of the official
evaluation (udeval of the package udtools), against the treebank. Without --model every treebank (train.conllu and
dev.conllu in its folder) is trained by tanglewood train --pipeline once a seed, with all defaults and the OPTIONS;
models are kept in --work DIR, under NAME. --model bundled is the English one of tanglewood. Tokens per second are
tokens of the system over the CPU seconds of the whole command, loading the model included, least of --rounds runs.
"""

import argparse
import json
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tanglewood import read
from tanglewood.text.raw import gold_text
from timing import SEARCHES, print_markdown, searches_named, spread

METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
TANGLEWOOD = [sys.executable, "-m", "tanglewood"]


def cpu_of(command: list[str]) -> float:
    """Run a command; return the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def model_of(treebank: Path, seed: int, args: argparse.Namespace) -> Path:
    """The pipeline of one treebank and seed, trained if it is not kept."""
    model = args.work / args.name / f"{treebank.resolve().name}.{seed}.tw"
    model.parent.mkdir(parents=True, exist_ok=True)
    if not model.exists() or Path(f"{model}.training").exists():
        data = [str(treebank / "train.conllu"), "--dev", str(treebank / "dev.conllu")]
        options = ["--seed", str(seed), "-j", args.processes, "--resume", *shlex.split(args.train)]
        cpu_of([*TANGLEWOOD, "train", "--pipeline", *data, "-o", str(model), *options])
    return model


def scores_of(treebank: Path, seed: int, search: str, args: argparse.Namespace) -> dict[str, float]:
    """Scores and tokens a second of one treebank, seed and search."""
    from udtools import udeval

    name = treebank.resolve().name
    if args.model:
        chosen = [] if args.model == "bundled" else ["-m", args.model]
        kept = None
        found = args.work / f"{name}.{args.part}.conllu"
    else:
        model = model_of(treebank, seed, args)
        chosen = ["-m", str(model)]
        kept = model.with_suffix(f".{args.part}.{search.replace(', ', '-').replace(' ', '')}.json")
        found = kept.with_suffix(".conllu")
    if kept is not None and kept.exists():
        scores: dict[str, float] = json.loads(kept.read_text())
        return scores
    gold, text = treebank / f"{args.part}.conllu", args.work / f"{name}.{args.part}.txt"
    text.write_text(gold_text(read(gold)).text, encoding="utf-8")
    command = [*TANGLEWOOD, "parse", *chosen, "--text", str(text), *SEARCHES[search][0], "-o", str(found)]
    seconds = min(cpu_of(command) for _ in range(args.rounds))
    with gold.open(encoding="utf-8") as one, found.open(encoding="utf-8") as other:
        official = udeval.evaluate(udeval.load_conllu(one, "gold", {}), udeval.load_conllu(other, "system", {}))
    scores = {metric: 100 * official[metric].f1 for metric in METRICS}
    scores["tokens/s"] = official["Tokens"].system_total / seconds
    if kept is not None:
        kept.write_text(json.dumps(scores))
    return scores


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--model", metavar="MODEL", help="a pipeline that is there; bundled: that of tanglewood")
    parser.add_argument("--name", default="plain", metavar="NAME", help="of what --train asks for (default plain)")
    parser.add_argument("--train", default="", metavar="OPTIONS", help='more options of train, such as "--distil 5"')
    parser.add_argument("--seeds", default="1", metavar="N,...", help="default 1")
    parser.add_argument(
        "--searches", default="vote; vote, beam 8", metavar="A; B; ...", help=f"of {'; '.join(SEARCHES)}"
    )
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings, the best counts (default 3)")
    parser.add_argument("-j", "--processes", default="1", metavar="N", help="for training (default 1)")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-text",
        metavar="DIR",
        help="where models are kept (default: tanglewood-text in the temporary folder)",
    )
    args = parser.parse_args()
    if args.train and args.name == "plain":
        parser.error("--train needs a --name under which models are kept")
    args.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for treebank in args.treebanks:
        for search in searches_named(args.searches):
            found = [scores_of(treebank, seed, search, args) for seed in map(int, args.seeds.split(","))]
            figures = [spread([one[metric] for one in found], 2) for metric in METRICS]
            speed = spread([one["tokens/s"] for one in found], 0)
            rows.append([treebank.resolve().name, search, *figures, speed])
    print_markdown([f"{args.part} set", "search", *METRICS, "tokens/s"], rows)


if __name__ == "__main__":
    main()
