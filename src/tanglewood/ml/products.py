"""Products of many rows with one matrix: of a matrix library, in 8-bit integers, or of floats in a fixed order.

In integers each column of the matrix is rounded to whole numbers from -127 to 127, and so is each row; the sums are
exact, and so the same in whatever order they are taken (products.h). Rounding is off by less than half a percent of the
largest number, and parses made with it are as good (docs/training.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanglewood.ml.dense import dense_rows
from tanglewood.ml.kernels import Kernels

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

Floats = NDArray[np.float32]
LARGEST = 127  # as in families.h
LANES = 16
COLUMNS = 64  # columns come in multiples of this
MOST_INPUTS = 512  # with more, sums might not fit into the 24 bits that a float has for whole numbers
INTEGERS = ("avx2", "avxvnni", "avx512", "vnni", "dotprod")  # families that are faster so than a matrix library

if not cython.compiled:
    from tanglewood.ml.vectors_plain import rounded_products


class Rounded:
    """A matrix, rounded and packed: vectors of 16 columns, each with its weights in groups of four or two rows."""

    def __init__(self, matrix: Floats, kernels: Kernels) -> None:
        n_in, n_out = matrix.shape
        self.scales = np.maximum(np.abs(matrix).max(0), np.float32(1e-30)) / np.float32(LARGEST)
        whole = np.rint(matrix / self.scales).astype(np.int8)
        self.kernels = kernels
        self.group = kernels.group
        self.excess = np.float32(kernels.offset) * whole.sum(0, dtype=np.float32)
        groups = whole.reshape(n_in // self.group, self.group, n_out // LANES, LANES).transpose(2, 0, 3, 1)
        kind = np.int8 if self.group == 4 else np.int16
        self.packed = np.ascontiguousarray(groups, kind).reshape(-1).view(np.int8)
        self.scratch = np.zeros(0, np.uint8)
        self.units = np.zeros(0, np.float32)

    def write(self, rows: Floats, out: Floats) -> None:
        """Write the products of all rows with the matrix."""
        if len(rows) > len(self.units):
            self.units = np.zeros(len(rows), np.float32)
            self.scratch = np.zeros(rows.size * 4 // self.group, np.uint8)
        _multiply(self.kernels, self.packed, self.scales, self.excess, self.scratch, self.units, rows, out)


def _multiply(
    kernels: Kernels,
    packed: Any,  # noqa: ANN401 - all arrays
    scales: Any,  # noqa: ANN401
    excess: Any,  # noqa: ANN401
    scratch: Any,  # noqa: ANN401
    units: Any,  # noqa: ANN401
    rows: Any,  # noqa: ANN401
    out: Any,  # noqa: ANN401
) -> None:
    with cython.nogil:
        rounded_products(kernels, packed, scales, excess, scratch, units, rows, out)


class Unrounded:
    """A matrix of floats, multiplied by the matrix library, or in a fixed order if that is asked for."""

    def __init__(self, matrix: Floats, kernels: Kernels) -> None:
        self.matrix = matrix
        self.kernels = kernels
        self.nothing = np.zeros(matrix.shape[1], np.float32)

    def write(self, rows: Floats, out: Floats) -> None:
        """Write the products of all rows with the matrix."""
        if self.kernels.reproducible:
            dense_rows(self.kernels, out, self.nothing, self.matrix, rows)
        else:
            np.dot(rows, self.matrix, out=out[: len(rows)])


def products_with(matrix: Floats, kernels: Kernels) -> Rounded | Unrounded:
    """Return the matrix made ready for products: rounded where that is fastest, or the same on every machine."""
    n_in, n_out = matrix.shape
    fits = n_in % 4 == 0 and n_in <= MOST_INPUTS and n_out % COLUMNS == 0
    rounds = kernels.reproducible or kernels.arithmetic.family in INTEGERS
    return Rounded(matrix, kernels) if fits and rounds else Unrounded(matrix, kernels)


def product(kernels: Kernels, rows: Floats, matrix: Floats) -> Floats:
    """Return the product of rows with a matrix that is used once."""
    if not kernels.reproducible:
        sums: Floats = rows @ matrix
        return sums
    return linear(kernels, rows, np.ascontiguousarray(matrix), np.zeros(matrix.shape[1], np.float32))


def linear(kernels: Kernels, rows: Floats, weights: Floats, bias: Floats) -> Floats:
    """Return the outputs of a linear layer for all rows: each input has a row of weights."""
    if not kernels.reproducible:
        sums: Floats = rows @ weights
        sums += bias
        return sums
    out = np.empty((len(rows), len(bias)), np.float32)
    dense_rows(kernels, out, bias, weights, np.ascontiguousarray(rows))
    return out
