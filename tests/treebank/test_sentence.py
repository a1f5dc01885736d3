"""Sentences: copies with other trees, columns and comments, made from columns, converted between the formats."""

import pickle

import pytest
from hypothesis import given

from brute_trees import random_heads
from conllu_texts import PLAIN, RICH, block, parse, row
from tanglewood.errors import ConfigError, FormatError, TreeError
from tanglewood.treebank import Sentence, Tree, conllu
from tanglewood.treebank.ranges import multiword_ranges


def test_with_tree_changes_heads_and_labels_of_changed_words_only():
    text = RICH.replace("\n", "\r\n").replace("# newdoc", "\ufeff# newdoc")
    sentence = parse(text)[0]
    tree = sentence.tree
    tree.heads[5] = 3
    tree.labels[7] = "mark"
    assert sentence.tree != tree
    changed = sentence.with_tree(Tree(tree.heads[1:], tree.labels[1:]))
    before, after = sentence.to_text().split("\n"), changed.to_text().split("\n")
    different = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert different == [
        ("5\told\told\tADJ\tJJ\t_\t6\tamod\t6:amod\t_\r", "5\told\told\tADJ\tJJ\t_\t3\tamod\t6:amod\t_\r"),
        ("7\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_\r", "7\t.\t.\tPUNCT\t.\t_\t1\tmark\t1:punct\t_\r"),
    ]
    assert changed.tree == tree
    assert sentence.to_text() == text[: len(sentence.to_text())]
    assert parse(changed.to_text())[0].words == changed.words


@given(random_heads(6, min_n=2), random_heads(6, min_n=2))
def test_with_tree_is_what_reading_it_back_gives(old, new):
    n = min(len(old), len(new))
    old, new = [[head if head <= n else 0 for head in heads[:n]] for heads in (old, new)]
    (sentence,) = parse(block(*(row(i, str(head)) for i, head in enumerate(old, 1))))
    tree = Tree(new, [f"label{head}" for head in new])
    changed = sentence.with_tree(tree)
    assert changed.tree == parse(changed.to_text())[0].tree == tree
    assert sentence.tree.heads[1:].tolist() == old
    assert changed.with_tree(sentence.tree).to_text() == sentence.to_text()


def test_with_tree_fills_missing_heads():
    (sentence,) = parse(block(row(1, "_", "_"), row(2, "_", "_")), trees=False)
    assert sentence.with_tree(Tree([2, 0], ["a", "root"])).to_text() == block(row(1, "2", "a"), row(2, "0", "root"))


def test_with_tree_refuses_a_tree_that_does_not_fit():
    (sentence,) = parse(PLAIN)
    with pytest.raises(TreeError, match="the tree has 1 words; it should have 3"):
        sentence.with_tree(Tree([0]))
    for label in ("", "a\tb", "a\nb"):
        with pytest.raises(TreeError, match=r"<stream>:2: label .* of word 2"):
            sentence.with_tree(Tree([2, 0, 2], ["SBJ", label, "ADV"]))


def test_a_label_no_column_could_hold_may_stay_where_it_is_but_go_nowhere_else():
    (sentence,) = parse(block(row(1, "0", "a\rb"), row(2, "1", "c")))
    assert sentence.with_tree(sentence.tree).to_text() == sentence.to_text()
    with pytest.raises(TreeError, match="of word 2 is no column"):
        sentence.with_tree(Tree([0, 1], ["a\rb", "a\rb"]))


def test_changed_copies_are_what_reading_them_gives():
    first = parse("\ufeff" + RICH.replace("\n", "\r\n"))[0]
    changed = first.with_misc("Sure", [str(i) for i in range(7)]).with_comments(["# nbest = 1"])
    (again,) = parse(changed.to_text())
    assert again.words == changed.words
    assert again.lines == changed.lines
    assert again.comments == changed.comments == ["nbest = 1", *first.comments]
    assert again.places == changed.places == [place + 1 for place in first.places]
    assert changed.misc[2] == "Gloss=a b|Sure=2"
    assert changed.tree == first.tree


def test_a_tree_given_out_is_not_tied_to_its_sentence():
    (sentence,) = parse(PLAIN)
    sentence.tree.heads[1] = 3
    assert sentence.tree == Tree([2, 0, 2], ["SBJ", "ROOT", "ADV"])


