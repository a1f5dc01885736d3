"""PNG pictures: of the right size, not empty, and a clear word when the extra is missing."""

import re
import struct
import warnings
import zlib

import pytest

from tanglewood.errors import MissingExtraError
from tanglewood.show import png, svg
from tanglewood.treebank.tree import Tree

DRAWING = svg.draw(Tree([3, 0, 2], ["a", "b", "c"]), ["One", "two", "three"])


def size(data):
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


def pixels(data):
    """The bytes of all rows, still filtered: enough to tell whether two pictures are the same."""
    result, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            result += data[at + 8 : at + 8 + length]
        at += length + 12
    return zlib.decompress(result)


def test_a_picture_has_twice_the_pixels_and_shows_something():
    pytest.importorskip("resvg_py", reason="needs the extra png")
    picture = png.from_svg(DRAWING)
    width, height = (2 * int(DRAWING.split(f'{name}="')[1].split('"')[0]) for name in (" width", " height"))
    assert size(picture) == (width, height)
    empty = png.from_svg("\n".join(line for line in DRAWING.split("\n") if not line.startswith(("<path", "<text"))))
    assert pixels(picture) != pixels(empty)


def test_lines_are_drawn_without_any_style_sheet():
    pytest.importorskip("resvg_py", reason="needs the extra png")
    plain = svg.draw(Tree([3, 0, 2], ["a", "b", "c"]), ["One", "two", "three"], style=False)
    assert pixels(png.from_svg(plain)) == pixels(png.from_svg(DRAWING))  # never dark


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("كتاب", "Arabic"),
        ("ספר", "Hebrew"),
        ("(किताब", "Devanagari"),
        ("本", "CJK SC"),
        ("ほん", "CJK JP"),
        ("책", "CJK KR"),
    ],
)
def test_words_in_other_scripts_name_their_font(word, family):
    assert f"'Noto Sans {family}'" in png._with_fonts(svg.draw(Tree([0]), [word]))


def test_common_scripts_and_signs_stay_as_they_are():
    drawing = svg.draw(Tree([0, 1, 1, 1]), ["Käse", "<&>", "1", "сыр"])
    assert png._with_fonts(drawing) == drawing


def test_without_the_package_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tanglewood\[png\]'"):
        png.from_svg(DRAWING)


def test_scripts_whose_letters_no_font_has_are_told(monkeypatch):
    pytest.importorskip("resvg_py", reason="needs the extra png")
    drawing = svg.draw(Tree([2, 0, 2], ["a", "b", "c"]), ["Ωmega", "כתב", "ქარი"])
    monkeypatch.setattr(png, "_has_glyph", lambda letter: letter != "ქ")
    with pytest.warns(png.FontWarning, match="script Georgian: they are empty boxes"):
        picture = png.from_svg(drawing)
    assert picture.startswith(b"\x89PNG")
    assert png._letters(drawing) == {"Latin": "a", "Greek": "Ω", "Hebrew": "כ", "Georgian": "ქ"}
    monkeypatch.setattr(png, "_has_glyph", lambda letter: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert png.from_svg(drawing) == picture


def test_a_letter_that_no_font_has_is_found_by_its_look():
    pytest.importorskip("resvg_py", reason="needs the extra png")
    pictures = [png._picture(letter, "sans-serif") for letter in ("a", png.NO_LETTER)]
    drawn = [[png._drawn_with(family, picture, 1.0) for picture in pictures] for family in png.SANS_SERIF]
    if all(letter == other for letter, other in drawn):
        pytest.skip("this machine has none of the fonts that words are drawn in")
    assert png._has_glyph("a")
    assert not png._has_glyph("\U0003fffd")  # not assigned


def test_letters_are_tried_in_the_fonts_of_the_drawing(monkeypatch):
    tried = []
    monkeypatch.setattr(png, "_drawn", lambda drawing, scale: tried.append(drawing) or b"")
    png._alone("a", None)
    (family,) = re.findall(r'<svg [^>]*(font-family="[^"]+")', svg.draw(Tree([0]), ["a"]))
    assert family in tried[0]


@pytest.mark.parametrize("there", [*png.SANS_SERIF[:3], None])
def test_words_are_drawn_in_a_family_that_the_machine_has(monkeypatch, there):
    # resvg takes sans-serif for Arial; where a machine lacks that, letters would be lost
    monkeypatch.setattr(png, "_drawn_with", lambda family, drawing, _: drawing.encode() if family == there else b"")
    png._sans_serif.cache_clear()
    assert png._sans_serif() == (there or png.SANS_SERIF[0])
    png._sans_serif.cache_clear()
