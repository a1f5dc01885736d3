"""How well predicted trees match gold trees: attachment scores, exact match, and scores of non-projective arcs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, zip_longest
from operator import and_, eq
from typing import TYPE_CHECKING, TypeVar

from tanglewood.errors import ConfigError, WordsDifferError
from tanglewood.measure.aligned_scores import AlignedScores, score_aligned
from tanglewood.measure.alignment import Side, place_of
from tanglewood.measure.conll2018 import Arcs, Conll2018, is_right_lemma, universal_features, universal_label
from tanglewood.measure.shares import f1, percentage, rounded
from tanglewood.measure.sources import Source
from tanglewood.measure.stats import is_punctuation
from tanglewood.treebank import measures
from tanglewood.treebank.sources import SentenceSource

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence

Item = TypeVar("Item")
One = TypeVar("One")
Other = TypeVar("Other")


def evaluate(
    gold: SentenceSource, system: SentenceSource, *, punctuation: bool = True, align: bool = False
) -> Evaluation:
    """Compare predicted sentences with gold ones: paths, open binary files or iterables of sentences.

    Where both have the same words, sentence by sentence, the scores are :class:`Scores`. Where they differ, or with
    ``align`` in any case, the words are aligned by their characters, and the scores are those of the CoNLL 2018 shared
    task. With ``punctuation=False``, which needs the same words, words whose every character is in a Unicode P category
    are not scored.
    """
    return compare_files(gold, system, _scores, score_aligned, punctuation=punctuation, align=align)


def compare_files(
    gold: SentenceSource,
    system: SentenceSource,
    by_sentence: Callable[[Iterator[Comparison]], One],
    by_characters: Callable[[Side, Side], Other],
    *,
    punctuation: bool,
    align: bool,
) -> One | Other:
    """Return what one function makes of the comparisons of all sentences or, where words differ, another of both sides.

    With ``align`` it is the second in any case.
    """
    sources = Source(gold), Source(system)
    reason = " and does not go with align=True"
    if not align:
        try:
            return by_sentence(_comparisons(*sources, punctuation=punctuation))
        except WordsDifferError as error:
            reason = f", but {error}"
    if not punctuation:
        raise ConfigError(f"punctuation=False needs the same words in gold and system{reason}")
    return by_characters(*map(Side, sources))


def _comparisons(gold: Iterable[Sentence], system: Iterable[Sentence], *, punctuation: bool) -> Iterator[Comparison]:
    for gold_sentence, (system_sentence,) in aligned(gold, [system]):
        yield compare(gold_sentence, system_sentence, punctuation=punctuation)


def _scores(comparisons: Iterable[Comparison]) -> Scores:
    scores = Scores()
    for comparison in comparisons:
        scores.add(comparison)
    return scores


def aligned(
    gold: Iterable[Sentence], systems: Sequence[Iterable[Sentence]]
) -> Iterator[tuple[Sentence, tuple[Sentence, ...]]]:
    """Yield each gold sentence with the sentence of every system; a WordsDifferError says if one side ends early."""
    before: tuple[Sentence | None, ...] = (None,) * (len(systems) + 1)
    for row in zip_longest(gold, *systems):
        first, *rest = row
        for other, last in zip(rest, before[1:], strict=True):
            if first is None and other is not None:
                raise _end_error(other, before[0], "gold")
            if first is not None and other is None:
                raise _end_error(first, last, "system")
        if first is not None:
            yield first, tuple(rest)
        before = row


def _end_error(more: Sentence, last: Sentence | None, side: str) -> WordsDifferError:
    """Say that one side goes on with the sentence ``more`` while the other has ended with ``last``."""
    where = "has no sentences" if last is None else f"ends with the sentence before it, at {place_of(last, last.line)}"
    problem = f"the {side} side {where}; both should have the same sentences"
    return WordsDifferError(problem, file=more.file, line=more.line, sent_id=more.sent_id)


def _word_error(gold: Sentence, system: Sentence) -> WordsDifferError:
    """Say at which word two sentences differ."""
    number, one, other = next(
        (i, *pair) for i, pair in enumerate(zip_longest(gold.forms, system.forms), 1) if pair[0] != pair[1]
    )
    if one is None or other is None:
        short, place = (gold, system) if one is None else (system, gold)
        where = place_of(short, short.line)
        problem = f"word {number} is {one or other!r}, but the sentence at {where} has {len(short)} words only"
    else:
        place = system
        problem = f"word {number} is {other!r}, but {one!r} in gold at {place_of(gold, gold.line_of(number))}"
    problem += "; both should have the same words"
    return WordsDifferError(problem, file=place.file, line=place.line_of(number), sent_id=place.sent_id)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is right in one sentence; the lists from ``head_right`` on have one entry for each scored word.

    ``head_right``, ``label_right`` and ``arc_right`` (both) are truth values; ``gold_crossing`` and
    ``system_crossing`` are positive where the arc to the word is non-projective in its own tree. ``same_columns`` says
    that all of FORM to FEATS is the same, for all words.
    """

    gold: Sentence
    system: Sentence
    gold_labels: list[str]
    system_labels: list[str]
    same_columns: bool
    scored: Sequence[bool] | None
    head_right: list[bool]
    label_right: list[bool]
    arc_right: list[bool]
    gold_crossing: Sequence[int]
    system_crossing: Sequence[int]

    def select(self, column: Sequence[Item]) -> Sequence[Item]:
        """Return the entries of the scored words in a list with one entry for each word."""
        return column if self.scored is None else list(compress(column, self.scored))


