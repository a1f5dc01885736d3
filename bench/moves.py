"""How many moves a second the compiled core makes, following each system's static oracle on one core.

    python bench/moves.py [TREEBANK...]

Without a treebank: the nine-word sentence of Nivre 2009, Figure 1, and random trees of 25 words. A move is: ask the
oracle for its one move, check that it is legal, attach the arc, change the configuration.
"""

import argparse
import random
import time

from tanglewood import SYSTEMS, compiled, make_system, read
from tanglewood.core.actions import LabelNumbers
from tanglewood.core.state import State
from tanglewood.treebank.tree import Tree

FIGURE_1 = Tree([2, 3, 0, 3, 2, 7, 5, 4, 3])


def random_tree(n: int, rng: random.Random) -> Tree:
    """A random tree: each word, in random order, below 0 or a word before it."""
    order = [0, *rng.sample(range(1, n + 1), n)]
    heads = [0] * (n + 1)
    for place in range(1, n + 1):
        heads[order[place]] = order[rng.randrange(place)]
    return Tree(heads[1:])


def moves_a_second(system: str, oracle: str, trees: list[Tree], seconds: float) -> float:
    """Best of three: moves a second over bound oracles, so that reading and binding are not counted."""
    labels = LabelNumbers()
    bound = []
    for tree in trees:
        guide = make_system(system).oracle(oracle)
        guide.bind(tree.heads, labels.of(tree))
        bound.append((guide, State(len(tree))))
    moves = sum(state.steps for guide, state in bound if guide.reaches_gold(state))
    best = 0.0
    for _ in range(3):
        rounds = 0
        start = time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds:
            for guide, state in bound:
                guide.reaches_gold(state)
            rounds += 1
        best = max(best, rounds * moves / spent)
    return best


def main() -> None:
    """Print a table of million moves a second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each of three rounds")
    args = parser.parse_args()
    rng = random.Random(1)
    if args.files:
        data = {file: [sentence.tree for sentence in read(file)][:2000] for file in args.files}
    else:
        data = {"figure 1": [FIGURE_1], "random, n = 25": [random_tree(25, rng) for _ in range(100)]}
    print("core:", "compiled" if compiled() else "interpreted")
    print(f"{'million moves/s':24}", *(f"{name[-24:]:>24}" for name in data))
    for system, kind in SYSTEMS.items():
        for oracle in kind.oracles:
            if oracle not in {"dynamic", "fewest"}:  # those that take their time before the first move
                rates = [moves_a_second(system, oracle, trees, args.seconds) / 1e6 for trees in data.values()]
                cells = (f"{rate:24.1f}" if rate else f"{'covers none':>24}" for rate in rates)
                print(f"{system + ' ' + oracle:24}", *cells)


if __name__ == "__main__":
    main()
