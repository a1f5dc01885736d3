"""How far two annotators of the same sentences agree: shares, Cohen's kappa, and where their labels differ.

Neither of them is gold. Sentences are matched by sent_id, so that one may have left some out; words must be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import and_, eq
from typing import Any

from tanglewood.errors import FormatError
from tanglewood.measure.shares import percentage, rounded
from tanglewood.measure.stats import is_punctuation
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import SentenceSource, sentences_from


@dataclass(slots=True)
class Kappa:
    """Counts the pairs of decisions of two annotators."""

    pairs: Counter[tuple[Hashable, Hashable]] = field(default_factory=Counter)

    def add(self, first: Iterable[Hashable], second: Iterable[Hashable]) -> None:
        """Count the decisions about some words."""
        self.pairs.update(zip(first, second, strict=True))

    @property
    def total(self) -> int:
        """The number of decisions of each."""
        return self.pairs.total()

    @property
    def agreement(self) -> float | None:
        """The share of decisions, in percent, that are the same; None if there are none."""
        return percentage(sum(count for (one, other), count in self.pairs.items() if one == other), self.total)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 for full agreement, 0 for what chance would give; None where chance leaves nothing open."""
        return kappa_of(self.pairs)

    def of_one(self, value: Hashable) -> float | None:
        """Cohen's kappa of whether a decision is this one or any other."""
        merged: Counter[tuple[Hashable, Hashable]] = Counter()
        for (one, other), count in self.pairs.items():
            merged[one == value, other == value] += count
        return kappa_of(merged)


def kappa_of(pairs: Counter[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa of pairs of decisions."""
    total = pairs.total()
    first: Counter[Hashable] = Counter()
    second: Counter[Hashable] = Counter()
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    same = sum(count for (one, other), count in pairs.items() if one == other) * total
    by_chance = sum(count * second[value] for value, count in first.items())
    return (same - by_chance) / (total * total - by_chance) if total * total > by_chance else None


class Agreement:
    """Running counts over pairs of sentences.

    A head is compared as the distance to it, with 0 for the root, so that it can agree by chance: most words have a
    head nearby. ``labels_of_same_heads`` are the labels of words whose head both find.
    """

    def __init__(self, *, punctuation: bool = True) -> None:
        self.punctuation = punctuation
        self.sentences = 0
        self.same_trees = 0
        self.heads = Kappa()
        self.labels = Kappa()
        self.labels_of_same_heads = Kappa()
        self.arcs = Kappa()
        self.upos = Kappa()

    def add(self, first: Sentence, second: Sentence) -> None:
        """Count one sentence."""
        self.sentences += 1
        one, other = first.heads(), second.heads()
        same_heads = [*map(eq, one[1:], other[1:])]
        self.same_trees += all(map(and_, same_heads, map(eq, first.deprels, second.deprels)))
        rows = zip(
            *(_distances(one), _distances(other)),
            *(first.deprels, second.deprels, first.upos, second.upos, same_heads, first.forms),
            strict=True,
        )
        for head, other_head, label, other_label, tag, other_tag, same, form in rows:
            if not self.punctuation and is_punctuation(form):
                continue
            self.heads.pairs[head, other_head] += 1
            self.labels.pairs[label, other_label] += 1
            self.arcs.pairs[(head, label), (other_head, other_label)] += 1
            self.upos.pairs[tag, other_tag] += 1
            if same:
                self.labels_of_same_heads.pairs[label, other_label] += 1

    def by_label(self) -> list[dict[str, Any]]:
        """Return for each label, the most frequent first, how often each has it, how often both, and its kappa."""
        first: Counter[Hashable] = Counter()
        second: Counter[Hashable] = Counter()
        for (one, other), count in self.labels.pairs.items():
            first[one] += count
            second[other] += count
        return [
            {
                "label": label,
                "first": first[label],
                "second": second[label],
                "both": self.labels.pairs[label, label],
                "agreement": percentage(2 * self.labels.pairs[label, label], first[label] + second[label]),
                "kappa": self.labels.of_one(label),
            }
            for label, _ in sorted((first + second).items(), key=lambda item: (-item[1], str(item[0])))
        ]

    def disagreements(self) -> list[tuple[str, str, int]]:
        """Return the pairs of different labels that words have, the most frequent first."""
        found = [(str(one), str(other), count) for (one, other), count in self.labels.pairs.items() if one != other]
        return sorted(found, key=lambda pair: (-pair[2], pair))

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain data for JSON; agreement is in percent."""
        return {
            "sentences": self.sentences,
            "same_trees": self.same_trees,
            "words": self.labels.total,
            **{
                name: rounded({"agreement": kind.agreement, "kappa": kind.kappa})
                for name, kind in (
                    *(("heads", self.heads), ("labels", self.labels)),
                    *(("labels_of_same_heads", self.labels_of_same_heads), ("arcs", self.arcs), ("upos", self.upos)),
                )
            },
            "by_label": [rounded(row) for row in self.by_label()],
            "disagreements": [list(pair) for pair in self.disagreements()],
        }


def _distances(heads: Iterable[int]) -> Iterator[int]:
    """Yield how far to the right the head of each word is, and 0 for a root."""
    return (head and head - word for word, head in enumerate(heads) if word)


@dataclass(slots=True)
class Matched:
    """Sentences of two files that belong together, and those that do not."""

    pairs: list[tuple[Sentence, Sentence]] = field(default_factory=list)
    only_first: list[Sentence] = field(default_factory=list)
    only_second: list[Sentence] = field(default_factory=list)
    other_words: list[tuple[Sentence, Sentence]] = field(default_factory=list)


def matched(first: SentenceSource, second: SentenceSource) -> Matched:
    """Match sentences by sent_id or, in files without any, by place; a FormatError says where that is impossible."""
    one, other = list(sentences_from(first)), list(sentences_from(second))
    found = Matched()
    if not any(sentence.sent_id for sentence in (*one, *other)):
        if len(one) != len(other):
            longer, at = (one, len(other)) if len(one) > len(other) else (other, len(one))
            place = longer[at]
            raise FormatError(
                f"one side has {len(one)} sentences and the other {len(other)}; without sent_id they are matched by "
                "their places, so there should be as many",
                file=place.file,
                line=place.line,
            )
        pairs = [*zip(one, other, strict=True)]
    else:
        by_name, of_other = _by_name(one), _by_name(other)
        pairs = [(sentence, of_other[name]) for name, sentence in by_name.items() if name in of_other]
        found.only_first = [sentence for name, sentence in by_name.items() if name not in of_other]
        found.only_second = [sentence for name, sentence in of_other.items() if name not in by_name]
    for pair in pairs:
        (found.pairs if pair[0].forms == pair[1].forms else found.other_words).append(pair)
    return found


def _by_name(sentences: list[Sentence]) -> dict[str, Sentence]:
    found: dict[str, Sentence] = {}
    for sentence in sentences:
        name = sentence.sent_id
        if name is None or name in found:
            problem = "the sentence has no sent_id" if name is None else f"sent_id {name} is there twice"
            raise FormatError(
                f"{problem}; sentences of two annotators are matched by it", file=sentence.file, line=sentence.line
            )
        found[name] = sentence
    return found


def agreement(first: SentenceSource, second: SentenceSource, *, punctuation: bool = True) -> Agreement:
    """Count how far two annotations of the same sentences agree; those that only one of them has are left out."""
    counts = Agreement(punctuation=punctuation)
    for pair in matched(first, second).pairs:
        counts.add(*pair)
    return counts
