"""What teachers give a tagger: the table of docs/text.md.

    python bench/taggers.py TREEBANK_DIR... [--unlabelled TEXT] [--seeds 1,2] [--folds 5]

Each folder holds train.conllu and dev.conllu. One tagger learns from the treebank alone, another from taggers of its
parts, as in tanglewood train --pipeline, and a third one from what these say about text, too: sentences of TEXT, one a
line, tokens separated by spaces, drawn at random until they have as many words as training with --unlabelled takes. All
tag the words of dev. Figures are shares of words that are right, means over the seeds.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from tanglewood import read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.text.tagger import Tagger, TaggerOptions, tag_scores, train_tagger
from tanglewood.training.folds import deal_out
from tanglewood.training.silver import silver_sentences, words_for
from tanglewood.treebank.sentence import Sentence
from timing import print_markdown

SCORES = {"upos": "UPOS", "xpos": "XPOS", "feats": "FEATS", "tags": "all three", "lemma": "lemmas"}


def learnt(train: Sequence[Sentence], dev: Sequence[Sentence], seed: int, *taught: Sequence[Any]) -> Tagger:
    """The best tagger on dev with all defaults; without dev the last."""
    *_, progress = train_tagger(train, dev, TaggerOptions(), seed, None, *taught)
    return progress.tagger


def scores_of(folder: Path, seed: int, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Scores of all taggers."""
    train, dev = (list(read(folder / f"{part}.conllu")) for part in ("train", "dev"))
    dealt = deal_out(train, args.folds, seed)
    teachers = [learnt([train[place] for place in others], (), seed) for _, others in dealt]
    ways: dict[str, list[Sequence[Any]]] = {"alone": [], "with teachers": [teachers]}
    if args.unlabelled:
        more = silver_sentences([str(args.unlabelled)], None, words_for(sum(map(len, train))), seed)
        ways["with teachers and text"] = [teachers, [sentence.forms for sentence in more]]
    found = {}
    for name, taught in ways.items():
        tagger = learnt(train, dev, seed, *taught)
        found[name] = asdict(tag_scores(dev, tagger.worker().tag([sentence.forms for sentence in dev])))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--seeds", default="1,2", metavar="N,...", help="default 1,2")
    parser.add_argument("--unlabelled", type=Path, metavar="TEXT", help="text for a third tagger")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="parts, and so teachers (default 5)")
    args = parser.parse_args()
    use_one_matrix_thread()
    rows = []
    for folder in args.treebanks:
        found = [scores_of(folder, seed, args) for seed in map(int, args.seeds.split(","))]
        for name in found[0]:
            figures = [f"{mean(one[name][score] for one in found):.2f}" for score in SCORES]
            rows.append([folder.resolve().name, name, *figures])
    print_markdown(["dev set", "tagger", *SCORES.values()], rows)


if __name__ == "__main__":
    main()
