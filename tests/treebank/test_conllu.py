"""Reading and writing give back every byte."""

import gzip
import io
import lzma
import os
import subprocess
import sys
import threading

import conllu as second_opinion
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_trees import random_heads
from conllu_texts import PLAIN, RICH, Pipe, block, parse, rewritten, row
from exhaustive import COMPILED
from tanglewood.errors import ArgumentError, FormatError
from tanglewood.treebank import Tree, conllu

# Reading


def test_words_leave_out_ranges_and_empty_nodes():
    rich, rain = parse(RICH)
    assert rich.forms == ["Let", "'s", "water", "the", "old", "pear tree", "."]
    assert rich.lemmas == ["let", "we", "water", "the", "old", "pear tree", "."]
    assert rich.upos[:2] == ["VERB", "PRON"]
    assert rich.xpos[:2] == ["VB", "PRP"]
    assert rich.feats[:2] == ["Mood=Imp", "Case=Acc"]
    assert rich.misc[2] == "Gloss=a b"
    assert rich.deprels == rich.tree.labels[1:]
    assert rich.tree == Tree([0, 3, 1, 6, 6, 3, 1], ["root", "nsubj", "ccomp", "det", "amod", "obj", "punct"])
    assert (len(rich), len(rain)) == (7, 2)
    assert rain.tree.roots() == [1, 2]


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
    assert parse(block(row(1), row(2), row(3)))[0].tree.roots() == [1, 2, 3]


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
        assert sentence.tree.heads[1:].tolist() == [token["head"] for token in words]
        assert sentence.tree.labels[1:] == [token["deprel"] for token in words]
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
    paths = sorted(shared.glob("treebanks/*/*.conll*" if COMPILED else "treebanks/*/dev.conll*"))
    assert len(paths) > (50 if COMPILED else 15)
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


@pytest.mark.parametrize("wrong", [None, 5, b"x.conllu", ["x.conllu"], parse(RICH)[0]])
def test_what_is_no_file_is_refused_at_once(wrong):
    for attempt in (lambda: conllu.read(wrong), lambda: conllu.write([], wrong)):
        with pytest.raises(ArgumentError, match=r'needs a path, "-" or an open binary file, not .* \(\w+\)$'):
            attempt()


def test_any_object_that_names_a_file_is_a_path(tmp_path):
    class Elsewhere(os.PathLike):
        def __fspath__(self):
            return str(tmp_path / "garden.conllu.gz")

    assert conllu.write(parse(RICH), Elsewhere()) == 2
    assert [sentence.sent_id for sentence in conllu.read(Elsewhere())] == ["moss-1", "moss-2"]


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
