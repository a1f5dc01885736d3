"""Raw text and where its tokens are: what a tokenizer returns and, restored from a treebank, what it learns from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from tanglewood.errors import FormatError
from tanglewood.treebank.ranges import multiword_ranges
from tanglewood.treebank.sentence import FORM, MISC, Sentence

BREAK = "\n\n"  # between paragraphs
ESCAPES = {"\\s": " ", "\\t": "\t", "\\r": "\r", "\\n": "\n", "\\p": "|", "\\\\": "\\"}
ESCAPE = re.compile(r"\\.")
NEW = re.compile(r"(newpar|newdoc)\b")


class Token(NamedTuple):
    """A surface token: a word, or a multiword token. ``start`` and ``end`` count characters of the text."""

    start: int
    end: int
    words: tuple[str, ...]  # the text itself for a word, the several words of a multiword token


@dataclass(frozen=True, slots=True)
class GoldText:
    """The text of a treebank, and its sentences, each a list of tokens."""

    text: str
    sentences: list[list[Token]]


def gold_text(sentences: Iterable[Sentence], *, apart: bool = False) -> GoldText:
    """Return the raw text of a treebank, as that of the CoNLL 2018 shared task was made.

    ``SpaceAfter=No`` and ``SpacesAfter`` are followed where they are given, a blank line comes where a document or
    paragraph begins, and a space between everything else; with ``apart`` there is a gap between all sentences. Offsets
    count from the beginning of the whole text.
    """
    parts: list[str] = []
    size = 0
    gap = ""  # what comes before the next token
    found = []
    for sentence in sentences:
        if parts and any(NEW.match(comment) for comment in sentence.comments):
            gap = BREAK
        elif parts and apart:
            gap = gap or " "
        tokens = []
        for surface, words, after in surface_tokens(sentence):
            start = size + len(gap)
            size = start + len(surface)
            parts += (gap, surface)
            tokens.append(Token(start, size, words))
            gap = after
        found.append(tokens)
    return GoldText("".join(parts), found)


def training_text(sentences: Sequence[Sentence]) -> GoldText:
    """Return the raw text to learn from: in some treebanks no sentence is followed by a space, though words are."""
    gold = gold_text(sentences)
    tokens = glued = glued_sentences = 0
    for sentence, following in pairwise(gold.sentences):
        tokens += len(sentence) - 1
        glued += sum(one.end == other.start for one, other in pairwise(sentence))
        glued_sentences += sentence[-1].end == following[0].start
    if 2 * glued_sentences > len(gold.sentences) and 2 * glued < tokens:
        return gold_text(sentences, apart=True)
    return gold


def surface_tokens(sentence: Sentence) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the surface of each token, its words, and the white space after it."""
    words = sentence.words
    done = 0
    space = partial(_space, sentence)
    for low, high, surface, misc in (*multiword_ranges(sentence), (len(words) + 1, len(words), "", "")):
        for word in words[done : low - 1]:
            yield word[FORM], (word[FORM],), space(word[MISC])
        if surface:
            yield surface, tuple(word[FORM] for word in words[low - 1 : high]), space(misc)
        done = high


def _space(sentence: Sentence, misc: str) -> str:
    for part in misc.split("|"):
        if part == "SpaceAfter=No":
            return ""
        if part.startswith("SpacesAfter="):
            space = ESCAPE.sub(lambda match: ESCAPES.get(match[0], match[0]), part.removeprefix("SpacesAfter="))
            if space.strip():
                problem = f"{part!r} is no white space; it should be made of \\s, \\t, \\r and \\n"
                raise sentence.located(FormatError(problem))
            return space
    return " "