def compare(gold: Sentence, system: Sentence, *, punctuation: bool = True) -> Comparison:
    """Compare the trees of two sentences; a WordsDifferError says where their words differ."""
    same_columns = gold.form_to_feats() == system.form_to_feats()  # as they are where only trees were predicted
    if not same_columns and gold.forms != system.forms:
        raise _word_error(gold, system)
    gold_heads, system_heads = gold.heads(), system.heads()
    head_right = list(map(eq, gold_heads[1:], system_heads[1:]))
    gold_labels, system_labels = gold.deprels, system.deprels
    label_right = list(map(eq, gold_labels, system_labels))
    gold_crossing = measures.arc_degrees_2006(gold_heads)[1:]
    system_crossing = gold_crossing if all(head_right) else measures.arc_degrees_2006(system_heads)[1:]
    scored = None if punctuation else [not is_punctuation(form) for form in gold.forms]
    if scored is not None:
        head_right, label_right = list(compress(head_right, scored)), list(compress(label_right, scored))
        gold_crossing = array("i", compress(gold_crossing, scored))
        system_crossing = array("i", compress(system_crossing, scored))
    arc_right = list(map(and_, head_right, label_right))
    return Comparison(
        *(gold, system, gold_labels, system_labels, same_columns, scored),
        *(head_right, label_right, arc_right, gold_crossing, system_crossing),
    )


@dataclass(slots=True)
class Right:
    """How many of some words have the right head, the right label, and both."""

    words: int = 0
    heads: int = 0
    labels: int = 0
    arcs: int = 0

    def add(self, heads: Iterable[bool], labels: Iterable[bool], arcs: Sequence[bool]) -> None:
        """Count more words."""
        self.words += len(arcs)
        self.heads += sum(heads)
        self.labels += sum(labels)
        self.arcs += sum(arcs)


