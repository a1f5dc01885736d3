"""Units of work on a corpus: a part of a file becomes a part of the output, in whatever process that is done.

A unit is made of names and numbers, so that it can be sent anywhere; a `Job` is all that units have in common, and is
sent once to each process: it knows the model by its file. Results are small.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, NamedTuple

from tanglewood import __version__
from tanglewood.errors import FormatError, LocatedError, one_line
from tanglewood.files import OUTPUT
from tanglewood.run.corpus import Corpus
from tanglewood.run.cutting import Cut, Range
from tanglewood.run.documents import Document, parsed_documents, read_documents, table_documents
from tanglewood.run.listing import Input
from tanglewood.run.parquet import Rows, columns_of, in_json, json_column, writing_rows
from tanglewood.run.places import INSIDE, RECORD, Place, is_below, make_folder, place_of, size_of, writing_at
from tanglewood.run.remote import checksum, opened_input, state_of
from tanglewood.show.formats import FORMATS, Look
from tanglewood.text.batches import Piece, in_comment
from tanglewood.text.reading import read_text
from tanglewood.treebank.conllu import Batch, batches_of, joined
from tanglewood.treebank.sentence import Sentence
from tanglewood.worker import Worker

MOST_LISTED = 1000  # errors of a unit that are listed; all are counted
LONGEST_NAME = 255  # bytes that a name may have in the folders of most systems
STALE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EIO}  # of outputs
BADLY = (LocatedError, MemoryError, RecursionError, UnicodeError, OverflowError)  # what may be wrong with an input
CHANGED = "the file was changed while it was read; the next run does it again"
REMOVED = "what was written of it was removed meanwhile, perhaps by another run; the next run does it again"

TABLES = ("parquet", "parquet-words")  # formats that are tables
NEWDOC = re.compile(r"newdoc\s+id\s*=")
Say = Callable[[int], object]
Note = Callable[[LocatedError], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, and what is written."""

    format: str = "conllu"
    on_error: str = "skip"
    encoding: str = ""
    text_field: str = "text"
    id_field: str = "id"
    max_sentence: int = 64 << 20


class Unit(NamedTuple):
    """A part of a file that is to be parsed; of one that was cut, its checksum and its state at that time are known."""

    input: Input
    kind: str
    part: int = 0
    parts: int = 1
    cut: Cut = Cut()
    source: str = ""
    state: tuple[int, int] | None = None


