"""The linear learner: hashed feature templates and an averaged perceptron with a margin; needs no other package.

Moves are scored first, labels when a move takes one. From the second epoch on the learner follows its own mistakes
where the oracle allows it, so that it knows the states they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tanglewood.checks import REAL, Shape, Whole, check_arrays, check_settings
from tanglewood.core.actions import Actions
from tanglewood.core.beam import MOST_WIDTH
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import Search
from tanglewood.errors import ConfigError
from tanglewood.learners.base import Capabilities, Example, quiet
from tanglewood.learners.feature_models import linear_templates
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.linear.beam import BeamTrainer
from tanglewood.learners.linear.core import LinearCore, LinearTrainer
from tanglewood.learners.templates import ARC, LATER, SHIPPED, TemplateLists, Templates, tag_templates
from tanglewood.ml.linear_tables import freeze_tables, load_tables, restore_tables, save_tables, table_arrays
from tanglewood.ml.linear_weights import MOST_CLASSES, LearningWeights
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import Word
from tanglewood.treebank.sentence import Sentence

# Scores learnt one decision at a time differ by about a margin; multiplied by this number they can serve as the
# log-probabilities that a beam adds up (LAS on Hungarian dev, beam of 8: 22 with 1, 75.8 with 5 and 8).
INVERSE_TEMPERATURE = 6.0
SETTINGS: Shape = {  # of a model
    "templates": {"moves": [str], "labels": [str], "tags?": [str]},
    "scales": {"moves": REAL, "labels": REAL},
    "beam?": Whole(2, MOST_WIDTH),
}


def feature_sets(actions: Actions, templates: Templates) -> tuple[FeatureSet, FeatureSet, FeatureSet]:
    """Return the features of moves, of labels and of tags; all see the tags that words have been given so far."""
    moves = FeatureSet(templates.moves, actions=actions)
    labels = FeatureSet(templates.labels, ends=ARC, actions=actions)
    tags = FeatureSet(templates.tags, actions=actions)
    tags.share_keys(labels)
    return moves, labels, tags


class LinearWorkspace:
    """What one thread needs to score the states of sentences."""

    def __init__(self, model: LinearModel) -> None:
        self.numbers = WordNumbers()
        sets = feature_sets(model.actions, model.templates)
        self.core = LinearCore(
            model.actions.system,
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
    """Averaged weights as integers, small ones left out: a table for each name in ``sizes``, with that many classes."""

    def __init__(
        self,
        actions: Actions,
        templates: TemplateLists,
        arrays: Mapping[str, memoryview],
        scales: Mapping[str, float],
        sizes: Mapping[str, int],
        inverse_temperature: float = 1.0,
    ) -> None:
        self.actions = actions
        self.templates = templates
        self.scales = dict(scales)
        self.tables = load_tables(arrays, scales, sizes, inverse_temperature)
        self._arrays = arrays

    def arrays(self) -> Mapping[str, Any]:
        """Return keys and entries of the tables."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return templates and scales."""
        return {"templates": self.templates.as_dict(), "scales": self.scales}


