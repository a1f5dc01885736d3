"""The routes of the interface: each a path and a function, whose signature and docstring describe it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec

from tanglewood import __version__
from tanglewood.web.messages import Health, Request
from tanglewood.web.metrics import CONTENT_TYPE
from tanglewood.web.problems import Refusal

if TYPE_CHECKING:
    from tanglewood.web.api import Playground
    from tanglewood.web.limits import Desk
    from tanglewood.web.metrics import Metrics

Schema = dict[str, Any]
JSON = "application/json"
REF = "#/components/schemas/{name}"
REFUSALS = {  # status -> meaning; those of a request with a body
    400: "the body is not a JSON object",
    408: "the request did not arrive in time, or the work took too long; Retry-After says when to come again",
    413: "the request is too large",
    415: "the content type is not application/json",
    422: "a field is wrong, a sentence too long, CoNLL-U malformed, a name unknown, or the answer would be too large",
    429: "too many requests wait; Retry-After says when to come again",
}
ALWAYS = {
    421: "the server does not answer to this host name",
    503: "the server has as many connections as it may have; Retry-After says when to come again",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One route: GET calls its function with nothing, POST with the request and its deadline, in a worker thread.

    Answers are JSON, or text of another ``kind``.
    """

    method: str
    path: str
    function: Callable[..., Any]
    kind: str = JSON

    @property
    def request(self) -> type[Request] | None:
        """The type of the request, if there is one."""
        return get_type_hints(self.function).get("request")

    @property
    def answers(self) -> list[Any]:
        """The types of the answer."""
        answer = get_type_hints(self.function)["return"]
        return list(get_args(answer)) if isinstance(answer, UnionType) else [answer]

    @property
    def statuses(self) -> dict[int, str]:
        """The statuses that refuse a request, with what they mean."""
        return ALWAYS if self.request is None else dict(sorted({**REFUSALS, **ALWAYS}.items()))


def operations(play: Playground, desk: Desk, counted: Metrics) -> list[Operation]:
    """Return all routes but those of the page."""

    def health() -> Health:
        """Say that the server is up, and how busy it is."""
        working, waiting = desk.load()
        return Health(status="ok", version=__version__, models=[*play.models], working=working, waiting=waiting)

    def metrics() -> str:
        """Count requests, words, seconds and refusals, in the text format of Prometheus."""
        return counted.text(desk.load())

    @cache
    def openapi() -> Schema:
        """Describe this interface."""
        return describe(found)

    found = [
        Operation("POST", "/api/parse", play.parse),
        Operation("POST", "/api/trace", play.trace),
        Operation("POST", "/api/moves", play.moves),
        Operation("POST", "/api/treebank", play.treebank),
        Operation("GET", "/api/systems", play.systems),
        Operation("GET", "/api/openapi.json", openapi),
        Operation("GET", "/health", health),
        Operation("GET", "/metrics", metrics, CONTENT_TYPE),
    ]
    return found


def describe(found: Sequence[Operation]) -> Schema:
    """Return the OpenAPI description of the routes."""
    types = [kind for one in found for kind in (*one.answers, one.request) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, Refusal], ref_template=REF)
    schema_of = dict(zip([*types, Refusal], schemas, strict=True))
    paths: dict[str, Schema] = {}
    for one in found:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tanglewood",
            "version": __version__,
            "summary": "Dependency trees whose arcs may cross: parse, derive step by step, browse treebanks.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(one: Operation, schema_of: dict[Any, Schema]) -> Schema:
    summary, _, description = (inspect.getdoc(one.function) or "").partition("\n\n")
    answers = [schema_of[kind] for kind in one.answers]
    refusals = {
        str(status): {"description": meaning, **_content(schema_of[Refusal])}
        for status, meaning in one.statuses.items()
    }
    result = {
        "operationId": one.function.__name__,
        "summary": summary,
        **({"description": " ".join(description.split())} if description else {}),
        "responses": {
            "200": {
                "description": "the answer",
                **_content(answers[0] if len(answers) == 1 else {"anyOf": answers}, one.kind),
            },
            **refusals,
        },
    }
    if one.request is not None:
        result["requestBody"] = {"required": True, **_content(schema_of[one.request])}
    return result


def _content(schema: Schema, kind: str = JSON) -> Schema:
    return {"content": {kind.partition(";")[0]: {"schema": schema}}}
