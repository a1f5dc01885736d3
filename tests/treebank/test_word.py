"""Words: views of their sentence that say what its columns and its tree say."""

import pickle

import pytest
from hypothesis import given

from brute_trees import is_nonprojective, random_heads
from conllu_texts import PLAIN, RICH, block, parse, row
from tanglewood.errors import TreeError
from tanglewood.treebank.word import Word

PLACED = """\
1	Owls	owl	NOUN	NNS	Number=Plur	4	nsubj	_	TokenRange=0:4
2-3	don't	_	_	_	_	_	_	_	TokenRange=5:10
2	do	do	AUX	VBP	_	4	aux	_	_
3	n't	not	PART	RB	_	4	advmod	_	Confidence=0.75
4	sleep	sleep	VERB	VB	VerbForm=Inf	0	root	_	SpaceAfter=No|TokenRange=11:16|Confidence=1.0
5	.	.	PUNCT	.	_	4	punct	_	TokenRange=x:17|Confidence=no

"""


def test_a_word_says_what_stands_in_its_columns():
    (sentence,) = parse(PLACED)
    owls, do, _, sleep, dot = sentence
    assert (owls.id, owls.form, owls.lemma, owls.upos, owls.xpos, owls.deprel) == (
        *(1, "Owls", "owl", "NOUN"),
        *("NNS", "nsubj"),
    )
    assert owls.sentence is sentence
    assert owls.feats == {"Number": "Plur"}
    assert owls.feats.get("Case") is None
    assert do.feats == do.misc == {}
    assert sleep.misc == {"SpaceAfter": "No", "TokenRange": "11:16", "Confidence": "1.0"}
    assert str(owls) == "Owls"
    assert repr(dot) == "<Word 5: .>"


def test_features_of_a_word_are_not_tied_to_the_sentence():
    (sentence,) = parse(PLACED)
    sentence[0].feats["Case"] = "Nom"
    assert sentence[0].feats == {"Number": "Plur"}


def test_the_words_of_a_multiword_token_stand_where_it_does():
    (sentence,) = parse(PLACED)
    assert [(word.start, word.end) for word in sentence] == [(0, 4), (5, 10), (5, 10), (11, 16), (None, None)]
    assert sentence.offsets == [(0, 4), (5, 10), (5, 10), (11, 16), None]


@pytest.mark.parametrize(
    ("misc", "place"),
    [
        ("TokenRange=3:5", (3, 5)),
        ("A=1|TokenRange=0:12|B", (0, 12)),
        ("XTokenRange=3:5", None),
        ("TokenRange=3:5x", None),
        ("TokenRange=-3:5", None),
        ("TokenRange=03:5", None),
        ("TokenRange=٣:5", None),
        ("TokenRange=1:" + "9" * 5000, None),
        ("_", None),
    ],
)
def test_only_two_whole_numbers_are_a_place(misc, place):
    (sentence,) = parse(block(row(1).removesuffix("_") + misc))
    assert sentence.offsets == [place]


def test_confidence_is_a_number_where_there_is_one():
    (sentence,) = parse(PLACED)
    assert [word.confidence for word in sentence] == [None, None, 0.75, 1.0, None]


def test_the_last_column_of_conllx_is_not_misc():
    (sentence,) = parse(PLAIN)
    assert sentence.format == "conllx"
    assert [word.misc for word in sentence] == [{}] * 3
    assert sentence[0].feats == {"num": "pl"}


def test_features_without_a_value_have_an_empty_one():
    (sentence,) = parse(PLAIN.replace("num=pl", "pl|x=y"))
    assert sentence[0].feats == {"pl": "", "x": "y"}


@given(random_heads(8, 1))
def test_heads_children_and_crossing_arcs_are_those_of_the_tree(heads):
    (sentence,) = parse(block(*(row(i, str(head)) for i, head in enumerate(heads, 1))))
    for word, head in zip(sentence, heads, strict=True):
        assert (0 if word.head is None else word.head.id) == head
        assert [child.id for child in word.children] == [i for i, h in enumerate(heads, 1) if h == word.id]
        assert word.is_nonprojective == is_nonprojective(heads, word.id)
    assert sentence.nonprojective == {word.id for word in sentence if word.is_nonprojective}


def test_what_needs_a_tree_says_where_there_is_none():
    (sentence,) = parse("# sent_id = bare\n" + block(row(1, "2"), row(2, "_")), trees=False)
    word = sentence[0]
    assert word.form == "w"
    for asked in ("head", "children", "is_nonprojective"):
        with pytest.raises(TreeError, match="<stream>:3, sent_id bare: word 2 has no head"):
            getattr(word, asked)


def test_words_are_equal_if_they_are_the_same_word_of_the_same_sentence():
    one, other = parse(PLACED + "\n" + PLACED)
    assert one[0] == one[0]
    assert one[0] != one[1]
    assert one[0] != other[0]
    assert one[0] != "Owls"
    assert len({one[0], one[0], one[1], other[0]}) == 3
    assert one[1].head in {one[3]}
    assert one[0] in one
    assert one[0] not in other


def test_sentences_are_indexed_from_0_and_sliced():
    (sentence,) = parse(PLACED)
    assert [word.form for word in sentence] == sentence.forms
    assert sentence[0].id == 1
    assert sentence[-1].form == "."
    assert [word.form for word in sentence[1:3]] == ["do", "n't"]
    assert [word.id for word in sentence[::-2]] == [5, 3, 1]
    assert sentence[9:] == []
    for place in (5, -6):
        with pytest.raises(IndexError, match=f"there is no word {place} in a sentence of 5 words; they begin at 0"):
            sentence[place]
    with pytest.raises(TypeError):
        sentence["form"]


def test_a_word_is_a_view_and_nothing_else():
    word = parse(RICH)[0][2]
    assert Word.__slots__ == ("id", "sentence")
    assert not hasattr(word, "__dict__")
    with pytest.raises(AttributeError):
        word.form = "other"


def test_a_word_is_pickled_with_its_sentence():
    word = pickle.loads(pickle.dumps(parse(PLACED)[0][1]))
    assert (word.form, word.head.form, word.start) == ("do", "sleep", 5)
