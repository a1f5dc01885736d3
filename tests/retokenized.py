"""Several analyses of one text: the same characters in other tokens, words, sentences and trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from tanglewood.treebank.ranges import multiword_ranges
from tanglewood.treebank.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, UPOS, XPOS, Sentence

LABELS = ("nsubj", "obj", "obl", "obl:x", "det", "case", "aux", "aux:pass", "punct", "flat", "x")
FEATURES = ("_", "Number=Sing", "Number=Plur|Case=Nom", "Case=Nom|Number=Plur", "Own=Yes", "Number=Sing|Own=Yes")
SPACES = (" ", "\xa0", "\u3000")


@dataclass(eq=False)
class Word:
    """A word by its ten columns, and the word that is its head; if it is gone, what has taken its place."""

    row: list[str]
    head: Word | None = None
    replaced: Word | None = None


@dataclass(eq=False)
class Token:
    """A token of the surface; a multiword token may have a single word."""

    surface: str
    words: list[Word]
    multiword: bool = False
    ends: bool = False  # a sentence


def invented(rng: Random, characters: str, alphabet: str = "") -> list[Token]:
    """Return a random analysis of the characters.

    Words of multiword tokens are made of the alphabet; without one they are parts of their token.
    """
    tokens = []
    while characters:
        size = rng.randint(1, 3)
        surface, characters = characters[:size], characters[size:]
        forms, multiword = [surface], rng.random() < 0.3
        if multiword and alphabet:
            forms = ["".join(rng.choices(alphabet, k=rng.randint(1, 2))) for _ in range(rng.randint(1, 3))]
        elif multiword:
            place = rng.randrange(len(surface))
            forms = [rng.choice((part, part.upper())) for part in (surface[:place], surface[place:]) if part]
        elif rng.random() < 0.1:
            forms = [rng.choice(SPACES).join(surface) + rng.choice(SPACES)]
        words = [Word(_invented_row(rng, form)) for form in forms]
        tokens.append(Token(surface, words, multiword, rng.random() < 0.3))
    words = [word for token in tokens for word in token.words]
    for word in words:
        word.head = rng.choice(words)
    return tokens


def _invented_row(rng: Random, form: str) -> list[str]:
    tags = (rng.choice("_ab"), rng.choice("NV"), rng.choice("_x"), rng.choice(FEATURES))
    return ["", form, *tags, "", rng.choice(LABELS), "_", "_"]


def analysed(sentences: Iterable[Sentence]) -> list[Token]:
    """Return the tokens of a treebank."""
    tokens: list[Token] = []
    for sentence in sentences:
        words = [Word([*row[:8], "_", "_"]) for row in sentence.words]
        for word, head in zip(words, sentence.heads()[1:], strict=True):
            word.head = words[head - 1] if head else None
        found = [Token(word.row[FORM], [word]) for word in words]
        for low, high, form, _ in reversed(list(multiword_ranges(sentence))):
            found[low - 1 : high] = [Token(form, words[low - 1 : high], multiword=True)]
        found[-1].ends = True
        tokens += found
    return tokens


def retokenized(rng: Random, tokens: Sequence[Token], rate: float) -> list[Token]:
    """Return other tokens, words and sentences for the same text; most are as they were."""
    left = changed(rng, tokens, rate)[::-1]
    found: list[Token] = []
    while left:
        token = left.pop()
        first, *others = token.words
        kind = rng.choice(("join", "split", "more", "fewer")) if rng.random() < rate else ""
        if kind == "join" and left:
            following = left.pop()
            token.surface += following.surface
            token.ends = following.ends
            others += following.words
        if kind == "split" and len(token.surface) > 1:
            place = rng.randrange(1, len(token.surface))
            rest = Word(first.row[:], first)
            left.append(Token(token.surface[place:], [rest], ends=token.ends))
            token = Token(token.surface[:place], [first])
            rest.row[FORM] = left[-1].surface
        if kind in {"join", "split", "fewer"}:
            for word in others:
                word.replaced = first
            token.words, token.multiword = [first], False
            first.row[FORM] = token.surface
        if kind == "more":
            rest = Word(first.row[:], first)
            rest.row[FORM] = rng.choice((token.surface, token.surface[-1], first.row[FORM].upper()))
            token.words, token.multiword = [*token.words, rest], True
        if rng.random() < rate / 2:
            token.ends = not token.ends
        found.append(token)
    return found


def changed(rng: Random, tokens: Sequence[Token], rate: float) -> list[Token]:
    """Return the same tokens and words with some other heads, labels, tags, features and lemmas."""
    words = [word for token in tokens for word in token.words]
    copies = {word: Word(word.row[:]) for word in words}
    for place, word in enumerate(words):
        near = words[max(place - 5, 0) : place + 6]
        copies[word].head = copies[rng.choice(near)] if rng.random() < rate else word.head and copies[word.head]
        for column in (LEMMA, UPOS, XPOS, FEATS, DEPREL):
            if rng.random() < rate:
                copies[word].row[column] = rng.choice(near).row[column]
    return [
        Token(token.surface, [copies[word] for word in token.words], token.multiword, token.ends) for token in tokens
    ]


def conllu(tokens: Sequence[Token]) -> bytes:
    """Return the tokens as a file; where the heads are no tree with a single root, they are made one."""
    lines: list[str] = []
    sentence: list[Token] = []
    for number, token in enumerate(tokens, 1):
        sentence.append(token)
        if token.ends or number == len(tokens):
            lines += [*_lines(sentence), ""]
            sentence = []
    return "\n".join([*lines, ""]).encode()


def _lines(tokens: Sequence[Token]) -> list[str]:
    words = [word for token in tokens for word in token.words]
    for word, head in zip(words, _single_rooted([_head(words, word) for word in words]), strict=True):
        word.row[HEAD] = str(head)
    lines = []
    number = 0
    for token in tokens:
        if token.multiword:
            lines.append("\t".join([f"{number + 1}-{number + len(token.words)}", token.surface, *["_"] * 8]))
        for word in token.words:
            number += 1
            word.row[ID] = str(number)
            lines.append("\t".join(word.row))
    return lines


def _head(words: Sequence[Word], word: Word) -> int:
    head = word.head
    while head is not None and head.replaced is not None:
        head = head.replaced
    return words.index(head) + 1 if head in words else 0


def _single_rooted(heads: list[int]) -> list[int]:
    """Hang every word that does not lead to the first root below that, which is the first word if there is none."""
    root = heads.index(0) + 1 if 0 in heads else 1
    heads = [head or root for head in heads]
    heads[root - 1] = 0
    for word in range(1, len(heads) + 1):
        node = word
        for _ in heads:
            node = heads[node - 1] if node else 0
        if node:  # it leads into a cycle
            heads[word - 1] = root
    return heads
