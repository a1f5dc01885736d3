"""CoNLL-U and CoNLL-X in and out: streaming, and byte for byte what was read."""

import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from tanglewood.errors import ConfigError, FormatError, LocatedError
from tanglewood.treebank.sentence import BLANK, ID, NUMBERS, Sentence, comment_value

FORMATS = ("conllu", "conllx")
UPOS_TAGS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split()  # noqa: SIM905
)
BOM = "\ufeff"
TAB = "\t"
GZIP_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
CONLLU_COMMENT = re.compile(r"#\s*(text\s*=|newdoc\b|newpar\b|global\.columns\b)")

Source = str | Path | BinaryIO


def read(
    source: Source, *, on_error: Callable[[LocatedError], object] | None = None, trees: bool = True
) -> Iterator[Sentence]:
    """Read the sentences of a file one by one: a path, "-" for standard input, or a binary file; gzip and xz too.

    A malformed sentence raises a FormatError, one whose heads form no tree a TreeError; with ``on_error`` the error
    is handed to it instead, the sentence left out and reading goes on. Compressed data that breaks off always raises.
    With ``trees=False`` heads may be missing ("_") or form no tree. Whether the file is CoNLL-U or CoNLL-X is seen
    from its first sentence. Several roots are legal.
    """
    format_: str | None = None
    with _opened(source) as (stream, name):
        for first_line, block in _blocks(stream, name):
            try:
                sentence, surely_conllu = _parse(block, name, first_line)
                if trees:
                    sentence.heads()
                else:
                    sentence.check_heads_written()
            except LocatedError as error:
                if on_error is None:
                    raise
                on_error(error)
                continue
            if format_ is None or (surely_conllu and format_ == "conllx"):
                format_ = "conllu" if surely_conllu or UPOS_TAGS.issuperset(sentence.upos) else "conllx"
            sentence.format = format_
            yield sentence


@contextmanager
def _opened(source: Source) -> Iterator[tuple[BinaryIO, str]]:
    """Give the decompressed binary stream and its name for messages; closed at the end if it was opened here."""
    if isinstance(source, io.TextIOBase):
        raise TypeError("read() needs a binary file; open it with mode 'rb'")
    with ExitStack() as stack:
        raw: BinaryIO
        if not isinstance(source, str | Path):
            raw, name = source, str(getattr(source, "name", "<stream>"))
        elif str(source) == "-":
            raw, name = sys.stdin.buffer, "<stdin>"
        else:
            raw, name = stack.enter_context(Path(source).open("rb")), str(source)
        start = _start(raw)
        unpacked: gzip.GzipFile | lzma.LZMAFile
        if start.startswith(GZIP_MAGIC):
            unpacked = gzip.GzipFile(fileobj=raw)
        elif start.startswith(XZ_MAGIC):
            unpacked = lzma.LZMAFile(raw)  # noqa: SIM115 - holds nothing but raw
        elif raw is not source and name.endswith((".gz", ".xz")):
            raise FormatError(f"the name ends in {name[-3:]} but the content is not compressed so", file=name)
        else:
            yield raw, name
            return
        # Their own line iterators are slow.
        yield cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", unpacked), 1 << 17)), name


def _start(raw: BinaryIO) -> bytes:
    """Return the first bytes of a stream, not consumed; none if it can neither be peeked into nor rewound."""
    size = len(XZ_MAGIC)
    if hasattr(raw, "peek"):
        return bytes(raw.peek(size)[:size])
    if not raw.seekable():
        return b""
    place = raw.tell()
    start = raw.read(size)
    raw.seek(place)
    return start


