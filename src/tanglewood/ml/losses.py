"""Cross-entropy over classes, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tanglewood.ml.encoder import Floats


def softmax(scores: Floats) -> None:
    """Turn scores into probabilities, in place, row by row."""
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)


def one_hot(targets: NDArray[np.int64], size: int) -> Floats:
    """Return a row for each target, with a 1 in its column; none for targets that are -1."""
    rows = np.zeros((len(targets), size), np.float32)
    known = np.flatnonzero(targets >= 0)
    rows[known, targets[known]] = 1
    return rows


def cross_entropy(scores: Floats, wanted: Floats) -> float:
    """Turn scores into their gradients, in place; return the loss. Rows in which nothing is wanted have none."""
    softmax(scores)
    rows, classes = np.nonzero(wanted)
    shares = wanted[rows, classes]
    loss = float(-(shares * np.log(np.maximum(scores[rows, classes], 1e-30))).sum())
    scores -= wanted
    scores[~wanted.any(1)] = 0
    return loss
