"""Heads that are given stay, and the rest is the best tree with them, as brute force finds it."""

from __future__ import annotations

from io import BytesIO

import pytest

import tanglewood as tw
from brute_trees import all_trees, is_nonprojective
from tanglewood.cli import main
from tanglewood.decoders.base import score_table
from tanglewood.decoders.kept import with_heads
from tanglewood.errors import ConfigError, TreeError
from tanglewood.ml.words import words_of
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from toy import small_network, toy_sentences, train_parser

LONGEST = 5


def learnt(**choices):
    """A model of another learner, after one epoch."""
    *_, last = Training(Config(settings={"epochs": 1}, **choices), toy_sentences(15)).run()
    return last.parser


@pytest.fixture(scope="module")
def joint():
    with pytest.MonkeyPatch.context() as patch:
        small_network(patch)
        return train_parser(toy_sentences(15))


@pytest.fixture(scope="module")
def graph_based():
    return learnt(learner="arcs", search="mst")


def with_given(sentence, heads, labels=None):
    """The sentence with these heads, None where there is to be none."""
    rows = [list(row) for row in sentence.words]
    for place, (row, head) in enumerate(zip(rows, heads, strict=True)):
        row[6] = "_" if head is None else str(head)
        row[7] = "_" if labels is None else labels[place]
    text = "# sent_id = given\n" + "".join("\t".join(row) + "\n" for row in rows) + "\n"
    (found,) = tw.read(BytesIO(text.encode()), trees=False)
    return found


