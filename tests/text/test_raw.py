"""Raw text made back from a treebank."""

from io import BytesIO

import pytest

from raw_texts import PARAGRAPHS, row, treebank
from tanglewood.errors import FormatError
from tanglewood.text.raw import Token, gold_text, training_text
from tanglewood.treebank.conllu import read


def sentences_of(*lines):
    return list(read(BytesIO("\n".join([*lines, "", ""]).encode()), trees=False))


def test_the_text_is_that_of_the_paragraphs():
    whole = "\n\n".join(paragraph.strip("|").replace("|", " ") for paragraph in PARAGRAPHS)
    assert gold_text(treebank()).text == whole


def test_tokens_lie_where_their_forms_are_and_multiword_tokens_have_their_words():
    gold = gold_text(
        sentences_of(
            row("1-2", "Don't", "SpaceAfter=No"), row("1", "Do", "_"), row("2", "n't", "_"), row("3", "!", "_")
        )
    )
    assert gold.text == "Don't!"
    assert gold.sentences == [[Token(0, 5, ("Do", "n't")), Token(5, 6, ("!",))]]


def test_empty_nodes_are_no_tokens():
    gold = gold_text(sentences_of(row("1", "a", "_"), row("1.1", "b", "_"), row("2", "c", "_")))
    assert gold.text == "a c"


def test_spaces_after_are_followed_and_must_be_spaces():
    rows = [row("1", "a", "SpacesAfter=\\s\\n\\t"), row("2", "b", "Lang=x|SpacesAfter=\\s\\s"), row("3", "c", "_")]
    assert gold_text(sentences_of(*rows)).text == "a \n\tb  c"
    with pytest.raises(FormatError, match="no white space"):
        gold_text(sentences_of(row("1", "a", "SpacesAfter=x"), row("2", "b", "_")))


def test_sentences_without_a_space_between_them_stay_together():
    text = "\n".join(
        [row("1", "a", "SpaceAfter=No"), "", row("1", "b", "_"), "", "# newdoc id = 2", row("1", "c", "_")]
    )
    assert gold_text(sentences_of(text)).text == "ab\n\nc"


def test_a_treebank_that_forgets_the_space_after_every_sentence_is_not_learnt_from_so():
    forgetful = sentences_of(
        *[row("1", "a", "_"), row("2", "b", "_"), row("3", "c", "SpaceAfter=No"), row("4", ".", "SpaceAfter=No"), ""]
        * 3
    )
    assert gold_text(forgetful).text == "a b c.a b c.a b c."
    assert training_text(forgetful).text == "a b c. a b c. a b c."
    unspaced = sentences_of(*[*(row(str(i), "x", "SpaceAfter=No") for i in range(1, 5)), ""] * 3)
    assert training_text(unspaced).text == "x" * 12
    assert training_text(treebank()) == gold_text(treebank())


def test_no_sentences_have_no_text():
    assert gold_text([]).text == ""


def test_the_texts_of_the_treebanks_come_back(shared):
    checked = 0
    for path in sorted(shared.glob("treebanks/*/dev.conllu")):
        sentences = list(read(path, trees=False))
        gold = gold_text(sentences)
        for sentence, tokens in zip(sentences, gold.sentences, strict=True):
            assert [word for token in tokens for word in token.words] == sentence.forms
            if sentence.text is not None:
                assert gold.text[tokens[0].start : tokens[-1].end] == sentence.text
                checked += 1
    assert checked > 1000