def _blocks(stream: BinaryIO, name: str) -> Iterator[tuple[int, list[bytes]]]:
    """Give the lines of each sentence with the blank lines around it, and the number of the first of them.

    Blank lines go with the sentence before them. From a pipe a sentence comes as soon as its blank line is there, for
    whoever writes it may wait for our answer; further blank lines then go with the sentence after them.
    """
    at_once = not stream.seekable()
    block: list[bytes] = []
    start = 1
    number = 0
    begun = ended = False
    try:
        for line in stream:
            number += 1
            if not line.isspace() and (number > 1 or line.strip() != BOM.encode()):
                if ended:
                    yield start, block
                    block, start, ended = [], number, False
                begun = True
                block.append(line)
                continue
            block.append(line)
            ended = begun
            if at_once and ended:
                yield start, block
                block, start, begun, ended = [], number + 1, False, False
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        problem = (
            f"the compressed data is damaged or breaks off here ({error}); the file should be made or fetched again"
        )
        raise FormatError(problem, file=name, line=number + 1) from error
    if begun:
        yield start, block


def _parse(block: list[bytes], name: str, start: int) -> tuple[Sentence, bool]:
    """Return the sentence of a block whose first line has the number ``start``, and whether it can only be CoNLL-U."""
    data = b"".join(block)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} is not valid UTF-8 here; the file should be in UTF-8"
        raise FormatError(problem, file=name, line=start + data.count(b"\n", 0, error.start)) from None
    raw_lines = text.split("\n")
    lines = raw_lines
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    if start == 1 and text.startswith(BOM):
        lines = [lines[0][1:], *lines[1:]]

    def fail(index: int, problem: str) -> NoReturn:
        raise FormatError(problem, file=name, line=start + index, sent_id=comment_value(lines, "sent_id"))

    words: list[tuple[str, ...]] = []  # tuples of text, unlike lists, cost the garbage collector nothing
    places: list[int] = []
    size = 0
    first = -1  # the first line that is neither blank nor a word
    others = 0  # ranges and empty nodes
    range_at, range_end = -2, 0  # the last range: its line and last word
    empty = (0, 0)  # the last empty node
    conllu_comment = False
    for i, line in enumerate(lines):
        row = line.split("\t")
        if len(row) == 10 and NUMBERS[row[ID]] == size + 1:
            words.append(tuple(row))
            places.append(i)
            size += 1
            continue
        if not line.strip(BLANK):
            continue
        if first < 0:
            first = i
        if line.startswith("#"):
            if words or others:
                fail(i, "a comment stands among the words; comments should stand above the first word")
            conllu_comment = conllu_comment or CONLLU_COMMENT.match(line) is not None
            continue
        if len(row) != 10:
            fail(i, _column_problem(len(row)))
        if range_at == i - 1:
            fail(range_at, f"range {lines[range_at].split(TAB)[ID]} should stand directly before word {size + 1}")
        others += 1
        low, dash, high = row[ID].partition("-")
        if dash:
            begin, end = NUMBERS[low], NUMBERS[high]
            if begin < 1 or end < begin:
                fail(i, f"{row[ID]!r} is no range; two word numbers like {size + 1}-{size + 2} would be right")
            if begin <= range_end:
                fail(i, f"range {row[ID]} overlaps the one before it, which ends at word {range_end}")
            if begin != size + 1:
                fail(i, f"range {row[ID]} stands before word {size + 1}; it should stand directly before word {begin}")
            range_at, range_end = i, end
            continue
        low, dot, high = row[ID].partition(".")
        if not dot:
            fail(i, _id_problem(row[ID], size))
        due = (size, empty[1] + 1 if empty[0] == size else 1)
        if (NUMBERS[low], NUMBERS[high]) != due:
            fail(i, f"empty node {row[ID]!r} is out of place; here it should be {due[0]}.{due[1]}")
        empty = due
    if not words:
        fail(
            max(first, 0),
            "a sentence without words; comments should stand directly above theirs, with no blank line between",
        )
    if range_end > size:
        fail(range_at, f"range {lines[range_at].split(TAB)[ID]} should not end after the last word, {size}")
    if "\t\t" in text or "\t\n" in text or "\t\r" in text or text.endswith("\t"):
        for i, line in enumerate(lines):
            row = line.split("\t")
            if "" in row and not line.startswith("#") and line.strip(BLANK):
                fail(i, f'column {row.index("") + 1} of {row[ID]} is empty; "_" should stand for nothing')
    line_number = start + (places[0] if first < 0 else min(first, places[0]))
    return Sentence(raw_lines, words, places, file=name, line=line_number), others > 0 or conllu_comment


