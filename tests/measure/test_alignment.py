"""Scores where the words differ: by hand, by slow and obvious twins, and by the official evaluation of CoNLL 2018."""

from __future__ import annotations

import os
import sys
import threading
import unicodedata
from io import BytesIO, StringIO
from itertools import combinations, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retokenized import analysed, changed, conllu, invented, retokenized
from tanglewood import read
from tanglewood.errors import ConfigError, FormatError
from tanglewood.measure import alignment
from tanglewood.measure.aligned_scores import AlignedScores
from tanglewood.measure.alignment import Side, align, common_spans, common_subsequence
from tanglewood.measure.scores import Scores, evaluate
from tanglewood.measure.shares import Metric
from tanglewood.measure.sources import Source

TAGS = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas")
OFFICIAL = ("Tokens", "Sentences", "Words", *TAGS, "UAS", "LAS", "CLAS", "MLAS", "BLEX")
randoms = st.randoms(use_true_random=False)


def text_of(*sentences):
    """CoNLL-U of sentences with words "form" and multiword tokens "surface>form+form"; all hang below the first."""
    lines = []
    for number, sentence in enumerate(sentences, 1):
        lines.append(f"# sent_id = {number}")
        words = 0
        for token in sentence.split():
            surface, arrow, parts = token.partition(">")
            forms = parts.split("+") if arrow else [surface]
            if arrow:
                lines.append("\t".join([f"{words + 1}-{words + len(forms)}", surface, *"________"]))
            for form in forms:
                words += 1
                head, label = ("0", "root") if words == 1 else ("1", "dep")
                lines.append(f"{words}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_")
        lines.append("")
    return "\n".join([*lines, ""]).encode()


def side(data):
    return Side(Source(BytesIO(data)))


def scores_of(gold, system):
    return evaluate(BytesIO(gold), BytesIO(system), align=True)


def assert_official(gold, system):
    """Compare all counts with those of the official evaluation; return our scores."""
    from udtools import udeval

    sides = [
        udeval.load_conllu(StringIO(data.decode()), name, {}) for data, name in ((gold, "gold"), (system, "system"))
    ]
    theirs = udeval.evaluate(*sides)
    scores = scores_of(gold, system)
    for name in OFFICIAL:
        ours, other = scores.metrics[name.lower()], theirs[name]
        if name == "XPOS" and scores.xpos is None:
            assert {row.columns[4] for one in sides for row in one.words} == {"_"}
            continue
        found = (ours.right, ours.gold, ours.system, ours.aligned)
        assert found == (other.correct, other.gold_total, other.system_total, other.aligned_total), name
        for score in ("precision", "recall", "f1", "aligned_accuracy"):
            assert (getattr(ours, score) or 0) == pytest.approx(100 * (getattr(other, score) or 0)), (name, score)
    return scores


# The official evaluation. -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alphabet", ["ab", "abcABC", "ıİßx"])  # with few letters words are often alike by chance
@given(rng=randoms, data=st.data())
def test_invented_texts_score_as_in_the_official_evaluation(alphabet, rng, data):
    characters = data.draw(st.text(alphabet, min_size=1, max_size=30))
    assert_official(*(conllu(invented(rng, characters, alphabet)) for _ in range(2)))


@given(rng=randoms, data=st.data())
def test_texts_that_differ_little_score_as_in_the_official_evaluation(rng, data):
    tokens = invented(rng, data.draw(st.text("abc", min_size=1, max_size=60)), "abc")
    assert_official(conllu(tokens), conllu(retokenized(rng, tokens, 0.1)))


@pytest.mark.parametrize("name", ["French-Sequoia", "Portuguese-Bosque", "Turkish-IMST"])
def test_retokenized_treebanks_score_as_in_the_official_evaluation(shared, few, name):
    sentences = list(islice(read(shared / "treebanks" / name / "test.conllu"), few))
    gold = b"".join(one.to_bytes() for one in sentences)
    tokens = analysed(sentences)
    for rate in (0.02, 0.2):
        system = conllu(retokenized(Random(name), tokens, rate))
        scores = assert_official(gold, system)
        assert 5 < scores.las < 95
        assert scores.tokens_f1 < 99
        assert isinstance(evaluate(BytesIO(gold), BytesIO(system)), AlignedScores)


