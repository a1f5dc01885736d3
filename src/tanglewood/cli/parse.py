"""Parse sentences with a trained model: HEAD and DEPREL are filled, everything else stays as it is, byte for byte."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_reading, use_one_matrix_thread
from tanglewood.core.searches import MOST_MEMORY, MOVE_SEARCHES, SEARCHES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.scale.parsing import Parsed

HELP = "parse sentences with a trained model"
EXAMPLES = """\
  tanglewood parse -m model.tw words.conllu -o trees.conllu
  tanglewood parse -m model.tw --beam 8 words.conllu > trees.conllu
  tanglewood parse -m arcs.tw --search eisner --confidence words.conllu > trees.conllu
  zcat big.conllu.gz | tanglewood parse -m model.tw --threads 2 - -o big-trees.conllu.gz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    parser.add_argument("-m", "--model", required=True, metavar="MODEL", help="model file made by train")
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="file to write, .gz and .xz compressed (default: stdout)"
    )
    parser.add_argument(
        "--search",
        choices=(*SEARCHES, *MOVE_SEARCHES),
        help="for a model of arcs "
        + "; ".join(f"{name}: {what}" for name, what in SEARCHES.items())
        + " (default: as in training); for a model of moves greedy (default) or beam",
    )
    parser.add_argument(
        "--confidence",
        action="store_true",
        help="write to MISC how probable each word's head is: by the sum over all trees, or by how much of the beam "
        "agrees",
    )
    parser.add_argument(
        "--beam", type=int, metavar="K", help="moves: keep the K best derivations (default 1; 8 where a beam is needed)"
    )
    parser.add_argument(
        "--nbest", type=int, default=1, metavar="K", help="moves: write the K best trees of each sentence"
    )
    parser.add_argument(
        "--min-risk", action="store_true", help="arcs: the tree that is expected to have the most heads right"
    )
    parser.add_argument(
        "--max-length", type=int, default=0, metavar="N", help="arcs: the best of all trees for sentences longer than N"
    )
    parser.add_argument(
        "--max-memory",
        type=int,
        metavar="MB",
        help=f"arcs: likewise where the search needs more megabytes (default {MOST_MEMORY >> 20})",
    )
    parser.add_argument(
        "--show-search", action="store_true", help="arcs: a comment with the search and its proof in every sentence"
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
    from tanglewood.parser import Choices
    from tanglewood.scale.parsing import parse_batches
    from tanglewood.scorers.words import OPTIONAL
    from tanglewood.treebank.conllu import write_blocks

    reading = Reading(args)
    began = time.perf_counter()
    choices = Choices(
        search=args.search or "",
        beam=args.beam,
        nbest=args.nbest,
        confidence=args.confidence,
        min_risk=args.min_risk,
        max_length=args.max_length,
        max_memory=MOST_MEMORY if args.max_memory is None else args.max_memory << 20,
        show_search=args.show_search,
    )
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

    stop = args.on_error == "stop"
    with closing(parse_batches(batches, args.model, choices, stop=stop, processes=args.threads)) as results:
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