class LinearModel(TableModel):
    """Scores moves and labels; ``beam`` is the width of the beam that it was trained with."""

    templates: Templates

    def __init__(
        self,
        actions: Actions,
        templates: Templates,
        arrays: Mapping[str, memoryview],
        scales: Mapping[str, float],
        beam: int = 1,
    ) -> None:
        self.beam = beam
        sizes = {"moves": actions.system.n_moves, "labels": max(actions.n_labels, 1)}
        TableModel.__init__(self, actions, templates, arrays, scales, sizes, INVERSE_TEMPERATURE if beam == 1 else 1.0)

    @property
    def capabilities(self) -> Capabilities:
        """The model scores moves; scores learnt with a beam are added up as they are."""
        return Capabilities(scores_moves=True, learnt_beam=self.beam)

    def workspace(self, *, reproducible: bool = False) -> LinearWorkspace:
        """Return a workspace for one thread; its scores are the same on every machine anyway."""
        return LinearWorkspace(self)

    @classmethod
    def load(cls, actions: Actions, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> LinearModel:
        """Rebuild the model from its arrays and settings."""
        check_settings(settings, SETTINGS)
        check_arrays(arrays, table_arrays(settings["scales"]))
        templates = Templates.of(settings["templates"])
        feature_sets(actions, templates)  # complains if there are too many features
        return cls(actions, templates, arrays, settings["scales"], settings.get("beam", 1))

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
    templates: str = ""  # a TOML file with your own templates
    train_beam: int = 1  # derivations kept while learning: 1 learns one decision at a time, more whole derivations
    features: str = ""  # or a feature model of the papers, with all pairs of its features

    def __post_init__(self) -> None:
        if not 1 <= self.train_beam <= MOST_WIDTH:
            what = "holds nothing to learn from" if self.train_beam < 1 else "is too wide"
            raise ConfigError(f"a beam of width {self.train_beam} {what}; it should be from 1 to {MOST_WIDTH}")
        if self.epochs < 1 or self.updates < 0 or not 0 <= self.explore <= 1 or min(self.margin, self.most) <= 0:
            raise ConfigError("epochs should be 1 or more, margin and most more than 0, explore between 0 and 1")

    def resolved(self, words: int) -> LinearOptions:
        """Return the options for this many words of training data."""
        return self


class LinearLearner:
    """Learns a linear model.

    ``margin`` is by how much the right move should lead, ``most`` the largest step of a weight; ``explore`` is the
    probability of following a mistake. Weights below ``least`` of the largest one are not kept, nor are features
    updated fewer than ``updates`` times. With a ``train_beam`` wider than 1 it learns from whole derivations, as the
    beam finds them, without margin or exploration (see learners/linear/beam.py).
    """

    def __init__(
        self,
        actions: Actions,
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
        if actions.n_labels > MOST_CLASSES:
            raise ConfigError(f"the linear learner takes at most {MOST_CLASSES} labels, not {actions.n_labels}")
        self.actions = actions
        self.templates = templates
        self.explore = explore
        self.least = least
        self.updates = updates
        self.epochs = 0
        self.rng = Random(seed)
        self.numbers = WordNumbers()
        self.trainer = LinearTrainer(
            actions.system,
            *feature_sets(actions, templates),
            actions.n_labels,
            margin=margin,
            most=most,
            seed=seed,
        )
        self.search = Search(actions, self.trainer)
        self.tell = quiet
        self.train_beam = train_beam
        self.beam_trainer = BeamTrainer(self.trainer, self.search, train_beam)

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: LinearOptions,
        seed: int,
        *,
        stacked: bool = False,
    ) -> LinearLearner:
        """Return a learner; a feature model of the papers needs to know which columns the training data have."""
        shipped = SHIPPED + LATER if len(actions.system.phases) > 1 else SHIPPED
        templates = Templates.read(options.templates) if options.templates else shipped
        if options.features:
            if options.templates:
                raise ConfigError("templates of one's own and a feature model exclude each other")
            templates = linear_templates(options.features, actions.system, sentences)
        if actions.system.tag_column and not templates.tags:
            templates = replace(templates, tags=tag_templates(actions.system.tag_column))
        return cls(
            actions,
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
        self.rng.shuffle(order)
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
        return LinearModel(self.actions, self.templates, arrays, scales, self.train_beam)

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return the tables, and the states of the random number generators."""
        trainer = self.trainer
        arrays, sizes = save_tables(self._tables())
        data: dict[str, Any] = {
            **sizes,
            "epochs": self.epochs,
            "order": list(self.rng.getstate()[1]),
            "rng": trainer.rng,
            "time": trainer.time,
        }
        return arrays, data

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        trainer = self.trainer
        self.epochs = data["epochs"]
        self.rng.setstate((3, tuple(data["order"]), None))
        trainer.rng = data["rng"]
        trainer.time = data["time"]
        restore_tables(self._tables(), arrays, data)
