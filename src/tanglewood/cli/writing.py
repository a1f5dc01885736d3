"""Writing sentences in the formats of show/formats.py: options for the format, the width and the output."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError, one_line
from tanglewood.files import check_file_to_write, check_folder
from tanglewood.show.formats import Format, Look, endings, format_of_name

if TYPE_CHECKING:
    import argparse

ANOTHER = ", or --format say what to write"


def add_writing(parser: argparse.ArgumentParser, among: Mapping[str, Format], default: str) -> None:
    """Add the options for where and how to write and, in a group of their own, for how drawings look."""
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="OUT",
        help=f"file to write (default: stdout), in the format of its ending ({endings(among)}); .gz, .xz and .zst "
        "compress",
    )
    parser.add_argument(
        "--format",
        choices=among,
        help="; ".join(f"{name}: {format_.help}" for name, format_ in among.items()) + f" (default: {default})",
    )
    group = parser.add_argument_group("drawings")
    group.add_argument("--tags", action="store_true", help="show part-of-speech tags below the words")
    group.add_argument(
        "--width",
        type=int,
        metavar="N",
        help="break drawings of longer sentences into lines: columns for tree, pixels for svg, html and png; 0: never",
    )


def on_screen(args: argparse.Namespace) -> bool:
    """Tell whether a person is looking at the output."""
    return args.output == "-" and sys.stdout.isatty()


def chosen_format(
    args: argparse.Namespace, among: Mapping[str, Format], default: str, *, apart: bool = False
) -> Format:
    """Return the format asked for, or the one that the output's name implies; raise an error if it cannot be used.

    The output is a file or, if each sentence is written ``apart``, a folder.
    """
    if args.format is not None:
        format_ = among[args.format]
    else:
        format_ = format_of_name(args.output, among, remedy=ANOTHER) or among[default]
    format_.check_width(args.width, "--width")
    if apart:  # fail now, not after the work
        check_folder(args.output)
    elif args.output != "-":
        check_file_to_write(args.output, f"NAME{format_.endings[0]}")
    if format_.name == "png":
        from tanglewood.show.png import check_png

        check_png()
    if format_.binary and on_screen(args):
        raise ConfigError(f"a terminal shows no {format_.name.upper()}; -o should name a file")
    return format_


def chosen_look(args: argparse.Namespace, format_: Format) -> Look:
    """Return how drawings should look: on a terminal no wider than it, and in colour."""
    width = args.width
    if width is None and format_.name == "tree" and on_screen(args):
        from tanglewood.show.drawing import screen_width

        width = screen_width()
    return Look(tags=args.tags, width=width, colour=on_screen(args) and "NO_COLOR" not in os.environ)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print what the library warns of while it writes, each once, as other messages are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"warning: {one_line(text)}", file=sys.stderr)
