"""The training loop: a generator that yields its progress after every epoch."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners import learner_class
from tanglewood.learners.base import Example, Guess, Learner, Model, Task
from tanglewood.learners.tag_candidates import Tagging, tags_to_give
from tanglewood.measure.scores import evaluate
from tanglewood.ml.words import OPTIONAL, Columns, words_of
from tanglewood.parser import Parser, guess_of, guesses_of
from tanglewood.store import load_model, save_model
from tanglewood.systems import make_decoder, make_system
from tanglewood.training.config import Config
from tanglewood.training.progress import Progress, Report, quiet
from tanglewood.training.stacking import parse_by_folds
from tanglewood.transforms.pseudo_projective import Scheme, fitting_scheme, projectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import KEY
from tanglewood.treebank.tree import Tree

RARE_ARCS = 50  # fewer non-projective arcs than this are hard to learn
SHARPENED = 60  # sentences of dev on which models of arcs find out how sure they may be
TRAINING_BYTES = 64 << 20  # a sentence whose chart takes more is learnt from with the best of all trees
RARE_LABEL = 5  # likewise, occurrences of a decorated label


def choose_oracle(system: TransitionSystem, name: str = "") -> str:
    """Return the name of the oracle to train with: a lazy one, one that may be asked from any state, or the first."""
    if name:
        system.oracle(name)  # raises if there is none such
        return name
    if "lazy" in system.oracles:
        return "lazy"
    bounded = getattr(system, "bound", -1) >= 0  # covington with a bound has no dynamic oracle
    return "dynamic" if "dynamic" in system.oracles and not bounded else next(iter(system.oracles))


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner is given: what is to be learnt, examples of it, and what was noticed about the data."""

    task: Task
    examples: list[Example]
    scheme: Scheme | None
    columns: list[str]  # those of LEMMA, UPOS, XPOS and FEATS that hold something
    warnings: list[str]


class Training:
    """One training run of a parser. The data is prepared when that is first needed, by `prepare` or `run`."""

    def __init__(
        self, config: Config, train: Sequence[Sentence], dev: Sequence[Sentence] = (), report: Report = quiet
    ) -> None:
        self.config = config.completed()
        self.train = train
        self.dev = dev
        self.report = report
        self.best: tuple[float, Parser] | None = None
        self.epoch = 0

    def prepare(self) -> Training:
        """Do all that comes before the first epoch; what is wrong with configuration or data is raised here."""
        _ = self.teacher, self.options, self.lesson, self.learner, self.description
        return self

    @cached_property
    def system(self) -> TransitionSystem:
        """The system, with one root if that is asked for or all trees have one."""
        if not self.train:
            raise ConfigError("there is no sentence to train on")
        single_root = self.config.single_root
        if single_root is None:
            single_root = all(len(sentence.tree.roots()) == 1 for sentence in self.train)
        return make_system(self.config.system, **self.config.options, single_root=single_root)

    @cached_property
    def oracle_name(self) -> str:
        """The oracle that a transition-based model learns from."""
        return "" if self.config.search else choose_oracle(self.system, self.config.oracle)

    @cached_property
    def teacher(self) -> Any:  # noqa: ANN401 - Oracle or Decoder
        """The oracle, or the decoder whose mistakes a graph-based model learns from."""
        if self.config.search:
            return make_decoder(self.config.search, self.system, max_bytes=TRAINING_BYTES)
        return self.system.oracle(self.oracle_name)

    @cached_property
    def options(self) -> Any:  # noqa: ANN401 - the options class of the learner
        """The learner's options, with what is left open chosen for the size of the data."""
        return self.config.learner_options().resolved(sum(map(len, self.train)))

    @cached_property
    def guide(self) -> Parser | None:
        """The parser whose trees the learner looks at, if there is one."""
        return Parser.load(self.config.guide) if self.config.guide else None

    @cached_property
    def lesson(self) -> Lesson:
        """The examples, and what they are examples of."""
        trees = [sentence.tree for sentence in self.train]
        warnings = _rare_arcs(trees)
        scheme: Scheme | None = None
        if self.config.pseudo_projective:
            labels_used = {label for tree in trees for label in tree.labels}
            scheme = fitting_scheme(self.config.pseudo_projective, labels_used)
            trees = [projectivize(tree, scheme) for tree in trees]
            warnings += _rare_labels(trees, scheme)
        labels = sorted({label for tree in trees for label in tree.labels[1:]})
        numbers = {label: number for number, label in enumerate(labels)}
        task = Task(self.system, labels, _root_label(trees, numbers), _tags(self.system, self.train))
        guesses: list[Guess | None] = [None] * len(self.train)
        if self.guide is not None:
            parsed = parse_by_folds(self.guide, self.train, self.config.folds, _train, self.report)
            guesses = [guess_of(tree, task) for tree in parsed]
        examples = [
            Example(words_of(sentence), list(tree.heads), [-1, *(numbers[label] for label in tree.labels[1:])], guess)
            for sentence, tree, guess in zip(self.train, trees, guesses, strict=True)
        ]
        if task.tags:
            examples = list(map(_with_tags(task), examples, self.train))
            if not any(KEY in misc for sentence in self.train for misc in sentence.misc):
                warnings.append(f"the training data has no {KEY} in MISC: gold tags are the only choice")
        columns = Columns()
        for example in examples:
            columns.add(example.words)
        if columns.empty:
            warnings.append(f"the training data has no {', '.join(columns.empty)}: the parser will not use them")
        return Lesson(task, examples, scheme, [name for name in OPTIONAL if name not in columns.empty], warnings)

    @property
    def task(self) -> Task:
        """What is to be learnt."""
        return self.lesson.task

    @property
    def examples(self) -> list[Example]:
        """What it is learnt from."""
        return self.lesson.examples

    @property
    def warnings(self) -> list[str]:
        """What was noticed about the data."""
        return self.lesson.warnings

    @cached_property
    def learner(self) -> Learner:
        """The learner, which has learnt as many epochs as were run."""
        kind = learner_class(self.config.learner, "Learner")
        guided = {"guided": True} if self.guide else {}
        learner: Learner = kind.begin(self.task, self.train, self.options, self.config.seed, **guided)
        return learner

    @cached_property
    def description(self) -> dict[str, Any]:
        """What the parser is made from, as plain data."""
        guide = self.config.guide
        return {
            **self.config.as_dict(),
            "oracle": self.oracle_name,
            "single_root": bool(self.system.single_root),
            "columns": self.lesson.columns,
            "train_sentences": len(self.train),
            "train_words": sum(map(len, self.train)),
            "train_sha256": _fingerprint(self.train),
            "dev_sha256": _fingerprint(self.dev),
            "guide_sha256": hashlib.sha256(Path(guide).read_bytes()).hexdigest() if guide else "",
        }

    def run(self, *, threads: int = 1, tell: Callable[[float], None] | None = None) -> Iterator[Progress]:
        """Learn epoch by epoch; each yields the progress made. The dev set is parsed with so many threads.

        Learners whose epochs take long tell in between which share of the epoch is done.
        """
        self.prepare()
        if tell is not None and hasattr(self.learner, "tell"):
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
            if is_best and scores is not None and self.config.search:
                self._sharpen(parser)
            if is_best:
                described = {**self.description, "epoch": self.epoch}
                if scores is not None:
                    described["dev"] = {"las": round(scores.las, 4), "uas": round(scores.uas, 4)}
                    if self.task.tags:
                        column = self.task.system.tag_column
                        described["dev"][column] = round(getattr(scores, column), 4)
                self.best = (0.0 if scores is None else scores.las, self._parser(parser.model, described))
            assert self.best is not None
            seconds = time.perf_counter() - began
            yield Progress(self.epoch, self.options.epochs, loss, seconds, scores, is_best, self.best[1])

    def best_parser(self) -> Parser:
        """Return the best parser so far; without a dev set the last one."""
        if self.best is None:
            raise ConfigError("nothing was learnt")
        return self.best[1]

    def _sharpen(self, parser: Parser) -> None:
        """Let a model of arcs find out on dev how sure it may be."""
        sentences = self.dev[:SHARPENED]
        trees = [sentence.tree for sentence in sentences]
        guesses: Sequence[Guess | None] = [None] * len(trees)
        if self.guide is not None:
            guesses = guesses_of(self.guide, sentences, self.task)
        parser.model.sharpen(  # type: ignore[attr-defined]
            [
                Example(words_of(sentence), tree.heads, (), guess)
                for sentence, tree, guess in zip(sentences, trees, guesses, strict=True)
            ]
        )

    def _parser(self, model: Model, description: Mapping[str, Any]) -> Parser:
        return Parser(model, description, self.lesson.scheme, self.guide)

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
            model = kind.load(self.task, _part(arrays, "best/"), settings["best_model"])
            self.best = (las, self._parser(model, description))


