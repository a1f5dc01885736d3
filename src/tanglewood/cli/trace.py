"""Show how a transition system derives the tree of a sentence, move by move (Nivre 2009, Figure 3)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    Reading,
    add_choice,
    add_json,
    add_reading,
    add_reproducible,
    add_system_options,
    choose_from,
    given_options,
    make_systems,
    print_json_list,
    use_one_matrix_thread,
)
from tanglewood.errors import OracleError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.derivation import Step

HELP = "how a system derives a tree, move by move"
EXAMPLES = """\
  tanglewood trace examples/figure1.conllu --system swap
  tanglewood trace examples/figure1.conllu --system swap --oracle lazy
  tanglewood trace examples/figure2-lacroix.conllu --system three-step
  tanglewood trace examples/figure1.conllu --system joint-swap
  tanglewood trace "I know what you are looking for." --system attardi
  tanglewood trace treebank.conllu --sent-id s17 --system attardi-all --json
  tanglewood trace -m model.tw words.conllu     the moves of a trained parser; with --json their scores, too"""

OWN_SYSTEM = "a model has its own system: --system, --oracle and options of systems do not go with -m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files=1, text=True)
    parser.add_argument("--text", action="store_true", help="treat the input as text, whatever it looks like")
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="follow the moves of this model instead of an oracle's; with text and --system, parse the text with it "
        "(default: the bundled English one)",
    )
    add_reproducible(parser)
    add_json(parser)
    add_choice(parser)
    parser.add_argument("--system", metavar="NAME", help="transition system (default swap; see info)")
    parser.add_argument("--oracle", metavar="NAME", help="its oracle (default: the first that info lists)")
    parser.add_argument("--single-root", action="store_true", help="let the system derive single-rooted trees only")
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the derivation; exit status 1 if the system does not cover the tree."""
    from tanglewood.derivation import trace, trace_model
    from tanglewood.show.trace import trace_lines

    of_system = bool(args.system or args.oracle or args.single_root or given_options(args))
    follow = args.model is not None and not of_system
    (file,) = args.files
    reading = Reading(args, texts=True, idle="" if follow else OWN_SYSTEM)
    try:
        source = "the text" if reading.is_text(file) else file
        _, sentence = choose_from(reading.sentences(file, trees=not follow), args, source)
    finally:
        reading.close()
    if follow:
        use_one_matrix_thread()
        from tanglewood.options import ParseOptions
        from tanglewood.pipeline import load

        parser = load(args.model).parser
        system = parser.model.actions.system
        options = ParseOptions(reproducible=args.reproducible)
        found = trace_model(parser, sentence, options, short=not args.json)
    else:
        (system,) = make_systems([args.system or "swap"], args).values()
        system.single_root = args.single_root
        found = trace(sentence, system, args.oracle, short=not args.json)
    steps = _Steps(found)
    if args.json:
        print_json_list(step.as_dict() for step in steps)
    else:
        for line in trace_lines(steps, sentence.forms, system.aside_name):
            print(line)
        print(f"\n{steps.transitions} transitions for {len(sentence)} words")
    if steps.failure:
        print(f"tanglewood trace: {sentence.located(steps.failure)}", file=sys.stderr)
    return 1 if steps.failure else 0


class _Steps:
    """The steps of a derivation as they come, up to its failure if it has one."""

    def __init__(self, steps: Iterator[Step]) -> None:
        self._steps = steps
        self.transitions = 0
        self.failure: OracleError | None = None

    def __iter__(self) -> Iterator[Step]:
        from tanglewood.derivation import count_transitions

        try:
            for step in self._steps:
                self.transitions += count_transitions([step])
                yield step
        except OracleError as error:
            self.failure = error
