"""Every error tanglewood raises on purpose; each says what is wrong, where, and what would be right."""

import re
from typing import TypeVar

LONGEST = 600  # most characters of a message, or of a name in one
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: str, most: int = LONGEST) -> str:
    """Return text as a message may show it: the middle of a long one left out, and nothing that a terminal obeys.

    Whatever a message repeats comes from somebody else: a file name with an escape sequence, a label of ten megabytes.
    Control characters, line breaks, marks that reverse the direction and halves of surrogate pairs are written as
    Python writes them.
    """
    half = most // 2
    if len(text) > most:
        text = f"{text[:half]} … {text[-half:]}"
    text = UNFIT.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return text if len(text) <= most + 3 else f"{text[:half]} … {text[-half:]}"


class TanglewoodError(Exception):
    """Parent of all errors raised by tanglewood; as text, each is one line of bounded length."""

    def __str__(self) -> str:
        return one_line(super().__str__())


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
    """The file is not well-formed CoNLL-U or CoNLL-X, or no file of vectors."""


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
    where = []
    if file is not None:
        name = one_line(file, LONGEST // 2)
        where.append(name if line is None else f"{name}:{line}")
    if sent_id is not None:
        where.append(f"sent_id {one_line(sent_id, LONGEST // 4)}")
    return ": ".join([*([", ".join(where)] if where else []), one_line(problem)])


def given(value: object) -> str:
    """Return what was given and its type, for a message."""
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
