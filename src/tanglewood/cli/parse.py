"""Parse sentences with a trained model: HEAD and DEPREL are filled, everything else stays as it is, byte for byte."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_reading, use_one_matrix_thread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.scale.parsing import Parsed

HELP = "parse sentences with a trained model"
EXAMPLES = """\
  tanglewood parse -m model.tw words.conllu -o trees.conllu
  tanglewood parse -m model.tw --beam 8 words.conllu > trees.conllu
  zcat big.conllu.gz | tanglewood parse -m model.tw --threads 2 - -o big-trees.conllu.gz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    parser.add_argument("-m", "--model", required=True, metavar="MODEL", help="model file made by train")
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="file to write, .gz and .xz compressed (default: stdout)"
    )
    parser.add_argument(
        "--beam", type=int, metavar="K", help="keep the K best derivations (default 1: greedy; 8 for the options below)"
    )
    parser.add_argument("--nbest", type=int, default=1, metavar="K", help="write the K best trees of each sentence")
    parser.add_argument(
        "--confidence", action="store_true", help="write to MISC how much of the beam agrees on each word's head"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="parse with N processes (default 1), each with its share of the sentences: the same output, in order; "
        "with 1 each sentence from a pipe is answered at once",
    )


def run(args: argparse.Namespace) -> int:
    """Parse all files into one output."""
    use_one_matrix_thread()
    from tanglewood.scale.parsing import Choices, parse_batches
    from tanglewood.scorers.words import OPTIONAL
    from tanglewood.treebank.conllu import write_blocks

    reading = Reading(args)
    began = time.perf_counter()
    beam = args.beam
    if beam is None:
        beam = max(8, args.nbest) if args.nbest > 1 or args.confidence else 1
    choices = Choices(beam, args.nbest, args.confidence, stop=args.on_error == "stop")
    batches = (batch for file in args.files for batch in reading.batches(file))
    words = 0
    missing = set(OPTIONAL)

    def blocks(results: Iterator[Parsed]) -> Iterator[bytes]:
        nonlocal words
        for parsed in results:
            words += parsed.words
            missing.intersection_update(parsed.missing)
            for block in parsed.blocks:
                if isinstance(block, bytes):
                    yield block
                else:
                    reading.note(block)

    with closing(parse_batches(batches, args.model, choices, processes=args.threads)) as results:
        count = write_blocks(blocks(results), args.output)
    if words and missing:
        names = ", ".join(name for name in OPTIONAL if name in missing)
        print(
            f"warning: the input has no {names}: 0 of {words:,} words; the model was trained with them", file=sys.stderr
        )
    if sys.stderr.isatty():
        spent = time.perf_counter() - began
        print(f"{count:,} sentences, {words:,} words in {spent:.1f} s: {words / spent:,.0f} words/s", file=sys.stderr)
    return reading.close()