def _column_problem(count: int) -> str:
    if count == 1:
        hint = "are they separated by spaces?"
    else:
        hint = "is there a tab inside a field?" if count > 10 else "are some missing?"
    return f"{count} column{'s' if count > 1 else ''}; there should be 10, separated by tabs ({hint})"


def _id_problem(text: str, size: int) -> str:
    number = NUMBERS[text]
    if 1 <= number <= size:
        hint = " (or a blank line is missing before a new sentence)" if number == 1 else ""
        return f"word {text} stands twice; the next word should be {size + 1}{hint}"
    if number > size:
        return f"word {text} comes too early; the next word should be {size + 1}"
    return f"{text!r} is no word number; the next word should be {size + 1}"


def write(sentences: Iterable[Sentence], target: Source) -> int:
    """Write sentences one by one to a path (.gz and .xz compressed), "-" for standard output, or a binary file.

    A path is written under another name in the same folder and renamed at the end, so that it never holds half a
    file and may be the file the sentences are read from. Returns the number of sentences.
    """
    count = 0
    missing = ""
    with writing(target) as out:
        for sentence in sentences:
            text = sentence.to_text()
            # Sentences may come from several files: only the first keeps its byte order mark,
            # and a blank line must end each but the last.
            if count:
                text = missing + text.removeprefix(BOM)
            out.write(text.encode())
            if out is sys.stdout.buffer:
                out.flush()  # who reads our pipe may wait for this sentence before writing the next
            missing = "" if text.endswith("\n\n") else _missing_end(text)
            count += 1
    return count


def _missing_end(text: str) -> str:
    """Return the newlines that ``text`` lacks to end with a blank line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    *_, before, last = ("", "", *text.split("\n"))
    if last.strip(BLANK):
        return newline * 2
    return newline if last or before.strip(BLANK) else ""


@contextmanager
def writing(target: Source, *, packed: bool = True) -> Iterator[BinaryIO]:
    """Give the binary file to write to; a path comes into being only when all went well.

    With ``packed`` what goes to a path that ends in .gz or .xz is compressed.
    """
    if isinstance(target, io.TextIOBase):
        raise TypeError("write() needs a binary file; open it with mode 'wb'")
    if not isinstance(target, str | Path):
        yield target
        return
    if str(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    if path.exists() and not path.is_file():
        with path.open("wb") as special:  # such as /dev/null, which must not be replaced
            yield special
        return
    path = path.resolve()  # a link stays a link
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    with partial.open("xb") as raw:
        try:
            with _compressed(raw, path.suffix if packed else "") as out:
                yield out
            raw.close()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def _compressed(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":
        # Neither name nor time goes in: the same sentences give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif suffix == ".xz":
        with lzma.LZMAFile(raw, "wb") as packed_xz:
            yield cast("BinaryIO", packed_xz)
    else:
        yield raw


def convert(sentence: Sentence, to: str) -> Sentence:
    """Return the sentence in the format ``to``, "conllu" or "conllx"; itself if it is in that format already.

    CoNLL-X knows no ranges, empty nodes, DEPS, MISC or comments and no spaces in words, so these are lost; the
    projective head and label of CoNLL-X go into MISC.
    """
    if to not in FORMATS:
        raise ConfigError(f"unknown format {to!r}; the formats are {', '.join(FORMATS)}")
    if to == sentence.format:
        return sentence
    rows = []
    for word in sentence.words:
        number, form, lemma, coarse, fine, feats, head, label, ninth, tenth = word
        if to == "conllx":
            form, lemma = form.replace(" ", "_"), lemma.replace(" ", "_")
            fine = coarse if fine == "_" else fine
            ninth = tenth = "_"
        else:
            projective = [f"{key}={value}" for key, value in (("PHEAD", ninth), ("PDEPREL", tenth)) if value != "_"]
            ninth, tenth = "_", "|".join(projective) or "_"
        rows.append((number, form, lemma, coarse, fine, feats, head, label, ninth, tenth))
    converted = Sentence.build(rows, sentence.comments if to == "conllu" else (), to)
    converted.file, converted.line = sentence.file, sentence.line
    return converted