@dataclass(slots=True)
class Counts:
    """What was found in a part of a file; ``numbers`` is how many numbers its sentences were given."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    errors: int = 0
    numbers: int = 0
    seconds: float = 0.0
    listed: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Add what was found in another part."""
        for name in ("documents", "sentences", "words", "errors", "numbers", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.listed = [*self.listed, *other.listed][:MOST_LISTED]

    def note(self, error: LocatedError) -> None:
        """Count an error."""
        self.errors += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(problem_of(error))


def problem_of(error: Exception) -> dict[str, Any]:
    """Return an error as data: the line and sentence where it is, and what is wrong."""
    if isinstance(error, LocatedError):
        where = {"line": error.line, "sent_id": error.sent_id}
        return {**{key: value for key, value in where.items() if value is not None}, "reason": one_line(error.problem)}
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return {"reason": one_line(reason)}


class Result(NamedTuple):
    """What came of a unit: its record, or why there is none; neither if another run took its parts away meanwhile."""

    unit: Unit
    record: dict[str, Any] | None
    problem: dict[str, Any] | None = None


class Job:
    """Does units: loads nothing, since its worker holds the model."""

    def __init__(self, worker: Worker, model: str, reading: Reading, output: str, packing: str = "") -> None:
        self.worker = worker
        self.model = model
        self.reading = reading
        self.output = place_of(output)
        self.packing = packing

    @property
    def settings(self) -> dict[str, Any]:
        """All options that decide what the output is."""
        found = (
            asdict(self.worker.options) | {"tag": self.worker.tag} | asdict(self.reading) | {"packing": self.packing}
        )
        plain: dict[str, Any] = json.loads(json.dumps(found))
        return plain

    @property
    def doing(self) -> str:
        """A name for all that decides what is made of any input."""
        return _digest([__version__, self.model, self.settings])

    def target(self, unit: Unit) -> Place:
        """Return the file that a unit writes: the output itself if the unit is a whole file."""
        if unit.parts == 1:
            return self.output / unit.input.output
        return parts_folder(self.output, unit.input) / f"{self._key(unit)}-{unit.part:04}"

    def _key(self, unit: Unit) -> str:
        """Return a name for all that decides what the output of a part is."""
        return _digest([self.doing, unit.source, unit.kind, unit.input.name, unit.cut])

    def do(self, unit: Unit, say: Say = lambda _: None) -> Result:
        """Parse a unit, and write its output and its record; ``say`` is told how many words were parsed.

        What is wrong with the input is returned, what is wrong with the output is raised.
        """
        began = time.perf_counter()
        counts = Counts()
        target = self.target(unit)
        try:
            before = state_of(unit.input.path)
            if before != (unit.state or before):  # it would be put together with parts of what it was
                raise FormatError(CHANGED)
            source = unit.source or checksum(unit.input.path)
            make_folder(target.parent)
            with writing_at(target) as out:
                self._write(unit, out, counts, say)
                if state_of(unit.input.path) != before:
                    raise FormatError(CHANGED)
                forget_record(target)
            counts.seconds = time.perf_counter() - began
            record = record_of(self, unit.input, source, before, counts, target)
            write_record(target, record)
        except BADLY as error:
            return Result(unit, None, problem_of(error))
        except OSError as error:
            if self._is_of_output(error):
                raise
            if isinstance(error, FileNotFoundError) and self._is_inside(error):
                return Result(unit, None, {"reason": REMOVED} if unit.parts == 1 else None)
            return Result(unit, None, problem_of(error))
        return Result(unit, record)

    def _is_of_output(self, error: OSError) -> bool:
        """Tell whether an error is one of the output, which ends the run, and not of the input."""
        return error.errno in OUTPUT or (error.errno in STALE and self._is_inside(error))

    def _is_inside(self, error: OSError) -> bool:
        """Tell whether an error is about a file of the output."""
        return error.filename is not None and is_below(str(error.filename), self.output)

    def _write(self, unit: Unit, out: BinaryIO, counts: Counts, say: Say) -> None:
        note = _giving_up if self.reading.on_error == "stop" else counts.note
        if unit.kind == "parquet":
            self._write_documents(unit, self._table(unit, note), out, counts, note, say)
            return
        with opened_input(unit.input.path) as (stream, _):
            part = Range(stream, unit.input.name, unit.cut)
            if unit.kind == "json":
                self._write_documents(unit, self._lines(unit, part, note), out, counts, note, say)
            else:
                self._write_sentences(unit, self._sentences(unit, part, counts, note, say), out)

    def _lines(self, unit: Unit, part: Range, note: Note) -> Iterator[Document]:
        reading = self.reading
        return read_documents(
            part,
            unit.input.name,
            unit.cut.line,
            text_field=reading.text_field,
            id_field=reading.id_field,
            note=note,
            replaced=reading.on_error == "replace",
        )

    def _table(self, unit: Unit, note: Note) -> Iterator[Document]:
        reading, given = self.reading, unit.input
        fields = {"text_field": reading.text_field, "id_field": reading.id_field}
        return table_documents(given.path, given.name, unit.cut, note=note, **fields)

    def _write_documents(
        self, unit: Unit, found: Iterator[Document], out: BinaryIO, counts: Counts, note: Note, say: Say
    ) -> None:
        with self._rows(unit, out) as rows:
            for document in parsed_documents(self.worker, found, note, say):
                counts.documents += 1
                counts.sentences += len(document.sentences)
                counts.words += sum(map(len, document.sentences))
                if rows is not None:
                    others = document.others()
                    more = {f"meta_{key}": value for key, value in others.items()}
                    if unit.kind == "json":
                        more = {"meta": in_json(others).encode(errors="replace").decode()}
                    for sentence in document.sentences:
                        rows.add(sentence, document.name, more)
                elif self.reading.format == "json":
                    out.write(document.to_bytes())
                else:
                    for block in joined(sentence.to_bytes() for sentence in document.sentences):
                        out.write(block)

    def _write_sentences(self, unit: Unit, sentences: Iterator[Sentence], out: BinaryIO) -> None:
        with self._rows(unit, out) as rows:
            if rows is None:
                for data in FORMATS[self.reading.format].write(sentences, Look()):
                    out.write(data)
                return
            document = in_comment(unit.input.name) if unit.kind == "text" else None
            for sentence in sentences:
                if unit.kind == "conllu":
                    document = _document_of(sentence) or document
                rows.add(sentence, document)

    @contextmanager
    def _rows(self, unit: Unit, out: BinaryIO) -> Iterator[Rows | None]:
        """Yield what writes rows of a table, if that is asked for."""
        if self.reading.format not in TABLES:
            yield None
            return
        more: Any = None
        if unit.kind == "parquet":
            more = columns_of(unit.input.path, self.reading.text_field, self.reading.id_field)
        elif unit.kind == "json":
            more = json_column()
        with writing_rows(out, by_word=self.reading.format == "parquet-words", more=more) as rows:
            yield rows

    def _sentences(self, unit: Unit, part: Range, counts: Counts, note: Note, say: Say) -> Iterator[Sentence]:
        batches = self._treebank(unit, part) if unit.kind == "conllu" else self._text(unit, part, counts, note)
        corpus = Corpus(self.worker)
        told = 0

        def after_batch() -> None:
            nonlocal told
            say(corpus.words - told)
            told = corpus.words

        counts.documents = int(unit.kind == "text" and unit.part == 0)
        for sentence in corpus.parse(batches, note, after_batch=after_batch):
            counts.sentences += 1
            counts.words += len(sentence)
            counts.documents += unit.kind == "conllu" and any(c.startswith("newdoc") for c in sentence.comments)
            yield sentence

    def _treebank(self, unit: Unit, part: Range) -> Iterable[Batch]:
        limit = self.reading.max_sentence
        return batches_of(part.as_stream(), unit.input.name, max_sentence=limit, number=unit.cut.line)

    def _text(self, unit: Unit, part: Range, counts: Counts, note: Note) -> Iterator[Piece]:
        on_error = self.reading.on_error
        texts = read_text(
            part.as_stream(),
            unit.input.name,
            encoding=self.reading.encoding,
            on_error=note,
            replaced=on_error == "replace",
            line=unit.cut.line,
            marked=unit.part == 0,
        )
        document = unit.input.name if unit.part == 0 else ""
        rule = self.worker.options.sentences
        for piece in self.worker.pipeline.pieces(texts, document=document, sentences=rule, begin=unit.cut.letters):
            counts.numbers += len(piece.sentences)
            yield piece


def _document_of(sentence: Sentence) -> str | None:
    """Return the name of the document that begins with a sentence, if one does."""
    return next((c.partition("=")[2].strip() for c in sentence.comments if NEWDOC.match(c)), None)


def _digest(told: Any) -> str:  # noqa: ANN401 - whatever JSON has
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _giving_up(error: LocatedError) -> None:
    raise error


def parts_folder(output: Place, given: Input) -> Place:
    """Return the folder for the parts of one output."""
    return output / INSIDE / "parts" / given.output


def record_of(
    job: Job, given: Input, source: str, state: tuple[int, int], counts: Counts, target: Place
) -> dict[str, Any]:
    """Return the record of an output, or of a part of one."""
    numbers = asdict(counts)
    listed = numbers.pop("listed")
    size, changed = state
    return {
        "state": "done",
        **numbers,
        "seconds": round(counts.seconds, 3),
        "input": {"name": given.name, "path": given.path, "size": size, "changed": changed, "sha256": source},
        "output": {"name": given.output, "size": size_of(target), "sha256": checksum(target)},
        "model": job.model,
        "tanglewood": __version__,
        "options": job.settings,
        "listed": listed,
    }


def record_name(target: Place) -> Place:
    """Return the name of the record of an output; where that would be too long, a digest stands for its end."""
    name = target.name
    if len(os.fsencode(name + RECORD)) > LONGEST_NAME:
        name = f"{name[:50]}.{_digest(name)}"  # 50 letters are 200 bytes at most
    return target.with_name(name + RECORD)


def forget_record(target: Place) -> None:
    """Remove the record of an output that another is about to replace: it would speak for what it has not seen."""
    record_name(target).unlink(missing_ok=True)


def write_record(target: Place, record: dict[str, Any]) -> None:
    """Write the record of an output, beside it."""
    with writing_at(record_name(target)) as out:
        out.write(in_bytes(record, indent=1) + b"\n")


def in_bytes(data: object, indent: int) -> bytes:
    """Return data as JSON; bytes of names that are no UTF-8 come back as they were when it is read."""
    return json.dumps(data, indent=indent, ensure_ascii=False).encode(errors="backslashreplace")


def read_record(target: Place) -> dict[str, Any] | None:
    """Return the record of an output; None if there is none that can be read."""
    try:
        found = json.loads(record_name(target).read_bytes())
        return found if isinstance(found, dict) and "state" in found else None
    except (OSError, ValueError, RecursionError):
        return None
