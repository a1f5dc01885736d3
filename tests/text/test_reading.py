"""Text from files and streams: told from treebanks, decoded, and errors that say where it breaks off."""

from __future__ import annotations

from io import BytesIO

import pytest

from tanglewood.errors import ConfigError, FormatError
from tanglewood.text.reading import MOST_SEEN, Seen, checked_encoding, is_treebank, read_text


@pytest.mark.parametrize(
    ("start", "name", "expected"),
    [
        (b"# sent_id = 1\n1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n", "", True),
        (b"\xef\xbb\xbf1\tA\t_\n", "", True),
        (b"1-2\tdu\t_\n", "", True),
        (b"1 A hearing\n", "", False),
        (b"# A heading\nand text\n", "", False),
        (b"Some text.", "", False),
        (b"1 A hearing\n", "x.conllu.gz", True),
        (b"", "", True),
    ],
)
def test_treebanks_are_told_from_text(start, name, expected):
    assert is_treebank(start, name) == expected


def test_what_a_stream_is_is_not_decided_before_a_whole_line_has_come():
    assert is_treebank(b"# sent_id = 1\n1", ended=False) is None
    assert is_treebank(b"# Notes\n", ended=False) is None
    assert is_treebank(b"# Notes\n") is False
    assert is_treebank(b"# sent_id = 1\n") is True

    class Slow(BytesIO):
        def read1(self, size=-1):
            return self.read(1)

    for data, expected in ((b"# x\n1\tA\t_\n", True), (b"# Notes\nHello.\n", False)):
        seen = Seen(Slow(data), "-")
        assert seen.is_treebank is expected
        assert b"".join(iter(seen.read1, b"")) == data


def test_text_that_breaks_off_is_an_error_that_says_where():
    class Broken(BytesIO):
        def read1(self, size=-1):
            data = self.read(4)
            if not data:
                raise EOFError("ended early")
            return data

    found = read_text(Broken(b"a\nb\nc"), "f")
    assert next(found) == "a\nb\n"
    with pytest.raises(FormatError, match=r"f:3: .*damaged or breaks off.*ended early"):
        list(found)


def test_text_that_is_no_utf8_is_an_error_that_says_where():
    assert "".join(read_text(BytesIO("\ufeffà\nb".encode()), "f")) == "à\nb"
    with pytest.raises(FormatError, match=r"f:3: .*xff.*UTF-8"):
        list(read_text(BytesIO(b"a\nb\nc \xff d"), "f"))


class Slices(BytesIO):
    """Gives a few bytes at a time."""

    def __init__(self, data, size):
        super().__init__(data)
        self.size = size

    def read1(self, size=-1):
        return self.read(self.size)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"x" * (MOST_SEEN + 5), False),
        (b"# " + b"x" * (MOST_SEEN + 5), False),
        (b"# text = " + b"x" * (MOST_SEEN + 5), True),
        (b"1\tx\t" + b"x" * (MOST_SEEN + 5), True),
    ],
)
def test_a_first_line_of_more_than_a_megabyte_is_judged_by_its_beginning(line, expected):
    for data in (line, line + b"\nmore\n"):
        seen = Seen(BytesIO(data), "x")
        assert seen.is_treebank is expected
        assert b"".join(iter(seen.read1, b"")) == data


ENCODED = {
    "utf-8-sig": "",
    "utf-16": "",
    "utf-32": "",
    "latin-1": "latin-1",
    "cp1252": "cp1252",
    "utf-16-le": "utf-16-le",
    "utf-8": "utf-8",
}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(("encoding", "given"), ENCODED.items())
def test_text_is_decoded_by_its_mark_or_as_it_is_asked_for(encoding, given, size):
    text = "Déjà vu.\nZwölf\n"
    assert "".join(read_text(Slices(text.encode(encoding), size), "f", encoding=given)) == text


def decoded(data, size=100, **how):
    found = []
    text = "".join(read_text(Slices(data, size), "f", on_error=found.append, **how))
    return text, [(error.line, error.problem.partition(" are not")[0]) for error in found]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_what_cannot_be_decoded_is_left_out_or_replaced_and_told(size):
    data = "é a\n".encode() + b"b\xff\xfec\n\n\xe2\x82d \xc3"
    places = [(2, r"bytes b'\xff\xfe'"), (4, r"bytes b'\xe2\x82'"), (4, r"bytes b'\xc3'")]
    assert decoded(data, replaced=True) == ("é a\nb\ufffdc\n\n\ufffdd \ufffd", places)
    assert decoded(data) == ("é a\nbc\n\nd ", places)
    assert "".join(decoded(data, size)[0].split()) == "éabcd"
    wide = "a\n".encode("utf-16-le") + b"\x00\xd8" + "b\n".encode("utf-16-le") + b"x"
    expected = [(2, r"bytes b'\x00\xd8'"), (3, "bytes b'x'")]
    assert decoded(b"\xff\xfe" + wide, size, replaced=True) == ("a\n\ufffdb\n\ufffd", expected)
    japanese = "あ\n".encode("shift_jis") + b"\x81\x20x"
    text, found = decoded(japanese, size, encoding="shift_jis")
    assert text.startswith("あ\n")
    assert found[0][0] == 2


def test_garbage_is_decoded_in_one_pass():
    data = bytes(range(256)) * 2000
    for encoding in ("", "utf-16-le", "utf-32-be", "shift_jis"):
        found = []
        text = "".join(read_text(BytesIO(data), "f", encoding=encoding, on_error=found.append))
        assert found
        assert text.encode()  # no surrogates are left


def test_an_encoding_that_there_is_not_is_an_error():
    assert checked_encoding("Latin1") == "iso8859-1"
    for name in ("nosuch", "rot13", "base64", "", "x\0y", "zlib"):
        with pytest.raises(ConfigError, match="no such encoding"):
            checked_encoding(name)


def test_a_treebank_in_another_encoding_is_an_error_that_says_how_to_mend_it():
    trees = "1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    seen = Seen(BytesIO(trees.encode("utf-16")), "f")
    assert seen.is_treebank
    with pytest.raises(FormatError, match=r"f:1: a treebank in utf-16-le; .*iconv"):
        seen.check_treebank()
    assert not Seen(BytesIO("Hello\n".encode("utf-16")), "f").is_treebank
    assert Seen(BytesIO(trees.encode()), "f").check_treebank().read() == trees.encode()
