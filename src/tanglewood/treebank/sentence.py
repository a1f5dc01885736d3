"""Sentence: the words of one block of a CoNLL file, and its raw lines for an exact round trip."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from tanglewood.errors import Error, FormatError, LocatedError, TreeError, located
from tanglewood.treebank import measures
from tanglewood.treebank.memo import Memo
from tanglewood.treebank.scan import decimal, scan, slices, with_arcs
from tanglewood.treebank.tree import Tree, describe_problem

if TYPE_CHECKING:
    from tanglewood.show.drawing import Drawing
    from tanglewood.treebank.word import Word

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
BLANK = " \t\r\n\x0b\x0c"  # what bytes.isspace() takes for white space
BOM = "\ufeff".encode()
SPAN_PLACE, SPAN_LINE, SPAN_FORM, SPAN_HEAD, SPAN_DEPREL, SPAN_DEPS, SPAN_END, SPAN_FIELDS = range(8)
MOST_KEPT = 10_000  # most different labels that are known to fit
LONGEST_KEPT = 100  # most letters of such a label

_TEXTS = Memo(bytes.decode, 8 << 20)  # of labels
_LABELS: dict[str, bytes] = {}  # labels that are known to fit into a column
_HEADS = [b"%d\t" % head for head in range(1000)]


def number_of(text: str) -> int:
    """Return a decimal number "0", "1", ... as int and -1 for any other text: no sign, space or leading zero."""
    data = text.encode()
    return decimal(data, 0, len(data))


def scan_block(
    data: bytes, *, may_begin: bool = True
) -> "tuple[array[int], array[int], list[tuple[int, int, int, int]]]":
    """Find the words of a block; a byte order mark is skipped where a file may begin. See :func:`scan`."""
    return scan(data, len(BOM) if may_begin and data.startswith(BOM) else 0, data.count(b"\n") + 1)


def comment_value(lines: Iterable[str], key: str) -> str | None:
    """Return the value of the first comment ``# key = value``, or None."""
    pattern = re.compile(rf"\ufeff?#\s*{re.escape(key)}\s*=")
    for line in lines:
        if line.startswith(("#", "\ufeff#")):
            match = pattern.match(line)
            if match:
                return line[match.end() :].strip()
        elif line.strip(BLANK + "\ufeff"):
            break  # there are comments above the words only
    return None


