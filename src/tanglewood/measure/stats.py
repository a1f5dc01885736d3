"""How non-projective a treebank is: the numbers behind ``tanglewood stats``."""

from __future__ import annotations

import heapq
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tanglewood.treebank.sources import SentenceSource, sentences_from

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence


def stats(source: SentenceSource, *, worst: int = 0) -> TreebankStats:
    """Count how non-projective a treebank is: a path, an open file, a document or any sentences.

    ``worst`` is how many of the sentences with the most crossings to keep.
    """
    counts = TreebankStats(keep_worst=worst)
    for sentence in sentences_from(source):
        counts.add(sentence)
    return counts


def is_punctuation(form: str) -> bool:
    """Whether every character of the form is in a Unicode P category, as CoNLL-X counts punctuation."""
    return all(unicodedata.category(character).startswith("P") for character in form)


@dataclass(frozen=True, slots=True, order=True)
class Tangled:
    """A sentence with many crossings, by whose number it is sorted."""

    crossing_pairs: int
    nonprojective_arcs: int
    line: int
    sent_id: str
    text: str = ""


@dataclass(slots=True, repr=False)
class TreebankStats:
    """Running counts over the sentences added; those of degrees map a degree to a number of sentences."""

    keep_worst: int = 0
    sentences: int = 0
    words: int = 0
    nonprojective_sentences: int = 0
    nonprojective_arcs: int = 0
    multi_root_sentences: int = 0
    max_length: int = 0
    degree_2007: Counter[int] = field(default_factory=Counter)
    degree_2006: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    nonprojective_labels: Counter[str] = field(default_factory=Counter)
    nonprojective_punctuation: int = 0
    worst: list[Tangled] = field(default_factory=list)

    def __repr__(self) -> str:
        sentences, arcs = self.nonprojective_sentences, self.nonprojective_arcs
        return (
            f"<TreebankStats of {self.sentences} sentences, {self.words} words: "
            f"{sentences} sentences ({sentences / max(self.sentences, 1):.2%}) and "
            f"{arcs} arcs ({arcs / max(self.words, 1):.2%}) non-projective>"
        )

    def add(self, sentence: Sentence) -> None:
        """Count one sentence."""
        tree = sentence.tree
        self.sentences += 1
        self.words += len(tree)
        self.max_length = max(self.max_length, len(tree))
        self.multi_root_sentences += len(tree.roots()) > 1
        self.labels.update(tree.labels[1:])
        crossing = tree.nonprojective_arcs()
        if not crossing:
            self.degree_2007[0] += 1
            self.degree_2006[0] += 1
            return
        self.nonprojective_sentences += 1
        self.nonprojective_arcs += len(crossing)
        self.degree_2007[tree.degree(2007)] += 1
        self.degree_2006[tree.degree(2006)] += 1
        forms = sentence.forms
        for dependent in crossing:
            self.nonprojective_labels[tree.labels[dependent]] += 1
            self.nonprojective_punctuation += is_punctuation(forms[dependent - 1])
        if self.keep_worst:
            text = sentence.text or " ".join(forms)
            found = Tangled(tree.count_crossing_pairs(), len(crossing), sentence.line, sentence.sent_id or "", text)
            (heapq.heappush if len(self.worst) < self.keep_worst else heapq.heappushpop)(self.worst, found)

    def as_dict(self) -> dict[str, object]:
        """Return the counts as plain data for JSON."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "nonprojective_sentences": self.nonprojective_sentences,
            "nonprojective_arcs": self.nonprojective_arcs,
            "multi_root_sentences": self.multi_root_sentences,
            "max_length": self.max_length,
            "degree_2007": {str(degree): count for degree, count in sorted(self.degree_2007.items())},
            "degree_2006": {str(degree): count for degree, count in sorted(self.degree_2006.items())},
            "nonprojective_labels": {
                label: {"nonprojective": count, "all": self.labels[label]}
                for label, count in self.nonprojective_labels.most_common()
            },
            "nonprojective_punctuation": self.nonprojective_punctuation,
            "worst": [
                {
                    "sent_id": tangled.sent_id,
                    "line": tangled.line,
                    "crossing_pairs": tangled.crossing_pairs,
                    "nonprojective_arcs": tangled.nonprojective_arcs,
                    "text": tangled.text,
                }
                for tangled in sorted(self.worst, reverse=True)
            ],
        }
