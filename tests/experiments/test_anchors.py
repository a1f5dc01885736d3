"""three-step with anchors from a column of the files, as in row (3) of Lacroix & Béchet (2014)."""

import json

import pytest

from tanglewood.cli import main
from tanglewood.errors import FormatError, TreeError
from tanglewood.experiments import lacroix2014
from tanglewood.learners.base import Example
from tanglewood.systems import make_system
from tanglewood.transforms.pseudo_projective import lifted
from tanglewood.treebank.sentence import Sentence
from toy import toy_sentences

SIZES = {"train": (14, 1), "dev": (4, 2), "test": (8, 3)}


def with_anchors(tmp_path):
    """A treebank whose non-projective words have anchors in MISC: those of projectivization."""
    folder = tmp_path / "French-toy"
    folder.mkdir()
    for part, (size, seed) in SIZES.items():
        texts = []
        for sentence in toy_sentences(size, seed):
            heads, anchors = sentence.tree.heads, lifted(sentence.tree).heads
            lines = iter(range(1, len(sentence) + 1))
            for line in sentence.to_text().splitlines():
                cells = line.split("\t")
                if len(cells) == 10:
                    word = next(lines)
                    cells[9] = "_" if anchors[word] == heads[word] else f"Gloss=x|Anchor={anchors[word]}"
                texts.append("\t".join(cells) + "\n")
        (folder / f"{part}.conllu").write_text("".join(texts))
    return folder


def test_anchors_of_a_column_that_are_those_of_projectivization_give_the_same_parser(tmp_path):
    folder = with_anchors(tmp_path)
    words = ["reproduce", "lacroix2014", "--treebank", str(folder), "--epochs", "1", "--folds", "2", "--gold-tags"]
    assert main([*words, "--anchors", "Anchor", "-o", str(tmp_path / "run")]) == 0
    results = json.loads((tmp_path / "run/results.json").read_text())
    assert list(results["scores"]) == ["covnonproj", "pseudoproj", "three-step", "three-step-column"]
    assert results["scores"]["three-step-column"] == results["scores"]["three-step"]
    assert results["same_anchors"] == 100
    lines = (tmp_path / "run/report.md").read_text()
    assert "| three-step-column, paper | 83.7 | 86.3 | 79.1 |" in lines
    assert "(paper: 90.9%)" in lines


def test_an_oracle_goes_by_the_anchors_that_it_is_given():
    heads = [4, 4, 1, 0]  # the arc from 1 to 3 crosses; projectivization hangs 3 from 4
    oracle = make_system("three-step").oracle()
    for anchors in ([4, 4, 4, 0], [4, 4, 2, 0]):
        example = Example([None] * 4, [-1, *heads], [-1, 0, 0, 0, 0], anchors=[-1, *anchors])
        example.bind(oracle)
        assert list(oracle.anchors) == [-1, *anchors]
        state = example.state()
        assert oracle.reaches_gold(state)


def test_anchors_that_are_no_projective_tree_are_refused():
    def anchored(*values):
        rows = zip(range(1, 5), [2, 0, 2, 3], values, strict=True)
        return Sentence.build([str(i), f"w{i}", "_", "_", "_", "_", str(h), "dep", "_", m] for i, h, m in rows)

    assert lacroix2014.anchors_of(anchored("_", "_", "Anchor=2", "Gloss=x|Anchor=2"), "Anchor") == [-1, 2, 0, 2, 2]
    assert lacroix2014.anchors_of(anchored("_", "_", "_", "NotAnchor=1"), "Anchor") == [-1, 2, 0, 2, 3]
    for value, problem in (
        ("Anchor=x", "word 4: Anchor is 'x'; it should be the number of a word, or 0"),
        ("Anchor=1", "should form a projective tree, but they cross"),
        ("Anchor=4", "word 4 is its own head"),
        ("Anchor=9", "word 4 has head 9, which does not exist"),
    ):
        with pytest.raises((FormatError, TreeError), match=problem):
            lacroix2014.anchors_of(anchored("_", "_", "_", value), "Anchor")
    rows = [
        ["1", "a", "_", "_", "_", "_", "3", "dep", "2", "dep"],
        ["2", "b", "_", "_", "_", "_", "0", "root", "_", "_"],
    ]
    rows.append(["3", "c", "_", "_", "_", "_", "2", "dep", "_", "_"])
    assert lacroix2014.anchors_of(Sentence.build(rows), "PHEAD") == [-1, 2, 0, 2]
