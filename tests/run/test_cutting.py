"""Parts of files: they follow each other, end at borders, and know their first line and how many characters precede."""

from __future__ import annotations

import gzip
from io import BytesIO

import pytest
from corpora import documents, paragraphs

from tanglewood.errors import FormatError
from tanglewood.files import opened
from tanglewood.run.cutting import MOST_PARTS, Cut, Range, cuts_of
from tanglewood.text.reading import read_text


def parts_of(path, cuts):
    found = []
    for cut in cuts:
        with opened(path) as (stream, name):
            part = Range(stream, name, cut)
            found.append(b"".join(iter(part.read1, b"")))
    return found


@pytest.fixture(params=["plain", "gz"])
def written(request, tmp_path):
    def write(data):
        path = tmp_path / ("x.txt" if request.param == "plain" else "x.txt.gz")
        path.write_bytes(data if request.param == "plain" else gzip.compress(data))
        return str(path)

    return write


@pytest.mark.parametrize("size", [1, 50, 333, 10**6])
@pytest.mark.parametrize("bad", [b"", b"\xff\xfe"])
@pytest.mark.parametrize("read_size", [7, 1 << 17])
def test_parts_of_text_end_at_blank_lines(written, size, bad, read_size, monkeypatch):
    monkeypatch.setattr("tanglewood.run.cutting.READ_SIZE", read_size)
    data = b"\xef\xbb\xbf" + paragraphs(30, 1).replace("\n\n", "\r\n \t\r\n", 3).encode().replace(b"a", b"a" + bad)
    path = written(data)
    cuts = cuts_of(path, "text", size)
    parts = parts_of(path, cuts)
    assert b"".join(parts) == data
    assert len(parts) > 1 or size > len(data)
    text = "".join(read_text(BytesIO(data), "x", on_error=lambda _: None))
    for number, (cut, part) in enumerate(zip(cuts, parts, strict=True)):
        before = b"".join(parts[:number])
        assert cut.begin == len(before)
        assert cut.line == before.count(b"\n") + 1
        if number:
            assert before.replace(b"\r", b"").replace(b" \t\n", b"\n").endswith(b"\n\n")
            assert len(parts[number - 1]) >= size
            assert part
        decoded = "".join(read_text(BytesIO(part), "x", on_error=lambda _: None, marked=not number))
        assert text[cut.letters :].startswith(decoded)


def test_parts_of_json_lines_and_of_lines_end_with_a_line(written):
    data = documents(20, 1).encode()
    path = written(data)
    for options in ({"kind": "json"}, {"kind": "text", "lines": True}):
        parts = parts_of(path, cuts_of(path, size=100, **options))
        assert b"".join(parts) == data
        assert len(parts) > 5
        assert all(part.endswith(b"\n") for part in parts)


def test_there_are_never_more_parts_than_the_most(written):
    """However small a compressed file is: what is in it decides how many parts there could be."""
    data = paragraphs(3 * MOST_PARTS // 2, 1).encode()
    path = written(data)
    cuts = cuts_of(path, "text", 1)
    parts = parts_of(path, cuts)
    assert len(cuts) == MOST_PARTS
    assert b"".join(parts) == data
    assert {part.count(b"\n\n") for part in parts} == {1, 2}
    assert [cut.line for cut in cuts] == [data[: cut.begin].count(b"\n") + 1 for cut in cuts]


def test_wide_characters_and_text_without_borders_are_one_part(written):
    path = written("Dax.\n\nWug.\n\n".encode("utf-16"))
    assert cuts_of(path, "text", 2) == [Cut()]
    assert cuts_of(written(b"Dax\n" * 100), "text", 2) == [Cut()]
    assert cuts_of(written(b""), "text", 2) == [Cut()]


def test_what_breaks_off_is_an_error_that_says_where(tmp_path):
    path = tmp_path / "x.txt.gz"
    whole = gzip.compress(paragraphs(3000, 1).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"x.txt.gz:\d+: .*breaks off"):
        cuts_of(str(path), "text", 100)
    with opened(path) as (stream, name), pytest.raises(FormatError, match=r"breaks off"):
        Range(stream, name, Cut(begin=10**8))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_lines_that_are_too_long_are_left_out(size):
    data = b"one\n\n" + b"x" * 50 + b"\ntwo\n" + b"y" * 11
    part = Range(BytesIO(data), "x", Cut())
    read = part._read
    part._read = lambda _: read(size)
    assert list(part.lines(10)) == [b"one", b"", None, b"two", None]
    assert list(Range(BytesIO(b"a\nb"), "x", Cut()).lines(10)) == [b"a", b"b"]
