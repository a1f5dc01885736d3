"""Words as hashed numbers in flat arrays, which linear learners look up in compiled code."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

from tanglewood.ml.vocabulary import ROOT
from tanglewood.ml.word_features import FEATURES
from tanglewood.ml.words import Word
from tanglewood.treebank.memo import Memo

MOST_BYTES = 128 << 20  # of words whose numbers are kept: about 200,000
# Features with one value, in the order of a node's columns; those that have several, FEATS, lie apart.
COLUMNS = (
    *("form", "lower", "lemma", "upos", "xpos"),
    *("prefix2", "prefix3", "suffix2", "suffix3", "suffix4", "shape"),
)


class WordTable:
    """What is known of the words of some sentences, one after the other, each with its node 0 first."""

    def __init__(self, columns: array[int], feats: array[int], feat_starts: array[int]) -> None:
        self.columns = columns  # as many numbers per node as there are COLUMNS
        self.feats = feats
        self.feat_starts = feat_starts  # one more than there are nodes


def number_word(word: Word) -> tuple[array[int], array[int]]:
    """Return the numbers of a word's columns and of its features."""
    return (
        array("I", [crc32(FEATURES[name].values(word)[0].encode()) for name in COLUMNS]),
        array("I", [crc32(value.encode()) for value in FEATURES["feats"].values(word)]),
    )


ROOT_NUMBERS = number_word((ROOT, ROOT, ROOT, ROOT, ROOT))


class WordNumbers:
    """Numbers words, and remembers those it has met."""

    def __init__(self) -> None:
        self.known: Memo[Word, tuple[array[int], array[int]]] = Memo(number_word, MOST_BYTES)

    def table(self, sentences: Sequence[Sequence[Word]]) -> tuple[WordTable, list[int]]:
        """Return the table of some sentences, and the place of each one's node 0."""
        columns, feats, starts, offsets = array("I"), array("I"), array("i"), []
        known = self.known
        for words in sentences:
            offsets.append(len(starts))
            columns.extend(ROOT_NUMBERS[0])
            starts.append(len(feats))
            feats.extend(ROOT_NUMBERS[1])
            for word in words:
                numbers = known[word]
                columns.extend(numbers[0])
                starts.append(len(feats))
                feats.extend(numbers[1])
        starts.append(len(feats))
        return WordTable(columns, feats, starts), offsets
