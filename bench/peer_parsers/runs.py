"""The files of one treebank, child processes that are measured, and what a parser is to the benchmark."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

INPUT, OUTPUT = "{input}", "{output}"  # stand for files in the commands
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SCRIPT = Path(__file__).resolve().parents[1] / "peers.py"


class SkippedError(Exception):
    """Why a parser or a row is left out."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One trained model and the ways to parse with it."""

    settings: str  # what the training was, in words
    model: Path
    train: list[str]
    rows: dict[str, list[str]]  # name of the row -> command with INPUT and OUTPUT
    format: str = "conllu"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a child process took: seconds of CPU and by the clock, megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


class Bench:
    """The files of one treebank and the folder for everything made from them."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.cpu = args.cpu
        self.suffix = "-quick" if args.quick else ""
        self.tanglewood = shutil.which("tanglewood", path=str(Path(sys.executable).parent)) or "tanglewood"
        self.folder = args.work
        self.files: dict[tuple[str, str], Path] = {}  # (format, part) -> file
        self.words = self.timed = 0

    def prepare(self) -> None:
        """Make the files: both formats, without trees, repeated, and the first sentence alone."""
        if not shutil.which(self.tanglewood):
            sys.exit("the tanglewood command is not installed: pip install . in the repository")
        args = self.args
        source = {part: args.treebank / f"{part}.conllu" for part in ("train", "dev", "test")}
        for file in source.values():
            if not file.is_file():
                sys.exit(f"{file}: no such file; TREEBANK_DIR should hold train.conllu, dev.conllu and test.conllu")
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in source.values())).hexdigest()[:8]
        self.folder = args.work / f"{args.treebank.resolve().name}-{digest}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files = {("conllu", part): file for part, file in source.items()}
        for part, file in source.items():
            converted = self.files["conllx", part] = self.folder / f"{part}.conll"
            self.run([self.tanglewood, "convert", str(file), "--to", "conllx", "-o", str(converted)])
        for kind, last in (("conllu", 9), ("conllx", 10)):
            blind = _without_trees(self.files[kind, "test"], last)
            one = blind[: blind.index("\n\n") + 2]
            for part, text in (("blind", blind), ("many", blind * args.repeat), ("one", one)):
                self.files[kind, part] = self.folder / f"{part}.{kind}"
                self.files[kind, part].write_text(text, encoding="utf-8")
            self.words = _words(blind)
            self.timed = self.words * args.repeat - _words(one)

    def run(self, command: list[str], *, pin: bool = False) -> Spent:
        """Run a child with one thread, on one core if ``pin``; what it prints goes to a log."""
        log = self.folder / "log.txt"
        affinity = {self.cpu} if pin and self.cpu is not None else None
        with log.open("w") as out:
            start = time.perf_counter()
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | ONE_THREAD,
                preexec_fn=affinity and (lambda: os.sched_setaffinity(0, affinity)),  # noqa: PLW1509
            )
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
            raise SkippedError(f"{Path(command[0]).name} ended with {child.returncode}: {last[0]}")
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / unit)

    def parse(self, peer: Peer, command: list[str], part: str) -> tuple[Spent, Path]:
        """Parse one of the files with a row's command."""
        output = self.folder / f"parsed.{peer.format}"
        output.unlink(missing_ok=True)
        filled = {INPUT: str(self.files[peer.format, part]), OUTPUT: str(output)}
        spent = self.run([filled.get(word, word) for word in command], pin=True)
        if not output.exists():
            raise SkippedError("it wrote no output")
        return spent, output

    def trained(self, name: str, peer: Peer) -> float:
        """Train unless the model is kept from before; the CPU seconds of its training."""
        record = peer.model.with_name(f"{peer.model.name}.json")
        if record.exists() and not {"all", name} & set(self.args.retrain.split(",")):
            return json.loads(record.read_text())["cpu"]
        record.unlink(missing_ok=True)
        say(f"training {peer.model.name}: {peer.settings}")
        spent = self.run(peer.train)
        record.write_text(json.dumps(asdict(spent)))
        return spent.cpu

    def scores(self, peer: Peer, command: list[str]) -> dict[str, float | None]:
        """Parse the test file and score it."""
        _, output = self.parse(peer, command, "blind")
        gold = self.files[peer.format, "test"]
        evaluate = [self.tanglewood, "evaluate", str(gold), str(output), "--json", "--bootstrap", "0"]
        done = subprocess.run(evaluate, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SkippedError(f"evaluate: {done.stderr.strip()}")
        return json.loads(done.stdout)[0]


def worker(name: str) -> list[str]:
    """Return the command that does a child's work."""
    return [sys.executable, str(SCRIPT), "--worker", name]


def need(bench: Bench, module: str) -> None:
    """Try the import in a child: what this process holds would count in the peak memory of every child."""
    try:
        bench.run([sys.executable, "-c", f"import {module}"])
    except SkippedError as error:
        raise SkippedError(f"{error}; pip install {module}") from None


def _without_trees(file: Path, last: int) -> str:
    """The text of a file with the columns from HEAD to ``last`` empty."""
    text = []
    for line in file.read_text(encoding="utf-8").split("\n"):
        columns = line.split("\t")
        if columns[0].isdigit():
            columns[6:last] = ["_"] * (last - 6)
        text.append("\t".join(columns))
    return "\n".join(text).rstrip("\n") + "\n\n"


def _words(text: str) -> int:
    return sum(line.split("\t", 1)[0].isdigit() for line in text.split("\n"))


def blocks(file: str) -> Iterator[list[str]]:
    """Yield the lines of each sentence."""
    lines = []
    with open(file, encoding="utf-8") as stream:  # noqa: PTH123 - the quickest way to read, as it is timed
        for line in stream:
            if line != "\n":
                lines.append(line[:-1])
            elif lines:
                yield lines
                lines = []


def write_trees(source: str, target: str, trees: Iterable[Iterable[tuple[int, str]]]) -> None:
    """Write a file again with the head and the relation of each word."""
    with open(target, "w", encoding="utf-8") as out:  # noqa: PTH123
        for tree, lines in zip(trees, blocks(source), strict=True):
            words = iter(tree)
            for line in lines:
                columns = line.split("\t")
                if columns[0].isdigit():
                    head, relation = next(words)
                    columns[6:8] = str(head), relation
                out.write("\t".join(columns) + "\n")
            out.write("\n")


def say(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
