"""Adam with averaged weights; rows of embeddings are updated only when they were used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanglewood.ml.dense import adam_step
from tanglewood.ml.kernels import kernels_for

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Adam:
    """Updates parameters in place and keeps an exponential average of each."""

    def __init__(
        self,
        parameters: Mapping[str, Floats],
        *,
        betas: tuple[float, float] = (0.9, 0.98),
        epsilon: float = 1e-8,
        average: float = 0.995,
    ) -> None:
        self.parameters = parameters
        self.kernels = kernels_for()
        self.beta1, self.beta2 = betas
        self.epsilon = epsilon
        self.decay = average
        self.steps = 0
        self.first = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.second = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.averaged = {name: value.copy() for name, value in parameters.items()}
        self.touched = {name: np.zeros(len(value), np.int64) for name, value in parameters.items()}

    def begin(self, rate: float) -> None:
        """Begin a step with this learning rate."""
        self.steps += 1
        self.rate = rate * sqrt(1 - self.beta2**self.steps) / (1 - self.beta1**self.steps)

    def update(self, name: str, gradient: Floats) -> None:
        """Update a whole parameter."""
        adam_step(
            self.kernels,
            self.parameters[name].reshape(-1),
            self.first[name].reshape(-1),
            self.second[name].reshape(-1),
            self.averaged[name].reshape(-1),
            gradient.reshape(-1),
            self.rate,
            self.beta1,
            self.beta2,
            self.epsilon,
            self.decay,
        )

    def update_rows(self, name: str, numbers: Ints, gradients: Floats) -> None:
        """Update the rows with these numbers; gradients of a number that occurs several times are summed."""
        order = np.argsort(numbers, kind="stable")
        in_order = numbers[order]
        starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
        rows = in_order[starts]
        gradient = np.add.reduceat(gradients[order], starts)
        first = self.first[name][rows]
        first += (1 - self.beta1) * (gradient - first)
        second = self.second[name][rows]
        second += (1 - self.beta2) * (gradient * gradient - second)
        self._catch_up(name, rows, self.steps - 1)
        value = self.parameters[name][rows] - np.float32(self.rate) * first / (np.sqrt(second) + self.epsilon)
        self.first[name][rows] = first
        self.second[name][rows] = second
        self.parameters[name][rows] = value
        averaged = self.averaged[name][rows]
        self.averaged[name][rows] = averaged + (1 - self.decay) * (value - averaged)
        self.touched[name][rows] = self.steps

    def _catch_up(self, name: str, rows: Ints | slice, until: int) -> None:
        """Average rows over the steps in which they did not change."""
        kept = (self.decay ** (until - self.touched[name][rows])).astype(np.float32)[:, None]
        value = self.parameters[name][rows]
        self.averaged[name][rows] = value + kept * (self.averaged[name][rows] - value)

    def state(self, sparse: tuple[str, ...]) -> dict[str, Any]:
        """Return all arrays that learning depends on, parameters included; steps are counted in ``steps``."""
        arrays = {
            f"{group}/{name}": value for group, values in self._groups().items() for name, value in values.items()
        }
        return arrays | {f"touched/{name}": self.touched[name] for name in sparse}

    def restore(self, arrays: Mapping[str, Any], steps: int) -> None:
        """Go back to what `state` returned."""
        for group, values in {**self._groups(), "touched": self.touched}.items():
            for name, value in values.items():
                if f"{group}/{name}" in arrays:
                    value[...] = np.asarray(arrays[f"{group}/{name}"])
        self.steps = steps

    def _groups(self) -> dict[str, Mapping[str, Any]]:
        return {"value": self.parameters, "first": self.first, "second": self.second, "averaged": self.averaged}

    def average(self, sparse: tuple[str, ...]) -> dict[str, Floats]:
        """Return the averaged parameters as of now."""
        for name in sparse:
            self._catch_up(name, slice(None), self.steps)
            self.touched[name][:] = self.steps
        return self.averaged


def falling(rate: float, last: float, done: float) -> float:
    """Return the rate when a share of all is done: it falls evenly, and ``last`` is the share of it at the end."""
    return rate * (1 - (1 - last) * min(done, 1))


def follow(adam: Adam, rows: Iterable[tuple[str, Ints, Floats]], gradients: Mapping[str, Floats]) -> None:
    """Take a step with the gradients of some rows of embeddings, and then with those of whole parameters.

    The latter may be written while the former come.
    """
    for name, numbers, gradient in rows:
        adam.update_rows(name, numbers, gradient)
    for name, gradient in gradients.items():
        adam.update(name, gradient)
