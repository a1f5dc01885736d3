"""Count how many sentences, and how many non-projective ones, each transition system can derive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tanglewood.cli.common import (
    Reading,
    add_json,
    add_reading,
    add_system_options,
    add_text,
    make_systems,
    percent,
    print_json,
    print_table,
)
from tanglewood.cli.inputs import shown_name, shown_text
from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from tanglewood.measure.coverage import Coverage

HELP = "which systems can derive the trees of a treebank"
EXAMPLES = """\
  tanglewood coverage treebank.conllu
  tanglewood coverage treebank.conllu --system attardi attardi-all --degree 3
  tanglewood coverage treebank.conllu --system attardi --reduces "s0>s1,s1>s0,b0>s1"
  tanglewood coverage "A hearing is scheduled on the issue today." --system attardi swap
  tanglewood coverage treebank.conllu --system attardi --list-uncovered
  tanglewood coverage --json *.conllu --system covington --max-degree 1"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files="*", text=True)
    add_text(parser)
    add_json(parser)
    parser.add_argument(
        "--system", nargs="+", action="extend", metavar="NAME", help="systems to count (default: all; see info)"
    )
    parser.add_argument(
        "--list-uncovered", action="store_true", help="list the sentences that a system does not derive, and their text"
    )
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Count, and print a table or JSON."""
    from tanglewood.measure.coverage import Coverage
    from tanglewood.systems import SYSTEMS

    # `--system a b FILE` reads naturally, so files after the names are taken as files.
    names = list(args.system or SYSTEMS)
    files = list(args.files)
    while names and names[-1] not in SYSTEMS and _is_input(names[-1]):
        files.insert(len(args.files), names.pop())
    if not files:
        raise ConfigError("there is no FILE or TEXT to count")
    systems = make_systems(names or list(SYSTEMS), args)
    reading = Reading(args, texts=True)
    counts: dict[str, Coverage] = {}
    uncovered: dict[str, list[Uncovered]] = {}
    for file in files:
        counts[file] = Coverage(systems)
        uncovered[file] = []
        for sentence in reading.sentences(file):
            missing = counts[file].add(sentence.tree)
            if missing and args.list_uncovered:
                text = sentence.text or " ".join(sentence.forms)
                uncovered[file].append(Uncovered(sentence.line, sentence.sent_id or "", missing, text))
    if args.json:
        listed = args.list_uncovered
        print_json(
            [
                {
                    "file": file,
                    **coverage.as_dict(),
                    **({"uncovered": [one._asdict() for one in uncovered[file]]} if listed else {}),
                }
                for file, coverage in counts.items()
            ]
        )
    else:
        _print(counts, list(systems))
        if args.list_uncovered:
            _print_uncovered(uncovered)
    return reading.close()


class Uncovered(NamedTuple):
    """A sentence that some systems are not known to derive."""

    line: int
    sent_id: str
    systems: list[str]
    text: str


def _print_uncovered(uncovered: dict[str, list[Uncovered]]) -> None:
    for file, found in uncovered.items():
        if not found:
            print(f"\nEvery system derives every sentence of {shown_name(file)}")
            continue
        print(f"\nSentences of {shown_name(file)} that a system does not derive")
        print_table(
            ["sent_id", "line", "text", "not derived by"],
            [[one.sent_id or "-", one.line, shown_text(one.text), ", ".join(one.systems)] for one in found],
        )


def _is_input(word: str) -> bool:
    """Tell whether a word is meant as a file or text rather than as the name of a system."""
    return word == "-" or any(map(str.isspace, word)) or Path(word).exists()


def _print(counts: dict[str, Coverage], systems: list[str]) -> None:
    every = list(counts.values())
    sentences = sum(coverage.sentences for coverage in every)
    crossing = sum(coverage.nonprojective_sentences for coverage in every)
    print(f"{sentences:,} sentences, {crossing:,} of them non-projective ({percent(crossing, sentences)})\n")
    rows: list[list[object]] = []
    for system in systems:
        covered = sum(coverage.covered[system] for coverage in every)
        tangled = sum(coverage.covered_nonprojective[system] for coverage in every)
        rows.append([system, covered, percent(covered, sentences), tangled, percent(tangled, crossing)])
    print_table(["system", "covered", "%", "of the non-projective", "%"], rows)
    for system in systems:
        if undecided := sum(coverage.undecided[system] for coverage in every):
            print(f"{system}: {undecided:,} sentences undecided, where the search for a derivation gave up")
    if len(counts) > 1:
        print("\nNon-projective sentences covered, by file")
        print_table(
            ["file", "non-proj.", *systems],
            [
                [
                    shown_name(file),
                    part.nonprojective_sentences,
                    *(percent(part.covered_nonprojective[name], part.nonprojective_sentences) for name in systems),
                ]
                for file, part in counts.items()
            ],
        )
