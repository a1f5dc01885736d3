"""Scatter plots with fitted lines as plain SVG, no package needed: transitions by length (Nivre 2009, Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 440, 340  # of the plot area of a panel
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 106, 52  # what is around it; above it title and legend
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
INK, FAINT, GRID, HOLLOW = "#1b1f24", "#656d76", "#e6e8eb", "#c2410c"
TICKS = 6  # about this many on an axis


@dataclass(frozen=True, slots=True)
class Series:
    """Points, a line y = slope x through them, and what the legend says; hollow ones lie over filled ones.

    Without a slope the line goes from point to point.
    """

    name: str
    points: Sequence[tuple[int, int]]
    slope: float | None
    hollow: bool = False

    @property
    def colour(self) -> str:
        """The colour of its line, and of its dots or their rims."""
        return HOLLOW if self.hollow else INK


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot; ``dashed`` is the slope of a line for comparison, with its name."""

    title: str
    x_name: str
    y_name: str
    series: Sequence[Series]
    dashed: tuple[float, str] | None = None


def scatter(panels: Sequence[Panel], *, title: str) -> str:
    """Return the panels side by side; the same data give the same text."""
    step = LEFT + WIDTH + RIGHT
    width, height = step * len(panels), TOP + HEIGHT + BOTTOM
    body = "\n".join(
        f'<g transform="translate({step * place + LEFT} {TOP})">\n{_panel(panel)}\n</g>'
        for place, panel in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONT}" font-size="12" fill="{INK}" role="img">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def tick_step(most: float) -> int:
    """Return a round distance between ticks for an axis that goes up to ``most``."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if most <= TICKS * factor * size:
                return factor * size
        size *= 10


def _panel(panel: Panel) -> str:
    points = [point for series in panel.series for point in series.points]
    x_step, y_step = (tick_step(max((point[axis] for point in points), default=1)) for axis in (0, 1))
    x_end, y_end = (
        step * -(-max((point[axis] for point in points), default=1) // step)
        for axis, step in ((0, x_step), (1, y_step))
    )

    def place(x: float, y: float) -> tuple[str, str]:
        return f"{WIDTH * x / x_end:.1f}", f"{HEIGHT - HEIGHT * y / y_end:.1f}"

    def line(slope: float, style: str) -> str:
        x = min(x_end, y_end / slope) if slope > 0 else x_end
        (x1, y1), (x2, y2) = place(0, 0), place(x, slope * x)
        return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}/>'

    parts = [f'<text x="0" y="{24 - TOP}" font-size="14" font-weight="600">{escape(panel.title)}</text>']
    for x in range(0, x_end + 1, x_step):
        at, _ = place(x, 0)
        parts.append(f'<line x1="{at}" x2="{at}" y1="0" y2="{HEIGHT}" stroke="{GRID}"/>')
        parts.append(f'<text x="{at}" y="{HEIGHT + 18}" text-anchor="middle" fill="{FAINT}">{x}</text>')
    for y in range(0, y_end + 1, y_step):
        _, at = place(0, y)
        parts.append(f'<line x1="0" x2="{WIDTH}" y1="{at}" y2="{at}" stroke="{GRID}"/>')
        parts.append(f'<text x="-8" y="{float(at) + 4:.1f}" text-anchor="end" fill="{FAINT}">{y:,}</text>')
    parts.append(f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="{FAINT}"/>')
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT + 40}" text-anchor="middle">{escape(panel.x_name)}</text>')
    turned = f'transform="translate(-48 {HEIGHT / 2:.0f}) rotate(-90)"'
    parts.append(f'<text {turned} text-anchor="middle">{escape(panel.y_name)}</text>')
    for series in panel.series:
        # Many sentences share a place: one dot per place keeps the file small.
        places = [place(x, y) for x, y in sorted(set(series.points))]
        dots = "".join(f"M{x} {y}h0" for x, y in places)
        larger = 0 if series.slope is not None else 3  # few points, each of which counts
        if series.slope is None:
            joined = " ".join(f"{x},{y}" for x, y in places)
            parts.append(f'<polyline points="{joined}" stroke="{series.colour}" stroke-width="1.6" fill="none"/>')
        round_ends = 'stroke-linecap="round" fill="none"'
        if series.hollow:
            parts.append(f'<path d="{dots}" stroke="{HOLLOW}" stroke-width="{5 + larger}" {round_ends}/>')
            parts.append(f'<path d="{dots}" stroke="#ffffff" stroke-width="{3 + larger}" {round_ends}/>')
        else:
            opacity = 1 if larger else 0.55
            style = f'stroke="{INK}" stroke-opacity="{opacity}" stroke-width="{4 + larger}" {round_ends}'
            parts.append(f'<path d="{dots}" {style}/>')
    if panel.dashed:
        parts.append(line(panel.dashed[0], f'stroke="{FAINT}" stroke-dasharray="5 4"'))
    for series in panel.series:
        if series.slope is not None:
            parts.append(line(series.slope, f'stroke="{series.colour}" stroke-width="1.6"'))
    parts.append(_legend(panel))
    return "\n".join(parts)


def _legend(panel: Panel) -> str:
    """Return the legend, above the plot, so that it hides no dot."""
    parts = []
    y = 46 - TOP
    for series in panel.series:
        stroke = series.colour
        fill = "#ffffff" if series.hollow else stroke
        parts.append(f'<line x1="0" x2="24" y1="{y}" y2="{y}" stroke="{stroke}" stroke-width="1.6"/>')
        parts.append(f'<circle cx="12" cy="{y}" r="3" fill="{fill}" stroke="{stroke}"/>')
        parts.append(f'<text x="32" y="{y + 4}">{escape(series.name)}</text>')
        y += 18
    if panel.dashed:
        parts.append(f'<line x1="0" x2="24" y1="{y}" y2="{y}" stroke="{FAINT}" stroke-dasharray="5 4"/>')
        parts.append(f'<text x="32" y="{y + 4}" fill="{FAINT}">{escape(panel.dashed[1])}</text>')
    return "\n".join(parts)
