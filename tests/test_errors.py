"""Messages: short whatever they repeat, in one line, and without anything that a terminal obeys."""

import pickle

import pytest

from tanglewood import errors
from tanglewood.errors import LONGEST, ConfigError, FormatError, LocatedError, TanglewoodError, one_line

LONG = "x" * 10_000_000


def test_what_is_short_and_plain_stays():
    for text in ("", "naïve 文 😀", "a" * LONGEST, "a\u200db"):  # a joiner is part of words
        assert one_line(text) == text


def test_the_middle_of_a_long_text_is_left_out():
    text = one_line(f"begin {LONG} end")
    assert len(text) == LONGEST + 3
    assert text.startswith("begin xxx")
    assert text.endswith("xxx end")
    assert len(one_line("\x1b" * LONGEST)) == LONGEST + 3


def test_what_a_terminal_would_obey_is_escaped():
    assert one_line("a\x1b[2J\r\n\tb\x9b\u202e\u2028\udcff") == r"a\x1b[2J\r\n\tb\x9b\u202e\u2028\udcff"
    one_line("\x00\x7f\ud800").encode()


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TanglewoodError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_one_short_line(kind):
    error = kind(f"bad \x1b[2J\n{LONG}")
    assert len(str(error)) <= LONGEST + 3
    assert str(error).startswith(r"bad \x1b[2J\n")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_place_and_problem_are_all_seen_however_long_each_is():
    error = FormatError(f"first {LONG} last", file=f"{LONG}.conllu", line=17, sent_id=f"s\n{LONG}")
    text = str(error)
    assert ".conllu:17, sent_id s\\n" in text
    assert ": first xxx" in text
    assert text.endswith("last")
    assert len(text) < 4000 / 3
    assert error.problem.startswith("first")
    assert len(error.problem) > len(LONG)  # what it is about is not lost
    assert isinstance(error, LocatedError)


def test_short_errors_are_as_they_were():
    assert str(FormatError("no", file="a.conllu", line=3, sent_id="s1")) == "a.conllu:3, sent_id s1: no"
    assert str(FormatError("no")) == "no"
    assert str(ConfigError("no")) == "no"
