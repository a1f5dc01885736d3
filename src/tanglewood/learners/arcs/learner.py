"""The arcs learner: a linear model of arcs and their labels, trained with the decoder that it will be used with.

The score of a tree is the sum of its arcs' scores (McDonald, Crammer & Pereira 2005), so that exact search is possible.
After each sentence the weights move just far enough that the gold tree leads the best other tree by as much as that one
gets wrong. A second-order model also scores neighbouring dependents of a head (McDonald & Pereira 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tanglewood.checks import REAL, Real, Shape, check_arrays, check_settings
from tanglewood.core.actions import Actions
from tanglewood.core.state import State
from tanglewood.decoders.base import Decoder, score_table
from tanglewood.decoders.siblings import sibling_table
from tanglewood.errors import ConfigError
from tanglewood.learners.arcs.core import ArcCore, ArcFeatures, ArcTrainer, SiblingFeatures, label_table
from tanglewood.learners.arcs.templates import SHIPPED, SIBLINGS, STACKED, ArcTemplates
from tanglewood.learners.base import ArcTable, Capabilities, Example, StackedTree, quiet
from tanglewood.learners.linear.learner import TableModel
from tanglewood.ml.linear_tables import freeze_tables, restore_tables, save_tables, table_arrays
from tanglewood.ml.linear_weights import MOST_CLASSES, LearningWeights
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import Word
from tanglewood.treebank.sentence import Sentence

SETTINGS: Shape = {  # of a model
    "templates": {"arcs": [str], "labels": [str], "siblings?": [str]},
    "scales": {"arcs": REAL, "labels": REAL},
    "stacked": bool,
    "temperature": Real(least=1e-6),
    "calibrated": bool,
}


def state_of(n: int, stacked: StackedTree | None) -> State:
    """Return a configuration that has the arcs of a stacked parser's tree, if there is one, and nothing else."""
    state = State(n)
    if stacked is not None:
        state.take_arcs(stacked.heads, stacked.labels)
    return state


class ArcWorkspace:
    """What one thread needs to score the arcs of sentences."""

    def __init__(self, model: ArcModel) -> None:
        self.numbers = WordNumbers()
        self.stacked = model.stacked
        self.temperature = model.temperature
        actions, tables = model.actions, model.tables
        self.core = ArcCore(model.templates, actions, tables["arcs"], tables["labels"])
        self.encode([])

    def encode(self, sentences: Sequence[Sequence[Word]], stacked: Sequence[StackedTree] = ()) -> None:
        """Number the words of the sentences."""
        if self.stacked and len(stacked) != len(sentences):
            raise ConfigError("the model is stacked on another parser and needs its tree for every sentence")
        self.words, self.offsets = self.numbers.table(sentences)
        given: Sequence[StackedTree | None] = stacked if self.stacked else [None] * len(sentences)
        self.states = [state_of(len(words), tree) for words, tree in zip(sentences, given, strict=True)]

    def score(self, index: int) -> ArcTable:
        """Return the scores of the arcs of one of the encoded sentences."""
        state = self.states[index]
        found = ArcTable(score_table(state.n), label_table(state.n))
        self.core.use(self.words, self.offsets[index], state)
        self.core.fill(found.scores, found.labels)
        return found

    def score_siblings(self, index: int) -> memoryview[float]:
        """Return the scores of siblings of one of the encoded sentences, from a second-order model."""
        state = self.states[index]
        found = sibling_table(state.n)
        self.core.use(self.words, self.offsets[index], state)
        self.core.fill_siblings(found)
        return found


