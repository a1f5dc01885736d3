"""Writing parsed sentences: as they are, as JSON, or drawn."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tanglewood.treebank.conllu import write_blocks, writing
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    import argparse

FORMATS = ("conllu", "tree", "svg", "html", "tikz", "json")
ENDINGS = {
    ".conllu": "conllu",
    ".svg": "svg",
    ".html": "html",
    ".tex": "tikz",
    ".json": "json",
    ".jsonl": "json",
    ".txt": "tree",
}


def chosen_format(args: argparse.Namespace, default: str) -> str:
    """Return the format asked for, or that of the name of the output, or, for a person who is looking, drawings."""
    if args.format:
        return str(args.format)
    plain = args.output.removesuffix(".gz").removesuffix(".xz")
    named = next((format_ for ending, format_ in ENDINGS.items() if plain.endswith(ending)), None)
    return named or ("tree" if args.output == "-" and sys.stdout.isatty() else default)


def write_trees(blocks: Iterable[bytes], format_: str, output: str) -> int:
    """Write sentences, given as CoNLL; return how many."""
    if format_ == "conllu":
        return write_blocks(blocks, output)
    count = 0

    def counted() -> Iterator[Sentence]:
        nonlocal count
        for block in blocks:
            count += 1
            yield Sentence(block)

    with writing(output) as out:
        for part in _parts(counted(), format_, output):
            out.write(part.encode())
            if out is sys.stdout.buffer:
                out.flush()
    return count


def _parts(sentences: Iterator[Sentence], format_: str, output: str) -> Iterator[str]:
    if format_ == "json":
        from tanglewood.show.record import record

        for sentence in sentences:
            yield json.dumps(record(sentence), ensure_ascii=False) + "\n"
    elif format_ == "tree":
        from tanglewood.show import text

        on_screen = output == "-" and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if on_screen else None
        colour = on_screen and "NO_COLOR" not in os.environ
        for sentence in sentences:
            yield text.draw(sentence.forms, sentence.tree(), width=width, colour=colour).rstrip() + "\n\n"
