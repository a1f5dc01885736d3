"""Text from files and streams: told from treebanks, decoded, and errors that say where it breaks off."""

from __future__ import annotations

from io import BytesIO

import pytest

from tanglewood.errors import FormatError
from tanglewood.text.reading import Seen, is_treebank, read_text


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
