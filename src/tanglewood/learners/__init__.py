"""The registry of learners, which give moves and arcs their scores; each is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from tanglewood.errors import ConfigError


class LearnerEntry(NamedTuple):
    """Where a learner lives, the prefix of its classes (Learner, Model, Options), and what is known without it."""

    module: str
    prefix: str
    help: str
    scores_moves: bool = True  # it learns from an oracle
    scores_arcs: bool = False  # if it scores no moves, or is told not to, its models are graph-based
    scores_siblings: bool = False  # whether it can also learn scores of siblings, for second-order searches
    beam: bool = True  # whether its models can be searched with a beam
    system: str = "swap"  # the one that it learns if none is asked for
    every_system: bool = True  # whether it can learn any other, too
    student: str = ""  # module of the learner that learns from other models (Learner, Options), if there is one
    in_epochs: bool = True  # whether it goes through the data several times, or learns in one go


LEARNERS = {
    "network": LearnerEntry(
        "network.learner", "Network", "a small neural network", scores_arcs=True, student="network.student"
    ),
    "triples": LearnerEntry(
        "network.triple_learner",
        "Triple",
        "a network whose moves see three nodes, for exact search over moves",
        system="attardi-alls0s1",
        every_system=False,
    ),
    "linear": LearnerEntry("linear.learner", "Linear", "hashed feature templates; no matrix library"),
    "arcs": LearnerEntry(
        "arcs.learner",
        "Arc",
        "a graph-based linear model",
        scores_moves=False,
        scores_arcs=True,
        scores_siblings=True,
        beam=False,
    ),
    "svm": LearnerEntry("svm.learner", "Svm", "LIBSVM, as in the papers", beam=False, in_epochs=False),
    "liblinear": LearnerEntry("svm.learner", "Liblinear", "LIBLINEAR", in_epochs=False),
}


def learner_entry(name: str) -> LearnerEntry:
    """Return what is known of a learner without loading it."""
    if name not in LEARNERS:
        raise ConfigError(f"unknown learner {name!r}; choose from {', '.join(LEARNERS)}")
    return LEARNERS[name]


def learner_class(name: str, kind: str) -> Any:  # noqa: ANN401 - a class
    """Return the class ``kind`` (Learner, Model or Options) of a learner."""
    entry = learner_entry(name)
    return getattr(import_module(f"tanglewood.learners.{entry.module}"), f"{entry.prefix}{kind}")


def student_class(name: str, kind: str) -> Any:  # noqa: ANN401 - a class
    """Return the class ``kind`` (Learner or Options) of the learner's student, which learns from other models."""
    entry = learner_entry(name)
    if not entry.student:
        students = ", ".join(known for known, other in LEARNERS.items() if other.student)
        raise ConfigError(f"the {name} learner cannot learn from teachers; choose from {students}")
    return getattr(import_module(f"tanglewood.learners.{entry.student}"), f"Student{kind}")
