"""Every error tanglewood raises on purpose; each says what is wrong, where, and what would be right."""


class TanglewoodError(Exception):
    """Parent of all errors raised by tanglewood."""


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
        where = [] if self.file is None else [self.file if self.line is None else f"{self.file}:{self.line}"]
        if self.sent_id is not None:
            where.append(f"sent_id {self.sent_id}")
        return f"{', '.join(where)}: {self.problem}" if where else self.problem


class FormatError(LocatedError):
    """The file is not well-formed CoNLL-U or CoNLL-X."""


class WordsDifferError(FormatError):
    """The two sides of a comparison do not have the same words, sentence by sentence."""


class TreeError(LocatedError):
    """The heads of a sentence do not form a tree rooted in node 0."""


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


def given(value: object) -> str:
    """Return what was given and its type, for a message."""
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
