"""Units done by a Dask cluster: tasks are names of files, and each worker loads the model once."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import pickle
import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from tanglewood.errors import ConfigError, MissingExtraError
from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.run.units import Job, Result, Unit

LOCAL = "local"
PATIENCE = 2.0  # seconds between two looks at what is done
AHEAD = 3  # units for each thread that the cluster is given: the one that is done, and some that come next
LONGEST = 20.0  # seconds to wait for a scheduler to answer
_own = threading.local()  # what a thread of a worker has loaded


def check_dask() -> None:
    """Raise an error if the packages for Dask are not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise MissingExtraError("a Dask cluster needs dask and distributed: pip install 'tanglewood[dask]'")


@contextmanager
def cluster(address: str, processes: int) -> Iterator[Any]:
    """Yield a client of the cluster at an address or, if that is "local", of one of so many processes here."""
    check_dask()
    distributed: Any = importlib.import_module("distributed")
    if address == LOCAL:
        quietly = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        with (
            distributed.LocalCluster(n_workers=processes, threads_per_worker=1, **quietly) as local,
            distributed.Client(local) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=LONGEST)
    except (OSError, ValueError) as error:
        raise ConfigError(f"--dask {address}: no scheduler answers there ({error})") from None
    with client:
        yield client


def results(client: Any, job: Job, units: Iterator[Unit], hear: Callable[[int], object]) -> Generator[Result]:  # noqa: ANN401
    """Yield the results as they come; ``hear`` is told how many words were parsed.

    The units of workers that are lost are done again by others. One that kills its workers is a failure of its file.
    """
    distributed: Any = importlib.import_module("distributed")
    data = pickle.dumps(job)
    submit = partial(client.submit, _do, data, pure=False)
    pending: dict[Any, Unit] = {}
    while True:
        room = AHEAD * max(sum(client.nthreads().values()), 1) - len(pending)
        for unit in islice(units, max(room, 0)):
            pending[submit(unit, key=f"tanglewood-{uuid.uuid4().hex}")] = unit
        if not pending:
            return
        try:
            finished = distributed.wait(list(pending), timeout=PATIENCE, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            hear(0)
            continue
        for future in finished:
            unit = pending.pop(future)
            error = future.exception()
            if isinstance(error, distributed.KilledWorker):
                yield Result(unit, None, {"reason": "the processes that parsed it died; memory may have run out"})
            elif error is not None:
                raise error
            else:
                result: Result = future.result()
                hear(result.record["words"] if result.record is not None else 0)
                yield result


def _do(data: bytes, unit: Unit) -> Result:
    """Do a unit in a worker, whose threads each load the job once."""
    if getattr(_own, "data", None) != data:
        keep_one_matrix_thread()
        _own.job = pickle.loads(data)
        _own.data = data
    found: Result = _own.job.do(unit, lambda _: None)
    return found
