"""Compute the vectors that a large encoder gives to the words of sentences, for train and parse --contextual.

The encoder is one of the package transformers: a name that it knows, or a folder. It stays as it is: the vector of a
word is the mean of those of its pieces, over the last four layers.
"""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_reading
from tanglewood.errors import ConfigError, one_line

if TYPE_CHECKING:
    import argparse

HELP = "compute a large encoder's vectors of the words of a treebank"
EXAMPLES = """\
  tanglewood embed --encoder FacebookAI/xlm-roberta-base train.conllu -o train.safetensors
  tanglewood train train.conllu --dev dev.conllu -o model.tw --contextual train.safetensors dev.safetensors"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser)
    parser.add_argument("--encoder", required=True, metavar="NAME", help="name of an encoder, or its folder")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write: .safetensors")
    parser.add_argument("--device", default="", metavar="NAME", help="cpu, cuda... (default: a GPU if there is one)")


def run(args: argparse.Namespace) -> int:
    """Compute and write."""
    from tanglewood.embedding import EncoderProcess, embedded, save_vectors
    from tanglewood.files import check_file_to_write

    check_file_to_write(args.output, "vectors.safetensors")
    reading = Reading(args)
    forms = (sentence.forms for file in args.files for sentence in reading.sentences(file, trees=False))
    with closing(forms):  # an error may come when the first file has just been opened
        first = next(forms, None)
        if first is None:
            raise ConfigError("there is no sentence whose words could get vectors")
        encoder = EncoderProcess(args.encoder, args.device)
        count = save_vectors(args.output, args.encoder, encoder.width, embedded(encoder, chain([first], forms)))
        encoder.close()
    size = Path(args.output).stat().st_size / 1e6
    print(
        f"{one_line(args.output)}: {count:,} sentences, {encoder.width} numbers a word, {size:.1f} MB", file=sys.stderr
    )
    return reading.close()
