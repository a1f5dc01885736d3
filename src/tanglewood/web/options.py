"""The options of transition systems as the interface shows them: name, type and what they mean."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from tanglewood.core.system import TransitionSystem
from tanglewood.systems import OPTION_TYPES, SYSTEMS

SINGLE_ROOT = {"single_root": "whether exactly one word may hang on the root"}  # all systems have it
JsonType = Literal["boolean", "integer", "number", "string"]
JSON_TYPES: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", str: "string"}
BOUNDED: dict[type, Any] = {  # what a request may hold
    bool: bool,
    int: Annotated[int, Meta(le=1000)],
    float: float,
    str: Annotated[str, Meta(max_length=200)],
}


class Option(NamedTuple):
    """An option of a system."""

    name: str
    kind: type
    help: str

    @property
    def field(self) -> tuple[str, Any, None]:
        """The field of a request that sets it."""
        return self.name, Annotated[BOUNDED[self.kind] | None, Meta(description=self.help)], None


def options_of(system: type[TransitionSystem]) -> list[Option]:
    """Return the options that a system takes."""
    known = {**system.options, **SINGLE_ROOT}
    return [Option(name, OPTION_TYPES.get(name, str), help_) for name, help_ in known.items()]


def all_options() -> list[Option]:
    """Return the options that some system takes, each once."""
    return list({option.name: option for system in SYSTEMS.values() for option in options_of(system)}.values())
