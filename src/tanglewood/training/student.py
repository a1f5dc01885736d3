"""What a student learns from: teachers, as models to ask or as trees, and sentences without gold trees."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError
from tanglewood.learners import student_class
from tanglewood.learners.base import Example, Learner, StackedTree
from tanglewood.learners.tag_candidates import Tagging
from tanglewood.ml.words import words_of
from tanglewood.packages.installed import model_file
from tanglewood.parser import Parser, naming_model
from tanglewood.searches import stacked_tree
from tanglewood.store import parse_model
from tanglewood.training.config import Config
from tanglewood.training.knowledge import connect
from tanglewood.transforms.pseudo_projective import Scheme, projectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import sentences_from

if TYPE_CHECKING:
    from tanglewood.training.loop import Training

SHOWN = 5  # most labels that a message names


@dataclass(frozen=True, slots=True)
class Teacher:
    """A model to learn from: what messages call it, the parser, and the checksum of its file."""

    name: str
    parser: Parser
    sha256: str

    @classmethod
    def of(cls, name: str, data: bytes) -> Teacher:
        """Return the teacher in the bytes of a model file."""
        arrays, settings, *_ = parse_model(data, name)
        with naming_model(name):
            return cls(name, Parser.from_contents(arrays, settings), hashlib.sha256(data).hexdigest())

    @property
    def favours_rare(self) -> bool:
        """Whether the model raises the scores of rare moves, and so does not say how likely they really are."""
        about = self.parser.description
        return bool(about["learner"] == "network" and about.get("settings", {}).get("favour_rare", 1))


@dataclass(frozen=True, slots=True)
class Taught:
    """What distillation adds to a training run: teachers, and sentences without gold trees."""

    teachers: Sequence[Teacher] = ()
    unlabelled: Sequence[Sentence] = ()
    threads: int = 1  # that parse where only a teacher's trees count

    def in_words(self) -> str:
        """Say what there is."""
        count = len(self.teachers)
        text = f"learning from {count} teacher{'' if count == 1 else 's'}"
        if self.unlabelled:
            words = sum(map(len, self.unlabelled))
            text += f", also in {len(self.unlabelled):,} sentences without trees, {words:,} words"
        return text

    @classmethod
    def named_in(
        cls, config: Config, unlabelled: Sequence[Sentence] | None = None, *, texts: Sequence[str] = ()
    ) -> Taught:
        """Read what the choices name: models of teachers, if these are not to be trained, and sentences.

        ``texts`` are those files of unlabelled sentences that hold raw text, and are read elsewhere.
        """
        teachers = [Teacher.of(path, _bytes_of(path)) for path in config.distil_from]
        files = [file for file in config.unlabelled if file not in texts]
        if unlabelled is None:
            unlabelled = list(sentences_from(files, trees=False))
        if files and not unlabelled:
            raise ConfigError(f"{', '.join(files)}: there is no sentence; unlabelled data should have some")
        return cls(teachers, unlabelled)


def _bytes_of(path: str) -> bytes:
    file = model_file(path)
    if file.is_dir():
        raise ConfigError(f"{path}: a folder, not a tanglewood model")
    data: bytes = file.read_bytes()
    return data


def student_of(training: Training) -> Learner:
    """Return the learner of a training run with teachers: it asks those that it can, and follows the trees of others.

    Raises ConfigError if there is a teacher with whom it can do neither.
    """
    actions, taught, scheme = training.actions, training.taught, training.lesson.scheme
    kind = student_class(training.config.learner, "Learner")
    sentences = [*training.train, *training.silver.sentences, *taught.unlabelled]
    for teacher in taught.teachers:
        connect(teacher.parser.model, training.knowledge)
    asked = askable(training)
    votes = [
        (
            training.system.oracle(training.oracle_name),
            trees_of(teacher.parser, sentences, actions, scheme, taught.threads),
        )
        for teacher in taught.teachers
        if teacher not in asked
    ]
    learner = kind.begin(
        actions,
        sentences,
        training.options,
        training.config.seed,
        teachers=[teacher.parser.model for teacher in asked],
        votes=votes,
        knowledge=training.knowledge,
    )
    learner.meet(training.examples)  # all: a run that is resumed at the end goes through those of the treebank alone
    student: Learner = learner
    return student


def askable(training: Training) -> list[Teacher]:
    """Return the teachers that can be asked; raise ConfigError if another's trees cannot be followed either."""
    kind = student_class(training.config.learner, "Learner")
    found = []
    for teacher in training.taught.teachers:
        _check_labels(teacher, training.actions, training.lesson.scheme)
        if kind.can_ask(teacher.parser.model, training.actions):
            found.append(teacher)
        else:
            _check_oracle(teacher, training.actions, training.oracle_name, explores=training.teacher.explores)
    return found


