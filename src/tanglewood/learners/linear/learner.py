"""The linear learner: hashed feature templates and an averaged perceptron with a margin; needs no other package.

Moves are scored first, labels when a move takes one. From the second epoch on the learner follows its own mistakes
where the oracle allows it, so that it has seen what it will get into.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from zlib import crc32

from tanglewood.core.oracle import Oracle
from tanglewood.errors import ConfigError
from tanglewood.learners.base import Example, Task
from tanglewood.learners.feature_models import linear_templates
from tanglewood.learners.features import FeatureSet, WordTable
from tanglewood.learners.linear.beam import BeamTrainer
from tanglewood.learners.linear.core import LinearCore, LinearTrainer
from tanglewood.learners.templates import LATER, SHIPPED, TemplateLists, Templates, tag_templates
from tanglewood.ml.linear_weights import MOST_CLASSES, LearningWeights, Weights
from tanglewood.ml.words import ROOT, Word
from tanglewood.systems.three_step import ThreeStep
from tanglewood.treebank.sentence import Sentence

MOST_REMEMBERED = 200_000  # words whose numbers a workspace keeps
QUANTA = 1 << 10  # the largest weight of a table becomes this integer
# Scores that were learnt one decision at a time are differences of about a margin; times this number they do as
# logarithms of probabilities, which a beam adds up (LAS on Hungarian dev, beam of 8: 22 with 1, 75.8 with 5 and 8).
SHARPNESS = 6.0


def shape_of(form: str) -> str:
    """Capitals, small letters, digits and other characters as X, x, 0 and themselves, repetitions left out."""
    shape = ""
    for character in form:
        kind = "X" if character.isupper() else "x" if character.isalpha() else "0" if character.isdigit() else character
        if not shape.endswith(kind):
            shape += kind
    return shape


def number_word(word: Word) -> tuple[array[int], array[int]]:
    """Return the numbers of a word's columns, in the order of templates.COLUMNS, and of its features."""
    form, lemma, upos, xpos, feats = word
    lower = form.lower()
    affixes = (lower[:2], lower[:3], lower[-2:], lower[-3:], lower[-4:])
    columns = (form, lower, lemma, upos, xpos, *affixes, shape_of(form))
    return (
        array("I", [crc32(value.encode()) for value in columns]),
        array("I", [crc32(value.encode()) for value in feats.split("|")]),
    )


ROOT_NUMBERS = number_word((ROOT, ROOT, ROOT, ROOT, ROOT))


class WordNumbers:
    """Numbers words, and remembers those it has met."""

    def __init__(self) -> None:
        self.known: dict[Word, tuple[array[int], array[int]]] = {}

    def table(self, sentences: Sequence[Sequence[Word]]) -> tuple[WordTable, list[int]]:
        """Return the table of some sentences, and the place of each one's node 0."""
        columns, feats, starts, offsets = array("I"), array("I"), array("i"), []
        known = self.known
        for words in sentences:
            offsets.append(len(starts))
            columns.extend(ROOT_NUMBERS[0])
            starts.append(len(feats))
            feats.extend(ROOT_NUMBERS[1])
            for word in words:
                numbers = known.get(word)
                if numbers is None:
                    if len(known) >= MOST_REMEMBERED:
                        known.clear()
                    numbers = known[word] = number_word(word)
                columns.extend(numbers[0])
                starts.append(len(feats))
                feats.extend(numbers[1])
        starts.append(len(feats))
        return WordTable(columns, feats, starts), offsets


def freeze_tables(
    tables: Mapping[str, LearningWeights], time: float, least: float, updates: int
) -> tuple[dict[str, memoryview], dict[str, float]]:
    """Return averaged weights as arrays for a model, and what an integer in them is worth."""
    arrays, scales = {}, {}
    for name, weights in tables.items():
        largest = weights.largest(time) or 1.0
        scales[name] = largest / QUANTA
        keys, entries = weights.freeze(time, scales[name], least * largest, updates)
        arrays[f"{name}.keys"], arrays[f"{name}.entries"] = memoryview(keys), memoryview(entries)
    return arrays, scales


