"""The training loop: a generator that yields its progress after every epoch."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanglewood.core.actions import Actions
from tanglewood.core.system import TransitionSystem
from tanglewood.decoders import MOST_MEMORY, make_decoder
from tanglewood.decoders.limits import MOST_ARC_WORDS, table_memory, too_long
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners import learner_class
from tanglewood.learners.base import Example, Learner, Model, StackedTree, Votes
from tanglewood.learners.calibration import best_temperature
from tanglewood.learners.tag_candidates import Tagging, tags_to_give
from tanglewood.measure.scores import evaluate
from tanglewood.ml.encoder import GOLD_FROM
from tanglewood.ml.words import OPTIONAL, Columns, words_of
from tanglewood.options import ParseOptions
from tanglewood.packages.installed import model_file
from tanglewood.parser import Parser, naming_model
from tanglewood.pipeline import load
from tanglewood.searches import stacked_tree
from tanglewood.store import load_model, part_of, save_model
from tanglewood.systems import make_system
from tanglewood.training.config import Config
from tanglewood.training.continuing import joined, model_of
from tanglewood.training.knowledge import connect, knowledge_for
from tanglewood.training.progress import Progress, Report, quiet
from tanglewood.training.silver import Fitting, fitting, silver_trees
from tanglewood.training.stacking import parse_by_folds
from tanglewood.training.student import Taught, examples_without_trees, student_of, warnings_about_teachers
from tanglewood.transforms.pseudo_projective import Scheme, fitting_scheme, projectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import KEY
from tanglewood.treebank.tree import Tree

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge

RARE_ARCS = 50  # fewer non-projective arcs than this are hard to learn
JUDGED_ON = 2000  # sentences of dev, most, on which models of arcs are calibrated, and votes weighed in these searches
VOTES = {"greedy": ParseOptions(search="vote"), "beam": ParseOptions(search="vote", accurate=True)}
MOST_EXACT_WORDS = 40  # of a sentence of dev that is searched exactly by moves; a beam is good enough for the others
TRAINING_BYTES = 64 << 20  # for a sentence whose chart takes more, learn from the best of all trees instead
RARE_LABEL = 5  # likewise, occurrences of a decorated label


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner is given: what to learn, examples of it, and what was noticed about the data."""

    actions: Actions
    examples: list[Example]
    scheme: Scheme | None
    columns: list[str]  # those of LEMMA, UPOS, XPOS and FEATS that hold something
    warnings: list[str]


