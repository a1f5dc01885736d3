"""What `draw` of sentences, documents and trees gives: it shows itself, has every format, and can be saved."""

import os
import pickle
import sys

import pytest

from conllu_texts import RICH, block, parse, row
from tanglewood.errors import ConfigError, TreeError
from tanglewood.show import html, svg, tikz, tree
from tanglewood.treebank import Tree
from tanglewood.treebank.doc import Doc

CROSSED = block(
    "# text = a b c d",
    "1\ta\t_\tX\t_\t_\t3\tone\t_\t_",
    "2\tb\t_\tY\t_\t_\t4\ttwo\t_\t_",
    "3\tc\t_\tX\t_\t_\t0\troot\t_\t_",
    "4\td\t_\tZ\t_\t_\t3\tfour\t_\t_",
)
OTHER = Tree([3, 3, 0, 3], ["one", "two", "root", "four"])
LONG = block(*(row(i, str(i - 1)) for i in range(1, 41)))


@pytest.fixture
def sentence():
    return parse(CROSSED)[0]


def test_a_drawing_is_what_the_viewers_draw(sentence):
    drawing = sentence.draw(tags=True)
    words, tags = sentence.forms, sentence.upos
    assert str(drawing) == repr(drawing) == drawing.text == tree.draw(words, sentence.tree, tags=tags)
    assert drawing.svg == drawing._repr_svg_() == svg.draw(sentence.tree, words, tags=tags, title="a b c d")
    assert drawing.html == html.draw([sentence], tags=True, title="a b c d")
    assert drawing.tikz == tikz.draw(sentence.tree, words, tags=tags)
    assert drawing._repr_html_() is None
    assert sentence._repr_svg_() == drawing.svg
    assert sentence.draw().text == tree.draw(words, sentence.tree)


def test_a_drawing_in_pixels_is_a_png(sentence):
    pytest.importorskip("resvg_py")
    assert sentence.draw().png.startswith(b"\x89PNG")


def test_the_title_is_that_of_picture_and_page(sentence):
    drawing = sentence.draw(title="Four <letters>")
    assert "<title>Four &lt;letters&gt;</title>" in drawing.svg
    assert "<title>Four &lt;letters&gt;</title>" in drawing.html


@pytest.mark.parametrize("other", [OTHER, parse(CROSSED)[0].with_tree(OTHER)], ids=["tree", "sentence"])
def test_two_analyses_are_drawn_in_one(sentence, other):
    drawing = sentence.draw(other=other, names=("mine", "yours"))
    words = sentence.forms
    assert drawing.text == tree.draw(words, sentence.tree, other=OTHER, names=("mine", "yours"))
    assert "+ only yours" in drawing.text
    assert drawing.svg.count('class="arc second') == 1
    assert "edge below" in drawing.tikz
    assert "yours" in drawing.html


def test_what_cannot_be_compared_is_refused(sentence):
    with pytest.raises(ConfigError, match="a tree of 2 words cannot be compared with a sentence of 4"):
        sentence.draw(other=Tree([0, 1]))
    with pytest.raises(ConfigError, match="this is another sentence: word 2 is 'x' there and 'b' here"):
        sentence.draw(other=parse(CROSSED.replace("2\tb", "2\tx"))[0])
    with pytest.raises(TypeError, match=r"should be a Tree or a Sentence, not 'gold' \(str\)"):
        sentence.draw(other="gold")


def test_a_sentence_without_a_tree_says_so_before_anything_is_drawn():
    (bare,) = parse(block(row(1, "_")), trees=False)
    with pytest.raises(TreeError, match="<stream>:1: word 1 has no head"):
        bare.draw()


