"""Sentence: the words of one block of a CoNLL file, and its raw lines for an exact round trip."""

import re
from array import array
from collections.abc import Iterable, Sequence

from tanglewood.errors import FormatError, LocatedError, TreeError
from tanglewood.treebank import measures
from tanglewood.treebank.tree import Tree, describe_problem

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
BLANK = " \t\r\n\x0b\x0c"  # what bytes.isspace() takes for white space
TOO_LARGE = 2**31 - 1


class Numbers(dict[str, int]):
    """Maps the decimal numbers "0", "1", ... to int and any other text to -1: no sign, space or leading zero."""

    def __missing__(self, text: str) -> int:
        if not (text.isascii() and text.isdigit()) or (text[0] == "0" and text != "0"):
            return -1
        return int(text) if len(text) < 10 else TOO_LARGE


NUMBERS = Numbers({str(number): number for number in range(1000)})


def comment_value(lines: Iterable[str], key: str) -> str | None:
    """Return the value of the first comment ``# key = value``, or None."""
    pattern = re.compile(rf"\ufeff?#\s*{re.escape(key)}\s*=\s*(.*?)\s*")
    for line in lines:
        if line.startswith(("#", "\ufeff#")):
            match = pattern.fullmatch(line)
            if match:
                return match[1]
        elif line.strip(BLANK + "\ufeff"):
            break  # comments stand above the words only
    return None


