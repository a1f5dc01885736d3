"""Writing trees in the formats that parse and draw share: in which one, how wide, and the parts of the output."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from tanglewood.treebank.sentence import Sentence
    from tanglewood.treebank.tree import Tree

SINGLE = ("svg", "png")  # they hold one sentence
PICTURES = (".png", ".svg", ".svgz", ".html", ".htm", ".tex", ".pdf", ".jpg", ".gif", ".json", ".jsonl")


def add_writing(parser: argparse.ArgumentParser, formats: Mapping[str, str], default: str) -> None:
    """Add what says where and how to write; the formats are given with the endings of file names that mean them."""
    endings = " ".join(filter(None, formats.values()))
    parser.add_argument("--format", choices=formats, help=f"default: what OUT ends in ({endings}), or {default}")
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="file to write, .gz and .xz compressed (default: stdout)"
    )
    parser.add_argument("--tags", action="store_true", help="show part-of-speech tags below the words of a drawing")
    parser.add_argument(
        "--width",
        type=int,
        metavar="N",
        help="drawings of longer sentences are broken into lines: columns for tree, pixels for svg, html and png; "
        "0: never",
    )


def on_screen(args: argparse.Namespace) -> bool:
    """Tell whether a person is looking at the output."""
    return args.output == "-" and sys.stdout.isatty()


def format_of_name(args: argparse.Namespace, formats: Mapping[str, str]) -> str | None:
    """Return the format asked for, or the one that the name of the output means, if any."""
    if args.format is not None:
        return str(args.format)
    ending = Path(args.output.removesuffix(".gz").removesuffix(".xz")).suffix.lower()
    kind = next((name for name, end in formats.items() if end == ending and end), None)
    if kind is None and ending in PICTURES:
        known = ", ".join(filter(None, formats.values()))
        raise ConfigError(f"-o {args.output}: the name should end in one of {known}, or --format say what to write")
    return kind


def chosen_width(args: argparse.Namespace, kind: str) -> int | None:
    """Return the width of drawings in the format's units, None if there is no limit."""
    from tanglewood.show import html, svg

    if args.width is None:
        screen = max(10, shutil.get_terminal_size().columns) if on_screen(args) else None
        return {"svg": svg.WIDTH, "png": svg.WIDTH, "html": html.WIDTH}.get(kind, screen)
    if kind == "tikz":
        raise ConfigError("--width: a drawing for LaTeX is not broken into lines")
    least, unit = (10, "columns") if kind == "tree" else (200, "pixels")
    if args.width and args.width < least:
        raise ConfigError(f"--width {args.width}: it should be {least} {unit} or more, or 0 for no limit")
    return args.width or None


def drawings(
    sentences: Iterator[Sentence],
    kind: str,
    args: argparse.Namespace,
    others: Sequence[Tree] | None = None,
    names: tuple[str, str] = ("", ""),
) -> Iterator[str]:
    """Give the parts of the output, one a sentence, or one for all if the format is a page.

    ``others`` are second trees of the same sentences to compare with, ``names`` what both are called.
    """
    from tanglewood.show import html, svg, tikz, tree

    width = chosen_width(args, kind)
    if kind == "html":
        found = list(sentences)
        title = found[0].text if len(found) == 1 else None
        yield html.draw(found, tags=args.tags, title=title, others=others, names=names, width=width)
        return
    colour = on_screen(args) and "NO_COLOR" not in os.environ
    if kind in SINGLE:
        sentences = iter(list(islice(sentences, 2)))
    for number, sentence in enumerate(sentences):
        if kind in SINGLE and next(sentences, None) is not None:
            raise ConfigError(
                f"several sentences do not go into one {kind} picture: html shows all, draw --sentence one of them"
            )
        forms, tags = sentence.forms, sentence.upos if args.tags else None
        other = None if others is None else others[number]
        if kind == "json":
            yield json.dumps(sentence.to_dict(), ensure_ascii=False)
        elif kind == "tree":
            yield tree.draw(forms, sentence.tree, width=width, colour=colour, tags=tags, other=other, names=names)
        elif kind == "tikz":
            yield tikz.draw(sentence.tree, forms, tags=tags, other=other)
        else:
            yield svg.draw(sentence.tree, forms, tags=tags, title=sentence.text, other=other, names=names, width=width)
