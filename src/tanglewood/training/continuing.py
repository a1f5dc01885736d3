"""Going on with a model that was trained before, on other data: it keeps all that it knows, and learns more.

The words, tags and labels of the new data are added to those that the model knows; its weights are where training
begins. A pipeline's tokenizer and tagger stay as they are, and tag the data that the parser goes on with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError
from tanglewood.parser import Parser
from tanglewood.pipeline import load
from tanglewood.training.config import Config

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge
    from tanglewood.pipeline import Pipeline

OTHER_BEGINNINGS = ("stacked", "distil", "distil_from", "unlabelled", "vectors", "pretrained", "contextual")


def continued(config: Config) -> Config:
    """Return the choices of a run that goes on with a model, which decides what the new one is; others unchanged."""
    if not config.begin_from:
        return config
    parser = _network(config.begin_from)
    for name in OTHER_BEGINNINGS:
        if getattr(config, name):
            raise ConfigError(f"{name}={getattr(config, name)!r} does not go with begin_from (--from), which is enough")
    about = parser.description
    own: dict[str, Any] = {
        "system": about["system"],
        "options": dict(about["options"]),
        "single_root": about["single_root"],
        "pseudo_projective": about.get("pseudo_projective", ""),
        "learner": about["learner"],
        "search": about["search"],
    }
    usual = Config()
    for name, value in own.items():
        chosen = getattr(config, name)
        if chosen not in (value, getattr(usual, name)):
            raise _kept(name, chosen, config.begin_from, value)
    shape = _shape_of(parser)
    for name, value in shape.items():
        if config.settings.get(name, value) != value:
            raise _kept(name, config.settings[name], config.begin_from, value)
    return replace(config, **own, settings={**config.settings, **shape})


def _kept(name: str, chosen: object, path: str, value: object) -> ConfigError:
    return ConfigError(f"{name}={chosen!r}: {path} has {value!r}, and who goes on with it keeps that")


def _network(path: str) -> Parser:
    parser = model_of(path).parser
    learner = parser.description["learner"]
    if learner != "network":
        raise ConfigError(f"{path}: training goes on with networks only, and this is a model of the {learner} learner")
    model: Any = parser.model
    if model.vocabulary.contextual is not None:
        raise ConfigError(f"{path}: the model has learnt from a large encoder, and training does not go on with such")
    return parser


def model_of(path: str | Path) -> Pipeline:
    """Return the model to go on with."""
    return load(path)


def _shape_of(parser: Parser) -> Mapping[str, Any]:
    """Return the settings of a network that cannot change any more."""
    model: Any = parser.model
    able = model.capabilities
    layers = sum(name.startswith("lstm") and name.endswith(".forward.input") for name in model.parameters)
    return {"layers": layers, "arcs": able.scores_arcs, "moves": able.scores_moves}


def knowledge_of(path: str) -> Knowledge:
    """Return all that a model knows."""
    from tanglewood.ml.knowledge import Knowledge

    pipeline = model_of(path)
    model: Any = pipeline.parser.model
    values = {name: list(numbers)[2:] for name, numbers in model.vocabulary.numbers.items()}
    return Knowledge(model.vocabulary.lexicon, values, model.parameters, pipeline.checksum, whole=True)


def joined(old: Actions, new: Actions) -> Actions:
    """Return what both may do, in numbers: labels and tags of the old have the numbers that they had there.

    One label belongs to the arcs from 0 alone only if that is so, and the same, in both.
    """
    labels = [*old.labels, *(label for label in new.labels if label not in old.labels)]
    tags = [*old.tags, *(tag for tag in new.tags if tag not in old.tags)]
    same = min(old.root_label, new.root_label) >= 0 and old.labels[old.root_label] == new.labels[new.root_label]
    return Actions(new.system, labels, old.root_label if same else -1, tags)
