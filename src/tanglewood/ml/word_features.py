"""The features of a word, for all learners and taggers: a table of functions of the word's columns.

The linear learners hash the values, the network and the tagger embed them. A new feature is one entry of FEATURES, and
those that look at it name it: linear templates as an attribute (word_table.COLUMNS), networks in a table of widths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tanglewood.ml.words import Word
from tanglewood.treebank.memo import Memo

ANY = -1  # a feature may have any number of values
MOST_LETTERS = 24  # of a form that count for its shape and its pieces, half of them at either end


class WordFeature(NamedTuple):
    """A feature's values for a word: one (``several`` is 0), ``several``, or ANY number of them, but never none."""

    values: Callable[[Word], list[str]]
    several: int = 0


def affixes(form: str) -> list[str]:
    """Suffixes of 2, 3 and 4 characters and prefixes of 2 and 3."""
    return [f"-{form[-2:]}", f"-{form[-3:]}", f"-{form[-4:]}", f"{form[:2]}-", f"{form[:3]}-"]


def shape_of(form: str) -> str:
    """Capitals, lowercase letters, digits and other characters as X, x, 0 and themselves, repetitions left out."""
    shape = ""
    for character in form:
        kind = "X" if character.isupper() else "x" if character.isalpha() else "0" if character.isdigit() else character
        if not shape.endswith(kind):
            shape += kind
    return shape


def pieces(lower: str) -> list[str]:
    """Return all substrings of three to five characters of a word, its ends marked."""
    marked = f"<{lower.replace('|', '/')}>"
    if len(marked) > MOST_LETTERS:
        marked = marked[: MOST_LETTERS // 2] + "…" + marked[-MOST_LETTERS // 2 :]
    return list(dict.fromkeys(marked[i : i + size] for size in (3, 4, 5) for i in range(len(marked) - size + 1))) or [
        "_"
    ]


_PIECES = Memo(pieces, 128 << 20, lambda found: 100 * len(found))

FEATURES: dict[str, WordFeature] = {
    "form": WordFeature(lambda word: [word[0]]),
    "lower": WordFeature(lambda word: [word[0].lower()]),
    "lemma": WordFeature(lambda word: [word[1]]),
    "upos": WordFeature(lambda word: [word[2]]),
    "xpos": WordFeature(lambda word: [word[3]]),
    "feats": WordFeature(lambda word: word[4].split("|"), ANY),
    "prefix2": WordFeature(lambda word: [word[0].lower()[:2]]),
    "prefix3": WordFeature(lambda word: [word[0].lower()[:3]]),
    "suffix2": WordFeature(lambda word: [word[0].lower()[-2:]]),
    "suffix3": WordFeature(lambda word: [word[0].lower()[-3:]]),
    "suffix4": WordFeature(lambda word: [word[0].lower()[-4:]]),
    "affixes": WordFeature(lambda word: affixes(word[0].lower()), 5),
    "shape": WordFeature(lambda word: [shape_of(word[0])]),
    "short_shape": WordFeature(lambda word: [shape_of(word[0][:MOST_LETTERS])]),
    "last": WordFeature(lambda word: [word[0][-1].lower()]),
    "pieces": WordFeature(lambda word: _PIECES[word[0].lower()], ANY),
}
