"""Words per CPU second of reading a CoNLL file, beside a plain loop that only splits its lines.

    python bench/reading.py FILE [REPEATS]

Compressed files are read through the same decompression in neither case: give a plain file.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from tanglewood.treebank import conllu, measures
from timing import least_cpu


def plain(path: Path) -> int:
    """Split every line at its tabs; the number of lines whose first column is a number."""
    words = 0
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            words += columns[0].isdigit()
    return words


def main() -> None:
    """Print one line for each way of reading."""
    path = Path(sys.argv[1])
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    build = "interpreted" if measures.__file__.endswith(".py") else "compiled"
    ways: dict[str, Callable[[], int]] = {
        "split loop": lambda: plain(path),
        f"read, {build}": lambda: sum(map(len, conllu.read(path))),
        f"read without trees, {build}": lambda: sum(map(len, conllu.read(path, trees=False))),
    }
    for name, work in ways.items():
        words, seconds = least_cpu(repeats, work)
        print(f"{name:34} {words:9,} words {seconds:8.3f} s {words / seconds:12,.0f} words/s")


if __name__ == "__main__":
    main()
