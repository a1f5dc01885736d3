"""What several taggers together find probable: what a tagger that learns from them is to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tanglewood.treebank.chunks import in_chunks

if TYPE_CHECKING:
    from tanglewood.ml.encoder import Floats, Ints
    from tanglewood.text.tagger import Tagger

LEAST = 0.01  # mean probabilities below this are left out, which are nearly all of them
TINY = np.float32(1e-9)


class Opinion(NamedTuple):
    """How probable classes are for the words of a sentence, on average: one entry for each that is worth a mention."""

    words: Ints  # numbered from 0
    classes: Ints  # numbered through all columns
    chances: Floats

    def table(self, n_words: int, n_classes: int) -> Floats:
        """Return the probabilities of all classes, zero for those that are not mentioned."""
        table = np.zeros((n_words, n_classes), np.float32)
        table[self.words, self.classes] = self.chances
        return table


def opinions(
    taggers: Sequence[Tagger], classes: Mapping[str, Sequence[str]], sentences: Sequence[Sequence[str]]
) -> list[Opinion]:
    """Return what the taggers say about each sentence, given by its forms, with the classes in this order.

    If there are no taggers, nothing is said about any. Of what a tagger knows only classes that are here count; the
    rest share its vote.
    """
    numbers = {pair: number for number, pair in enumerate(_pairs(classes))}
    ends = np.cumsum([len(named) for named in classes.values()])
    workers = [(tagger.worker(), np.array([numbers.get(p, -1) for p in _pairs(tagger.classes)])) for tagger in taggers]
    found: list[Opinion] = []
    for chunk in in_chunks(sentences if taggers else ()):
        sums = np.zeros((sum(map(len, chunk)), len(numbers)), np.float32)
        for worker, places in workers:
            sums[:, places[places >= 0]] += worker.chances(chunk)[:, places >= 0]
        for section in np.split(sums, ends[:-1], axis=1):
            _turn_into_shares(section)
            section[section < LEAST] = 0
            _turn_into_shares(section)
        for table in np.split(sums, np.cumsum([len(forms) for forms in chunk])[:-1]):
            words, mentioned = np.nonzero(table)
            found.append(Opinion(words.astype(np.int32), mentioned.astype(np.int32), table[words, mentioned]))
    return found


def _pairs(classes: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(column, name) for column, named in classes.items() for name in named]


def _turn_into_shares(sums: Floats) -> None:
    """Divide each row by its sum, in place, unless that is zero."""
    sums /= np.maximum(sums.sum(1, keepdims=True), TINY)
