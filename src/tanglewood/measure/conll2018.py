"""LAS, CLAS, MLAS and BLEX as in the CoNLL 2018 shared task (Zeman et al. 2018), on words that are given.

Labels count without their subtypes (``acl`` for ``acl:relcl``). Only words with content labels are asked for in CLAS,
MLAS and BLEX; as gold and system may disagree which they are, these scores are F1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tanglewood.measure.scores import Comparison, f1, percentage, rounded
from tanglewood.treebank.sentence import FEATS, LEMMA, UPOS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanglewood.treebank.sentence import Sentence

CONTENT = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod "  # noqa: SIM905
    "appos nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
FUNCTION = frozenset("aux cop mark det clf case cc".split())  # noqa: SIM905
FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree "  # noqa: SIM905
    "VerbForm Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)

Child = tuple[int, str, str, str]  # place, universal label, UPOS, universal features


@lru_cache(maxsize=1 << 16)
def universal_features(feats: str) -> str:
    """Return the features of the universal list only, sorted."""
    return "|".join(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in FEATURES))


def universal_labels(sentence: Sentence) -> list[str]:
    """Return the labels of all words without their subtypes."""
    return [label.partition(":")[0] for label in sentence.deprels]


def functional_children(sentence: Sentence, labels: Sequence[str]) -> dict[int, list[Child]]:
    """Return for each node that has any the words that depend on it with a functional label, and their tags."""
    heads = sentence.heads()
    found: dict[int, list[Child]] = {}
    for number, (word, label) in enumerate(zip(sentence.words, labels, strict=True), 1):
        if label in FUNCTION:
            child = (number, label, word[UPOS], universal_features(word[FEATS]))
            found.setdefault(heads[number], []).append(child)
    return found


@dataclass(slots=True)
class Conll2018:
    """Running counts over the sentences added, and the scores they give, in percent; None where nothing is asked for.

    ``content_*`` count the words with content labels in gold and system, ``clas_right`` and so on those of them right.
    """

    words: int = 0
    las_right: int = 0
    content_gold: int = 0
    content_system: int = 0
    clas_right: int = 0
    mlas_right: int = 0
    blex_right: int = 0

    def add(self, comparison: Comparison) -> None:
        """Count one sentence."""
        gold, system = comparison.gold, comparison.system
        gold_labels, system_labels = universal_labels(gold), universal_labels(system)
        gold_children = functional_children(gold, gold_labels)
        system_children = functional_children(system, system_labels)
        gold_heads, system_heads = gold.heads(), system.heads()
        for number in comparison.select(range(1, len(gold) + 1)):
            label = gold_labels[number - 1]
            content = label in CONTENT
            self.words += 1
            self.content_gold += content
            self.content_system += system_labels[number - 1] in CONTENT
            if gold_heads[number] != system_heads[number] or label != system_labels[number - 1]:
                continue
            self.las_right += 1
            if not content:
                continue
            self.clas_right += 1
            one, other = gold.words[number - 1], system.words[number - 1]
            self.blex_right += one[LEMMA] in {"_", other[LEMMA]}  # without a gold lemma any will do
            self.mlas_right += (
                one[UPOS] == other[UPOS]
                and universal_features(one[FEATS]) == universal_features(other[FEATS])
                and gold_children.get(number) == system_children.get(number)
            )

    @property
    def las_universal(self) -> float | None:
        """Words with the right head and the right label without subtype: the LAS of the shared task."""
        return percentage(self.las_right, self.words)

    @property
    def clas(self) -> float | None:
        """Content-word LAS."""
        return f1(self.clas_right, self.content_gold, self.content_system)

    @property
    def mlas(self) -> float | None:
        """Morphology-aware LAS: tag, features and functional children must be right too."""
        return f1(self.mlas_right, self.content_gold, self.content_system)

    @property
    def blex(self) -> float | None:
        """Bilexical score: the lemma must be right too."""
        return f1(self.blex_right, self.content_gold, self.content_system)

    def as_dict(self) -> dict[str, int | float | None]:
        """Return the scores as plain data for JSON, rounded to four decimals."""
        data: dict[str, int | float | None] = {"las_universal": self.las_universal}
        for name, right in (("clas", self.clas_right), ("mlas", self.mlas_right), ("blex", self.blex_right)):
            data[name] = f1(right, self.content_gold, self.content_system)
            data[f"{name}_precision"] = percentage(right, self.content_system)
            data[f"{name}_recall"] = percentage(right, self.content_gold)
        return rounded(data)
