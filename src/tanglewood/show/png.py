"""Turn an SVG drawing into a PNG picture, with resvg: an optional extra, one wheel that needs no system libraries.

Words are drawn in the machine's fonts; a script for which it has none comes out as empty boxes or not at all, and a
warning says so.
"""

import importlib.util
import re
import unicodedata
import warnings
from functools import cache
from html import unescape

from tanglewood.errors import MissingExtraError
from tanglewood.show.svg import FONTS

CJK = {"CJK": "CJK SC", "HIRAGANA": "CJK JP", "KATAKANA": "CJK JP", "HANGUL": "CJK KR"}
COMMON = {"LATIN", "GREEK", "CYRILLIC"}
SANS_SERIF = ("Arial", "Noto Sans", "DejaVu Sans", "Liberation Sans", "FreeSans", "Ubuntu", "Cantarell", "Verdana")
NO_LETTER = "\U0010fffd"  # for private use, and the last of its kind
SCALE = 2.0  # pixels for each of the SVG's: sharp on dense screens and in print


def check_png() -> None:
    """Raise an error if the package for PNG is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtraError("PNG needs resvg_py: pip install 'tanglewood[png]'")


def from_svg(drawing: str, *, scale: float = SCALE) -> bytes:
    """Return the picture of an SVG, in light colours, on white; a warning says which scripts have no glyphs here."""
    check_png()
    missing = [script for script, letter in _letters(drawing).items() if not _has_glyph(letter)]
    if missing:
        names = ", ".join(missing)
        warnings.warn(
            f"no font here has letters of the script {names}: they are empty boxes in the picture, or missing; fonts "
            "such as Noto Sans have them, and SVG or HTML leaves it to who looks at it",
            FontWarning,
            stacklevel=2,
        )
    return _drawn(_with_fonts(drawing), scale)


class FontWarning(UserWarning):
    """Some letters of a picture cannot be seen in it."""


def _drawn(drawing: str, scale: float) -> bytes:
    return _drawn_with(_sans_serif(), drawing, scale)


def _drawn_with(sans_serif: str, drawing: str, scale: float) -> bytes:
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=drawing, zoom=scale, background="#ffffff", sans_serif_family=sans_serif)
    )


@cache
def _sans_serif() -> str:
    """Return a family that this machine has: resvg does not ask the system which one it calls sans-serif."""
    for family in SANS_SERIF:
        letter, other = (_drawn_with(family, _picture(char, "sans-serif"), 1.0) for char in ("a", NO_LETTER))
        if letter != other:
            return family
    return SANS_SERIF[0]


def _letters(drawing: str) -> dict[str, str]:
    """Return the scripts of the texts of a drawing, each with a letter of it."""
    found: dict[str, str] = {}
    for text in re.findall(r"<text [^>]*>([^<]+)<", drawing):
        for char in unescape(text):
            if char.isalpha():
                found.setdefault(_script(char).title(), char)
    return found


@cache
def _has_glyph(letter: str) -> bool:
    """Whether a font of this machine has a letter: one that no font has looks the same, whatever it is."""
    family = _family(letter)
    return _alone(letter, family) != _alone(NO_LETTER, family)


def _alone(letter: str, family: str | None) -> bytes:
    """Return the picture of a letter, in the font that words in its script get."""
    return _drawn(_picture(letter, f"'{family}', 'Noto Sans', sans-serif" if family else FONTS), 1.0)


def _picture(letter: str, fonts: str) -> str:
    text = f'<text font-family="{fonts}" x="4" y="24" font-size="20">{letter}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="32">{text}</svg>'


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ")[0]


def _with_fonts(drawing: str) -> str:
    """Name a font of its own for every text in a script that few fonts have.

    Where the first font lacks a character, resvg takes any that has it, bold or not.
    """

    def named(text: re.Match[str]) -> str:
        family = _family(unescape(text[2]))
        return f"<text font-family=\"'{family}', 'Noto Sans', sans-serif\" {text[1]}>{text[2]}<" if family else text[0]

    return re.sub(r"<text ([^>]*)>([^<]+)<", named, drawing)


def _family(text: str) -> str | None:
    """Return the Noto font for a text, by its first letter that is not Latin; None for what all fonts have."""
    script = next((_script(char) for char in text if char.isalpha() and char > "\u036f"), None)
    return f"Noto Sans {CJK.get(script, script.title())}" if script and script not in COMMON else None
