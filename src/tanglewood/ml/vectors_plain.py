"""What the kernels of vectors.h do, in plain Python; used where nothing is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Floats = Any  # arrays of float32: of NumPy, or array.array
Ints = Any


def rectified_sum(out: Floats, rows: Sequence[Floats], n_rows: int) -> None:
    """Write the sum of the first rows; negative sums become 0."""
    np.asarray(out)[:] = np.maximum(np.sum(rows[:n_rows], axis=0), 0)


def add_to_rows(rows: Sequence[Floats], n_rows: int, change: Floats) -> None:
    """Add the change to each of the first rows."""
    for r in range(n_rows):
        rows[r][:] += change


def few_outputs(out: Floats, bias: Floats, weights: Floats, inputs: Floats) -> None:
    """Write a linear layer's outputs; each output has a row of weights."""
    np.asarray(out)[:] = bias + np.dot(weights, inputs)


def few_outputs_back(
    errors: Floats, weights: Floats, inputs: Floats, d_inputs: Floats, d_weights: Floats, d_bias: Floats
) -> None:
    """Write the gradient of such a layer's inputs, and add those of its weights and bias."""
    np.asarray(d_inputs)[:] = np.dot(errors, weights)
    d_weights += np.outer(errors, inputs)
    d_bias += np.asarray(errors)


def many_outputs(out: Floats, bias: Floats, weights: Floats, which: int, inputs: Floats) -> None:
    """Write the outputs of one of several linear layers; each input has a row of weights."""
    np.asarray(out)[:] = bias[which] + np.dot(inputs, weights[which])


def many_outputs_back(
    errors: Floats, weights: Floats, which: int, inputs: Floats, d_inputs: Floats, d_weights: Floats, d_bias: Floats
) -> None:
    """Add the gradients of such a layer: of its inputs where they are not 0, of its weights and bias."""
    np.asarray(d_inputs)[:] += np.dot(weights[which], errors) * (np.asarray(inputs) != 0)
    d_weights[which] += np.outer(inputs, errors)
    d_bias[which] += np.asarray(errors)


def adam(
    values: Floats,
    first: Floats,
    second: Floats,
    averaged: Floats,
    gradient: Floats,
    rate: float,
    keep_first: float,
    keep_second: float,
    epsilon: float,
    keep_average: float,
) -> None:
    """Move values against the gradient by Adam's rule, and their running average after them."""
    first += np.float32(1 - keep_first) * (gradient - first)
    second += np.float32(1 - keep_second) * (gradient * gradient - second)
    values -= np.float32(rate) * first / (np.sqrt(second) + np.float32(epsilon))
    averaged += np.float32(1 - keep_average) * (values - averaged)


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def lstm_step(
    gates: Floats,
    cells: Floats,
    squashed: Floats,
    outputs: Floats,
    recurrent: Floats,
    start: int,
    before: int,
    rows: int,
) -> None:
    """Take one step with the rows from ``start`` on; the step before begins at ``before``, -1 if there was none."""
    width = len(recurrent)
    here, there = slice(start, start + rows), slice(before, before + rows)
    gate = gates[here]
    if before >= 0:
        gate += np.dot(outputs[there], recurrent)
    gate[:, : 3 * width] = _sigmoid(gate[:, : 3 * width])
    gate[:, 3 * width :] = np.tanh(gate[:, 3 * width :])
    cells[here] = gate[:, :width] * gate[:, 3 * width :]
    if before >= 0:
        cells[here] += gate[:, width : 2 * width] * cells[there]
    squashed[here] = np.tanh(cells[here])
    outputs[here] = gate[:, 2 * width : 3 * width] * squashed[here]


def lstm_step_back(
    gates: Floats,
    cells: Floats,
    squashed: Floats,
    d_outputs: Floats,
    d_cells: Floats,
    d_gates: Floats,
    transposed: Floats,
    start: int,
    before: int,
    rows: int,
) -> None:
    """Take the same step backwards: fill ``d_gates``, and add to ``d_outputs`` and ``d_cells`` of the step before."""
    here, there = slice(start, start + rows), slice(before, before + rows)
    i, f, o, g = np.split(gates[here], 4, axis=1)
    d = d_cells[here] + d_outputs[here] * o * (1 - squashed[here] ** 2)
    d_f = d * cells[there] * f * (1 - f) if before >= 0 else np.zeros_like(f)
    d_o = d_outputs[here] * squashed[here] * o * (1 - o)
    d_gates[here] = np.concatenate([d * g * i * (1 - i), d_f, d_o, d * i * (1 - g * g)], axis=1)
    if before >= 0:
        d_cells[there] += d * f
        d_outputs[there] += np.dot(d_gates[here], transposed)


def multiply_rounded(
    packed: Ints, scales: Floats, excess: Floats, rounded: Ints, units: Floats, rows: Floats, out: Floats
) -> None:
    """Write the products of rows with a matrix packed as in products.py; ``rounded`` and ``units`` are scratch."""
    n_rows, n_in = rows.shape
    n_out = out.shape[1]
    weights = packed.reshape(n_out // 16, n_in // 4, 16, 4).transpose(1, 3, 0, 2).reshape(n_in, n_out)
    units[:n_rows] = np.maximum(np.abs(rows).max(1), np.float32(1e-30)) / np.float32(127)
    rounded[: rows.size] = (np.rint(rows / units[:n_rows, None]) + 128).reshape(-1)
    sums = rounded[: rows.size].reshape(rows.shape).astype(np.int32) @ weights.astype(np.int32)
    out[:n_rows] = (sums - excess) * units[:n_rows, None] * scales
