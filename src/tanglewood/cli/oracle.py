"""Measure the abstract running time of a system: transitions by sentence length (Nivre 2009, Figure 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    Reading,
    add_json,
    add_reading,
    add_system_options,
    add_text,
    make_systems,
    print_json,
    print_table,
)
from tanglewood.cli.inputs import shown_name

if TYPE_CHECKING:
    import argparse

HELP = "transitions and swaps of an oracle, with a fitted line"
EXAMPLES = """\
  tanglewood oracle train.conllu --system swap
  tanglewood oracle train.conllu --system swap --oracle lazy --plot figure5.svg
  tanglewood oracle *.conllu --system covington --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, text=True)
    add_text(parser)
    add_json(parser)
    parser.add_argument("--system", default="swap", metavar="NAME", help="transition system (default swap; see info)")
    parser.add_argument("--oracle", metavar="NAME", help="its oracle (default: the first that info lists)")
    parser.add_argument(
        "--plot", metavar="OUT", help="draw transitions by length to OUT (.svg, .png or .pdf); needs the extra plot"
    )
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Derive all trees, and print a table or JSON."""
    from tanglewood.measure.running_time import RunningTime

    if args.plot:
        from tanglewood.show.plot import check_plot

        check_plot(args.plot)  # fail now, not after the work
    (system,) = make_systems([args.system], args).values()
    reading = Reading(args, texts=True)
    times = {}
    for file in args.files:
        times[file] = RunningTime(system, args.oracle)
        for sentence in reading.sentences(file):
            times[file].add(sentence.tree)
    if args.plot:
        from tanglewood.show.plot import plot_running_time

        plot_running_time(
            args.plot, [("/".join(Path(shown_name(file)).parts[-2:]), time) for file, time in times.items()]
        )
    results = [{"file": file, **time.as_dict()} for file, time in times.items()]
    if args.json:
        print_json(results)
    else:
        print(f"{system.name}, {next(iter(times.values())).oracle} oracle: m transitions for n words, fitted m = a n\n")
        columns = ["sentences", "words", "transitions", "swaps", "max_swaps", "uncovered"]
        print_table(
            ["file", *(column.replace("_", " ") for column in columns), "swaps/sentence", "a", "R2"],
            [
                [
                    shown_name(str(result["file"])),
                    *(result[column] for column in columns),
                    f"{times[str(result['file'])].swaps / max(times[str(result['file'])].sentences, 1):.2f}",
                    f"{result['slope']:.4f}",
                    f"{result['r2']:.4f}",
                ]
                for result in results
            ],
        )
    return reading.close()
