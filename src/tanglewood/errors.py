"""Every error tanglewood raises on purpose; each says what is wrong, where, and what would be right."""

from typing import TypeVar


class TanglewoodError(Exception):
    """Parent of all errors raised by tanglewood."""


Error = TypeVar("Error", bound=TanglewoodError)


class LocatedError(TanglewoodError, ValueError):
    """An error in data: what is wrong, and the file, line and sentence where it is, as far as they are known."""

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, sent_id: str | None = None
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.sent_id = sent_id
        super().__init__(problem)

    def __str__(self) -> str:
        return _with_place(self.problem, self.file, self.line, self.sent_id)


class FormatError(LocatedError):
    """The file is not well-formed CoNLL-U or CoNLL-X."""


class WordsDifferError(FormatError):
    """The two sides of a comparison do not have the same words, sentence by sentence."""


class TreeError(LocatedError):
    """The heads of a sentence do not form a tree rooted in node 0."""


class LimitError(LocatedError):
    """A sentence needs more than it was allowed."""


class IllegalMove(TanglewoodError, ValueError):  # noqa: N818 - it names what happened
    """A move was applied where its precondition does not hold."""


class OracleError(TanglewoodError, ValueError):
    """A transition system cannot derive the given tree, or its oracle was asked from a state it does not know."""


class UndecidedError(OracleError):
    """An oracle that has to search gave up before it knew whether the system derives the tree."""


class ConfigError(TanglewoodError, ValueError):
    """An unknown name or an option that does not fit."""


class ArgumentError(TanglewoodError, TypeError):
    """A function was given something of the wrong type."""


class ModelError(TanglewoodError, ValueError):
    """A model file that is damaged, foreign, or of a version that cannot be read."""


class WorkerError(TanglewoodError, RuntimeError):
    """A worker process died."""


class MissingExtraError(TanglewoodError, ImportError):
    """A feature needs an optional package that is not installed."""


def located(error: Error, *, file: str | None, line: int | None, sent_id: str | None) -> Error:
    """Return an error of the same kind that says where it is; the error itself if it does so already."""
    if not isinstance(error, LocatedError):
        return type(error)(_with_place(str(error), file, line, sent_id))
    if error.file is not None or error.sent_id is not None:
        return error
    return type(error)(error.problem, file=file, line=line, sent_id=sent_id)


def _with_place(problem: str, file: str | None, line: int | None, sent_id: str | None) -> str:
    where = [] if file is None else [file if line is None else f"{file}:{line}"]
    if sent_id is not None:
        where.append(f"sent_id {sent_id}")
    return f"{', '.join(where)}: {problem}" if where else problem


def given(value: object) -> str:
    """Return what was given and its type, for a message."""
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
