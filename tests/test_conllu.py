"""Reading and writing give back every byte; every malformed sentence is refused where it is wrong."""

import gzip
import io
import lzma
import os
import pickle
import subprocess
import sys
import threading

import conllu as second_opinion
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_trees import random_heads
from tanglewood.errors import ConfigError, FormatError, LocatedError, TreeError
from tanglewood.treebank import Sentence, Tree, conllu

RICH = """\
# newdoc id = garden
# sent_id = moss-1
# text = Let's water the old pear tree .
0.1\tnow\tnow\tADV\t_\t_\t_\t_\t1:advmod\t_
1-2\tLet's\t_\t_\t_\t_\t_\t_\t_\t_
1\tLet\tlet\tVERB\tVB\tMood=Imp\t0\troot\t0:root\t_
2\t's\twe\tPRON\tPRP\tCase=Acc\t3\tnsubj\t3:nsubj\t_
2.1\tplease\tplease\tINTJ\t_\t_\t_\t_\t3:discourse\t_
2.2\tthen\tthen\tADV\t_\t_\t_\t_\t3:advmod\t_
3\twater\twater\tVERB\tVB\t_\t1\tccomp\t1:ccomp\tGloss=a b
4\tthe\tthe\tDET\tDT\t_\t6\tdet\t6:det\t_
5\told\told\tADJ\tJJ\t_\t6\tamod\t6:amod\t_
6\tpear tree\tpear tree\tNOUN\tNN\t_\t3\tobj\t3:obj\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_

# sent_id = moss-2
1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t.\t_\t0\tpunct\t_\t_

"""

PLAIN = """\
1\tOwls\towl\tN\tNNS\tnum=pl\t2\tSBJ\t2\tSBJ
2\tsleep\tsleep\tV\tVB\t_\t0\tROOT\t_\t_
3\tlate\tlate\tA\tRB\t_\t2\tADV\t2\t_

"""


def parse(text, **options):
    return list(conllu.read(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options))


def rewritten(data):
    out = io.BytesIO()
    conllu.write(conllu.read(io.BytesIO(data)), out)
    return out.getvalue()


def row(number, head="0", label="dep"):
    return f"{number}\tw\tw\tX\t_\t_\t{head}\t{label}\t_\t_"


def block(*lines):
    return "\n".join(lines) + "\n\n"


