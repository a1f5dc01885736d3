"""The formats that sentences are written in: one entry each, with the endings of its file names.

The command line, drawings and documents all write through this table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from tanglewood.errors import ConfigError
from tanglewood.files import Source, is_standard_output, unpacked_name, writing
from tanglewood.show import LEAST_COLUMNS, LEAST_PIXELS

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence
    from tanglewood.treebank.tree import Tree


@dataclass(frozen=True, slots=True)
class Look:
    """How drawings look; formats that do not draw ignore it.

    Drawings wider than ``width`` are broken into lines (None: the format's default, 0: never). ``others`` are second
    trees of the same sentences to compare with, ``names`` what both are called. With ``captions`` drawings in
    characters say above each sentence where it comes from. ``after`` is the end of what was written before, in formats
    that can be gone on with (``resumes``).
    """

    tags: bool = False
    width: int | None = None
    title: str | None = None
    others: Sequence[Tree] | None = None
    names: tuple[str, str] = ("first", "second")
    colour: bool = False
    captions: bool = False
    after: bytes = b""

    def other(self, number: int) -> Tree | None:
        """Return the second tree of a sentence, counted from 0."""
        return None if self.others is None else self.others[number]


class Unit(NamedTuple):
    """What the width of a drawing is counted in, and the least that can be drawn."""

    name: str
    least: int


COLUMNS, PIXELS = Unit("columns", LEAST_COLUMNS), Unit("pixels", LEAST_PIXELS)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, the endings that mean it, and the function that gives the parts of the output.

    ``one`` says that it holds one sentence, ``binary`` that a terminal cannot show it, ``streams`` that sentences are
    written as they come, ``resumes`` that more of them can be added later. ``draws`` sets drawings apart from data;
    ``unit`` is None if they are not broken into lines.
    """

    name: str
    endings: tuple[str, ...]
    help: str
    write: Callable[[Iterable[Sentence], Look], Iterator[bytes]]
    draws: bool = False
    one: bool = False
    binary: bool = False
    streams: bool = True
    resumes: bool = False
    unit: Unit | None = None

    def check_width(self, width: int | None, option: str = "width") -> None:
        """Raise an error if drawings cannot be broken there; ``option`` is what the width is called."""
        if not self.draws or width is None:
            return
        if self.unit is None:
            raise ConfigError(f"{option}: a drawing in the format {self.name} is not broken into lines")
        if width and width < self.unit.least:
            raise ConfigError(
                f"{option} {width}: it should be {self.unit.least} {self.unit.name} or more, or 0 for no limit"
            )

    def width(self, look: Look, default: int | None) -> int | None:
        """Return where drawings are broken, None for nowhere."""
        self.check_width(look.width)
        return default if look.width is None else look.width or None


# The writers import what they need when they are called: the table itself is read by every command.


def _conllu(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.treebank.conllu import joined

    return joined((sentence.to_bytes() for sentence in sentences), look.after)


def _json(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    import json

    for sentence in sentences:
        yield json.dumps(sentence.to_dict(), ensure_ascii=False).encode() + b"\n"


def _tsv(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.treebank.record import ROW_COLUMNS, sentence_rows

    yield _line(ROW_COLUMNS)
    for number, sentence in enumerate(sentences, 1):
        yield b"".join(_line(row.values()) for row in sentence_rows(sentence, number))


def _line(cells: Iterable[object]) -> bytes:
    """Return a line of a table; a cell that holds a quote, a tab or a line break is quoted as in CSV."""
    return ("\t".join(map(_cell, cells)) + "\n").encode()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if any(char in text for char in '"\t\r\n') else text


def _tree(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.show import tree

    width = FORMATS["tree"].width(look, None)
    for number, sentence in enumerate(sentences):
        drawing = tree.draw(
            sentence.forms,
            sentence.tree,
            width=width,
            colour=look.colour,
            tags=sentence.upos if look.tags else None,
            other=look.other(number),
            names=look.names,
        )
        caption = f"{_caption(sentence)}\n" if look.captions else ""
        yield _apart(number, caption + drawing)


def _caption(sentence: Sentence) -> str:
    from tanglewood.show.layout import clean

    place = None if sentence.file is None else f"{sentence.file}:{sentence.line}"
    name = None if sentence.sent_id is None else f"sent_id {sentence.sent_id}"
    return clean(", ".join(filter(None, (place, name))))


def _tikz(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.show import tikz

    FORMATS["tikz"].check_width(look.width)
    for number, sentence in enumerate(sentences):
        tags = sentence.upos if look.tags else None
        yield _apart(number, tikz.draw(sentence.tree, sentence.forms, tags=tags, other=look.other(number)))


def _apart(number: int, drawing: str) -> bytes:
    """Return a drawing with a blank line before it, unless it is the first."""
    blank = "\n" if number else ""
    return f"{blank}{drawing.rstrip()}\n".encode()


def _svg(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    yield _picture(sentences, look, FORMATS["svg"]).encode()


def _png(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.show import png

    png.check_png()  # fail now, not after the work
    yield png.from_svg(_picture(sentences, look, FORMATS["png"]))


def _picture(sentences: Iterable[Sentence], look: Look, format_: Format) -> str:
    from tanglewood.show import svg

    found = list(islice(sentences, 2))
    if not found:
        raise ConfigError("there is no sentence to draw")
    if len(found) > 1:
        raise ConfigError(f"several sentences do not go into one {format_.name} picture; html shows all of them")
    (sentence,) = found
    return svg.draw(
        sentence.tree,
        sentence.forms,
        tags=sentence.upos if look.tags else None,
        title=look.title or sentence.text,
        other=look.other(0),
        names=look.names,
        width=format_.width(look, svg.WIDTH),
    )


def _html(sentences: Iterable[Sentence], look: Look) -> Iterator[bytes]:
    from tanglewood.show import html

    found = list(sentences)
    title = look.title or (found[0].text if len(found) == 1 else None)
    width = FORMATS["html"].width(look, html.WIDTH)
    page = html.draw(found, tags=look.tags, title=title, others=look.others, names=look.names, width=width)
    yield page.encode()


_TABLE = (
    Format(
        "conllu", (".conllu", ".conll", ".conllx"), "CoNLL-U, or CoNLL-X where that was read", _conllu, resumes=True
    ),
    Format("json", (".json", ".jsonl"), "one object a sentence, each on a line of its own", _json, resumes=True),
    Format("tsv", (".tsv",), "a table with one word a row, for spreadsheets and data frames", _tsv),
    Format("tree", (".txt",), "drawings in characters", _tree, draws=True, unit=COLUMNS),
    Format("html", (".html", ".htm"), "one page for all", _html, draws=True, streams=False, unit=PIXELS),
    Format("svg", (".svg",), "a picture of one sentence", _svg, draws=True, one=True, streams=False, unit=PIXELS),
    Format(
        "png",
        (".png",),
        "the same in pixels (extra: png)",
        _png,
        draws=True,
        one=True,
        binary=True,
        streams=False,
        unit=PIXELS,
    ),
    Format("tikz", (".tex",), "drawings for LaTeX, with the package tikz-dependency", _tikz, draws=True),
)
FORMATS: Mapping[str, Format] = {format_.name: format_ for format_ in _TABLE}
DRAWINGS: Mapping[str, Format] = {name: format_ for name, format_ in FORMATS.items() if format_.draws}


def endings(among: Mapping[str, Format] = FORMATS) -> str:
    """Return the endings of some formats, for messages."""
    return ", ".join(ending for format_ in among.values() for ending in format_.endings)


def format_of_name(name: str, among: Mapping[str, Format] = FORMATS, *, remedy: str = "") -> Format | None:
    """Return the format that the name of a file means, None for "-" and names without an ending.

    An unknown ending is an error, with a ``remedy`` if there is one. Endings that compress are ignored.
    """
    ending = PurePath(unpacked_name(name)).suffix.lower()
    found = next((format_ for format_ in among.values() if ending in format_.endings), None)
    if found is None and ending:
        raise ConfigError(f"{name}: the name should end in one of {endings(among)}{remedy}")
    return found


def save(
    sentences: Iterable[Sentence],
    target: Source,
    format: str | None = None,  # noqa: A002 - the word for it
    look: Look | None = None,
    among: Mapping[str, Format] = FORMATS,
) -> None:
    """Write sentences in the format that is named, or else the one that the target's name means."""
    if format is not None:
        if format not in among:
            raise ConfigError(f"unknown format {format!r}; the formats are {', '.join(among)}")
        chosen: Format | None = among[format]
    elif isinstance(target, str | os.PathLike):
        chosen = format_of_name(os.fspath(target), among, remedy=", or format= say what to write")
    else:
        chosen = None
    if chosen is None:
        raise ConfigError(
            f"{target}: there is no ending that tells the format; format= should be one of {', '.join(among)}"
        )
    write(sentences, target, chosen, look or Look())


def write(sentences: Iterable[Sentence], target: Source, format_: Format, look: Look) -> int:
    """Write sentences and return how many there were; a path appears only if all goes well."""
    count = 0

    def counted() -> Iterator[Sentence]:
        nonlocal count
        for sentence in sentences:
            count += 1
            yield sentence

    with writing(target) as out:
        for part in format_.write(counted(), look):
            out.write(part)
            if is_standard_output(out):
                out.flush()  # the reader of our pipe may wait for this sentence before it writes the next
    return count
