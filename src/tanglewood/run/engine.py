"""Where work is done that goes side by side: folds, experiments and teachers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.run.dask_engine import cluster
from tanglewood.run.dask_engine import in_order as in_order_on
from tanglewood.run.processes import checked, in_order

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Engine:
    """So many processes here or, if there is an address, the Dask cluster there ("local": one of these processes)."""

    processes: int = 1
    dask: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether one thing is done after the other, in this process."""
        return self.processes == 1 and not self.dask

    def in_order(
        self,
        work: Callable[..., Result],
        items: Iterable[Item],
        count: int,
        hear: Callable[[Any], object] | None = None,
    ) -> Generator[Result]:
        """Yield the result of the work on each of ``count`` items, in order, the same wherever it is done.

        Work, items and results must be things that can be pickled; ``hear`` is as in run/processes.py.
        """
        checked(self.processes)
        if not self.dask:
            # Spawned, since matrices may be in use: their threads do not survive a fork.
            processes = max(1, min(self.processes, count))
            prepare = keep_one_matrix_thread
            yield from in_order(work, items, processes=processes, method="spawn", prepare=prepare, hear=hear)
        elif count:
            with cluster(self.dask, self.processes) as client:
                yield from in_order_on(client, work, items, hear=hear)