def test_the_width_is_in_columns_and_in_pixels():
    (sentence,) = parse(LONG)
    assert max(map(len, sentence.draw(width=40).text.split("\n"))) <= 40
    assert sentence.draw(width=400).svg == svg.draw(sentence.tree, sentence.forms, width=400)
    assert sentence.draw(width=400).html.count("</svg>") == 1
    assert sentence.draw(width=0).svg == svg.draw(sentence.tree, sentence.forms, width=None)
    assert sentence.draw().svg == svg.draw(sentence.tree, sentence.forms) != sentence.draw(width=0).svg
    with pytest.raises(ConfigError, match="width 40: it should be 200 pixels or more, or 0 for no limit"):
        sentence.draw(width=40).svg  # noqa: B018
    assert sentence.draw(width=40)._repr_svg_() == sentence.draw().svg  # columns say nothing of a notebook
    with pytest.raises(ConfigError, match="width 5: it should be 10 columns or more"):
        str(sentence.draw(width=5))
    with pytest.raises(ConfigError, match="in the format tikz is not broken"):
        sentence.draw(width=300).tikz  # noqa: B018


def test_a_terminal_gets_what_fits_into_it(monkeypatch):
    (sentence,) = parse(LONG)
    wide = str(sentence.draw())
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((50, 24)))
    assert str(sentence.draw()) == wide  # nobody is looking
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert max(map(len, str(sentence.draw()).split("\n"))) <= 50
    assert str(sentence.draw(width=0)) == wide
    assert "\x1b" not in str(sentence.draw())


def test_saving_follows_the_ending(sentence, tmp_path):
    drawing = sentence.draw()
    for name, content in (("x.svg", drawing.svg), ("x.html", drawing.html), ("x.tex", drawing.tikz)):
        drawing.save(tmp_path / name)
        assert (tmp_path / name).read_text() == content
    drawing.save(tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text() == f"{drawing}\n"
    drawing.save(tmp_path / "picture", "svg")
    assert (tmp_path / "picture").read_text() == drawing.svg
    with pytest.raises(ConfigError, match=r"x\.conllu: the name should end in one of \.txt, \.html, \.htm, \.svg,"):
        drawing.save(tmp_path / "x.conllu")
    with pytest.raises(ConfigError, match="unknown format 'json'; the formats are tree, html, svg, png, tikz"):
        drawing.save(tmp_path / "x", "json")
    assert not (tmp_path / "x.conllu").exists()


def test_a_drawing_that_fails_leaves_the_old_file(tmp_path):
    sentences = parse(RICH)
    target = tmp_path / "x.svg"
    target.write_text("old")
    with pytest.raises(ConfigError, match="several sentences"):
        Doc("", sentences).draw().save(target)
    assert target.read_text() == "old"
    assert [*tmp_path.iterdir()] == [target]


def test_a_document_is_drawn_one_below_the_other():
    sentences = parse(RICH)
    drawing = Doc("", sentences).draw(tags=True, title="Garden")
    assert str(drawing) == "\n\n".join(str(sentence.draw(tags=True)) for sentence in sentences)
    assert drawing._repr_svg_() is None
    assert drawing._repr_html_().count("<svg") == 2
    assert drawing.html == html.draw(sentences, tags=True, title="Garden")
    assert drawing.tikz.count("\\begin{dependency}") == 2


def test_a_tree_is_drawn_with_numbers_or_words(tmp_path):
    one = Tree([3, 0, 2], ["amod", "root", "obj"])
    assert str(one.draw()) == tree.draw(["1", "2", "3"], one)
    words = ["magnam", "vidit", "navem"]
    assert str(one.draw(words, tags="ABC")) == tree.draw(words, one, tags="ABC")
    assert "<title>magnam vidit navem</title>" in one.draw(words).svg
    one.draw(words).save(tmp_path / "x.html")
    assert "navem" in (tmp_path / "x.html").read_text()
    assert "+ only second" in str(one.draw(words, other=Tree([2, 0, 2])))
    with pytest.raises(ValueError, match="2 forms for a tree of 3 words"):
        one.draw(["a", "b"])


def test_texts_that_no_column_can_hold_are_drawn_all_the_same():
    odd = Tree([2, 0], ["a\tb", ""])
    assert "a\ufffdb" in str(odd.draw(["", "x\ny"]))
    assert "x\ufffdy" in odd.draw(["", "x\ny"]).svg


def test_drawings_can_be_pickled(sentence):
    drawing = sentence.draw(tags=True, other=OTHER)
    assert pickle.loads(pickle.dumps(drawing)).svg == drawing.svg
