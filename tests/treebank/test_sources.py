"""Sentences from anywhere."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tanglewood.errors import ArgumentError, FormatError, TreeError
from tanglewood.treebank.sources import sentences_from
from toy import toy_sentences, toy_text


def texts(sentences):
    return [sentence.to_text() for sentence in sentences]


def test_paths_files_and_iterables_give_the_same(tmp_path):
    path = tmp_path / "toy.conllu"
    path.write_text(toy_text(5))
    sentences = toy_sentences(5)
    wanted = texts(sentences)
    with path.open("rb") as file:
        for source in (
            path,
            str(path),
            file,
            io.BytesIO(toy_text(5).encode()),
            sentences,
            iter(sentences),
            [str(path)],
        ):
            assert texts(sentences_from(source)) == wanted
    assert texts(sentences_from([path, sentences[0], str(path)])) == [*wanted, wanted[0], *wanted]
    assert list(sentences_from([])) == []


def test_heads_may_be_missing_if_told_so(tmp_path):
    path = tmp_path / "bare.conllu"
    path.write_text("1\twug\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    for source in (path, [path]):
        assert len(list(sentences_from(source, trees=False))) == 1
        with pytest.raises(TreeError):
            list(sentences_from(source))
    path.write_text("1\twug\n\n")
    with pytest.raises(FormatError):
        list(sentences_from(path, trees=False))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, r"None \(NoneType\) was given; it should be a path"),
        (7, r"7 \(int\) was given"),
        (b"1\twug", r"\(bytes\) was given"),
        (io.StringIO("x"), r"open\(name, 'rb'\)"),
        (toy_sentences(1)[0], "one sentence was given"),
    ],
)
def test_what_is_no_source_is_refused_at_once(source, message):
    with pytest.raises(ArgumentError, match=message):
        sentences_from(source)


def test_what_is_no_sentence_is_refused_in_its_place():
    source = sentences_from([toy_sentences(1)[0], ["wug"]])
    next(source)
    with pytest.raises(ArgumentError, match=r"\['wug'\] \(list\) was given among the sentences"):
        next(source)


def test_a_missing_file_is_an_os_error():
    with pytest.raises(FileNotFoundError):
        list(sentences_from(Path("nosuchfile")))
