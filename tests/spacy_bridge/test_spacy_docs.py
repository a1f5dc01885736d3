"""Documents to spaCy and back: nothing is lost, and what was changed there is changed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

import tanglewood as tw

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")

from spacy.tokens import Doc as SpacyDoc  # noqa: E402

from tanglewood.spacy_bridge.docs import from_spacy, to_spacy  # noqa: E402
from toy import toy_sentences  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONTRACTED = """\
# sent_id = 1
# text = Du pain,  vite
# note = kept
1-2	Du	_	_	_	_	_	_	_	_
1	De	de	ADP	P	_	3	case	3:case	_
2	le	le	DET	D	Number=Sing|Gender=Masc	3	det	_	X=1
3	pain	pain	NOUN	N	_	0	root	0:root	SpaceAfter=No
4	,	,	PUNCT	,	_	3	punct	_	SpacesAfter=\\s\\s
5	vite	_	_	odd	masc|sg	3	weird:label	_	SpacesAfter=\\n\\n
5.1	go	go	VERB	_	_	_	_	3:dep	_

"""
TANGLED = [*sorted(EXAMPLES.glob("*.conllu"))]


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("xx").vocab


def sentences_of(text):
    return list(tw.read(BytesIO(text.encode()), trees=False))


@pytest.mark.parametrize("path", [path for path in TANGLED if path.stem != "broken"], ids=lambda path: path.stem)
def test_files_come_back_byte_for_byte(path, vocab):
    sentences = list(tw.read(str(path), trees=False))
    doc = to_spacy(sentences, vocab)
    again = SpacyDoc(vocab).from_bytes(doc.to_bytes())
    for one in (doc, again):
        assert [sentence.to_bytes() for sentence in from_spacy(one)] == [one.to_bytes() for one in sentences]


def test_a_thousand_sentences_come_back(vocab):
    sentences = toy_sentences(1000)
    doc = to_spacy(sentences, vocab)
    assert [sentence.to_bytes() for sentence in from_spacy(doc)] == [one.to_bytes() for one in sentences]
    assert len([*doc.sents]) == 1000
    heads = [head for sentence in sentences for head in sentence.tree.heads[1:]]
    starts = [token.sent.start for token in doc]
    assert heads == [
        0 if token.head.i == token.i else token.head.i - start + 1 for token, start in zip(doc, starts, strict=True)
    ]
    assert any(sentence.nonprojective for sentence in sentences)


def test_what_spacy_has_no_place_for_goes_along(vocab):
    sentences = sentences_of(CONTRACTED)
    doc = to_spacy(sentences, vocab)
    assert doc.text == "Dele pain,  vite\n\n"
    assert [token.pos_ for token in doc] == ["ADP", "DET", "NOUN", "PUNCT", "SPACE", "", "SPACE"]
    assert doc[1].morph.to_dict() == {"Gender": "Masc", "Number": "Sing"}
    assert from_spacy(doc)[0].to_text() == CONTRACTED


def test_what_was_changed_in_spacy_is_changed_and_nothing_else(vocab):
    (sentence,) = sentences_of(CONTRACTED)
    doc = to_spacy([sentence], vocab)
    doc[0].lemma_ = "d"
    doc[2].pos_ = "PROPN"
    doc[1].head = doc[0]
    doc[1].dep_ = "fixed"
    rows = [line.split("\t") for line in CONTRACTED.split("\n")]
    rows[4][2] = "d"
    rows[5][6:8] = ["1", "fixed"]
    rows[6][3] = "PROPN"
    assert from_spacy(doc)[0].to_text() == "\n".join("\t".join(row) for row in rows)


def test_a_document_that_spacy_made_keeps_its_white_space(vocab):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    text = "  One bird  sings.\n\nTwo\tfly away. "
    doc = from_spacy(nlp(text))
    assert doc.text == text
    assert [sentence.forms for sentence in doc] == [["One", "bird", "sings", "."], ["Two", "fly", "away", "."]]
    first, second = doc
    assert first.misc == ["SpacesBefore=\\s\\s", "SpacesAfter=\\s\\s", "SpaceAfter=No", "SpacesAfter=\\n\\n"]
    assert second.misc == ["SpacesAfter=\\t", "_", "SpaceAfter=No", "_"]
    assert to_spacy(doc, nlp.vocab).text.strip() == text.strip()


def test_words_that_were_merged_in_spacy_are_taken_as_they_are_there(vocab):
    doc = to_spacy(toy_sentences(1), vocab)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert len(from_spacy(doc)[0]) == len(toy_sentences(1)[0]) - 1


def test_a_parsed_text_comes_back_with_its_text(vocab):
    from toy_pipeline import TEXT, toy_pipeline

    parsed = toy_pipeline()(TEXT)
    back = from_spacy(to_spacy(parsed, vocab))
    assert back.text == TEXT
    assert back.to_conllu() == parsed.to_conllu()


def test_the_format_goes_along(vocab):
    (sentence,) = sentences_of(CONTRACTED)
    old = tw.Sentence(b"1\tGo\tgo\tV\tV\t_\t0\tROOT\t_\t_\n\n", format="conllx")
    assert [one.format for one in from_spacy(to_spacy([sentence, old], vocab))] == ["conllu", "conllx"]


def test_an_empty_document_is_one(vocab):
    assert len(from_spacy(to_spacy([], vocab))) == 0