def _train(config: Config, sentences: Sequence[Sentence]) -> Parser:
    """Return the parser of the last epoch."""
    training = Training(config, sentences)
    for _ in training.run():
        pass
    return training.best_parser()


def _rare_arcs(trees: Sequence[Tree]) -> list[str]:
    """Return a warning if there are few arcs that cross."""
    crossing = sum(len(tree.nonprojective_arcs()) for tree in trees)
    if crossing >= RARE_ARCS:
        return []
    arcs = "no non-projective arc" if not crossing else f"only {crossing} non-projective arcs"
    return [f"the training data has {arcs}: the parser will hardly learn to cross arcs"]


def _rare_labels(trees: Sequence[Tree], scheme: Scheme) -> list[str]:
    """Return a warning if there are decorated labels that are rare."""
    counts = Counter(label for tree in trees for label in tree.labels[1:])
    decorated = {label: counts[label] for label in scheme.clashes(counts)}
    rare = [label for label, count in decorated.items() if count < RARE_LABEL]
    if not rare:
        return []
    return [
        f"{len(rare)} of {len(decorated)} decorated labels occur fewer than {RARE_LABEL} times and will hardly "
        f"be learnt: {', '.join(rare[:5])}{', ...' if len(rare) > 5 else ''}"
    ]


def _tags(system: TransitionSystem, sentences: Sequence[Sentence]) -> list[str]:
    """Return the tags that a system can learn to give, if it gives any."""
    return sorted({tag for sentence in sentences for tag in tags_to_give(system, sentence)})


def _with_tags(task: Task) -> Callable[[Example, Sentence], Example]:
    """Return what adds tags to an example: the gold ones, and those of the first tagger to choose from."""
    tagging = Tagging(task)

    def add(example: Example, sentence: Sentence) -> Example:
        gold = tagging.tags_of(sentence)
        words, candidates = tagging.read(sentence, gold)
        return replace(example, words=words, tags=gold, tag_candidates=candidates)

    return add


def _root_label(trees: Sequence[Tree], numbers: Mapping[str, int]) -> int:
    """Number of the label that all arcs from 0 have and no other, or -1."""
    from_root = {label for tree in trees for head, label, _ in tree.arcs() if head == 0}
    elsewhere = {label for tree in trees for head, label, _ in tree.arcs() if head > 0}
    return numbers[next(iter(from_root))] if len(from_root) == 1 and not from_root & elsewhere else -1


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
