"""Show how a transition system derives the tree of a sentence, move by move (Nivre 2009, Figure 3)."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    add_choice,
    add_json,
    add_reading,
    add_system_options,
    choose_sentence,
    make_systems,
    print_json,
)
from tanglewood.errors import OracleError

if TYPE_CHECKING:
    import argparse

HELP = "how a system derives a tree, move by move"
EXAMPLES = """\
  tanglewood trace examples/figure1.conllu --system swap
  tanglewood trace examples/figure1.conllu --system swap --oracle lazy
  tanglewood trace examples/figure2-lacroix.conllu --system three-step
  tanglewood trace examples/figure1.conllu --system joint-swap
  tanglewood trace treebank.conllu --sent-id s17 --system attardi-all --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files=1)
    add_json(parser)
    add_choice(parser)
    parser.add_argument("--system", default="swap", metavar="NAME", help="transition system (default swap; see info)")
    parser.add_argument("--oracle", metavar="NAME", help="its oracle (default: the first that info lists)")
    parser.add_argument("--single-root", action="store_true", help="let the system keep trees single-rooted")
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the derivation; exit status 1 if the system does not cover the tree."""
    from tanglewood.show.trace import Step, format_trace, trace

    (system,) = make_systems([args.system], args).values()
    system.single_root = args.single_root
    sentence = choose_sentence(args)
    steps: list[Step] = []
    failure = None
    try:
        tags = sentence.xpos if getattr(system, "tag_column", "") == "xpos" else sentence.upos
        for step in trace(system, sentence.tree(), args.oracle, tags):
            steps.append(step)
    except OracleError as error:
        failure = error
    if args.json:
        print_json([{**asdict(step), "transition": step.transition} for step in steps])
    else:
        print(format_trace(steps, sentence.forms, system.aside_name))
        print(f"\n{len(steps) - 1} transitions for {len(sentence)} words")
    if failure:
        print(f"tanglewood trace: {failure}", file=sys.stderr)
    return 1 if failure else 0
