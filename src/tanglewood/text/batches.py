"""Batches of sentences that are parsed together; each kind of batch turns itself into tagged sentences.

A batch has one method, ``tagged(tagging)``. Blocks of a treebank file have it too (treebank/conllu.py). The tagging is
asked for the tags of forms where there are none, or to fill in the columns of sentences that already exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol

from tanglewood.errors import ArgumentError, FormatError, LocatedError, given
from tanglewood.text.raw import Token
from tanglewood.text.tagger import Tags
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import with_candidates

CHUNK_LETTERS = 1 << 16
MOST_TEXTS, MOST_LETTERS = 256, 1 << 14  # of texts that are parsed together: their number and length
SHAPE = '[["You", "do"], ["Yes"]]'  # an example of words that are already split
Item = Sentence | LocatedError


class Tagging(Protocol):
    """Gives words their tags."""

    def tags_of(self, forms: Sequence[Sequence[str]]) -> list[list[Tags]]:
        """Return the tags of the forms of some sentences."""

    def filled(self, items: Sequence[Item]) -> list[Item]:
        """Return sentences and errors; the sentences have tags filled in if that was asked for."""


class Batch(Protocol):
    """Some sentences, perhaps still to be made from text, words or bytes."""

    def tagged(self, tagging: Tagging) -> Sequence[Item]:
        """Return the sentences with their tags, and the errors of those that cannot be read."""


class Piece(NamedTuple):
    """Some sentences of a text: the part of the text they are in, their tokens, and where that part begins.

    ``number`` is that of the first of the sentences, and ``prefix`` stands before the numbers. ``document`` is the name
    of the text, and ``comments`` are further ones on it, if they are its first sentences.
    """

    text: str
    sentences: Sequence[Sequence[Token]]
    begin: int
    number: int
    document: str = ""
    prefix: str = ""
    comments: tuple[str, ...] = ()

    def tagged(self, tagging: Tagging) -> Sequence[Item]:
        """Return the sentences with their tags."""
        return Pieces([self]).tagged(tagging)


class Pieces(NamedTuple):
    """Sentences of several texts."""

    pieces: Sequence[Piece]

    def tagged(self, tagging: Tagging) -> Sequence[Item]:
        """Return the sentences with their tags."""
        found = [(piece, place, tokens) for piece in self.pieces for place, tokens in enumerate(piece.sentences)]
        tagged = tagging.tags_of([[word for token in tokens for word in token.words] for _, _, tokens in found])
        return [_of_tokens(*sentence, tags) for sentence, tags in zip(found, tagged, strict=True)]


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences of words that were split elsewhere; ``number`` is that of the first of them."""

    sentences: Sequence[Sequence[str]]
    number: int = 1

    def tagged(self, tagging: Tagging) -> Sequence[Item]:
        """Return the sentences with their tags."""
        tagged = tagging.tags_of(self.sentences)
        return [_of_words(*found) for found in zip(self.sentences, tagged, range(self.number, 1 << 62), strict=False)]


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences that are ready-made."""

    sentences: Sequence[Sentence]

    def tagged(self, tagging: Tagging) -> Sequence[Item]:
        """Return the sentences, with tags filled in if that was asked for."""
        return tagging.filled(self.sentences)


def with_tags(sentence: Sentence, tags: Sequence[Tags], *, replaced: bool = False) -> Sentence:
    """Return a copy with these tags in empty columns or, with ``replaced``, in all four.

    Candidates, if the tags have any, go to MISC.
    """
    sentence = _with_candidates(sentence, tags)
    old = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
    empty = [replaced or all(value == "_" for value in column) for column in old]
    if not any(empty):
        return sentence
    columns = [[str(tag[i]) for tag in tags] if empty[i] else column for i, column in enumerate(old)]
    return sentence.with_columns(*columns)


def _with_candidates(sentence: Sentence, tags: Sequence[Tags]) -> Sentence:
    """Return a copy with the tagger's candidates in MISC, or the sentence itself if there are none."""
    return with_candidates(sentence, [tag.choices for tag in tags]) if tags and tags[0].choices else sentence


