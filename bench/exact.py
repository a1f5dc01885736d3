"""How fast exact search is, beside the fastest that this machine can do max-plus operations in registers.

    python bench/exact.py [--systems attardi-alls0s1,attardi-all] [--lengths 10,20,40,...] [--seconds 2]
    python bench/exact.py --coverage FILE...

Prints a table: the median time of a sentence of n words over random scores (CPU time of the process, one core), the
operations a second, the share of the peak that the same run measures before every row, and the memory. Operations are
counted as the paper's rules have them: C(n+4, 6) for attardi-alls0s1, 3 n^7 / 5040 for attardi-all. Then the slope of
time over length on log axes for 40..120 words, and two sentences on two threads beside one (elapsed time). The system
`leftward` is the one of section 3.2 of the paper with its O(n^4) chart, `leftward-n6` the same with the O(n^6) chart.
With --coverage: how many of the non-projective trees of treebanks, up to 100 words, the chart of attardi-alls0s1 and
the lite chart reach (every gold arc has score 1: is the best value n?).
"""

import argparse
import random
import statistics
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from math import comb, log

from tanglewood import compiled, make_system, read
from tanglewood.decoders.base import score_table
from tanglewood.decoders.chart import ChartS0S1
from tanglewood.decoders.exact import ExactDecoder
from tanglewood.decoders.maxplus import instructions, peak
from tanglewood.experiments.shi2018 import LEFTWARD

OPERATIONS = {
    "attardi-alls0s1": lambda n: comb(n + 4, 6),
    "attardi-all": lambda n: 3 * n**7 / 5040,
}
LENGTHS = {
    "attardi-alls0s1": (10, 20, 30, 40, 50, 60, 80, 100, 120),
    "lite": (10, 20, 40, 60, 80, 100, 120),
    "leftward": (10, 20, 40, 60, 80, 100, 120, 200),
    "leftward-n6": (10, 20, 40, 60, 80, 100, 120),
}
SHORTER = (10, 20, 30, 40, 50, 60)


def random_scores(n, rng):
    """A table of normally distributed scores."""
    values = array("f", (rng.gauss(0, 1) for _ in range((n + 1) ** 2)))
    return memoryview(values).cast("B").cast("f", (n + 1, n + 1))


def peak_rate(rounds=1_000_000):
    """Max-plus operations a second in registers, the best of five."""
    best = 0.0
    for _ in range(5):
        start = time.process_time()
        done = peak(rounds)
        best = max(best, done / (time.process_time() - start))
    return best


def median_time(decoder, n, seconds, rng):
    """Median CPU seconds for a sentence, over at least three of them."""
    times = []
    while len(times) < 3 or (sum(times) < seconds and len(times) < 1000):
        scores = random_scores(n, rng)
        start = time.process_time()
        decoder.best(scores)
        times.append(time.process_time() - start)
    return statistics.median(times)


def slope(points):
    """Least-squares slope of log time over log length."""
    xs = [log(n) for n, _ in points]
    ys = [log(seconds) for _, seconds in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def two_threads(decoder, n, rng):
    """Elapsed time of two sentences on two threads over that of one, the best of five each."""
    scores = [random_scores(n, rng) for _ in range(2)]
    best = {}
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(decoder.best, scores))
            for _ in range(5):
                start = time.perf_counter()
                list(pool.map(decoder.best, scores[:threads]))
                best[threads] = min(best.get(threads, 1e9), time.perf_counter() - start)
    return best[2] / best[1]


def decoder_of(name):
    """The decoder of a system, or the lite one, or one of the two of the leftward system."""
    if name.startswith("leftward"):
        inventory = make_system("attardi", reduces=LEFTWARD).inventory
        return ExactDecoder(inventory, chart=ChartS0S1 if name == "leftward-n6" else None)
    return make_system("attardi-alls0s1").exact(lite=True) if name == "lite" else make_system(name).exact()


def coverage(files):
    """Print how many non-projective trees the two charts reach."""
    decoders = {name: decoder_of(name) for name in ("attardi-alls0s1", "lite")}
    trees = 0
    reached = dict.fromkeys(decoders, 0)
    for file in files:
        for sentence in read(file):
            tree = sentence.tree
            n = len(tree)
            if n > 100 or tree.is_projective():
                continue
            trees += 1
            scores = score_table(n, 0.0)
            for word in range(1, n + 1):
                scores[tree.heads[word], word] = 1.0
            for name, decoder in decoders.items():
                reached[name] += decoder.best(scores).value == n
    for name, count in reached.items():
        print(f"{name}: {count:,} of {trees:,} non-projective trees up to 100 words, {100 * count / trees:.2f}%")


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--systems", default="attardi-alls0s1,lite,leftward,leftward-n6,attardi,attardi-alldeg1,attardi-all"
    )
    parser.add_argument("--lengths", help="words, the same for all systems; by default what takes seconds")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each row")
    parser.add_argument("--coverage", nargs="+", metavar="FILE", help="count trees instead")
    args = parser.parse_args()
    if args.coverage:
        coverage(args.coverage)
        return
    rng = random.Random(1)
    print(
        f"compiled: {compiled()}, vector instructions: {instructions()}, peak: {peak_rate() / 1e9:.1f} G max-plus/s\n"
    )
    print("| system | n | median | G max-plus/s | share of peak | MB |")
    print("|---|---|---|---|---|---|")
    for name in args.systems.split(","):
        decoder = decoder_of(name)
        points = []
        for n in [int(n) for n in args.lengths.split(",")] if args.lengths else LENGTHS.get(name, SHORTER):
            top = peak_rate()
            seconds = median_time(decoder, n, args.seconds, rng)
            points.append((n, seconds))
            rate = share = ""
            if name in OPERATIONS:
                rate = f"{OPERATIONS[name](n) / seconds / 1e9:.2f}"
                share = f"1/{top * seconds / OPERATIONS[name](n):.1f}"
            print(
                f"| {name} | {n} | {1e3 * seconds:.3g} ms | {rate} | {share} | {decoder.memory(n) / 1e6:.3g} |",
                flush=True,
            )
        long = [point for point in points if 40 <= point[0] <= 120]
        if len(long) > 2:
            print(f"\n{name}: slope {slope(long):.2f} over {long[0][0]}..{long[-1][0]} words\n")
    decoder = decoder_of("attardi-alls0s1")
    ratio = two_threads(decoder, 80, rng)
    print(f"two sentences of 80 words on two threads take {ratio:.2f} times one")


if __name__ == "__main__":
    main()
