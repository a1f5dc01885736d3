"""What a server has done so far, counted, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from threading import Lock

from tanglewood import __version__
from tanglewood.web.messages import ParseAnswer, TextsAnswer, TraceAnswer, TreebankAnswer

PREFIX = "tanglewood_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)  # borders of the histogram
OTHER = "other"  # any path that is none of the server's: there is no end of these
REFUSED = range(400, 500)
BUSY = 503  # too many connections


class Metrics:
    """Counts requests by path and status, their seconds, the words in their answers, and refusals."""

    def __init__(self) -> None:
        self.paths: Collection[str] = ()
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._words: Counter[str] = Counter()
        self._refusals: Counter[int] = Counter()
        self._seconds: dict[str, list[int]] = {}  # path -> how many took at most so long, or longer than all
        self._spent: Counter[str] = Counter()  # path -> microseconds

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = path if path in self.paths else OTHER
        with self._lock:
            self._requests[known, status] += 1
            self._spent[known] += round(1e6 * seconds)
            self._seconds.setdefault(known, [0] * (len(SECONDS) + 1))[bisect_left(SECONDS, seconds)] += 1
            if status in REFUSED or status == BUSY:
                self._refusals[status] += 1

    def turned_away(self, status: int) -> None:
        """Count a connection that was refused before there was a request."""
        with self._lock:
            self._refusals[status] += 1

    def worked(self, path: str, words: int) -> None:
        """Count the words of an answer."""
        with self._lock:
            self._words[path] += words

    def text(self, load: tuple[int, int]) -> str:
        """Return all of it; ``load`` is how many requests are being worked on, and how many wait."""
        with self._lock:
            lines = [*self._lines(load)]
        return "\n".join(lines) + "\n"

    def _lines(self, load: tuple[int, int]) -> Iterator[str]:
        yield from _head("info", "gauge", "The version of the server.")
        yield _line("info", 1, version=__version__)
        yield from _head("requests_total", "counter", "Requests that were answered, by path and status.")
        for (path, status), count in sorted(self._requests.items()):
            yield _line("requests_total", count, path=path, status=status)
        yield from _head("refusals_total", "counter", "Requests and connections that were refused, by status.")
        for status, count in sorted(self._refusals.items()):
            yield _line("refusals_total", count, status=status)
        yield from _head("words_total", "counter", "Words of the sentences in answers, by path.")
        for path, count in sorted(self._words.items()):
            yield _line("words_total", count, path=path)
        yield from _head("request_seconds", "histogram", "Time from the head of a request to its answer, by path.")
        for path, counts in sorted(self._seconds.items()):
            for border, count in zip((*map(str, SECONDS), "+Inf"), _sums(counts), strict=True):
                yield _line("request_seconds_bucket", count, path=path, le=border)
            yield _line("request_seconds_sum", self._spent[path] / 1e6, path=path)
            yield _line("request_seconds_count", sum(counts), path=path)
        for name, meaning, count in zip(
            ("working", "waiting"),
            ("Requests that are being worked on.", "Requests that wait for their turn."),
            load,
            strict=True,
        ):
            yield from _head(name, "gauge", meaning)
            yield _line(name, count)


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}{name} {meaning}"
    yield f"# TYPE {PREFIX}{name} {kind}"


def _line(name: str, value: float, **labels: str | int) -> str:
    told: Mapping[str, str] = {
        key: str(one).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for key, one in labels.items()
    }
    inside = ",".join(f'{key}="{one}"' for key, one in told.items())
    return f"{PREFIX}{name}{{{inside}}} {value}" if inside else f"{PREFIX}{name} {value}"


def _sums(counts: list[int]) -> Iterator[int]:
    total = 0
    for count in counts:
        total += count
        yield total


def words_in(answer: object) -> int:
    """Return how many words the sentences of an answer have, in a treebank all that were counted."""
    match answer:
        case ParseAnswer():
            return sum(len(sentence.words) for sentence in answer.sentences)
        case TextsAnswer():
            return sum(map(words_in, answer.texts))
        case TraceAnswer():
            return len(answer.sentence.words)
        case TreebankAnswer():
            return answer.stats.words
    return 0
