"""The page on screens of three sizes, light and dark, with scripts of both directions, and for all visitors."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import pytest
from browsing import (
    SIZES,
    in_sight,
    no_overflow,
    on_every_screen,
    open_treebank,
    projective,
    sentence_of,
    settled,
    show,
    word_in_sight,
)

ALWAYS = ('[aria-label="Stack, top last"]', '[aria-label="Buffer, front first"]', ".now strong", "#play", "#slider")


@on_every_screen
def test_the_configuration_is_always_in_sight(visit, size, direction, theme):
    """Before and after Show, at every step, of a sentence of 59 words; the tree follows."""
    page = visit(size=SIZES[size], color_scheme=theme)
    assert in_sight(page, *ALWAYS, "#input", "#examples")
    show(page, sentence_of(59, direction))
    assert in_sight(page, *ALWAYS, "#change")
    assert word_in_sight(page, 1)  # a long tree is opened at its beginning
    assert not word_in_sight(page, 59)
    last = int(page.locator("#slider").get_attribute("max"))
    for quarter in range(5):
        page.locator("#slider").fill(str(quarter * last // 4 - (quarter == 4)))
        assert in_sight(page, *ALWAYS, ".move")
        ends = page.locator(".cells.stack li:last-child sub, .cells:not(.stack) li:first-child sub").all_inner_texts()
        assert any(word_in_sight(page, int(word)) for word in ends)  # where the next move happens
    page.get_by_label("Transition system").select_option("covington")
    settled(page)
    page.locator("#slider").fill(str(int(page.locator("#slider").get_attribute("max")) // 2))
    assert in_sight(page, *ALWAYS, ".move", '[aria-label="Skipped"]')
    assert page.locator(".cells.stack").evaluate("e => e.scrollWidth > e.clientWidth")
    top = page.locator(".cells.stack li").last.bounding_box()
    strip = page.locator(".cells.stack").bounding_box()
    assert strip["x"] - 1 <= top["x"]
    assert top["x"] + top["width"] <= strip["x"] + strip["width"] + 1  # of a long stack, its top is in sight
    assert no_overflow(page)
    assert page.evaluate("scrollY") == 0


def test_words_from_right_to_left_leave_what_is_around_them_in_its_place(visit):
    page = visit()
    show(page, sentence_of(7, "rtl"))
    page.keyboard.press("ArrowLeft")
    isolated = page.evaluate(
        """[3, 4, 5].map(column => `.steps td:nth-child(${column})`).concat(".now", ".cells li").map(place =>
            [...document.querySelectorAll(place)].every(one => {
                const letters = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
                while (letters.nextNode())
                    if (/[\\u0590-\\u08ff]/.test(letters.currentNode.data)
                        && !letters.currentNode.parentNode.closest("bdi")) return false;
                return true;
            }))"""
    )
    assert isolated == [True] * 5
    assert page.locator(".steps td bdi").count() > 20
    # An arc reads from its head to its dependent, as its arrow points, whatever the script.
    head, dependent = (page.locator(".now .added bdi").nth(i).bounding_box() for i in range(2))
    assert head["x"] + head["width"] <= dependent["x"]
    # Stack and buffer meet as in the sentence: what comes later is further left.
    stack, buffer = (page.get_by_label(name).bounding_box() for name in ("Stack, top last", "Buffer, front first"))
    assert buffer["x"] + buffer["width"] < stack["x"]
    assert page.locator(".steps th").all_inner_texts() == ["", "Transition", "Buffer", "Stack", "Added arc"]
    assert page.locator("#asked").evaluate("e => getComputedStyle(e).direction") == "rtl"


CUT = "all => all.filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).length"


@pytest.mark.parametrize("size", ["1280x800", "1366x768"])
def test_text_is_not_cut_on_a_laptop(visit, size):
    page = visit(size=SIZES[size])
    assert page.locator(".steps").evaluate("e => e.scrollWidth <= e.clientWidth")
    page = visit("system=planar&system2=covington", size=SIZES[size])
    assert page.locator(".summary").evaluate_all(CUT) == 0
    assert page.locator(".options input[type=number]").evaluate(
        """input => {
            const style = getComputedStyle(input), pen = document.createElement("canvas").getContext("2d");
            pen.font = style.font;
            const arrows = 15, around = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + arrows;
            return pen.measureText(input.placeholder).width + around <= input.clientWidth;
        }"""
    )
    page = visit("system=covington", size=SIZES[size])
    assert page.locator(".summary").evaluate_all(CUT) == 0


def test_text_is_not_cut_and_lines_are_not_broken_on_a_phone(visit):
    page = visit("example=figure1", size=SIZES["phone"])
    assert page.locator(".summary").evaluate_all(CUT) == 0
    full, play = page.locator("#full").bounding_box(), page.locator("#play").bounding_box()
    assert abs(full["y"] - play["y"]) < 5
    page = visit("text=ta+wug+zorps&guide=model:toy&step=2", size=SIZES["phone"])
    assert any("(" in name for name in page.locator(".move .name").all_inner_texts())
    assert page.locator(".move .name").evaluate_all(CUT) == 0
    state = "system=arc-standard&guide=dynamic&example=plain&moves=SHIFT%09SHIFT%09RIGHT-ARC&step=3"
    page = visit(state, size=SIZES["phone"])
    page.get_by_text("2 heads lost").wait_for()
    steps, undo = (page.get_by_role("button", name=name).bounding_box() for name in ("Steps", "Undo"))
    assert abs(steps["y"] - undo["y"]) < 5
    page = visit("view=treebank&treebank=examples&f-search=zzz", size=SIZES["phone"])
    assert page.get_by_role("button", name="Reset the filters").bounding_box()["height"] < 35


def test_two_systems_and_all_their_options_are_whole_on_a_phone(visit):
    page = visit("system=covington&system2=planar&step=3", size=SIZES["phone"])
    assert page.locator(".pane").evaluate_all(CUT) == 0
    assert in_sight(page, *(f".options label:nth-child({n})" for n in (1, 2, 3)))
    settled(page)
    page.locator(".pane").last.locator(".move").last.scroll_into_view_if_needed()
    assert in_sight(page, ".pane:last-child .move")


def test_an_added_arc_is_shown_on_a_phone_where_there_is_room(visit):
    seen = """e => {
        const arc = e.getBoundingClientRect(), line = e.parentNode.getBoundingClientRect();
        return arc.top < line.bottom ? arc.width : 0;
    }"""
    page = visit("example=figure1&step=3", size=SIZES["phone"])
    assert page.locator(".now .added").evaluate(seen) > 100
    played = "system=arc-standard&guide=dynamic&moves=SHIFT%09SHIFT%09RIGHT-ARC&step=3"
    page = visit(f"{played}&conllu={quote(projective('ltr'))}", size=SIZES["phone"])
    page.locator(".price").wait_for()
    assert page.locator(".now .added").evaluate(seen) == 0  # rather than a letter of it
    assert page.locator(".now .added").inner_text() == "wug → blick (advcl:relcl)"


@pytest.mark.parametrize(("state", "size"), [("", "phone"), ("system2=covington&", "1366x768")])
def test_where_room_is_short_steps_take_the_place_of_the_moves(visit, state, size):
    page = visit(f"{state}example=figure1&step=15", size=SIZES[size])
    moves, row = page.locator(".lower").first.locator("h2, .choice"), page.locator(".steps [aria-current]").first
    for shown in (False, True, False):
        assert [part.is_visible() for part in moves.all()] == [not shown, not shown]
        assert row.is_visible() == shown
        assert not shown or in_sight(page, ".steps [aria-current] button")
        page.get_by_role("button", name="Steps").first.click()


def test_the_rows_of_steps_are_whole(visit):
    page = visit("example=figure1&step=15", size=SIZES["1280x800"])
    titles = page.locator(".steps thead th").first.bounding_box()
    for step in (15, 16, 20):
        page.locator("#slider").fill(str(step))
        shown = page.locator(".steps [aria-current]").bounding_box()
        rows = (shown["y"] - titles["y"] - titles["height"]) / shown["height"]
        assert rows == pytest.approx(round(rows), abs=0.1)
        assert 1 <= round(rows) <= 4


def test_sentences_of_a_treebank_begin_where_their_script_does(visit):
    page = visit("view=treebank", size=SIZES["1280x800"])
    open_treebank(page, sentence_of(59, "rtl") + sentence_of(3, "rtl") + sentence_of(3))
    sides = "all => all.map(e => [getComputedStyle(e).direction, getComputedStyle(e).textAlign])"
    found = page.locator("#tb-list .text").evaluate_all(sides)
    assert found == [["rtl", "start"], ["rtl", "start"], ["ltr", "start"]]


def test_what_stands_in_a_line_or_a_column_is_aligned(visit):
    page = visit("view=treebank&treebank=examples", size=SIZES["1280x800"])
    ends = "all => [...new Set(all.map(e => Math.round(e.getBoundingClientRect().right)))].length"
    for column in (2, 3):
        assert page.locator(f"#tb-coverage td:nth-child({column}) .number").evaluate_all(ends) == 1
    file, sample = (page.locator(place).bounding_box() for place in ("#file", "#sample"))
    assert abs(file["y"] - sample["y"]) < 1.5
    page = visit("example=figure1", size=SIZES["1280x800"])
    sides = "all => [...new Set(all.map(e => getComputedStyle(e).textAlign))]"
    assert page.locator(".steps tr > :nth-child(3)").evaluate_all(sides) == ["end"]  # the stack, and its title


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_placeholder_can_be_read_as_well_as_a_label(visit, scheme):
    page = visit("system=covington", color_scheme=scheme)
    for place in ("#input", ".options input[type=number]", "#f-search"):
        colours = page.locator(place).evaluate(
            "e => [getComputedStyle(e, '::placeholder').color, getComputedStyle(e.labels[0]).color]"
        )
        assert colours[0] == colours[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_arcs_to_come_can_be_seen(visit, scheme):
    page = visit("example=figure1&step=0", color_scheme=scheme)
    contrast = page.evaluate(
        """() => {
            const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
            const linear = c => c <= 10 ? c / 3295 : ((c / 255 + .055) / 1.055) ** 2.4;
            const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
            const paper = channels(getComputedStyle(document.querySelector(".pane")).backgroundColor);
            return [...document.querySelectorAll(".arc")].map(arc => {
                const style = getComputedStyle(arc), share = Number(style.opacity);
                const seen = channels(style.color).map((c, i) => share * c + (1 - share) * paper[i]);
                const [dark, bright] = [light(seen), light(paper)].sort((a, b) => a - b);
                return (bright + .05) / (dark + .05);
            });
        }"""
    )
    assert len(contrast) == 9
    assert min(contrast) > 2
    assert page.locator(".arc.goal").count() == 9


@pytest.fixture(scope="module")
def axe():
    found = find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("no axe-core: pip install 'tanglewood[test]'")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def assert_no_serious_fault(page, axe):
    settled(page)
    page.emulate_media(reduced_motion="reduce")  # else a colour is judged while it changes
    page.evaluate(axe)
    faults = page.evaluate(
        """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
            .map(one => [one.impact, one.id, one.nodes.slice(0, 4).map(node => node.html.slice(0, 160))])"""
    )
    serious = [fault for fault in faults if fault[0] in ("serious", "critical")]
    assert not serious, json.dumps(serious, indent=1, ensure_ascii=False)


@on_every_screen
def test_axe_finds_no_serious_fault_on_any_screen(visit, axe, size, direction, theme):
    page = visit("system=covington", size=SIZES[size], color_scheme=theme)
    show(page, sentence_of(30, direction))
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert_no_serious_fault(page, axe)
    page.get_by_role("button", name="Treebank").click()
    open_treebank(page, sentence_of(30, direction) + sentence_of(5, direction))
    assert_no_serious_fault(page, axe)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("state", "size"),
    [
        ("system=arc-standard&guide=dynamic&example=plain&moves=SHIFT%09SHIFT%09RIGHT-ARC&step=3", "1280x800"),
        ("text=ta+wug+zorps&guide=model:toy&step=2&system2=covington", "1366x768"),
        ("view=treebank&treebank=examples&f-crossing=1", "1280x800"),
    ],
)
def test_axe_finds_no_serious_fault_in_any_view(visit, axe, state, size, theme):
    assert_no_serious_fault(visit(state, size=SIZES[size], color_scheme=theme), axe)
