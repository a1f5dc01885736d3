"""Distillation: teachers are trained first, side by side, and one parser then learns from all of them.

Finished teachers, and the checkpoints of those in the middle, are kept in a folder if there is one, so that an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.errors import ModelError
from tanglewood.run.engine import Engine
from tanglewood.store import dump_model
from tanglewood.training.config import Config
from tanglewood.training.knowledge import at_hand, knowledge_for
from tanglewood.training.loop import Training, as_json
from tanglewood.training.progress import Report, TeacherProgress, quiet
from tanglewood.training.silver import silver_trees
from tanglewood.training.student import Taught, Teacher
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge

# Settings in which a student differs from its teachers; all others are the same for both.
OF_STUDENT = ("epochs", "explore", "drop_input", "drop_context", "drop_hidden", "favour_rare")
STUDENT_COST = 1.7  # how much longer an epoch of a student takes than one of a teacher, on the same words


@dataclass(frozen=True, slots=True)
class TeacherPlan:
    """How teachers are trained: how many at a time, where they are kept, who hears of it, and on what cluster."""

    processes: int = 1
    folder: Path | None = None
    report: Report = quiet
    dask: str = ""


def begun(
    config: Config,
    train: Sequence[Sentence],
    dev: Sequence[Sentence] = (),
    taught: Taught | None = None,
    plan: TeacherPlan | None = None,
    knowledge: Knowledge | None = None,
    silver: Sequence[Sentence] | None = None,
) -> Training:
    """Return a training run, with teachers that have been trained for it if the choices ask for that.

    ``taught`` is what is there already: teachers, and sentences without gold trees. So are ``knowledge`` and the
    ``silver`` sentences, which teachers and student share.
    """
    plan = plan or TeacherPlan()
    knowledge = knowledge or knowledge_for(config, train, plan.report)
    taught = taught or (Taught.named_in(config) if config.distils else Taught())
    if silver is None:
        silver = silver_trees(config, train)
    if config.distil:
        more_words = sum(map(len, taught.unlabelled))
        taught = replace(taught, teachers=train_teachers(config, train, dev, plan, more_words, knowledge, silver))
    taught = replace(taught, threads=plan.processes)
    return Training(config, train, dev, plan.report, taught, knowledge, silver)


def teacher_config(config: Config, number: int) -> Config:
    """Return the choices for the teacher with this number, from 1: a seed of its own, and what is usual for a parser.

    A student goes twice as often through the data as is usual, so its teachers go half as often as a student that was
    told how often. They have as many layers as it has.
    """
    settings = {"layers": config.learner_options().layers}
    settings |= {name: value for name, value in config.settings.items() if name not in OF_STUDENT}
    if config.settings.get("epochs"):
        settings["epochs"] = (config.settings["epochs"] + 1) // 2
    return replace(
        config,
        seed=1000 * config.seed + number,
        settings={**settings, "favour_rare": 0.0},
        distil=None,
        unlabelled=(),
    )


def train_teachers(
    config: Config,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    plan: TeacherPlan,
    more_words: int = 0,
    knowledge: Knowledge | None = None,
    silver: Sequence[Sentence] = (),
) -> list[Teacher]:
    """Train the teachers that the choices ask for, except for those that are finished.

    ``more_words`` is how many words the student will learn from that the teachers do not.
    """
    numbers = range(1, config.n_teachers + 1)
    course = _Course(config, [*train, *silver], plan, more_words)
    found = {} if plan.folder is None else _finished(config, train, dev, plan.folder, knowledge, silver)
    folder = None if plan.folder is None else plan.folder.absolute()  # workers of a cluster may be anywhere
    if folder is not None:
        folder.mkdir(exist_ok=True)
    learnt, judged, parsed = ([sentence.to_bytes() for sentence in part] for part in (train, dev, silver))
    jobs = [
        _Job(teacher_config(config, n), n, learnt, judged, parsed, folder, knowledge) for n in numbers if n not in found
    ]
    plan.report(f"training {config.n_teachers} teacher{'' if config.n_teachers == 1 else 's'}, then the student")
    for number in found:
        course.finish(number)
        plan.report(f"{course.name(number)}: taken from the run before")
    results = Engine(plan.processes, plan.dask).in_order(_Job.run, jobs, len(jobs), course.hear)
    for job, data in zip(jobs, results, strict=True):
        found[job.number] = data
    return [Teacher.of(course.name(number), found[number]) for number in numbers]


def _finished(
    config: Config,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    folder: Path,
    knowledge: Knowledge | None,
    silver: Sequence[Sentence],
) -> dict[int, bytes]:
    """Return the files of the teachers that the run before has finished, by their numbers."""
    found: dict[int, bytes] = {}
    paths = {number: _path(folder, number) for number in range(1, config.n_teachers + 1)}
    for number, path in paths.items():
        if path.exists():
            found[number] = path.read_bytes()
    if found:
        training = Training(teacher_config(config, 1), train, dev, knowledge=knowledge, silver=silver)
        wanted = as_json(training.description)
    for number, data in found.items():
        described = Teacher.of(str(paths[number]), data).parser.description
        wanted["seed"] = teacher_config(config, number).seed
        if any(described.get(name) != value for name, value in wanted.items()):
            raise ModelError(
                f"{paths[number]}: the teacher is of another training run (other data, options or seed); with "
                "--restart training begins anew"
            )
    return found


def _path(folder: Path, number: int) -> Path:
    return folder / f"teacher-{number}.tw"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a teacher's process says after an epoch."""

    number: int
    progress: TeacherProgress


