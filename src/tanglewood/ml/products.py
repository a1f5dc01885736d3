"""Products of many rows with one matrix, in 8-bit integers where the machine is fast at them (see products.h).

Each column of the matrix is rounded to integers from -127 to 127, and so is each row; the sums are exact. Rounding is
off by less than half a percent of the largest number, and parses made with it are as good (docs/training.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

Floats = NDArray[np.float32]
LARGEST, OFFSET = 127, 128  # as in products.h
LANES = 16
COLUMNS = 64  # columns come in multiples of this

if not cython.compiled:
    from tanglewood.ml.vectors_plain import multiply_rounded

    def tw_has_products() -> int:
        """Return 0, for no: where nothing is compiled NumPy is faster."""
        return 0


class Products:
    """A matrix, rounded and packed: vectors of 16 columns, each with its weights in groups of four rows."""

    def __init__(self, matrix: Floats) -> None:
        n_in, n_out = matrix.shape
        self.scales = np.maximum(np.abs(matrix).max(0), np.float32(1e-30)) / np.float32(LARGEST)
        whole = np.rint(matrix / self.scales).astype(np.int8)
        self.excess = OFFSET * whole.sum(0, dtype=np.float32)
        fours = whole.reshape(n_in // 4, 4, n_out // LANES, LANES)
        self.packed = np.ascontiguousarray(fours.transpose(2, 0, 3, 1)).reshape(-1)
        self.rounded = np.zeros(0, np.uint8)
        self.units = np.zeros(0, np.float32)

    def write(self, rows: Floats, out: Floats) -> None:
        """Write the products of all rows with the matrix."""
        if len(rows) > len(self.units):
            self.units = np.zeros(len(rows), np.float32)
            self.rounded = np.zeros(rows.size, np.uint8)
        _multiply(self.packed, self.scales, self.excess, self.rounded, self.units, rows, out)


def _multiply(packed: Any, scales: Any, excess: Any, rounded: Any, units: Any, rows: Any, out: Any) -> None:  # noqa: ANN401
    with cython.nogil:
        multiply_rounded(packed, scales, excess, rounded, units, rows, out)


def has_fast_products() -> bool:
    """Whether products in integers are faster here than those of a matrix library."""
    return tw_has_products() != 0


def fast_products(matrix: Floats) -> Products | None:
    """Return the matrix made ready for fast products, or None where a matrix library does better."""
    n_in, n_out = matrix.shape
    if not has_fast_products() or n_in % 4 or n_in > 512 or n_out % COLUMNS:
        return None
    return Products(matrix)
