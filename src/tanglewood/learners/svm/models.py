"""What the classifiers learnt: arrays in a model file, and scorers made from them; scikit-learn is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tanglewood.checks import REAL, Layout, Shape, check_arrays, check_settings, starts
from tanglewood.core.actions import Actions
from tanglewood.errors import ModelError
from tanglewood.learners.base import Capabilities
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.svm.core import ClassScorer, KeyTable, LiblinearCore, Parts, SupportVectors, SvmCore
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import Word

VECTOR_ARRAYS = ("parts.vectors", "parts.pairs", "intercepts", "coefs.starts", "coefs.pairs", "coefs.values")
Arrays = Mapping[str, Any]
ARRAYS = {  # of both classifiers: what is said in learners/svm/core.py, as numbers
    "keys": Layout("i", ("features",), least=0),
    "parts.keys": Layout("i", ("splits",)),
    "parts.numbers": Layout("i", ("splits",), least=0, below="parts"),
    "parts.features": starts("parts", among="features"),
    "parts.starts": starts("parts", among="parts.classes"),
    "parts.classes": Layout("i", ("parts.classes",), least=0, below="classes"),
    "classes.moves": Layout("i", ("classes",), least=0, below="moves"),
    "classes.labels": Layout("i", ("classes",), least=-1, below="labels"),
    "classes.prior": Layout("f", ("classes",)),
}
SVM_ARRAYS = ARRAYS | {
    "parts.vectors": starts("parts", among="vectors"),
    "parts.pairs": starts("parts", among="pairs"),
    "intercepts": Layout("d", ("pairs",)),
    "vectors.starts": starts("vectors", among="vectors.features"),
    "vectors.features": Layout("i", ("vectors.features",), least=0, below="features"),
    "coefs.starts": starts("vectors", among="coefs"),
    "coefs.pairs": Layout("i", ("coefs",), least=0),
    "coefs.values": Layout("d", ("coefs",)),
}
LIBLINEAR_ARRAYS = ARRAYS | {
    "weights.starts": starts("features", among="weights"),
    "weights.classes": Layout("i", ("weights",), least=0),
    "weights.values": Layout("f", ("weights",)),
}
SETTINGS: Shape = {"templates": [str], "splitting": [str]}
SVM_SETTINGS: Shape = SETTINGS | {"gamma": REAL, "coef0": REAL}


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

    declared: ClassVar[Mapping[str, Layout]]
    settings_shape: ClassVar[Shape] = SETTINGS

    def __init__(self, actions: Actions, arrays: Arrays, settings: Mapping[str, Any]) -> None:
        self.actions = actions
        self._arrays: dict[str, Any] = {name: np.asarray(values) for name, values in arrays.items()}
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
        check_settings(settings, cls.settings_shape)
        feature_sets(actions, settings)  # complains about templates
        sizes = check_arrays(arrays, cls.declared, {"moves": actions.system.n_moves, "labels": actions.n_labels})
        if not sizes["parts"]:
            raise ModelError("the model has no part of the data, so there is nothing to score with")
        cls._check({name: np.asarray(values) for name, values in arrays.items()})
        return cls(actions, arrays, settings)

    @classmethod
    def _check(cls, arrays: Arrays) -> None:
        """Raise ModelError if what belongs to a part speaks of something outside that part."""
        raise NotImplementedError


class SvmModel(ClassifierModel):
    """Support vectors."""

    declared = SVM_ARRAYS
    settings_shape = SVM_SETTINGS

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

    @classmethod
    def _check(cls, arrays: Arrays) -> None:
        classes, pairs = np.diff(arrays["parts.starts"]).astype(np.int64), np.diff(arrays["parts.pairs"])
        if (classes * (classes - 1) // 2 != pairs).any():
            raise ModelError("the parts do not have a decision for every pair of their classes")
        of_vectors = np.repeat(np.arange(len(classes)), np.diff(arrays["parts.vectors"]))  # the part of each
        of_coefs = np.repeat(of_vectors, np.diff(arrays["coefs.starts"]))
        if (arrays["coefs.pairs"] >= pairs[of_coefs]).any():
            raise ModelError("the array 'coefs.pairs' speaks of pairs of classes that its parts do not have")
        features = arrays["vectors.features"]
        vectors = np.repeat(np.arange(len(of_vectors)), np.diff(arrays["vectors.starts"]))
        first, end = arrays["parts.features"][of_vectors[vectors]], arrays["parts.features"][of_vectors[vectors] + 1]
        rises = (np.diff(features) > 0) | (np.diff(vectors) > 0)
        if ((features < first) | (features >= end)).any() or not rises.all():
            raise ModelError("the vectors' features should rise, and be among those of their parts")


class LiblinearModel(ClassifierModel):
    """Weights of features."""

    declared = LIBLINEAR_ARRAYS

    def core(self) -> LiblinearCore:
        """Return a scorer."""
        weights = (self._filled(f"weights.{name}") for name in ("starts", "classes", "values"))
        return LiblinearCore(*self._core_arguments(), *weights)

    @classmethod
    def _check(cls, arrays: Arrays) -> None:
        of_features = np.repeat(np.diff(arrays["parts.starts"]), np.diff(arrays["parts.features"]))
        of_weights = np.repeat(of_features, np.diff(arrays["weights.starts"]))  # how many classes the part of each has
        if (arrays["weights.classes"] >= of_weights).any():
            raise ModelError("the array 'weights.classes' speaks of classes that its parts do not have")


def view_of(values: Any) -> memoryview:  # noqa: ANN401 - an array
    """Return a view that gives Python numbers where nothing is compiled; it is never empty, which C cannot take."""
    filled: Any = values if values.size else np.zeros(1, values.dtype)
    return memoryview(filled)


def starts_of(counts: Any) -> Any:  # noqa: ANN401 - arrays
    """Return where each group begins, given the size of each, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
