"""Documents in JSON lines: a text, a name and other fields, which come through; parsed many at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tanglewood.errors import FormatError, LocatedError
from tanglewood.files import DAMAGED, damaged
from tanglewood.run.cutting import Cut, Range
from tanglewood.run.parquet import in_json, read_rows
from tanglewood.text.batches import Piece, Pieces, in_comment
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import BOM, Sentence
from tanglewood.worker import Worker

MOST_LINE = 1 << 28  # bytes of a document
SENTENCES = "sentences"  # the field that parsing adds
Note = Callable[[LocatedError], object]


@dataclass(slots=True)
class Document:
    """A text with its name, the line it stands in, all fields of its object and, at last, its sentences."""

    name: str
    text: str
    line: int
    fields: dict[str, Any]
    text_field: str
    id_field: str
    sentences: list[Sentence] = field(default_factory=list)

    def others(self) -> dict[str, Any]:
        """Return the other fields."""
        return {key: value for key, value in self.fields.items() if key not in (self.text_field, self.id_field)}

    def comments(self) -> tuple[str, ...]:
        """Return the other fields as comments of CoNLL-U."""
        return tuple(in_comment(f"meta::{key} = {in_json(value)}") for key, value in self.others().items())

    def to_bytes(self) -> bytes:
        """Return the line of the document with its sentences."""
        data = {**self.fields, SENTENCES: [sentence.to_dict() for sentence in self.sentences]}
        return in_json(data).encode(errors="replace") + b"\n"


def read_documents(
    part: Range, name: str, line: int, *, text_field: str, id_field: str, note: Note, replaced: bool
) -> Iterator[Document]:
    """Yield the documents of JSON lines; what is none is noted and left out."""
    lines = part.lines(MOST_LINE)
    while True:
        try:
            data = next(lines)
        except StopIteration:
            return
        except DAMAGED as error:
            raise damaged(error, name, line) from error
        if line == 1 and data is not None:
            data = data.removeprefix(BOM)
        yield from _document(data, name, line, text_field, id_field, note, replaced=replaced)
        line += 1


def _document(
    data: bytes | None, name: str, line: int, text_field: str, id_field: str, note: Note, *, replaced: bool
) -> Iterator[Document]:
    try:
        if data is None:
            raise ValueError(f"more than {MOST_LINE >> 20} MB, the most that a document may have")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            problem = f"byte 0x{data[error.start]:02x} is not UTF-8, which JSON should be in"
            if not replaced:
                raise ValueError(problem) from None
            note(FormatError(problem, file=name, line=line))
            text = data.decode(errors="replace")
        if not text.strip():
            return
        document = _made(json.loads(text), name, line, text_field, id_field)
    except json.JSONDecodeError as error:
        note(FormatError(f"not JSON: {error.msg} in column {error.colno}", file=name, line=line))
    except (ValueError, RecursionError) as error:
        note(FormatError(str(error), file=name, line=line))
    else:
        yield document


def _made(fields: object, name: str, line: int, text_field: str, id_field: str) -> Document:
    """Return a document; a ValueError if the fields are none of one."""
    if not isinstance(fields, dict):
        raise ValueError('no object; each line should be one, as in {"text": "..."}')
    if not isinstance(fields.get(text_field), str):
        raise ValueError(f"there is no text in the field {text_field!r}; --text-field names another")
    if SENTENCES in fields:
        raise ValueError(f"there is a field {SENTENCES!r} already, which parsing adds; it should be renamed")
    called = fields.get(id_field)
    called = f"{name}:{line}" if called is None else in_comment(str(called))
    return Document(called, fields[text_field], line, fields, text_field, id_field)


def table_documents(
    path: str, name: str, cut: Cut, *, text_field: str, id_field: str, note: Note
) -> Iterator[Document]:
    """Yield the documents of a table, one a row; rows without text, or that cannot be read, are noted and left out."""
    for number, row in read_rows(path, cut, text_field):
        try:
            if isinstance(row, ValueError):
                raise row
            document = _made(row, name, number, text_field, id_field)
        except ValueError as error:
            note(FormatError(str(error), file=name, line=number))
        else:
            yield document


def parsed_documents(
    worker: Worker, documents: Iterable[Document], note: Note, say: Callable[[int], object]
) -> Iterator[Document]:
    """Yield the documents with their sentences, in order; ``say`` is told how many words were parsed."""
    for chunk in in_chunks(_placed(worker, documents), lambda placed: _size(placed[1])):
        pieces = [piece for _, piece, _ in chunk if piece is not None]
        parsed = worker.parse(Pieces(pieces))
        items = iter(parsed.items)
        say(parsed.words)
        for document, piece, is_last in chunk:
            for _ in piece.sentences if piece is not None else ():
                item = next(items)
                if isinstance(item, LocatedError):
                    note(FormatError(f"document {document.name}: {item.problem}", line=document.line))
                else:
                    document.sentences.append(item)
            if is_last:
                yield document


def _placed(worker: Worker, documents: Iterable[Document]) -> Iterator[tuple[Document, Piece | None, bool]]:
    """Yield the pieces of documents, and after each document that it ends."""
    for document in documents:
        comments = document.comments()
        found = worker.pipeline.pieces([document.text], document=document.name, sentences=worker.options.sentences)
        for piece in found:
            yield document, piece._replace(prefix=f"{document.name}-", comments=comments), False
            comments = ()
        yield document, None, True


def _size(piece: Piece | None) -> int:
    return 1 if piece is None else sum(map(len, piece.sentences))
