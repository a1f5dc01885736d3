"""The fields of a request: a JSON object, taken apart with care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tanglewood.core.system import TransitionSystem
from tanglewood.systems import make_system
from tanglewood.web.limits import Problem

Body = Mapping[str, Any]
LONGEST_OPTION, LARGEST_OPTION = 200, 1000


def decode(data: bytes) -> Body:
    """Return the JSON object of a request."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body is not JSON: {error}; an object like {{}} would be right") from None
    if not isinstance(body, dict):
        raise Problem(400, f"the body is JSON of type {type(body).__name__}; it should be an object")
    return body


def know(body: Body, *fields: str) -> None:
    """Refuse fields that a request does not have."""
    for name in body:
        if name not in fields:
            raise Problem(422, f"unknown field {name!r}; the fields are {', '.join(fields)}", field=name)


def text_in(body: Body, name: str, default: Any) -> Any:  # noqa: ANN401 - a text or the default
    """Return a field that is a text."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise Problem(422, f"{name} is {json.dumps(value)[:40]}; it should be a text", field=name)
    to_bytes(value)
    return value


def number_in(body: Body, name: str, default: int) -> int:
    """Return a field that is a whole number."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise Problem(422, f"{name} is {json.dumps(value)[:40]}; it should be a whole number", field=name)
    return value


def to_bytes(text: str) -> bytes:
    """Return a text in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Problem(422, f"character {error.start + 1} is half a surrogate pair, which is no text") from None


def system_in(body: Body) -> TransitionSystem:
    """Return the system of a request, options checked."""
    name = text_in(body, "system", "swap")
    options = body.get("options") or {}
    if not isinstance(options, dict):
        raise Problem(422, "options should be an object from option to value", field="options")
    for option, value in options.items():
        if isinstance(value, str) and len(value) > LONGEST_OPTION:
            raise Problem(422, f"option {option} should have up to {LONGEST_OPTION} characters", field="options")
        if isinstance(value, int) and value > LARGEST_OPTION:
            raise Problem(422, f"option {option} should be at most {LARGEST_OPTION}", field="options")
    return make_system(name, **options)