# Slow and obvious twins. ------------------------------------------------------------------------------------------


@given(rng=randoms, data=st.data())
def test_where_all_characters_differ_words_with_the_same_form_are_partners(rng, data):
    """So it is in multiword tokens too, as long as their words are parts of them."""
    characters = "".join(data.draw(st.permutations("abcdefghijklmnop")))
    gold, system = (side(conllu(invented(rng, characters))) for _ in range(2))
    places = {gold.form(node): node for node in range(1, len(gold) + 1)}
    expected = [places.get(system.form(node), -1) for node in range(1, len(system) + 1)]
    assert align(gold, system).tolist() == [0, *expected]


@given(*[st.lists(st.sampled_from("abc"), max_size=6)] * 2)
def test_common_subsequences_are_the_longest_of_all(one, other):
    found = list(common_subsequence(one, other))
    assert found == sorted(set(found))
    assert all(one[i] == other[j] for i, j in found)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
    subsequences = {
        tuple(one[i] for i in places) for size in range(len(one) + 1) for places in combinations(range(len(one)), size)
    }
    common = [
        places for size in range(len(other) + 1) for places in combinations(other, size) if places in subsequences
    ]
    assert len(found) == max(map(len, common))


@given(*[st.lists(st.integers(1, 3), max_size=12)] * 2)
def test_common_spans_are_those_in_both(one, other):
    ends = [[sum(sizes[: k + 1]) for k in range(len(sizes))] for sizes in (one, other)]
    spans = [{*zip([0, *places], places, strict=False)} for places in ends]
    assert common_spans(*ends) == len(spans[0] & spans[1])


def test_spaces_are_those_of_the_unicode_category():
    spaces = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Zs"]
    assert spaces == [*alignment.SPACES]


# By hand. ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "system", "partners"),
    [
        ("a b c", "a b c", [1, 2, 3]),
        ("abcd", "a b c d", [-1, -1, -1, -1]),
        ("a bc d", "a b c d", [1, -1, -1, 3]),
        ("abc>a+b+c", "a b c", [1, 2, 3]),
        ("abc>A+x+C", "a b c", [1, -1, 3]),  # by their forms, whatever the case
        ("ab>a+b cd>c+d", "abcd>a+b+c+d", [1, 2, 3, 4]),
        ("ab>a+b cd>c+d", "a bc>b+c d", [1, 2, 3, 4]),  # tokens that overlap make one stretch
        ("ab>x+b+y+b", "ab>b+b", [2, 4]),
        ("du>de+le chat", "du chat", [-1, 3]),
        ("abc de>b+e", "a b c d e", [-1, 2, -1, -1, 3]),  # so does the official evaluation, though b is not in de
    ],
)
def test_alignment_by_hand(gold, system, partners):
    texts = text_of(gold), text_of(system)
    assert align(*map(side, texts)).tolist() == [0, *partners]
    assert_official(*texts)


def test_scores_by_hand():
    """Of gold's words a, b, c, d, e, f, g and the system's a, b, c, d, e, fg the first five are partners."""
    scores = assert_official(text_of("a bc>b+c", "d e f g"), text_of("a bc>b+c d", "e fg"))
    found = {name: (metric.right, metric.gold, metric.system) for name, metric in scores.metrics.items()}
    assert found["tokens"] == (4, 6, 5)
    assert found["sentences"] == (0, 2, 2)
    assert found["words"] == (5, 7, 6)
    assert found["uas"] == found["las"] == (3, 7, 6)  # d and e: one hangs below a, the other is a root
    assert scores.las == scores.las_universal == pytest.approx(600 / 13)
    assert (scores.words, scores.sentences, scores.xpos) == (7, 2, None)
    assert scores.metrics["las"].aligned_accuracy == 60
    data = scores.as_dict()
    assert (data["las"], data["las_precision"], data["las_recall"], data["las_aligned_accuracy"]) == (
        46.1538,
        50,
        42.8571,
        60,
    )
    assert (data["words"], data["words_system"], data["words_aligned"], data["words_f1"]) == (7, 6, 5, 76.9231)
    assert (data["xpos"], data["tokens_f1"]) == (None, 72.7273)


def nonprojective_text(*rows):
    """A sentence of words with their heads and labels."""
    lines = (f"{i}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_\n" for i, (form, head, label) in enumerate(rows, 1))
    return "".join([*lines, "\n"]).encode()


