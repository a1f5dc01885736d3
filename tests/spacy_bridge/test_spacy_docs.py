"""Documents to spaCy and back: nothing is lost, and what was changed there is changed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from random import Random

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


ODD_WORDS = ("_", "pear tree", "\u00a0", "\u200b", "größe", "字", "a\u0301", "🌲", "'s", "...")
ODD_SPACES = ("SpaceAfter=No", *(f"SpacesAfter={gap}" for gap in (r"\s", r"\s\s", r"\n\n", r"\t", r"\r\n")))


def odd_word(rng):
    return rng.choice(ODD_WORDS) if rng.random() < 0.2 else "".join(rng.choices("abdgiklmnoruwz", k=rng.randint(1, 7)))


def odd_misc(rng):
    parts = rng.sample(["Gloss=a b", "odd", "X=1", "Ref=1=2", *rng.sample(ODD_SPACES, rng.randint(0, 1))], 4)
    return "|".join(parts[rng.randint(0, 3) :]) if rng.random() < 0.7 else "_"


def odd_tags(rng):
    """Lemma, both tags and features, of which spaCy has a place for some."""
    pairs = ["Case=Nom", "Number=Sing", "Abbr=Yes", "Gender[psor]=Fem,Masc"]
    feats = rng.choice(["_", "|".join(rng.sample(pairs, rng.randint(1, 4))), "masc|sg", "x=1|y"])
    upos = rng.choice(["NOUN", "X", "PUNCT", "SPACE", "odd", "_"])
    return [rng.choice(["_", odd_word(rng)]), upos, rng.choice(["_", "N-1", odd_word(rng)]), feats]


def odd_text(rng):
    """An invented sentence with all that CoNLL-U can hold: any tree, multiword tokens, empty nodes, any columns."""
    size = rng.randint(1, 12)
    order = rng.sample(range(1, size + 1), size)  # each hangs on one before it, wherever that is
    heads = {here: rng.choice(order[:place] or [0]) for place, here in enumerate(order)}
    rows = []
    ranged = 0  # the last word of a multiword token
    for here in range(size + 1):
        if ranged < here < size and rng.random() < 0.15:
            ranged = rng.randint(here + 1, min(size, here + 3))
            rows.append([f"{here}-{ranged}", odd_word(rng), *["_"] * 7, odd_misc(rng)])
        if here:
            head = rng.choice([heads[here]] * 20 + [0])  # sometimes one more root
            label = rng.choice(["root", "ROOT", "_"] if head == 0 else ["dep", "obl:odd", "root", "_"])
            deps = rng.choice(["_", f"{head}:{label}", "0:root|1.1:x:y"])
            rows.append([str(here), odd_word(rng), *odd_tags(rng), str(head), label, deps, odd_misc(rng)])
        for empty in range(1, rng.choice([0, 0, 0, 0, 1, 2]) + 1):
            rows.append([f"{here}.{empty}", odd_word(rng), *odd_tags(rng), "_", "_", "0:dep", rng.choice(["_", "A=b"])])
    comments = rng.sample(["# newpar", "# sent_id = odd", "# text = not so", "#", "# a = b = c"], rng.randint(0, 5))
    return "\n".join([*comments, *map("\t".join, rows)]) + "\n\n"


@pytest.fixture(scope="module")
def odd_sentences():
    rng = Random(1)
    return sentences_of("".join(odd_text(rng) for _ in range(1000)))


@pytest.mark.parametrize("more", ["", "1\tdax\t_\t_\t_\t_\t_\t_\t_\t_\n\n"], ids=["trees", "one-without-a-tree"])
def test_a_thousand_sentences_come_back(vocab, odd_sentences, more):
    sentences = [*odd_sentences, *sentences_of(more)]
    doc = to_spacy(sentences, vocab)
    again = SpacyDoc(vocab).from_bytes(doc.to_bytes())
    for one in (doc, again):
        assert [sentence.to_text() for sentence in from_spacy(one)] == [sentence.to_text() for sentence in sentences]
    assert doc.has_annotation("DEP") == (not more)
    assert sum(bool(sentence.nonprojective) for sentence in odd_sentences) > 300
    text = "".join(sentence.to_text() for sentence in sentences)
    for part in ("\n1-2\t", "\n0.1\t", ".2\t", "Number=Sing|Case=Nom", "\t\u00a0\t", *ODD_SPACES):
        assert part in text


def test_one_change_in_spacy_leaves_all_else_as_it_was(vocab, odd_sentences):
    for sentence in odd_sentences:
        doc = to_spacy([sentence], vocab)
        doc[0].lemma_ = "dax"
        doc[0].dep_ = "obj"
        rows = [line.split("\t") for line in sentence.to_text().split("\n")]
        (first,) = (row for row in rows if row[0] == "1")
        first[2], first[7] = "dax", "obj"
        assert from_spacy(doc)[0].to_text() == "\n".join("\t".join(row) for row in rows)


def test_trees_are_those_of_spacy(vocab):
    sentences = toy_sentences(1000)
    doc = to_spacy(sentences, vocab)
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