def some_given(sentence):
    """Different heads for one or two words of a sentence, right or wrong, of which a tree can be made."""
    n = len(sentence)
    trees = list(all_trees(n))
    for heads in trees[:: 1 + len(trees) // 20]:
        if heads.count(0) == 1:
            yield [heads[0], *[None] * (n - 1)]
            yield [None, *heads[1:3], *[None] * (n - 3)]


def scores_of(parser, sentence):
    workspace = parser.model.workspace()
    workspace.encode([words_of(sentence)])
    return workspace.score(0).scores


def value(scores, heads):
    return sum(float(scores[head, word]) for word, head in enumerate(heads, 1))


def fits(heads, given):
    return all(wanted is None or head == wanted for head, wanted in zip(heads, given, strict=True))


@pytest.mark.parametrize(("kind", "search"), [("joint", "mst"), ("graph_based", "mst"), ("joint", "eisner")])
def test_the_tree_is_the_best_of_those_with_the_given_heads(request, kind, search):
    parser = request.getfixturevalue(kind)
    short = [sentence for sentence in toy_sentences(80, seed=9) if 3 <= len(sentence) <= LONGEST][:4]
    assert short
    other_trees = []  # whether the search had to look at trees that are not of its kind
    for sentence in short:
        n = len(sentence)
        scores = scores_of(parser, sentence)
        for given in some_given(sentence):
            (parsed,) = parser.parse_all([with_given(sentence, given)], search=search, keep_heads=True)
            found = list(parsed.tree.heads[1:])
            assert fits(found, given)
            trees = [heads for heads in all_trees(n) if heads.count(0) == 1 and fits(heads, given)]
            flat = [heads for heads in trees if not any(is_nonprojective(heads, word) for word in range(1, n + 1))]
            allowed = flat if search == "eisner" and flat else trees
            assert value(scores, found) == pytest.approx(max(value(scores, heads) for heads in allowed), abs=1e-4)
            other_trees.append("instead of eisner" in parsed.to_text())
            assert other_trees[-1] == (search == "eisner" and not flat)
    assert set(other_trees) == ({True, False} if search == "eisner" else {False})


@pytest.mark.parametrize("options", [{}, {"accurate": True}, {"confidence": True}, {"search": "mst", "min_risk": True}])
def test_every_search_that_takes_them_keeps_them(joint, options):
    for sentence in toy_sentences(6, seed=5):
        gold = list(sentence.tree.heads[1:])
        wrong = [gold[0], *[None] * (len(gold) - 2), 1 if gold[0] != len(gold) else 2]
        (parsed,) = joint.parse_all([with_given(sentence, wrong)], keep_heads=True, **options)
        assert fits(list(parsed.tree.heads[1:]), wrong)
        if "confidence" in options:
            assert "Confidence=1.0000" in parsed.misc[0]


def test_labels_stay_too_and_only_what_is_missing_is_filled_in(joint):
    sentence = toy_sentences(1, seed=5)[0]
    gold = list(sentence.tree.heads[1:])
    labels = ["odd:label", *["_"] * (len(gold) - 1)]
    (parsed,) = joint.parse_all([with_given(sentence, [gold[0], *[None] * (len(gold) - 1)], labels)], keep_heads=True)
    assert parsed.deprels[0] == "odd:label"
    assert "_" not in parsed.deprels
    (whole,) = joint.parse_all([sentence], keep_heads=True)
    assert whole.to_bytes() == sentence.to_bytes()


def test_without_any_heads_nothing_changes(joint):
    bare = [with_given(sentence, [None] * len(sentence)) for sentence in toy_sentences(5, seed=6)]
    plain = [one.to_bytes() for one in joint.parse_all(bare)]
    assert plain == [one.to_bytes() for one in joint.parse_all(bare, keep_heads=True)]


def test_text_has_no_heads_to_keep(pipeline, model, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("Dax zorps.")
    for text in ("Dax zorps.", str(tmp_path / "text.txt")):
        assert main(["parse", "-m", str(model), text, "--keep-heads"]) == 1
        assert "treebanks whose words have some heads already; this is text" in capsys.readouterr().err


def test_heads_that_no_tree_has_are_errors_that_say_where(joint, tmp_path, capsys):
    sentence = next(one for one in toy_sentences(9) if len(one) > 4)
    rest = [None] * (len(sentence) - 2)
    for heads, message in (
        ([2, 1, *rest], "form a cycle"),
        ([0, 0, *rest], r"several words have head 0 \(1, 2\), and"),
    ):
        with pytest.raises(TreeError, match=message):
            list(joint.parse_all([with_given(sentence, heads)], keep_heads=True))
    joint.save(tmp_path / "m.tw")
    good = with_given(toy_sentences(1)[0], [None] * len(toy_sentences(1)[0]))
    (tmp_path / "half.conllu").write_bytes(with_given(sentence, [2, 1, *rest]).to_bytes() + good.to_bytes())
    command = ["parse", "-m", str(tmp_path / "m.tw"), str(tmp_path / "half.conllu"), "--keep-heads"]
    assert main(command) == 1
    assert "half.conllu:2, sent_id given: words 1 <- 2 <- 1 form a cycle" in capsys.readouterr().err
    assert main([*command, "--on-error", "skip"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("# sent_id") == 1
    assert "1 sentence left out" in captured.err


def test_where_heads_cannot_be_kept_it_is_refused(joint):
    moves = learnt(learner="linear")
    pseudo = train_parser(toy_sentences(10), system="arc-standard", pseudo_projective="head", settings={"epochs": 1})
    (sentence,) = toy_sentences(1)
    for parser, options, message in (
        (moves, {}, "scores moves alone"),
        (pseudo, {}, "pseudo-projective"),
        (joint, {"search": "greedy"}, "greedy search follows moves"),
        (joint, {"search": "rescore"}, "rescore search follows moves"),
        (joint, {"nbest": 2}, "n-best search follows moves"),
    ):
        with pytest.raises(ConfigError, match=message):
            list(parser.parse_all([sentence], keep_heads=True, **options))


def test_a_sentence_beyond_the_limits_is_an_error_and_not_parsed_without_its_heads(joint):
    sentence = toy_sentences(1)[0]
    given = with_given(sentence, [*[None] * (len(sentence) - 1), 1])
    with pytest.raises(tw.TanglewoodError, match="beyond its limits"):
        list(joint.parse_all([given], keep_heads=True, max_length=2))


def test_a_table_with_heads_forbids_all_others():
    table = with_heads(score_table(3, 1.0), [-1, 2, -2, 0])
    assert [[table[head, word] for word in (1, 2, 3)] for head in range(4)] == [
        [float("-inf"), 1.0, 1.0],
        [float("-inf"), 1.0, float("-inf")],
        [1.0, 1.0, float("-inf")],
        [float("-inf"), 1.0, float("-inf")],
    ]
