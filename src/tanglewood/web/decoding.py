"""Requests from bytes: msgspec decodes and checks them, and what it refuses is explained in plain words."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from tanglewood.web.messages import Request
from tanglewood.web.problems import Problem

AnyRequest = TypeVar("AnyRequest", bound=Request)
BOM = b"\xef\xbb\xbf"
HALF = re.compile("[\ud800-\udfff]")
SHOWN = 40  # most characters of a wrong value that are shown
LONGEST_NUMBER = 400  # digits; Python refuses to read many more


def decode(data: bytes, kind: type[AnyRequest]) -> AnyRequest:
    """Return the request that the body of an HTTP request holds, or raise the Problem it has."""
    try:
        return msgspec.json.decode(data.removeprefix(BOM), type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _explained(data, kind, str(error)) from None


def _explained(data: bytes, kind: type[Request], error: str) -> Problem:
    """Read the body once more, by hand, to say what is wrong with it."""
    try:
        body = json.loads(data, parse_int=lambda digits: int(digits[:LONGEST_NUMBER]))
    except RecursionError:
        return Problem(400, "the body is nested too deeply; an object of texts, numbers and lists would be right")
    except ValueError as wrong:
        return Problem(400, f"the body is not JSON: {wrong}; an object like {{}} would be right")
    if not isinstance(body, dict):
        return Problem(400, f"the body is {_shown(body)}; it should be a JSON object, such as {{}}")
    info = inspect.type_info(kind)
    unknown = _unknown(body, info)
    if unknown is not None:
        return unknown
    try:
        msgspec.convert(body, kind)
    except msgspec.ValidationError as wrong:
        return _refused(body, info, str(wrong))
    except UnicodeEncodeError:
        pass  # a name in the message holds half a surrogate pair
    return _half_pair(body) or Problem(400, f"the body is not JSON in UTF-8: {error}")  # NaN, say, which json takes


def _unknown(value: object, info: inspect.Type, field: str = "") -> Problem | None:
    """Return the Problem of the first field that a request does not have, if there is one."""
    fields = _fields(info)
    if not isinstance(value, dict) or not fields:
        return None
    for name, below in value.items():
        inner = f"{field}.{name}" if field else name
        if name not in fields:
            where = f" of {field}" if field else ""
            return Problem(422, f"unknown field {name!r}{where}; the fields are {', '.join(fields)}", field=inner)
        found = _unknown(below, fields[name].type, inner)
        if found is not None:
            return found
    return None


def _refused(body: dict[str, Any], info: inspect.Type, error: str) -> Problem:
    """Say in plain words what msgspec finds wrong: where, what was found, and what would be right."""
    missing = re.match(r"Object missing required field `(\w+)`", error)
    if missing:  # of the request; no field of another object is required
        name = missing[1]
        return Problem(422, f"{name} should be given: {_description(_part(info, name))}", field=name)
    found = re.search(r" - at `\$\.([\w.\[\]]+)`$", error)
    if found is None:
        return Problem(422, error)
    path = found[1]
    value: Any = body
    for name, place in re.findall(r"(\w+)|\[(\d+)\]", path):
        info = _part(info, name)
        value = value[name or int(place)]
    return Problem(422, f"{path} is {_shown(value)}; it should be {_expected(info, value)}", field=path)


def _half_pair(body: dict[str, Any]) -> Problem | None:
    """Return the Problem of the first text that holds half a surrogate pair, if there is one."""
    waiting: list[tuple[str, Any]] = [*body.items()]
    for field, value in waiting:
        if isinstance(value, dict):
            waiting += [(f"{field}.{name}", below) for name, below in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{field}[{place}]", below) for place, below in enumerate(value)]
        elif isinstance(value, str) and (found := HALF.search(value)):
            problem = f"character {found.start() + 1} of {field} is half a surrogate pair, which is not text"
            return Problem(422, problem, field=field)
    return None


def _alternatives(info: inspect.Type) -> list[inspect.Type]:
    """Return the types that a type stands for, without their annotations."""
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    if isinstance(info, inspect.UnionType):
        return [inner for one in info.types for inner in _alternatives(one)]
    return [info]


def _fields(info: inspect.Type) -> dict[str, inspect.Field]:
    """Return the fields of a type that is an object."""
    found = [one for one in _alternatives(info) if isinstance(one, inspect.StructType)]
    return {field.encode_name: field for one in found for field in one.fields}


def _part(info: inspect.Type, name: str) -> inspect.Type:
    """Return the type of a field, or without a name that of the items of a list."""
    if name:
        return _fields(info)[name].type
    return next(one.item_type for one in _alternatives(info) if isinstance(one, inspect.ListType))


def _description(info: inspect.Type) -> str:
    extra = info.extra_json_schema if isinstance(info, inspect.Metadata) else None
    return str((extra or {}).get("description", ""))


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _expected(info: inspect.Type, value: object = None) -> str:
    """Say what would be right in place of a value."""
    return " or ".join(way for one in _alternatives(info) if (way := _way(one, value)))


def _way(info: inspect.Type, value: object) -> str:
    if isinstance(info, inspect.IntType):
        return f"a whole number{_bound(info, value)}"
    if isinstance(info, inspect.StrType):
        return "a text" if info.max_length is None else f"a text of up to {info.max_length} characters"
    if isinstance(info, inspect.ListType):
        return f"a list, each item of which is {_expected(info.item_type)}"
    if isinstance(info, inspect.LiteralType):
        return " or ".join(map(str, info.values))
    if isinstance(info, inspect.EnumType):
        return f"one of {', '.join(str(member.value) for member in info.cls)}"
    simple = {inspect.BoolType: "true or false", inspect.FloatType: "a number", inspect.NoneType: ""}
    return simple.get(type(info), "an object")


def _bound(info: inspect.IntType, value: object) -> str:
    """Say which numbers are right; a largest one only where it is passed, or there is no smallest."""
    too_large = isinstance(value, int) and info.le is not None and value > info.le
    if info.ge is not None and not too_large:
        return f" of {info.ge} or more"
    return "" if info.le is None else f" of at most {info.le}"
