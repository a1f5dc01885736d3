"""Turn an SVG drawing into a PNG picture, with resvg: an optional extra, one wheel that needs no system libraries.

Words are drawn in the machine's fonts; a script for which it has none comes out as empty boxes or not at all.
"""

import importlib.util
import re
import unicodedata
from html import unescape

from tanglewood.errors import MissingExtraError

CJK = {"CJK": "CJK SC", "HIRAGANA": "CJK JP", "KATAKANA": "CJK JP", "HANGUL": "CJK KR"}
COMMON = {"LATIN", "GREEK", "CYRILLIC"}
SCALE = 2.0  # pixels for each of the SVG's: sharp on dense screens and in print


def check_png() -> None:
    """Raise an error if the package for PNG is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtraError("PNG needs resvg_py: pip install 'tanglewood[png]'")


def from_svg(drawing: str, *, scale: float = SCALE) -> bytes:
    """Return the picture of an SVG, in light colours, on white."""
    check_png()
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=_with_fonts(drawing), zoom=scale, background="#ffffff"))


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
    script = next(
        (unicodedata.name(char, "").split(" ")[0] for char in text if char.isalpha() and char > "\u036f"), None
    )
    return f"Noto Sans {CJK.get(script, script.title())}" if script and script not in COMMON else None
