"""What one request may ask for, and a desk that lets only so many be worked on at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from tanglewood.errors import ConfigError, TanglewoodError

Result = TypeVar("Result")
LONGEST_ERROR = 600  # letters of an error that are sent


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server; each is a number of 1 or more."""

    max_body: int = 4 << 20  # bytes of a request
    max_text: int = 100_000  # characters of raw text
    max_words: int = 250  # of a sentence
    max_sentences: int = 100  # to parse and draw at once
    max_steps: int = 5000  # of a trace
    seconds: float = 20.0  # for one request
    workers: int = 2  # threads that work
    waiting: int = 128  # requests that may wait for one

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ConfigError(f"the limit {name} must be more than 0, not {getattr(self, name)}")


def short(error: str) -> str:
    """Cut a message that repeats too much of the request."""
    half = LONGEST_ERROR // 2
    return error if len(error) <= LONGEST_ERROR else f"{error[:half]} … {error[-half:]}"


class Problem(TanglewoodError):  # noqa: N818 - it is what the client is told
    """What the client is told when a request is refused: a status, what is wrong, and where."""

    def __init__(self, status: int, error: str, *, headers: dict[str, str] | None = None, **where: str | None) -> None:
        super().__init__(error)
        self.status = status
        self.headers = headers or {}
        known = {name: value for name, value in where.items() if value is not None}
        self.content = {name: short(value) for name, value in {"error": error, **known}.items()}


class Deadline:
    """When a request must be done; work looks at it now and then, since a thread cannot be stopped from outside."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise the Problem if the time is over."""
        if time.monotonic() > self._end:
            raise self.problem()

    def problem(self) -> Problem:
        """Return what the client is told then."""
        return Problem(
            408,
            f"this took longer than the {self.seconds:g} seconds a request may take; send less at once",
            headers={"Retry-After": "1"},
        )


class Desk:
    """Runs work in a few threads, so that the event loop stays free; turns requests away when too many wait."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.busy = 0  # requests being worked on or waiting
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="tanglewood")

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Do the work in a thread within the time for one request."""
        most = self.limits.workers + self.limits.waiting
        if self.busy >= most:
            raise Problem(
                429,
                f"{self.busy} requests are being worked on or waiting, and no more may; try again in a second",
                headers={"Retry-After": "1"},
            )
        with self._lock:
            self.busy += 1
        deadline = Deadline(self.limits.seconds)
        working = self._pool.submit(self._start, work, deadline)
        working.add_done_callback(self._release)  # when the thread is done, not when the client was told to give up
        answer = asyncio.wrap_future(working)
        done, _ = await asyncio.wait([answer], timeout=self.limits.seconds + 0.5)
        if not done:
            answer.cancel()  # if it still waits for a thread it never begins
            raise deadline.problem()
        return answer.result()

    @staticmethod
    def _start(work: Callable[[Deadline], Result], deadline: Deadline) -> Result:
        deadline.check()  # it may have waited too long for its turn
        return work(deadline)

    def _release(self, _: Future[Any]) -> None:
        with self._lock:
            self.busy -= 1

    def close(self) -> None:
        """Let no more work begin."""
        self._pool.shutdown(wait=False, cancel_futures=True)
