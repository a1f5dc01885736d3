"""What a client is told when a request is refused."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tanglewood.errors import LocatedError, TanglewoodError, one_line


class Refusal(Struct, forbid_unknown_fields=True):
    """Why a request was refused: what is wrong, where, and what would be right."""

    error: str
    field: Annotated[str | UnsetType, Meta(description="the field of the request, such as filter.degree")] = UNSET
    line: Annotated[int | UnsetType, Meta(description="the line of the CoNLL-U")] = UNSET
    sent_id: str | UnsetType = UNSET


class Problem(TanglewoodError):  # noqa: N818 - it is what the client is told
    """A request that is refused with this status; ``where`` are the other fields of the Refusal."""

    def __init__(
        self, status: int, error: str, *, headers: dict[str, str] | None = None, **where: str | int | None
    ) -> None:
        super().__init__(error)
        self.status = status
        self.headers = headers or {}
        known = {"error": error, **{name: value for name, value in where.items() if value is not None}}
        self.refusal = Refusal(**{name: one_line(v) if isinstance(v, str) else v for name, v in known.items()})  # type: ignore[arg-type]

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Return what the client is told about an error in what was sent."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, LocatedError):
            return cls(422, error.problem, line=error.line, sent_id=error.sent_id)
        return cls(422, str(error))
