"""What teachers give a tagger: the table of docs/text.md.

    python bench/taggers.py TREEBANK_DIR... [--seeds 1,2] [--folds 5]

Each folder holds train.conllu and dev.conllu. One tagger learns from the treebank alone, the other from taggers of its
parts, as in tanglewood train --pipeline; both tag the words of dev. Figures are shares of words that are right, means
over the seeds.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from tanglewood import read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.text.tagger import Tagger, TaggerOptions, TagProgress, tag_scores, train_tagger
from tanglewood.training.folds import deal_out
from tanglewood.treebank.sentence import Sentence
from timing import print_markdown

SCORES = {"upos": "UPOS", "xpos": "XPOS", "feats": "FEATS", "tags": "all three", "lemma": "lemmas"}


def learnt(
    train: Sequence[Sentence], dev: Sequence[Sentence], seed: int, teachers: Sequence[Tagger] = ()
) -> TagProgress:
    """A tagger with all defaults, and the scores of its last epoch; the tagger is that of the best one."""
    *_, progress = train_tagger(train, dev, TaggerOptions(), seed, None, teachers)
    return progress


def scores_of(folder: Path, seed: int, folds: int) -> dict[str, dict[str, float]]:
    """Scores of both taggers."""
    train, dev = (list(read(folder / f"{part}.conllu")) for part in ("train", "dev"))
    dealt = deal_out(train, folds, seed)
    teachers = [learnt([train[place] for place in others], (), seed).tagger for _, others in dealt]
    found = {}
    for name, taught in (("alone", ()), ("with teachers", teachers)):
        tagger = learnt(train, dev, seed, taught).tagger
        found[name] = asdict(tag_scores(dev, tagger.worker().tag([sentence.forms for sentence in dev])))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--seeds", default="1,2", metavar="N,...", help="default 1,2")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="parts, and so teachers (default 5)")
    args = parser.parse_args()
    use_one_matrix_thread()
    rows = []
    for folder in args.treebanks:
        found = [scores_of(folder, seed, args.folds) for seed in map(int, args.seeds.split(","))]
        for name in found[0]:
            figures = [f"{mean(one[name][score] for one in found):.2f}" for score in SCORES]
            rows.append([folder.resolve().name, name, *figures])
    print_markdown(["dev set", "tagger", *SCORES.values()], rows)


if __name__ == "__main__":
    main()
