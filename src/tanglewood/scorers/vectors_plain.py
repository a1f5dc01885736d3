"""What the kernels of vectors.h do, said plainly; used where nothing is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Floats = Any  # float arrays of NumPy or array.array


def rectified_sum(out: Floats, rows: Sequence[Floats], n_rows: int) -> None:
    """Write the sum of the first rows; negative sums become 0."""
    np.asarray(out)[:] = np.maximum(np.sum(rows[:n_rows], axis=0), 0)


def add_to_rows(rows: Sequence[Floats], n_rows: int, change: Floats) -> None:
    """Add the change to each of the first rows."""
    for row in rows[:n_rows]:
        row += change


def few_outputs(out: Floats, bias: Floats, weights: Floats, inputs: Floats) -> None:
    """Write a linear layer's outputs; each output has a row of weights."""
    np.asarray(out)[:] = bias + weights @ np.asarray(inputs)


def few_outputs_back(
    errors: Floats, weights: Floats, inputs: Floats, d_inputs: Floats, d_weights: Floats, d_bias: Floats
) -> None:
    """Write the gradient of such a layer's inputs, and add those of its weights and bias."""
    np.asarray(d_inputs)[:] = np.asarray(errors) @ weights
    d_weights += np.outer(errors, inputs)
    d_bias += np.asarray(errors)


def many_outputs(out: Floats, bias: Floats, weights: Floats, which: int, inputs: Floats) -> None:
    """Write the outputs of one of several linear layers; each input has a row of weights."""
    np.asarray(out)[:] = bias[which] + np.asarray(inputs) @ weights[which]


def many_outputs_back(
    errors: Floats, weights: Floats, which: int, inputs: Floats, d_inputs: Floats, d_weights: Floats, d_bias: Floats
) -> None:
    """Add the gradients of such a layer: of its inputs where they are not 0, of its weights and bias."""
    np.asarray(d_inputs)[:] += (weights[which] @ np.asarray(errors)) * (np.asarray(inputs) != 0)
    d_weights[which] += np.outer(inputs, errors)
    d_bias[which] += np.asarray(errors)
