"""Every malformed sentence is refused where it is wrong, with what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conllu_texts import PLAIN, block, parse, row
from tanglewood.errors import FormatError, LocatedError, TreeError
from tanglewood.treebank import conllu

ERRORS = {
    "too few columns": ([row(1), "2\tw\tw"], 2, "3 columns; there should be 10"),
    "too many columns": ([row(1), row(2) + "\tx"], 2, "11 columns; there should be 10, separated by tabs (is there a"),
    "spaces for tabs": ([row(1).replace("\t", " ")], 1, "1 column; there should be 10, separated by tabs (are they"),
    "an empty column": ([row(1), row(2).replace("X", "")], 2, 'column 4 of 2 is empty; "_" should stand'),
    "an empty last column": ([row(1)[:-1], row(2)], 1, "column 10 of 1 is empty"),
    "an empty last column at the end": ([row(1), row(2)[:-1]], 2, "column 10 of 2 is empty"),
    "an empty label": ([row(1), row(2, label="")], 2, "column 8 of 2 is empty"),
    "a word twice": ([row(1), row(2), row(2)], 3, "word 2 stands twice; the next word should be 3"),
    "a missing blank line": ([row(1), row(2), row(1)], 3, "or a blank line is missing before a new sentence"),
    "a missing word": ([row(1), row(3)], 2, "word 3 comes too early; the next word should be 2"),
    "word 0": ([row(0)], 1, "'0' is no word number; the next word should be 1"),
    "a word number with a zero": ([row("01")], 1, "'01' is no word number"),
    "no word number": ([row(1), row("x")], 2, "'x' is no word number; the next word should be 2"),
    "an empty word number": ([row("")], 1, "'' is no word number"),
    "a range after its word": ([row(1), row("1-2"), row(2)], 2, "range 1-2 stands before word 2; it should stand dir"),
    "a range too early": ([row("2-3"), row(1), row(2), row(3)], 1, "range 2-3 stands before word 1"),
    "a range before an empty node": ([row("1-2"), row("0.1"), row(1), row(2)], 1, "range 1-2 should stand directly"),
    "a range backwards": ([row(1), row("2-1"), row(2)], 2, "'2-1' is no range; two word numbers like 2-3"),
    "a range without end": ([row("1-"), row(1)], 1, "'1-' is no range"),
    "a range of letters": ([row("a-b"), row(1)], 1, "'a-b' is no range"),
    "a range over a range": ([row("1-3"), row(1), row("2-3"), row(2), row(3)], 3, "overlaps the one before it"),
    "a range at the end of a range": ([row("1-2"), row(1), row("2-2"), row(2)], 3, "which ends at word 2"),
    "two ranges on a word": ([row("1-1"), row("1-2"), row(1), row(2)], 1, "range 1-1 should stand directly before"),
    "a range beyond the words": ([row(1), row("2-9"), row(2)], 2, "range 2-9 should not end after the last word, 2"),
    "a range just beyond the words": ([row(1), row("2-3"), row(2)], 2, "range 2-3 should not end after the last"),
    "a range and nothing": ([row(1), row("2-3")], 2, "range 2-3 should not end after the last word, 1"),
    "an empty node too early": ([row("1.1"), row(1)], 1, "empty node '1.1' is out of place; here it should be 0.1"),
    "an empty node from 0": ([row(1), row("1.0")], 2, "here it should be 1.1"),
    "an empty node twice": ([row(1), row("1.1"), row("1.1")], 3, "here it should be 1.2"),
    "an empty node left out": ([row(1), row("1.2")], 2, "here it should be 1.1"),
    "an empty node of letters": ([row(1), row("1.x")], 2, "here it should be 1.1"),
    "a comment among words": ([row(1), "# no", row(2)], 2, "a comment stands among the words"),
    "a comment below the words": ([row(1), "# no"], 2, "a comment stands among the words"),
    "a comment below a range": ([row("1-1"), "# no", row(1)], 2, "a comment stands among the words"),
    "no words": (["# lonely"], 1, "a sentence without words"),
    "an empty node alone": ([row("0.1")], 1, "a sentence without words"),
    "a head with a sign": ([row(1, "+0")], 1, "the head of word 1 is '+0'; it should be a number from 0"),
    "a negative head": ([row(1), row(2, "-1")], 2, "the head of word 2 is '-1'"),
    "a head with a space": ([row(1), row(2, " 1")], 2, "the head of word 2 is ' 1'"),
    "a head with a zero": ([row(1), row(2, "01")], 2, "the head of word 2 is '01'"),
    "a head with an underscore": ([row(1), row(2, "1_0")], 2, "the head of word 2 is '1_0'"),
    "a head in Arabic digits": ([row(1), row(2, "١")], 2, "the head of word 2 is '١'"),
    "a raised head": ([row(1), row(2, "²")], 2, "the head of word 2 is '²'"),
    "a head with a point": ([row(1), row(2, "1.0")], 2, "the head of word 2 is '1.0'"),
    "a word for a head": ([row(1, "root")], 1, "the head of word 1 is 'root'"),
}  # fmt: skip

TREE_ERRORS = {
    "a head too large": ([row(1), row(2, "3")], 2, "word 2 has head 3, which does not exist; heads go from 0 (the"),
    "a head far too large": ([row(1, "9" * 5000)], 1, "which does not exist; heads go from 0 (the root) to 1"),
    "a head above the range of int": ([row(1, "2147483648")], 1, "word 1 has head 2147483648, which does not exist"),
    "a head of ten digits": ([row(1, "1000000000")], 1, "word 1 has head 1000000000, which does not exist"),
    "a missing head": ([row(1), row(2, "_")], 2, "word 2 has no head; a number from 0 (the root) to 2 should stand"),
    "a self-loop": ([row(1), row(2, "2")], 2, "word 2 is its own head"),
    "a cycle": ([row(1), row(2, "4"), row(3, "2"), row(4, "3")], 2, "words 2 <- 4 <- 3 <- 2 form a cycle"),
    "a cycle with a range above": ([row(1), row("2-3"), row(2, "3"), row(3, "2")], 3, "words 2 <- 3 <- 2 form a cycle"),
    "no root": ([row(1, "2"), row(2, "1")], 1, "no word has head 0, and words 1 <- 2 <- 1 form a cycle"),
}  # fmt: skip
WRONG = [
    pytest.param(kind, *case, id=name)
    for kind, cases in ((FormatError, ERRORS), (TreeError, TREE_ERRORS))
    for name, case in cases.items()
]
GOOD = block("# sent_id = good", row(1))


@pytest.mark.parametrize(("kind", "lines", "at", "message"), WRONG)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["\n\n", ""])
def test_an_error_names_file_line_and_sentence(kind, lines, at, message, newline, ending, tmp_path):
    path = tmp_path / "wrong.conllu"
    text = GOOD + "\n" + "\n".join(["# sent_id = wrong", *lines]) + ending
    path.write_bytes(text.replace("\n", newline).encode())
    reading = conllu.read(path)
    assert next(reading).sent_id == "good"
    with pytest.raises(kind) as caught:
        next(reading)
    where = 5 + (at if message != "a sentence without words" else 0)
    assert str(caught.value).startswith(f"{path}:{where}, sent_id wrong: ")
    assert message in caught.value.problem
    assert (caught.value.file, caught.value.line, caught.value.sent_id) == (str(path), where, "wrong")


@pytest.mark.parametrize(("kind", "lines", "at", "message"), WRONG)
def test_on_error_leaves_out_the_bad_sentence_and_no_other(kind, lines, at, message):
    errors = []
    bad = block("# sent_id = wrong", *lines)
    found = parse(bad + GOOD + bad + bad + GOOD, on_error=errors.append)
    assert "".join(sentence.to_text() for sentence in found) == GOOD + GOOD
    assert [type(error) for error in errors] == [kind] * 3
    assert len({error.line for error in errors}) == 3
    assert all(message in error.problem for error in errors)


@given(
    st.lists(
        st.sampled_from([GOOD, PLAIN, block("x"), block("# c"), block(row(1, "1")), block(row(1, "_"))]), max_size=8
    )
)
def test_every_block_is_either_read_or_reported(blocks):
    errors = []
    found = parse("".join(blocks), on_error=errors.append)
    assert [s.to_text() for s in found] == [text for text in blocks if text in {GOOD, PLAIN}]
    assert len(found) + len(errors) == len(blocks)


def test_an_error_in_on_error_stops_the_reading():
    def refuse(error):
        raise RuntimeError("enough") from error

    with pytest.raises(RuntimeError, match="enough"):
        parse(block("x") + GOOD, on_error=refuse)


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    data = (
        GOOD.encode() + b"# sent_id = x\n" + row(1).encode() + b"\n" + row(2).encode().replace(b"w", b"\xe4") + b"\n\n"
    )
    with pytest.raises(FormatError, match="<stream>:6: byte 0xe4 is not valid UTF-8") as caught:
        parse(data)
    assert caught.value.line == 6
    errors = []
    assert len(parse(data + GOOD.encode(), on_error=errors.append)) == 2
    assert len(errors) == 1


def test_without_trees_heads_may_be_missing_or_form_no_tree():
    text = block(row(1, "_"), row(2, "2")) + block(row(1, "7"))
    first, second = parse(text, trees=False)
    with pytest.raises(TreeError, match="<stream>:1: word 1 has no head"):
        _ = first.tree
    with pytest.raises(TreeError, match="<stream>:4: word 1 has head 7"):
        _ = second.tree
    assert first.to_text() + second.to_text() == text


def test_without_trees_a_head_is_still_a_number_or_missing():
    with pytest.raises(FormatError, match="<stream>:2: the head of word 2 is 'x'"):
        parse(block(row(1, "_"), row(2, "x")), trees=False)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_located_error(data):
    try:
        parse(data)
    except LocatedError as error:
        assert error.line is not None  # noqa: PT017 - either outcome is right
