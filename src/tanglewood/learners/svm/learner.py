"""The classifiers of the papers: LIBSVM with a quadratic kernel, as `svm`, and LIBLINEAR, as `liblinear`.

Both are trained on the configurations that the oracle goes through, in one go: `svm` by learners/svm/solver.py,
`liblinear` by scikit-learn, an optional extra. What they learnt is kept as arrays and scored by learners/svm/core.py.
As in MaltParser a class is a move with its label, symbolic features are binarized, and the data may be split by a
feature of the next token.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from threading import Lock
from typing import Any, ClassVar, Self
from warnings import catch_warnings, simplefilter

import numpy as np

from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.errors import ConfigError, MissingExtraError, OracleError
from tanglewood.learners.base import Example, quiet
from tanglewood.learners.feature_models import feature_templates, resolve, with_pairs
from tanglewood.learners.svm.models import Arrays, ClassifierModel, LiblinearModel, SvmModel, feature_sets, starts_of
from tanglewood.learners.svm.solver import PairSolver, Rows
from tanglewood.learners.templates import Templates
from tanglewood.ml.word_table import WordNumbers
from tanglewood.treebank.sentence import Sentence

LEAST_PRIOR = -1000.0  # below the score of every class that a part of the data has
MOST_CHECKED = 5000  # most instances on which the loss is measured
CANDIDATE_TEMPLATES = ["b0.choices", "b0.suffix3", "b0.prefix3", "b0.previous.form"]  # for systems that give tags


@dataclass(frozen=True, slots=True)
class ClassifierOptions:
    """What both learners share; the defaults are those of SvmOptions and LiblinearOptions."""

    epochs: int = 1
    cost: float = 1.0  # C
    tolerance: float = 1.0  # at which training stops
    features: str = "nivre2006"  # feature model
    templates: str = ""  # or a TOML file with your own templates, of which those for moves are used
    split: str = ""  # column of the next token by which the data are split: pos, cpos, ...; "": not at all
    threshold: int = 1000  # instances that a part must have; smaller ones are merged
    threads: int = 1  # parts, or pairs of classes, that are trained at once
    pairs: bool = False  # whether to add all pairs of the model's features; not for your own templates

    def __post_init__(self) -> None:
        if self.epochs != 1:
            raise ConfigError(f"epochs={self.epochs}: this learner is trained in one go, so epochs is 1")
        if min(self.cost, self.tolerance) <= 0 or min(self.threshold, self.threads) < 1:
            raise ConfigError("cost and tolerance should be more than 0, threshold and threads 1 or more")

    def resolved(self, words: int) -> Self:
        """Return the options for this many words of training data."""
        return self


@dataclass(frozen=True, slots=True)
class SvmOptions(ClassifierOptions):
    """How LIBSVM is trained; the kernel is (gamma x.y + coef0)^2. By default as for most languages of CoNLL 2007."""

    cost: float = 0.5
    gamma: float = 0.2
    coef0: float = 0.0
    split: str = "pos"
    cache: int = 500  # megabytes that each thread keeps of what rows have in common


@dataclass(frozen=True, slots=True)
class LiblinearOptions(ClassifierOptions):
    """How LIBLINEAR is trained, by default as by MaltParser: Crammer and Singer's multi-class machine, no bias."""

    cost: float = 0.1
    tolerance: float = 0.1
    pairs: bool = True
    fewest: int = 1  # times that a feature must occur in a part; more saves memory and costs accuracy


@dataclass(frozen=True, slots=True)
class Instances:
    """Configurations of one part of the data, in order: their features, 0/1 rows, and their classes."""

    rows: list[array[int]] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)


