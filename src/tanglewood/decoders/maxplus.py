"""Max-plus matrix products: the inner loops of exact search, in C vectors where compiled (maxplus.h), in Python here.

Everything lies in one block of floats, the arena, and places in it are numbers. A *pair* is a row number: pair (i, h),
0 <= h < i, is row i(i-1)/2 + h, so that the pairs with i <= t are the first t(t+1)/2 rows, whatever t is.
"""

from __future__ import annotations

from array import array
from typing import Literal

from tanglewood.arithmetic import FAMILIES, available, chosen

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

MINUS = float("-inf")
LANES = 16  # blocks of rows begin at multiples of this many floats and are padded to them with -inf
CODE: Literal["f", "d"] = "f" if cython.compiled else "d"  # Python's own floats are double
MOST_WORDS = 1000  # places are 32-bit ints and the C code packs no more terms than MAX_TERMS in maxplus.h


def padded(rows: int) -> int:
    """Return the rows of a block with its padding."""
    return (rows + LANES - 1) // LANES * LANES


def pairs(t: int) -> int:
    """Return the number of pairs (i, h), 0 <= h < i <= t."""
    return t * (t + 1) // 2


def new_arena(size: int) -> memoryview[float]:
    """Return an arena whose place 0 is aligned for vectors; places up to LANES past its end may be touched."""
    block: array[float] = array(CODE, bytes((8 if CODE == "d" else 4) * (size + 2 * LANES)))
    address, _ = block.buffer_info()
    view: memoryview[float] = memoryview(block)
    return view[-(address // block.itemsize) % LANES :]


def product(
    arena: memoryview[float],
    a: array[int],
    out: array[int],
    y: int,
    term_stride: int,
    column_stride: int,
    columns: int,
    begin: int,
    end: int,
    first: int,
    step: int,
    row_score: int,
    column_score: int,
) -> None:
    """For columns c and rows begin <= r < end, padded: out[c][r] = max(itself, max_k a[k][r] + y[k, c] [+ score]).

    ``a`` and ``out`` are places of blocks, y[k, c] is at ``y + k * term_stride + c * column_stride``, column c has
    ``first + step * c`` terms (step is 0 or 1). Where row_score >= 0, max(row_score[r], column_score[c]) is added.
    """
    if cython.compiled:
        tw_product(  # type: ignore[name-defined]  # noqa: F821
            LEVEL,
            cython.address(arena[0]),
            cython.address(a[0]),
            cython.address(out[0]),
            y,
            term_stride,
            column_stride,
            columns,
            begin,
            end,
            first,
            step,
            row_score,
            column_score,
        )
        return
    for c in range(columns):
        for row in range(begin, end):
            best = MINUS
            for k in range(first + step * c):
                best = max(best, arena[a[k] + row] + arena[y + k * term_stride + c * column_stride])
            if row_score >= 0:
                best += max(arena[row_score + row], arena[column_score + c])
            arena[out[c] + row] = max(arena[out[c] + row], best)


def row_product(
    arena: memoryview[float],
    a: array[int],
    out: array[int],
    w: int,
    term_stride: int,
    column_stride: int,
    columns: int,
    first: int,
    step: int,
    last: int,
) -> None:
    """For columns c and pairs (i, h), i <= last: out[c][pair] = max(itself, max_k a[k][pair] + w[k, c][h]).

    w[k, c] is a row of weights at ``w + k * term_stride + c * column_stride``; column c has ``first + step * c`` terms.
    With step 1 the weights of the next three terms must be -inf.
    """
    if cython.compiled:
        tw_row_product(  # type: ignore[name-defined]  # noqa: F821
            LEVEL,
            cython.address(arena[0]),
            cython.address(a[0]),
            cython.address(out[0]),
            w,
            term_stride,
            column_stride,
            columns,
            first,
            step,
            last,
        )
        return
    for c in range(columns):
        for i in range(1, last + 1):
            for h in range(i):
                row = i * (i - 1) // 2 + h
                for k in range(first + step * c):
                    value = arena[a[k] + row] + arena[w + k * term_stride + c * column_stride + h]
                    arena[out[c] + row] = max(arena[out[c] + row], value)


def maximum(arena: memoryview[float], out: int, one: int, other: int, rows: int) -> None:
    """Write the maximum of two blocks, row by row; the number of rows is padded."""
    if cython.compiled:
        tw_maximum(LEVEL, cython.address(arena[0]), out, one, other, rows)  # type: ignore[name-defined]  # noqa: F821
        return
    for row in range(rows):
        arena[out + row] = max(arena[one + row], arena[other + row])


def lift(
    arena: memoryview[float], a: array[int], out: array[int], other: int, y: int, columns: int, first: int, step: int
) -> None:
    """For columns c and rows r < first + step * c, padded: out[c][r] = max(itself, max(a[c][r], other[r]) + y[c]).

    ``y`` is the place of one number for each column; without ``other`` (-1) it is a[c][r] alone.
    """
    if cython.compiled:
        tw_lift(  # type: ignore[name-defined]  # noqa: F821
            LEVEL,
            cython.address(arena[0]),
            cython.address(a[0]),
            cython.address(out[0]),
            other,
            y,
            columns,
            first,
            step,
        )
        return
    for c in range(columns):
        for row in range(first + step * c):
            value = arena[a[c] + row]
            if other >= 0:
                value = max(value, arena[other + row])
            arena[out[c] + row] = max(arena[out[c] + row], value + arena[y + c])


def outer(arena: memoryview[float], out: int, v: int, w: int, last: int) -> None:
    """For pairs (i, h), i <= last: out[pair] = max(itself, v[i] + w[h])."""
    if cython.compiled:
        tw_outer(LEVEL, cython.address(arena[0]), out, v, w, last)  # type: ignore[name-defined]  # noqa: F821
        return
    for i in range(1, last + 1):
        for h in range(i):
            row = i * (i - 1) // 2 + h
            arena[out + row] = max(arena[out + row], arena[v + i] + arena[w + h])


def peak(rounds: int) -> float:
    """Do nothing but max-plus operations in registers; return how many. Without the GIL, for benchmarks."""
    if cython.compiled:
        done: float
        with cython.nogil:
            done = tw_peak(LEVEL, rounds)  # type: ignore[name-defined]  # noqa: F821
        return done
    best = 0.0
    for _ in range(rounds):
        best = max(best - 1e-3, -1e6)
    return float(rounds)


LEVEL = FAMILIES.index(chosen().family)


def instructions() -> str:
    """Return the family of kernels in use (arithmetic.py)."""
    return FAMILIES[LEVEL]


def limit_instructions(name: str) -> None:
    """Use no better family of kernels than this one, for tests and benchmarks; TANGLEWOOD_KERNELS is the default."""
    global LEVEL  # noqa: PLW0603 - which code runs, not what it computes
    LEVEL = max(FAMILIES.index(family) for family in available() if FAMILIES.index(family) <= FAMILIES.index(name))
