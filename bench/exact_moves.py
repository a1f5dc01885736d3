"""Exact search over the scores of moves, beside greedy search and beams with the same models: docs/exact-moves.md.

    python bench/exact_moves.py --speed [--lengths 10,20,40,60] [--systems attardi-alls0s1,attardi-all]
    python bench/exact_moves.py TREEBANK_DIR... [--systems ...] [--work DIR] [--part test] [--set KEY=VALUE]

With --speed: the median CPU time of a sentence of n words with random weights of the usual sizes, one core: products
with the slots and scores of all views, the chart, and both. Otherwise a model is trained for each treebank and system
(and kept in --work, from which the next run takes it), and the same sentences are searched greedily, with beams, and
exactly. A search error is a sentence whose derivation has a lower score than the best one; "lost" is by how much, on
average over these. Times are CPU milliseconds per sentence without the encoder. Sentences of more than --most-words are
left out of all rows. "Above" counts derivations with a higher score than the exact one: there should be none.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from tanglewood import make_system, read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.learners.network.learner import Sizes, vocabulary_of
from tanglewood.learners.network.triple_learner import new_triple_parameters
from tanglewood.learners.network.triples import TripleCore
from tanglewood.measure.scores import evaluate
from tanglewood.ml.encoder import OUTPUT
from tanglewood.ml.words import words_of
from tanglewood.parser import Parser
from tanglewood.training.config import read_config, updated
from tanglewood.training.loop import Training
from timing import print_markdown

SYSTEMS = "attardi-alls0s1,attardi-all"
LABELS = 40
TIE = 1e-3  # scores are sums of floats, taken in different orders
BINS = (10, 20, 30, 40, 60)  # lengths at which rows of the second table end


def main():
    """Print the tables."""
    use_one_matrix_thread()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--speed", action="store_true", help="time random sentences by length instead")
    parser.add_argument("--lengths", default="10,20,30,40,50,60")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each row of --speed")
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--beams", default="8,32")
    parser.add_argument("--part", default="test")
    parser.add_argument("--most-words", type=int, default=60)
    parser.add_argument("--work", type=Path, default=Path("exact-moves-work"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="settings of the learner")
    args = parser.parse_args()
    if args.speed:
        speed(args)
        return
    args.work.mkdir(exist_ok=True)
    accuracy, times = [], []
    for folder in args.folders:
        for system in args.systems.split(","):
            found, by_length = measure(folder, system, args)
            accuracy += found
            times += by_length
    print_markdown(
        ("treebank", "system", "search", "LAS", "UAS", "crossing P", "crossing R", "search errors", "lost", "above"),
        accuracy,
    )
    print()
    print_markdown(("treebank", "system", "words", "sentences", *searches(args)), times)


def searches(args):
    """The names of the searches."""
    return ["greedy", *(f"beam {width}" for width in args.beams.split(",")), "exact-moves"]


def speed(args):
    """Print the time of a sentence by its length."""
    rng = np.random.default_rng(1)
    rows = []
    for name in args.systems.split(","):
        system = make_system(name, single_root=True)
        actions = Actions(system, [f"label{number}" for number in range(LABELS)], 0)
        sizes = Sizes()
        parameters = new_triple_parameters(sizes, vocabulary_of([]), actions, rng)
        core, decoder = TripleCore(parameters, actions), system.exact_moves()
        for n in map(int, args.lengths.split(",")):
            scoring, charts = [], []
            while len(charts) < 3 or (sum(scoring) + sum(charts) < args.seconds and len(charts) < 1000):
                contexts = rng.normal(0, 1, (n + 1, sizes.word)).astype(np.float32)
                start = time.process_time()
                core.use(contexts @ parameters[OUTPUT], 0)
                table = np.zeros(decoder.shape(n), np.float32)
                core.fill(table)
                middle = time.process_time()
                decoder.best(table)
                scoring.append(middle - start)
                charts.append(time.process_time() - middle)
            both = [1e3 * sum(pair) for pair in zip(scoring, charts, strict=True)]
            cells = [f"{1e3 * statistics.median(scoring):.3g}", f"{1e3 * statistics.median(charts):.3g}"]
            rows.append([name, str(n), *cells, f"{statistics.median(both):.3g}", f"{decoder.memory(n) / 1e6:.3g}"])
    print_markdown(("system", "n", "scores, ms", "chart, ms", "both, ms", "MB"), rows)


def trained(folder, system, args):
    """The model of a treebank and system, from its file if there is one."""
    path = args.work / f"{folder.name}.{system}.{args.seed}.tw"
    if not path.exists():
        config = updated(read_config(None, args.set), {"learner": "triples", "system": system, "seed": args.seed})
        data = [list(read(folder / f"{part}.conllu")) for part in ("train", "dev")]
        best = None
        for progress in Training(config, *data).run():
            las, seconds = progress.scores.las, progress.seconds
            print(f"{path.name}: epoch {progress.epoch} LAS {las:.2f} {seconds:.0f} s", flush=True)
            best = progress.parser
        best.save(path)
    return Parser.load(path)


def measure(folder, system, args):
    """The rows of one treebank and system: by search, and by length."""
    parser = trained(folder, system, args)
    sentences = [s for s in read(folder / f"{args.part}.conllu") if len(s) <= args.most_words]
    names = searches(args)
    trees, values, seconds = ({name: [] for name in names} for _ in range(3))
    workspace, decoder = parser.model.workspace(), parser.model.actions.system.exact_moves()
    for sentence in sentences:
        workspace.encode([words_of(sentence)])
        search = Search(parser.model.actions, workspace.turn_to(0))
        for name in names:
            state = State(len(sentence))
            start = time.process_time()
            find(name, search, lambda: decoder.best(workspace.tables(0)).moves, state)
            seconds[name].append(time.process_time() - start)
            trees[name].append(sentence.with_tree(parser.model.actions.tree(state.word_heads(), state.word_labels())))
            values[name].append(value_of(name, search, lambda: decoder.best(workspace.tables(0)).moves, len(sentence)))
    kept = args.work / f"{folder.name}.{system}.{args.seed}.{args.part}.json"
    kept.write_text(json.dumps({"lengths": list(map(len, sentences)), "values": values, "seconds": seconds}))
    rows = []
    for name in names:
        scores = evaluate(sentences, trees[name])
        lost = [best - value for value, best in zip(values[name], values["exact-moves"], strict=True)]
        missed = [less for less in lost if less > TIE]
        figures = (scores.las, scores.uas, scores.nonprojective_precision, scores.nonprojective_recall)
        cells = ["" if figure is None else f"{figure:.2f}" for figure in figures]
        share = f"{len(missed)} of {len(lost)} ({100 * len(missed) / max(len(lost), 1):.1f}%)"
        mean = f"{statistics.mean(missed):.2f}" if missed else ""
        rows.append([folder.name, system, name, *cells, share, mean, str(sum(less < -TIE for less in lost))])
    return rows, list(by_length(folder, system, sentences, seconds))


def find(name, search, best_moves, state):
    """Search for a derivation; the state ends with it."""
    if name == "greedy":
        search.greedy(state)
    elif name == "exact-moves":
        search.follow(state, best_moves())
    else:
        beam_of(name, search).parse(state)


def beam_of(name, search):
    """The beam of a search; greedy search is one of width 1."""
    width = 1 if name == "greedy" else int(name.split()[1])
    return Beam(search, width, normalized=False, weighs_labels=False)


def value_of(name, search, best_moves, n):
    """The score of the derivation that a search finds: the sum of those of all moves that are not forced."""
    if name != "exact-moves":
        return beam_of(name, search).parse(State(n))[0]
    s, total = search.system.start(n), 0.0
    for move in best_moves():
        scores = {legal: score for legal, _, score in search.weigh(s)}
        total += scores[move] if len(scores) > 1 else 0.0
        search.system.apply(s, move)
    return total


def by_length(folder, system, sentences, seconds):
    """Rows of milliseconds per sentence, for sentences up to each length."""
    for low, high in zip((0, *BINS), (*BINS, 10**9), strict=False):
        chosen = [index for index, sentence in enumerate(sentences) if low < len(sentence) <= high]
        if chosen:
            cells = [f"{1e3 * statistics.mean(times[index] for index in chosen):.3g}" for times in seconds.values()]
            words = f"{low + 1}-{high}" if high < 10**9 else f"over {low}"
            yield [folder.name, system, words, str(len(chosen)), *cells]


if __name__ == "__main__":
    main()
