"""Convert between CoNLL-U and CoNLL-X, make trees projective and back; without options, copy byte for byte."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_reading
from tanglewood.errors import ConfigError, LocatedError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.treebank.sentence import Sentence

HELP = "CoNLL-U to CoNLL-X and back, projectivize, deprojectivize"
EXAMPLES = """\
  tanglewood convert treebank.conllu --to conllx -o treebank.conll
  tanglewood convert treebank.conllu --projectivize head+path -o projective.conllu
  tanglewood convert parsed.conllu --deprojectivize -o trees.conllu
  zcat big.conllu.gz | tanglewood convert - --on-error skip > good.conllu
  tanglewood convert one-huge-sentence.conllu --max-sentence 500 --to conllx > huge.conll"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="file to write, .gz and .xz compressed (default: stdout)"
    )
    parser.add_argument("--to", choices=("conllu", "conllx"), help="format to write (default: that of the input)")
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--projectivize",
        choices=("head", "path", "head+path", "baseline"),
        help="lift non-projective arcs and encode them in the labels (Nivre & Nilsson 2005); baseline: labels stay",
    )
    direction.add_argument(
        "--deprojectivize", action="store_true", help="undo --projectivize; the labels say which encoding was used"
    )
    parser.add_argument(
        "--separator", default="|", metavar="C", help="character between a label and its head's label (default |)"
    )
    parser.add_argument("--mark", default="%", metavar="C", help="character that marks a path (default %%)")


def run(args: argparse.Namespace) -> int:
    """Convert all files into one output."""
    from tanglewood.show.formats import FORMATS, format_of_name
    from tanglewood.treebank.conllu import write

    if args.to is None:
        format_of_name(args.output, {"conllu": FORMATS["conllu"]}, remedy=", or --to say what to write")
    reading = Reading(args)
    write(_converted(args, reading), args.output)
    return reading.close()


def _converted(args: argparse.Namespace, reading: Reading) -> Iterator[Sentence]:
    from tanglewood.transforms.pseudo_projective import Scheme, deprojectivize, lifted, projectivize, scheme_of
    from tanglewood.treebank.conllu import convert

    baseline = args.projectivize == "baseline"
    scheme = Scheme("head" if baseline else args.projectivize or "head", args.separator, args.mark)
    changed = kept = 0
    for file in args.files:
        for sentence in reading.sentences(file, trees=bool(args.projectivize or args.deprojectivize)):
            result = sentence
            try:
                if args.projectivize:
                    tree = sentence.tree
                    result = sentence.with_tree(lifted(tree) if baseline else projectivize(tree, scheme))
                elif args.deprojectivize:
                    used = scheme_of(sentence.deprels, args.separator, args.mark)
                    result = sentence.with_tree(deprojectivize(sentence.tree, used))
                converted = convert(result, args.to) if args.to else result
            except LocatedError as error:
                reading.note(error)
                continue
            except ConfigError as error:
                raise sentence.located(error) from None
            changed += result is not sentence and result.lines != sentence.lines
            kept += 1
            yield converted
    if args.projectivize or args.deprojectivize:
        print(f"{changed:,} of {kept:,} trees changed", file=sys.stderr)
