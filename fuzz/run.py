"""Try random inputs, and save what fails: python fuzz/run.py TARGET... [--count N | --minutes M] [--seed S].

    python fuzz/run.py models --count 100000 --processes 2
    python fuzz/run.py models --seed 1 --only 4711        # one input again, by its number
    python fuzz/run.py models --input found/models-0.tw   # or by its file

The exit status is 1 if anything failed. README.md says what the targets do and what counts as a failure.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tanglewood.cli.common import use_one_matrix_thread

use_one_matrix_thread()  # before NumPy is imported: children are forked, which threads do not survive

from engine import ACCEPTED, Tally, Target, made, outcome_of, run, shrunk  # noqa: E402
from targets import TARGETS, target_class  # noqa: E402

COUNT = 1000
QUIET = 60.0  # seconds between lines that say how it goes, where there is no terminal


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    helps = "; ".join(f"{name}: {entry.help}" for name, entry in TARGETS.items())
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all. {helps}")
    parser.add_argument("--count", type=int, metavar="N", help=f"inputs of each target (default {COUNT})")
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="time for each target, instead of a number of inputs"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default 1")
    parser.add_argument("--processes", type=int, default=1, metavar="J", help="inputs tried at once (default 1)")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="begin with this input (default 0)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="the one input with this number")
    parser.add_argument("--input", type=Path, metavar="FILE", help="the one input in this file")
    parser.add_argument(
        "--save", type=Path, default=Path("found"), metavar="DIR", help="for what fails (default found)"
    )
    args = parser.parse_args()
    for name in args.targets:
        if name not in TARGETS:
            parser.error(f"unknown target {name!r}; choose from {', '.join(TARGETS)}")
    if args.input and len(args.targets) != 1:
        parser.error("--input needs one target")
    return args


def main() -> int:
    """Try all targets."""
    args = arguments()
    failures = 0
    for name in args.targets or TARGETS:
        with TemporaryDirectory(prefix="tanglewood-fuzz-") as folder:
            target = target_class(name)(Path(folder))
            failures += tried_once(target, args) if args.input else tried(name, target, args)
    return min(failures, 1)


def tried_once(target: Target, args: argparse.Namespace) -> int:
    """Try the input in a file, and return whether it fails."""
    outcome = outcome_of(target, args.input.read_bytes())
    print(outcome.detail or outcome.name)
    return int(outcome.failed)


def tried(name: str, target: Target, args: argparse.Namespace) -> int:
    """Try many inputs of a target, report on them, save what fails, and return how many do."""
    began = time.monotonic()

    on_terminal = sys.stderr.isatty()
    told = began

    def progress(tally: Tally) -> None:
        nonlocal told
        now = time.monotonic()
        if not on_terminal and now - told < QUIET:
            return
        told = now
        failed = sum(len(failure.numbers) for failure in tally.failures.values())
        text = f"{name}: {tally.inputs} inputs, {failed} failed, {now - began:.0f} s"
        print(f"\r{text} " if on_terminal else text, end="" if on_terminal else "\n", file=sys.stderr, flush=True)

    tally = run(
        target,
        args.seed,
        first=args.first if args.only is None else args.only,
        inputs=1 if args.only is not None else args.count or (sys.maxsize if args.minutes else COUNT),
        seconds=60 * args.minutes if args.minutes else float("inf"),
        processes=args.processes if args.only is None else 1,
        progress=progress,
    )
    if on_terminal:
        print(file=sys.stderr)
    return report(name, target, tally, args)


def report(name: str, target: Target, tally: Tally, args: argparse.Namespace) -> int:
    """Print what became of the inputs, and save the first of each kind that failed."""
    failed = sum(len(failure.numbers) for failure in tally.failures.values())
    refused = tally.inputs - failed - tally.outcomes[ACCEPTED]
    print(
        f"{name}: {tally.inputs} inputs: {tally.outcomes.pop(ACCEPTED, 0)} accepted, {refused} refused, {failed} failed"
    )
    for outcome, number in tally.outcomes.most_common():
        print(f"  {outcome}: {number}")
    for place, (kind, failure) in enumerate(sorted(tally.failures.items(), key=lambda item: -len(item[1].numbers))):
        number = failure.numbers[0]
        case = made(target, args.seed, number)
        args.save.mkdir(parents=True, exist_ok=True)
        path = args.save / f"{name}-{place}{target.suffix}"
        path.write_bytes(shrunk(target, case.data, kind))
        path.with_suffix(".txt").write_text(f"{kind}\n{case.note}\n{failure.detail}", encoding="utf-8")
        print(f"  FAILED {len(failure.numbers)} times: {kind}")
        print(f"    {case.note}")
        print(f"    python fuzz/run.py {name} --seed {args.seed} --only {number}; or --input {path}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
