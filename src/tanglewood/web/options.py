"""The options of transition systems as the interface shows them: what the systems declare, as fields of a request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from tanglewood.core.system import SINGLE_ROOT, Option, TransitionSystem
from tanglewood.systems import options_of_systems

LARGEST, LONGEST = 1000, 200  # number and text that a request may hold
JsonType = Literal["boolean", "integer", "number", "string"]
JSON_TYPES: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def field_of(option: Option) -> tuple[str, Any, None]:
    """Return the field of a request that sets an option."""
    kind: Any = option.kind
    if option.choices:
        kind = Literal[option.choices]
    elif option.kind is str:
        kind = Annotated[str, Meta(max_length=LONGEST)]
    elif option.kind is not bool:
        least = {} if option.least is None else {"ge": option.kind(option.least)}
        most = option.kind(LARGEST if option.most is None else option.most)
        kind = Annotated[option.kind, Meta(**least, le=most)]
    return option.name, Annotated[kind | None, Meta(description=option.help)], None


def options_of(system: type[TransitionSystem]) -> list[Option]:
    """Return the options that a system takes."""
    return [*system.options.values(), SINGLE_ROOT]


def all_options() -> list[Option]:
    """Return the options that some system takes, each once."""
    return [*(option for option, _ in options_of_systems().values()), SINGLE_ROOT]
