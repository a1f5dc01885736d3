"""Multiword tokens: what was seen is split as it was, what was not by endings and beginnings."""

import json

import pytest

from tanglewood.text.multiword import Multiword

ENGLISH = [
    ("don't", ("do", "n't")),
    ("didn't", ("did", "n't")),
    ("isn't", ("is", "n't")),
    ("won't", ("wo", "n't")),
    ("dog's", ("dog", "'s")),
    ("cat's", ("cat", "'s")),
    *((f"{noun}'s", (noun, "'s")) for noun in ("bird", "cow", "horse")),
    ("let's", ("let's",)),
    ("go", ("go",)),
    ("dogs", ("dogs",)),
]
FRENCH = [("du", ("de", "le")), ("au", ("à", "le")), ("le", ("le",)), ("vu", ("vu",))]


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ("don't", ("do", "n't")),
        ("DON'T", ("DO", "N'T")),
        ("Didn't", ("Did", "n't")),
        ("John's", ("John", "'s")),
        ("wasn't", ("was", "n't")),
        ("Mary’s", ("Mary", "’s")),
        ("let's", ("let's",)),
        ("Let's", ("Let's",)),
        ("'s", ("'s",)),
        ("boys", ("boys",)),
        ("", ("",)),
    ],
)
def test_english_contractions(surface, words):
    assert Multiword.learn(ENGLISH).split(surface) == words


@pytest.mark.parametrize(
    ("surface", "words"),
    [("du", ("de", "le")), ("Du", ("De", "le")), ("DU", ("DE", "LE")), ("Au", ("À", "le")), ("nu", ("nu",))],
)
def test_words_that_are_not_in_the_token_take_its_capitals(surface, words):
    assert Multiword.learn(FRENCH).split(surface) == words


def test_an_ending_may_change_the_stem():
    tokens = [(f"{stem}á-lo", (f"{stem}ar", "lo")) for stem in ("am", "cant", "fal")] + [("olá", ("olá",))]
    assert Multiword.learn(tokens).split("Comprá-lo") == ("Comprar", "lo")


def test_a_beginning_may_be_split_off():
    tokens = [(f"wa{stem}", ("wa", stem)) for stem in "abcdefgh"] + [("kitab", ("kitab",))]
    assert Multiword.learn(tokens).split("wajamal") == ("wa", "jamal")


def test_a_word_that_some_tokens_begin_with_is_not_split_off_others():
    learnt = Multiword.learn(
        [*ENGLISH, ("that's", ("that", "'s")), ("thats", ("that", "s")), ("that'd", ("that", "'d"))]
    )
    assert learnt.split("thatched") == ("thatched",)


def test_what_is_both_often_enough_is_left_to_the_words_around_it():
    tokens = [("des", ("de", "les"))] * 5 + [("des", ("des",))] * 4 + [("du", ("de", "le"))] * 5 + [("du", ("du",))]
    learnt = Multiword.learn(tokens)
    assert learnt.is_unsure("Des")
    assert learnt.several("Des") == ("De", "les")
    assert not learnt.is_unsure("du")


def test_without_multiword_tokens_nothing_is_learnt():
    learnt = Multiword.learn([("a", ("a",)), ("b's", ("b's",))])
    assert learnt.settings() == {"table": {}, "endings": {}, "beginnings": {}, "unsure": {}}
    assert learnt.split("A's") == ("A's",)


def test_what_is_learnt_survives_json():
    learnt = Multiword.learn(ENGLISH + FRENCH)
    again = Multiword.load(json.loads(json.dumps(learnt.settings())))
    assert again.settings() == learnt.settings()
    assert again.split("Mary's") == learnt.split("Mary's") == ("Mary", "'s")
