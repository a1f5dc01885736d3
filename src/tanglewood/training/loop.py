"""The training loop: a generator that yields its progress after every epoch."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tanglewood.core.actions import Actions
from tanglewood.decoders import make_decoder
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners import learner_class
from tanglewood.learners.base import Example, Learner, Model, StackedTree
from tanglewood.learners.tag_candidates import Tagging, tags_to_give
from tanglewood.measure.scores import Evaluation, evaluate
from tanglewood.ml.words import OPTIONAL, Columns, words_of
from tanglewood.parser import Parser, stacked_tree, stacked_trees
from tanglewood.store import load_model, save_model
from tanglewood.systems import make_system
from tanglewood.training.config import Config
from tanglewood.training.stacking import parse_by_folds
from tanglewood.transforms.pseudo_projective import Scheme, fitting_scheme, projectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import KEY
from tanglewood.treebank.tree import Tree

RARE_ARCS = 50  # fewer non-projective arcs than this are hard to learn
CALIBRATED_ON = 60  # sentences of dev on which graph-based models find out how sure they may be
TRAINING_BYTES = 64 << 20  # a sentence whose chart takes more is learnt from with the best of all trees
RARE_LABEL = 5  # likewise, occurrences of a decorated label


@dataclass(frozen=True, slots=True)
class Progress:
    """How training stands after an epoch; ``parser`` is the best so far (the last one, if there is no dev set)."""

    epoch: int
    epochs: int
    loss: float
    scores: Evaluation | None
    is_best: bool
    parser: Parser
    seconds: float


class Training:
    """One training run: data prepared, warnings gathered, ready to loop."""

    def __init__(
        self,
        config: Config,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] = (),
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        if not train:
            raise ConfigError("there is no sentence to train on")
        config = config.completed()
        self.config = config
        self.dev = dev
        self.warnings: list[str] = []
        trees = [sentence.tree for sentence in train]
        single_root = config.single_root
        if single_root is None:
            single_root = all(len(tree.roots()) == 1 for tree in trees)
        system = make_system(config.system, **config.options, single_root=single_root)
        self.oracle_name = "" if config.search else config.oracle or system.training_oracle()
        self.teacher: Any = (
            make_decoder(config.search, system, max_bytes=TRAINING_BYTES)
            if config.search
            else system.oracle(self.oracle_name)
        )
        self.scheme: Scheme | None = None
        self._warn_rare(trees)
        if config.pseudo_projective:
            self.scheme = fitting_scheme(config.pseudo_projective, {label for tree in trees for label in tree.labels})
            trees = [projectivize(tree, self.scheme) for tree in trees]
            self._warn_decorated(trees)
        tags = {tag for sentence in train for tag in tags_to_give(system, sentence)}
        self.actions = Actions.of(system, trees, tags)
        self.options = config.learner_options().resolved(sum(map(len, train)))
        self.stacked = Parser.load(config.stacked) if config.stacked else None
        others: list[StackedTree | None] = [None] * len(train)
        if self.stacked is not None:
            parsed = parse_by_folds(self.stacked, train, config.folds, _train, report)
            others = [stacked_tree(tree, self.actions) for tree in parsed]
        self.examples = [
            Example(words_of(sentence), list(tree.heads), self.actions.label_numbers(tree), other)
            for sentence, tree, other in zip(train, trees, others, strict=True)
        ]
        if tags:
            self.examples = list(map(_with_tags(self.actions), self.examples, train))
            if not any(KEY in misc for sentence in train for misc in sentence.misc):
                self.warnings.append(f"the training data has no {KEY} in MISC: gold tags are the only choice")
        columns = Columns()
        for example in self.examples:
            columns.add(example.words)
        if columns.empty:
            self.warnings.append(f"the training data has no {', '.join(columns.empty)}: the parser will not use them")
        self.learner: Learner = learner_class(config.learner, "Learner").begin(
            self.actions, train, self.options, config.seed, stacked=self.stacked is not None
        )
        self.description: dict[str, Any] = {
            **config.as_dict(),
            "oracle": self.oracle_name,
            "single_root": single_root,
            "columns": [name for name in OPTIONAL if name not in columns.empty],
            "train_sentences": len(train),
            "train_words": sum(map(len, train)),
            "train_sha256": _fingerprint(train),
            "dev_sha256": _fingerprint(dev),
            "stacked_sha256": hashlib.sha256(Path(config.stacked).read_bytes()).hexdigest() if config.stacked else "",
        }
        self.best: tuple[float, Parser] | None = None
        self.epoch = 0

    def _warn_rare(self, trees: Sequence[Tree]) -> None:
        crossing = sum(len(tree.nonprojective_arcs()) for tree in trees)
        if crossing < RARE_ARCS:
            arcs = "no non-projective arc" if not crossing else f"only {crossing} non-projective arcs"
            self.warnings.append(f"the training data has {arcs}: the parser will hardly learn to cross arcs")

    def _warn_decorated(self, trees: Sequence[Tree]) -> None:
        assert self.scheme is not None
        counts = Counter(label for tree in trees for label in tree.labels[1:])
        decorated = {label: counts[label] for label in self.scheme.clashes(counts)}
        rare = [label for label, count in decorated.items() if count < RARE_LABEL]
        if rare:
            self.warnings.append(
                f"{len(rare)} of {len(decorated)} decorated labels occur fewer than {RARE_LABEL} times and will hardly "
                f"be learnt: {', '.join(rare[:5])}{', ...' if len(rare) > 5 else ''}"
            )

    def run(self, *, threads: int = 1, tell: Callable[[float], None] | None = None) -> Iterator[Progress]:
        """Learn epoch by epoch; each yields the progress made. The dev set is parsed with so many threads.

        Learners whose epochs take long tell in between which share of the epoch is done.
        """
        if tell is not None:
            self.learner.tell = tell
        while self.epoch < self.options.epochs:
            began = time.perf_counter()
            loss = self.learner.epoch(self.examples, self.teacher)
            self.epoch += 1
            parser = self._parser(self.learner.model(), self.description)
            scores = None
            is_best = True
            if self.dev:
                beam = self.config.beam if self.config.beam > 1 else None
                scores = evaluate(self.dev, parser.parse_all(self.dev, beam=beam, threads=threads))
                is_best = self.best is None or scores.las > self.best[0]
            if is_best and scores is not None and parser.scores_arcs:
                self._calibrate(parser)
            if is_best:
                described = {**self.description, "epoch": self.epoch}
                if scores is not None:
                    described["dev"] = {"las": round(scores.las, 4), "uas": round(scores.uas, 4)}
                    if self.actions.tags:
                        column = self.actions.system.tag_column
                        described["dev"][column] = round(getattr(scores, column), 4)
                self.best = (0.0 if scores is None else scores.las, self._parser(parser.model, described))
            assert self.best is not None
            seconds = time.perf_counter() - began
            yield Progress(self.epoch, self.options.epochs, loss, scores, is_best, self.best[1], seconds)

    def _calibrate(self, parser: Parser) -> None:
        """Let a graph-based model find out on dev how sure it may be."""
        sentences = self.dev[:CALIBRATED_ON]
        trees = [sentence.tree for sentence in sentences]
        others: Sequence[StackedTree | None] = [None] * len(trees)
        if self.stacked is not None:
            others = stacked_trees(self.stacked, sentences, self.actions)
        parser.model.calibrate(  # type: ignore[attr-defined]
            [
                Example(words_of(sentence), tree.heads, (), other)
                for sentence, tree, other in zip(sentences, trees, others, strict=True)
            ]
        )

    def _parser(self, model: Model, description: Mapping[str, Any]) -> Parser:
        return Parser(model, description, self.scheme, self.stacked)

    def save_checkpoint(self, path: str | Path) -> None:
        """Write all that `resume` needs to go on as if nothing had happened."""
        arrays, data = self.learner.state()
        best = {}
        if self.best is not None:
            best = {f"best/{name}": value for name, value in self.best[1].model.arrays().items()}
        settings = {
            "checkpoint": self.description,
            "epoch": self.epoch,
            "learner": data,
            "best": None if self.best is None else [self.best[0], dict(self.best[1].description)],
            "best_model": None if self.best is None else self.best[1].model.settings(),
        }
        save_model(path, {**{f"state/{name}": value for name, value in arrays.items()}, **best}, settings)

    def resume(self, path: str | Path) -> None:
        """Go on from a checkpoint of the same data and choices."""
        arrays, settings = load_model(path)
        if settings.get("checkpoint") != _plain(self.description):
            raise ModelError(f"{path}: the checkpoint is of another training run (other data, options or seed)")
        self.learner.restore(_part(arrays, "state/"), settings["learner"])
        self.epoch = settings["epoch"]
        if settings["best"] is not None:
            las, description = settings["best"]
            kind = learner_class(self.config.learner, "Model")
            model = kind.load(self.actions, _part(arrays, "best/"), settings["best_model"])
            self.best = (las, self._parser(model, description))


def _train(config: Config, sentences: Sequence[Sentence]) -> Parser:
    """Return the parser of the last epoch."""
    for progress in Training(config, sentences).run():
        parser = progress.parser
    return parser


def _with_tags(actions: Actions) -> Callable[[Example, Sentence], Example]:
    """Return what adds tags to an example: the gold ones, and those of the first tagger to choose from."""
    tagging = Tagging(actions)

    def add(example: Example, sentence: Sentence) -> Example:
        gold = tagging.tags_of(sentence)
        words, candidates = tagging.read(sentence, gold)
        return replace(example, words=words, tags=gold, tag_candidates=candidates)

    return add


def _fingerprint(sentences: Sequence[Sentence]) -> str:
    """Checksum of the text of all sentences."""
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(sentence.to_text().encode())
    return digest.hexdigest()


def _part(arrays: Mapping[str, memoryview], prefix: str) -> dict[str, memoryview]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def _plain(data: Mapping[str, Any]) -> Any:  # noqa: ANN401 - what JSON makes of it
    import json

    return json.loads(json.dumps(data))
