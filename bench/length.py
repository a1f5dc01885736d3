"""Tokens a second of greedy parsing at different sentence lengths: cost should grow with the words and no faster.

    python bench/length.py MODEL FILE [--words 20000] [--plot OUT.svg]

The sentences of each length are made by concatenating those of FILE and cutting where the length is reached. Timed is
parsing from text to text in CPU time of this process, the model loaded already, best of three.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from tanglewood import Sentence, read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.show.plot import check_plot, plot_speeds
from timing import least_cpu, print_markdown

LENGTHS = (10, 20, 50, 100, 200, 500, 1000)
COMPARED = 20
BATCH_WORDS = 2500  # as many as the parse command takes from a file at once, about


def words_of(file: Path) -> Iterator[tuple[str, ...]]:
    """Give the words of a file over and over, without their trees."""
    rows = [(*word[1:6], "_", "_", "_", "_") for sentence in read(file, trees=False) for word in sentence.words]
    while rows:
        yield from rows


def blocks_of(file: Path, length: int, count: int) -> list[bytes]:
    """Make so many sentences of that length."""
    source = words_of(file)
    return [
        Sentence.build([(str(number), *next(source)) for number in range(1, length + 1)]).to_bytes()
        for _ in range(count)
    ]


def main() -> None:
    """Print a table, and plot it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--words", type=int, default=20_000, metavar="N", help="words of each length (default 20,000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings, the best counts (default 3)")
    parser.add_argument("--beam", type=int, default=1, metavar="K", help="default 1: greedy")
    parser.add_argument("--plot", metavar="OUT.svg", help="plot it; needs matplotlib")
    args = parser.parse_args()
    if args.plot:
        check_plot(args.plot)
    use_one_matrix_thread()
    from tanglewood.options import ParseOptions
    from tanglewood.pipeline import load
    from tanglewood.treebank.conllu import Batch

    model = load(args.model)
    speeds = {}
    for length in LENGTHS:
        blocks = [(1, block) for block in blocks_of(args.file, length, max(args.words // length, 1))]
        step = max(BATCH_WORDS // length, 1)
        batches = [Batch("made", blocks[i : i + step]) for i in range(0, len(blocks), step)]

        def parse(batches: list[Batch] = batches) -> int:
            worker = model.worker(ParseOptions(beam=args.beam))
            return sum(worker.parse(batch).words for batch in batches)

        words, seconds = least_cpu(args.rounds, parse)
        speeds[length] = words / seconds
    print_markdown(
        ["words in a sentence", "tokens/CPU s", f"as a multiple of that at {COMPARED}"],
        [[f"{n:,}", f"{speed:,.0f}", f"{speed / speeds[COMPARED]:.2f}"] for n, speed in speeds.items()],
    )
    if args.plot:
        name = f"{model.description['system']}, {'greedy' if args.beam == 1 else f'beam {args.beam}'}"
        plot_speeds(args.plot, name, speeds)


if __name__ == "__main__":
    main()
