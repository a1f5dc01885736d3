"""The scores of the CoNLL 2018 shared task where words may differ, as they do after parsing raw text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import and_, eq

from tanglewood.measure.alignment import Side, align, common_spans
from tanglewood.measure.conll2018 import Conll2018, is_right_lemma
from tanglewood.measure.shares import Metric, rounded

COUNTED = ("words", "sentences", "tokens")  # these names are counts, so their F1 has another name


@dataclass(frozen=True, slots=True)
class AlignedScores:
    """Scores of words aligned by characters; a score that is one number is the F1 in percent.

    ``metrics`` has all counts and scores by name: tokens, sentences, words, upos, xpos, ufeats, alltags, lemmas, uas,
    las, clas, mlas, blex, nonprojective and nonprojective_labelled.
    """

    metrics: dict[str, Metric]

    @property
    def words(self) -> int:
        """The number of words in gold."""
        return self.metrics["words"].gold

    @property
    def sentences(self) -> int:
        """The number of sentences in gold."""
        return self.metrics["sentences"].gold

    @property
    def tokens_f1(self) -> float:
        """Surface tokens with the right beginning and end."""
        return self._f1("tokens") or 0.0

    @property
    def sentences_f1(self) -> float:
        """Sentences with the right beginning and end."""
        return self._f1("sentences") or 0.0

    @property
    def words_f1(self) -> float:
        """Words that have a partner on the other side."""
        return self._f1("words") or 0.0

    @property
    def upos(self) -> float:
        """Words with the right UPOS."""
        return self._f1("upos") or 0.0

    @property
    def xpos(self) -> float | None:
        """Words with the right XPOS; None where neither side has any."""
        return self._f1("xpos")

    @property
    def ufeats(self) -> float:
        """Words with the right universal features."""
        return self._f1("ufeats") or 0.0

    @property
    def alltags(self) -> float:
        """Words with UPOS, XPOS and universal features right."""
        return self._f1("alltags") or 0.0

    @property
    def lemmas(self) -> float:
        """Words with the right lemma; without a gold lemma any will do."""
        return self._f1("lemmas") or 0.0

    @property
    def uas(self) -> float:
        """Words whose head is the partner of the gold head."""
        return self._f1("uas") or 0.0

    @property
    def las(self) -> float:
        """Words with the right head and the right label without subtype."""
        return self._f1("las") or 0.0

    @property
    def las_universal(self) -> float:
        """Another name for ``las``, which is called this where the words are the same."""
        return self.las

    @property
    def clas(self) -> float | None:
        """Content-word LAS."""
        return self._f1("clas")

    @property
    def mlas(self) -> float | None:
        """Morphology-aware LAS: tag, features and functional children must be right too."""
        return self._f1("mlas")

    @property
    def blex(self) -> float | None:
        """Bilexical score: the lemma must be right too."""
        return self._f1("blex")

    @property
    def nonprojective_precision(self) -> float | None:
        """Non-projective arcs of the predicted trees whose partners are non-projective gold arcs."""
        return self.metrics["nonprojective"].precision

    @property
    def nonprojective_recall(self) -> float | None:
        """Non-projective gold arcs whose partners were predicted and are non-projective there."""
        return self.metrics["nonprojective"].recall

    @property
    def nonprojective_f1(self) -> float | None:
        """The harmonic mean of precision and recall of non-projective arcs."""
        return self.metrics["nonprojective"].f1

    def _f1(self, name: str) -> float | None:
        return self.metrics[name].f1

    def as_dict(self) -> dict[str, int | float | None]:
        """Return counts and scores as plain data for JSON, scores rounded to four decimals."""
        data: dict[str, int | float | None] = {}
        for name in COUNTED:
            data |= {name: self.metrics[name].gold, f"{name}_system": self.metrics[name].system}
        data |= {"words_aligned": self.metrics["words"].right, "las_universal": self.las}
        for name, metric in self.metrics.items():
            is_score = name not in COUNTED and not name.startswith("nonprojective")
            data[name if is_score else f"{name}_f1"] = metric.f1
            data |= {f"{name}_precision": metric.precision, f"{name}_recall": metric.recall}
            if metric.aligned is not None:
                data[f"{name}_aligned_accuracy"] = metric.aligned_accuracy
        crossing = self.metrics["nonprojective"]
        return rounded({**data, "nonprojective_gold": crossing.gold, "nonprojective_predicted": crossing.system})


def score_aligned(gold: Side, system: Side) -> AlignedScores:
    """Align two sides, and score the system; a FormatError says where their characters differ."""
    partners = align(gold, system)
    found = [number for number in range(1, len(system) + 1) if partners[number] > 0]
    matched = [partners[number] for number in found]

    def right(one: Sequence[str], other: Sequence[str], same: Callable[[str, str], bool] = eq) -> list[bool]:
        return [*map(same, map(one.__getitem__, matched), map(other.__getitem__, found))]

    def metric(right: Iterable[bool]) -> Metric:
        return Metric(sum(right), len(gold), len(system), len(found))

    upos, xpos, feats = right(gold.upos, system.upos), right(gold.xpos, system.xpos), right(gold.feats, system.feats)
    lemmas = right(gold.lemmas, system.lemmas, is_right_lemma)
    tags = [*map(and_, upos, feats)]
    counts = Conll2018()
    counts.add(gold.arcs, system.arcs, partners, tags=tags, lemmas=lemmas)
    has_xpos = not {*gold.xpos, *system.xpos} <= {"", "_"}  # the first is that of the root
    metrics = {
        "tokens": _spans(gold.token_ends, system.token_ends),
        "sentences": _spans(gold.sentence_ends, system.sentence_ends),
        "words": Metric(len(found), len(gold), len(system)),
        "upos": metric(upos),
        "xpos": metric(xpos) if has_xpos else Metric(0, 0, 0, 0),
        "ufeats": metric(feats),
        "alltags": metric(map(and_, tags, xpos)),
        "lemmas": metric(lemmas),
        **counts.metrics(),
    }
    return AlignedScores({**metrics, **_crossing_metrics(gold, system, partners)})


def _spans(gold_ends: Sequence[int], system_ends: Sequence[int]) -> Metric:
    return Metric(common_spans(gold_ends, system_ends), len(gold_ends), len(system_ends))


def _crossing_metrics(gold: Side, system: Side, partners: Sequence[int]) -> dict[str, Metric]:
    """Return the counts of non-projective arcs: right ones lie between partners, and are non-projective in both."""
    one, other = gold.arcs, system.arcs
    aligned = sum(gold.crossing[number] for number in partners if number > 0)
    total, predicted = sum(gold.crossing), sum(system.crossing)
    right = [
        one.labels[partners[number]] == other.labels[number]
        for number, crosses in enumerate(system.crossing)
        if crosses and partners[number] > 0 and gold.crossing[partners[number]]
        if one.heads[partners[number]] == partners[other.heads[number]]
    ]
    return {
        "nonprojective": Metric(len(right), total, predicted, aligned),
        "nonprojective_labelled": Metric(sum(right), total, predicted, aligned),
    }
