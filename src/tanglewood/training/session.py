"""A whole training run: what comes before the parser, the parser, its checkpoints, and the finished model."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from tanglewood.errors import ArgumentError, ConfigError, ModelError, given
from tanglewood.files import check_file_to_write
from tanglewood.measure.scores import evaluate
from tanglewood.ml.threads import one_matrix_thread
from tanglewood.pipeline import Pipeline
from tanglewood.run.processes import checked
from tanglewood.systems import SYSTEMS
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.training.config import Config, updated
from tanglewood.training.continuing import continued, model_of
from tanglewood.training.distil import TeacherPlan, begun
from tanglewood.training.knowledge import knowledge_for
from tanglewood.training.loop import Training
from tanglewood.training.pipeline import Prepared, prepare, tagged_anew, with_tags_of
from tanglewood.training.progress import Progress, Report, TaggerProgress, TeacherProgress, on_dev, quiet
from tanglewood.training.silver import is_text, silver_sentences, silver_trees, words_for
from tanglewood.training.student import Taught, askable
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import SentenceSource, sentences_from

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge


class Session:
    """A training run from sentences to a pipeline; a parser that gives tags gets a tagger, whether asked for or not.

    With an ``output`` the model is saved there, and until then what is finished is beside it, in OUTPUT.parts and
    OUTPUT.training, from where a run with ``resume`` continues; one with ``restart`` removes it. ``processes`` taggers
    or teachers are trained at a time, and as many threads parse the dev set; ``dask`` is the address of a cluster for
    the teachers; that changes no result. ``unlabelled`` are the sentences of the treebanks among the files that the
    choices name, if they have been read already, and ``silver`` those with another parser's trees, if they are read
    elsewhere. ``tell`` is called by learners whose epochs take long: with the epoch, the share of it that is done, and
    about how many seconds of it are left.
    """

    def __init__(
        self,
        config: Config,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] = (),
        *,
        pipeline: bool = False,
        unlabelled: Sequence[Sentence] | None = None,
        silver: Iterable[Sentence] | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        restart: bool = False,
        processes: int = 1,
        dask: str = "",
        report: Report = quiet,
        warn: Callable[[str], None] = quiet,
        tell: Callable[[int, float, float], None] | None = None,
    ) -> None:
        self.config = config.for_text(sum(map(len, train))) if pipeline else config
        self.train = train
        self.dev = dev
        self.pipeline = pipeline
        self.unlabelled = unlabelled
        self.silver = silver
        self.output = None if output is None else Path(output)
        self.resume = resume
        self.restart = restart
        self.processes = processes
        self.dask = dask
        self.report = report
        self.warn = warn
        self.tell = tell
        self.training: Training | None = None
        self._before: Prepared | None = None

    def run(self) -> Pipeline:
        """Learn everything, save the model if there is an output, and return it."""
        check_output(self.output)
        check_left(self.output, resume=self.resume, restart=self.restart)
        checked(self.processes)
        training = self.training = self._begun()
        for progress in training.run(threads=self.processes, tell=self._teller(training)):
            self.report(progress)
            self._save_checkpoint(training)
        model = self.model()
        if self.output is not None:
            _save(model, self.output)
            self._checkpoint.unlink(missing_ok=True)
            if self.has_parts:
                rmtree(self._parts)
        return model

    def model(self) -> Pipeline:
        """Return the best model so far."""
        if self.training is None:
            raise ConfigError("nothing was learnt")
        parser = self.training.best_parser()
        before = self._before
        return Pipeline(parser) if before is None else Pipeline(parser, before.tagger, before.tokenizer)

    def rescue(self) -> bool:
        """Save the best model so far, after an interruption; return whether there is one, and an output for it."""
        if self.output is None or self.training is None or self.training.best is None:
            return False
        _save(self.model(), self.output)
        return True

    @property
    def has_parts(self) -> bool:
        """Whether finished taggers or teachers lie beside the output."""
        return self.output is not None and self._parts.exists()

    @property
    def can_resume(self) -> bool:
        """Whether a checkpoint lies beside the output."""
        return self.output is not None and self._checkpoint.exists()

    def crossing_arcs(self) -> str:
        """Return in words how well the best parser finds the crossing arcs of dev."""
        assert self.training is not None
        dev = self.training.dev
        parsed = self.training.parse_dev(self.training.best_parser(), self.processes)
        found = evaluate(dev, parsed).as_dict()
        gold, predicted = found["nonprojective_gold"], found["nonprojective_predicted"]
        precision, recall = (_percent(found[f"nonprojective_{score}"]) for score in ("precision", "recall"))
        return (
            f"crossing arcs on dev: {gold} in the data, {predicted} predicted, precision {precision}, recall {recall}"
        )

    @property
    def _parts(self) -> Path:
        return Path(f"{self.output}.parts")

    @property
    def _checkpoint(self) -> Path:
        return Path(f"{self.output}.training")

    def _begun(self) -> Training:
        """Return the training run of the parser, prepared, and at the epoch where it continues."""
        config, train, dev = self.config, self.train, self.dev
        texts = self._texts()
        taught = Taught()
        if config.distils:
            taught = Taught.named_in(config, self.unlabelled, texts=texts)  # maybe from the parts
        continues = self._continues_pipeline()
        learns_tags = self.pipeline and not continues
        silver: Sequence[Sentence] = silver_trees(config, train, self.silver, shares=2 if learns_tags else 1)
        knowledge = knowledge_for(config, train, self.report)
        if self.output is not None and not self.resume:
            self._checkpoint.unlink(missing_ok=True)
            if self.has_parts:
                rmtree(self._parts)
        if continues:
            before = self._before = self._tagged_again(silver)
            config, train, dev, silver = config.for_predicted_tags(), before.train, before.dev, before.silver
        elif self.pipeline or config.tag_column:
            if taught.teachers:
                askable(Training(config, train, dev, taught=taught))  # the unsuitable are refused before taggers learn
            if silver:
                _ = Training(config, train, dev, silver=silver).silver  # likewise
            more = taught.unlabelled
            before = self._before = self._prepared(
                knowledge, lambda tokenizer: [*more, *self._silver(texts, tokenizer)], silver
            )
            config, train, dev, silver = config.for_predicted_tags(), before.train, before.dev, before.silver
            taught = replace(taught, unlabelled=before.unlabelled)
        plan = TeacherPlan(self.processes, None if self.output is None else self._parts, self.report, self.dask)
        training = begun(config, train, dev, taught, plan, knowledge, silver).prepare()
        config = training.config
        way = f"{config.search} search" if config.search else f"{config.system}, {training.oracle_name} oracle"
        self.report(
            f"{len(train):,} sentences, {sum(map(len, train)):,} words; {way}, {config.learner} learner, "
            f"{len(training.actions.labels)} labels{'' if dev else '; no dev set: the last epoch is kept'}"
        )
        if training.silver.sentences:
            self.report(training.silver.in_words())
        if config.distils:
            self.report(training.taught.in_words())
        for warning in training.warnings:
            self.warn(warning)
        if self.resume and self.can_resume:
            training.resume(self._checkpoint)
            self.report(f"going on after epoch {training.epoch}")
        elif config.begin_from and dev:
            parser = model_of(config.begin_from).parser
            scores = evaluate(dev, training.parse_dev(parser, self.processes))
            self.report(f"epoch  0/{training.options.epochs}  {config.begin_from} as it is{on_dev(parser, scores)}")
        return training

    def _continues_pipeline(self) -> bool:
        """Whether the run goes on with a model that has a tagger; if not, it cannot become a pipeline."""
        if not self.config.begin_from:
            return False
        has_tagger = model_of(self.config.begin_from).tagger is not None
        if self.pipeline and not has_tagger:
            raise ConfigError(f"{self.config.begin_from} is a parser of tagged words; --pipeline needs one of raw text")
        return has_tagger

    def _tagged_again(self, silver: Sequence[Sentence]) -> Prepared:
        """Return tokenizer and tagger of the model that the run goes on with, and the data with its tags."""
        model = model_of(self.config.begin_from)
        assert model.tagger is not None
        column = self.config.tag_column
        train, dev = (with_tags_of(model.tagger, sentences, column) for sentences in (self.train, self.dev))
        return Prepared(model.tokenizer, model.tagger, train, dev, silver=tagged_anew(model.tagger, silver, column))

    def _texts(self) -> list[str]:
        """Return the files of unlabelled sentences that hold raw text."""
        texts = [file for file in self.config.unlabelled if is_text(file)]
        if texts and not self.pipeline:
            raise ConfigError(
                f"{texts[0]}: raw text, which only a pipeline splits and tags (--pipeline); otherwise unlabelled "
                "sentences should be in CoNLL-U"
            )
        return texts

    def _silver(self, texts: Sequence[str], tokenizer: Tokenizer) -> list[Sentence]:
        """Return as many sentences of the texts as go with the training data."""
        if not texts:
            return []
        return silver_sentences(texts, tokenizer, words_for(sum(map(len, self.train))), self.config.seed)

    def _prepared(
        self,
        knowledge: Knowledge | None,
        unlabelled: Callable[[Tokenizer], Sequence[Sentence]],
        silver: Sequence[Sentence],
    ) -> Prepared:
        """Learn what comes before the parser, except for what is already finished."""
        return prepare(
            self.train,
            self.dev,
            unlabelled,
            silver,
            seed=self.config.seed,
            folds=self.config.folds,
            processes=self.processes,
            tag_column=self.config.tag_column,
            options=self.config.tagger_options(),
            folder=None if self.output is None else self._parts,
            report=self.report,
            knowledge=knowledge,
        )

    def _teller(self, training: Training) -> Callable[[float], None] | None:
        """Return a function that reports how much of the current epoch is done."""
        if self.tell is None:
            return None
        tell = self.tell
        epoch = training.epoch
        began = last = time.monotonic()

        def tell_of_epoch(share: float) -> None:
            nonlocal epoch, began, last
            if training.epoch != epoch:
                epoch, began = training.epoch, last
            last = time.monotonic()
            tell(epoch + 1, share, (last - began) * (1 - share) / share)

        return tell_of_epoch

    def _save_checkpoint(self, training: Training) -> None:
        if self.output is None:
            return
        try:
            training.save_checkpoint(self._checkpoint)
        except OSError as error:  # such as a full disk: what was learnt is still in memory
            self.warn(f"{self._checkpoint}: {error.strerror or error}; training goes on without it")


def check_output(output: str | Path | None) -> None:
    """Raise an error, before anything is learnt, if a model cannot be written there."""
    if output is not None:
        check_file_to_write(output, "model.tw")


def check_left(output: str | Path | None, *, resume: bool, restart: bool) -> None:
    """Raise an error if an interrupted run has left something, and nobody has said what to do with it."""
    if resume and restart:
        raise ConfigError("--resume goes on with an interrupted run and --restart begins anew; choose one")
    if output is None or resume or restart:
        return
    for left in (Path(f"{output}.training"), Path(f"{output}.parts")):
        if left.exists():
            raise ConfigError(
                f"{left} is of a run that was interrupted: --resume goes on with it, --restart removes it"
            )


def _save(model: Pipeline, output: Path) -> None:
    """Write the model; if that fails, write it to the temporary folder and say so in the error.

    A model that could not be loaded again, such as one whose weights have grown beyond all bounds, is not written.
    """
    try:
        copy(model)  # by way of the bytes of its file
    except ModelError as error:
        raise ModelError(
            f"{output}: what was learnt could not be loaded again ({error}); settings that keep weights small should "
            "help, such as a lower rate or cost"
        ) from None
    try:
        model.save(output)
    except OSError as error:
        spare = Path(mkdtemp(prefix="tanglewood-")) / output.name
        model.save(spare)
        raise OSError(error.errno, f"{error.strerror or error}; the model is in {spare} instead", str(output)) from None


def _percent(value: object) -> str:
    return f"{value:.1f}%" if isinstance(value, float) else "-"


def train(
    train: SentenceSource,
    dev: SentenceSource | None = None,
    *,
    pipeline: bool = False,
    system: str = "",
    oracle: str = "",
    learner: str = "",
    search: str = "",
    seed: int = 1,
    progress: Callable[[Progress | TaggerProgress | TeacherProgress], object] | bool = False,
    processes: int = 1,
    output: str | Path | None = None,
    resume: bool = False,
    restart: bool = False,
    **settings: Any,  # noqa: ANN401 - of many types
) -> Pipeline:
    """Learn a model from a treebank; the same seed gives the bytes that the command line gives.

    Both treebanks are paths, open binary files, or iterables of sentences or paths; the best epoch on dev is kept,
    without dev the last. The model parses tagged words or, with ``pipeline``, raw text. ``settings`` are all other
    choices by name: those of Config, options of the system (``max_degree=1``) and settings of the learner
    (``epochs=10``). ``progress`` is called with a record after every epoch; True writes lines to standard error. With
    an ``output`` the model is saved there; what an interrupted run has left needs ``resume`` or ``restart``, see
    `Session`.
    """
    if not (isinstance(progress, bool) or callable(progress)):
        raise ArgumentError(
            f"progress should be True, or a function to be called after every epoch, not {given(progress)}"
        )
    check_output(output)
    check_left(output, resume=resume, restart=restart)
    checked(processes)
    named = {"system": system, "oracle": oracle, "learner": learner, "search": search, "seed": seed}
    config = continued(_with_system_options(updated(Config(), {**named, **settings})))
    config.check()
    session = Session(
        config,
        list(sentences_from(train)),
        [] if dev is None else list(sentences_from(dev)),
        pipeline=pipeline,
        output=output,
        resume=resume,
        restart=restart,
        processes=processes,
        report=_reporter(progress),
        warn=_print_warning if progress is True else _warn_caller,
    )
    try:
        with one_matrix_thread():
            model = session.run()
    except KeyboardInterrupt:
        session.rescue()
        raise
    if progress is True and session.dev:
        _print(session.crossing_arcs())
    return model


def _with_system_options(config: Config) -> Config:
    """Return the choices with the system's options moved from the learner's settings to where they belong."""
    name = config.completed().system
    takes = SYSTEMS[name].options if name in SYSTEMS else {}
    options = {name: value for name, value in config.settings.items() if name in takes}
    settings = {name: value for name, value in config.settings.items() if name not in takes}
    return replace(config, options={**config.options, **options}, settings=settings)


def _reporter(progress: Callable[[Progress | TaggerProgress | TeacherProgress], object] | bool) -> Report:
    if isinstance(progress, bool):
        return _print if progress else quiet

    def report(event: Progress | TaggerProgress | TeacherProgress | str) -> None:
        if not isinstance(event, str):
            progress(event)

    return report


def _print(event: Progress | TaggerProgress | TeacherProgress | str) -> None:
    sys.stderr.write(f"{event}\n")


def _print_warning(text: str) -> None:
    _print(f"warning: {text}")


def _warn_caller(text: str) -> None:
    warnings.warn(text, stacklevel=5)  # points to the caller of train
