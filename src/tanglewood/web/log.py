"""The request log: a line for each request, with nothing in it that was sent; and requests counted."""

from __future__ import annotations

import logging
from time import perf_counter
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tanglewood.web.metrics import Metrics

LOG = logging.getLogger("tanglewood.web")
LONGEST_PATH = 100


class RequestLog:
    """Tells the logger "tanglewood.web" of each request: method, path, status, milliseconds, bytes in and out.

    ``metrics`` counts them, too.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        status, came, went = 500, 0, 0

        async def received() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            return message

        async def sent(message: Message) -> None:
            nonlocal status, went
            status = message.get("status", status)
            went += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, received, sent)
        finally:
            spent = perf_counter() - began
            self.metrics.answered(scope["path"], status, spent)
            if LOG.isEnabledFor(logging.INFO):
                path = quote(scope["path"])[:LONGEST_PATH]  # quoted, so that no path can look like a line of its own
                LOG.info("%s %s %d %.1f ms %d bytes in %d out", scope["method"], path, status, 1e3 * spent, came, went)
