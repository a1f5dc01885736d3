"""All systems of the registry, trained and measured on one treebank: the table of docs/training.md.

    python bench/systems.py TREEBANK_DIR [--learner network|linear] [--part dev|test] [--only NAME,...] [--json FILE]

TREEBANK_DIR holds train.conllu, dev.conllu and test.conllu. Models are kept in --work DIR; a run that was stopped goes
on where it was, a finished model is not trained again. Timed is greedy parsing from text to text in this process, the
model loaded already, in CPU time, best of three. A scorer call scores the moves of one state; a move that is the only
permissible one needs none.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

from tanglewood import SYSTEMS, read
from tanglewood.cli import main as tanglewood
from tanglewood.cli.common import use_one_matrix_thread
from timing import least_cpu, print_markdown

SCORES = {"las": "LAS", "uas": "UAS", "nonprojective_f1": "NP-F1", "exact_match": "exact match"}
COUNTS = {"tokens_cpu": "tokens/CPU s", "moves": "moves/word", "calls": "scorer calls/word"}


def variants() -> dict[str, list[str]]:
    """Name of each row and the options it is trained with."""
    found: dict[str, list[str]] = {}
    for name, system in SYSTEMS.items():
        if name == "joint-swap":  # it gives tags too, so it is measured in a setting of its own: joint.py
            continue
        chosen = ["--system", name]
        if "lazy" in system.oracles and name != "attardi":  # its two are the same
            oracles = (next(iter(system.oracles)), system.trained_by)
            found |= {f"{name}, {oracle} oracle": [*chosen, "--oracle", oracle] for oracle in oracles}
        else:
            found[name] = chosen
        if system.covers == "the projective trees":
            found[f"{name}, head+path"] = [*chosen, "--pseudo-projective", "head+path"]
        if "max_degree" in system.options:
            found |= {f"{name}, degree <= {d}": [*chosen, "--max-degree", str(d)] for d in range(3)}
    return found


def measure(model: Path, file: Path, rounds: int) -> dict[str, float | None]:
    """Scores, tokens a second, moves and calls of the scorer of a model on a file."""
    from tanglewood.measure.scores import evaluate
    from tanglewood.pipeline import load
    from tanglewood.treebank.conllu import read_batches, write
    from tanglewood.worker import Worker

    pipeline = load(model)

    def parse() -> Worker:
        worker = pipeline.worker()
        write((sentence for batch in read_batches(file) for sentence in worker.parse(batch).sentences()), out)
        return worker

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "parsed.conllu"
        worker, seconds = least_cpu(rounds, parse)
        scores = evaluate(read(file), read(out)).as_dict()
    search = worker.parser.search
    words = scores["words"]
    row = {key: scores[key] for key in SCORES}
    return row | {
        "tokens_cpu": words / seconds,
        "moves": search.moves_taken / words,
        "calls": search.states_scored / words,
    }


def main() -> None:
    """Train what is not kept, measure everything, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument("--learner", choices=("network", "linear"), default="network")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    parser.add_argument("--epochs", type=int, metavar="N", help="default: the learner's")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings a row, the best counts (default 3)")
    parser.add_argument("--only", metavar="NAMES", help="systems, comma-separated (default: all)")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-systems",
        metavar="DIR",
        help="where models are kept (default: tanglewood-systems in the temporary folder)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    args = parser.parse_args()
    only = args.only.split(",") if args.only else list(SYSTEMS)
    if not set(only) <= set(SYSTEMS):
        parser.error(f"systems are {', '.join(SYSTEMS)}")
    use_one_matrix_thread()
    files = {part: args.treebank / f"{part}.conllu" for part in ("train", "dev", "test")}
    digest = hashlib.sha256(b"".join(files[part].read_bytes() for part in ("train", "dev"))).hexdigest()[:8]
    choices = [args.learner, f"seed{args.seed}", *([f"epochs{args.epochs}"] if args.epochs else [])]
    folder = args.work / "-".join([args.treebank.resolve().name, digest, *choices])
    folder.mkdir(parents=True, exist_ok=True)
    common = [str(files["train"]), "--dev", str(files["dev"]), "--learner", args.learner, "--seed", str(args.seed)]
    common += ["--epochs", str(args.epochs)] if args.epochs else []
    rows = []
    for name, options in variants().items():
        if options[1] not in only:
            continue
        model = folder / f"{name.replace(', ', '-').replace(' <= ', '-').replace(' ', '-')}.tw"
        if not model.exists() or Path(f"{model}.training").exists():
            print(f"training {name}", file=sys.stderr)
            status = tanglewood(["train", *common, *options, "-o", str(model), "--resume"])
            if status:
                sys.exit(status)
        print(f"measuring {name}", file=sys.stderr)
        rows.append({"system": name, **measure(model, files[args.part], args.rounds)})
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n")
    formats = {"tokens_cpu": ",.0f", **dict.fromkeys([*SCORES, "moves", "calls"], ".2f")}
    table = [
        [row["system"], *("-" if row[key] is None else format(row[key], formats[key]) for key in (*SCORES, *COUNTS))]
        for row in rows
    ]
    print_markdown(["system", *SCORES.values(), *COUNTS.values()], table)


if __name__ == "__main__":
    main()
