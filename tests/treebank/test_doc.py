"""Documents: a text and its sentences, as data, rows and files."""

import csv
import io
import json
import pickle

import pytest

from conllu_texts import PLAIN, RICH, block, parse, row
from tanglewood.errors import ConfigError, TreeError
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.record import ROW_COLUMNS

TEXT = "Let's water the old pear tree. Rain!"


@pytest.fixture
def doc():
    return Doc(TEXT, parse(RICH))


def test_a_document_is_its_sentences_in_order(doc):
    assert doc.text == TEXT
    assert len(doc) == 2
    assert list(doc) == doc.sentences == doc[:]
    assert doc[-1].sent_id == "moss-2"
    assert [sentence.sent_id for sentence in doc[1:]] == ["moss-2"]
    assert repr(doc) == f"<Doc of 2 sentences, 9 words: {TEXT}>"
    assert repr(Doc("Rain!", doc[1:])) == "<Doc of 1 sentence, 2 words: Rain!>"
    assert repr(Doc("word\n" * 30, [])).endswith("word word word...>")
    with pytest.raises(IndexError):
        doc[2]


def test_a_document_without_sentences_is_one():
    empty = Doc("", [])
    assert empty
    assert (len(empty), empty.to_rows(), empty.to_conllu()) == (0, [], "")
    assert empty.to_dict() == {"text": "", "sentences": []}
    assert str(empty.draw()) == ""


def test_what_is_no_document_is_refused():
    with pytest.raises(TypeError, match=r"the text of a document should be a str, not None \(NoneType\)"):
        Doc(None, [])
    with pytest.raises(TypeError, match=r"5 \(int\) was given among the sentences"):
        Doc("Rain!", [5])


def test_a_document_as_data_is_what_its_sentences_are(doc):
    data = json.loads(json.dumps(doc.to_dict()))
    assert data == {"text": TEXT, "sentences": [sentence.to_dict() for sentence in doc]}


def test_rows_have_the_same_keys_and_say_what_the_words_say(doc):
    rows = doc.to_rows()
    words = [(number, word) for number, sentence in enumerate(doc, 1) for word in sentence]
    assert {tuple(row) for row in rows} == {ROW_COLUMNS}
    for row_, (number, word) in zip(rows, words, strict=True):
        assert (row_["sentence"], row_["sent_id"], row_["id"]) == (number, word.sentence.sent_id, word.id)
        assert (row_["form"], row_["lemma"], row_["deprel"]) == (word.form, word.lemma, word.deprel)
        assert row_["head"] == (word.head.id if word.head else 0)
        assert row_["nonprojective"] is word.is_nonprojective
        assert row_["feats"] == ("|".join(f"{key}={value}" for key, value in word.feats.items()) or None)
        assert (row_["start"], row_["end"], row_["confidence"]) == (word.start, word.end, word.confidence)
    assert rows[1]["nonprojective"] is False
    assert doc[0].to_rows() == rows[:7]


def test_what_is_not_known_is_none_in_rows_and_left_out_of_data():
    (sentence,) = parse(block("1\t_\t_\t_\t_\t_\t2\tdep\t_\t_", "2\tw\t_\t_\t_\t_\t_\t_\t_\t_"), trees=False)
    first, second = sentence.to_rows()
    assert first == dict.fromkeys(ROW_COLUMNS) | {
        **{"sentence": 1, "id": 1, "form": "_"},
        **{"lemma": "_", "head": 2, "deprel": "dep"},  # the lemma of an underscore is one
    }
    assert second == dict.fromkeys(ROW_COLUMNS) | {"sentence": 1, "id": 2, "form": "w"}
    assert sentence.to_dict() == {
        "words": [{"id": 1, "form": "_", "lemma": "_", "head": 2, "deprel": "dep"}, {"id": 2, "form": "w"}]
    }