def test_nonprojective_arcs_are_right_between_partners_if_nonprojective_in_both():
    gold = nonprojective_text(
        ("a", 3, "x"), ("b", 4, "x"), ("c", 0, "x"), ("dd", 3, "x"), ("e", 2, "x")
    )  # dd -> b and b -> e are over c
    assert next(read(BytesIO(gold))).tree.nonprojective_arcs() == [2, 5]
    system = nonprojective_text(
        ("a", 3, "x"), ("b", 4, "x"), ("c", 0, "x"), ("d", 3, "x"), ("d", 3, "x"), ("e", 2, "x:y")
    )  # d -> b and b -> e
    assert next(read(BytesIO(system))).tree.nonprojective_arcs() == [2, 6]
    scores = evaluate(BytesIO(gold), BytesIO(system))
    assert scores.metrics["nonprojective"] == scores.metrics["nonprojective_labelled"] == Metric(1, 2, 2, 2)
    assert (scores.nonprojective_precision, scores.nonprojective_recall, scores.nonprojective_f1) == (50, 50, 50)
    scores = evaluate(BytesIO(gold), BytesIO(system.replace(b"x:y", b"y:x")))
    assert (scores.nonprojective_f1, scores.as_dict()["nonprojective_labelled_f1"]) == (50, 0)
    assert (scores.as_dict()["nonprojective_gold"], scores.as_dict()["nonprojective_predicted"]) == (2, 2)
    plain = text_of("a b")
    assert evaluate(BytesIO(plain), BytesIO(text_of("ab"))).nonprojective_f1 is None


@given(rng=randoms, data=st.data())
def test_where_the_words_are_the_same_aligned_scores_are_the_others(rng, data):
    """But for las, whose labels count without subtypes."""
    tokens = invented(rng, data.draw(st.text("abc", min_size=1, max_size=40)), "abc")
    gold, system = conllu(tokens), conllu(changed(rng, tokens, 0.3))
    same, aligned = evaluate(BytesIO(gold), BytesIO(system)), scores_of(gold, system)
    assert isinstance(same, Scores)
    assert isinstance(aligned, AlignedScores)
    names = ("words", "sentences", "uas", "upos", "las_universal", "clas", "mlas", "blex")
    crossing = ("nonprojective_precision", "nonprojective_recall", "nonprojective_f1")
    for name in (*names, *crossing):
        assert getattr(aligned, name) == getattr(same, name), name
    assert aligned.las >= same.las
    assert aligned.xpos in {None, same.xpos}


# Where the sentences come from. -----------------------------------------------------------------------------------

GOLD, SYSTEM = text_of("a b", "c d>x+y", "ef g"), text_of("a b", "c d>x+y", "e f g")  # the third differs


def pipe(data):
    """The path of a pipe from which the data comes."""
    out, into = os.pipe()
    thread = threading.Thread(target=lambda: (os.write(into, data), os.close(into)))
    thread.start()
    return out, thread


def test_sentences_may_come_from_anywhere(tmp_path):
    paths = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    for path, data in zip(paths, (GOLD, SYSTEM), strict=True):
        path.write_bytes(data)
    expected = scores_of(GOLD, SYSTEM)
    assert expected.metrics["words"].right == 6
    assert evaluate(*paths) == evaluate(*map(str, paths)) == expected
    assert evaluate(*map(read, paths)) == evaluate(*(list(read(path)) for path in paths)) == expected
    assert evaluate(paths[0], (sentence for sentence in read(paths[1]))) == expected
    with paths[0].open("rb") as gold, paths[1].open("rb") as system:
        assert evaluate(gold, system) == expected
    out, thread = pipe(SYSTEM)
    assert evaluate(paths[0], f"/dev/fd/{out}") == expected
    thread.join()
    os.close(out)


