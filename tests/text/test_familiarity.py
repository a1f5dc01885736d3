"""Texts that a model is not made for: another language, another script, markup; and those that it is made for."""

import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.text.familiarity import LARGE, LEAST_WORDS, Familiarity
from tanglewood.text.raw import Token

ENGLISH = (
    "The commission shall examine without delay whether the conditions of the treaty are met, and inform the parties "
    "of its findings. Whisk the eggs, fold in the flour and bake for forty minutes until golden. O where hast thou "
    "been, my gentle knight, so long away from hearth and home?"
)
GERMAN = (
    "Die alte Frau ging langsam durch den dunklen Wald. Sie hatte keine Angst, denn der Mond schien hell und ihre "
    "Katze lief neben ihr her. Wohin gehst du so allein, fragte der Fuchs, aber niemand gab ihm eine Antwort."
)
GREEK = (
    "\u03b7 \u03b3\u03c1\u03b9\u03ac \u03c0\u03ae\u03b3\u03b5 \u03c3\u03c4\u03bf \u03b4\u03ac\u03c3\u03bf\u03c2 " * 6
)


@pytest.fixture(scope="module")
def nlp():
    return tw.load()


def warnings_about(nlp, text):
    seen = nlp.familiarity()
    for piece in nlp.pieces([text]):
        seen.add(piece.text, piece.sentences)
    return seen.warnings()


def test_ordinary_text_of_other_kinds_draws_no_warning(nlp):
    assert warnings_about(nlp, ENGLISH) == []
    assert warnings_about(nlp, "Write to <ann@example.org> or see <http://example.org>, x < 3 and y > 4. " * 5) == []
    assert warnings_about(nlp, "Guten Tag!") == []
    assert warnings_about(nlp, "") == []


@pytest.mark.parametrize(("text", "expected"), [(GERMAN, "another language"), (GREEK, "another script")])
def test_another_language_or_script_draws_one_warning(nlp, text, expected):
    (warning,) = warnings_about(nlp, text * 3)
    assert expected in warning


def test_markup_draws_a_warning(nlp):
    (warning,) = warnings_about(nlp, f"<html><body><p>{ENGLISH}</p><p>{ENGLISH}</p></body></html>")
    assert "tags of HTML" in warning


def test_a_model_that_knows_few_words_does_not_judge_the_language():
    text = "dax wug " * LEAST_WORDS
    sentence = [Token(i * 4, i * 4 + 3, (word,)) for i, word in enumerate(text.split())]
    for known, expected in ((LARGE - 1, 0), (LARGE, 1)):
        seen = Familiarity({str(i) for i in range(known)}, set("daxwug"))
        seen.add(text, [sentence])
        assert len(seen.warnings()) == expected


def test_the_command_says_so_at_the_end(capsys):
    assert main(["parse", "--beam", "1", "--format", "conllu", "--text", GERMAN]) == 0
    err = capsys.readouterr().err
    assert err.count("another language") == 1
    assert err.startswith("warning: ")
    main(["parse", "--beam", "1", "--format", "conllu", "--text", ENGLISH])
    assert "warning" not in capsys.readouterr().err