@dataclass(frozen=True, slots=True)
class _Job:
    """Train a teacher on sentences, given as bytes."""

    config: Config
    number: int
    train: Sequence[bytes]
    dev: Sequence[bytes]
    silver: Sequence[bytes]
    folder: Path | None
    knowledge: Knowledge | None

    def run(self, say: Callable[[_Heard], object]) -> bytes:
        """Return the bytes of its model file, and write them to the folder."""
        learnt, judged, silver = (list(map(Sentence, part)) for part in (self.train, self.dev, self.silver))
        training = Training(self.config, learnt, judged, knowledge=at_hand(self.knowledge), silver=silver)
        checkpoint = None if self.folder is None else self.folder / f"teacher-{self.number}.training"
        if checkpoint is not None and checkpoint.exists():
            training.resume(checkpoint)
        for one in training.run():
            say(
                _Heard(
                    self.number,
                    TeacherProgress(one.epoch, one.epochs, one.loss, one.seconds, one.scores, one.is_best, ""),
                )
            )
            if checkpoint is not None and one.epoch < one.epochs:
                with suppress(OSError):  # such as a full disk: what was learnt is still in memory
                    training.save_checkpoint(checkpoint)
        parser = training.best_parser()
        if self.folder is not None and checkpoint is not None:
            parser.save(_path(self.folder, self.number))
            checkpoint.unlink(missing_ok=True)
        return dump_model(*parser.contents())


class _Course:
    """How far all teachers are, and about how long the whole run still takes."""

    def __init__(self, config: Config, train: Sequence[Sentence], plan: TeacherPlan, more_words: int) -> None:
        words = sum(map(len, train))
        epochs = teacher_config(config, 1).learner_options().resolved(words).epochs
        student = config.learner_options().resolved(words + more_words).epochs
        self._left = dict.fromkeys(range(1, config.n_teachers + 1), epochs)  # epochs of each teacher
        self._student = STUDENT_COST * student * (words + more_words) / max(words, 1)  # as epochs of a teacher
        self._plan = plan
        self._seconds = 0.0
        self._heard = 0

    def name(self, number: int) -> str:
        """Return what a teacher is called."""
        return f"teacher {number}/{len(self._left)}"

    def finish(self, number: int) -> None:
        """Note that a teacher is there already."""
        self._left[number] = 0

    def hear(self, heard: _Heard) -> None:
        """Report an epoch of a teacher."""
        progress = heard.progress
        self._left[heard.number] = progress.epochs - progress.epoch
        self._heard += 1
        self._seconds += progress.seconds
        unfinished = sum(left > 0 for left in self._left.values())
        at_a_time = max(1, unfinished if self._plan.dask else min(self._plan.processes, unfinished))
        epochs = max(sum(self._left.values()) / at_a_time, *self._left.values()) + self._student
        run_left = self._seconds / self._heard * epochs
        self._plan.report(replace(progress, part=self.name(heard.number), run_left=run_left))
