"""Parquet in and out, with pyarrow: documents from the rows of a table, and tables of sentences or of words.

A table of sentences has a row for each, its words being lists; a table of words has a row for each word. The columns
are those of rows of words (treebank/record.py), the document and, in tables of sentences, the text. Rows are written
in groups of always the same size, so that the bytes do not depend on the parts that the rows came in.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Any, BinaryIO

from tanglewood.errors import FormatError, MissingExtraError
from tanglewood.run.cutting import Cut, ended
from tanglewood.run.places import Place
from tanglewood.run.remote import is_remote, remote
from tanglewood.treebank.record import ROW_COLUMNS, sentence_rows
from tanglewood.treebank.sentence import Sentence

GROUP = 20_000  # rows that are written together
AT_ONCE = 1000  # rows that are read together
UNFIT = (ValueError, OverflowError, KeyError)  # what values raise that Python, or Arrow, has none for
OF_SENTENCE = ("sentence", "sent_id")  # columns that all words of a sentence share
TYPES = {
    **dict.fromkeys(("sentence", "start", "end"), "int64"),
    **dict.fromkeys(("id", "head"), "int32"),
    **dict.fromkeys(("doc_id", "sent_id", "text", "form", "lemma", "upos", "xpos", "feats", "deprel"), "string"),
    "nonprojective": "bool",
    "confidence": "float64",
}


def check_parquet() -> None:
    """Raise an error if the package for Parquet is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'tanglewood[parquet]'")


def schema_of(by_word: bool, more: Any = None) -> Any:  # noqa: ANN401 - schemas of pyarrow
    """Return the schema of a table of words or of sentences, with more columns after them, if there are any."""
    import pyarrow as pa

    plain = {name: pa.type_for_alias(alias) for name, alias in TYPES.items()}
    if by_word:
        fields = [(name, plain[name]) for name in ("doc_id", *ROW_COLUMNS)]
    else:
        whole = ("doc_id", *OF_SENTENCE, "text")
        fields = [(name, plain[name]) for name in whole]
        fields += [(name, pa.list_(plain[name])) for name in ROW_COLUMNS if name not in OF_SENTENCE]
    schema = pa.schema(fields)
    for field in more or ():
        schema = schema.append(field)
    return _as_read_again(schema)


def _as_read_again(schema: Any) -> Any:  # noqa: ANN401
    """Return a schema as a file gives it back: the insides of lists may be called otherwise there."""
    import pyarrow.parquet as pq

    file = BytesIO()
    pq.write_table(schema.empty_table(), file)
    return pq.read_schema(file).remove_metadata()


class Groups:
    """Writes rows to a file in groups of the same size."""

    def __init__(self, out: BinaryIO, schema: Any) -> None:  # noqa: ANN401
        import pyarrow.parquet as pq

        self._schema = schema
        self._writer = pq.ParquetWriter(out, schema)
        self._waiting = schema.empty_table()

    def add(self, table: Any) -> None:  # noqa: ANN401
        """Write the rows of a table, as far as they fill groups."""
        import pyarrow as pa

        self._waiting = pa.concat_tables([self._waiting, table])
        while len(self._waiting) >= GROUP:
            self._write(self._waiting.slice(0, GROUP))
            self._waiting = self._waiting.slice(GROUP)

    def _write(self, table: Any) -> None:  # noqa: ANN401
        self._writer.write_table(table.combine_chunks(), row_group_size=GROUP)

    def __enter__(self) -> Groups:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the rest, and the end of the file; what is given up is closed, or it would print that it was not."""
        if kind is not None:
            with suppress(Exception):
                self._writer.close()
            return
        if len(self._waiting):
            self._write(self._waiting)
        self._writer.close()


class Rows:
    """Writes sentences as rows of a table."""

    def __init__(self, groups: Groups, schema: Any, *, by_word: bool) -> None:  # noqa: ANN401
        self._by_word = by_word
        self._schema = schema
        self._groups = groups
        self._rows: list[dict[str, Any]] = []
        self._number = 0

    def add(self, sentence: Sentence, document: str | None, more: dict[str, Any] | None = None) -> None:
        """Add a sentence of a document."""
        self._number += 1
        words = sentence_rows(sentence, self._number)
        shared = {"doc_id": document, **(more or {})}
        if self._by_word:
            self._rows += ({**shared, **word} for word in words)
        else:
            lists = {name: [word[name] for word in words] for name in ROW_COLUMNS if name not in OF_SENTENCE}
            whole = {"sentence": self._number, "sent_id": sentence.sent_id, "text": sentence.text}
            self._rows.append({**shared, **whole, **lists})
        if len(self._rows) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Have what was added so far written."""
        import pyarrow as pa

        with _holding():
            table = pa.Table.from_pylist(self._rows, schema=self._schema)
        self._groups.add(table)
        self._rows = []


