"""How long counting the coverage of the four Attardi-family systems takes, reading included, on one core.

python bench/coverage.py TREEBANK_FILE...
"""

import sys
import time

from tanglewood import compiled, make_system, read
from tanglewood.measure.coverage import Coverage

SYSTEMS = ("attardi", "attardi-alldeg1", "attardi-all", "attardi-alls0s1")


def main() -> None:
    """Print the counts and the seconds."""
    start = time.perf_counter()
    coverage = Coverage({name: make_system(name) for name in SYSTEMS})
    for file in sys.argv[1:]:
        for sentence in read(file):
            coverage.add(sentence.tree)
    spent = time.perf_counter() - start
    print("core:", "compiled" if compiled() else "interpreted")
    print(f"{coverage.sentences} sentences, {coverage.nonprojective_sentences} non-projective, in {spent:.1f} s")
    for name in SYSTEMS:
        share = coverage.covered_nonprojective[name] / max(coverage.nonprojective_sentences, 1)
        print(f"{name:16} {coverage.covered[name]} covered, {share:.2%} of the non-projective")


if __name__ == "__main__":
    main()
