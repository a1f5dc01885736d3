"""Scores of predicted trees: worked by hand, by brute force, and by the official evaluation of CoNLL 2018."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_trees import all_trees, is_nonprojective, random_heads
from tanglewood import Sentence, read
from tanglewood.errors import ConfigError, FormatError, WordsDifferError
from tanglewood.measure.scores import Scores, aligned, compare, evaluate
from tanglewood.measure.tables import GROUPS, Table

GOLD = [[3, 4, 0, 3]]  # the arc 4 -> 2 is over 3, which 4 does not dominate; 3 dominates all
SINGLE_ROOTED = (
    *("Ancient_Greek-Perseus", "Arabic-PADT", "Czech-CAC", "Czech-CLTT", "Czech-FicTree", "Dutch-Alpino"),
    *("English-EWT", "French-Sequoia", "German-GSD", "Hungarian-Szeged", "Latin-Perseus", "Portuguese-Bosque"),
    *("Slovenian-SSJ", "Turkish-IMST"),
)
# By hand: five words, three of them with content labels.
DOG = [
    "1\tthe\tthe\tDET\t_\tDefinite=Def\t2\tdet\t_\t_",
    "2\tdog\tdog\tNOUN\t_\tNumber=Sing|Case=Nom|Animate=Yes\t3\tnsubj\t_\t_",
    "3\tsleeps\tsleep\tVERB\t_\tMood=Ind\t0\troot\t_\t_",
    "4\tnow\tnow\tADV\t_\t_\t3\tadvmod:tmod\t_\t_",
    "5\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_",
]


def sentence(heads, labels=None, forms=None):
    labels = labels or ["dep" if head else "root" for head in heads]
    forms = forms or [f"w{i}" for i in range(1, len(heads) + 1)]
    rows = zip(forms, heads, labels, strict=True)
    return Sentence.build(
        [str(i), form, "_", "_", "_", "_", str(h), x, "_", "_"] for i, (form, h, x) in enumerate(rows, 1)
    )


def scores_of(gold, system, **options):
    return evaluate([sentence(heads) for heads in gold], [sentence(heads) for heads in system], **options)


def dog(*changes):
    text = "\n".join(DOG)
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return Sentence.build(line.split("\t") for line in text.split("\n"))


def counted(counter, *pairs, punctuation=True):
    for gold, system in pairs:
        counter.add(compare(gold, system, punctuation=punctuation))
    return counter


# Attachment. ------------------------------------------------------------------------------------------------------


def test_attachment_scores_by_hand():
    gold = [sentence([2, 0, 2, 3], ["det", "root", "obj", "nmod"]), sentence([0, 1]), sentence([0, 1])]
    system = [
        sentence([2, 0, 2, 2], ["det", "root", "iobj", "nmod"]),
        sentence([0, 1]),
        sentence([0, 1], ["root", "x"]),
    ]
    scores = evaluate(gold, system)
    assert (scores.words, scores.sentences) == (8, 3)
    assert scores.uas == 100 * 7 / 8
    assert scores.la == 100 * 6 / 8
    assert scores.las == 100 * 5 / 8
    assert scores.exact_match == pytest.approx(100 / 3)
    assert scores.exact_match_unlabelled == pytest.approx(200 / 3)
    assert scores.nonprojective_las is scores.nonprojective_precision is scores.nonprojective_f1 is None
    assert scores.projective_las == scores.las
    assert list(scores.per_sentence) == [4, 3, 2, 2, 2, 2, 2, 2, 1]


def test_label_subtypes_count_in_las_and_not_in_the_universal_one():
    pair = (dog(), dog(("advmod:tmod", "advmod")))
    assert evaluate(*([one] for one in pair)).las == 80
    assert counted(Scores(), pair).las_universal == 100


def test_punctuation_is_left_out_only_on_request():
    forms = ["Yes", ",", "no", "?!", "$"]  # a currency sign is a symbol, not punctuation
    gold, system = sentence([3, 1, 0, 3, 3], forms=forms), sentence([3, 3, 0, 1, 1], forms=forms)
    assert evaluate([gold], [system]).uas == 40
    scores = evaluate([gold], [system], punctuation=False)
    assert (scores.words, scores.uas) == (3, pytest.approx(200 / 3))
    only = sentence([0], forms=["..."])
    scores = evaluate([only, gold], [only, system], punctuation=False)
    assert (scores.sentences, scores.exact_match) == (1, 0)
    assert evaluate([only], [only], punctuation=False).as_dict()["las"] == 0
    assert counted(Scores(), (dog(), dog(("\tpunct", "\tadvmod"))), punctuation=False).clas == 100
    rows = counted(Table("direction"), (gold, system), punctuation=False).rows()
    assert sum(row.gold.words for row in rows.values()) == 3


# Sides that do not fit. -------------------------------------------------------------------------------------------


def conllu(*names, forms="ab"):
    """Sentences with these sent_ids, four lines each."""
    rows = "".join(f"{i}\t{form}\t_\t_\t_\t_\t{i - 1}\tdep\t_\t_\n" for i, form in enumerate(forms, 1))
    return "".join(f"# sent_id = {name}\n{rows}\n" for name in names)


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (
            conllu("1") + conllu("2"),
            conllu("1") + conllu("x", forms="ac"),
            "{s}:7, sent_id x: word 2 is 'c', but 'b' in gold at {g}:7, sent_id 2; both should have the same words",
        ),
        (
            conllu("1") + conllu("2"),
            conllu("1") + conllu("2", forms="abc"),
            "{s}:8, sent_id 2: word 3 is 'c', but the sentence at {g}:5, sent_id 2 has 2 words only; both should have",
        ),
        (conllu("1"), conllu("1", forms="a"), "{g}:3, sent_id 1: word 2 is 'b', but the sentence at {s}:1, sent_id 1"),
        (
            conllu("1", "2", "3"),
            conllu("1", "2"),
            "{g}:9, sent_id 3: the system side ends with the sentence before it, at {s}:5, sent_id 2; both should have",
        ),
        (conllu("1"), conllu("1", "2"), "{s}:5, sent_id 2: the gold side ends with the sentence before it, at {g}:1"),
        (conllu("1"), "", "{g}:1, sent_id 1: the system side has no sentences"),
    ],
)
def test_sides_that_do_not_fit_give_both_places(tmp_path, gold, system, message):
    paths = tmp_path / "g.conllu", tmp_path / "s.conllu"
    for path, text in zip(paths, (gold, system), strict=True):
        path.write_text(text)
    pairs = aligned(list(read(paths[0])), [list(read(paths[1]))])  # all of it: what is left would stay open
    with pytest.raises(WordsDifferError) as error:
        list(starmap(lambda one, others: compare(one, *others), pairs))
    assert str(error.value).startswith(message.format(g=paths[0], s=paths[1]))


def test_a_comparison_of_different_words_is_refused():
    with pytest.raises(FormatError, match="word 1 is 'b', but 'a' in gold at <memory>"):
        compare(sentence([0], forms=["a"]), sentence([0], forms=["b"]))


# Non-projective arcs. ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "uas", "precision", "recall", "f1"),
    [
        ([3, 4, 0, 3], 100, 100, 100, 100),
        ([3, 3, 0, 3], 0, None, 0, 0),  # predicted none
        ([4, 3, 0, 3], 0, 0, 0, 0),  # predicted another
        ([4, 4, 4, 0], 100, None, 0, 0),  # the same arc, but projective in the predicted tree
        ([4, 4, 0, 3], 100, 50, 100, pytest.approx(200 / 3)),  # predicted another one too
    ],
)
def test_nonprojective_arcs_by_hand(system, uas, precision, recall, f1):
    scores = scores_of(GOLD, [system])
    assert (scores.nonprojective_uas, scores.nonprojective_precision) == (uas, precision)
    assert (scores.nonprojective_recall, scores.nonprojective_f1) == (recall, f1)


def test_an_arc_nonprojective_in_the_predicted_tree_only_is_a_false_one():
    scores = scores_of([[4, 4, 4, 0]], GOLD)
    assert (scores.nonprojective_precision, scores.nonprojective_recall) == (0, None)


def test_labelled_nonprojective_scores_ask_for_the_label_too():
    heads = [3, 4, 0, 3]
    data = evaluate([sentence(heads, ["a", "b", "c", "d"])], [sentence(heads, ["a", "x", "c", "d"])]).as_dict()
    assert (data["nonprojective_uas"], data["nonprojective_las"], data["nonprojective_la"]) == (100, 0, 0)
    assert (data["projective_uas"], data["projective_las"], data["projective_la"]) == (100, 100, 100)
    assert (data["nonprojective_f1"], data["nonprojective_labelled_f1"]) == (100, 0)
    assert (data["nonprojective_labelled_precision"], data["nonprojective_labelled_recall"]) == (0, 0)
    assert (data["nonprojective_gold"], data["nonprojective_predicted"]) == (1, 1)


# CoNLL 2018. ------------------------------------------------------------------------------------------------------

TWO_OF_THREE = pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("gold", "system", "clas", "mlas", "blex"),
    [
        ((), (), 100, 100, 100),
        ((), [("3\tnsubj", "1\tnsubj"), ("2\tdet", "3\tdet")], TWO_OF_THREE, pytest.approx(100 / 3), TWO_OF_THREE),
        ((), [("2\tdet", "2\tcase")], 100, TWO_OF_THREE, 100),  # the functional child of dog
        ((), [("2\tdet", "3\tdet")], 100, pytest.approx(100 / 3), 100),  # dog lost it, sleeps got it
        ((), [("DET", "PRON")], 100, TWO_OF_THREE, 100),
        ((), [("Def\t", "Ind\t")], 100, TWO_OF_THREE, 100),
        ((), [("NOUN", "PROPN")], 100, TWO_OF_THREE, 100),
        ((), [("Number=Sing", "Number=Plur")], 100, TWO_OF_THREE, 100),
        (
            (),
            [("Number=Sing|Case=Nom|Animate=Yes", "Case=Nom|Number=Sing")],
            100,
            100,
            100,
        ),  # Animate is no universal one
        ((), [("\tpunct", "\tadvmod")], *[pytest.approx(600 / 7)] * 3),  # F1: a fourth content word
        ((), [("\tsleep\t", "\tdream\t")], 100, 100, TWO_OF_THREE),
        ((), [("\tsleep\t", "\t_\t")], 100, 100, TWO_OF_THREE),
        ([("\tsleep\t", "\t_\t")], [("\tsleep\t", "\tdream\t")], 100, 100, 100),
        ((), [("\t.\t.\tPUNCT", "\t.\t!\tX")], 100, 100, 100),  # not a content word
    ],
)
def test_clas_mlas_and_blex_by_hand(gold, system, clas, mlas, blex):
    counts = counted(Scores(), (dog(*gold), dog(*system)))
    assert (counts.clas, counts.mlas, counts.blex) == (clas, mlas, blex)


def test_precision_and_recall_of_content_words():
    data = counted(Scores(), (dog(), dog(("\tpunct", "\tadvmod")))).as_dict()
    assert (data["clas_precision"], data["clas_recall"], data["clas"]) == (75, 100, 85.7143)
    assert counted(Scores(), (sentence([0], ["X"]), sentence([0], ["X"]))).clas is None


def perturbed(rng, source, target, rate, *, tree=True, few=None):
    """Write the first sentences (or all) with some heads, labels, tags, features, lemmas changed; roots stay roots."""
    with target.open("w", encoding="utf-8", newline="\n") as out:
        for one in islice(read(source), few):
            heads = one.heads()[:]
            rows = [list(word) for word in one.words]
            for number, row in enumerate(rows, 1):
                other = rng.choice(rows)
                for column in (2, 3, 5):
                    if rng.random() < rate:
                        row[column] = rng.choice([other[column], "_"])
                if not tree or not heads[number]:
                    continue
                if rng.random() < rate:
                    row[7] = rng.choice([other[7], row[7].partition(":")[0], row[7] + ":x", "det"])
                node = new = rng.randrange(1, len(rows) + 1)
                while node not in {0, number}:
                    node = heads[node]
                if rng.random() < rate and node == 0:
                    heads[number] = new
                    row[6] = str(new)
            lines = one.lines[:]
            for place, row in zip(one.places, rows, strict=True):
                lines[place] = "\t".join(row)
            out.write("\n".join(lines))


@pytest.mark.parametrize("name", SINGLE_ROOTED)
def test_scores_agree_with_the_official_evaluation(shared, few, tmp_path, name):
    from udtools import udeval

    rng = random.Random(name)
    source = shared / "treebanks" / name / "test.conllu"
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    perturbed(rng, source, gold, 0.03, tree=False, few=few)  # some gold lemmas are missing
    perturbed(rng, gold, system, 0.1)
    with gold.open(encoding="utf-8") as one, system.open(encoding="utf-8") as other:
        official = udeval.evaluate(udeval.load_conllu(one, "gold", {}), udeval.load_conllu(other, "system", {}))
    scores = evaluate(gold, system)
    assert scores.uas == pytest.approx(100 * official["UAS"].f1)
    ours = scores.as_dict()
    assert ours["las_universal"] == pytest.approx(100 * official["LAS"].f1, abs=1e-4)
    for key in ("clas", "mlas", "blex"):
        theirs = official[key.upper()]
        assert 20 < ours[key] < 95
        assert ours[key] == pytest.approx(100 * theirs.f1, abs=1e-4)
        assert ours[f"{key}_precision"] == pytest.approx(100 * theirs.precision, abs=1e-4)
        assert ours[f"{key}_recall"] == pytest.approx(100 * theirs.recall, abs=1e-4)


def test_every_conllu_treebank_is_compared_with_the_official_evaluation(shared):
    assert {path.parent.name for path in (shared / "treebanks").glob("*/test.conllu")} == set(SINGLE_ROOTED)


# Tables. ----------------------------------------------------------------------------------------------------------


def test_tables_by_hand():
    gold = sentence([2, 0, 2, 3], ["det", "root", "obj", "nmod"])
    system = sentence([2, 0, 2, 1], ["det", "root", "iobj", "nmod"])
    data = {by: counted(Table(by), (gold, system)).as_dict() for by in GROUPS}
    assert list(data["label"]) == ["det", "nmod", "obj", "root", "iobj"]
    assert data["label"]["nmod"] == {
        **{"gold": 1, "system": 1, "las": 0, "uas": 0, "la": 100},
        **{"uas_precision": 0, "las_precision": 0, "las_f1": 0},
    }
    assert data["label"]["iobj"]["las"] is None
    assert data["label"]["iobj"]["uas_precision"] == 100
    assert list(data["length"]) == ["1", "3-6", "root"]
    assert [data["length"]["1"][key] for key in ("gold", "system", "uas", "las", "las_precision", "las_f1")] == [
        *(3, 2, 66.6667, 33.3333, 50, 40)
    ]
    assert {key: row["uas"] for key, row in data["direction"].items()} == {"left": 100, "right": 50, "root": 100}
    assert {key: (row["gold"], row["system"]) for key, row in data["degree"].items()} == {"0": (4, 3), "1": (0, 1)}


def test_degrees_are_those_of_2007():
    tree = sentence(*GOLD)  # 3 and 0 dominate 2, but through 4, outside the arcs 3 -> 1 and 0 -> 3
    rows = counted(Table("degree"), (tree, tree)).rows()
    assert {name: row.gold.words for name, row in rows.items()} == {"0": 1, "1": 3}


def test_groups_by_crossing_are_what_looking_at_every_word_says():
    for heads in all_trees(4):
        tree = sentence(heads)
        expected = Counter(
            f"{'non-projective' if is_nonprojective(heads, word) else 'projective'} "
            f"{'root' if head == 0 else 'left' if word < head else 'right'}"
            for word, head in enumerate(heads, 1)
        )
        rows = counted(Table("crossing"), (tree, tree)).rows()
        assert {name: row.gold.words for name, row in rows.items()} == expected
        assert all(row.gold.labels == row.gold.heads == row.gold.words for row in rows.values())


def test_lengths_are_put_into_groups_in_ascending_order():
    chain = sentence([0, *[1] * 30])
    rows = counted(Table("length"), (chain, chain)).rows()
    assert {name: row.gold.words for name, row in rows.items()} == {
        **{"1": 1, "2": 1, "3-6": 4, "7-10": 4, "11-20": 10, "21+": 10, "root": 1}
    }
    assert list(rows) == ["1", "2", "3-6", "7-10", "11-20", "21+", "root"]


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(ConfigError, match="label, length, direction, degree"):
        Table("colour")


# What holds for all trees. ----------------------------------------------------------------------------------------


@st.composite
def tree_pairs(draw):
    """Two trees over the same words, some of them punctuation, with labels from a few."""
    n = draw(st.integers(1, 8))
    labels = st.lists(st.sampled_from(["nsubj", "obj", "obj:x", "det", "punct"]), min_size=n, max_size=n)
    forms = draw(st.lists(st.sampled_from(["a", "b", ","]), min_size=n, max_size=n))
    return [sentence(draw(random_heads(n, n)), draw(labels), forms) for _ in range(2)]


@given(st.lists(tree_pairs(), min_size=1, max_size=3), st.booleans())
def test_gold_against_itself_is_right_everywhere(pairs, punctuation):
    golds = [gold for gold, _ in pairs]
    scores = evaluate(golds, golds, punctuation=punctuation)
    counts = {"words", "sentences", "nonprojective_gold", "nonprojective_predicted"}
    data = scores.as_dict() | counted(Scores(), *zip(golds, golds, strict=True), punctuation=punctuation).as_dict()
    if scores.words:
        assert {value for key, value in data.items() if key not in counts} <= {100, None}
        assert scores.las == scores.uas == scores.exact_match == 100
        assert scores.nonprojective_f1 == (100 if scores.nonprojective.words else None)


@given(st.lists(tree_pairs(), min_size=1, max_size=3), st.booleans())
def test_scores_are_those_of_the_definitions_and_symmetric(pairs, punctuation):
    golds, systems = zip(*pairs, strict=True)
    scores = evaluate(golds, systems, punctuation=punctuation)
    swapped = evaluate(systems, golds, punctuation=punctuation)
    words = [
        (g[6], s[6], g[7], s[7], *(is_nonprojective(list(tree.heads()[1:]), i + 1) for tree in (gold, system)))
        for gold, system in pairs
        for i, (g, s) in enumerate(zip(gold.words, system.words, strict=True))
        if punctuation or g[1] != ","
    ]
    assert scores.words == len(words)
    assert scores.all_arcs.heads == sum(g == s for g, s, *_ in words)
    assert scores.all_arcs.arcs == sum((g, x) == (s, y) for g, s, x, y, *_ in words)
    assert scores.nonprojective.heads == sum(g == s for g, s, _, _, crossing, _ in words if crossing)
    assert scores.found_nonprojective == sum(g == s and a and b for g, s, _, _, a, b in words)
    assert scores.found_nonprojective_labelled == sum((g, x) == (s, y) and a and b for g, s, x, y, a, b in words)
    assert scores.predicted_nonprojective == sum(crossing for *_, crossing in words)
    for name in ("las", "uas", "la", "exact_match", "exact_match_unlabelled", "nonprojective_f1"):
        assert getattr(scores, name) == getattr(swapped, name)
    assert scores.nonprojective_precision == swapped.nonprojective_recall
    assert scores.las <= min(scores.uas, scores.la)
    one, other = (
        counted(Scores(), *((pair[k], pair[1 - k]) for pair in pairs), punctuation=punctuation) for k in (0, 1)
    )
    assert (one.clas, one.mlas) == (other.clas, other.mlas)
    assert one.as_dict()["clas_precision"] == other.as_dict()["clas_recall"]
    for by in GROUPS:
        rows = counted(Table(by), *pairs, punctuation=punctuation).rows().values()
        assert sum(row.gold.arcs for row in rows) == sum(row.system.arcs for row in rows) == scores.all_arcs.arcs
        assert sum(row.gold.words for row in rows) == sum(row.system.words for row in rows) == len(words)