@dataclass(slots=True)
class Scores:
    """Running counts over the sentences added, and the scores they give, in percent.

    A sentence without a scored word is not counted. Scores of non-projective arcs are None where there are none.
    ``per_sentence`` holds three numbers per sentence, for :func:`tanglewood.measure.significance.bootstrap`: scored
    words, right heads, right arcs.
    """

    sentences: int = 0
    exact: int = 0
    exact_unlabelled: int = 0
    all_arcs: Right = field(default_factory=Right)
    nonprojective: Right = field(default_factory=Right)
    predicted_nonprojective: int = 0
    found_nonprojective: int = 0
    found_nonprojective_labelled: int = 0
    right_upos: int = 0
    right_xpos: int = 0
    conll2018: Conll2018 = field(default_factory=Conll2018)
    per_sentence: array[int] = field(default_factory=lambda: array("i"), repr=False)

    def add(self, comparison: Comparison) -> None:
        """Count one sentence."""
        heads, labels, arcs = comparison.head_right, comparison.label_right, comparison.arc_right
        if not arcs:
            return
        self.sentences += 1
        self.all_arcs.add(heads, labels, arcs)
        right_heads, right_arcs = sum(heads), sum(arcs)
        self.exact += right_arcs == len(arcs)
        self.exact_unlabelled += right_heads == len(arcs)
        self.per_sentence.extend((len(arcs), right_heads, right_arcs))
        self._add_columns(comparison)
        gold, system = comparison.gold_crossing, comparison.system_crossing
        if any(gold):
            self.nonprojective.add(compress(heads, gold), compress(labels, gold), list(compress(arcs, gold)))
        if any(system):
            self.predicted_nonprojective += sum(map(bool, system))
            self.found_nonprojective += sum(compress(compress(heads, gold), compress(system, gold)))
            self.found_nonprojective_labelled += sum(compress(compress(arcs, gold), compress(system, gold)))

    def _add_columns(self, comparison: Comparison) -> None:
        """Count tags, and what the shared task asks of tags, features and lemmas."""
        gold, system = comparison.gold, comparison.system
        tags = lemmas = None
        if comparison.same_columns:
            self.right_upos += len(comparison.arc_right)
            self.right_xpos += len(comparison.arc_right)
        else:
            upos = list(map(eq, gold.upos, system.upos))
            feats = map(eq, map(universal_features, gold.feats), map(universal_features, system.feats))
            tags = list(map(and_, upos, feats))
            lemmas = list(map(is_right_lemma, gold.lemmas, system.lemmas))
            self.right_upos += sum(comparison.select(upos))
            self.right_xpos += sum(comparison.select(list(map(eq, gold.xpos, system.xpos))))
        one = Arcs(gold.heads(), ["", *map(universal_label, comparison.gold_labels)])
        other = Arcs(system.heads(), ["", *map(universal_label, comparison.system_labels)])
        self.conll2018.add(one, other, tags=tags, lemmas=lemmas, scored=comparison.scored)

    @property
    def words(self) -> int:
        """The number of scored words."""
        return self.all_arcs.words

    @property
    def las(self) -> float:
        """Labelled attachment score: words with the right head and the right full label."""
        return percentage(self.all_arcs.arcs, self.words) or 0.0

    @property
    def uas(self) -> float:
        """Unlabelled attachment score: words with the right head."""
        return percentage(self.all_arcs.heads, self.words) or 0.0

    @property
    def la(self) -> float:
        """Label accuracy: words with the right full label."""
        return percentage(self.all_arcs.labels, self.words) or 0.0

    @property
    def upos(self) -> float:
        """Words with the right UPOS."""
        return percentage(self.right_upos, self.words) or 0.0

    @property
    def xpos(self) -> float:
        """Words with the right XPOS."""
        return percentage(self.right_xpos, self.words) or 0.0

    @property
    def exact_match(self) -> float:
        """Sentences with all heads and labels right."""
        return percentage(self.exact, self.sentences) or 0.0

    @property
    def exact_match_unlabelled(self) -> float:
        """Sentences with all heads right."""
        return percentage(self.exact_unlabelled, self.sentences) or 0.0

    @property
    def nonprojective_las(self) -> float | None:
        """The LAS of words whose gold arc is non-projective."""
        return percentage(self.nonprojective.arcs, self.nonprojective.words)

    @property
    def nonprojective_uas(self) -> float | None:
        """The UAS of words whose gold arc is non-projective."""
        return percentage(self.nonprojective.heads, self.nonprojective.words)

    @property
    def nonprojective_la(self) -> float | None:
        """The label accuracy of words whose gold arc is non-projective."""
        return percentage(self.nonprojective.labels, self.nonprojective.words)

    @property
    def projective_las(self) -> float | None:
        """The LAS of words whose gold arc is projective."""
        return percentage(self.all_arcs.arcs - self.nonprojective.arcs, self.words - self.nonprojective.words)

    @property
    def projective_uas(self) -> float | None:
        """The UAS of words whose gold arc is projective."""
        return percentage(self.all_arcs.heads - self.nonprojective.heads, self.words - self.nonprojective.words)

    @property
    def projective_la(self) -> float | None:
        """The label accuracy of words whose gold arc is projective."""
        return percentage(self.all_arcs.labels - self.nonprojective.labels, self.words - self.nonprojective.words)

    @property
    def nonprojective_precision(self) -> float | None:
        """Non-projective arcs of the predicted trees that are non-projective arcs of gold, too."""
        return percentage(self.found_nonprojective, self.predicted_nonprojective)

    @property
    def nonprojective_recall(self) -> float | None:
        """Non-projective arcs of gold that are non-projective arcs of the predicted trees, too."""
        return percentage(self.found_nonprojective, self.nonprojective.words)

    @property
    def nonprojective_f1(self) -> float | None:
        """The harmonic mean of precision and recall of non-projective arcs."""
        return f1(self.found_nonprojective, self.nonprojective.words, self.predicted_nonprojective)

    @property
    def las_universal(self) -> float | None:
        """The LAS of CoNLL 2018: words with the right head and the right label without subtype."""
        return self.conll2018.metrics()["las"].f1

    @property
    def clas(self) -> float | None:
        """Content-word LAS of CoNLL 2018."""
        return self.conll2018.metrics()["clas"].f1

    @property
    def mlas(self) -> float | None:
        """Morphology-aware LAS: as CLAS, and tag, features and functional children must be right."""
        return self.conll2018.metrics()["mlas"].f1

    @property
    def blex(self) -> float | None:
        """Bilexical score: as CLAS, and the lemma must be right."""
        return self.conll2018.metrics()["blex"].f1

    def as_dict(self) -> dict[str, int | float | None]:
        """Return counts and scores as plain data for JSON, scores rounded to four decimals."""
        labelled = self.found_nonprojective_labelled
        data: dict[str, int | float | None] = {"words": self.words, "sentences": self.sentences}
        data |= {
            name: getattr(self, name)
            for name in (
                *("las", "uas", "la", "upos", "xpos", "exact_match", "exact_match_unlabelled"),
                *("projective_las", "projective_uas", "projective_la"),
                *("nonprojective_las", "nonprojective_uas", "nonprojective_la"),
                *("nonprojective_precision", "nonprojective_recall", "nonprojective_f1"),
            )
        }
        data |= {
            "nonprojective_labelled_precision": percentage(labelled, self.predicted_nonprojective),
            "nonprojective_labelled_recall": percentage(labelled, self.nonprojective.words),
            "nonprojective_labelled_f1": f1(labelled, self.nonprojective.words, self.predicted_nonprojective),
            "nonprojective_gold": self.nonprojective.words,
            "nonprojective_predicted": self.predicted_nonprojective,
        }
        return rounded(data) | self.conll2018.as_dict()


Evaluation = Scores | AlignedScores
