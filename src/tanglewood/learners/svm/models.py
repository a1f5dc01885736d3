"""What the classifiers learnt: arrays in a model file, and scorers made from them; scikit-learn is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from tanglewood.core.actions import Actions
from tanglewood.learners.base import Capabilities
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.svm.core import ClassScorer, KeyTable, LiblinearCore, Parts, SupportVectors, SvmCore
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import Word

VECTOR_ARRAYS = ("parts.vectors", "parts.pairs", "intercepts", "coefs.starts", "coefs.pairs", "coefs.values")
Arrays = Mapping[str, Any]


def feature_sets(actions: Actions, settings: Mapping[str, Any]) -> list[FeatureSet]:
    """Return the features of configurations, and those by which the data are split."""
    return [FeatureSet(settings[name], actions=actions) for name in ("templates", "splitting")]


class ClassifierWorkspace:
    """What one thread needs to score the states of sentences."""

    def __init__(self, core: ClassScorer) -> None:
        self.numbers = WordNumbers()
        self.core = core
        self.words, self.offsets = self.numbers.table([])

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Number the words of the sentences."""
        self.words, self.offsets = self.numbers.table(sentences)

    def turn_to(self, index: int) -> ClassScorer:
        """Return the scorer, set to one of the encoded sentences."""
        self.core.use(self.words, self.offsets[index])
        return self.core


class ClassifierModel:
    """What was learnt, as arrays: those of the parts and their classes, and the classifiers' own."""

    def __init__(self, actions: Actions, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        self.actions = actions
        # The doubles in a file need not be aligned.
        self._arrays = {name: np.require(values, requirements=["C", "A"]) for name, values in arrays.items()}
        self._settings = dict(settings)
        self._parts = Parts(
            *(self._filled(f"parts.{name}") for name in ("keys", "numbers", "starts", "classes")),
            *(self._filled(f"classes.{name}") for name in ("moves", "labels", "prior")),
        )
        self._keys = KeyTable(memoryview(self._arrays["keys"]), self._filled("parts.features"))

    def _filled(self, name: str) -> memoryview:
        """Return an array for the core."""
        return view_of(self._arrays[name])

    def _core_arguments(self) -> tuple[Actions, FeatureSet, FeatureSet, Parts, KeyTable]:
        features, splitting = feature_sets(self.actions, self._settings)
        return self.actions, features, splitting, self._parts, self._keys

    @property
    def capabilities(self) -> Capabilities:
        """The model scores moves, each with its label."""
        return Capabilities(scores_moves=True)

    def core(self) -> ClassScorer:
        """Return a scorer."""
        raise NotImplementedError

    def workspace(self, *, reproducible: bool = False) -> ClassifierWorkspace:
        """Return a workspace for one thread; its scores are the same on every machine anyway."""
        return ClassifierWorkspace(self.core())

    def arrays(self) -> Arrays:
        """Return the arrays."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return templates and kernel."""
        return self._settings

    @classmethod
    def load(cls, actions: Actions, arrays: Arrays, settings: Mapping[str, Any]) -> Self:
        """Rebuild the model from its arrays and settings."""
        return cls(actions, arrays, settings)


class SvmModel(ClassifierModel):
    """Support vectors."""

    @property
    def capabilities(self) -> Capabilities:
        """The model counts votes, which are not log-probabilities: it is for greedy search only."""
        return Capabilities(scores_moves=True, beam=False)

    def __init__(self, actions: Actions, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        ClassifierModel.__init__(self, actions, arrays, settings)
        starts, features = self._arrays["vectors.starts"], self._arrays["vectors.features"]
        vectors = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        index = vectors[np.argsort(features, kind="stable")]
        index_starts = starts_of(np.bincount(features, minlength=len(self._arrays["keys"])))
        most = FeatureSet(settings["templates"], actions=actions).most_keys
        base = settings["gamma"] * np.arange(most + 1) + settings["coef0"]
        self.learnt = SupportVectors(
            view_of(base * base),
            view_of(index_starts),
            view_of(index),
            *map(self._filled, VECTOR_ARRAYS),
        )

    def core(self) -> SvmCore:
        """Return a scorer."""
        return SvmCore(*self._core_arguments(), self.learnt)


class LiblinearModel(ClassifierModel):
    """Weights of features."""

    def core(self) -> LiblinearCore:
        """Return a scorer."""
        weights = (self._filled(f"weights.{name}") for name in ("starts", "classes", "values"))
        return LiblinearCore(*self._core_arguments(), *weights)


def view_of(values: Any) -> memoryview:  # noqa: ANN401 - an array
    """Return a view that gives Python numbers where nothing is compiled; it is never empty, which C cannot take."""
    filled: Any = values if values.size else np.zeros(1, values.dtype)
    return memoryview(filled)


def starts_of(counts: Any) -> Any:  # noqa: ANN401 - arrays
    """Return where each group begins, given the size of each, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
