"""Work done by a Dask cluster: what all items share, such as the model of a corpus, is loaded once by each worker.

Corpora, cross-validation, teachers and the experiments of papers all have it done here.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import logging
import pickle
import threading
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

from tanglewood.errors import ConfigError, MissingExtraError, WorkerError
from tanglewood.ml.threads import keep_one_matrix_thread

LOCAL = "local"
PATIENCE = 2.0  # seconds between two looks at what is done
AHEAD = 3  # items for each thread that the cluster is given: the one that is done, and some that come next
LONGEST = 20.0  # seconds to wait for a scheduler to answer
KEPT = {-1: 64 << 20, -3: 32 << 20}  # bytes, by the numbers of M_TRIM_THRESHOLD and M_MMAP_THRESHOLD in glibc
_own = threading.local()  # what a thread of a worker has loaded
Item = TypeVar("Item")
Result = TypeVar("Result")
Hear = Callable[[Any], object]


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


class Done(NamedTuple, Generic[Item, Result]):
    """An item, and what the work on it returned; nothing if it was ``lost``, having killed its workers."""

    item: Item
    result: Result | None
    lost: bool = False


def as_done(
    client: Any,  # noqa: ANN401
    work: Callable[..., Result],
    items: Iterable[Item],
    *,
    hear: Hear | None = None,
    idle: Callable[[], object] = lambda: None,
) -> Generator[Done[Item, Result]]:
    """Yield the items with their results as they come; the items of workers that are lost are done again by others.

    With ``hear`` the work is given, after the item, a function to say how it goes, as in run/processes.py. ``idle`` is
    called now and then while nothing is done.
    """
    distributed: Any = importlib.import_module("distributed")
    data = pickle.dumps(work)
    source = iter(items)
    pending: dict[Any, Item] = {}
    with Ear(client, hear) as ear:
        while True:
            room = AHEAD * max(sum(client.nthreads().values()), 1) - len(pending)
            for item in islice(source, max(room, 0)):
                key = f"tanglewood-{uuid.uuid4().hex}"
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # treebanks are large, for Dask
                    future = client.submit(_do, data, item, ear.topic, key, pure=False, key=key)
                pending[future] = item
            if not pending:
                return
            try:
                finished = distributed.wait(list(pending), timeout=PATIENCE, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                finished = ()
                idle()
            ear.listen()
            for future in finished:
                item = pending.pop(future)
                error = future.exception()
                if isinstance(error, distributed.KilledWorker):
                    yield Done(item, None, lost=True)
                elif error is not None:
                    raise error
                else:
                    result, said = future.result()
                    ear.catch_up(future.key, said)
                    yield Done(item, result)


def in_order(
    client: Any,  # noqa: ANN401
    work: Callable[..., Result],
    items: Iterable[Item],
    *,
    hear: Hear | None = None,
) -> Generator[Result]:
    """Yield the result of the work on each item, in order."""
    ready: dict[int, Any] = {}
    wanted = 0
    for (place, _), result, lost in as_done(client, Numbered(work), enumerate(items), hear=hear):
        if lost:
            raise WorkerError("the workers that did it died, perhaps because memory ran out")
        ready[place] = result
        while wanted in ready:
            yield ready.pop(wanted)
            wanted += 1


class Numbered(Generic[Item, Result]):
    """Work on items that have a number."""

    def __init__(self, work: Callable[..., Result]) -> None:
        self._work = work

    def __call__(self, item: tuple[int, Item], *say: Hear) -> Result:
        """Do it, whatever the number."""
        return self._work(item[1], *say)


class Ear:
    """Hears what is said on workers: each thing once, in order, and before the result of the item it is about."""

    def __init__(self, client: Any, hear: Hear | None) -> None:  # noqa: ANN401
        self._client = client
        self._hear = hear
        self._heard: dict[str, int] = {}  # key of an item -> how many things were heard about it
        self._queue: SimpleQueue[tuple[str, int, bytes]] = SimpleQueue()
        self.topic = "" if hear is None else f"tanglewood-{uuid.uuid4().hex}"

    def __enter__(self) -> Ear:
        if self.topic:
            self._client.subscribe_topic(self.topic, lambda event: self._queue.put(event[1]))
        return self

    def __exit__(self, *_: object) -> None:
        if self.topic:
            self._client.unsubscribe_topic(self.topic)

    def listen(self) -> None:
        """Pass on what has come so far; what was done again says it again, and late things were heard already."""
        while not self._queue.empty():
            key, number, said = self._queue.get()
            if number == self._heard.get(key, 0):
                self._take(key, said)

    def catch_up(self, key: str, said: list[bytes]) -> None:
        """Pass on the rest of all that was said about an item."""
        for one in said[self._heard.get(key, 0) :]:
            self._take(key, one)

    def _take(self, key: str, said: bytes) -> None:
        self._heard[key] = self._heard.get(key, 0) + 1
        if self._hear is not None:
            self._hear(pickle.loads(said))


def keep_freed_memory() -> None:
    """Have freed memory kept for what comes next, as C libraries usually do.

    Dask starts its workers so that every freed block of 64 kB is given back to the system. Parsing asks for such blocks
    again and again: a fifth of a worker's time went into getting them anew.
    """
    with suppress(AttributeError, OSError, TypeError):  # a C library that has no such choice
        choose = ctypes.CDLL(None).mallopt
        for number, size in KEPT.items():
            choose(number, size)


def _do(data: bytes, item: Any, topic: str, key: str) -> tuple[Any, list[bytes]]:  # noqa: ANN401
    """Do the work on an item in a worker, whose threads each load it once; return also what was said meanwhile."""
    if getattr(_own, "data", None) != data:
        keep_one_matrix_thread()
        keep_freed_memory()
        _own.work = pickle.loads(data)
        _own.data = data
    said: list[bytes] = []
    if not topic:
        return _own.work(item), said
    distributed: Any = importlib.import_module("distributed")
    worker = distributed.get_worker()

    def say(one: Any) -> None:  # noqa: ANN401
        said.append(pickle.dumps(one))
        worker.log_event(topic, (key, len(said) - 1, said[-1]))

    return _own.work(item, say), said