class Training:
    """One training run of a parser. The data is prepared when that is first needed, by `prepare` or `run`."""

    def __init__(
        self,
        config: Config,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] = (),
        report: Report = quiet,
        taught: Taught | None = None,
        knowledge: Knowledge | None = None,
        silver: Sequence[Sentence] | None = None,
    ) -> None:
        self.config = config.completed()
        self.given = taught
        self.known = knowledge
        self.chosen = silver
        self.train = train
        self.dev = dev
        self.report = report
        self.best: tuple[float, Parser] | None = None
        self.epoch = 0

    def prepare(self) -> Training:
        """Do everything that comes before the first epoch; errors in configuration or data are raised here."""
        _ = self.teacher, self.options, self.lesson, self.learner, self.description
        return self

    @cached_property
    def system(self) -> TransitionSystem:
        """The system, single-rooted if that is asked for or all trees are."""
        if not self.train:
            raise ConfigError("there is no sentence to train on")
        single_root = self.config.single_root
        if single_root is None:
            single_root = all(len(sentence.tree.roots()) == 1 for sentence in self.train)
        return make_system(self.config.system, **self.config.options, single_root=single_root)

    @cached_property
    def oracle_name(self) -> str:
        """The oracle that a transition-based model learns from."""
        return "" if self.config.search else self.config.oracle or self.system.training_oracle()

    @cached_property
    def teacher(self) -> Any:  # noqa: ANN401 - Oracle or Decoder
        """The oracle, or the decoder whose mistakes a graph-based model learns from."""
        if self.config.search:
            return make_decoder(self.config.search, self.system, max_bytes=TRAINING_BYTES)
        return self.system.oracle(self.oracle_name)

    @cached_property
    def options(self) -> Any:  # noqa: ANN401 - the options class of the learner
        """The learner's options, with those left open chosen by the size of the data."""
        sentences = [*self.train, *self.silver.sentences, *self.taught.unlabelled]
        return self.config.learner_options().resolved(sum(map(len, sentences)))

    @cached_property
    def taught(self) -> Taught:
        """The teachers, and the sentences that only they know something about, if the learner is a student."""
        if self.given is not None or not self.config.distils:
            return self.given or Taught()
        if self.config.distil:
            raise ConfigError("teachers have to be trained first, as training/distil.py does, and given as `taught`")
        return Taught.named_in(self.config)

    @cached_property
    def silver(self) -> Fitting:
        """Sentences that another parser has annotated, if there are any: those with trees that this one could give."""
        chosen = silver_trees(self.config, self.train) if self.chosen is None else self.chosen
        return fitting(chosen, self.actions, self.lesson.scheme) if chosen else Fitting()

    @cached_property
    def knowledge(self) -> Knowledge | None:
        """What the learner knows before it sees the examples, if there is anything."""
        return self.known or knowledge_for(self.config, self.train, self.report)

    @cached_property
    def stacked(self) -> Parser | None:
        """The parser whose trees the learner looks at, if there is one."""
        return load(self.config.stacked).parser if self.config.stacked else None

    @cached_property
    def lesson(self) -> Lesson:
        """The examples, and what they are examples of."""
        trees = [sentence.tree for sentence in self.train]
        if self.config.search:
            self._check_sizes()
        warnings = _rare_arcs(trees)
        scheme: Scheme | None = None
        if self.config.pseudo_projective:
            labels_used = {label for tree in trees for label in tree.labels}
            scheme = self._known_scheme(labels_used) or fitting_scheme(self.config.pseudo_projective, labels_used)
            trees = [projectivize(tree, scheme) for tree in trees]
            warnings += _rare_labels(trees, scheme)
        tags = {tag for sentence in self.train for tag in tags_to_give(self.system, sentence)}
        actions = Actions.of(self.system, trees, tags)
        if self.config.begin_from:
            actions = joined(model_of(self.config.begin_from).parser.model.actions, actions)
        others: list[StackedTree | None] = [None] * len(self.train)
        if self.stacked is not None:
            train = partial(_train, knowledge=_known_to(self.stacked))
            parsed = parse_by_folds(self.stacked, self.train, self.config.folds, train, self.report)
            others = [stacked_tree(tree, actions) for tree in parsed]
        examples = [
            Example(words_of(sentence), list(tree.heads), actions.label_numbers(tree), other)
            for sentence, tree, other in zip(self.train, trees, others, strict=True)
        ]
        if actions.tags:
            examples = list(map(_with_tags(actions), examples, self.train))
            if not any(KEY in misc for sentence in self.train for misc in sentence.misc):
                warnings.append(f"the training data has no {KEY} in MISC: gold tags are the only choice")
        columns = Columns()
        for example in examples:
            columns.add(example.words)
        if columns.empty:
            warnings.append(f"the training data has no {', '.join(columns.empty)}: the parser will not use them")
        return Lesson(actions, examples, scheme, [name for name in OPTIONAL if name not in columns.empty], warnings)

    def _known_scheme(self, labels: set[str]) -> Scheme | None:
        """Return how labels are decorated in the model that the run goes on with, if it does."""
        scheme = model_of(self.config.begin_from).parser.scheme if self.config.begin_from else None
        if scheme is not None and scheme.clashes(labels):
            raise ConfigError(
                f"{self.config.begin_from} decorates labels with {scheme.separator} and {scheme.mark}, which labels of "
                "the new data have in them"
            )
        return scheme

    def _check_sizes(self) -> None:
        """Raise a LimitError if the tables of a sentence are too large to learn from it."""
        for sentence in self.train:
            needed = table_memory(len(sentence), sums=True)
            if needed > MOST_MEMORY:
                remedy = "the sentence should be left out or broken up"
                raise sentence.located(too_long(len(sentence), needed, MOST_MEMORY, remedy))

    @property
    def actions(self) -> Actions:
        """The moves, labels and tags to learn."""
        return self.lesson.actions

    @cached_property
    def examples(self) -> list[Example]:
        """The examples to learn from, those of the treebank first."""
        without_trees = examples_without_trees(self.taught.unlabelled, self.actions)
        return [*self.lesson.examples, *self.silver.examples, *without_trees]

    @property
    def examples_of_epoch(self) -> list[Example]:
        """Those of the epoch to come: it ends with what is known to be right."""
        if self.epoch < GOLD_FROM * self.options.epochs:
            return self.examples
        return [example for example in self.examples if example.gold]

    @property
    def warnings(self) -> list[str]:
        """What was noticed about the data and the teachers."""
        of_teachers = warnings_about_teachers(self) if self.config.distils else []
        return [*self.lesson.warnings, *self.silver.warnings, *of_teachers]

    @cached_property
    def learner(self) -> Learner:
        """The learner, which has gone through as many epochs as were run."""
        if self.config.distils:
            return student_of(self)
        kind = learner_class(self.config.learner, "Learner")
        more = {} if self.knowledge is None else {"knowledge": self.knowledge}
        sentences = [*self.train, *self.silver.sentences]
        learner: Learner = kind.begin(
            self.actions, sentences, self.options, self.config.seed, stacked=self.stacked is not None, **more
        )
        return learner

    @cached_property
    def description(self) -> dict[str, Any]:
        """What the parser is made from, as plain data."""
        stacked = self.config.stacked
        described = {
            **self.config.as_dict(),
            "oracle": self.oracle_name,
            "single_root": bool(self.system.single_root),
            "columns": self.lesson.columns,
            "train_sentences": len(self.train),
            "train_words": sum(map(len, self.train)),
            "train_sha256": _fingerprint(self.train),
            "dev_sha256": _fingerprint(self.dev),
            "stacked_sha256": hashlib.sha256(model_file(stacked).read_bytes()).hexdigest() if stacked else "",
        }
        if self.knowledge is not None:
            source = next((name for name in ("pretrained", "begin_from") if getattr(self.config, name)), "vectors")
            described[f"{source}_sha256"] = self.knowledge.sha256
        if silver := self.silver.sentences:
            described |= {
                "silver_sentences": len(silver),
                "silver_sha256": _fingerprint(silver),
            }
        if self.config.distils:
            described |= {
                "teachers": len(self.taught.teachers),
                "teachers_sha256": [teacher.sha256 for teacher in self.taught.teachers],
                "unlabelled_sentences": len(self.taught.unlabelled),
                "unlabelled_words": sum(map(len, self.taught.unlabelled)),
                "unlabelled_sha256": _fingerprint(self.taught.unlabelled) if self.taught.unlabelled else "",
            }
        return described

    def run(self, *, threads: int = 1, tell: Callable[[float], None] | None = None) -> Iterator[Progress]:
        """Learn epoch by epoch, and yield the progress after each; ``threads`` threads parse the dev set.

        Learners whose epochs take long call ``tell`` in between with the share of the epoch that is done.
        """
        self.prepare()
        if tell is not None:
            self.learner.tell = tell
        while self.epoch < self.options.epochs:
            began = time.perf_counter()
            loss = self.learner.epoch(self.examples_of_epoch, self.teacher)
            self.epoch += 1
            parser = self._parser(self.learner.model(), self.description)
            scores = None
            is_best = True
            if self.dev:
                parsed = self.parse_dev(parser, threads)
                scores = evaluate(self.dev, parsed)
                is_best = self.best is None or scores.las > self.best[0]
            if is_best:
                described = {**self.description, "epoch": self.epoch}
                if scores is not None:
                    described["dev"] = {"las": round(scores.las, 4), "uas": round(scores.uas, 4)}
                    if self.actions.tags:
                        column = self.actions.system.tag_column
                        described["dev"][column] = round(getattr(scores, column), 4)
                self.best = (0.0 if scores is None else scores.las, self._parser(parser.model, described))
            assert self.best is not None
            if self.epoch == self.options.epochs:
                self.best_parser()
            seconds = time.perf_counter() - began
            yield Progress(self.epoch, self.options.epochs, loss, seconds, scores, is_best, self.best[1])

    def parse_dev(self, parser: Parser, threads: int) -> Iterator[Sentence]:
        """Yield dev as it is parsed to judge an epoch: as in training or, if its moves are made for it, exactly.

        A model that has learnt only single moves so far may be the best greedily, and poor with any wider search.
        """
        options = ParseOptions(beam=self.config.dev_beam)
        if parser.model.capabilities.exact_moves:
            options = replace(options, search="exact-moves", max_length=MOST_EXACT_WORDS)
        yield from parser.parse_all(self.dev, options, threads=threads)

    def best_parser(self) -> Parser:
        """Return the best parser so far, calibrated on dev; without a dev set the last one."""
        if self.best is None:
            raise ConfigError("nothing was learnt")
        parser = self.best[1]
        able = parser.model.capabilities
        if self.dev and able.scores_arcs and not able.scores_siblings and not able.calibrated:
            if able.scores_moves:
                self._weigh_votes(parser)
            self._calibrate(parser)
        return parser

    def _calibrate(self, parser: Parser) -> None:
        """Find the temperature at which confidence says best how many heads of dev are right."""
        model: Any = parser.model
        model.calibrated = True
        dev = [sentence for sentence in self.dev[:JUDGED_ON] if len(sentence) <= MOST_ARC_WORDS]
        if not dev:
            return
        worker: Any = parser.worker(ParseOptions(search="vote" if model.capabilities.scores_moves else "mst"))
        scheme = self.lesson.scheme
        golds = [sentence.tree if scheme is None else projectivize(sentence.tree, scheme) for sentence in dev]
        found = [(*pair, gold.heads[1:]) for pair, gold in zip(worker.believed(dev), golds, strict=True)]
        model.temperature = best_temperature(worker.decoding.marginals, found)

    def _weigh_votes(self, parser: Parser) -> None:
        """Find out on dev whether the trees of moves should have half or twice the usual say beside the arcs.

        Where arcs are much better than moves, as in Latin, they should have less; where moves are as good, more.
        """
        model: Any = parser.model
        dev = self.dev[:JUDGED_ON]
        for name, options in VOTES.items():
            usual = getattr(Votes(), name)
            tried = {}
            for worth in (usual, usual / 2, usual * 2):
                model.votes = model.votes._replace(**{name: worth})
                tried[worth] = evaluate(dev, parser.parse_all(dev, options)).las
            model.votes = model.votes._replace(**{name: max(tried, key=lambda worth: tried[worth])})

    def _parser(self, model: Model, description: Mapping[str, Any]) -> Parser:
        return Parser(model, description, self.lesson.scheme, self.stacked)

    def save_checkpoint(self, path: str | Path) -> None:
        """Write everything that `resume` needs to continue as if nothing had happened."""
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
        """Continue from a checkpoint of the same data and choices."""
        arrays, settings = load_model(path)
        if settings.get("checkpoint") != as_json(self.description):
            raise ModelError(
                f"{path}: the checkpoint is of another training run (other data, options or seed); --restart removes it"
            )
        with naming_model(str(path)):
            self._restore(arrays, settings)

    def _restore(self, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> None:
        self.learner.restore(part_of(arrays, "state/"), settings["learner"])
        self.epoch = settings["epoch"]
        if settings["best"] is not None:
            las, description = settings["best"]
            kind = learner_class(self.config.learner, "Model")
            model = kind.load(self.actions, part_of(arrays, "best/"), settings["best_model"])
            connect(model, self.knowledge)
            self.best = (las, self._parser(model, description))


def _known_to(parser: Parser) -> Knowledge | None:
    """Return what a parser knew before it was trained: its vectors, whether or not their file is still there."""
    if parser.lexicon is None:
        return None
    from tanglewood.ml.knowledge import Knowledge

    return Knowledge(parser.lexicon, sha256=parser.description.get("vectors_sha256", ""))


def _train(config: Config, sentences: Sequence[Sentence], knowledge: Knowledge | None = None) -> Parser:
    """Return the parser of the last epoch."""
    training = Training(config, sentences, knowledge=knowledge)
    for _ in training.run():
        pass
    return training.best_parser()


def _rare_arcs(trees: Sequence[Tree]) -> list[str]:
    """Return a warning if few arcs cross."""
    crossing = sum(len(tree.nonprojective_arcs()) for tree in trees)
    if crossing >= RARE_ARCS:
        return []
    arcs = "no non-projective arc" if not crossing else f"only {crossing} non-projective arcs"
    return [f"the training data has {arcs}: the parser will hardly learn to cross arcs"]


def _rare_labels(trees: Sequence[Tree], scheme: Scheme) -> list[str]:
    """Return a warning if some decorated labels are rare."""
    counts = Counter(label for tree in trees for label in tree.labels[1:])
    decorated = {label: counts[label] for label in scheme.clashes(counts)}
    rare = [label for label, count in decorated.items() if count < RARE_LABEL]
    if not rare:
        return []
    return [
        f"{len(rare)} of {len(decorated)} decorated labels occur fewer than {RARE_LABEL} times and will hardly "
        f"be learnt: {', '.join(rare[:5])}{', ...' if len(rare) > 5 else ''}"
    ]


def _with_tags(actions: Actions) -> Callable[[Example, Sentence], Example]:
    """Return a function that adds tags to an example: the gold ones, and the first tagger's candidates."""
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


def as_json(data: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return what becomes of data in a model file."""
    import json

    return json.loads(json.dumps(data))
