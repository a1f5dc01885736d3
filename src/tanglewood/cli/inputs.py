"""What an argument is (a file, text, standard input, or a mistake that can be named), and how text is parsed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError, one_line
from tanglewood.show.formats import FORMATS

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence

ENGLISH = "the English model of tanglewood"
TAKE_ONE = ("draw", "trace")  # commands that take one file
FILE_ENDINGS = (  # an argument with one of these endings names a file, even with a space in it
    *(ending for format_ in FORMATS.values() for ending in format_.endings),
    *(".text", ".md", ".csv", ".xml", ".tw", ".gz", ".xz", ".zst", ".zip", ".bz2", ".pdf", ".doc", ".docx", ".odt"),
)
LONGEST_NAME = 1024
LONGEST_SHOWN = 40
LONGEST_TEXT = 70  # of a sentence, in a table


def is_text(argument: str, *, command: str, forced: bool = False, forcible: bool = True) -> bool:
    """Tell whether an argument is raw text: no file has that name, and it contains white space or text is forced.

    If it is neither text nor a file a ConfigError says what is wrong and, where the command has an option for it
    (``forcible``), how to have it parsed as text all the same.
    """
    if argument == "-":
        return False
    if os.path.exists(argument):  # noqa: PTH110 - a text may be too long for a path
        check_folder(argument, command)
        return False
    if forced:
        return True
    if not argument.strip():
        raise ConfigError("an empty argument is neither a file nor text; - is standard input")
    if not any(map(str.isspace, argument)):
        hint = "text without a space in it needs --text"
    elif _looks_like_a_path(argument):
        hint = "if it is text, add --text"
    else:
        return True
    raise ConfigError(f"{argument}: there is no such file{f'; {hint}' if forcible else ''}")


def check_folder(argument: str, command: str) -> None:
    """Raise a ConfigError that says what to do if the argument is a folder."""
    if not os.path.isdir(argument):  # noqa: PTH112 - a text may be too long for a path
        return
    folder = Path(argument)
    inside = sorted(path for path in islice(folder.iterdir(), 1000) if path.suffix in {".conllu", ".conll", ".txt"})
    if command in TAKE_ONE:
        shown = str(inside[0]) if inside else f"{folder}/FILE"
        raise ConfigError(f"{argument} is a folder; name one of its files, as in: tanglewood {command} {shown}")
    pattern = f"{folder}/*{inside[0].suffix if inside else ''}"
    raise ConfigError(f"{argument} is a folder; name its files, as in: tanglewood {command} {pattern}")


def _looks_like_a_path(argument: str) -> bool:
    """Tell whether it ends like the name of a file, or begins with a folder that exists."""
    if "\n" in argument or len(argument) > LONGEST_NAME:
        return False
    folder = os.path.dirname(argument)  # noqa: PTH120 - Path.parent would say "." where there is no folder
    return argument.lower().endswith(FILE_ENDINGS) or (folder.strip("/") != "" and os.path.isdir(folder))  # noqa: PTH112


def shown_name(argument: str) -> str:
    """Return what a table calls an argument: the name of the file, or the beginning of the text."""
    if not any(map(str.isspace, argument)) or os.path.exists(argument):  # noqa: PTH110
        return one_line(argument)
    return shown_text(argument, LONGEST_SHOWN)


def shown_text(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text in one line, or as much of its beginning as a table shows."""
    text = one_line(" ".join(text.split()), 2 * most)
    return text if len(text) <= most else text[: most - 3] + "..."


def parse_text(texts: Iterable[str], model: str | None, *, reproducible: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of a text that comes in pieces, tagged and parsed by the model named or the bundled one."""
    from tanglewood.pipeline import Pipeline

    return Pipeline.load(model).parse_stream(texts, reproducible=reproducible)
