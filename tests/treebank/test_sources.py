"""Sentences are taken from paths, open files, documents and iterables alike; anything else is refused."""

import io

import pytest

from conllu_texts import RICH, block, parse, row
from tanglewood.errors import ArgumentError, TreeError
from tanglewood.treebank import conllu
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.sources import sentences_from


def test_sentences_are_taken_from_wherever_they_are(tmp_path):
    path = tmp_path / "garden.conllu"
    path.write_text(RICH)
    sentences = parse(RICH)
    with path.open("rb") as file:
        for source in (path, str(path), file, sentences, iter(sentences), Doc(RICH, sentences)):
            found = list(sentences_from(source))
            assert [sentence.to_text() for sentence in found] == [sentence.to_text() for sentence in sentences]
    assert len(list(sentences_from([path, sentences[0], str(path)]))) == 5


def test_whatever_has_sentences_can_be_written(tmp_path):
    path, target = tmp_path / "garden.conllu", tmp_path / "copy.conllu"
    path.write_text(RICH)
    for source in (path, [path], Doc("", parse(RICH))):
        assert conllu.write(source, target) == 2
        assert target.read_text() == RICH
    path.write_text(block(row(1, "_")))
    assert conllu.write(path, target) == 1  # it needs no tree


def test_sentences_of_a_file_may_lack_trees_if_told_so(tmp_path):
    path = tmp_path / "bare.conllu"
    path.write_text(block(row(1, "_")))
    for source in (path, [path], path.open("rb")):
        assert len(list(sentences_from(source, trees=False))) == 1
        if hasattr(source, "close"):
            source.close()
    for source in (path, [path]):
        with pytest.raises(TreeError, match="has no head"):
            list(sentences_from(source))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (None, r"None \(NoneType\) was given; it should be a path, an open binary file, or an iterable of sentences"),
        (5, r"5 \(int\) was given; it should be a path"),
        (b"abc", r"b'abc' \(bytes\) was given; it should be a path"),
        (io.StringIO("x"), "open"),
        (parse(RICH)[0], r"one sentence was given where several are expected; \[sentence\] is a list of one"),
        (parse(RICH)[0][:2], r"<Word 1: Let> \(Word\) was given among the sentences"),
        ([["You", "do"]], r"\['You', 'do'\] \(list\) was given among the sentences; each should be a Sentence"),
    ],
    ids=["None", "number", "bytes", "text file", "sentence", "words", "lists"],
)
def test_what_has_no_sentences_is_refused(wrong, said, tmp_path):
    with pytest.raises(ArgumentError, match=said):
        list(sentences_from(wrong))
    with pytest.raises(ArgumentError, match=said):
        conllu.write(wrong, tmp_path / "x.conllu")
    assert list(tmp_path.iterdir()) == []
