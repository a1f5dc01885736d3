"""Multiword tokens, such as "don't" and French "du": which tokens are several words, learnt from a treebank.

Tokens that were seen often enough are in a table. For the others there are endings and beginnings: "John's" is split
because most tokens that end in 's are, and each such affix says which words take its place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tanglewood.checks import FIELD, Field, check_settings
from tanglewood.errors import ModelError

LONGEST_AFFIX = 8
CONTEXT = 3  # characters of the stem that an affix may include
FEWEST_ENDING, FEWEST_BEGINNING = 2, 8  # different tokens that a rule must have been seen in
PRECISION = 0.7  # share of the tokens with the affix for which it must be right

FEWEST_UNSURE, LEAST_UNSURE = 3, 0.03  # how often, and in what share, a token must be split and unsplit to be unsure
PARTS = ("table", "endings", "beginnings", "unsure")

Words = tuple[str, ...]


class Multiword:
    """Splits tokens into words.

    ``table`` has the words of tokens in lowercase; ``endings`` what replaces an ending: the rest of the first word,
    then further words; ``beginnings`` are the same for tokens and words written backwards. ``unsure`` has the words of
    tokens that are only sometimes several words: the words around them decide.
    """

    def __init__(
        self,
        table: Mapping[str, Words],
        endings: Mapping[str, Words],
        beginnings: Mapping[str, Words],
        unsure: Mapping[str, Words],
    ) -> None:
        self.table = dict(table)
        self.endings = dict(endings)
        self.beginnings = dict(beginnings)
        self.unsure = dict(unsure)

    @classmethod
    def learn(cls, tokens: Iterable[tuple[str, Words]]) -> Multiword:
        """Learn from tokens and their words; a token is always taken to be what it is most of the time."""
        counts: defaultdict[str, Counter[Words]] = defaultdict(Counter)
        for surface, words in tokens:
            counts[_small(surface)][tuple(_small(word) for word in words)] += 1
        types = {lower: _most_frequent(found) for lower, found in counts.items()}
        if all(len(words) == 1 for found in counts.values() for words in found):
            return cls({}, {}, {}, {})
        unsure = {}
        for lower, found in counts.items():
            several = Counter({words: count for words, count in found.items() if len(words) > 1})
            total = found.total()
            if min(several.total(), total - several.total()) >= max(FEWEST_UNSURE, LEAST_UNSURE * total):
                unsure[lower] = _most_frequent(several)
        endings = _learn_endings(types, FEWEST_ENDING)
        reverse = {_reversed_text(lower): _backwards(words) for lower, words in types.items()}
        beginnings = _learn_endings(reverse, FEWEST_BEGINNING)
        rules = cls({}, endings, beginnings, {})
        table = {}
        for lower, words in types.items():
            wanted = words if len(words) > 1 else (lower,)
            if rules.split(lower) != wanted:
                table[lower] = wanted
        return cls(table, endings, beginnings, unsure)

    def is_unsure(self, surface: str) -> bool:
        """Whether the token is several words in some places and one in others."""
        return _small(surface) in self.unsure

    def several(self, surface: str) -> Words:
        """Return the words of an unsure token where it is several words."""
        lower = _small(surface)
        return _with_case(surface, lower, self.unsure[lower])

    def split(self, surface: str) -> Words:
        """Return the words of a token, or itself as the only one."""
        if not self.table and not self.endings and not self.beginnings:
            return (surface,)
        lower = _small(surface)
        words = self.table.get(lower)
        if words is None:
            words = _apply(self.endings, lower)
        if words is None and self.beginnings:
            backwards = _apply(self.beginnings, _reversed_text(lower))
            words = None if backwards is None else _backwards(backwards)
        if words is None or len(words) == 1:
            return (surface,)
        return _with_case(surface, lower, words)

    def settings(self) -> dict[str, Any]:
        """Return table and rules as plain data for JSON."""
        return {
            name: {key: list(words) for key, words in sorted(rules.items())}
            for name, rules in zip(PARTS, (self.table, self.endings, self.beginnings, self.unsure), strict=True)
        }

    @classmethod
    def load(cls, settings: Mapping[str, Mapping[str, Sequence[str]]]) -> Multiword:
        """Rebuild it from its settings."""
        affix = Field(empty=True)  # whose first word goes on from what comes before it
        shapes = {"table": [FIELD], "endings": [affix], "beginnings": [affix], "unsure": [FIELD]}
        check_settings(settings, {name: {str: shape} for name, shape in shapes.items()}, "multiword")
        for name in PARTS:
            if not all(words and all(words[1:]) for words in settings[name].values()):
                raise ModelError(f"multiword.{name} has a token without words, or with an empty one")
        return cls(*({key: tuple(words) for key, words in settings[name].items()} for name in PARTS))


def _most_frequent(found: Counter[Words]) -> Words:
    """Return the most frequent words; among equals the longest sequence."""
    return max(found.items(), key=lambda item: (item[1], len(item[0]), item[0]))[0]


def _learn_endings(types: Mapping[str, Words], fewest: int) -> dict[str, Words]:
    """Return the endings that say reliably how a token is split."""
    found: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    for lower, words in types.items():
        if len(words) > 1:
            shared = _shared(lower, words[0])
            for cut in range(max(1, shared - CONTEXT), min(shared, len(lower) - 1) + 1):
                if len(lower) - cut <= LONGEST_AFFIX:
                    found[lower[cut:]][words[0][cut:], *words[1:]] += 1
    totals = Counter(
        lower[-size:]
        for lower in types
        for size in range(1, min(LONGEST_AFFIX + 1, len(lower)))
        if lower[-size:] in found
    )
    endings: dict[str, Words] = {}
    for ending in sorted(found, key=lambda ending: (len(ending), ending)):
        words = _most_frequent(found[ending])
        count = found[ending][words]
        if count < fewest or count < PRECISION * totals[ending]:
            continue
        shorter = _apply(endings, ending)
        if shorter != words:  # a shorter ending does not say the same already
            endings[ending] = words
    return endings


def _apply(endings: Mapping[str, Words], lower: str) -> Words | None:
    """Return the words by the longest ending that fits, if any does."""
    for start in range(max(1, len(lower) - LONGEST_AFFIX), len(lower)):
        words = endings.get(lower[start:])
        if words is not None:
            return lower[:start] + words[0], *words[1:]
    return None


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    size = 0
    while size < min(len(one), len(other)) and one[size] == other[size]:
        size += 1
    return size


def _small(text: str) -> str:
    """Return the text in lowercase, with a typographic apostrophe as the typewritten one."""
    return text.lower().replace("’", "'")


def _reversed_text(text: str) -> str:
    return text[::-1]


def _backwards(words: Words) -> Words:
    return tuple(_reversed_text(word) for word in reversed(words))


def _with_case(surface: str, lower: str, words: Words) -> Words:
    """Give the words the capitals of the token."""
    if surface == lower:
        return words
    if len(surface) == len(lower) and "".join(words) == lower:
        found = []
        start = 0
        for word in words:
            found.append(surface[start : start + len(word)])
            start += len(word)
        return tuple(found)
    if surface.isupper() and sum(map(str.isalpha, surface)) > 1:
        return tuple(word.upper() for word in words)
    shared = _shared(lower, words[0]) if len(surface) == len(lower) else 0
    if shared:
        return surface[:shared] + words[0][shared:], *words[1:]
    return words[0][:1].upper() + words[0][1:], *words[1:]
