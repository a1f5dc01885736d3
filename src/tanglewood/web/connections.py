"""Connections of the playground: how many there may be, and how long a request and its answer may be on the way.

uvicorn waits for ever for the rest of a request, and for a client to read its answer, so that a few hundred idle
clients keep everybody else out.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

import h11
import uvicorn
from msgspec.json import encode
from uvicorn.protocols.http.h11_impl import H11Protocol

from tanglewood.web.limits import Limits
from tanglewood.web.problems import Refusal

if TYPE_CHECKING:
    from tanglewood.web.log import RequestLog
    from tanglewood.web.metrics import Metrics

KEPT = 30  # seconds that a connection is kept for the next request
LINGER = 2.0  # seconds for a client to read why its connection is being closed, before it is cut
JUST_NOW = 1.0  # seconds that any request may be on its way, however many connections there are
MOST_REFUSED = 100  # connections above the limit that are told so; beyond these they are just cut
SLOWEST = 1 << 16  # bytes of an answer that a client should take in the time that a request may take to arrive


def configured(app: RequestLog, limits: Limits) -> uvicorn.Config:
    """Return the configuration of a server for the application whose connections keep to the limits."""
    protocol = type("Limited", (LimitedProtocol,), {"limits": limits, "refused": set(), "metrics": app.metrics})
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=3,
        timeout_keep_alive=KEPT,
    )


class LimitedProtocol(H11Protocol):
    """One connection; its class belongs to one server."""

    limits: ClassVar[Limits]
    metrics: ClassVar[Metrics]
    refused: ClassVar[set[LimitedProtocol]]  # connections that are being told that there are too many

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as the server calls it
        super().__init__(*given, **named)
        self._waiting: asyncio.TimerHandle | None = None  # for the rest of a request
        self._sending: asyncio.TimerHandle | None = None  # for the client to take an answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or turn the client away."""
        if len(self.connections) - len(self.refused) >= self.limits.connections and not self._make_room():
            self._refuse(transport)
            return
        super().connection_made(transport)
        self._wait(self.limits.arrival)

    def data_received(self, data: bytes) -> None:
        """Take some bytes; from the first to the last of the head, a request has only so much time."""
        if self in self.refused:
            return
        if self._waiting is None and not self._is_answering():
            self._wait(self.limits.arrival)
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request, unless the client is still sending the last one."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._wait(LINGER)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self in self.refused:
            self.refused.discard(self)
            self.connections.discard(self)
            return
        self._stop_waiting()
        self._stop_sending()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the connection, since the server ends."""
        if self in self.refused:
            self.transport.abort()
        else:
            super().shutdown()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nobody uses."""
        super().timeout_keep_alive_handler()
        self._cut_later(self.transport)

    def pause_writing(self) -> None:
        """Give the client, which reads more slowly than we write, some time for the next part of the answer."""
        super().pause_writing()
        self._send_on()

    def resume_writing(self) -> None:
        """Go on, since the client has taken most of the answer."""
        super().resume_writing()
        self._stop_sending()

    def _is_answering(self) -> bool:
        """Tell whether the head of a request has arrived that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        """Close the connection of a client that has begun a request and does not go on, or never begins."""
        begun, _ = self.conn.trailing_data
        if begun and self.conn.our_state is h11.IDLE:
            problem = f"the request did not arrive within {self.limits.arrival:g} seconds"
            self.transport.write(_answer(HTTPStatus.REQUEST_TIMEOUT, problem))
            self.metrics.turned_away(HTTPStatus.REQUEST_TIMEOUT)
        self.transport.close()
        self._cut_later(self.transport)

    def _send_on(self) -> None:
        self._stop_sending()
        left = self.transport.get_write_buffer_size()
        self._sending = self.loop.call_later(self.limits.arrival, self._check_progress, left)

    def _stop_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _check_progress(self, before: int) -> None:
        """Cut the connection of a client that does not read its answer."""
        if before - self.transport.get_write_buffer_size() < SLOWEST:
            self.transport.abort()
        else:
            self._send_on()

    def _make_room(self) -> bool:
        """Close the connection that nobody will miss the most; return whether there is one.

        That is the one that has been idle for longest, or else the one whose request has been on its way for longest,
        if that is not just now.
        """
        others = [one for one in self.connections if isinstance(one, LimitedProtocol) and one not in self.refused]
        idle = {one: task.when() for one in others if (task := one.timeout_keep_alive_task) is not None}
        enough = self.loop.time() - JUST_NOW + self.limits.arrival
        slow = {one: end for one in others if (task := one._waiting) is not None and (end := task.when()) < enough}
        if not idle and not slow:
            return False
        chosen = idle or slow
        oldest = min(chosen, key=chosen.__getitem__)
        self.connections.discard(oldest)
        oldest.transport.close()
        self._cut_later(oldest.transport)
        return True

    def _refuse(self, transport: asyncio.Transport) -> None:
        """Say that there are too many connections, and close this one."""
        self.transport = transport
        self.connections.add(self)
        self.refused.add(self)
        self.metrics.turned_away(HTTPStatus.SERVICE_UNAVAILABLE)
        if len(self.refused) > MOST_REFUSED:
            transport.abort()
            return
        most = self.limits.connections
        problem = f"the server has the {most} connections that it may have; try again in a second"
        transport.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE, problem))
        transport.write_eof()  # closing before the client's request is here could lose this answer
        self._cut_later(transport)

    def _cut_later(self, transport: asyncio.Transport) -> None:
        self.loop.call_later(LINGER, transport.abort)


def _answer(status: HTTPStatus, error: str) -> bytes:
    """Return an answer that no application makes, after which the connection is closed."""
    body = encode(Refusal(error=error))
    lines = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
        "Retry-After: 1",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode() + body
