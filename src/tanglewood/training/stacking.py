"""Stacking: a graph-based learner looks at the trees of another parser (Nivre & McDonald 2008)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tanglewood.errors import ConfigError
from tanglewood.parser import Parser
from tanglewood.training.config import Config
from tanglewood.training.folds import deal_out
from tanglewood.training.progress import Report
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

Train = Callable[[Config, Sequence[Sentence]], Parser]


def config_of(description: Mapping[str, Any]) -> Config:
    """Return the choices that a parser was trained with."""
    return Config(**{option.name: description[option.name] for option in fields(Config) if option.name in description})


def parse_by_folds(
    stacked: Parser, sentences: Sequence[Sentence], folds: int, train: Train, report: Report
) -> list[Tree]:
    """Return the trees that parsers like the stacked one give to sentences that they have not been trained on.

    The stacked parser itself has seen the training data: its trees would be better there than anywhere else, and the
    learner would trust it too much.
    """
    if stacked.stacked is not None:
        raise ConfigError("the parser to stack on is stacked itself; it should be one that stands on its own")
    # Parsers without teachers: training those too, for every fold, would take seven times as long.
    config = replace(config_of(stacked.description), stacked="", distil=0, distil_from=(), unlabelled=(), silver=())
    trees: dict[int, Tree] = {}
    for fold, (held_out, rest) in enumerate(deal_out(sentences, folds, config.seed), 1):
        parser = train(config, [sentences[place] for place in rest])
        parsed = parser.parse_all([sentences[place] for place in held_out], beam=config.dev_beam)
        trees.update(zip(held_out, (sentence.tree for sentence in parsed), strict=True))
        report(f"stacked parser: fold {fold} of {folds} parsed")
    return [trees[place] for place in range(len(sentences))]