class Pipe(io.RawIOBase):
    """A stream that can be read once and neither rewound nor peeked into."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(buffer)


# Reading


def test_words_leave_out_ranges_and_empty_nodes():
    rich, rain = parse(RICH)
    assert rich.forms == ["Let", "'s", "water", "the", "old", "pear tree", "."]
    assert rich.lemmas == ["let", "we", "water", "the", "old", "pear tree", "."]
    assert rich.upos[:2] == ["VERB", "PRON"]
    assert rich.xpos[:2] == ["VB", "PRP"]
    assert rich.feats[:2] == ["Mood=Imp", "Case=Acc"]
    assert rich.misc[2] == "Gloss=a b"
    assert rich.deprels == rich.tree().labels[1:]
    assert rich.tree() == Tree([0, 3, 1, 6, 6, 3, 1], ["root", "nsubj", "ccomp", "det", "amod", "obj", "punct"])
    assert (len(rich), len(rain)) == (7, 2)
    assert rain.tree().roots() == [1, 2]


def test_a_sentence_knows_where_it_stands_and_what_its_comments_say():
    rich, rain = parse(RICH)
    assert (rich.sent_id, rich.line, rich.file) == ("moss-1", 1, "<stream>")
    assert (rain.sent_id, rain.line) == ("moss-2", 16)
    assert rich.text == "Let's water the old pear tree ."
    assert rain.text is None
    assert rich.comments == ["newdoc id = garden", "sent_id = moss-1", "text = Let's water the old pear tree ."]
    assert [rich.line_of(word) for word in (1, 2, 3, 7)] == [6, 7, 10, 14]
    assert rain.line_of(2) == 18
    assert repr(rain) == "<Sentence moss-2: Rain !>"
    assert parse(PLAIN)[0].sent_id is None


def test_line_numbers_count_leading_blank_lines():
    (sentence,) = parse("\n \n" + PLAIN)
    assert sentence.line == 3
    assert sentence.line_of(3) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RICH, "conllu"),
        (PLAIN, "conllx"),
        (block("# sent_id = 1")[:-1] + PLAIN, "conllx"),
        (block("# text = Owls sleep late")[:-1] + PLAIN, "conllu"),
        (block("# text_en = Owls sleep late")[:-1] + PLAIN, "conllx"),
        (block("# newdoc")[:-1] + PLAIN, "conllu"),
        (block("# global.columns = ID FORM")[:-1] + PLAIN, "conllu"),
        (PLAIN.replace("3\tlate", "2.1\tx\tx\tA\t_\t_\t_\t_\t_\t_\n3\tlate"), "conllu"),
        (PLAIN.replace("1\tOwls", "1-1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n1\tOwls"), "conllu"),
        (block(row(1)), "conllu"),
        (block(row(1).replace("X", "N")), "conllx"),
    ],
)
def test_the_format_is_seen_from_the_first_sentence(text, expected):
    assert {sentence.format for sentence in parse(text + block(row(1)))} == {expected}


def test_a_range_later_on_shows_that_the_file_is_conllu_after_all():
    assert [sentence.format for sentence in parse(PLAIN + RICH + PLAIN)] == ["conllx", "conllu", "conllu", "conllu"]


@pytest.mark.parametrize("text", ["", "\n", "\r\n \r\n", "\ufeff", "\ufeff\r\n\n"])
def test_nothing_but_blank_lines_is_no_sentence(text):
    assert parse(text) == []


def test_several_roots_are_legal():
    assert parse(block(row(1), row(2), row(3)))[0].tree().roots() == [1, 2, 3]


def test_columns_agree_with_the_conllu_package():
    expected = second_opinion.parse(RICH)
    check_against_second_opinion(parse(RICH), expected)


def check_against_second_opinion(sentences, expected):
    assert len(sentences) == len(expected)
    for sentence, other in zip(sentences, expected, strict=True):
        words = [token for token in other if isinstance(token["id"], int)]
        assert sentence.forms == [token["form"] for token in words]
        assert sentence.lemmas == [token["lemma"] for token in words]
        assert sentence.upos == [token["upos"] for token in words]
        assert sentence.tree().heads[1:].tolist() == [token["head"] for token in words]
        assert sentence.tree().labels[1:] == [token["deprel"] for token in words]
        assert sentence.sent_id == other.metadata.get("sent_id")
        assert sentence.text == other.metadata.get("text")


def test_columns_of_the_smallest_treebanks_agree_with_the_conllu_package(shared):
    for path in sorted(shared.glob("treebanks/*/*.conllu"), key=lambda path: path.stat().st_size)[:3]:
        expected = second_opinion.parse(path.read_text(encoding="utf-8"))
        check_against_second_opinion(list(conllu.read(path)), expected)


# Round trips

ODD = {
    "plain": RICH + PLAIN,
    "carriage returns": (RICH + PLAIN).replace("\n", "\r\n"),
    "no final blank line": RICH[:-1],
    "no final newline": RICH[:-2],
    "no final newline after a carriage return": RICH.replace("\n", "\r\n")[:-4],
    "several blank lines": RICH.replace("\n\n", "\n\n\n \t\n\n"),
    "leading blank lines": "\n\n \n" + RICH,
    "byte order mark": "\ufeff" + RICH,
    "byte order mark before a word": "\ufeff" + PLAIN,
    "byte order mark on a line of its own": "\ufeff\n" + PLAIN,
    "byte order mark and blank lines": "\ufeff \n\n" + PLAIN,
    "byte order mark and a tab": "\ufeff\t\n" + PLAIN,
    "byte order mark and carriage returns": "\ufeff" + PLAIN.replace("\n", "\r\n"),
    "mixed line ends": RICH + PLAIN.replace("\n", "\r\n") + RICH,
    "odd spaces": block("#no space", "#\tkey\t=\tv\t\t", "#", row(1).replace("w", "\u00a0\u2028\x85\x0b\x1c")),
    "empty": "",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_writing_gives_back_what_was_read(text):
    assert rewritten(text.encode()) == text.encode()


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_oddities_do_not_show_in_the_columns(text):
    for sentence in parse(text):
        assert sentence.sent_id in {"moss-1", "moss-2", None}
        for number, word in enumerate(sentence.words, 1):
            assert len(word) == 10
            assert word[0] == str(number)
            assert word == tuple(column.strip("\r\n\ufeff") for column in word)


field = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=5)
blank = st.text(" \t\x0b\x0c", max_size=2)


@st.composite
def files(draw):
    lines = draw(st.lists(blank, max_size=2))
    for heads in draw(st.lists(random_heads(6, min_n=1), max_size=4)):
        lines += ["#" + comment for comment in draw(st.lists(field, max_size=2))]
        empty = 0
        ranges = draw(st.booleans())
        for number, head in enumerate(heads, 1):
            columns = draw(st.lists(field, min_size=9, max_size=9))
            if ranges and draw(st.booleans()):
                lines.append("\t".join([f"{number}-{number}", *columns]))
            lines.append("\t".join([str(number), *columns[:5], str(head), *columns[6:]]))
            for empty in range(1, draw(st.integers(0, 2)) + 1):
                lines.append("\t".join([f"{number}.{empty}", *columns]))
        lines += draw(st.lists(blank, min_size=1, max_size=3))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) * bool(lines) + newline.join(lines) + newline * draw(st.integers(0, 1))


@given(files())
def test_writing_gives_back_any_file(text):
    if text.strip(" \t\r\n\x0b\x0c\ufeff"):  # blank lines alone are no sentence's
        assert rewritten(text.encode()).decode() == text


def test_every_treebank_is_given_back_byte_for_byte(shared):
    paths = sorted(shared.glob("treebanks/*/*.conll*"))
    assert len(paths) > 50
    for path in paths:
        data = path.read_bytes()
        assert rewritten(data) == data, path


def test_sentences_of_several_files_stay_apart_when_written_to_one():
    out = io.BytesIO()
    parts = [
        ODD["no final newline"],
        ODD["byte order mark"],
        ODD["no final newline after a carriage return"],
        PLAIN[:-1],
        PLAIN + " ",
    ]
    assert conllu.write((s for part in parts for s in parse(part)), out) == 8
    assert "\ufeff" not in out.getvalue().decode()
    assert [s.forms for s in parse(out.getvalue())] == [s.forms for part in parts for s in parse(part)]


# Sources and targets


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_paths_are_read_and_written_compressed_by_their_ending(tmp_path, ending):
    path = tmp_path / f"garden.conllu{ending}"
    assert conllu.write(parse(RICH), path) == 2
    opened = {"": open, ".gz": gzip.open, ".xz": lzma.open}[ending]
    with opened(path, "rb") as file:
        assert file.read() == RICH.encode()
    assert [s.to_text() for s in conllu.read(str(path))] == [s.to_text() for s in parse(RICH)]
    assert next(conllu.read(path)).file == str(path)
    with opened(path, "rb") as file:
        assert len(list(conllu.read(file))) == 2
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 - only names wanted


def test_writing_the_same_sentences_gives_the_same_compressed_bytes(tmp_path, monkeypatch):
    for year, name in enumerate(("a.gz", "b.gz")):
        monkeypatch.setattr("time.time", lambda year=year: 1e9 + 3e7 * year)
        conllu.write(parse(RICH), tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_content_is_known_without_its_ending(tmp_path, pack):
    path = tmp_path / "garden"
    path.write_bytes(pack(RICH.encode()))
    assert len(list(conllu.read(path))) == 2
    assert len(list(conllu.read(io.BytesIO(pack(RICH.encode()))))) == 2


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_compressed_data_that_breaks_off_or_is_damaged_always_raises(tmp_path, pack, ending):
    path = tmp_path / f"garden{ending}"
    data = pack((RICH * 500).encode())
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 0xFF
    no_block = data[:10] + b"\x07" + data[11:]  # for gzip, a block of a type that does not exist
    for content in (data[:-9], data[: len(data) // 2], bytes(damaged), no_block, b"", RICH.encode()):
        path.write_bytes(content)
        ignored = []
        with pytest.raises(FormatError) as caught:
            list(conllu.read(path, on_error=ignored.append))
        assert caught.value.file == str(path)
        assert "compressed" in str(caught.value)


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        next(conllu.read(tmp_path / "nowhere.conllu"))
    with pytest.raises(FileNotFoundError):
        conllu.write([], tmp_path / "nowhere" / "x.conllu")


def test_text_files_are_refused():
    with pytest.raises(TypeError, match="rb"):
        next(conllu.read(io.StringIO(RICH)))
    with pytest.raises(TypeError, match="wb"):
        conllu.write([], io.StringIO())


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "garden.conllu.gz"
    conllu.write(parse(RICH), path)
    before = path.read_bytes()

    def breaks():
        yield from parse(RICH)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        conllu.write(breaks(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_written_over_itself_and_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "garden.conllu", tmp_path / "link.conllu"
    path.write_text(RICH)
    link.symlink_to(path)
    changed = (s.with_tree(Tree([0] * len(s), ["x"] * len(s))) for s in conllu.read(link))
    conllu.write(changed, link)
    assert link.is_symlink()
    assert {word[7] for s in conllu.read(path) for word in s.words} == {"x"}


def test_devices_are_written_to_and_not_replaced():
    conllu.write(parse(RICH), os.devnull)
    assert os.path.exists(os.devnull)  # noqa: PTH110
    assert not os.path.isfile(os.devnull)  # noqa: PTH113


def test_from_a_pipe_each_sentence_comes_as_soon_as_its_blank_line():
    reading, writing = os.pipe()
    arrived = threading.Semaphore(0)
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        found = []

        def follow():
            for sentence in conllu.read(source):
                found.append(sentence.forms)
                arrived.release()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        for text in (PLAIN, "\n\n" + PLAIN, RICH):
            target.write(text.encode())
            assert arrived.acquire(timeout=10), "the sentence did not arrive"
        target.close()
        thread.join(timeout=10)
    assert len(found) == 4


def test_a_pipe_gives_the_same_sentences_as_a_file():
    text = "\n" + RICH + "\n\n" + PLAIN[:-2]
    piped = list(conllu.read(Pipe(text.encode())))
    assert "".join(s.to_text() for s in piped) == text
    assert [(s.line, s.words) for s in piped] == [(s.line, s.words) for s in parse(text)]


def test_standard_input_goes_to_standard_output():
    code = "from tanglewood.treebank import conllu; conllu.write(conllu.read('-'), '-')"
    done = subprocess.run([sys.executable, "-c", code], input=RICH.encode(), capture_output=True, check=True)
    assert done.stdout == RICH.encode()
    bad = subprocess.run([sys.executable, "-c", code], input=b"x\n", capture_output=True, check=False)
    assert b"FormatError: <stdin>:1: 1 column" in bad.stderr


# Errors

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
        first.tree()
    with pytest.raises(TreeError, match="<stream>:4: word 1 has head 7"):
        second.tree()
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


# Sentences


def test_with_tree_changes_heads_and_labels_of_changed_words_only():
    text = RICH.replace("\n", "\r\n").replace("# newdoc", "\ufeff# newdoc")
    sentence = parse(text)[0]
    tree = sentence.tree()
    tree.heads[5] = 3
    tree.labels[7] = "mark"
    assert sentence.tree() != tree
    changed = sentence.with_tree(Tree(tree.heads[1:], tree.labels[1:]))
    before, after = sentence.to_text().split("\n"), changed.to_text().split("\n")
    different = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert different == [
        ("5\told\told\tADJ\tJJ\t_\t6\tamod\t6:amod\t_\r", "5\told\told\tADJ\tJJ\t_\t3\tamod\t6:amod\t_\r"),
        ("7\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_\r", "7\t.\t.\tPUNCT\t.\t_\t1\tmark\t1:punct\t_\r"),
    ]
    assert changed.tree() == tree
    assert sentence.to_text() == text[: len(sentence.to_text())]
    assert parse(changed.to_text())[0].words == changed.words


@given(random_heads(6, min_n=2), random_heads(6, min_n=2))
def test_with_tree_is_what_reading_it_back_gives(old, new):
    n = min(len(old), len(new))
    old, new = [[head if head <= n else 0 for head in heads[:n]] for heads in (old, new)]
    (sentence,) = parse(block(*(row(i, str(head)) for i, head in enumerate(old, 1))))
    tree = Tree(new, [f"label{head}" for head in new])
    changed = sentence.with_tree(tree)
    assert changed.tree() == parse(changed.to_text())[0].tree() == tree
    assert sentence.tree().heads[1:].tolist() == old
    assert changed.with_tree(sentence.tree()).to_text() == sentence.to_text()


def test_with_tree_fills_missing_heads():
    (sentence,) = parse(block(row(1, "_", "_"), row(2, "_", "_")), trees=False)
    assert sentence.with_tree(Tree([2, 0], ["a", "root"])).to_text() == block(row(1, "2", "a"), row(2, "0", "root"))


def test_with_tree_refuses_a_tree_that_does_not_fit():
    (sentence,) = parse(PLAIN)
    with pytest.raises(TreeError, match="the tree has 1 words; it should have 3"):
        sentence.with_tree(Tree([0]))
    for label in ("", "a\tb", "a\nb"):
        with pytest.raises(TreeError, match=r"<stream>:2: label .* of word 2"):
            sentence.with_tree(Tree([2, 0, 2], ["SBJ", label, "ADV"]))


def test_a_label_no_column_could_hold_may_stay_where_it_is_but_go_nowhere_else():
    (sentence,) = parse(block(row(1, "0", "a\rb"), row(2, "1", "c")))
    assert sentence.with_tree(sentence.tree()).to_text() == sentence.to_text()
    with pytest.raises(TreeError, match="of word 2 is no column"):
        sentence.with_tree(Tree([0, 1], ["a\rb", "a\rb"]))


def test_changed_copies_are_what_reading_them_gives():
    first = parse("\ufeff" + RICH.replace("\n", "\r\n"))[0]
    changed = first.with_misc("Sure", [str(i) for i in range(7)]).with_comments(["# nbest = 1"])
    (again,) = parse(changed.to_text())
    assert again.words == changed.words
    assert again.lines == changed.lines
    assert again.comments == changed.comments == ["nbest = 1", *first.comments]
    assert again.places == changed.places == [place + 1 for place in first.places]
    assert changed.misc[2] == "Gloss=a b|Sure=2"
    assert changed.tree() == first.tree()


def test_a_tree_given_out_is_not_tied_to_its_sentence():
    (sentence,) = parse(PLAIN)
    sentence.tree().heads[1] = 3
    assert sentence.tree() == Tree([2, 0, 2], ["SBJ", "ROOT", "ADV"])


def test_notebooks_draw_a_sentence_that_has_a_tree():
    assert "<svg" in parse(PLAIN)[0]._repr_svg_()
    assert "Owls" in parse(PLAIN)[0]._repr_svg_()
    assert "<svg" in parse(PLAIN)[0].tree()._repr_svg_()
    assert parse(block(row(1, "_")), trees=False)[0]._repr_svg_() is None


def test_sentences_can_be_pickled():
    sentence = parse(RICH)[0]
    copy = pickle.loads(pickle.dumps(sentence))
    assert copy.to_text() == sentence.to_text()
    assert copy.tree() == sentence.tree()


def test_build_makes_a_sentence_of_columns():
    rows = [row(1, "_").split("\t"), row(2, "_").split("\t")]
    built = Sentence.build(rows, ["sent_id = new"])
    assert built.to_text() == block("# sent_id = new", row(1, "_"), row(2, "_"))
    assert built.with_tree(Tree([0, 1])).tree() == Tree([0, 1])
    assert built.sent_id == "new"
    for wrong in ([rows[1]], [rows[0][:9]], [["1", "a\tb", *rows[0][2:]]], [["1", "", *rows[0][2:]]]):
        with pytest.raises(FormatError, match="is not word 1"):
            Sentence.build(wrong)
    with pytest.raises(FormatError, match="line break"):
        Sentence.build(rows, ["a\nb"])


# Conversion


def test_conllu_becomes_conllx():
    sentence = parse(RICH)[0]
    converted = conllu.convert(sentence, "conllx")
    assert converted.format == "conllx"
    assert converted.to_text().split("\n")[5] == "6\tpear_tree\tpear_tree\tNOUN\tNN\t_\t3\tobj\t_\t_"
    assert len(converted.lines) == 7 + 2
    assert converted.tree() == sentence.tree()
    (fine,) = parse(block(row(1)))
    assert conllu.convert(fine, "conllx").xpos == ["X"]


def test_conllx_becomes_conllu():
    (sentence,) = parse("# sent_id = owl\n" + PLAIN)
    converted = conllu.convert(sentence, "conllu")
    assert converted.format == "conllu"
    assert converted.sent_id == "owl"
    assert converted.misc == ["PHEAD=2|PDEPREL=SBJ", "_", "PHEAD=2"]
    assert converted.column(8) == ["_", "_", "_"]
    assert [word[:8] for word in converted.words] == [word[:8] for word in sentence.words]


def test_converting_to_the_same_format_changes_nothing():
    sentence = parse(RICH)[0]
    assert conllu.convert(sentence, "conllu") is sentence


def test_an_unknown_format_is_refused():
    with pytest.raises(ConfigError, match="conllu, conllx"):
        conllu.convert(parse(PLAIN)[0], "penn")
