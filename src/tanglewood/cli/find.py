"""Find sentences by their arcs, words and length, or by a system that does not derive them.

All conditions must hold. The sentences found are written as they are in the file, or drawn.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_reading, add_text
from tanglewood.cli.writing import add_writing, chosen_format, chosen_look, on_screen, warnings_told
from tanglewood.errors import ConfigError, TreeError
from tanglewood.show.formats import FORMATS, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.measure.find import Filter
    from tanglewood.treebank.sentence import Sentence

HELP = "sentences of treebanks by arcs, words and length"
EXAMPLES = """\
  tanglewood find treebank.conllu --crossing                     draws them on a terminal
  tanglewood find treebank.conllu --crossing --label punct       likely errors
  tanglewood find *.conllu --crossing --length 5-12 --limit 10 -o examples.html
  tanglewood find *.conllu --not-covered-by attardi-all --count
  tanglewood find treebank.conllu --form "^[Ww]hich$" -o which.conllu
  tanglewood find letters.txt --crossing --format tsv            in a text, which is parsed first"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, text=True)
    add_text(parser, forced=False)  # here --text is what to look for
    wanted = parser.add_argument_group("what to find")
    wanted.add_argument("--crossing", action="store_true", help="with a non-projective arc")
    wanted.add_argument("--degree", type=int, default=0, metavar="D", help="of this degree or higher (Nivre 2007)")
    wanted.add_argument(
        "--label", default="", metavar="L", help="with an arc of this label; with --crossing, a non-projective one"
    )
    wanted.add_argument(
        "--not-covered-by", default="", metavar="SYSTEM", help="whose tree this system cannot derive (see info)"
    )
    wanted.add_argument("--length", default="0-", metavar="MIN-MAX", help="with this many words; also 5-, -12 or 7")
    wanted.add_argument(
        "--form", default="", metavar="REGEX", help="with a word form that this regular expression matches somewhere"
    )
    wanted.add_argument(
        "--text",
        dest="search",
        default="",
        metavar="TEXT",
        help="with this in its text or sent_id, in upper or lower case",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after the first N")
    parser.add_argument("--count", action="store_true", help="print how many there are, and nothing else")
    add_writing(parser, FORMATS, "what OUT ends in, or tree on a terminal, else conllu")


def _lengths(text: str) -> tuple[int, int | None]:
    """Read a range of lengths."""
    found = re.fullmatch(r"(?=.*\d)(\d*)(-?)(\d*)", text, re.ASCII)
    if found is None:
        raise ConfigError(f"--length {text}: it should be MIN-MAX, such as 5-12, 5-, -12 or 7")
    low, dash, high = found.groups()
    if not dash:
        return int(low), int(low)
    return int(low or 0), int(high) if high else None


def run(args: argparse.Namespace) -> int:
    """Write, draw or count what is found."""
    from tanglewood.measure.find import Filter

    if args.limit is not None and args.limit < 1:
        raise ConfigError(f"--limit {args.limit}: it should be 1 or more")
    if args.degree < 0:
        raise ConfigError(f"--degree {args.degree}: a degree is 0, 1, 2, ...")
    if args.count and (args.output != "-" or args.format is not None):
        raise ConfigError("--count prints a number only: it goes with neither -o nor --format")
    format_ = chosen_format(args, FORMATS, "tree" if on_screen(args) else "conllu")
    shortest, longest = _lengths(args.length)
    wanted = Filter(
        crossing=args.crossing,
        degree=args.degree,
        not_covered_by=args.not_covered_by,
        label=args.label,
        search=args.search,
        form=args.form,
        min_length=shortest,
        max_length=longest,
    )
    search = _Search(args, wanted, trees=format_.draws and not args.count)
    if args.count:
        print(sum(1 for _ in search.sentences()))
        return search.reading.close()
    if format_.one and args.limit != 1:
        raise ConfigError(f"{format_.name} holds one sentence: add --limit 1, or write html")
    with warnings_told():
        write(search.sentences(), args.output, format_, replace(chosen_look(args, format_), captions=True))
    print(search.summary(), file=sys.stderr)
    return search.reading.close()


class _Search:
    """Goes through all files, yields the sentences that are wanted, and counts them."""

    def __init__(self, args: argparse.Namespace, wanted: Filter, *, trees: bool) -> None:
        self.reading = Reading(args, texts=True)
        self.files: list[str] = args.files
        self.limit: int | None = args.limit
        self.wanted = wanted
        self.trees = trees  # whether every sentence needs one, or only those whose arcs are asked for
        self.seen = 0
        self.found = 0

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences that are wanted, up to the limit."""
        for file in self.files:
            for sentence in self.reading.sentences(file, trees=self.trees):
                self.seen += 1
                try:
                    passes = self.wanted.passes(sentence)
                except TreeError as error:
                    self.reading.note(error)
                    continue
                if passes:
                    self.found += 1
                    yield sentence
                if self.found == self.limit:
                    return

    def summary(self) -> str:
        """Say how many sentences were found, out of how many."""
        if self.found == self.limit:
            return f"found {self.found:,} in the first {self.seen:,} sentences and stopped (--limit)"
        return f"found {self.found:,} of {self.seen:,} sentences"
