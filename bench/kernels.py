"""Words per second from raw text with the bundled model, by family of kernels, by default and reproducibly.

Greedily and with a beam of 8, alternately, loading left out; user CPU time, of which the best round counts, so that
other work on the machine matters little.

    python bench/kernels.py text.txt
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
    print("| Kernels | greedy | reproducible | beam 8 | reproducible |\n|---|---:|---:|---:|---:|")
    for family in reversed(available()):
        os.environ[VARIABLE] = family
        kinds = [ParseOptions(beam=beam, reproducible=same) for beam in WIDTHS for same in (False, True)]
        best = dict.fromkeys(kinds, 0.0)
        for _ in range(args.rounds):
            for options in kinds:
                words, spent = seconds(nlp, text, options)
                best[options] = max(best[options], words / max(spent, 1e-3))  # of a very short text
        print(f"| {family} | {' | '.join(f'{speed:,.0f}' for speed in best.values())} |")


if __name__ == "__main__":
    main()