class ClassifierLearner:
    """Gathers the configurations that the oracle goes through, splits them, and trains a classifier on each part."""

    name: ClassVar[str]
    kind: ClassVar[type[ClassifierModel]]
    divides_parts: ClassVar[bool] = False  # whether the threads share out the work of one part, or take a part each

    def __init__(
        self,
        actions: Actions,
        templates: Sequence[str],
        splitting: Sequence[str],
        options: Any,  # noqa: ANN401 - SvmOptions or LiblinearOptions
        seed: int,
    ) -> None:
        self.actions = actions
        self.options = options
        self.seed = seed
        self.settings: dict[str, Any] = {"templates": list(templates), "splitting": list(splitting)}
        self.learnt: ClassifierModel | None = None
        self.tell: Callable[[float], None] = quiet
        self.done = 0.0  # share of the classifiers that are trained
        self.counting = Lock()

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: Any,  # noqa: ANN401 - SvmOptions or LiblinearOptions
        seed: int,
        *,
        stacked: bool = False,
    ) -> Self:
        """Return a learner whose templates refer to the columns that the sentences have."""
        cls.need()
        if options.templates:
            templates = list(Templates.read(options.templates).moves)
        else:
            templates = feature_templates(options.features, actions.system, sentences)
            if actions.tags:
                templates += CANDIDATE_TEMPLATES
            if options.pairs:
                templates = with_pairs(templates)
        next_token = [f"{step}j.{options.split}" for step in ("first:", "later:")] if options.split else []
        splitting = resolve(next_token, actions.system, sentences)
        return cls(actions, templates, splitting, options, seed)

    @classmethod
    def need(cls) -> None:
        """Raise MissingExtraError if something that training takes is not installed."""

    def epoch(self, examples: Sequence[Example], oracle: Oracle) -> float:
        """Train on the examples; return the share of wrong decisions on (a sample of) the configurations seen."""
        instances, keys, decided = self._gather(examples, oracle)
        if not decided:
            raise ConfigError("the oracle has no decision to make in the training data")
        counts = Counter(number for part in instances for number in part.classes)
        total = sum(counts.values())
        prior = [LEAST_PRIOR + counts[number] / total for number in range(len(decided))]
        # Classes are numbered in each part by first occurrence, as LIBSVM does it.
        own = [list(dict.fromkeys(part.classes)) for part in instances]
        arrays: dict[str, Any] = {
            "parts.keys": np.array(list(keys), np.int32),
            "parts.numbers": np.array(list(keys.values()), np.int32),
            "parts.starts": starts_of([len(classes) for classes in own]),
            "parts.classes": np.array([number for classes in own for number in classes], np.int32),
            "classes.moves": np.array([move for move, _ in decided], np.int32),
            "classes.labels": np.array([label for _, label in decided], np.int32),
            "classes.prior": np.array(prior, np.float32),
        }
        self.done = 0.0
        with ThreadPoolExecutor(1 if self.divides_parts else self.options.threads) as pool:
            trained = list(pool.map(self._train_part, instances, own, self._shares(instances)))
        arrays |= {
            "keys": np.concatenate([part["keys"] for part in trained]).astype(np.int32),
            "parts.features": starts_of([len(part["keys"]) for part in trained]),
            **self._joined(trained),
        }
        self.learnt = self.kind(self.actions, arrays, self.settings)
        return self._loss(instances, own)

    def _gather(
        self, examples: Sequence[Example], oracle: Oracle
    ) -> tuple[list[Instances], dict[int, int], list[tuple[int, int]]]:
        """Return the parts of the data, the part that each key belongs to, and the (move, label) of each class.

        Instances of keys that are too rare for a part of their own are merged; where there are none, a key that was
        never seen belongs to the largest part.
        """
        features, splitting = feature_sets(self.actions, self.settings)
        words, offsets = WordNumbers().table([example.words for example in examples])
        by_phase = len(self.actions.system.phases) > 1
        found: dict[int, Instances] = {}
        decided: dict[tuple[int, int], int] = {}
        steps: dict[int, int] = {}  # to which step a key belongs
        order: list[tuple[int, int]] = []  # of all instances: their key, place among those of the key
        for example, offset in zip(examples, offsets, strict=True):
            features.use(words, offset)
            splitting.use(words, offset)
            for s, action in self._decisions(example, oracle):
                step = s.phase if by_phase else 0
                key = (splitting.extract(s, -1, -1, step) or [-1 - step])[0]
                steps[key] = step
                part = found.setdefault(key, Instances())
                order.append((key, len(part.rows)))
                part.rows.append(array("i", sorted(set(features.extract(s)))))
                part.classes.append(decided.setdefault(action, len(decided)))
        parts = {key: part for key, part in found.items() if key >= 0 and len(part.rows) >= self.options.threshold}
        large = list(parts)
        for key, place in order:
            if key not in large:
                rest = parts.setdefault(-1 - steps[key], Instances())
                rest.rows.append(found[key].rows[place])
                rest.classes.append(found[key].classes[place])
        numbers = {key: number for number, key in enumerate(parts)}
        for step in sorted(set(steps.values())):
            if -1 - step not in numbers:
                largest = max((key for key in large if steps[key] == step), key=lambda key: len(parts[key].rows))
                numbers[-1 - step] = numbers[largest]
        return list(parts.values()), numbers, list(decided)

    def _decisions(self, example: Example, oracle: Oracle) -> Iterator[tuple[State, tuple[int, int]]]:
        """Follow the oracle as far as it goes; yield the states in which there is something to decide."""
        system = self.actions.system
        example.bind(oracle)
        s = system.start(len(example.words))
        if example.tag_candidates is not None:
            s.take_candidates(example.tag_candidates)
        while not system.is_final(s):
            try:
                move, label = oracle.action(s)
            except OracleError:
                return  # the system does not cover the tree: no need to learn what it cannot derive
            is_labelled = system.moves[move].labelled
            if not is_labelled:
                label = -1
            is_settled = not is_labelled or self.actions.is_root_arc(s, move)
            if not is_settled or len(system.legal_moves(s)) > 1:
                yield s, (move, label)
            system.apply(s, move, label)

    def _shares(self, instances: Sequence[Instances]) -> list[float]:
        """Return roughly what share of the work each part is: a kernel compares all instances with each other."""
        squares = [len(part.rows) ** 2 for part in instances]
        return [square / sum(squares) for square in squares]

    def _train_part(self, instances: Instances, classes: Sequence[int], share: float) -> dict[str, Any]:
        """Return the arrays of one part's classifier."""
        numbers = {number: place for place, number in enumerate(classes)}
        targets = np.array([numbers[number] for number in instances.classes], np.int32)
        starts = starts_of([len(row) for row in instances.rows])
        keys = np.concatenate([np.zeros(0, np.int64), *(np.asarray(row, np.int64) for row in instances.rows)])
        known, columns = np.unique(keys, return_inverse=True)
        return self._fit(known, starts, columns, targets, len(classes), share)

    def _did(self, share: float) -> None:
        """Tell that this much more of the work is done."""
        with self.counting:
            self.done = min(self.done + share, 1.0)
            self.tell(self.done)

    def _fit(
        self,
        keys: Any,  # noqa: ANN401
        starts: Any,  # noqa: ANN401
        columns: Any,  # noqa: ANN401
        targets: Any,  # noqa: ANN401
        n_classes: int,
        share: float,
    ) -> dict[str, Any]:
        """Train on rows whose features are in ``columns``, numbers of keys, from ``starts`` on."""
        raise NotImplementedError

    def _joined(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the arrays of all parts, except the keys of features, as one set of arrays."""
        raise NotImplementedError

    def _loss(self, instances: Sequence[Instances], own: Sequence[Sequence[int]]) -> float:
        core = self.model().core()
        pairs = [(part, place) for part, found in enumerate(instances) for place in range(len(found.rows))]
        chosen = pairs[:: len(pairs) // MOST_CHECKED + 1]
        wrong = 0
        for part, place in chosen:
            values = core.class_values(part, instances[part].rows[place])
            wrong += own[part][values.index(max(values))] != instances[part].classes[place]
        return wrong / len(chosen)

    def model(self) -> Any:  # noqa: ANN401 - a ClassifierModel of its kind
        """Return the model."""
        if self.learnt is None:
            raise ConfigError("nothing has been learnt yet")
        return self.learnt

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the model's arrays: once they are there, training is over."""
        return ({}, {}) if self.learnt is None else (self.learnt.arrays(), self.learnt.settings())

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.learnt = self.kind(self.actions, arrays, data) if data else None


class SvmLearner(ClassifierLearner):
    """LIBSVM, one against one."""

    name = "svm"
    kind = SvmModel
    divides_parts = True

    def __init__(
        self, actions: Actions, templates: Sequence[str], splitting: Sequence[str], options: SvmOptions, seed: int
    ) -> None:
        ClassifierLearner.__init__(self, actions, templates, splitting, options, seed)
        self.settings |= {"gamma": options.gamma, "coef0": options.coef0}

    def _fit(
        self,
        keys: Any,  # noqa: ANN401
        starts: Any,  # noqa: ANN401
        columns: Any,  # noqa: ANN401
        targets: Any,  # noqa: ANN401
        n_classes: int,
        share: float,
    ) -> dict[str, Any]:
        """Return the support vectors, class by class as LIBSVM has them, and their coefficients that are not 0."""
        order = np.argsort(targets, kind="stable")
        lengths = np.diff(starts)[order]
        features = np.concatenate([columns[starts[i] : starts[i + 1]] for i in order])
        first = starts_of(lengths)
        sizes = np.bincount(targets)
        by_feature = np.argsort(features, kind="stable")
        rows = Rows(
            first,
            features.astype(np.int32),
            starts_of(sizes),
            starts_of(np.bincount(features, minlength=len(keys))),
            np.repeat(np.arange(len(order), dtype=np.int32), lengths)[by_feature],
        )
        kernel = (self.options.gamma * np.arange(lengths.max() + 1) + self.options.coef0) ** 2
        room = self.options.cache * 1_000_000 // 2  # two bytes a number
        pairs = list(combinations(range(n_classes), 2))
        work = np.array([(sizes[one] + sizes[other]) ** 2 for one, other in pairs], float)
        if not pairs:
            self._did(share)

        def solve(pair: tuple[int, int], size: float) -> tuple[Any, Any, float]:
            solver = PairSolver(rows, *pair, kernel, self.options.cost, self.options.tolerance, room)
            places, betas = solver.solve()
            self._did(share * size)
            return places, betas, solver.intercept

        with ThreadPoolExecutor(self.options.threads) as pool:
            solved = list(pool.map(solve, pairs, work / work.sum()))
        # Ordered by vectors and, within one, by pairs.
        vectors = np.concatenate([np.zeros(0, np.int64), *(places for places, *_ in solved)])
        values = np.concatenate([np.zeros(0), *(betas for _, betas, _ in solved)])
        numbers = np.repeat(np.arange(len(pairs)), [len(places) for places, *_ in solved])
        order = np.lexsort((numbers, vectors))
        support, n_coefs = np.unique(vectors, return_counts=True)
        chosen = np.concatenate([np.zeros(0, np.int64), *(features[first[i] : first[i + 1]] for i in support)])
        used, chosen = np.unique(chosen, return_inverse=True)
        return {
            "keys": keys[used],
            "lengths": lengths[support],
            "features": chosen,
            "n_coefs": n_coefs,
            "pairs": numbers[order],
            "values": values[order],
            "intercepts": np.array([intercept for *_, intercept in solved], float),
        }

    def _joined(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        firsts = starts_of([len(part["keys"]) for part in parts])[:-1]

        def join(name: str, kind: Any = np.int32) -> Any:  # noqa: ANN401
            return np.concatenate([part[name] for part in parts]).astype(kind)

        return {
            "parts.vectors": starts_of([len(part["lengths"]) for part in parts]),
            "parts.pairs": starts_of([len(part["intercepts"]) for part in parts]),
            "intercepts": join("intercepts", np.float64),
            "vectors.starts": starts_of(join("lengths")),
            "vectors.features": np.concatenate(
                [part["features"] + first for part, first in zip(parts, firsts, strict=True)]
            ).astype(np.int32),
            "coefs.starts": starts_of(join("n_coefs")),
            "coefs.pairs": join("pairs"),
            "coefs.values": join("values", np.float64),
        }


class LiblinearLearner(ClassifierLearner):
    """LIBLINEAR, solver 4: the multi-class machine of Crammer and Singer."""

    name = "liblinear"
    kind = LiblinearModel

    @classmethod
    def need(cls) -> None:
        """Training takes scikit-learn; parsing does not."""
        if find_spec("sklearn") is None:
            raise MissingExtraError(
                f"the {cls.name} learner is trained by scikit-learn: pip install 'tanglewood[svm]'; parsing with its "
                "models needs nothing more"
            )

    def _fit(
        self,
        keys: Any,  # noqa: ANN401
        starts: Any,  # noqa: ANN401
        columns: Any,  # noqa: ANN401
        targets: Any,  # noqa: ANN401
        n_classes: int,
        share: float,
    ) -> dict[str, Any]:
        """Return the weights of features that have any."""
        frequent = np.bincount(columns, minlength=len(keys)) >= self.options.fewest
        kept = frequent[columns]
        starts = starts_of(kept)[starts]
        columns = (np.cumsum(frequent) - 1)[columns[kept]]
        keys = keys[frequent]
        weights = np.zeros((1, len(keys)), np.float32)
        if n_classes > 1 and len(keys):
            weights = self._liblinear(starts, columns, targets, len(keys)).astype(np.float32)
        features, classes = np.nonzero(weights.T)
        values = weights[classes, features]
        used, features = np.unique(features, return_inverse=True)
        self._did(share)
        return {
            "keys": keys[used],
            "n_weights": np.bincount(features, minlength=len(used)),
            "classes": classes + max(n_classes - len(weights), 0),  # of two classes only the second has weights
            "values": values,
        }

    def _liblinear(self, starts: Any, columns: Any, targets: Any, width: int) -> Any:  # noqa: ANN401
        """Return the weights: a row for each class or, if there are two, for the second."""
        from scipy.sparse import csr_matrix
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        machine = LinearSVC(
            multi_class="crammer_singer",
            C=self.options.cost,
            tol=self.options.tolerance,
            fit_intercept=False,
            random_state=self.seed,
        )
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # LIBLINEAR stops after 1000 rounds, for MaltParser too
            machine.fit(csr_matrix((np.ones(len(columns)), columns, starts), (len(starts) - 1, width)), targets)
        return machine.coef_

    def _joined(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return {
            "weights.starts": starts_of(np.concatenate([part["n_weights"] for part in parts])),
            "weights.classes": np.concatenate([part["classes"] for part in parts]).astype(np.int32),
            "weights.values": np.concatenate([part["values"] for part in parts]).astype(np.float32),
        }
