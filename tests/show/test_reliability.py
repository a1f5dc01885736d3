"""The reliability plot: every bin as high as its numbers say, nothing on top of anything else, safe for any name."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawings import SVG, meet
from tanglewood.errors import ConfigError, MissingExtraError
from tanglewood.measure.calibration import BINS, Calibration
from tanglewood.show import reliability
from tanglewood.show.reliability import BETWEEN, HISTOGRAM, LEFT, ROOM, SIDE, TOP, draw, save
from tanglewood.show.svg import text_width

counts = st.lists(st.tuples(st.integers(0, 99_999), st.floats(0, 1), st.floats(0, 1)), min_size=BINS, max_size=BINS)


def filled(rows):
    """A calibration whose bins have so many words, this share of them right, and a mean at this place of the bin."""
    found = Calibration()
    for one, (words, right, place) in zip(found.bins, rows, strict=True):
        one.words, one.right = words, round(words * right)
        one.total = words * (one.low + place * (one.high - one.low))
    return found


def bins(svg):
    """The groups of the bins."""
    return [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.get("class") == "bin"]


def rectangles(group, kind):
    """Left, top, right and lower edge of the rectangles of a kind."""
    found = [rect for rect in group.iter(f"{SVG}rect") if rect.get("class") == kind]
    edges = [[float(rect.get(name)) for name in ("x", "y", "width", "height")] for rect in found]
    return [(x, y, x + width, y + height) for x, y, width, height in edges]


def level(group):
    (path,) = [path for path in group.iter(f"{SVG}path") if path.get("class") == "level"]
    return float(re.match(r"M[\d.]+ ([\d.-]+)h", path.get("d"))[1])


@given(counts)
@settings(deadline=None)
def test_bars_and_boxes_are_as_high_as_the_numbers_say(rows):
    found = filled(rows)
    full = [one for one in found.bins if one.words]
    drawn = bins(draw([("x", found)]))
    assert len(drawn) == len(full)
    most = max((one.words for one in full), default=0)
    near = {"abs": 0.11}  # one decimal
    for one, group in zip(full, drawn, strict=True):
        sure, right = (SIDE * (1 - share / 100) for share in (one.mean_confidence, one.uas))
        bar, histogram = rectangles(group, "bar")
        assert bar[1::2] == (pytest.approx(max(sure, right), **near), pytest.approx(SIDE, **near))
        assert level(group) == pytest.approx(right, **near)
        assert bar[0] == histogram[0] == pytest.approx(SIDE * one.low, abs=1.1)
        assert bar[2] == histogram[2] == pytest.approx(SIDE * one.high, abs=1.1)
        assert histogram[3] == pytest.approx(SIDE + BETWEEN + HISTOGRAM, **near)
        height = max((HISTOGRAM - ROOM) * one.words / most, 1)
        assert histogram[3] - histogram[1] == pytest.approx(height, **near)
        too_sure, unsure = rectangles(group, "too-sure"), rectangles(group, "unsure")
        assert len(too_sure) == (sure < right)  # up is less
        assert len(unsure) == (right < sure)
        for box in unsure:
            assert box[1::2] == (pytest.approx(right, **near), pytest.approx(sure, **near))
        for box in too_sure:  # the line around it is inside
            assert box[1] == pytest.approx(sure + 0.75, **near)
            assert box[3] == pytest.approx(max(right - 0.75, sure + 0.85), **near)


def boxes(svg):
    """The rectangles of all texts of the first panel that are not turned, as seen from its plot."""
    panel = next(ElementTree.fromstring(svg).iter(f"{SVG}g"))
    for text in [*panel.findall(f"{SVG}text"), *(text for group in bins(svg) for text in group.iter(f"{SVG}text"))]:
        size, x, y = (float(text.get(name)) for name in ("font-size", "x", "y"))
        width = text_width(text.text or "", int(size))
        left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
        yield left, y - 0.8 * size, left + width, y + 0.2 * size


@given(counts, st.text(max_size=200))
@settings(deadline=None, max_examples=40)
def test_texts_lie_on_the_page_and_not_on_each_other(rows, name):
    svg = draw([(name, filled(rows))])
    page = ElementTree.fromstring(svg)
    width, height = float(page.get("width")), float(page.get("height"))
    found = [*boxes(svg)]
    assert all(left >= -LEFT and top >= -TOP for left, top, _, _ in found)
    assert all(right <= width - LEFT and low <= height - TOP for _, _, right, low in found)
    assert not [pair for pair in combinations(found, 2) if meet(*pair)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0"), (999, "999"), (1000, "1.0k"), (1249, "1.2k"), (9949, "9.9k"), (9950, "10k"), (21_765, "22k")),
        *((999_499, "999k"), (999_500, "1.0M"), (10**9, "1.0G"), (123 * 10**9, "123G")),
    ],
)
def test_numbers_above_bars_are_short(number, text):
    assert reliability._short(number) == text


def test_every_bin_tells_its_numbers_and_the_picture_those_of_all():
    found = filled([(0, 0, 0)] * 14 + [(1500, 0.9, 0.5)])
    svg = draw([("a.conllu", found), ("b.conllu", Calibration())])
    page = ElementTree.fromstring(svg)
    assert page.get("role") == "img"
    assert page[0].text == (
        "Calibration of heads: a.conllu: expected calibration error 6.67, mean confidence 96.67, UAS 90.00, "
        "1,500 words; b.conllu: expected calibration error -, mean confidence -, UAS -, 0 words"
    )
    (group,) = bins(svg)
    assert group[0].text == "93.33 to 100.00: 1,500 words, mean confidence 96.67, 90.00 of the heads right"
    assert "1.5k" in [text.text for text in group.iter(f"{SVG}text")]


def test_colours_follow_dark_mode_and_nothing_is_fetched():
    svg = draw([("x", filled([(5, 0.2, 0.5), *[(7, 1, 0.5)] * 14]))])
    (style,) = re.findall(r"<style>(.*)</style>", svg)
    assert "prefers-color-scheme: dark" in style
    kinds = set(re.findall(r'class="([\w-]+)"', svg)) - {"tanglewood", "bin"}
    assert kinds == set(re.findall(r"\.tanglewood \.([\w-]+)", style))
    assert svg.count("http") == 1  # the namespace
    assert not re.search(r"url\(|@import|href|\bid=", svg)


def test_names_are_escaped_and_long_ones_cut():
    svg = draw([("<script>&\x00\ud800", Calibration()), (f"{'x' * 500}.conllu", Calibration())])
    assert "<script" not in svg
    svg.encode()
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert any(re.fullmatch(r"x+ … x+\.conllu", text) for text in texts)


def test_a_plot_is_saved_as_svg_or_png(tmp_path, monkeypatch):
    named = [("x", filled([(5, 0.2, 0.5)] * BINS))]
    save(str(tmp_path / "a.svg"), named)
    assert (tmp_path / "a.svg").read_text() == draw(named)
    for target in ("a.pdf", "a", "-"):
        with pytest.raises(ConfigError, match=r"should end in (one of )?\.svg, \.png"):
            save(target, named)
    pytest.importorskip("resvg_py", reason="needs the extra png")
    save(str(tmp_path / "a.png"), named)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"tanglewood\[png\]"):
        save(str(tmp_path / "b.png"), named)
    assert not (tmp_path / "b.png").exists()
