"""Whether confidence fits the heads that are right: by hand, and by a slow and obvious twin."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retokenized import changed, conllu, invented, retokenized
from tanglewood import Sentence, read
from tanglewood.errors import ConfigError, FormatError
from tanglewood.measure.alignment import Side, align
from tanglewood.measure.calibration import BINS, Calibration, calibration
from tanglewood.measure.scores import compare, evaluate
from tanglewood.measure.sources import Source

shares = st.one_of(st.integers(0, 10**4).map(lambda n: n / 10**4), st.floats(0, 1))
counted_words = st.lists(st.tuples(shares, st.booleans()), max_size=60)


def sentence(heads, misc=None, forms=None):
    misc = misc or ["_"] * len(heads)
    forms = forms or [f"w{i}" for i in range(1, len(heads) + 1)]
    rows = enumerate(zip(forms, heads, misc, strict=True), 1)
    return Sentence.build([str(i), form, "_", "X", "_", "_", str(h), "dep", "_", m] for i, (form, h, m) in rows)


def sure(*values):
    return [f"Confidence={value}" for value in values]


def counted(words):
    found = Calibration()
    for value, right in words:
        found.count(value, right=right)
    return found


# The error. -------------------------------------------------------------------------------------------------------


def twin(words):
    """The expected calibration error in percent, word for word as it is defined."""
    total = Fraction(0)
    for number in range(BINS):
        inside = [
            (value, right)
            for value, right in words
            if number / BINS <= value < (number + 1) / BINS or (number == BINS - 1 and value == 1)
        ]
        if inside:
            mean = sum(Fraction(value) for value, _ in inside) / len(inside)
            accuracy = Fraction(sum(right for _, right in inside), len(inside))
            total += Fraction(len(inside), len(words)) * abs(mean - accuracy)
    return float(100 * total)


@given(counted_words)
def test_the_error_is_the_one_of_the_definition(words):
    found = counted(words)
    assert found.words == len(words)
    if not words:
        assert (found.ece, found.mean_confidence, found.uas) == (None, None, None)
        return
    assert found.ece == pytest.approx(twin(words), abs=1e-9)
    assert found.mean_confidence == pytest.approx(100 * float(sum(Fraction(value) for value, _ in words) / len(words)))
    assert found.uas == pytest.approx(100 * sum(right for _, right in words) / len(words))


def test_the_error_by_hand():
    found = counted([(0.95, True), (0.97, False), (1.0, True), (0.0, False), (0.5, True)])
    last = 3 / 5 * abs(2.92 / 3 - 2 / 3)
    assert found.ece == pytest.approx(100 * (last + 1 / 5 * 0 + 1 / 5 * 0.5))
    assert [one.words for one in found.bins] == [1, *[0] * 6, 1, *[0] * 6, 3]
    assert (found.bins[-1].right, found.bins[-1].mean_confidence) == (2, pytest.approx(292 / 3))
    assert found.bins[1].uas is found.bins[1].mean_confidence is None
    surely_right = counted([(1.0, True)] * 3)
    assert (surely_right.ece, surely_right.uas) == (0, 100)


def test_what_parse_writes_falls_into_the_right_bin():
    """With four decimals some values lie exactly between two bins, where the next one begins."""
    for number in range(10**4 + 1):
        found = counted([(float(f"{number / 10**4:.4f}"), True)])
        (place,) = [place for place, one in enumerate(found.bins) if one.words]
        assert place == min(number * BINS // 10**4, BINS - 1)


@pytest.mark.parametrize("number", range(1, BINS))
def test_a_bin_begins_exactly_at_its_edge(number):
    assert counted([(number / BINS, True)]).bins[number].words == 1
    assert counted([(math.nextafter(number / BINS, 0), True)]).bins[number - 1].words == 1


def test_only_the_bins_are_kept():
    few, many = (counted([(n % 97 / 97, n % 3 > 0) for n in range(size)]) for size in (1000, 100_000))
    assert len(pickle.dumps(many)) < len(pickle.dumps(few)) + 100


# Sentences. -------------------------------------------------------------------------------------------------------

GOLD = [sentence([3, 3, 0], forms=["a", ".", "b"]), sentence([0, 1])]
SYSTEM = [
    sentence([3, 1, 0], ["X=1|Confidence=0.9", *sure("1e-1"), "Confidence=0.5000|Y"], ["a", ".", "b"]),
    sentence([2, 0], sure(0, "1")),
]


def words_of(found):
    return [(one.words, one.right, one.total) for one in found.bins if one.words]


def test_words_are_counted_with_and_without_punctuation():
    found = calibration(GOLD, SYSTEM)
    assert words_of(found) == [(1, 0, 0), (1, 0, 0.1), (1, 1, 0.5), (1, 1, 0.9), (1, 0, 1)]
    assert found.uas == evaluate(GOLD, SYSTEM).uas
    found = calibration(GOLD, iter(SYSTEM), punctuation=False)
    assert words_of(found) == [(1, 0, 0), (1, 1, 0.5), (1, 1, 0.9), (1, 0, 1)]
    by_sentence = Calibration()
    for pair in zip(GOLD, SYSTEM, strict=True):
        by_sentence.add(compare(*pair))
    assert words_of(by_sentence) == words_of(calibration(GOLD, SYSTEM, align=True))


def test_only_aligned_words_are_counted_where_words_differ():
    gold = [sentence([2, 0, 2, 3], forms=["ab", "c", "de", "f"])]
    system = [sentence([3, 1, 0], sure(0.1, 0.2, 0.3), ["a", "b", "c"]), sentence([0, 1], sure(0.4, 0.9), ["de", "f"])]
    assert words_of(calibration(gold, system)) == [(1, 1, 0.3), (1, 0, 0.4), (1, 1, 0.9)]
    with pytest.raises(ConfigError, match="punctuation=False needs the same words"):
        calibration(gold, system, punctuation=False)
    nothing = calibration([sentence([0], forms=["ab"])], [sentence([0, 1], sure(1, 1), ["a", "b"])])
    assert (nothing.words, nothing.ece) == (0, None)


@given(st.randoms(use_true_random=False), st.booleans())
def test_aligned_words_are_those_of_the_attachment_score(rng, many):
    tokens = invented(rng, "".join(rng.choices("ab", k=rng.randint(1, 30))))
    gold = conllu(tokens)
    bare = conllu(retokenized(rng, tokens, 0.3) if many else changed(rng, tokens, 0.5))
    values, blocks = [], []
    for one in read(BytesIO(bare)):
        mine = [rng.choice([0, 0.2, 0.6, 0.9999, 1, rng.random()]) for _ in range(len(one))]
        blocks.append(one.with_misc("Confidence", map(str, mine)).to_bytes())
        values += mine
    system = b"".join(blocks)
    found = calibration(BytesIO(gold), BytesIO(system), align=True)
    scores = evaluate(BytesIO(gold), BytesIO(system), align=True).metrics
    assert (found.words, found.uas) == (scores["words"].right, scores["uas"].aligned_accuracy)
    one, other = (Side(Source(BytesIO(data))) for data in (gold, system))
    partners = align(one, other)
    counted_ = []
    for node, value in enumerate(values, 1):
        if partners[node] > 0:
            head = other.arcs.heads[node]
            counted_.append((value, one.arcs.heads[partners[node]] == (partners[head] if head else 0)))
    assert words_of(found) == words_of(counted(counted_))
    if not many:
        assert found.as_dict() == calibration(BytesIO(gold), BytesIO(system)).as_dict()


def test_plain_data_are_in_percent():
    data = calibration(GOLD, SYSTEM).as_dict()
    bins = data.pop("bins")
    assert data == {"words": 5, "ece": 34.0, "mean_confidence": 50.0, "uas": 40.0}
    assert len(bins) == BINS
    assert bins[1] == {"from": 6.6667, "to": 13.3333, "words": 1, "right": 0, "mean_confidence": 10.0, "uas": 0.0}
    assert bins[2] == {"from": 13.3333, "to": 20.0, "words": 0, "right": 0, "mean_confidence": None, "uas": None}


@pytest.mark.parametrize(
    ("misc", "message"),
    [
        ("_", r"has no Confidence= in MISC, which tanglewood parse --confidence writes$"),
        ("Sure=0.5|NoConfidence=1", "has no Confidence= in MISC"),
        ("Confidence=", "has Confidence=; it should be a number from 0 to 1$"),
        ("Confidence", "has Confidence=; it should be"),
        *(
            (f"A=1|Confidence={text}", f"has Confidence={text}; it should be a number from 0 to 1$")
            for text in ("high", "1.0001", "-0.1", "nan", "inf", "90%", "0,5")
        ),
    ],
)
@pytest.mark.parametrize("align_", [False, True])
def test_what_is_no_confidence_is_an_error_with_its_place(tmp_path, misc, message, align_):
    path = tmp_path / "s.conllu"
    rows = [sentence([0]), sentence([0, 1, 1], ["Confidence=1", "Confidence=0", misc])]
    path.write_bytes(b"# sent_id = x\n".join([rows[0].with_misc("Confidence", ["1"]).to_bytes(), rows[1].to_bytes()]))
    with pytest.raises(FormatError, match=rf"s\.conllu:6, sent_id x: word 3 {message}"):
        calibration([sentence([0]), sentence([0, 1, 1])], path, align=align_)
