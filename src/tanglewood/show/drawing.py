"""Drawing: trees as they are shown in terminals and notebooks, and saved in any format that draws."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from tanglewood.errors import ArgumentError, ConfigError, given
from tanglewood.files import Source
from tanglewood.show import LEAST_COLUMNS, LEAST_PIXELS, html
from tanglewood.show.formats import DRAWINGS, Look, save
from tanglewood.show.layout import check_lengths, clean
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree


class Drawing:
    """Drawings of one sentence or more: shown as characters when printed, as a picture in a notebook.

    ``text``, ``svg``, ``html``, ``tikz`` and ``png`` (bytes) are the drawing in these formats; svg and png hold one
    sentence.
    """

    __slots__ = ("look", "sentences")

    def __init__(self, sentences: Sequence[Sentence], look: Look) -> None:
        self.sentences = sentences
        self.look = look

    def _in(self, name: str, look: Look | None = None) -> bytes:
        return b"".join(DRAWINGS[name].write(self.sentences, look or self.look))

    @property
    def text(self) -> str:
        """The drawing in characters; no wider than the terminal if it is printed there and no width was given."""
        look = self.look
        if look.width is None and sys.stdout is not None and sys.stdout.isatty():
            look = replace(look, width=screen_width())
        return self._in("tree", look).decode().removesuffix("\n")

    @property
    def svg(self) -> str:
        """The drawing of one sentence as SVG."""
        return self._in("svg").decode()

    @property
    def html(self) -> str:
        """The drawing as a web page of its own."""
        return self._in("html").decode()

    @property
    def tikz(self) -> str:
        """The drawing for LaTeX."""
        return self._in("tikz").decode()

    @property
    def png(self) -> bytes:
        """The drawing of one sentence as the bytes of a PNG; needs the extra png."""
        return self._in("png")

    def save(self, target: Source, format: str | None = None) -> None:  # noqa: A002 - the word for it
        """Write the drawing to a file, in the format that its name ends in or that is named."""
        save(self.sentences, target, format, self.look, DRAWINGS)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__  # so that a terminal shows it without being asked to print

    def _shown(self) -> Look:
        """How it looks in a notebook, where a width in columns means nothing."""
        width = self.look.width
        narrow = width is not None and 0 < width < LEAST_PIXELS
        return replace(self.look, width=None) if narrow else self.look

    def _repr_svg_(self) -> str | None:
        return self._in("svg", self._shown()).decode() if len(self.sentences) == 1 else None

    def _repr_html_(self) -> str | None:
        if len(self.sentences) == 1:
            return None  # it is shown as SVG
        look = self._shown()
        return html.fragment(self.sentences, tags=look.tags, others=look.others, names=look.names)


def screen_width() -> int:
    """Return the width of the terminal in columns."""
    return max(LEAST_COLUMNS, shutil.get_terminal_size().columns)


def draw_sentences(
    sentences: Sequence[Sentence],
    *,
    width: int | None = None,
    tags: bool = False,
    others: Sequence[Tree | Sentence] | None = None,
    title: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Drawing:
    """Return the drawing of sentences; a TreeError says which one has no tree."""
    for sentence in sentences:
        sentence.heads()
    second = None
    if others is not None:
        second = [_second(sentence, other) for sentence, other in zip(sentences, others, strict=True)]
    return Drawing(sentences, Look(tags=tags, width=width, title=title, others=second, names=names))


def _second(sentence: Sentence, other: Tree | Sentence) -> Tree:
    """Return the tree to compare a sentence with."""
    if not isinstance(other, Tree | Sentence):
        raise ArgumentError(f"what a sentence is compared with should be a Tree or a Sentence, not {given(other)}")
    if len(other) != len(sentence):
        raise ConfigError(f"a tree of {len(other)} words cannot be compared with a sentence of {len(sentence)}")
    if isinstance(other, Tree):
        return other
    for number, (mine, theirs) in enumerate(zip(sentence.forms, other.forms, strict=True), 1):
        if mine != theirs:
            raise ConfigError(f"this is another sentence: word {number} is {theirs!r} there and {mine!r} here")
    return other.tree


def draw_tree(
    tree: Tree,
    forms: Sequence[str] | None = None,
    *,
    width: int | None = None,
    tags: Sequence[str] | None = None,
    other: Tree | None = None,
    title: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Drawing:
    """Return the drawing of a tree whose words, if they are given, may be any strings."""
    check_lengths(tree, forms=forms, tags=tags)
    words = [str(number) for number in range(1, len(tree) + 1)] if forms is None else forms
    marks = ["_"] * len(tree) if tags is None else tags
    rows = [
        (
            str(dependent),
            _fit(words[dependent - 1]),
            "_",
            _fit(marks[dependent - 1]),
            "_",
            "_",
            str(head),
            _fit(label),
            "_",
            "_",
        )
        for head, label, dependent in tree.arcs()
    ]
    title = title or (None if forms is None else " ".join(forms))
    others = None if other is None else [other]
    sentence = Sentence.build(rows)
    return draw_sentences([sentence], width=width, tags=tags is not None, others=others, title=title, names=names)


def _fit(text: str) -> str:
    """Return a text that a column can hold."""
    return clean(text) or "_"
