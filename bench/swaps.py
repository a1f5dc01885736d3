"""How many swaps the eager and the lazy oracle of swap take, and how many are needed, on the trees of treebanks.

python bench/swaps.py TREEBANK_DIR... [--part dev] [--limit MOVES]

The fewest are found by search (docs/systems/swap.md). Where it gives up, the sentence counts with the lazy oracle's
swaps as the most, and with as many as the search has ruled out to be too few as the least.
"""

import argparse
from pathlib import Path

from tanglewood import make_system, read
from tanglewood.core.state import State
from tanglewood.systems.swap_search import search_fewest_swaps


def main() -> None:
    """Print a table, a treebank a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument("--part", default="dev", help="which file of each folder (default dev)")
    parser.add_argument("--limit", type=int, default=500_000, help="moves that a search may make (default 500000)")
    args = parser.parse_args()
    system = make_system("swap")
    oracles = {name: system.oracle(name) for name in ("eager", "lazy")}
    print("| treebank | sentences | that need a swap | eager | lazy | fewest | lazy takes more | search gave up |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for folder in args.folders:
        file = next(path for path in sorted(folder.glob(f"{args.part}.*")) if path.suffix in {".conllu", ".conll"})
        total = dict.fromkeys(oracles, 0)
        sentences = swapped = more = undecided = least = most = 0
        for sentence in read(file):
            heads = sentence.tree.heads
            swaps = {}
            for name, oracle in oracles.items():
                oracle.bind(heads)
                state = State(len(heads) - 1)
                oracle.reaches_gold(state)
                swaps[name] = system.swaps(state)
                total[name] += swaps[name]
            found = search_fewest_swaps(list(heads), swaps["lazy"], args.limit)
            fewest = found.at_least if found.moves else swaps["lazy"]
            sentences += 1
            swapped += fewest > 0
            more += swaps["lazy"] > fewest
            undecided += found.at_least < fewest
            least += found.at_least
            most += fewest
        fewest_of_all = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        counts = f"{total['eager']:,} | {total['lazy']:,} | {fewest_of_all} | {more:,} | {undecided:,}"
        print(f"| {folder.name} | {sentences:,} | {swapped:,} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