def test_what_can_be_had_once_only_is_kept_and_nothing_else(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_bytes(GOLD)
    sentences = list(read(path))
    for given_, kept in ((path, 0), (sentences, 0), (iter(sentences), 3), (read(path), 3), (BytesIO(GOLD), 3)):
        source = Source(given_)
        first = iter(source)
        assert next(first).sent_id == "1"
        assert [one.to_bytes() for one in source] == [one.to_bytes() for one in sentences]
        assert [(one.line, one.format, one.line_of(1)) for one in source] == [
            (1, "conllu", 2),
            (5, "conllu", 6),
            (11, "conllu", 12),
        ]
        assert len(source._kept) == kept


def test_a_generator_is_asked_for_each_sentence_once():
    asked = []

    def sentences():
        for sentence in read(BytesIO(SYSTEM)):
            asked.append(sentence.sent_id)
            yield sentence

    assert evaluate(BytesIO(GOLD), sentences()) == scores_of(GOLD, SYSTEM)
    assert asked == ["1", "2", "3"]


def test_nothing_against_nothing_is_no_error():
    assert evaluate([], []).words == evaluate([], [], align=True).words == 0


# What cannot be aligned. ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (
            text_of("a b", "c d e f g h i j k"),
            text_of("a b", "c de f G h i j k"),
            "{s}:9, sent_id 2: 'G' in 'b c de f G h i j k' here, but 'g' in 'c d e f g h i j k' in gold at {g}:10, "
            "sent_id 2; both should have the same text, spaces aside",
        ),
        (
            text_of("a b>x+y+z c"),
            text_of("a bd>x+y c"),
            "{s}:3, sent_id 1: 'd' in 'a bd c' here, but 'c' in 'a b c' in gold at {g}:7, sent_id 1; both",
        ),
        (
            text_of("a", "bc", "de"),
            text_of("a", "bc"),
            "{g}:8, sent_id 3: the system side ends before 'd' in 'a bc de', at {s}:5, sent_id 2; both should have "
            "the same text, spaces aside; only gold has sentence 3: --agreement matches sentences by sent_id",
        ),
        (
            text_of("a b"),
            text_of("ab", "c"),
            "{s}:5, sent_id 2: the gold side ends before 'c' in 'ab c', at {g}:3, sent_id 1; both should have the same "
            "text, spaces aside; only the system has sentence 2: --agreement matches sentences by sent_id",
        ),
        (text_of("a"), b"", "{g}:2, sent_id 1: the system side is empty; both should have the same text, spaces aside"),
    ],
)
def test_texts_that_differ_give_both_places_and_what_stands_there(tmp_path, gold, system, message):
    paths = tmp_path / "g.conllu", tmp_path / "s.conllu"
    for path, data in zip(paths, (gold, system), strict=True):
        path.write_bytes(data)
    for sources in (paths, [*map(read, paths)]):
        with pytest.raises(FormatError) as error:
            evaluate(*sources)
        assert str(error.value).startswith(message.format(g=paths[0], s=paths[1]))


@pytest.mark.parametrize("unnamed", [False, True])
def test_a_sentence_that_one_side_lacks_is_named_if_sentences_have_names(unnamed):
    first, second, third = text_of("a b", "c", "d e").split(b"# sent_id")[1:]
    gold, system = (b"".join(b"# sent_id" + one for one in some) for some in ((first, second, third), (first, third)))
    if unnamed:
        gold = gold.replace(b"# sent_id = 3\n", b"")
    for sources, side in (((gold, system), "gold"), ((system, gold), "the system")):
        with pytest.raises(FormatError, match=r"'[cd]' in .* both should have the same text, spaces aside") as error:
            evaluate(*map(BytesIO, sources))
        hint = f"; only {side} has sentence 2: --agreement matches sentences by sent_id"
        assert str(error.value).endswith("spaces aside" if unnamed else hint)


def test_words_of_spaces_only_have_no_place_in_the_text():
    blank = text_of("a b c").replace(b"\tb\t", "\t\xa0\t".encode())
    with pytest.raises(FormatError, match=r"<stream>:3, sent_id 1: word 2, or .* spaces only"):
        evaluate(BytesIO(text_of("a c")), BytesIO(blank))


def test_punctuation_can_be_left_out_only_where_the_words_are_the_same():
    with pytest.raises(
        ConfigError, match=r"same words .*, but <stream>:12, sent_id 3: word 1 is 'e', but 'ef' in gold"
    ):
        evaluate(BytesIO(GOLD), BytesIO(SYSTEM), punctuation=False)
    with pytest.raises(ConfigError, match="does not go with align=True"):
        evaluate(BytesIO(GOLD), BytesIO(GOLD), punctuation=False, align=True)
