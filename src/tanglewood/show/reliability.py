"""Reliability plots as plain SVG, no package needed: how often heads are right, by the confidence they were given.

Each bin of confidence has a bar as high as the share of right heads in it. What the mean confidence has more is a
hollow box on top of it, what it has less the filled upper part of the bar; below is how many words the bin has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError, one_line
from tanglewood.files import check_file_to_write, writing
from tanglewood.show.formats import FORMATS, endings, format_of_name
from tanglewood.show.layout import clean
from tanglewood.show.scatter import GRID
from tanglewood.show.svg import DARK, FONTS, MARKED, ONLY_FIRST, PAGE, TAG, WORD, dark_style, text_width

if TYPE_CHECKING:
    from tanglewood.measure.calibration import Bin, Calibration

SIDE = 360  # of the square plot
HISTOGRAM = 84  # height of the histogram, and of that the room for the number above the highest bar
ROOM = 16
BETWEEN = 14  # from the plot to the histogram
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 128, 52  # what is around both; above them title and legend
SPACE = 2  # between a bar and the edge of its bin
TITLE_SIZE, TEXT_SIZE, NUMBER_SIZE = 14, 12, 10
TICKS = range(0, 101, 20)
BAR = "#ccd2d9"
COLOURS = {  # in dark mode
    ".page": DARK[".page"],
    ".text": DARK[".word"],
    ".faint": DARK[".tag, .number"],
    ".grid": "color: #2b313a",
    ".line": "color: #9aa4b0",
    ".bar": "fill: #454e5a",
    ".level": "color: #f0f2f5",
    ".too-sure": DARK[".nonprojective"],
    ".unsure": DARK[".first"],
}
PICTURES = {name: FORMATS[name] for name in ("svg", "png")}


def check_target(target: str) -> None:
    """Raise an error if a plot cannot be written to that file."""
    format_ = format_of_name(target, PICTURES)
    if format_ is None:
        raise ConfigError(f"cannot plot to {target}: the name should end in {endings(PICTURES)}")
    check_file_to_write(target)
    if format_.name == "png":
        from tanglewood.show.png import check_png

        check_png()


def save(target: str, named: Sequence[tuple[str, Calibration]]) -> None:
    """Write the plots of named systems, side by side, as SVG or PNG."""
    check_target(target)
    picture = draw(named).encode()
    if format_of_name(target, PICTURES) is PICTURES["png"]:
        from tanglewood.show.png import from_svg

        picture = from_svg(picture.decode())
    with writing(target) as out:
        out.write(picture)


def draw(named: Sequence[tuple[str, Calibration]]) -> str:
    """Return the plots of named systems side by side; the same counts give the same text."""
    step = LEFT + SIDE + RIGHT
    width, height = step * len(named), TOP + SIDE + BETWEEN + HISTOGRAM + BOTTOM
    title = "; ".join(f"{name}: {', '.join(_summary(found))}" for name, found in named)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tanglewood" role="img" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="{FONTS}" font-size="{TEXT_SIZE}">',
        f"<title>{escape(clean(f'Calibration of heads: {title}'))}</title>",
        dark_style(COLOURS),
        f'<rect class="page" width="{width}" height="{height}" rx="6" fill="{PAGE}"/>',
    ]
    for place, (name, found) in enumerate(named):
        parts.append(f'<g transform="translate({step * place + LEFT} {TOP})">')
        parts += [*_heading(name, found), *_legend(), *_axes()]
        most = max(one.words for one in found.bins)
        for one in found.bins:
            if one.words:
                parts += ['<g class="bin">', *_bin(one, most), "</g>"]
        parts += [f'<path class="line" d="M0 {SIDE}L{SIDE} 0" {_stroke(TAG)} stroke-dasharray="5 4"/>', "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _summary(found: Calibration) -> list[str]:
    """Return the scores in words."""
    scores = (("expected calibration error", found.ece), ("mean confidence", found.mean_confidence), ("UAS", found.uas))
    shown = [f"{name} {'-' if score is None else f'{score:.2f}'}" for name, score in scores]
    return [*shown, f"{found.words:,} words"]


def _heading(name: str, found: Calibration) -> Iterator[str]:
    error, *rest = _summary(found)
    yield _text(0, 26 - TOP, _fitted(name), size=TITLE_SIZE, weight=600)
    yield _text(0, 46 - TOP, error)
    yield _text(0, 64 - TOP, ", ".join(rest), faint=True)


def _fitted(name: str) -> str:
    """Return a name, the middle of a long one left out so that it is no wider than its panel."""
    for most in range(80, 4, -4):
        shown = clean(one_line(name, most))
        if text_width(shown, TITLE_SIZE) <= SIDE:
            return shown
    return ""


def _legend() -> Iterator[str]:
    """Say what the marks mean; above the plot, so that nothing is hidden."""
    top, low, right = 82 - TOP, 100 - TOP, SIDE // 2
    yield from (_level(0, 18, top + 6), _text(26, top + 10, "share of right heads"))
    yield from (_too_sure(0, 18, low, 11), _text(26, low + 10, "too sure"))
    yield f'<path class="line" d="M{right} {top + 6}h18" {_stroke(TAG)} stroke-dasharray="5 4"/>'
    yield _text(right + 26, top + 10, "perfectly calibrated")
    yield from (_unsure(right, 18, low, 11), _text(right + 26, low + 10, "not sure enough"))


def _axes() -> Iterator[str]:
    low = SIDE + BETWEEN + HISTOGRAM
    for tick in TICKS:
        at = SIDE * tick // 100
        yield f'<path class="grid" d="M{at} 0V{SIDE}M0 {at}H{SIDE}" {_stroke(GRID)}/>'
        yield _text(at, low + 18, str(tick), anchor="middle", faint=True)
        yield _text(-8, SIDE - at + 4, str(tick), anchor="end", faint=True)
    yield f'<path class="line" d="M0 0V{SIDE}H{SIDE}M0 {low}H{SIDE}" {_stroke(TAG)}/>'
    yield _text(SIDE // 2, low + 40, "confidence, %", anchor="middle")
    yield _turned(SIDE // 2, "right heads, %")
    yield _turned(low - HISTOGRAM // 2, "words")


def _bin(one: Bin, most: int) -> Iterator[str]:
    """Draw a bin that has words, with its numbers as a tooltip."""
    sure, right = one.mean_confidence or 0.0, one.uas or 0.0
    x, end = SIDE * one.low + SPACE / 2, SIDE * one.high - SPACE / 2
    width = end - x
    top, level = SIDE - SIDE * sure / 100, SIDE - SIDE * right / 100
    told = f"{100 * one.low:.2f} to {100 * one.high:.2f}: {one.words:,} words"
    yield f"<title>{told}, mean confidence {sure:.2f}, {right:.2f} of the heads right</title>"
    yield _bar(x, width, max(top, level), SIDE)
    if top < level:
        yield _too_sure(x, width, top, level - top)
    elif level < top:
        yield _unsure(x, width, level, top - level)
    yield _level(x, width, level)
    low = SIDE + BETWEEN + HISTOGRAM
    height = max((HISTOGRAM - ROOM) * one.words / most, 1)
    yield _bar(x, width, low - height, low)
    yield _text((x + end) / 2, low - height - 4, _short(one.words), size=NUMBER_SIZE, anchor="middle", faint=True)


def _short(number: int) -> str:
    """Return a number in at most four characters, as far as there are names: 950, 1.2k, 25k, 3.1M."""
    for size, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 0.9995 * size:
            share = number / size
            return f"{share:.1f}{name}" if share < 9.95 else f"{share:.0f}{name}"
    return str(number)


# The marks. -----------------------------------------------------------------------------------------------------------


def _bar(x: float, width: float, top: float, low: float) -> str:
    return f'<rect class="bar" {_place(x, width, top, low - top)} fill="{BAR}"/>'


def _too_sure(x: float, width: float, top: float, height: float) -> str:
    """Draw what confidence has more: hollow, so that it stands out without its colour."""
    inside = _place(x + 0.75, width - 1.5, top + 0.75, max(height - 1.5, 0.1))
    style = 'fill="currentColor" fill-opacity="0.16" stroke="currentColor" stroke-width="1.5"'
    return f'<rect class="too-sure" {inside} color="{MARKED}" {style}/>'


def _unsure(x: float, width: float, top: float, height: float) -> str:
    """Draw what confidence has less: filled."""
    style = 'fill="currentColor" fill-opacity="0.75"'
    return f'<rect class="unsure" {_place(x, width, top, height)} color="{ONLY_FIRST}" {style}/>'


def _level(x: float, width: float, y: float) -> str:
    return f'<path class="level" d="M{x:.1f} {y:.1f}h{width:.1f}" {_stroke(WORD)} stroke-width="2.5"/>'


def _stroke(colour: str) -> str:
    return f'color="{colour}" stroke="currentColor" fill="none"'


def _place(x: float, width: float, y: float, height: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def _text(
    x: float, y: float, text: str, *, size: int = TEXT_SIZE, weight: int = 400, anchor: str = "start",
    faint: bool = False,
) -> str:  # fmt: skip
    kind, colour = ("faint", TAG) if faint else ("text", WORD)
    more = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{more}>'
        f"{escape(text)}</text>"
    )


def _turned(y: float, text: str) -> str:
    return f'<g transform="translate(-44 {y:.1f}) rotate(-90)">{_text(0, 0, text, anchor="middle")}</g>'
