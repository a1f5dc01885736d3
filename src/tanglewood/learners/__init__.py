"""What gives a move or an arc its score: the registry of learners. Heavy imports wait until a learner is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tanglewood.errors import ConfigError

LEARNERS = {  # name -> (module, prefix of its classes Learner, Model, Options)
    "network": ("network.learner", "Network"),
    "linear": ("linear.learner", "Linear"),
    "arcs": ("arcs.learner", "Arc"),
    "svm": ("svm.learner", "Svm"),
    "liblinear": ("svm.learner", "Liblinear"),
}


def learner_class(name: str, kind: str) -> Any:  # noqa: ANN401 - a class
    """Return the class ``kind`` (Learner, Model or Options) of a learner."""
    if name not in LEARNERS:
        raise ConfigError(f"unknown learner {name!r}; choose from {', '.join(LEARNERS)}")
    module, prefix = LEARNERS[name]
    return getattr(import_module(f"tanglewood.learners.{module}"), f"{prefix}{kind}")
