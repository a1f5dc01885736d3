"""Draw trees with crossing arcs marked: in the terminal, as SVG, HTML, PNG or for LaTeX; one tree or two compared."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_choice, add_reading, add_text, choose_from
from tanglewood.cli.writing import add_writing, chosen_format, chosen_look, warnings_told
from tanglewood.errors import ConfigError, one_line
from tanglewood.files import names_folder
from tanglewood.show.formats import DRAWINGS, Format

if TYPE_CHECKING:
    import argparse

    from tanglewood.show.formats import Look
    from tanglewood.treebank.sentence import Sentence

LONGEST_NAME = 100  # of a file that is called by its sent_id
HELP = "draw trees in the terminal, as SVG, HTML, PNG or TikZ; compare two"
EXAMPLES = """\
  tanglewood draw examples/figure1.conllu
  tanglewood draw "A hearing is scheduled on the issue today."
  tanglewood draw letters.txt --all -o letters.html
  tanglewood draw treebank.conllu --sent-id s17 -o s17.svg
  tanglewood draw treebank.conllu --all -o trees.html
  tanglewood draw treebank.conllu --all -o pictures/ --format png
  tanglewood draw gold.conllu --compare parsed.conllu --sentence 12"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files=1, text=True)
    add_text(parser)
    add_choice(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="all sentences of the file: in one output (tree, html and tikz) or, if OUT is a folder, ends in / or has "
        "no ending, each in a file of its own there, named after its sent_id (svg, unless --format says otherwise)",
    )
    parser.add_argument("--compare", metavar="OTHER", help="file with a second analysis of the same sentence")
    add_writing(parser, DRAWINGS, "what OUT ends in, or tree")


def run(args: argparse.Namespace) -> int:
    """Draw one sentence or more."""
    from tanglewood.show.formats import write

    folder = _folder(args)
    if folder is not None and args.format is None:
        args.format = "svg"
    if folder is None and args.output != "-" and names_folder(args.output):
        raise ConfigError(
            f"{args.output} is a folder: with --all each sentence gets a file of its own there; otherwise -o should "
            f"name a file, such as {Path(args.output) / 'NAME.svg'}"
        )
    format_ = chosen_format(args, DRAWINGS, "tree", apart=folder is not None)
    reading = Reading(args, texts=True)
    found = _chosen(args, reading, format_, apart=folder is not None)
    look = chosen_look(args, format_)
    if args.compare is not None:
        others = [other.tree for other in _counterparts(args, found)]
        look = replace(look, others=others, names=_names(args, reading))
    with warnings_told():
        if folder is None:
            write([sentence for _, sentence in found], args.output, format_, look)
        else:
            _write_apart(found, folder, format_, look)
    return 0


def _folder(args: argparse.Namespace) -> Path | None:
    """Return the folder that all sentences are to be drawn into, if OUT is meant as one."""
    if not args.all or args.output == "-":
        return None
    pictures = args.format is None or DRAWINGS[args.format].one
    is_one = names_folder(args.output) or (pictures and not Path(args.output).suffix)
    return Path(args.output) if is_one else None


def _write_apart(found: list[tuple[int, Sentence]], folder: Path, format_: Format, look: Look) -> None:
    """Draw each sentence into a file of its own."""
    from tanglewood.show.formats import write

    folder.mkdir(exist_ok=True)
    names: set[str] = set()
    for place, (number, sentence) in enumerate(found):
        name = re.sub(r"[^\w.+=@-]+", "_", sentence.sent_id or "")[:LONGEST_NAME].lstrip(".") or f"sentence-{number}"
        if name.lower() in names:
            name = f"{name}-{number}"
        names.add(name.lower())  # some systems do not tell capitals from small letters
        others = None if look.others is None else [look.others[place]]
        write([sentence], folder / f"{name}{format_.endings[0]}", format_, replace(look, others=others))
    print(f"{len(found):,} drawings in {one_line(str(folder))}", file=sys.stderr)


def _chosen(args: argparse.Namespace, reading: Reading, format_: Format, *, apart: bool) -> list[tuple[int, Sentence]]:
    """Return the sentences to draw, numbered from 1: all of a text, but only one of a file unless --all is given.

    Several do not go into one picture, unless each is drawn ``apart``.
    """
    (source,) = args.files
    one = args.sentence is not None or args.sent_id is not None
    if args.all and one:
        raise ConfigError("--all and the choice of one sentence exclude each other")
    is_text = reading.is_text(source)
    sentences = reading.sentences(source)
    try:
        if one or not (args.all or is_text):
            return [choose_from(sentences, args, "the text" if is_text else source)]
        found = [*enumerate(sentences, 1)]
    finally:
        reading.close()
    if not found:
        raise ConfigError("there is no sentence to draw")
    if format_.one and len(found) > 1 and not apart:
        raise ConfigError(
            f"{len(found)} sentences do not go into one {format_.name} picture; --sentence should choose one, or --all "
            "-o FOLDER/ draw each into a file of its own"
        )
    return found


def _counterparts(args: argparse.Namespace, found: list[tuple[int, Sentence]]) -> list[Sentence]:
    """Return the counterpart of each sentence in the other file: the same words, by sent_id or else by position."""
    reading = Reading(args)
    others = [*reading.sentences(args.compare)]
    reading.close()
    by_name = {other.sent_id: other for other in reversed(others)}
    result = []
    for number, sentence in found:
        name = sentence.sent_id
        same = None if name is None else by_name.get(name)
        if same is None and number > len(others):
            wanted = f"sentence {number}" if name is None else f"sentence {number} and no sent_id {name}"
            raise ConfigError(f"{args.compare}: there is no {wanted} to compare with")
        other = same or others[number - 1]
        if other.forms != sentence.forms:
            pairs = enumerate(zip(sentence.forms, other.forms, strict=False), 1)
            different = next((f"word {word} is {b!r} there and {a!r} here" for word, (a, b) in pairs if a != b), "")
            lengths = f"it has {len(other)} words there and {len(sentence)} here"
            raise ConfigError(
                f"{other.file}:{other.line}: this is another sentence than {name or number}: {different or lengths}"
            )
        result.append(other)
    return result


def _names(args: argparse.Namespace, reading: Reading) -> tuple[str, str]:
    """Return the names of the two files for a legend, with folders only if the names alone are the same."""
    first = "text" if reading.is_text(args.files[0]) else args.files[0]
    short = Path(first).name, Path(args.compare).name
    return short if short[0] != short[1] else (first, args.compare)