class Sentence:
    """One sentence of a CoNLL-U or CoNLL-X file.

    ``lines`` are the raw lines of its block, with the blank lines around it, a byte order mark and carriage returns
    if there are any; joined by newlines they are the exact text, and the texts of all sentences the whole file.
    ``words`` are the ten columns of each word, ranges and empty nodes left out; ``places`` the index in ``lines`` of
    each. ``line`` is the number in ``file`` of the first comment or word, ``format`` "conllu" or "conllx".
    Lines and words are for reading; :meth:`with_tree` gives a changed copy.

    Iterating over a sentence, or indexing it from 0, gives each :class:`Word` with its columns, head and children.

    What is kept is the block as it was read, and where in it the words are; the rest is cut out when it is asked for.
    """

    __slots__ = (
        *("_data", "_heads", "_heads_are_a_tree", "_nonprojective", "_offsets", "_spans", "_words"),
        *("file", "format", "line"),
    )

    def __init__(
        self,
        data: bytes,
        *,
        spans: "array[int] | None" = None,
        heads: "array[int] | None" = None,
        file: str | None = None,
        line: int = 1,
        format: str = "conllu",  # noqa: A002 - the word for it
    ) -> None:
        """Take a block that is known to be well-formed, and what :func:`scan` found there if that is known."""
        self._data = data
        self._spans = spans
        if heads is None:
            self._spans, heads, _ = scan_block(data)
        self._heads = heads
        self._heads_are_a_tree = False
        self._words: list[tuple[str, ...]] | None = None
        self._nonprojective: frozenset[int] | None = None
        self._offsets: list[tuple[int, int] | None] | None = None
        self.file = file
        self.line = line
        self.format = format

    @classmethod
    def build(cls, words: Iterable[Sequence[str]], comments: Iterable[str] = (), format: str = "conllu") -> "Sentence":  # noqa: A002
        """Make a sentence of the ten columns of each word, below comments without their "# "."""
        rows = [tuple(word) for word in words]
        lines = [f"# {comment}" for comment in comments]
        lines += ["\t".join(row) for row in rows]
        for number, (row, line) in enumerate(zip(rows, lines[len(lines) - len(rows) :], strict=True), 1):
            if len(row) != 10 or line.count("\t") != 9 or "" in row or row[ID] != str(number):
                raise FormatError(
                    f"{row} is not word {number}; it should be ten texts, the first {number}, without tabs"
                )
        if any("\n" in line or "\r" in line for line in lines):
            raise FormatError("neither a comment nor a column should hold a line break")
        return cls("\n".join([*lines, "", ""]).encode(), format=format)

    def __len__(self) -> int:
        return len(self._heads) - 1

    def __iter__(self) -> "Iterator[Word]":
        from tanglewood.treebank.word import Word

        return (Word(self, number) for number in range(1, len(self) + 1))

    @overload
    def __getitem__(self, place: int) -> "Word": ...

    @overload
    def __getitem__(self, place: slice) -> "list[Word]": ...

    def __getitem__(self, place: int | slice) -> "Word | list[Word]":
        from tanglewood.treebank.word import Word

        if isinstance(place, slice):
            return [Word(self, number) for number in range(1, len(self) + 1)[place]]
        try:
            return Word(self, range(1, len(self) + 1)[place])
        except IndexError:
            raise IndexError(f"there is no word {place} in a sentence of {len(self)} words; they begin at 0") from None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the block and what is known of it; the words are found again when it is read."""
        return _restored, (self._data, self.file, self.line, self.format, self._heads_are_a_tree)

    def __repr__(self) -> str:
        name = self.sent_id
        start = " ".join(self.forms[:8]) + (" ..." if len(self) > 8 else "")
        return f"<Sentence{'' if name is None else ' ' + name}: {start}>"

    @property
    def spans(self) -> "array[int]":
        """Where the words are in :meth:`to_bytes`; see :mod:`tanglewood.treebank.scan`."""
        if self._spans is None:
            self._spans = scan_block(self._data)[0]
        return self._spans

    @property
    def lines(self) -> list[str]:
        """The raw lines, without the newlines between them."""
        return self.to_text().split("\n")

    @property
    def places(self) -> list[int]:
        """The index in ``lines`` of each word."""
        return self.spans[SPAN_PLACE::SPAN_FIELDS].tolist()

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The ten columns of each word."""
        if self._words is None:
            lines = slices(self._data, self.spans, SPAN_LINE, SPAN_END, 0)
            # Tuples of text, unlike lists, cost the garbage collector nothing.
            self._words = [tuple(line.decode().split("\t")) for line in lines]
        return self._words

    def _top(self) -> list[str]:
        """The lines above the first word."""
        return self._data[: self.spans[SPAN_LINE]].decode().split("\n")

    @property
    def comments(self) -> list[str]:
        """The comments, without "#" and the white space around them."""
        found = (line.removeprefix("\ufeff") for line in self._top())
        return [line[1:].strip() for line in found if line.startswith("#")]

    @property
    def sent_id(self) -> str | None:
        """The value of the comment ``# sent_id = ...``, or None."""
        return comment_value(self._top(), "sent_id")

    @property
    def text(self) -> str | None:
        """The value of the comment ``# text = ...``, or None."""
        return comment_value(self._top(), "text")

    def column(self, index: int) -> list[str]:
        """Return one column of all words, counted from 0."""
        return [word[index] for word in self.words]

    def form_to_feats(self) -> list[bytes]:
        """Return the second to sixth column of each word as in the file, with the tabs between them."""
        return slices(self._data, self.spans, SPAN_FORM, SPAN_HEAD, 1)

    @property
    def forms(self) -> list[str]:
        """The word forms."""
        return self.column(FORM)

    @property
    def lemmas(self) -> list[str]:
        """The lemmas."""
        return self.column(LEMMA)

    @property
    def upos(self) -> list[str]:
        """The fourth column: UPOS, in CoNLL-X the coarse-grained tag."""
        return self.column(UPOS)

    @property
    def xpos(self) -> list[str]:
        """The fifth column: XPOS, in CoNLL-X the fine-grained tag."""
        return self.column(XPOS)

    @property
    def feats(self) -> list[str]:
        """The features, each word's as one string."""
        return self.column(FEATS)

    @property
    def deprels(self) -> list[str]:
        """The labels as they are in the file."""
        return [_TEXTS[label] for label in slices(self._data, self.spans, SPAN_DEPREL, SPAN_DEPS, 1)]

    @property
    def misc(self) -> list[str]:
        """The tenth column: MISC, in CoNLL-X the label in the projective tree."""
        return self.column(MISC)

    @property
    def offsets(self) -> list[tuple[int, int] | None]:
        """Where each word begins and ends in the raw text (``TokenRange=`` in MISC), None where that is not known.

        The words of a multiword token are where the token is.
        """
        if self._offsets is None:
            from tanglewood.treebank.record import offsets

            self._offsets = offsets(self)
        return self._offsets

    def line_of(self, word: int) -> int:
        """Return the number in the file of the line of ``word``, 1..n."""
        first = next((i for i, line in enumerate(self.lines) if line.strip(BLANK + "\ufeff")), 0)
        return self.line + self.places[word - 1] - first

    def heads(self) -> "array[int]":
        """Return the heads indexed by node, -1 at index 0, checked once and to be read only."""
        if not self._heads_are_a_tree:
            word = measures.offender(self._heads)
            if word:
                raise self._head_error(self._heads, word)
            self._heads_are_a_tree = True
        return self._heads

    @property
    def tree(self) -> Tree:
        """The tree of the sentence; a TreeError says where heads are missing or do not form one."""
        return Tree._checked(self.heads()[:], ["", *self.deprels])

    @property
    def nonprojective(self) -> frozenset[int]:
        """The words (1..n) whose arcs pass over a word that their head does not dominate."""
        if self._nonprojective is None:
            degrees = measures.arc_degrees_2006(self.heads())
            self._nonprojective = frozenset(word for word, degree in enumerate(degrees) if degree)
        return self._nonprojective

    def check_heads_written(self) -> None:
        """Raise a FormatError if a head is neither a number nor "_"; whether they form a tree is not checked."""
        if -1 in self._heads[1:]:
            raise self._head_error(self._heads, self._heads.index(-1, 1))

    def heads_given(self) -> "array[int]":
        """Return the heads indexed by node, a negative number where there is "_"; to be read only.

        An error says where a head is not a number, or where heads cannot become a tree, whatever the others are.
        """
        self.check_heads_written()
        whole = array("i", [-1, *(max(head, 0) for head in self._heads[1:])])
        word = measures.offender(whole)
        if word:
            raise self._head_error(whole, word)
        return self._heads

    def with_tree(self, tree: Tree) -> "Sentence":
        """Return a copy in which HEAD and DEPREL are those of ``tree``; the rest stays byte for byte, DEPS too."""
        n = len(self)
        if len(tree) != n:
            raise self._error(TreeError, None, f"the tree has {len(tree)} words; it should have {n} as the sentence")
        labels = [_LABELS.get(label, b"") for label in tree.labels[1:]]
        if not all(labels):
            labels = self._checked_labels(tree.labels)
        heads = [_HEADS[head] if head < len(_HEADS) else b"%d\t" % head for head in tree.heads[1:]]
        copy = self._changed(with_arcs(self._data, self.spans, heads, labels))
        copy._heads = tree.heads[:]
        copy._heads_are_a_tree = True
        return copy

    def _checked_labels(self, labels: Sequence[str]) -> list[bytes]:
        """Return the bytes of labels, given by node, that are not all known to fit into a column."""
        for number, label in enumerate(labels[1:], 1):
            if label and not any(c in label for c in "\t\r\n"):
                if len(_LABELS) < MOST_KEPT and len(label) <= LONGEST_KEPT:
                    _LABELS[label] = label.encode()
            elif label != self.deprels[number - 1]:
                problem = f"label {label!r} of word {number} is no column; it should be a text without tab or newline"
                raise self._error(TreeError, number, problem)
        return [label.encode() for label in labels[1:]]

    def with_columns(
        self, lemmas: Sequence[str], upos: Sequence[str], xpos: Sequence[str], feats: Sequence[str]
    ) -> "Sentence":
        """Return a copy with other lemmas, tags and features; the rest stays byte for byte."""
        parts: list[bytes] = []
        start = 0
        for number, columns in enumerate(zip(self.forms, lemmas, upos, xpos, feats, strict=True)):
            text = "\t".join(columns)
            if "" in columns or text.count("\t") != 4 or "\n" in text or "\r" in text:
                raise self._error(FormatError, number + 1, f"{columns} should be texts without tab or newline")
            begin, end = (self.spans[SPAN_FIELDS * number + field] for field in (SPAN_FORM, SPAN_HEAD))
            parts += [self._data[start:begin], text.encode(), b"\t"]
            start = end
        return self._changed(b"".join([*parts, self._data[start:]]))

    def with_misc(self, key: str, values: Sequence[str]) -> "Sentence":
        """Return a copy in which the last column of each word has ``key=value``, in place of an older one."""
        return self._with_misc(key, [f"{key}={value}" for value in values])

    def without_misc(self, key: str) -> "Sentence":
        """Return a copy in which the last column of no word has a value for ``key``."""
        return self._with_misc(key, [""] * len(self)) if any(f"{key}=" in misc for misc in self.misc) else self

    def _with_misc(self, key: str, parts: Sequence[str]) -> "Sentence":
        lines = self.lines
        for old, new, place in zip(self.misc, parts, self.places, strict=True):
            kept = [part for part in old.split("|") if part != "_" and not part.startswith(f"{key}=")]
            column = "|".join([*kept, *([new] if new else [])]) or "_"
            before, _, last = lines[place].rpartition("\t")
            lines[place] = f"{before}\t{column}{last[len(last.rstrip(BLANK)) :]}"
        return self._changed("\n".join(lines).encode())

    def with_comments(self, comments: Sequence[str]) -> "Sentence":
        """Return a copy with these lines, each beginning with #, above all others."""
        lines = self.to_text().removeprefix("\ufeff").split("\n")
        first = next(i for i, line in enumerate(lines) if line.strip(BLANK))
        end = "\r" if lines[first].endswith("\r") else ""
        lines[first:first] = [f"{comment}{end}" for comment in comments]
        mark = BOM if self._data.startswith(BOM) else b""
        return self._changed(mark + "\n".join(lines).encode())

    def _changed(self, data: bytes) -> "Sentence":
        copy = Sentence(data, heads=self._heads, file=self.file, line=self.line, format=self.format)
        copy._heads_are_a_tree = self._heads_are_a_tree
        return copy

    def to_bytes(self) -> bytes:
        """Return the exact bytes of the block, as in the file."""
        return self._data

    def to_text(self) -> str:
        """Return the exact text of the block."""
        return self._data.decode()

    def _head_error(self, heads: Sequence[int], word: int) -> LocatedError:
        """Say what is wrong with the head of ``word``, in the words of the file."""
        text = self.words[word - 1][HEAD]
        n = len(self)
        if heads[word] > n:
            return self._error(
                TreeError, word, f"word {word} has head {text}, which does not exist; heads go from 0 (the root) to {n}"
            )
        if heads[word] >= 0:
            return self._error(TreeError, word, describe_problem(heads, word))
        if text == "_":
            return self._error(
                TreeError, word, f'word {word} has no head; a number from 0 (the root) to {n} should stand for "_"'
            )
        return self._error(
            FormatError,
            word,
            f"the head of word {word} is {text!r}; it should be a number from 0 (the root) to {n}, in digits only",
        )

    def _error(self, kind: type[LocatedError], word: int | None, problem: str) -> LocatedError:
        line = self.line if word is None else self.line_of(word)
        return kind(problem, file=self.file, line=line, sent_id=self.sent_id)

    def located(self, error: Error) -> Error:
        """Return an error of the same kind that says where this sentence is; the error itself if it says so already."""
        return located(error, file=self.file, line=self.line, sent_id=self.sent_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as plain data for JSON: words by their numbers; what is not known is left out."""
        from tanglewood.treebank.record import sentence_dict

        return sentence_dict(self)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per word, all with the same keys, for tables and data frames."""
        from tanglewood.treebank.record import sentence_rows

        return sentence_rows(self)

    def draw(
        self,
        *,
        width: int | None = None,
        tags: bool = False,
        other: "Tree | Sentence | None" = None,
        title: str | None = None,
        names: tuple[str, str] = ("first", "second"),
    ) -> "Drawing":
        """Return a drawing of the tree, which shows itself in terminals and notebooks and can be saved.

        A drawing wider than ``width`` (columns in the terminal, pixels in pictures; 0: no limit) is broken into lines.
        ``other`` is a second analysis of the same words to compare with; ``names`` are what the two are called.
        """
        from tanglewood.show.drawing import draw_sentences

        others = None if other is None else [other]
        return draw_sentences([self], width=width, tags=tags, others=others, title=title, names=names)

    def _repr_svg_(self) -> str | None:
        try:
            return self.draw(tags=True)._repr_svg_()
        except LocatedError:
            return None  # no tree to draw; a notebook then shows the repr


def _restored(data: bytes, file: str | None, line: int, format: str, is_tree: bool) -> Sentence:  # noqa: A002
    sentence = Sentence(data, file=file, line=line, format=format)
    sentence._heads_are_a_tree = is_tree
    return sentence
