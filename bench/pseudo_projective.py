"""Round trip of pseudo-projective trees: python bench/pseudo_projective.py TREEBANK_DIR... prints a Markdown table.

All CoNLL files of a directory are taken together; times are wall seconds for the round trip, reading apart.
"""

import sys
import time
from pathlib import Path

from tanglewood.transforms.pseudo_projective import SCHEMES, fitting_scheme, round_trip
from tanglewood.treebank.conllu import read


def main(directories):
    """Print one row for each treebank and scheme."""
    print("| treebank | scheme | non-projective arcs | recovered | % | labels before | after | trees | restored | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for directory in map(Path, directories):
        files = sorted([*directory.glob("*.conllu"), *directory.glob("*.conll")])
        trees = [sentence.tree for file in files for sentence in read(file)]
        labels = {label for tree in trees for label in tree.labels}
        for name in SCHEMES:
            start = time.perf_counter()
            r = round_trip(trees, fitting_scheme(name, labels))
            seconds = time.perf_counter() - start
            percent = f"{100 * r.recovered / r.arcs:.2f}" if r.arcs else "-"
            print(
                f"| {directory.name} | {name} | {r.arcs} | {r.recovered} | {percent} | {r.labels_before} "
                f"| {r.labels_after} | {r.trees} | {r.restored} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
