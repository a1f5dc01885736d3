"""Words per second from raw text with the bundled model, by family of kernels, by default and reproducibly.

Greedily and with a beam of 8, all families in turn, loading left out; user CPU time, of which the best round counts, so
that other work on the machine matters little. The last column says how many times faster a family is than `portable`,
greedily by default. NumPy's matrix library chooses its own instructions: OPENBLAS_CORETYPE=Haswell holds it at AVX2.

    python bench/families.py text.txt
"""

from __future__ import annotations

import argparse
import os
import resource
from pathlib import Path

from tanglewood import load
from tanglewood.arithmetic import VARIABLE, available
from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.options import ParseOptions
from tanglewood.pipeline import Pipeline

WIDTHS = (1, 8)


def seconds(nlp: Pipeline, text: str, options: ParseOptions) -> tuple[int, float]:
    """Parse the text with a worker of its own; return how many words it has, and the user CPU time."""
    worker = nlp.worker(options)
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    words = sum(worker.parse(piece).words for piece in nlp.pieces([text]))
    return words, resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE", help="a text")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="timings, the best counts (default 5)")
    args = parser.parse_args()
    keep_one_matrix_thread()
    nlp = load()
    text = args.file.read_text(encoding="utf-8")
    kinds = [ParseOptions(beam=beam, reproducible=same) for beam in WIDTHS for same in (False, True)]
    best = {family: dict.fromkeys(kinds, 0.0) for family in reversed(available())}
    for _ in range(args.rounds):
        for family, speeds in best.items():
            os.environ[VARIABLE] = family
            for options in kinds:
                words, spent = seconds(nlp, text, options)
                speeds[options] = max(speeds[options], words / max(spent, 1e-3))  # of a very short text
    print("| Kernels | greedy | reproducible | beam 8 | reproducible | times portable |")
    print("|---|---:|---:|---:|---:|---:|")
    for family, speeds in best.items():
        ratio = speeds[kinds[0]] / best["portable"][kinds[0]]
        print(f"| {family} | {' | '.join(f'{speed:,.0f}' for speed in speeds.values())} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