def test_data_has_places_as_numbers_and_crossing_arcs_marked():
    text = "# text = x\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tTokenRange=0:2|Foreign=Yes\n"
    text += block(row(1, "3"), row(2, "0"), row(3, "2").removesuffix("_") + "TokenRange=3:4|A|Confidence=0.5")
    (sentence,) = parse(text)
    words = sentence.to_dict()["words"]
    assert words[0] == {
        **{"id": 1, "form": "w", "lemma": "w", "upos": "X", "head": 3, "deprel": "dep"},
        "nonprojective": True,
    }
    assert (words[2]["start"], words[2]["end"]) == (3, 4)
    assert words[2]["misc"] == {"A": ""}
    assert words[2]["confidence"] == 0.5
    assert sentence.to_dict()["multiword"] == [
        {"first": 1, "last": 2, "form": "ab", "start": 0, "end": 2, "misc": {"Foreign": "Yes"}}
    ]


def test_a_cycle_has_heads_and_no_crossing_arcs():
    (sentence,) = parse(block(row(1, "2"), row(2, "1")), trees=False)
    assert [word["head"] for word in sentence.to_dict()["words"]] == [2, 1]
    assert [row_["nonprojective"] for row_ in sentence.to_rows()] == [None, None]


def test_the_columns_of_conllx_that_are_not_misc_are_left_out():
    (sentence,) = parse(PLAIN)
    assert "misc" not in sentence.to_dict()["words"][0]


def test_a_document_as_conllu_is_what_was_read(doc):
    assert doc.to_conllu() == RICH
    unended = Doc("", [*parse(RICH.rstrip("\n")), *parse(RICH)])
    assert unended.to_conllu() == RICH + RICH


def test_a_document_is_saved_in_the_format_of_its_ending(doc, tmp_path):
    doc.save(tmp_path / "x.conllu")
    assert (tmp_path / "x.conllu").read_text() == RICH
    doc.save(str(tmp_path / "x.json"))
    lines = (tmp_path / "x.json").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [sentence.to_dict() for sentence in doc]
    doc.save(tmp_path / "x.tsv")
    with (tmp_path / "x.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    assert rows == [{key: "" if value is None else str(value) for key, value in row_.items()} for row_ in doc.to_rows()]
    doc.save(tmp_path / "x.html", tags=True)
    page = (tmp_path / "x.html").read_text()
    assert page.count("<figure") == 2
    assert ">VERB<" in page
    out = io.BytesIO()
    doc.save(out, "tree")
    assert out.getvalue().decode() == f"{doc.draw()}\n"


def test_a_document_that_cannot_be_saved_so_leaves_nothing_behind(doc, tmp_path):
    with pytest.raises(ConfigError, match=r"x\.jpg: the name should end in one of \.conllu, .*\.tex, or format= say"):
        doc.save(tmp_path / "x.jpg")
    with pytest.raises(ConfigError, match="several sentences do not go into one svg picture; html shows all"):
        doc.save(tmp_path / "x.svg")
    with pytest.raises(ConfigError, match="unknown format 'word'; the formats are conllu, json, tsv"):
        doc.save(tmp_path / "x.conllu", "word")
    with pytest.raises(ConfigError, match="format= should be one of conllu"):
        doc.save(io.BytesIO())
    with pytest.raises(TypeError, match="write\\(\\) needs a path"):
        doc.save(5, "conllu")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_sentences_with_and_without_trees(doc):
    (bare,) = parse(block("# text = a <b>", row(1, "_")), trees=False)
    shown = Doc("", [*doc, bare])._repr_html_()
    assert shown.count("<svg") == 2
    assert shown.count("<figure") == 3
    assert "a &lt;b&gt;" in shown
    with pytest.raises(TreeError, match="has no head"):
        Doc("", [*doc, bare]).draw()


def test_a_notebook_does_not_show_thousands_of_sentences(doc):
    shown = Doc("", doc[1:] * 2000)._repr_html_()
    assert shown.count("<svg") == 50
    assert "... and 1950 more sentences" in shown


def test_documents_can_be_pickled(doc):
    again = pickle.loads(pickle.dumps(doc))
    assert again.text == doc.text
    assert again.to_dict() == doc.to_dict()
    assert again.to_conllu() == doc.to_conllu()
