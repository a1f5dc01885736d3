"""CoNLL-U and CoNLL-X in and out: streaming, and byte for byte what was read."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, Protocol

from tanglewood.errors import ConfigError, FormatError, LocatedError
from tanglewood.files import Source, check_source, is_standard_output, opened, writing
from tanglewood.treebank.blocks import MAX_SENTENCE, Block, checked_limit, read_blocks
from tanglewood.treebank.scan import has_empty_column
from tanglewood.treebank.sentence import BLANK, BOM, ID, SPAN_PLACE, Sentence, comment_value, number_of, scan_block

if TYPE_CHECKING:
    from tanglewood.treebank.sources import SentenceSource

FORMATS = ("conllu", "conllx")
UPOS_TAGS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split()  # noqa: SIM905
)
CONLLU_COMMENT = re.compile(r"#\s*(text\s*=|newdoc\b|newpar\b|global\.columns\b)")


def read(
    source: Source,
    *,
    on_error: Callable[[LocatedError], object] | None = None,
    trees: bool = True,
    max_sentence: int = MAX_SENTENCE,
) -> Iterator[Sentence]:
    """Read the sentences of a file one by one: a path, "-" for standard input, or a binary file; gzip and xz too.

    A malformed sentence raises a FormatError, one whose heads do not form a tree a TreeError; with ``on_error`` that is
    called with the error instead, the sentence is left out and reading continues. Compressed data that breaks off
    always raises. With ``trees=False`` heads may be missing ("_") or not form a tree. The first sentence shows whether
    the file is CoNLL-U or CoNLL-X. Several roots are legal. A sentence of more than ``max_sentence`` bytes is
    malformed, so that a file without blank lines, or a line without end, does not fill the memory.
    """
    check_source(source)
    return _read(source, on_error, trees=trees, max_sentence=checked_limit(max_sentence))


def _read(
    source: Source, on_error: Callable[[LocatedError], object] | None, *, trees: bool, max_sentence: int
) -> Iterator[Sentence]:
    format_: str | None = None
    with opened(source) as (stream, name):
        for number, block in chain.from_iterable(read_blocks(stream, name, max_sentence)):
            try:
                sentence, surely_conllu = parse_block(block, name, number)
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


class Batch(NamedTuple):
    """Blocks of sentences of a file that were read at once, each with the number of its first line."""

    file: str
    blocks: list[Block]

    def tagged(self, tagging: "Filling") -> "list[Sentence | LocatedError]":
        """Return the sentences, with tags filled in if that was asked for, and the errors of malformed ones."""
        items: list[Sentence | LocatedError] = []
        for line, block in self.blocks:
            try:
                sentence, _ = parse_block(block, self.file, line)
                sentence.check_heads_written()
                items.append(sentence)
            except LocatedError as error:
                items.append(error)
        return tagging.filled(items)


class Filling(Protocol):
    """Fills in the tags of sentences, if that was asked for."""

    def filled(self, items: "Sequence[Sentence | LocatedError]") -> "list[Sentence | LocatedError]":
        """Return the sentences with their tags, and errors as they are."""


def read_batches(source: Source, *, max_sentence: int = MAX_SENTENCE) -> Iterator[Batch]:
    """Read the blocks of sentences without looking into them; :func:`parse_block` does that."""
    with opened(source) as (stream, name):
        yield from batches_of(stream, name, max_sentence=max_sentence)


def batches_of(stream: BinaryIO, name: str, *, max_sentence: int = MAX_SENTENCE, number: int = 1) -> Iterator[Batch]:
    """Read the blocks of sentences of a stream, whose lines are counted from ``number`` on."""
    for blocks in read_blocks(stream, name, checked_limit(max_sentence), number=number):
        yield Batch(name, blocks)


def parse_block(data: bytes | FormatError, name: str, start: int) -> tuple[Sentence, bool]:
    """Return the sentence of a block whose first line has the number ``start``, and whether it can only be CoNLL-U."""
    if isinstance(data, FormatError):
        raise data
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} is not valid UTF-8 here; the file should be in UTF-8"
        raise FormatError(problem, file=name, line=start + data.count(b"\n", 0, error.start)) from None
    if start == 1:
        text = text.removeprefix("\ufeff")
    spans, heads, others = scan_block(data, may_begin=start == 1)
    size = len(heads) - 1

    def fail(index: int, problem: str) -> NoReturn:
        raise FormatError(problem, file=name, line=start + index, sent_id=comment_value(text.split("\n"), "sent_id"))

    first = -1  # the first line that is neither blank nor a word
    nodes = 0  # ranges and empty nodes
    range_at, range_end = -2, 0  # the last range: its line and last word
    range_id = ""
    empty = (0, 0)  # the last empty node
    conllu_comment = False
    for i, before, begin, end in others:
        line = data[begin:end].decode()
        if not line.strip(BLANK):
            continue
        if first < 0:
            first = i
        if line.startswith("#"):
            if before or nodes:
                fail(i, "a comment stands among the words; comments should stand above the first word")
            conllu_comment = conllu_comment or CONLLU_COMMENT.match(line) is not None
            continue
        row = line.split("\t")
        if len(row) != 10:
            fail(i, _column_problem(len(row)))
        if range_at == i - 1:
            fail(range_at, f"range {range_id} should stand directly before word {before + 1}")
        nodes += 1
        low, dash, high = row[ID].partition("-")
        if dash:
            range_begin, range_until = number_of(low), number_of(high)
            if range_begin < 1 or range_until < range_begin:
                fail(i, f"{row[ID]!r} is no range; two word numbers like {before + 1}-{before + 2} would be right")
            if range_begin <= range_end:
                fail(i, f"range {row[ID]} overlaps the one before it, which ends at word {range_end}")
            if range_begin != before + 1:
                problem = f"stands before word {before + 1}; it should stand directly before word {range_begin}"
                fail(i, f"range {row[ID]} {problem}")
            range_at, range_end, range_id = i, range_until, row[ID]
            continue
        low, dot, high = row[ID].partition(".")
        if not dot:
            fail(i, _id_problem(row[ID], before))
        due = (before, empty[1] + 1 if empty[0] == before else 1)
        if (number_of(low), number_of(high)) != due:
            fail(i, f"empty node {row[ID]!r} is out of place; here it should be {due[0]}.{due[1]}")
        empty = due
    if not size:
        fail(
            max(first, 0),
            "a sentence without words; comments should stand directly above theirs, with no blank line between",
        )
    if range_end > size:
        fail(range_at, f"range {range_id} should not end after the last word, {size}")
    if has_empty_column(data):
        for i, line in enumerate(text.split("\n")):
            row = line.removesuffix("\r").split("\t")
            if "" in row and not line.startswith("#") and line.strip(BLANK):
                fail(i, f'column {row.index("") + 1} of {row[ID]} is empty; "_" should stand for nothing')
    place = spans[SPAN_PLACE]
    line_number = start + (place if first < 0 else min(first, place))
    return Sentence(data, spans=spans, heads=heads, file=name, line=line_number), nodes > 0 or conllu_comment


def _column_problem(count: int) -> str:
    if count == 1:
        hint = "are they separated by spaces?"
    else:
        hint = "is there a tab inside a field?" if count > 10 else "are some missing?"
    return f"{count} column{'s' if count > 1 else ''}; there should be 10, separated by tabs ({hint})"


def _id_problem(text: str, size: int) -> str:
    number = number_of(text)
    if 1 <= number <= size:
        hint = " (or a blank line is missing before a new sentence)" if number == 1 else ""
        return f"word {text} stands twice; the next word should be {size + 1}{hint}"
    if number > size:
        return f"word {text} comes too early; the next word should be {size + 1}"
    return f"{text!r} is no word number; the next word should be {size + 1}"


def write(sentences: "SentenceSource", target: Source) -> int:
    """Write sentences one by one to a path (.gz, .xz and .zst compressed), "-" for standard output, or a binary file.

    They come from anything that :func:`sentences_from` takes, and need no trees.

    A path is written under another name in the same folder and renamed at the end, so that it never holds half a
    file and may be the file the sentences are read from. Returns the number of sentences.
    """
    from tanglewood.treebank.sources import sentences_from

    count = 0
    with writing(target) as out:
        for block in joined(sentence.to_bytes() for sentence in sentences_from(sentences, trees=False)):
            out.write(block)
            if is_standard_output(out):
                out.flush()  # the reader of our pipe may wait for this sentence before it writes the next
            count += 1
    return count


def joined(blocks: Iterable[bytes], after: bytes = b"") -> Iterator[bytes]:
    """Yield the blocks of sentences as they follow each other in one file, ``after`` what that has already, or its end.

    Sentences may come from several files: only the first keeps its byte order mark, and a blank line must end each but
    the last.
    """
    missing = _missing_end(after) if after else None
    for block in blocks:
        yield block if missing is None else missing + block.removeprefix(BOM)
        missing = b"" if block.endswith(b"\n\n") else _missing_end(block)


def _missing_end(block: bytes) -> bytes:
    """Return the newlines that a block lacks to end with a blank line."""
    newline = b"\r\n" if b"\r\n" in block else b"\n"
    *_, before, last = (b"", b"", *block.split(b"\n"))
    if last.strip():
        return newline * 2
    return newline if last or before.strip() else b""


def convert(sentence: Sentence, to: str) -> Sentence:
    """Return the sentence in the format ``to``, "conllu" or "conllx"; itself if it is in that format already.

    CoNLL-X has no ranges, empty nodes, DEPS, MISC or comments and no spaces in words, so these are lost; the
    projective head and label of CoNLL-X go into MISC.
    """
    if to not in FORMATS:
        raise ConfigError(f"unknown format {to!r}; the formats are {', '.join(FORMATS)}")
    if to == sentence.format:
        return sentence
    rows: list[tuple[str, ...]] = []
    for word in sentence.words:
        if any("\r" in column for column in word):
            problem = f"a column of word {word[ID]} holds a carriage return, which should only end a line: {word!r}"
            line = sentence.line_of(len(rows) + 1)
            raise FormatError(problem, file=sentence.file, line=line, sent_id=sentence.sent_id)
        number, form, lemma, coarse, fine, feats, head, label, ninth, tenth = word
        if to == "conllx":
            form, lemma = form.replace(" ", "_"), lemma.replace(" ", "_")
            fine = coarse if fine == "_" else fine
            ninth = tenth = "_"
        else:
            projective = [f"{key}={value}" for key, value in (("PHEAD", ninth), ("PDEPREL", tenth)) if value != "_"]
            ninth, tenth = "_", "|".join(projective) or "_"
        rows.append((number, form, lemma, coarse, fine, feats, head, label, ninth, tenth))
    try:
        converted = Sentence.build(rows, sentence.comments if to == "conllu" else (), to)
    except FormatError as error:
        raise sentence.located(error) from None
    converted.file, converted.line = sentence.file, sentence.line
    return converted
