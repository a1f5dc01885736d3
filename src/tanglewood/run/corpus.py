"""Parsing whole files: sentences in order from any number of processes, with a few counts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing

from tanglewood.errors import LocatedError
from tanglewood.ml.words import OPTIONAL
from tanglewood.options import ParseOptions
from tanglewood.run.processes import in_order
from tanglewood.text.batches import Batch
from tanglewood.treebank.sentence import Sentence
from tanglewood.worker import Worker


class Corpus:
    """Parses batches of sentences as they come; ``words`` counts the words parsed so far, by all processes.

    ``missing`` are the columns that the model was trained with but that no word so far has; ``fallbacks`` counts the
    sentences that were too long for the search that was asked for.
    """

    def __init__(self, worker: Worker, *, processes: int = 1) -> None:
        self.words = self.fallbacks = 0
        self.missing = list(OPTIONAL)
        self._worker = worker
        self._processes = processes

    @property
    def options(self) -> ParseOptions:
        """How it searches."""
        return self._worker.options

    def parse(
        self,
        batches: Iterable[Batch],
        on_error: Callable[[LocatedError], object],
        *,
        method: str | None = None,
        after_batch: Callable[[], object] | None = None,
    ) -> Generator[Sentence]:
        """Yield the parsed sentences in order; ``on_error`` is called with the errors of the others in their places.

        ``method`` is how processes are started (run/processes.py). ``after_batch`` is called after each batch, when
        whoever takes the sentences has asked for the one after its last.
        """
        with closing(in_order(self._worker.parse, batches, processes=self._processes, method=method)) as results:
            for parsed in results:
                self.words += parsed.words
                self.fallbacks += parsed.fallbacks
                self.missing = [column for column in self.missing if column in parsed.missing]
                for item in parsed.items:
                    if isinstance(item, LocatedError):
                        on_error(item)
                    else:
                        yield item
                if after_batch is not None:
                    after_batch()
