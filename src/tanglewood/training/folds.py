"""Folds of a treebank: parts that are left out of training in turn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from tanglewood.errors import ConfigError
from tanglewood.treebank.sentence import Sentence


def deal_out(sentences: Sequence[Sentence], folds: int, seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield for each fold the indices of its sentences and those of all others, drawn at random by the seed."""
    if not 2 <= folds <= len(sentences):
        raise ConfigError(f"{folds} folds of {len(sentences)} sentences: there must be 2 or more, none of them empty")
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)
    for fold in range(folds):
        yield order[fold::folds], [place for i, place in enumerate(order) if i % folds != fold]
