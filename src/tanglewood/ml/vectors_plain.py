"""What the kernels of vectors.h and products.h do, in plain Python; used where nothing is compiled.

What parsing needs is done to the bit as kernels_exact.py does it if `Kernels.reproducible` says so, with NumPy's
operations on single elements only: it rounds after each of them, and np.add.accumulate adds in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tanglewood.ml.kernels import Kernels

Floats = Any  # arrays of float32: of NumPy, or array.array
Ints = Any


LANES = 16  # as in families.h


def _ordered_sum(first: Floats, terms: Floats) -> Floats:
    """Return the first row plus all others, added one after the other."""
    return np.add.accumulate(np.concatenate([first[None], terms]), axis=0)[-1]


def _add_products(kernels: Kernels, sums: Floats, inputs: Floats, weights: Floats) -> None:
    """Add to each row of sums the products of the inputs that are not 0 with their rows of weights."""
    if not kernels.reproducible:
        sums += np.dot(inputs, weights)
        return
    for to, row in zip(sums, inputs, strict=True):
        used = np.flatnonzero(row)
        to[:] = _ordered_sum(to, row[used, None] * weights[used])


def _dot(kernels: Kernels, weights: Floats, inputs: Floats) -> Floats:
    """Return the product of each row of weights with the inputs: the rest of a row first, then lane by lane."""
    if not kernels.reproducible:
        return np.dot(weights, inputs)
    terms = (weights * np.asarray(inputs)).T
    whole = len(terms) // LANES * LANES
    nothing = np.zeros((LANES, terms.shape[1]), np.float32)
    lanes = _ordered_sum(nothing, terms[:whole].reshape(-1, *nothing.shape))
    return _ordered_sum(nothing[0], np.concatenate([terms[whole:], lanes]))


def _small_exp(x: Floats) -> Floats:
    """Return e^x for |x| <= 60: 2^n times the series of what is left."""
    shift = np.float32(12582912)
    whole = x * np.float32(1.44269504) + shift
    n = whole - shift
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    series = np.float32(1) / np.float32(120) + r / np.float32(720)
    for factor in (24, 6, 2, 1, 1):
        series = np.float32(1) / np.float32(factor) + r * series
    scale = (whole.view(np.uint32) << np.uint32(23)) + np.uint32(0x3F800000)
    return series * scale.view(np.float32)


def _sigmoid(kernels: Kernels, x: Floats) -> Floats:
    if not kernels.reproducible:
        return 1 / (1 + np.exp(-x))
    one = np.float32(1)
    return one / (one + _small_exp(-np.clip(x, np.float32(-30), np.float32(30))))


def _tanh(kernels: Kernels, x: Floats) -> Floats:
    if not kernels.reproducible:
        return np.tanh(x)
    one, two = np.float32(1), np.float32(2)
    return one - two / (one + _small_exp(two * np.clip(x, np.float32(-30), np.float32(30))))


def part_of(table: Floats, row: int, start: int, size: int) -> Floats:
    """Return a part of a row; compiled, where it begins."""
    return table[row, start : start + size]


def rectified_sum(_kernels: Kernels, out: Floats, rows: Sequence[Floats], n_rows: int) -> None:
    """Write the sum of the first rows; negative sums become 0."""
    sums = np.add.accumulate(rows[:n_rows], axis=0)[-1]
    np.asarray(out)[:] = np.where(sums > 0, sums, np.float32(0))


def add_to_rows(_kernels: Kernels, rows: Sequence[Floats], n_rows: int, change: Floats) -> None:
    """Add the change to each of the first rows."""
    for r in range(n_rows):
        rows[r][:] += change


def few_outputs(kernels: Kernels, out: Floats, bias: Floats, weights: Floats, inputs: Floats) -> None:
    """Write a linear layer's outputs; each output has a row of weights."""
    np.asarray(out)[:] = bias + _dot(kernels, weights, inputs)


