"""From raw text to trees: official scores and speed of pipelines, the table of docs/text.md.

    python bench/text.py TREEBANK_DIR... [--model MODEL] [--beams 1,8] [--part dev|test]

The raw text is that of the treebank's sentences, as in the CoNLL 2018 shared task; the scores are those of the official
evaluation (udeval of the package udtools), against the treebank. Without --model every treebank (train.conllu and
dev.conllu in its folder) is trained by the plain command, tanglewood train --pipeline, and the model is kept in --work
DIR; --model bundled is the English one of tanglewood. Tokens per second are tokens of the system over the CPU seconds
of the whole command, loading the model included, least of three runs.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tanglewood import read
from tanglewood.text.raw import gold_text
from timing import print_markdown

METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
TANGLEWOOD = [sys.executable, "-m", "tanglewood"]


def cpu_of(command: list[str]) -> float:
    """Run a command; return the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--model", metavar="MODEL", help="a pipeline that is there; bundled: that of tanglewood")
    parser.add_argument("--beams", default="1,8", metavar="K,...", help="default 1,8; 1 is greedy search")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    parser.add_argument("-j", "--processes", default="1", metavar="N", help="for training (default 1)")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-text",
        metavar="DIR",
        help="where models are kept (default: tanglewood-text in the temporary folder)",
    )
    args = parser.parse_args()
    from udtools import udeval

    args.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for treebank in args.treebanks:
        name = treebank.resolve().name
        model = args.model or str(args.work / f"{name}.tw")
        if not args.model and not Path(model).exists():
            data = [str(treebank / "train.conllu"), "--dev", str(treebank / "dev.conllu")]
            cpu_of([*TANGLEWOOD, "train", "--pipeline", *data, "-o", model, "--resume", "-j", args.processes])
        gold = treebank / f"{args.part}.conllu"
        text, found = args.work / f"{name}.{args.part}.txt", args.work / f"{name}.{args.part}.conllu"
        text.write_text(gold_text(read(gold)).text, encoding="utf-8")
        chosen = [] if model == "bundled" else ["-m", model]
        for beam in args.beams.split(","):
            command = [*TANGLEWOOD, "parse", *chosen, "--text", str(text), "--beam", beam, "-o", str(found)]
            seconds = min(cpu_of(command) for _ in range(3))
            with gold.open(encoding="utf-8") as one, found.open(encoding="utf-8") as other:
                scores = udeval.evaluate(udeval.load_conllu(one, "gold", {}), udeval.load_conllu(other, "system", {}))
            tokens = scores["Tokens"].system_total
            figures = [f"{100 * scores[metric].f1:.2f}" for metric in METRICS]
            rows.append([name, "greedy" if beam == "1" else f"beam {beam}", *figures, f"{tokens / seconds:,.0f}"])
    print_markdown([f"{args.part} set", "search", *METRICS, "tokens/s"], rows)


if __name__ == "__main__":
    main()
