"""Draw the tree of a sentence, crossing arcs marked: in the terminal, or as SVG."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from tanglewood.cli.common import add_choice, add_reading, choose_sentence

if TYPE_CHECKING:
    import argparse

HELP = "draw a tree in the terminal or as SVG"
EXAMPLES = """\
  tanglewood draw examples/figure1.conllu
  tanglewood draw treebank.conllu --sentence 12
  tanglewood draw treebank.conllu --sent-id s17 --format svg -o s17.svg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files=1)
    add_choice(parser)
    parser.add_argument("--format", choices=("text", "svg"), help="text (default) or svg (default if OUT ends in .svg)")
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="file to write (default: stdout)")
    parser.add_argument("--tags", action="store_true", help="show part-of-speech tags below the words")


def run(args: argparse.Namespace) -> int:
    """Draw one sentence."""
    from tanglewood.show import svg, tree
    from tanglewood.treebank.conllu import writing

    sentence = choose_sentence(args)
    tags = sentence.upos if args.tags else None
    if args.format == "svg" or (args.format is None and args.output.endswith(".svg")):
        drawing = svg.draw(sentence.tree(), sentence.forms, tags=tags, title=sentence.text)
    else:
        on_screen = args.output == "-" and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if on_screen else None
        colour = on_screen and "NO_COLOR" not in os.environ
        drawing = tree.draw(sentence.forms, sentence.tree(), width=width, colour=colour, tags=tags)
    with writing(args.output) as out:
        out.write(f"{drawing.rstrip()}\n".encode())
    return 0
