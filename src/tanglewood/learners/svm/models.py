"""What the learners of svm.py learnt: arrays in a model file, and scorers made of them; no scikit-learn is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from tanglewood.learners.base import Task
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.linear.learner import WordNumbers
from tanglewood.learners.svm.core import ClassScorer, KeyTable, LiblinearCore, Parts, SupportVectors, SvmCore
from tanglewood.ml.words import Word
from tanglewood.systems.three_step import ThreeStep

VECTOR_ARRAYS = ("parts.vectors", "parts.pairs", "intercepts", "coefs.starts", "coefs.pairs", "coefs.values")
Arrays = Mapping[str, Any]


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

    def __init__(self, task: Task, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        self.task = task
        # In a file doubles may begin anywhere.
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

    def _core_arguments(self) -> tuple[Task, bool, FeatureSet, FeatureSet, Parts, KeyTable]:
        features, splitting = (FeatureSet(self._settings[name]) for name in ("templates", "splitting"))
        return self.task, isinstance(self.task.system, ThreeStep), features, splitting, self._parts, self._keys

    def core(self) -> ClassScorer:
        """Return a scorer."""
        raise NotImplementedError

    def workspace(self) -> ClassifierWorkspace:
        """Return a workspace for one thread."""
        return ClassifierWorkspace(self.core())

    def arrays(self) -> Arrays:
        """Return the arrays."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return templates and kernel."""
        return self._settings

    @classmethod
    def load(cls, task: Task, arrays: Arrays, settings: Mapping[str, Any]) -> Self:
        """Make the model anew from its arrays and settings."""
        return cls(task, arrays, settings)


class SvmModel(ClassifierModel):
    """Support vectors. It counts votes, which are no logarithms of probabilities: it is for greedy search only."""

    greedy_only = True

    def __init__(self, task: Task, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        ClassifierModel.__init__(self, task, arrays, settings)
        starts, features = self._arrays["vectors.starts"], self._arrays["vectors.features"]
        vectors = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        index = vectors[np.argsort(features, kind="stable")]
        index_starts = starts_of(np.bincount(features, minlength=len(self._arrays["keys"])))
        most = FeatureSet(settings["templates"]).most_keys
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
    """Return a view that gives Python's numbers where nothing is compiled; never an empty one: it would not compile."""
    filled: Any = values if values.size else np.zeros(1, values.dtype)
    return memoryview(filled)


def starts_of(counts: Any) -> Any:  # noqa: ANN401 - arrays
    """Where things begin that are so many each, and where the last ones end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