@contextmanager
def writing_rows(out: BinaryIO, *, by_word: bool, more: Any = None) -> Iterator[Rows]:  # noqa: ANN401
    """Yield what writes a table of words or of sentences, perhaps with more columns; it is whole at the end."""
    check_parquet()
    with _holding():
        schema = schema_of(by_word, more)
    with Groups(out, schema) as groups:
        rows = Rows(groups, schema, by_word=by_word)
        yield rows
        rows.flush()


@contextmanager
def _holding() -> Iterator[None]:
    """Have values and types that a table cannot hold be an error of the input."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, *UNFIT) as error:
        raise FormatError(f"a table cannot hold this: {error}") from None


def join(
    parts: Sequence[Place], out: BinaryIO, sentences: Sequence[int], numbers: Sequence[int], *, numbered: bool
) -> None:
    """Make one table of several: sentences come after those of the parts before, ``sentences`` of them in each part.

    Where sentences are ``numbered``, their identifiers do, too, and each part used so many ``numbers``. Sentences at
    the beginning of a part whose document is not known belong to the last one of the part before.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    document: str | None = None
    with parts[0].open("rb") as raw:
        schema = pq.read_schema(raw).remove_metadata()
    with Groups(out, schema) as groups:
        for place, part in enumerate(parts):
            before, used = sum(sentences[:place]), sum(numbers[:place])
            with part.open("rb") as raw, pq.ParquetFile(raw) as file:
                for batch in file.iter_batches(AT_ONCE):
                    table = pa.Table.from_batches([batch]).cast(schema)
                    table = _with(table, "sentence", pc.add(table["sentence"], before))
                    if numbered:
                        identifiers = pc.add(pc.cast(table["sent_id"], pa.int64()), used)
                        table = _with(table, "sent_id", pc.cast(identifiers, pa.string()))
                    if document is not None:
                        table = _with(table, "doc_id", pc.fill_null(table["doc_id"], document))
                    document = table["doc_id"][-1].as_py() if len(table) else document
                    groups.add(table)


def _with(table: Any, name: str, values: Any) -> Any:  # noqa: ANN401
    return table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)


def row_cuts(path: str, size: int) -> list[Cut]:
    """Return the parts of a table as ranges of its row groups; the first row of a part has the number ``line``."""
    with _opened(path) as file:
        cuts = [Cut()]
        row, since = 1, 0
        for group in range(file.num_row_groups):
            if since >= size:
                cuts.append(Cut(group, -1, row))
                since = 0
            found = file.metadata.row_group(group)
            row += found.num_rows
            since += found.total_byte_size
    return ended(cuts)


def _opened(path: str) -> Any:  # noqa: ANN401
    check_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if is_remote(path):
            system, inside = remote(path)
            return pq.ParquetFile(inside, filesystem=system)
        return pq.ParquetFile(path)
    except (pa.ArrowException, ValueError) as error:
        raise FormatError(f"this is no Parquet, or damaged: {error}", file=path) from None


def columns_of(path: str, text_field: str, id_field: str) -> Any:  # noqa: ANN401
    """Return the other columns of a table, as they are called in the output."""
    with _opened(path) as file:
        schema = file.schema_arrow
        return [field.with_name(f"meta_{field.name}") for field in schema if field.name not in (text_field, id_field)]


def json_column() -> Any:  # noqa: ANN401
    """Return the column for the other fields of JSON lines, which are not the same in all of them: as JSON."""
    check_parquet()
    import pyarrow as pa

    return [pa.field("meta", pa.string())]


def read_rows(path: str, cut: Cut, text_field: str) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    """Yield the rows of a part, each with its number; in place of one that cannot be read, what is wrong with it."""
    import pyarrow as pa

    with _opened(path) as file:
        if text_field not in file.schema_arrow.names:
            names = ", ".join(file.schema_arrow.names)
            raise FormatError(f"there is no column {text_field!r}; --text-field names another of: {names}", file=path)
        last = file.num_row_groups if cut.end < 0 else cut.end
        number = cut.line
        try:
            for batch in file.iter_batches(AT_ONCE, row_groups=list(range(cut.begin, last))):
                for row in _rows_of(batch):
                    yield number, row
                    number += 1
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"the table is damaged here: {error}", file=path, line=number) from None


def _rows_of(batch: Any) -> Sequence[dict[str, Any] | ValueError]:  # noqa: ANN401
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except UNFIT:  # in some row, which must not cost the others
        return [_row_of(batch, place) for place in range(len(batch))]
    return rows


def _row_of(batch: Any, place: int) -> dict[str, Any] | ValueError:  # noqa: ANN401
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[place].as_py()
        except UNFIT as error:
            return ValueError(f"the value in the column {name!r} cannot be read: {error}")
    return row


def in_json(value: object) -> str:
    """Return a value as JSON; what JSON has no way to write, such as times, becomes a string."""
    return json.dumps(value, ensure_ascii=False, default=str)
