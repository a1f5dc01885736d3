"""Turn an SVG drawing into a PNG picture, with resvg: an optional extra, one wheel without libraries of the system.

Words are drawn in the fonts of the machine; a script for which it has none would come out as empty boxes.
"""

import importlib.util

from tanglewood.errors import MissingExtraError

SCALE = 2.0  # pixels for each of the SVG's: sharp on dense screens and in print


def check_png() -> None:
    """Raise an error if the package for PNG is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtraError("PNG needs resvg_py: pip install 'tanglewood[png]'")


def from_svg(drawing: str, *, scale: float = SCALE) -> bytes:
    """Return the picture of an SVG, in light colours, on white."""
    check_png()
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=drawing, zoom=scale, background="#ffffff"))
