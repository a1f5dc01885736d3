"""UAS, LAS, CLAS, MLAS and BLEX as in the CoNLL 2018 shared task (Zeman et al. 2018).

Labels count without their subtypes (``acl`` for ``acl:relcl``). CLAS, MLAS and BLEX are about words with content labels
only; as gold and system may disagree on which these are, the scores are F1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import and_, eq
from typing import NamedTuple

from tanglewood.measure.shares import Metric, rounded
from tanglewood.treebank.memo import Memo

CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod "  # noqa: SIM905
    "appos nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
FUNCTION = frozenset("aux cop mark det clf case cc".split())  # noqa: SIM905
FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree "  # noqa: SIM905
    "VerbForm Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)


def _features(feats: str) -> str:
    return "|".join(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in FEATURES))


def _label(label: str) -> str:
    return label.partition(":")[0]


universal_features = Memo(_features, 64 << 20).__getitem__  # of the features those of the universal list only, sorted
universal_label = Memo(_label, 4 << 20).__getitem__  # a label without its subtype


def is_right_lemma(gold: str, system: str) -> bool:
    """Whether a lemma is right: without a gold lemma any will do."""
    return gold in {"_", system}


class Arcs(NamedTuple):
    """The arcs to the words of a sentence or a whole text: heads and universal labels by node, 0 being the root."""

    heads: Sequence[int]
    labels: Sequence[str]

    def functional_children(self) -> list[int]:
        """Return by node the number of dependents with a functional label."""
        return _counts(compress(self.heads, map(FUNCTION.__contains__, self.labels)), len(self.heads))


def _counts(numbers: Iterable[int], size: int) -> list[int]:
    """Return how often each of the numbers below ``size`` occurs."""
    found = [0] * size
    for number in numbers:
        found[number] += 1
    return found


@dataclass(slots=True)
class Conll2018:
    """Running counts over the words added, and the scores they give, in percent; None where there is nothing to score.

    There are ``gold`` words in gold and ``system`` ones in the system, of which ``aligned`` are partners; ``content_*``
    are those with content labels, in gold for the aligned ones.
    """

    gold: int = 0
    system: int = 0
    aligned: int = 0
    content_gold: int = 0
    content_system: int = 0
    content_aligned: int = 0
    uas_right: int = 0
    las_right: int = 0
    clas_right: int = 0
    mlas_right: int = 0
    blex_right: int = 0

    def add(
        self,
        gold: Arcs,
        system: Arcs,
        partners: Sequence[int] | None = None,
        *,
        tags: Sequence[bool] | None = None,
        lemmas: Sequence[bool] | None = None,
        scored: Sequence[bool] | None = None,
    ) -> None:
        """Count the words of a sentence or of a whole text.

        ``partners`` has for each node of the system that of gold, or -1; they ascend, and that of 0 is 0. None means
        the same words on both sides, of which ``scored`` may leave some out. ``tags`` says for each pair of partners
        whether UPOS and universal features are the same, and ``lemmas`` whether the lemma is right; None means that
        they all are.
        """
        gold_heads, heads, gold_labels, labels = gold.heads[1:], system.heads[1:], gold.labels[1:], system.labels[1:]
        self.gold += len(gold_labels) if scored is None else sum(scored)
        self.system += len(labels) if scored is None else sum(scored)
        self.content_gold += _contents(gold_labels, scored)
        self.content_system += _contents(labels, scored)
        numbers: Sequence[int] = range(1, len(system.heads))
        matched = numbers
        if partners is not None:
            numbers = [number for number in numbers if partners[number] > 0]
            matched = [partners[number] for number in numbers]
            heads = [partners[system.heads[number]] for number in numbers]
            labels = [system.labels[number] for number in numbers]
            gold_heads = [gold.heads[number] for number in matched]
            gold_labels = [gold.labels[number] for number in matched]
        head_right = [*map(eq, heads, gold_heads)]
        arc_right = [*map(and_, head_right, map(eq, labels, gold_labels))]
        all_right = arc_right if tags is None else [*map(and_, arc_right, tags)]
        functional = map(and_, map(FUNCTION.__contains__, gold_labels), all_right)
        right_children = _counts(compress(gold_heads, functional), len(gold.heads))
        content = [*map(CONTENT.__contains__, gold_labels)]
        if scored is not None:  # only now, as children count whether they are scored or not
            head_right, arc_right, content = (
                [*map(and_, column, scored)] for column in (head_right, arc_right, content)
            )
        self.aligned += len(numbers) if scored is None else sum(scored)
        self.content_aligned += sum(content)
        self.uas_right += sum(head_right)
        self.las_right += sum(arc_right)
        content_right = [*map(and_, content, arc_right)]
        self.clas_right += sum(content_right)
        self.blex_right += sum(content_right if lemmas is None else map(and_, content_right, lemmas))
        # Partners ascend: where gold and system have as many functional children as are right, they are the same.
        gold_children, system_children = gold.functional_children(), system.functional_children()
        self.mlas_right += sum(
            gold_children[partner] == system_children[number] == right_children[partner]
            for number, partner in compress(zip(numbers, matched, strict=True), map(and_, content_right, all_right))
        )

    def metrics(self) -> dict[str, Metric]:
        """Return the counts of each score, by its name."""
        words = (self.gold, self.system, self.aligned)
        content = (self.content_gold, self.content_system, self.content_aligned)
        return {
            "uas": Metric(self.uas_right, *words),
            "las": Metric(self.las_right, *words),
            "clas": Metric(self.clas_right, *content),
            "mlas": Metric(self.mlas_right, *content),
            "blex": Metric(self.blex_right, *content),
        }

    def as_dict(self) -> dict[str, int | float | None]:
        """Return the scores where gold and system have the same words, as plain data for JSON, with four decimals."""
        metrics = self.metrics()
        data: dict[str, int | float | None] = {"las_universal": metrics["las"].f1}
        for name in ("clas", "mlas", "blex"):
            metric = metrics[name]
            data |= {name: metric.f1, f"{name}_precision": metric.precision, f"{name}_recall": metric.recall}
        return rounded(data)


def _contents(labels: Sequence[str], scored: Sequence[bool] | None) -> int:
    """Return how many of the scored words have a content label."""
    return sum(map(CONTENT.__contains__, labels if scored is None else compress(labels, scored)))
