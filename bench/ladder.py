"""The ladder of exact searches over the same trained scores, from projective trees by the attardi family to all trees.

python bench/ladder.py TREEBANK_DIR... [--split test] [--train-search mst] [--work DIR] [--max-words N]
    [--rungs eisner,alls0s1,mst] [--json FILE]

A folder has train.conllu, dev.conllu and test.conllu. For each one graph-based model is trained (kept in --work, and
used again), the arcs of every sentence are scored once, and each search decodes these scores. Milliseconds are those of
decoding one sentence, on one thread, in CPU time; the last column is scoring and decoding of the whole file, divided by
that of `mst`. "shortcut" is the share of sentences whose best tree of all was in the system's class, which proves it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tanglewood import Parser, Sentence, Tree, compiled, make_system, read
from tanglewood.decoders import make_decoder
from tanglewood.measure.scores import evaluate
from tanglewood.ml.words import words_of
from tanglewood.training.config import Config
from tanglewood.training.loop import Training

LADDER = {  # name -> (search, system)
    "eisner": ("eisner", "attardi"),
    "lite": ("lite", "attardi-alls0s1"),
    "alls0s1": ("exact", "attardi-alls0s1"),
    "all": ("exact", "attardi-all"),
    "mst": ("mst", "attardi"),
}
HEADER = (
    "treebank",
    "search",
    "UAS",
    "LAS",
    "NP-F1",
    "exact",
    "shortcut",
    "fell back",
    "mean ms",
    "worst ms",
    "time/mst",
)


def model_for(folder: Path, search: str, work: Path, seed: int) -> Parser:
    """Return a trained parser, the one kept if there is one."""
    file = work / f"{folder.name}-{search}-{seed}.tw"
    if not file.exists():
        train, dev = (list(read(folder / f"{split}.conllu")) for split in ("train", "dev"))
        began = time.process_time()
        for progress in Training(Config(search=search, seed=seed), train, dev).run():
            parser = progress.parser
        print(f"{folder.name}: trained in {time.process_time() - began:.0f} s of CPU time", file=sys.stderr)
        parser.save(file)
    return Parser.load(file)


def rows_for(
    parser: Parser, sentences: list[Sentence], rungs: list[str], max_words: int | None
) -> list[dict[str, object]]:
    """Score all arcs, decode them with every search, and say how good and how fast that is."""
    actions = parser.model.actions
    workspace = parser.model.workspace()
    began = time.process_time()
    workspace.encode([words_of(sentence) for sentence in sentences])
    scored = [workspace.score(index) for index in range(len(sentences))]
    scoring = time.process_time() - began
    rows = []
    for name in rungs:
        search, system = LADDER[name]
        decoder = make_decoder(search, make_system(system, single_root=actions.system.single_root), max_words=max_words)
        trees, proofs, times = [], [], []
        for arcs in scored:
            began = time.process_time()
            decoded = decoder.best(arcs.scores)
            times.append(time.process_time() - began)
            heads = decoded.heads[1:]
            labels = [actions.labels[arcs.labels[head, word]] for word, head in enumerate(heads, 1)]
            trees.append(Tree(heads, labels))
            proofs.append(decoded.proof)
        parsed = [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]
        found = evaluate(sentences, parsed)
        rows.append(
            {
                "search": name,
                "uas": found.uas,
                "las": found.las,
                "nonprojective_f1": found.nonprojective_f1,
                "exact_match": found.exact_match,
                "shortcut": 100 * proofs.count("spanning-tree") / len(proofs) if search == "exact" else None,
                "fell_back": 100 * proofs.count("fallback") / len(proofs),
                "mean_ms": 1e3 * sum(times) / len(times),
                "worst_ms": 1e3 * max(times),
                "seconds": scoring + sum(times),
            }
        )
    for row in rows:
        row["over_mst"] = row["seconds"] / rows[-1]["seconds"]
    return rows


def main() -> None:
    """Print a table in Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="+", type=Path, metavar="TREEBANK_DIR")
    options.add_argument("--split", default="test", choices=("dev", "test"), help="file to parse (default test)")
    options.add_argument("--train-search", default="mst", help="search to train with (default mst)")
    options.add_argument("--work", type=Path, default=Path("ladder-models"), help="folder of the models")
    options.add_argument("--max-words", type=int, help="the best of all trees for longer sentences")
    options.add_argument("--rungs", default=",".join(LADDER), help=f"searches, mst last (default {','.join(LADDER)})")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", type=Path, help="write the numbers to this file too")
    args = options.parse_args()
    args.work.mkdir(exist_ok=True)
    print("core:", "compiled" if compiled() else "interpreted", file=sys.stderr)
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    everything = {}
    for folder in args.folders:
        parser = model_for(folder, args.train_search, args.work, args.seed)
        rows = rows_for(parser, list(read(folder / f"{args.split}.conllu")), args.rungs.split(","), args.max_words)
        everything[folder.name] = rows
        for row in rows:
            shown = [
                *(
                    _shown(row[key])
                    for key in ("uas", "las", "nonprojective_f1", "exact_match", "shortcut", "fell_back")
                ),
                *(f"{row[key]:.2f}" for key in ("mean_ms", "worst_ms", "over_mst")),
            ]
            print(f"| {folder.name} | {row['search']} | " + " | ".join(shown) + " |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(everything, indent=2), encoding="utf-8")


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