class Sentence:
    """One sentence of a CoNLL-U or CoNLL-X file.

    ``lines`` are the raw lines of its block, with the blank lines around it, a byte order mark and carriage returns
    if there are any; joined by newlines they are the exact text, and the texts of all sentences the whole file.
    ``words`` are the ten columns of each word, ranges and empty nodes left out; ``places`` the index in ``lines`` of
    each. ``line`` is the number in ``file`` of the first comment or word, ``format`` "conllu" or "conllx".
    Lines and words are for reading; :meth:`with_tree` gives a changed copy.
    """

    __slots__ = ("_heads", "file", "format", "line", "lines", "places", "words")

    def __init__(
        self,
        lines: list[str],
        words: list[tuple[str, ...]],
        places: Sequence[int],
        *,
        file: str | None = None,
        line: int = 1,
        format: str = "conllu",  # noqa: A002 - the word for it
    ) -> None:
        self.lines = lines
        self.words = words
        self.places = places
        self.file = file
        self.line = line
        self.format = format
        self._heads: array[int] | None = None

    @classmethod
    def build(cls, words: Iterable[Sequence[str]], comments: Iterable[str] = (), format: str = "conllu") -> "Sentence":  # noqa: A002
        """Make a sentence of the ten columns of each word, below comments without their "# "."""
        rows = [tuple(word) for word in words]
        lines = [f"# {comment}" for comment in comments]
        places = range(len(lines), len(lines) + len(rows))
        lines += ["\t".join(row) for row in rows]
        for number, (row, line) in enumerate(zip(rows, lines[len(lines) - len(rows) :], strict=True), 1):
            if len(row) != 10 or line.count("\t") != 9 or "" in row or row[ID] != str(number):
                raise FormatError(
                    f"{row} is not word {number}; it should be ten texts, the first {number}, without tabs"
                )
        if any("\n" in line or "\r" in line for line in lines):
            raise FormatError("neither a comment nor a column should hold a line break")
        return cls([*lines, "", ""], rows, places, format=format)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        name = self.sent_id
        start = " ".join(self.forms[:8]) + (" ..." if len(self) > 8 else "")
        return f"<Sentence{'' if name is None else ' ' + name}: {start}>"

    @property
    def comments(self) -> list[str]:
        """The comments, without "#" and the white space around them."""
        found = (line.removeprefix("\ufeff") for line in self.lines)
        return [line[1:].strip() for line in found if line.startswith("#")]

    @property
    def sent_id(self) -> str | None:
        """The value of the comment ``# sent_id = ...``, or None."""
        return comment_value(self.lines, "sent_id")

    @property
    def text(self) -> str | None:
        """The value of the comment ``# text = ...``, or None."""
        return comment_value(self.lines, "text")

    def column(self, index: int) -> list[str]:
        """Return one column of all words, counted from 0."""
        return [word[index] for word in self.words]

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
        """The labels as they stand in the file."""
        return self.column(DEPREL)

    @property
    def misc(self) -> list[str]:
        """The tenth column: MISC, in CoNLL-X the label in the projective tree."""
        return self.column(MISC)

    def line_of(self, word: int) -> int:
        """Return the number in the file of the line of ``word``, 1..n."""
        first = next((i for i, line in enumerate(self.lines) if line.strip(BLANK + "\ufeff")), 0)
        return self.line + self.places[word - 1] - first

    def heads(self) -> "array[int]":
        """Return the heads indexed by node, -1 at index 0, checked once and to be read only."""
        if self._heads is None:
            heads = array("i", [-1, *[NUMBERS[word[HEAD]] for word in self.words]])
            word = measures.offender(heads)
            if word:
                raise self._head_error(heads, word)
            self._heads = heads
        return self._heads

    def tree(self) -> Tree:
        """Return the tree of the sentence; a TreeError says where the heads are missing or form none."""
        return Tree._checked(self.heads()[:], ["", *[word[DEPREL] for word in self.words]])

    def check_heads_written(self) -> None:
        """Raise a FormatError if a head is neither a number nor "_"; whether they form a tree is not asked."""
        for number, word in enumerate(self.words, 1):
            if NUMBERS[word[HEAD]] < 0 and word[HEAD] != "_":
                raise self._head_error([-1] * (number + 1), number)

    def with_tree(self, tree: Tree) -> "Sentence":
        """Return a copy in which HEAD and DEPREL are those of ``tree``; all else stays byte for byte, DEPS too."""
        if len(tree) != len(self):
            raise self._error(
                TreeError, None, f"the tree has {len(tree)} words; it should have {len(self)} as the sentence"
            )
        lines, words = self.lines[:], self.words[:]
        for number, (old, head, label, place) in enumerate(
            zip(self.words, tree.heads[1:], tree.labels[1:], self.places, strict=True), 1
        ):
            if old[DEPREL] == label and NUMBERS[old[HEAD]] == head:
                continue
            if not label or any(c in label for c in "\t\r\n"):
                problem = f"label {label!r} of word {number} is no column; it should be a text without tab or newline"
                raise self._error(TreeError, number, problem)
            new = [str(head), label]
            words[number - 1] = (*old[:HEAD], *new, *old[DEPS:])
            columns = lines[place].split("\t")
            columns[HEAD:DEPS] = new
            lines[place] = "\t".join(columns)
        copy = Sentence(lines, words, self.places, file=self.file, line=self.line, format=self.format)
        copy._heads = tree.heads[:]
        return copy

    def with_misc(self, key: str, values: Sequence[str]) -> "Sentence":
        """Return a copy in which the last column of each word has ``key=value``, in place of an older one."""
        lines, words = self.lines[:], self.words[:]
        for number, (old, value, place) in enumerate(zip(self.words, values, self.places, strict=True)):
            kept = [part for part in old[MISC].split("|") if part != "_" and not part.startswith(f"{key}=")]
            column = "|".join([*kept, f"{key}={value}"])
            words[number] = (*old[:MISC], column)
            before, _, last = lines[place].rpartition("\t")
            lines[place] = f"{before}\t{column}{last[len(last.rstrip(BLANK)) :]}"
        return self._changed(lines, words, self.places)

    def with_comments(self, comments: Sequence[str]) -> "Sentence":
        """Return a copy with these lines, each beginning with #, above all others."""
        first = next(i for i, line in enumerate(self.lines) if line.strip(BLANK))
        end = "\r" if self.lines[first].endswith("\r") else ""
        lines = [*self.lines[:first], *(f"{comment}{end}" for comment in comments), *self.lines[first:]]
        return self._changed(lines, self.words, [place + len(comments) for place in self.places])

    def _changed(self, lines: list[str], words: list[tuple[str, ...]], places: Sequence[int]) -> "Sentence":
        copy = Sentence(lines, words, places, file=self.file, line=self.line, format=self.format)
        copy._heads = self._heads
        return copy

    def to_text(self) -> str:
        """Return the exact text of the block."""
        return "\n".join(self.lines)

    def _head_error(self, heads: Sequence[int], word: int) -> LocatedError:
        """Say what is wrong with the head of ``word``, in the words of the file."""
        text = self.words[word - 1][HEAD]
        n = len(self)
        if heads[word] == TOO_LARGE:
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

    def _repr_svg_(self) -> str | None:
        from tanglewood.show import svg

        try:
            return svg.draw(self.tree(), self.forms, tags=self.upos)
        except LocatedError:
            return None  # no tree to draw; a notebook then shows the repr