class ArcModel(TableModel):
    """Scores arcs and labels.

    The margins that it learns are not probabilities; divided by the ``temperature`` they come closest to
    log-probabilities.
    """

    templates: ArcTemplates

    def __init__(
        self,
        actions: Actions,
        templates: ArcTemplates,
        arrays: Mapping[str, memoryview],
        scales: Mapping[str, float],
        *,
        stacked: bool,
        temperature: float = 1.0,
        calibrated: bool = False,
    ) -> None:
        TableModel.__init__(
            self, actions, templates, arrays, scales, {"arcs": 1, "labels": max(len(actions.labels), 1)}
        )
        self.stacked = stacked
        self.temperature = temperature
        self.calibrated = calibrated

    @property
    def capabilities(self) -> Capabilities:
        """The model scores arcs and, if it is a second-order one, siblings."""
        return Capabilities(
            scores_arcs=True,
            scores_siblings=bool(self.templates.siblings),
            beam=False,
            calibrated=self.calibrated,
            stacked=self.stacked,
        )

    def workspace(self, *, reproducible: bool = False) -> ArcWorkspace:
        """Return a workspace for one thread; its scores are the same on every machine anyway."""
        return ArcWorkspace(self)

    def settings(self) -> dict[str, Any]:
        """Return templates, scales, and whatever else the model needs."""
        return {**TableModel.settings(self), **self._state()}

    @classmethod
    def load(cls, actions: Actions, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> ArcModel:
        """Rebuild the model from its arrays and settings."""
        check_settings(settings, SETTINGS)
        check_arrays(arrays, table_arrays(settings["scales"]))
        templates = ArcTemplates.of(settings["templates"])
        for texts in (templates.arcs, templates.labels):
            ArcFeatures(texts)  # complains if there are too many features
        SiblingFeatures(templates.siblings)  # likewise
        state = {name: settings[name] for name in ("stacked", "temperature", "calibrated")}
        return cls(actions, templates, arrays, settings["scales"], **state)

    def _state(self) -> dict[str, Any]:
        return {"stacked": self.stacked, "temperature": self.temperature, "calibrated": self.calibrated}


@dataclass(frozen=True, slots=True)
class ArcOptions:
    """How the arc model is trained."""

    epochs: int = 10
    head_cost: float = 1.0  # by how much the gold tree should lead, for each wrong head
    label_cost: float = 0.5  # and for each wrong label
    most: float = 0.01  # largest step of a weight
    least: float = 0.002  # share of the largest weight below which a weight is dropped
    updates: int = 1  # fewest updates of a feature that is kept
    templates: str = ""  # a TOML file with your own templates
    siblings: bool = False  # whether siblings are scored, too; the search says so

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.updates < 0 or self.label_cost < 0 or min(self.head_cost, self.most) <= 0:
            raise ConfigError("epochs should be 1 or more, head_cost and most more than 0, label_cost 0 or more")

    def resolved(self, words: int) -> ArcOptions:
        """Return the options for this many words of training data."""
        return self


class ArcLearner:
    """Learns a linear graph-based model."""

    def __init__(
        self, actions: Actions, templates: ArcTemplates, options: ArcOptions, seed: int, *, stacked: bool = False
    ) -> None:
        if len(actions.labels) > MOST_CLASSES:
            raise ConfigError(f"the arc learner takes at most {MOST_CLASSES} labels, not {len(actions.labels)}")
        self.actions = actions
        self.templates = templates
        self.options = options
        self.stacked = stacked
        self.tell = quiet
        self.rng = Random(seed)
        self.numbers = WordNumbers()
        self.trainer = ArcTrainer(
            templates,
            actions,
            head_cost=options.head_cost,
            label_cost=options.label_cost,
            most=options.most,
        )

    @classmethod
    def begin(
        cls, actions: Actions, sentences: Sequence[Sentence], options: ArcOptions, seed: int, *, stacked: bool = False
    ) -> ArcLearner:
        """Return a learner; with ``stacked`` it looks at the trees that come with the examples."""
        templates = ArcTemplates.read(options.templates) if options.templates else SHIPPED
        if stacked and not options.templates:
            templates = ArcTemplates((*SHIPPED.arcs, *STACKED.arcs), (*SHIPPED.labels, *STACKED.labels))
        if not options.siblings:
            templates = replace(templates, siblings=())
        elif not options.templates:
            templates = replace(templates, siblings=SIBLINGS)
        elif not templates.siblings:
            raise ConfigError(f"{options.templates} should have a list of strings, siblings, for a second-order search")
        return cls(actions, templates, options, seed, stacked=stacked)

    def epoch(self, examples: Sequence[Example], decoder: Decoder) -> float:
        """Go through the examples once, shuffled; return by how much, per word, gold trees fell short of their lead."""
        trainer = self.trainer
        words, offsets = self.numbers.table([example.words for example in examples])
        order = list(range(len(examples)))
        self.rng.shuffle(order)
        trainer.loss = 0.0
        for index in order:
            example = examples[index]
            if len(example.words):
                trainer.use(words, offsets[index], state_of(len(example.words), example.stacked))
                trainer.learn(example.heads, example.labels, decoder)
        return trainer.loss / max(1, sum(len(example.words) for example in examples))

    def _tables(self) -> dict[str, LearningWeights]:
        return {"arcs": self.trainer.learnt_arcs, "labels": self.trainer.learnt_labels}

    def model(self) -> ArcModel:
        """Return the averaged model as of now."""
        options = self.options
        arrays, scales = freeze_tables(self._tables(), self.trainer.time, options.least, options.updates)
        return ArcModel(self.actions, self.templates, arrays, scales, stacked=self.stacked)

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return the tables, and the state of the random number generator."""
        arrays, sizes = save_tables(self._tables())
        return arrays, {**sizes, "order": list(self.rng.getstate()[1]), "time": self.trainer.time}

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.rng.setstate((3, tuple(data["order"]), None))
        self.trainer.time = data["time"]
        restore_tables(self._tables(), arrays, data)