def _of_tokens(piece: Piece, place: int, tokens: Sequence[Token], tags: Sequence[Tags]) -> Sentence:
    """Write a sentence in CoNLL-U: its text, its tokens and where they are in the text, its words and their tags."""
    text, begin = piece.text, piece.begin
    lines: list[str] = []
    surface: list[str] = []
    number = 0
    for token in tokens:
        form = text[token.start : token.end]
        misc = f"TokenRange={begin + token.start}:{begin + token.end}"
        surface.append(form)
        if text[token.end : token.end + 1].strip():
            misc = f"SpaceAfter=No|{misc}"
        else:
            surface.append(" ")
        if len(token.words) > 1:
            end = number + len(token.words)
            lines.append(f"{number + 1}-{end}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            misc = "_"
        for word in token.words:
            lemma, upos, xpos, feats = tags[number][:4]
            number += 1
            lines.append(f"{number}\t{word}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t{misc}")
    top = [f"# newdoc id = {piece.document}"] if piece.document and place == 0 else []
    top += [f"# {comment}" for comment in piece.comments if place == 0]
    top += [f"# sent_id = {piece.prefix}{piece.number + place}", f"# text = {''.join(surface).strip()}"]
    return _with_candidates(Sentence("\n".join([*top, *lines, "", ""]).encode()), tags)


def _of_words(words: Sequence[str], tags: Sequence[Tags], number: int) -> Sentence:
    """Write a sentence in CoNLL-U: its words and their tags, its text as if there were spaces between all words."""
    lines = [f"# sent_id = {number}", f"# text = {' '.join(words)}"]
    for place, (word, (lemma, upos, xpos, feats, _)) in enumerate(zip(words, tags, strict=True), 1):
        lines.append(f"{place}\t{word}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t_")
    return _with_candidates(Sentence("\n".join([*lines, "", ""]).encode()), tags)


def in_comment(text: str) -> str:
    """Return text as it fits into a comment, on one line."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def pieces(
    tokenizer: Tokenizer,
    texts: Iterable[str],
    *,
    document: str = "",
    number: int = 1,
    sentences: str = "model",
    begin: int = 0,
) -> Iterator[Piece]:
    """Yield the sentences of a text that comes in pieces, about as many at a time as are parsed together.

    Sentences are counted from ``number`` on; the first one says that the ``document`` begins, if it has a name.
    ``sentences`` says what ends them, as in ParseOptions. The text is that from character ``begin`` of its file on.
    """
    document = in_comment(document)
    chunks = _cut(texts)
    by_line = sentences == "lines"
    for text, found in _line_by_line(tokenizer, chunks) if by_line else tokenizer.stream(chunks, sentences):
        for some in in_chunks(found):
            yield Piece(text, some, begin, number, document)
            number += len(some)
            document = ""
        begin += len(text)


def _cut(texts: Iterable[str]) -> Iterator[str]:
    """Cut long texts; half a surrogate pair, which no file can hold, becomes a question mark."""
    for whole in texts:
        text = whole.encode("utf-8", "replace").decode()
        for begin in range(0, len(text), CHUNK_LETTERS):
            yield text[begin : begin + CHUNK_LETTERS]


def _line_by_line(tokenizer: Tokenizer, chunks: Iterable[str]) -> Iterator[tuple[str, list[list[Token]]]]:
    """Yield texts of whole lines, and the tokens of each line that has any."""
    rest = ""
    for chunk in chain(chunks, ["\n"]):
        text, newline, last = chunk.rpartition("\n")
        if not newline:
            rest += chunk
            continue
        text, rest = rest + text + newline, last
        sentences = []
        begin = 0
        for line in text.split("\n"):
            found = chain.from_iterable(tokenizer.tokenize(line, "blank-lines"))
            sentences.append([Token(t.start + begin, t.end + begin, t.words) for t in found])
            begin += len(line) + 1
        yield text, [tokens for tokens in sentences if tokens]


def paired(texts: Iterable[Any], *, as_tuples: bool) -> Iterator[tuple[str, Any]]:
    """Yield texts with their contexts, None if they come without; an ArgumentError says which one is not a text."""
    for number, item in enumerate(texts, 1):
        if as_tuples and not (isinstance(item, tuple | list) and len(item) == 2):
            raise ArgumentError(f"item {number} should be a pair (text, context), not {given(item)}")
        text, context = item if as_tuples else (item, None)
        if not isinstance(text, str):
            hint = "; as_tuples=True takes (text, context) pairs" if isinstance(text, tuple) else ""
            raise ArgumentError(f"text {number} should be a str, not {given(text)}{hint}")
        yield text, context


def by_size(pairs: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
    """Group texts that are parsed together; a long one is alone."""
    some: list[tuple[str, Any]] = []
    letters = 0
    for pair in pairs:
        some.append(pair)
        letters += len(pair[0])
        if letters >= MOST_LETTERS or len(some) >= MOST_TEXTS:
            yield some
            some, letters = [], 0
    if some:
        yield some


def checked_words(sentences: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield sentences of words; an ArgumentError or FormatError says which one is not a sentence."""
    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, str | bytes) or not isinstance(sentence, Iterable):
            raise ArgumentError(f"sentence {number} should be a list of words, as in {SHAPE}, not {given(sentence)}")
        words = list(sentence)
        for word in words:
            if not isinstance(word, str):
                raise ArgumentError(f"sentence {number}: each word should be a str, as in {SHAPE}, not {given(word)}")
            if not word.strip() or any(character in word for character in "\t\r\n"):
                raise FormatError(f"sentence {number}: a word should be a text without tab or newline, not {word!r}")
        if not words:
            raise FormatError(f"sentence {number} has no words")
        yield words
