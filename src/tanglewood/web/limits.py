"""What one request may ask for, and a desk that limits how many are worked on at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from tanglewood.errors import ConfigError
from tanglewood.web.problems import Problem

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server; each is a number of 1 or more."""

    max_body: Annotated[int, Meta(description="bytes of a request")] = 4 << 20
    max_text: Annotated[int, Meta(description="characters of raw text")] = 100_000
    max_words: Annotated[int, Meta(description="words of a sentence")] = 250
    max_sentences: Annotated[int, Meta(description="sentences to parse and draw at once")] = 100
    max_steps: Annotated[int, Meta(description="steps of a derivation")] = 5000
    max_costs: Annotated[int, Meta(description="words of a sentence whose moves are given their costs")] = 150
    max_beam: Annotated[int, Meta(description="width of the beam, and trees of a sentence")] = 64
    seconds: Annotated[float, Meta(description="time for one request, waiting included")] = 20.0
    workers: Annotated[int, Meta(description="requests worked on at once, each in a thread")] = 2
    waiting: Annotated[int, Meta(description="requests that may wait beside them")] = 128
    max_answer: Annotated[int, Meta(description="bytes of an answer")] = 32 << 20
    arrival: Annotated[float, Meta(description="time for a request to arrive: its head, and then its body")] = 20.0
    connections: Annotated[int, Meta(description="connections at once, idle ones included")] = 500

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ConfigError(f"the limit {name} must be more than 0, not {getattr(self, name)}")


class Deadline:
    """The time by which a request must be done; work checks it now and then, since a thread cannot be stopped."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise the Problem if the time is up."""
        if time.monotonic() > self._end:
            raise self.problem()

    def problem(self) -> Problem:
        """Return what the client is told when the time is up."""
        return Problem(
            408,
            f"this took longer than the {self.seconds:g} seconds a request may take; send less at once",
            headers={"Retry-After": "1"},
        )


class Room:
    """How much more an answer may hold; checked while it is made, so that one that is too large never is."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.max_answer
        self._left = limits.max_answer

    def take(self, size: int) -> None:
        """Use some bytes, or about as many; raise the Problem if there are not that many left."""
        self._left -= size
        if self._left < 0:
            raise Problem(
                422,
                f"the answer would have more than the {self._most:,} bytes it may have; send fewer or shorter "
                'sentences at once, ask for fewer trees (nbest), or for no drawings ("drawings": false)',
            )


class Desk:
    """Runs work in a few threads, so that the event loop stays free; turns requests away when too many wait."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.busy = 0  # requests being worked on or waiting
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="tanglewood")

    def load(self) -> tuple[int, int]:
        """Return how many requests are being worked on, and how many wait."""
        busy = self.busy
        working = min(busy, self.limits.workers)
        return working, busy - working

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
