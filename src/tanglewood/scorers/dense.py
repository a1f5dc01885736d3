"""Work on whole arrays that NumPy would do in many small steps: an LSTM over all time steps, an update of Adam."""

from __future__ import annotations

from typing import Any

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    import numpy as np

    def _sigmoid(x: Any) -> Any:  # noqa: ANN401
        return 1 / (1 + np.exp(-x))


def lstm_forward_steps(
    gates: Any,
    cells: Any,
    squashed: Any,
    outputs: Any,
    recurrent: Any,
    sizes: Any,  # noqa: ANN401
) -> None:
    """Run an LSTM over the rows of ``gates``, sorted by time step; step t has sizes[t] rows, never more than t - 1.

    Gates (input, forget, output, cell) come multiplied with the input weights and leave squashed; the other arrays are
    filled: cells, squashed cells and outputs.
    """
    width = recurrent.shape[0]
    start = 0
    before = -1
    for t in range(sizes.shape[0]):
        if cython.compiled:
            with cython.nogil:
                tw_lstm_step(
                    cython.address(gates[0, 0]),
                    cython.address(cells[0, 0]),
                    cython.address(squashed[0, 0]),
                    cython.address(outputs[0, 0]),
                    cython.address(recurrent[0, 0]),
                    start,
                    before,
                    sizes[t],
                    width,
                )
        else:
            here = slice(start, start + sizes[t])
            there = slice(before, before + sizes[t])
            if t:
                gates[here] += outputs[there] @ recurrent
            gates[here, : 3 * width] = _sigmoid(gates[here, : 3 * width])
            gates[here, 3 * width :] = np.tanh(gates[here, 3 * width :])
            cells[here] = gates[here, :width] * gates[here, 3 * width :]
            if t:
                cells[here] += gates[here, width : 2 * width] * cells[there]
            squashed[here] = np.tanh(cells[here])
            outputs[here] = gates[here, 2 * width : 3 * width] * squashed[here]
        before = start
        start += sizes[t]


def lstm_backward_steps(
    gates: Any,
    cells: Any,
    squashed: Any,
    d_outputs: Any,
    d_cells: Any,
    d_gates: Any,
    transposed: Any,
    sizes: Any,  # noqa: ANN401
) -> None:
    """Run backwards over what forwards left; ``d_outputs`` comes with the gradient of the outputs, ``d_cells`` with 0.

    ``d_gates`` is filled with the gradient of the gates before they were squashed; ``transposed`` are the recurrent
    weights, transposed.
    """
    width = transposed.shape[1]
    start = gates.shape[0]
    for t in range(sizes.shape[0] - 1, -1, -1):
        start -= sizes[t]
        before = start - sizes[t - 1] if t > 0 else -1
        if cython.compiled:
            with cython.nogil:
                tw_lstm_step_back(
                    cython.address(gates[0, 0]),
                    cython.address(cells[0, 0]),
                    cython.address(squashed[0, 0]),
                    cython.address(d_outputs[0, 0]),
                    cython.address(d_cells[0, 0]),
                    cython.address(d_gates[0, 0]),
                    cython.address(transposed[0, 0]),
                    start,
                    before,
                    sizes[t],
                    width,
                )
        else:
            here = slice(start, start + sizes[t])
            there = slice(before, before + sizes[t])
            i, f = gates[here, :width], gates[here, width : 2 * width]
            o, g = gates[here, 2 * width : 3 * width], gates[here, 3 * width :]
            d = d_cells[here] + d_outputs[here] * o * (1 - squashed[here] ** 2)
            d_gates[here, :width] = d * g * i * (1 - i)
            d_gates[here, width : 2 * width] = d * cells[there] * f * (1 - f) if t else 0
            d_gates[here, 2 * width : 3 * width] = d_outputs[here] * squashed[here] * o * (1 - o)
            d_gates[here, 3 * width :] = d * i * (1 - g * g)
            if t:
                d_cells[there] += d * f
                d_outputs[there] += d_gates[here] @ transposed


def adam_step(
    values: Any,
    first: Any,
    second: Any,
    averaged: Any,
    gradient: Any,  # noqa: ANN401
    rate: float,
    keep_first: float,
    keep_second: float,
    epsilon: float,
    keep_average: float,
) -> None:
    """Move values against their gradient by Adam's rule, and their running average after them."""
    if cython.compiled:
        with cython.nogil:
            tw_adam(
                cython.address(values[0]),
                cython.address(first[0]),
                cython.address(second[0]),
                cython.address(averaged[0]),
                cython.address(gradient[0]),
                rate,
                keep_first,
                keep_second,
                epsilon,
                keep_average,
                values.shape[0],
            )
    else:
        first += np.float32(1 - keep_first) * (gradient - first)
        second += np.float32(1 - keep_second) * (gradient * gradient - second)
        values -= np.float32(rate) * first / (np.sqrt(second) + np.float32(epsilon))
        averaged += np.float32(1 - keep_average) * (values - averaged)