def save_tables(tables: Mapping[str, LearningWeights]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables as arrays, and their sizes."""
    arrays: dict[str, Any] = {}
    for name, weights in tables.items():
        arrays[f"{name}.slots"], arrays[f"{name}.pool"] = weights.tables()
    return arrays, {name: [weights.n_keys, weights.n_pool] for name, weights in tables.items()}


def restore_tables(
    tables: Mapping[str, LearningWeights], arrays: Mapping[str, memoryview], sizes: Mapping[str, Any]
) -> None:
    """Put back what `save_tables` returned."""
    for name, weights in tables.items():
        weights.restore(arrays[f"{name}.slots"], arrays[f"{name}.pool"], *sizes[name])


def feature_sets(task: Task, templates: Templates) -> tuple[FeatureSet, FeatureSet, FeatureSet]:
    """Return the features of moves, of labels and of tags; for all of them words have the tags given so far."""
    column = task.system.tag_column
    numbers = [crc32(tag.encode()) for tag in task.tags]
    moves = FeatureSet(templates.moves, tag_column=column, tags=numbers)
    labels = FeatureSet(templates.labels, arc=True, tag_column=column, tags=numbers)
    tags = FeatureSet(templates.tags, tag_column=column, tags=numbers)
    tags.share_keys(labels)
    return moves, labels, tags


class LinearWorkspace:
    """What one thread needs to score the states of sentences."""

    def __init__(self, model: LinearModel) -> None:
        self.numbers = WordNumbers()
        sets = feature_sets(model.task, model.templates)
        self.core = LinearCore(
            model.task.system,
            *sets,
            model.tables["moves"],
            model.tables["labels"],
        )
        self.words, self.offsets = self.numbers.table([])

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Number the words of the sentences."""
        self.words, self.offsets = self.numbers.table(sentences)

    def turn_to(self, index: int) -> LinearCore:
        """Return the scorer, set to one of the encoded sentences."""
        self.core.use(self.words, self.offsets[index])
        return self.core


class TableModel:
    """Averaged weights, small ones left out, as integers: a table for each name, with so many classes."""

    def __init__(
        self,
        task: Task,
        templates: TemplateLists,
        arrays: Mapping[str, memoryview],
        scales: Mapping[str, float],
        sizes: Mapping[str, int],
        sharpness: float = 1.0,
    ) -> None:
        self.task = task
        self.templates = templates
        self.scales = dict(scales)
        self.tables = {
            name: Weights(arrays[f"{name}.keys"], arrays[f"{name}.entries"], size, sharpness * scales[name])
            for name, size in sizes.items()
        }
        self._arrays = arrays

    def arrays(self) -> Mapping[str, Any]:
        """Return keys and entries of the tables."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return templates and scales."""
        return {"templates": self.templates.as_dict(), "scales": self.scales}


class LinearModel(TableModel):
    """Scores moves and labels; ``beam`` is the width of the beam that it has learnt with."""

    templates: Templates

    def __init__(
        self,
        task: Task,
        templates: Templates,
        arrays: Mapping[str, memoryview],
        scales: Mapping[str, float],
        beam: int = 1,
    ) -> None:
        self.beam = beam
        sizes = {"moves": task.system.n_moves, "labels": max(task.n_labels, 1)}
        TableModel.__init__(self, task, templates, arrays, scales, sizes, SHARPNESS if beam == 1 else 1.0)

    def workspace(self) -> LinearWorkspace:
        """Return a workspace for one thread."""
        return LinearWorkspace(self)

    @classmethod
    def load(cls, task: Task, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> LinearModel:
        """Make the model anew from its arrays and settings."""
        return cls(task, Templates.of(settings["templates"]), arrays, settings["scales"], settings.get("beam", 1))

    def settings(self) -> dict[str, Any]:
        """Return templates and scales, and the beam if there was one."""
        return TableModel.settings(self) | ({"beam": self.beam} if self.beam > 1 else {})


@dataclass(frozen=True, slots=True)
class LinearOptions:
    """How the linear model is trained."""

    epochs: int = 15
    margin: float = 1.0  # by which the right move should lead
    most: float = 0.003  # largest step of a weight
    explore: float = 0.85  # probability of following a mistake, from the second epoch on
    least: float = 0.004  # share of the largest weight below which a weight is dropped
    updates: int = 1  # fewest updates of a feature that is kept
    templates: str = ""  # a TOML file of one's own templates
    train_beam: int = 1  # derivations kept while learning: 1 learns one decision at a time, more whole derivations
    features: str = ""  # or a feature model of the papers, with all pairs of its features

    def __post_init__(self) -> None:
        if self.train_beam < 1:
            raise ConfigError(f"a beam of width {self.train_beam} holds nothing to learn from; it should be 1 or more")
        if self.epochs < 1 or self.updates < 0 or not 0 <= self.explore <= 1 or min(self.margin, self.most) <= 0:
            raise ConfigError("epochs should be 1 or more, margin and most more than 0, explore between 0 and 1")

    def resolved(self, words: int) -> LinearOptions:
        """Return the options for so many words of training data."""
        return self


class LinearLearner:
    """Learns a linear model.

    ``margin`` is by how much the right move should lead, ``most`` the largest step of a weight; ``explore`` is the
    probability of following a mistake. Weights below ``least`` of the largest one are not kept, nor are features
    updated less than ``updates`` times. With a ``train_beam`` wider than 1 whole derivations are learnt from, as the
    beam finds them: no margin and no exploring then (see linear_beam.py).
    """

    def __init__(
        self,
        task: Task,
        *,
        templates: Templates = SHIPPED,
        seed: int = 1,
        margin: float = 1.0,
        most: float = 0.003,
        explore: float = 0.85,
        least: float = 0.004,
        updates: int = 1,
        train_beam: int = 1,
    ) -> None:
        if task.n_labels > MOST_CLASSES:
            raise ConfigError(f"the linear learner takes at most {MOST_CLASSES} labels, not {task.n_labels}")
        self.task = task
        self.templates = templates
        self.explore = explore
        self.least = least
        self.updates = updates
        self.epochs = 0
        self.chance = Random(seed)
        self.numbers = WordNumbers()
        self.trainer = LinearTrainer(
            task.system,
            *feature_sets(task, templates),
            task.n_labels,
            margin=margin,
            most=most,
            seed=seed,
        )
        self.search = task.search(self.trainer)
        self.train_beam = train_beam
        self.beam_trainer = BeamTrainer(self.trainer, self.search, train_beam)

    @classmethod
    def begin(cls, task: Task, sentences: Sequence[Sentence], options: LinearOptions, seed: int) -> LinearLearner:
        """Return a learner; a feature model of the papers needs to know which columns the training data have."""
        shipped = SHIPPED + LATER if isinstance(task.system, ThreeStep) else SHIPPED
        templates = Templates.read(options.templates) if options.templates else shipped
        if options.features:
            if options.templates:
                raise ConfigError("templates of one's own and a feature model exclude each other")
            templates = linear_templates(options.features, task.system, sentences)
        if task.system.tag_column and not templates.tags:
            templates = replace(templates, tags=tag_templates(task.system.tag_column))
        return cls(
            task,
            templates=templates,
            seed=seed,
            margin=options.margin,
            most=options.most,
            explore=options.explore,
            least=options.least,
            updates=options.updates,
            train_beam=options.train_beam,
        )

    def epoch(self, examples: Sequence[Example], oracle: Oracle) -> float:
        """Go through the examples once, shuffled; return the share of wrong decisions (or derivations)."""
        trainer = self.trainer
        words, offsets = self.numbers.table([example.words for example in examples])
        order = list(range(len(examples)))
        self.chance.shuffle(order)
        trainer.explore = self.explore if self.epochs else 0.0
        trainer.loss = 0.0
        trainer.n_states = 0
        for index in order:
            example = examples[index]
            example.bind(oracle)
            trainer.use(words, offsets[index])
            if self.train_beam > 1:
                self.beam_trainer.learn(oracle, example.state())
            else:
                trainer.learn(self.search, oracle, example.state(), oracle.explores)
        self.epochs += 1
        return trainer.loss / max(1, trainer.n_states)

    def _tables(self) -> dict[str, LearningWeights]:
        return {"moves": self.trainer.learnt_moves, "labels": self.trainer.learnt_labels}

    def model(self) -> LinearModel:
        """Return the averaged model as of now."""
        arrays, scales = freeze_tables(self._tables(), self.trainer.time, self.least, self.updates)
        return LinearModel(self.task, self.templates, arrays, scales, self.train_beam)

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return the tables, and where the generators stand."""
        trainer = self.trainer
        arrays, sizes = save_tables(self._tables())
        data: dict[str, Any] = {
            **sizes,
            "epochs": self.epochs,
            "order": list(self.chance.getstate()[1]),
            "chance": trainer.chance,
            "time": trainer.time,
        }
        return arrays, data

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to such a state."""
        trainer = self.trainer
        self.epochs = data["epochs"]
        self.chance.setstate((3, tuple(data["order"]), None))
        trainer.chance = data["chance"]
        trainer.time = data["time"]
        restore_tables(self._tables(), arrays, data)
