"""Tokens a second at different sentence lengths: with moves alone cost should grow with the words and no faster.

    python bench/length.py MODEL FILE [--searches "greedy; vote"] [--words 20000] [--plot OUT.svg]

The sentences of each length are made by concatenating those of FILE and cutting where the length is reached. Timed is
parsing from text to text in CPU time of this process, the model loaded already, best of three.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from tanglewood import Sentence, read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.show.plot import check_plot, plot_speeds
from timing import SEARCHES, least_cpu, print_markdown, searches_named

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
    parser.add_argument("--searches", default="greedy", metavar="A; B; ...", help=f"of {'; '.join(SEARCHES)}")
    parser.add_argument("--plot", metavar="OUT.svg", help="plot it; needs matplotlib")
    args = parser.parse_args()
    if args.plot:
        check_plot(args.plot)
    use_one_matrix_thread()
    from tanglewood.options import ParseOptions
    from tanglewood.pipeline import load
    from tanglewood.treebank.conllu import Batch

    model = load(args.model)
    speeds: dict[str, dict[int, float]] = {}
    for search in searches_named(args.searches):
        options = ParseOptions(**SEARCHES[search][1])
        speeds[search] = {}
        for length in LENGTHS:
            blocks = [(1, block) for block in blocks_of(args.file, length, max(args.words // length, 1))]
            step = max(BATCH_WORDS // length, 1)
            batches = [Batch("made", blocks[i : i + step]) for i in range(0, len(blocks), step)]

            def parse(batches: list[Batch] = batches, options: ParseOptions = options) -> int:
                worker = model.worker(options)
                return sum(worker.parse(batch).words for batch in batches)

            words, seconds = least_cpu(args.rounds, parse)
            speeds[search][length] = words / seconds
    header = ["words in a sentence"]
    for search in speeds:
        header += [f"{search}: tokens/CPU s", f"as a multiple of that at {COMPARED}"]
    rows = []
    for length in LENGTHS:
        cells = [f"{length:,}"]
        for found in speeds.values():
            cells += [f"{found[length]:,.0f}", f"{found[length] / found[COMPARED]:.2f}"]
        rows.append(cells)
    print_markdown(header, rows)
    if args.plot:
        search, found = next(iter(speeds.items()))
        plot_speeds(args.plot, f"{model.description['system']}, {search}", found)


if __name__ == "__main__":
    main()
