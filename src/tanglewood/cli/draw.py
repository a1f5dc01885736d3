"""Draw trees, crossing arcs marked: in the terminal, as SVG, web page, PNG or for LaTeX; alone or two compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_choice, add_reading, choose_from, is_text, use_one_matrix_thread
from tanglewood.cli.writing import SINGLE, add_writing, drawings, format_of_name, on_screen
from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from tanglewood.treebank.sentence import Sentence

HELP = "draw trees in the terminal, as SVG, HTML, PNG or TikZ; compare two"
EXAMPLES = """\
  tanglewood draw examples/figure1.conllu
  tanglewood draw "A hearing is scheduled on the issue today."
  tanglewood draw treebank.conllu --sent-id s17 -o s17.svg
  tanglewood draw treebank.conllu --all -o trees.html
  tanglewood draw gold.conllu --compare parsed.conllu --sentence 12"""
FORMATS = {"tree": ".txt", "svg": ".svg", "html": ".html", "tikz": ".tex", "png": ".png"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files=1, text="CoNLL-U or CoNLL-X")
    add_choice(parser)
    parser.add_argument("--all", action="store_true", help="all sentences of the file (tree, html and tikz)")
    parser.add_argument("--compare", metavar="OTHER", help="file with a second analysis of the same sentence")
    add_writing(parser, FORMATS, "tree")
    parser.add_argument(
        "-m", "--model", metavar="MODEL", help="parses TEXT (default: the English one that comes along)"
    )


def run(args: argparse.Namespace) -> int:
    """Draw one sentence or more."""
    from tanglewood.files import writing
    from tanglewood.show import png

    kind = _format(args)
    if kind == "png":
        png.check_png()
    found = _chosen(args, kind)
    others, names = None, ("", "")
    if args.compare is not None:
        others = [other.tree for other in _counterparts(args, found)]
        names = _names(args)
    drawn = list(drawings((sentence for _, sentence in found), kind, args, others, names))
    data = "\n".join(f"{drawing.rstrip()}\n" for drawing in drawn).encode()
    with writing(args.output) as out:
        out.write(png.from_svg(drawn[0]) if kind == "png" else data)
    return 0


def _format(args: argparse.Namespace) -> str:
    """Return the format that was asked for or follows from the name of the output."""
    kind = format_of_name(args, FORMATS)
    if kind is None and args.output != "-" and Path(args.output).suffix:
        known = ", ".join(FORMATS.values())
        raise ConfigError(f"-o {args.output}: the name should end in one of {known}, or --format say what to write")
    if kind == "png" and on_screen(args):
        raise ConfigError("a terminal shows no PNG; -o should name a file")
    return kind or "tree"


def _chosen(args: argparse.Namespace, kind: str) -> list[tuple[int, Sentence]]:
    """Return the sentences to draw, with their numbers from 1."""
    (source,) = args.files
    one = args.sentence is not None or args.sent_id is not None
    if args.all and one:
        raise ConfigError("--all and the choice of one sentence exclude each other")
    if is_text(source):
        use_one_matrix_thread()
        from tanglewood.pipeline import load

        found: list[Sentence] = load(args.model)(source).sentences
        if one or not found:
            return [choose_from(found, args, "the text")]
    else:
        if args.model is not None:
            raise ConfigError("-m is for raw text; a file should have its trees already (tanglewood parse makes them)")
        reading = Reading(args)
        try:
            if not args.all:
                return [choose_from(reading.sentences(source), args, source)]
            found = [*reading.sentences(source)]
        finally:
            reading.close()
    if kind in SINGLE and len(found) > 1:
        raise ConfigError(f"{len(found)} sentences do not go into one {kind} picture; --sentence should choose one")
    return [*enumerate(found, 1)]


def _counterparts(args: argparse.Namespace, found: list[tuple[int, Sentence]]) -> list[Sentence]:
    """Return for each sentence the one with its sent_id in the other file, or the one at its place; same words."""
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


def _names(args: argparse.Namespace) -> tuple[str, str]:
    """Return what the two files are called in a legend: their names, with folders only if need be."""
    first = "text" if is_text(args.files[0]) else args.files[0]
    short = Path(first).name, Path(args.compare).name
    return short if short[0] != short[1] else (first, args.compare)
