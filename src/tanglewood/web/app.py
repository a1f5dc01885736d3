"""The ASGI application: routes, and the rules for every request and answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files

from msgspec.json import encode
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from tanglewood.errors import TanglewoodError, one_line
from tanglewood.web.api import Playground
from tanglewood.web.decoding import decode
from tanglewood.web.limits import Deadline, Desk, Limits, Room
from tanglewood.web.log import LOG, RequestLog
from tanglewood.web.metrics import Metrics, words_in
from tanglewood.web.problems import Problem, Refusal
from tanglewood.web.routes import JSON, Operation, operations

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?", re.ASCII)  # a name or an address, and a port
POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "connect")),
        "img-src 'self' blob:",  # a tree is painted from the page's own SVG to be saved as PNG
        *(f"{kind} 'none'" for kind in ("base-uri", "form-action", "frame-ancestors")),
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def make_app(playground: Playground | None = None, *, hosts: Collection[str] | None = LOOPBACK) -> RequestLog:
    """Return the application; it answers requests to these host names only, or to any if this is None.

    By default these are the names of this machine: otherwise a foreign page could point its own name here (DNS
    rebinding).
    """
    play = playground or Playground()
    desk = Desk(play.limits)
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.close()

    def route(operation: Operation) -> Route:
        kind, work = operation.request, operation.function

        async def answer(request: Request) -> Response:
            if kind is None:
                return _json(encode(work())) if operation.kind == JSON else _text(work(), operation.kind)
            data = await _body(request, play.limits)

            def worked(deadline: Deadline) -> bytes:
                found = work(decode(data, kind), deadline)
                encoded = _encoded(found, play.limits)
                metrics.worked(operation.path, words_in(found))
                return encoded

            return _json(await desk.run(worked))

        return Route(operation.path, answer, methods=[operation.method])

    routes = [*map(route, operations(play, desk, metrics)), *_pages()]
    metrics.paths = {one.path for one in routes}
    inner = Starlette(
        routes=routes,
        exception_handlers={
            TanglewoodError: _refuse,
            HTTPException: _decline,
            ClientDisconnect: _leave,
            Exception: _fail,
        },
        lifespan=lifespan,
    )
    return RequestLog(Guard(inner, hosts), metrics)


def _pages() -> list[Route]:
    """Return a route for every file of the page; they are read once, now."""

    def page(content: bytes, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            return Response(content, media_type=kind)

        return answer

    routes = []
    for file in files("tanglewood.web").joinpath("static").iterdir():
        kind = TYPES.get(file.name[file.name.rfind(".") :])
        if kind:
            path = "/" if file.name == "index.html" else f"/static/{file.name}"
            routes.append(Route(path, page(file.read_bytes(), kind)))
    return routes


def _encoded(answer: object, limits: Limits) -> bytes:
    """Return an answer as JSON that is not too large."""
    data = encode(answer)
    Room(limits).take(len(data))
    return data


async def _body(request: Request, limits: Limits) -> bytes:
    """Return the bytes of a request that is JSON and not too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a form on a foreign page cannot send this kind unasked
        raise Problem(415, f"the content type is {kind or 'missing'}; it should be application/json")
    most = limits.max_body
    too_large = Problem(413, f"the request is larger than the {most:,} bytes it may have; send it in parts")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large
    data = bytearray()
    try:
        async with asyncio.timeout(limits.arrival):
            async for chunk in request.stream():
                data += chunk
                if len(data) > most:
                    raise too_large
    except TimeoutError:
        raise Problem(408, f"the request did not arrive within {limits.arrival:g} seconds") from None
    return bytes(data)


def _json(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    kept = {"Cache-Control": "no-store", **(headers or {})}
    return Response(content, status, media_type="application/json", headers=kept)


def _text(content: str, kind: str) -> Response:
    return Response(content, headers={"Cache-Control": "no-store", "Content-Type": kind})


def _refusal(error: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return _json(encode(Refusal(error=error)), status, headers)


async def _refuse(_: Request, error: Exception) -> Response:
    """Tell the client what is wrong with the request, and where."""
    problem = Problem.of(error)
    return _json(encode(problem.refusal), problem.status, problem.headers)


async def _decline(_: Request, error: Exception) -> Response:
    """Tell the client that there is nothing at this path, or not by this method."""
    assert isinstance(error, HTTPException)
    return _refusal(error.detail, error.status_code, error.headers)


async def _leave(_: Request, __: Exception) -> Response:
    """Answer a client that has gone; nobody reads this."""
    return _refusal("the request ended before its time", 400)


async def _fail(request: Request, error: Exception) -> Response:
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _refusal("the server failed at this request; its log says how", 500)


class Guard:
    """Refuses foreign host names and adds the headers that keep a browser from doing more than it should."""

    def __init__(self, app: Starlette, hosts: Collection[str] | None) -> None:
        self.app = app
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        host = Headers(scope=scope).get("host", "").lower()
        found = HOST.fullmatch(host)
        name = found[1] if found else None
        if (host and name is None) or (self.hosts is not None and name not in self.hosts):
            problem = f"this server does not answer to the host name {host!r}"
            await _refusal(one_line(problem), 421)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)