def test_notebooks_draw_a_sentence_that_has_a_tree():
    assert "<svg" in parse(PLAIN)[0]._repr_svg_()
    assert "Owls" in parse(PLAIN)[0]._repr_svg_()
    assert "<svg" in parse(PLAIN)[0].tree._repr_svg_()
    assert parse(block(row(1, "_")), trees=False)[0]._repr_svg_() is None


def test_sentences_can_be_pickled_with_their_place_and_format():
    for text in (RICH, "\n\n" + RICH, "\ufeff" + RICH, PLAIN):
        for sentence in parse(text):
            copy = pickle.loads(pickle.dumps(sentence))
            assert copy.to_bytes() == sentence.to_bytes()
            assert copy.tree == sentence.tree
            assert copy.words == sentence.words
            assert (copy.file, copy.line, copy.format) == (sentence.file, sentence.line, sentence.format)


def test_a_pickle_is_the_block_and_little_more():
    sentence = parse(block(*(row(i, "0") for i in range(1, 200))))[0]
    before = len(pickle.dumps(sentence))
    assert len(sentence.words) == 199
    assert sentence.nonprojective == frozenset()
    assert sentence.offsets == [None] * 199
    assert len(pickle.dumps(sentence)) == before < len(sentence.to_bytes()) + 200


def test_a_sentence_without_a_tree_has_none_after_pickling():
    (sentence,) = parse(block(row(1, "2"), row(2, "1")), trees=False)
    copy = pickle.loads(pickle.dumps(sentence))
    with pytest.raises(TreeError, match="<stream>:1: no word has head 0"):
        copy.tree  # noqa: B018


def test_build_makes_a_sentence_of_columns():
    rows = [row(1, "_").split("\t"), row(2, "_").split("\t")]
    built = Sentence.build(rows, ["sent_id = new"])
    assert built.to_text() == block("# sent_id = new", row(1, "_"), row(2, "_"))
    assert built.with_tree(Tree([0, 1])).tree == Tree([0, 1])
    assert built.sent_id == "new"
    for wrong in ([rows[1]], [rows[0][:9]], [["1", "a\tb", *rows[0][2:]]], [["1", "", *rows[0][2:]]]):
        with pytest.raises(FormatError, match="is not word 1"):
            Sentence.build(wrong)
    with pytest.raises(FormatError, match="line break"):
        Sentence.build(rows, ["a\nb"])


# Conversion


def test_conllu_becomes_conllx():
    sentence = parse(RICH)[0]
    converted = conllu.convert(sentence, "conllx")
    assert converted.format == "conllx"
    assert converted.to_text().split("\n")[5] == "6\tpear_tree\tpear_tree\tNOUN\tNN\t_\t3\tobj\t_\t_"
    assert len(converted.lines) == 7 + 2
    assert converted.tree == sentence.tree
    (fine,) = parse(block(row(1)))
    assert conllu.convert(fine, "conllx").xpos == ["X"]


def test_conllx_becomes_conllu():
    (sentence,) = parse("# sent_id = owl\n" + PLAIN)
    converted = conllu.convert(sentence, "conllu")
    assert converted.format == "conllu"
    assert converted.sent_id == "owl"
    assert converted.misc == ["PHEAD=2|PDEPREL=SBJ", "_", "PHEAD=2"]
    assert converted.column(8) == ["_", "_", "_"]
    assert [word[:8] for word in converted.words] == [word[:8] for word in sentence.words]


def test_converting_to_the_same_format_changes_nothing():
    sentence = parse(RICH)[0]
    assert conllu.convert(sentence, "conllu") is sentence


def test_an_unknown_format_is_refused():
    with pytest.raises(ConfigError, match="conllu, conllx"):
        conllu.convert(parse(PLAIN)[0], "penn")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_multiword_ranges_are_found_in_all_files(mark, end):
    rows = [row("1-2", "_"), row("1", "0"), row("2", "1"), row("2.1", "_"), row("3-3", "_"), row("3", "1")]
    (sentence,) = parse(mark + end.join([*rows, "", ""]))
    assert list(multiword_ranges(sentence)) == [(1, 2, "w", "_"), (3, 3, "w", "_")]
