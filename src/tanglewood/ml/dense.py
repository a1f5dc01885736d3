"""Work on whole arrays that NumPy would do in many small steps: an LSTM over all time steps, an update of Adam."""

from __future__ import annotations

from tanglewood.ml.kernels import Kernels

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.ml.vectors_plain import (
        Floats,
        Ints,
        adam,
        add_rows,
        dense_layer,
        lstm_step,
        lstm_step_back,
        take_rows,
    )


def lstm_forward_steps(
    kernels: Kernels, gates: Floats, cells: Floats, squashed: Floats, outputs: Floats, recurrent: Floats, sizes: Ints
) -> None:
    """Run an LSTM over the rows of ``gates``, sorted by time step; step t has sizes[t] rows, a number that never grows.

    Gates (input, forget, output, cell) come multiplied by the input weights and leave squashed; the other arrays are
    filled: cells, squashed cells and outputs.
    """
    start = 0
    before = -1
    with cython.nogil:
        for t in range(sizes.shape[0]):
            lstm_step(kernels, gates, cells, squashed, outputs, recurrent, start, before, sizes[t])
            before = start
            start += sizes[t]


def lstm_add_steps(
    kernels: Kernels,
    context: Floats,
    column: int,
    inputs: Floats,
    places: Ints,
    nodes: Ints,
    recurrent: Floats,
    sizes: Ints,
    gates: Floats,
    cells: Floats,
    squashed: Floats,
    outputs: Floats,
) -> None:
    """Run the same steps, and add the outputs to the context from a column on.

    The gates of each row, by time step, are those at its place in ``inputs``, and its outputs belong to its node. Only
    two steps are ever held, in the last four arrays, each in a half of them: they still lie in the cache when used.
    """
    half = gates.shape[0] // 2
    first = start = 0
    before = -1
    with cython.nogil:
        for t in range(sizes.shape[0]):
            take_rows(gates, start, inputs, places, first, sizes[t])
            lstm_step(kernels, gates, cells, squashed, outputs, recurrent, start, before, sizes[t])
            add_rows(context, column, nodes, first, outputs, start, sizes[t])
            first += sizes[t]
            before = start
            start = half - start


def lstm_backward_steps(
    kernels: Kernels,
    gates: Floats,
    cells: Floats,
    squashed: Floats,
    d_outputs: Floats,
    d_cells: Floats,
    d_gates: Floats,
    transposed: Floats,
    sizes: Ints,
) -> None:
    """Run the same steps backwards; ``d_outputs`` comes with the gradient of the outputs, ``d_cells`` with 0.

    ``d_gates`` is filled with the gradient of the gates before they were squashed; ``transposed`` are the recurrent
    weights, transposed.
    """
    start = gates.shape[0]
    with cython.nogil:
        for t in range(sizes.shape[0] - 1, -1, -1):
            start -= sizes[t]
            before = start - sizes[t - 1] if t > 0 else -1
            lstm_step_back(
                kernels, gates, cells, squashed, d_outputs, d_cells, d_gates, transposed, start, before, sizes[t]
            )


def adam_step(
    kernels: Kernels,
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
    """Move values against their gradient by Adam's rule, and their running average after them.

    ``keep_first``, ``keep_second`` and ``keep_average`` are the shares of both moments and the average that are kept.
    """
    with cython.nogil:
        adam(kernels, values, first, second, averaged, gradient, rate, keep_first, keep_second, epsilon, keep_average)


def dense_rows(kernels: Kernels, out: Floats, bias: Floats, weights: Floats, rows: Floats) -> None:
    """Write the outputs of a linear layer for all rows; each is summed in the order of the inputs, the bias first."""
    with cython.nogil:
        dense_layer(kernels, out, bias, weights, rows)
