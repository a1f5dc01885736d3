"""Tagging and parsing in one (joint-swap) beside tagging, then parsing (swap): the table of docs/systems/joint.md.

    python bench/joint.py TREEBANK_DIR... [--work DIR] [--beam 1,8] [--part dev,test] [--tag-column upos] [--json FILE]

Each TREEBANK_DIR holds train.conllu, dev.conllu and test.conllu. Both get the same first tagger, learnt from forms
alone, and its tags for the training data by jackknifing; both have the same linear learner and templates. The pipeline
sees the tagger's one tag; the joint parser chooses from its best ones (and has templates for that). The best epoch is
that with the highest LAS on dev, parsed as it was learnt: greedily, or with the same beam. Finished parts are kept in
--work, and a run that was stopped goes on from them. p is that of McNemar's test against the pipeline.
"""

import argparse
import json
import time
from itertools import product
from operator import eq, lt
from pathlib import Path

from tanglewood import read
from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.measure.scores import compare, evaluate
from tanglewood.measure.significance import McNemar
from tanglewood.parser import Parser
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import with_first_candidates
from timing import print_markdown

HEADER = ("treebank", "part", "row", "learnt with beam", "beam", "tag", "p", "UAS", "LAS", "p (LAS)", "words/s")


def main() -> None:
    """Train what is missing, and print the table."""
    use_one_matrix_thread()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, default=Path("joint-work"))
    parser.add_argument("--beam", default="1,8", help="widths of the beam")
    parser.add_argument("--train-beam", default="1,8", help="widths of the beam to learn with; 1: greedily")
    parser.add_argument("--part", default="dev,test")
    parser.add_argument("--tag-column", default="upos")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--tagger-epochs", type=int, default=0, help="0: as many as suit the treebank")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--best-tags", default="3", help="one joint parser for each of these")
    parser.add_argument("--tag-threshold", default="4", help="and for each of these")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    args.work.mkdir(exist_ok=True)
    rows = [row for folder in args.folders for row in measure(folder, args)]
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    print_markdown(HEADER, [[row[name] for name in HEADER] for row in rows])


def measure(folder: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    """Return the rows of one treebank."""
    from tanglewood.text.tagger import TaggerOptions
    from tanglewood.training.pipeline import TagPlan, prepare_tags, with_tags_of

    parts = {name: list(read(folder / f"{name}.conllu")) for name in ("train", "dev", "test")}
    plan = TagPlan(
        seed=args.seed,
        folds=args.folds,
        options=TaggerOptions(epochs=args.tagger_epochs),
        tag_column=args.tag_column,
        folder=args.work / f"{folder.name}.{args.tag_column}.parts",
        report=lambda text: print(text, flush=True),
    )
    tagger, tagged_train, tagged_dev = prepare_tags(parts["train"], parts["dev"], plan)
    tagged_test = with_tags_of(tagger, parts["test"], args.tag_column)
    data = {"train": tagged_train, "dev": tagged_dev, "test": tagged_test}
    plain = {name: [with_first_candidates(s, args.tag_column) for s in sentences] for name, sentences in data.items()}
    variants: dict[str, tuple[dict[str, object], dict[str, list[Sentence]]]]
    variants = {"tagger, then swap": ({"system": "swap"}, plain)}
    for best in args.best_tags.split(","):
        for threshold in args.tag_threshold.split(","):
            options = {"tag_column": args.tag_column, "best_tags": int(best), "tag_threshold": float(threshold)}
            variants[f"joint-swap, {best} tags, {threshold} behind"] = (
                {"system": "joint-swap", "options": options},
                data,
            )
    rows = []
    piped: dict[tuple[object, ...], list[list[bool]]] = {}  # what is right in the pipeline: tags, and labelled arcs
    for (row, (choices, own)), learnt in product(variants.items(), map(int, args.train_beam.split(","))):
        file = f"{folder.name}.{row}.{learnt}.tw".replace(", ", "-").replace(" ", "-")
        model = train(
            {**choices, "settings": {"epochs": args.epochs, "train_beam": learnt}}, own, args.work / file, args
        )
        for part in args.part.split(","):
            for beam in map(int, args.beam.split(",")):
                began = time.process_time()
                parsed = list(model.parse_all(own[part], beam=beam))
                speed = sum(map(len, parsed)) / (time.process_time() - began)
                scores = evaluate(parts[part], parsed)
                tag = getattr(scores, args.tag_column)
                right = what_is_right(parts[part], parsed, args.tag_column)
                p_tag, p_las = map(p_value, piped.setdefault((part, learnt, beam), right), right)
                values = (folder.name, part, row, learnt, beam, tag, p_tag, scores.uas, scores.las, p_las)
                cells = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in values]
                rows.append(dict(zip(HEADER, [*cells, f"{speed:,.0f}"], strict=True)))
                print(*cells, flush=True)
    return rows


def what_is_right(gold: list[Sentence], parsed: list[Sentence], column: str) -> list[list[bool]]:
    """Whether the tag of each word is right, and whether its head and label are."""
    found: list[list[bool]] = [[], []]
    for one, other in zip(gold, parsed, strict=True):
        found[0] += map(eq, getattr(one, column), getattr(other, column))
        found[1] += compare(one, other).arc_right
    return found


def p_value(first: list[bool], second: list[bool]) -> str:
    """McNemar's test of two lists; a dash if they are the same."""
    only = [sum(map(lt, *pair)) for pair in ((second, first), (first, second))]
    return f"{McNemar(*only).p_value:.3f}" if any(only) else "-"


def train(choices: dict[str, object], data: dict[str, list[Sentence]], path: Path, args: argparse.Namespace) -> Parser:
    """The trained parser, from its file if there is one."""
    from tanglewood.training.config import Config
    from tanglewood.training.loop import Training

    if not path.exists():
        config = Config(**choices, learner="linear", seed=args.seed)
        for progress in Training(config, data["train"], data["dev"]).run():
            scores = progress.scores
            print(f"{path.name}: epoch {progress.epoch} LAS {scores.las:.2f} {progress.seconds:.0f} s", flush=True)
        progress.parser.save(path)
    return Parser.load(path)


if __name__ == "__main__":
    main()