def warnings_about_teachers(training: Training) -> list[str]:
    """Return what is odd about the teachers."""
    partial = [teacher.name for teacher in askable(training) if teacher.favours_rare]
    if not partial or not training.options.favour_rare:
        return []
    verb = "favours" if len(partial) == 1 else "favour"
    return [
        f"{', '.join(partial)} {verb} rare moves already, as models do by default; --set favour_rare=0 keeps the "
        "student from doing so once more"
    ]


def _check_labels(teacher: Teacher, actions: Actions, scheme: Scheme | None) -> None:
    """Raise ConfigError if most of the labels that a teacher gives are not those of the training data."""
    own = _plain_labels(teacher.parser.model.actions.labels, teacher.parser.scheme)
    unknown = sorted(own - _plain_labels(actions.labels, scheme))
    if 2 * len(unknown) > len(own):
        shown = f"{', '.join(unknown[:SHOWN])}{', ...' if len(unknown) > SHOWN else ''}"
        raise ConfigError(
            f"{teacher.name}: {len(unknown)} of the teacher's {len(own)} labels do not occur in the training data "
            f"({shown}); a teacher should have learnt from trees with the same labels"
        )


def _check_oracle(teacher: Teacher, actions: Actions, oracle: str, *, explores: bool) -> None:
    """Raise ConfigError if the student cannot follow the trees of a teacher that it cannot ask."""
    system = actions.system
    same = f"a network of the {system.name} system with the labels of the training data"
    if actions.tags:
        raise ConfigError(f"{teacher.name}: the teacher should be {same}, and its tags, since {system.name} gives tags")
    if not explores:
        able = [name for name, kind in system.oracles.items() if getattr(kind, "explores", False)]
        remedy = f"--oracle {able[0]} can" if able else "the swap system (--system swap) has one that can"
        raise ConfigError(
            f"{teacher.name}: the teacher is not {same}, so only its trees could be followed, but the {oracle} oracle "
            f"of {system.name} cannot be asked in any state; {remedy}, or the teacher should be such a network"
        )


def _plain_labels(labels: Sequence[str], scheme: Scheme | None) -> set[str]:
    return set(labels) if scheme is None else {scheme.undecorate(label).label for label in labels}


def trees_of(
    parser: Parser, sentences: Sequence[Sentence], actions: Actions, scheme: Scheme | None, threads: int
) -> list[StackedTree]:
    """Return the trees that a parser gives to sentences, projectivized as those of the training data are."""
    trees = (sentence.tree for sentence in parser.parse_all(sentences, threads=threads))
    return [stacked_tree(tree if scheme is None else projectivize(tree, scheme), actions) for tree in trees]


def examples_without_trees(sentences: Sequence[Sentence], actions: Actions) -> list[Example]:
    """Return sentences without gold trees as examples."""
    if not actions.tags:
        return [Example(words_of(sentence), (), (), gold=False) for sentence in sentences]
    tagging = Tagging(actions)
    read = (tagging.read(sentence) for sentence in sentences)
    return [Example(words, (), (), tag_candidates=candidates, gold=False) for words, candidates in read]