def few_outputs_back(
    _kernels: Kernels,
    errors: Floats,
    weights: Floats,
    inputs: Floats,
    d_inputs: Floats,
    d_weights: Floats,
    d_bias: Floats,
) -> None:
    """Write the gradient of such a layer's inputs, and add those of its weights and bias."""
    np.asarray(d_inputs)[:] = np.dot(errors, weights)
    d_weights += np.outer(errors, inputs)
    d_bias += np.asarray(errors)


def many_outputs(kernels: Kernels, out: Floats, bias: Floats, weights: Floats, which: int, inputs: Floats) -> None:
    """Write the outputs of one of several linear layers; each input has a row of weights."""
    np.asarray(out)[:] = bias[which]
    _add_products(kernels, np.asarray(out)[None], np.asarray(inputs)[None], weights[which])


def many_outputs_back(
    _kernels: Kernels,
    errors: Floats,
    weights: Floats,
    which: int,
    inputs: Floats,
    d_inputs: Floats,
    d_weights: Floats,
    d_bias: Floats,
) -> None:
    """Add the gradients of such a layer: of its inputs where they are not 0, of its weights and bias."""
    np.asarray(d_inputs)[:] += np.dot(weights[which], errors) * (np.asarray(inputs) != 0)
    d_weights[which] += np.outer(inputs, errors)
    d_bias[which] += np.asarray(errors)


def adam(
    _kernels: Kernels,
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


def lstm_step(
    kernels: Kernels,
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
        _add_products(kernels, gate, outputs[there], recurrent)
    gate[:, : 3 * width] = _sigmoid(kernels, gate[:, : 3 * width])
    gate[:, 3 * width :] = _tanh(kernels, gate[:, 3 * width :])
    cells[here] = gate[:, :width] * gate[:, 3 * width :]
    if before >= 0:
        cells[here] += gate[:, width : 2 * width] * cells[there]
    squashed[here] = _tanh(kernels, cells[here])
    outputs[here] = gate[:, 2 * width : 3 * width] * squashed[here]


def take_rows(to: Floats, start: int, table: Floats, places: Ints, first: int, count: int) -> None:
    """Copy rows of a table, whose places begin at ``first``, to ``start``."""
    to[start : start + count] = table[places[first : first + count]]


def add_rows(to: Floats, column: int, places: Ints, first: int, rows: Floats, start: int, count: int) -> None:
    """Add the rows from ``start`` on to others, whose places begin at ``first`` and all differ, from a column on."""
    to[places[first : first + count], column : column + rows.shape[1]] += rows[start : start + count]


def lstm_step_back(
    _kernels: Kernels,
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


def dense_layer(kernels: Kernels, out: Floats, bias: Floats, weights: Floats, rows: Floats) -> None:
    """Write the outputs of a linear layer for all rows; each input has a row of weights."""
    if not kernels.reproducible:
        out[: len(rows)] = bias + np.dot(rows, weights)
        return
    for to, row in zip(out, rows, strict=False):
        to[:] = _ordered_sum(bias, row[:, None] * weights)


def rounded_products(
    _kernels: Kernels,
    packed: Ints,
    scales: Floats,
    _excess: Floats,
    _scratch: Ints,
    units: Floats,
    rows: Floats,
    out: Floats,
) -> None:
    """Write the products of rows with a matrix packed as in products.py, in pairs of rows."""
    n_rows, n_in = rows.shape
    n_out = out.shape[1]
    pairs = packed.view(np.int16).reshape(n_out // LANES, n_in // 2, LANES, 2)
    weights = pairs.transpose(1, 3, 0, 2).reshape(n_in, n_out)
    largest = np.abs(rows).max(1)
    factors = np.zeros(n_rows, np.float32)
    np.divide(np.float32(127), largest, out=factors, where=largest > np.float32(1e-30))
    units[:n_rows] = largest / np.float32(127)
    rounded = np.trunc(rows * factors[:, None] + np.float32(128) + np.float32(0.5)) - np.float32(128)
    sums = (rounded.astype(np.float64) @ weights.astype(np.float64)).astype(np.float32)  # exact in any order
    out[:n_rows] = sums * (units[:n_rows, None] * scales)
