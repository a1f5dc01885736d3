"""Requests: HTTP requests to the playground, whose application is called directly; an input is what would be sent."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from conll_files import made_up
from engine import ACCEPTED, Broken, Case, Target
from mutations import STRINGS, any_value, changed_json, damaged, places
from seeds import CONLLU, CONLLX, TEXT
from tanglewood.decoders import SEARCHES
from tanglewood.systems import SYSTEMS
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from tanglewood.web.limits import Limits
from tanglewood.web.log import LOG
from tanglewood.web.models import Model
from targets.models import trained

MODELS = ("text-linear", "linear-swap", "eisner")
LIMITS = Limits(seconds=5, max_words=50, max_sentences=20, max_text=2000, max_body=1 << 16)
DELIBERATE = {503, 507}  # statuses of a server that cannot just now, rather than one that fails
JSON = (b"content-type", b"application/json")
HOST = (b"host", b"127.0.0.1:8000")
BODIES: dict[str, list[dict[str, Any]]] = {
    "/api/parse": [
        {"text": TEXT},
        {"texts": [TEXT, "", "We like ponds."], "drawings": False},
        {"conllu": CONLLU, "model": "linear-swap", "beam": 4, "nbest": 3},
        {"conllu": CONLLU, "model": "eisner", "confidence": True},
        {"conllu": CONLLX},
    ],
    "/api/trace": [
        {"conllu": CONLLU, "sentence": 2, "system": "swap", "oracle": "lazy"},
        {"conllu": CONLLU, "system": "covington", "options": {"max_degree": 1}},
        {"text": TEXT, "guide": "model"},
    ],
    "/api/treebank": [
        {"conllu": CONLLU, "filter": {"crossing": True, "degree": 1, "search": "frog"}, "limit": 2},
        {"conllu": CONLLU, "systems": ["swap", "planar"], "filter": {"not_covered_by": "planar"}, "offset": 1},
    ],
}
PATHS = [
    "/",
    "/health",
    "/api/systems",
    "/api/openapi.json",
    "/static/",
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "//",
    "/api",
    "/api/parse/",
    "/%00",
    "/%ff",
    "/api/parse?x=%ff",
    "/" + "a" * 5000,
    "/static/index.html",
    "*",
]
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW", "get")
HEADERS = (
    (b"content-type", b"application/json; charset=utf-16"),
    (b"content-type", b"text/plain"),
    (b"content-type", b"\xff"),
    (b"content-length", b"99999999999999999999"),
    (b"content-length", b"-1"),
    (b"content-length", "\u00b2".encode("latin-1")),
    (b"content-encoding", b"gzip"),
    (b"host", b"example.org"),
    (b"host", b"[::1]:x"),
    (b"host", b"\xe9"),
    (b"accept", b"text/html"),
    (b"range", b"bytes=0-0,5-"),
    (b"cookie", b"=" * 5000),
    (b"transfer-encoding", b"chunked"),
    (b"x-forwarded-for", b"\x00"),
)


class Parts(NamedTuple):
    """The parts of a request."""

    method: str
    path: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def joined(self) -> bytes:
        """Return the request as it is sent."""
        lines = [self.method.encode() + b" " + self.path + b" HTTP/1.1"]
        lines += [name + b": " + value for name, value in self.headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body

    @classmethod
    def of(cls, data: bytes) -> Parts:
        """Take a request apart; anything at all is one."""
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, _, rest = first.partition(b" ")
        headers = [(name.lower(), value.lstrip()) for name, _, value in (line.partition(b":") for line in lines)]
        return cls(method.decode("ascii", "replace"), rest.rpartition(b" ")[0], headers, body)


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Log(logging.Handler):
    """Keeps what the application says went wrong."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.records.append(self.format(record))


class Requests(Target):
    """Sends a request and looks at the answer: never a failure of the server, and JSON where it should be."""

    suffix = ".http"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._models = {path.stem: Model.load(path) for path in trained(folder, MODELS)}
        names = {str(path[-1]) for bodies in BODIES.values() for body in bodies for path in places(body)}
        self._strings = (*STRINGS, *sorted(names), *SYSTEMS, *SEARCHES, *MODELS, "model", TEXT, CONLLU)

    @cached_property
    def _app(self) -> Any:  # noqa: ANN401 - made in the child, since it has threads
        return make_app(Playground(self._models, LIMITS))

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop()

    @cached_property
    def _log(self) -> Log:
        log = Log()
        for name in (LOG.name, "asyncio"):
            logging.getLogger(name).addHandler(log)
        LOG.setLevel(logging.INFO)
        return log

    def make(self, rng: Random) -> Case:
        """Return a request."""
        path = rng.choice(list(BODIES))
        body: Any = rng.choice(BODIES[path])
        if "conllu" in body and rng.random() < 0.3:
            body = {
                **body,
                "conllu": made_up(rng).decode("utf-8", "surrogateescape" if rng.random() < 0.1 else "replace"),
            }
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            body = changed_json(rng, body, self._strings)[0]
        if rng.random() < 0.05:
            body = any_value(rng, self._strings)
        text = json.dumps(body, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            size = rng.choice((10, 1000, 30000))
            text = rng.choice((b"[" * size, b'{"text":' * size, b"1" * size, text * 30, b"", b"\xff\xfe" + text))
        if rng.random() < 0.1:
            text = damaged(rng, text)
        method = "POST" if rng.random() < 0.95 else rng.choice(METHODS)
        if rng.random() < 0.1:
            method, path = rng.choice(METHODS), rng.choice(PATHS)
        headers = [HOST, JSON, *(rng.choice(HEADERS) for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 3))))]
        rng.shuffle(headers)
        return Case(Parts(method, path.encode(), headers, text).joined())

    def check(self, data: bytes) -> str:
        """Send the request."""
        request = Parts.of(data)
        self._log.records.clear()
        answer = self._loop.run_until_complete(self._answer(request))
        if self._log.records:
            raise Broken(f"the server failed: {self._log.records[0].strip().splitlines()[-1]}")
        if answer.status >= 500 and answer.status not in DELIBERATE:
            raise Broken(f"status {answer.status}")
        if answer.headers.get(b"content-type", b"").startswith(b"application/json") and request.method != "HEAD":
            content = json.loads(answer.body, parse_constant=_no_constant)
            if answer.status >= 400 and not (isinstance(content, dict) and content.get("error")):
                raise Broken("a refusal that does not say why")
        elif answer.status >= 400 and request.method != "HEAD":
            raise Broken("a refusal that is not JSON")
        return ACCEPTED if answer.status < 400 else str(answer.status)

    async def _answer(self, request: Parts) -> Answer:
        path, _, query = request.path.partition(b"?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": request.headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }
        coming = _parts_of(request.body)
        messages: list[Any] = []

        async def receive() -> Any:  # noqa: ANN401 - a message
            return next(coming, {"type": "http.disconnect"})

        async def send(message: Any) -> None:  # noqa: ANN401 - a message
            messages.append(message)

        await self._app(scope, receive, send)
        if [message["type"] for message in messages][:1] != ["http.response.start"]:
            raise Broken("no answer")
        body = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(messages[0]["status"], dict(messages[0]["headers"]), body)


def _parts_of(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the messages with a body, in two parts."""
    half = len(body) // 2
    yield {"type": "http.request", "body": body[:half], "more_body": True}
    yield {"type": "http.request", "body": body[half:], "more_body": False}


def _no_constant(name: str) -> None:
    raise Broken(f"{name} is not JSON")
