"""The page of the playground in a real browser: what a visitor sees and does."""

from __future__ import annotations

import re
import unicodedata

import pytest
from browsing import cells, made, no_overflow, now

from playground import FIGURE1
from toy import toy_sentences, toy_text

NASTY = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'


def test_a_visitor_sees_figure_1_derived_by_swap_and_steps_through_it(visit):
    page = visit()
    assert page.get_by_label("A sentence, or CoNLL-U").input_value() == "A hearing is scheduled on the issue today ."
    assert page.locator(".summary").inner_text() == "30 transitions for 9 words · 6 swaps"
    whole = made(page)
    assert whole == {(2, 1), (3, 2), (0, 3), (3, 4), (2, 5), (7, 6), (5, 7), (4, 8), (3, 9)}
    page.get_by_role("button", name="First step").click()
    assert made(page) == set()
    assert cells(page, "Buffer") == ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."]
    seen = [now(page)]
    for _ in range(30):
        page.get_by_role("button", name="One step on").click()
        seen.append(now(page))
    assert seen[:5] == ["Start", "SHIFT", "SHIFT", "LEFT-ARC(DET)", "SHIFT"]
    assert seen.count("SWAP") == 6
    assert (made(page), cells(page, "Stack")) == (whole, ["ROOT"])
    assert page.get_by_role("button", name="One step on").is_disabled()
    page.get_by_role("button", name="One step back").click()
    assert (0, 3) not in made(page)


def test_crossing_arcs_have_the_accent_colour_in_light_and_dark(visit):
    colours = {}
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme)
        colour = "arc => getComputedStyle(arc).color"
        colours[scheme] = [
            page.locator(f'svg .arc[data-dependent="{word}"]').first.evaluate(colour) for word in (5, 8, 1, 4)
        ]
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
    assert colours["light"][:2] == ["rgb(194, 65, 12)"] * 2
    assert colours["dark"][:2] == ["rgb(255, 158, 94)"] * 2
    assert all(len({*found}) == 2 for found in colours.values())


def test_the_theme_switch_wins_over_the_system_and_is_remembered(visit):
    page = visit(color_scheme="light")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    switch = "getComputedStyle(document.getElementById('theme')).backgroundColor"
    light, released = page.evaluate(paper), page.evaluate(switch)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(paper) == dark
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
    page.mouse.move(0, 0)
    assert page.evaluate(switch) != released  # it looks pressed, too


def test_typed_text_is_parsed_and_the_scores_of_the_model_are_shown(visit):
    page = visit()
    page.get_by_label("A sentence, or CoNLL-U").fill("ta wug zorps. wug fimps")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Sentence 1 of 2").wait_for()
    page.locator(".now strong", has_text="RIGHT-ARC").wait_for()
    assert len(made(page)) == 3
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="One step on").click()
    page.get_by_role("button", name="One step on").click()
    assert page.get_by_role("heading", name="Scores of the legal moves").is_visible()
    shares = page.locator(".moves .number").all_inner_texts()
    assert len(shares) > 1
    assert sum(float(share.rstrip("%")) for share in shares) == pytest.approx(100, abs=0.3)
    page.get_by_role("button", name="Next sentence").click()
    page.get_by_text("Sentence 2 of 2").wait_for()


def test_pasted_conllu_is_shown_and_errors_are_told_with_their_line(visit):
    page = visit()
    page.get_by_label("A sentence, or CoNLL-U").fill(FIGURE1.replace("3\tis\tbe", "3\tis be"))
    with page.expect_response("**/api/parse") as answer:
        page.get_by_role("button", name="Show").click()
    assert answer.value.status == 422
    problem = page.get_by_role("alert").filter(has_text="line 5, sentence nivre2009-figure1")
    problem.wait_for()
    assert "there should be 10" in problem.inner_text()
    for part in (".tree", ".configuration", ".lower", ".menu"):  # no empty frames, and nothing to export
        assert page.locator(f".pane {part}").is_hidden()
    (refusal,) = visit.wrong  # the browser notes it in its console
    assert "422" in refusal
    visit.wrong.clear()


@pytest.mark.parametrize("system", ["three-step", "planar"])
def test_a_step_that_replaces_an_arc_and_a_tree_that_is_not_covered_are_shown_as_they_are(visit, system):
    page = visit(f"system={system}&step=0")
    steps = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    counts = []
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
        counts.append(len(made(page)))
    assert counts == sorted(counts)  # a replaced arc goes as its successor comes
    if system == "planar":
        assert page.get_by_text("this system does not derive the tree").is_visible()
        assert page.get_by_role("heading", name="No way on").is_visible()
        assert "ROOT → is, ROOT → today, ROOT → ." in page.locator(".now").inner_text()
    else:
        assert {(2, 5), (4, 8)} <= made(page)


def test_two_systems_go_side_by_side_in_step(visit):
    page = visit("step=10")
    page.get_by_label("Compare").check()
    page.locator(".pane").nth(1).get_by_text("29 transitions").wait_for()
    assert page.locator("#count").inner_text() == "10 / 30"
    second = page.locator(".pane").nth(1)
    second.get_by_label("Transition system").select_option("attardi-all")
    second.get_by_text("19 transitions").wait_for()
    page.locator(".pane[aria-busy]").first.wait_for(state="detached")  # the first one is derived anew, too
    page.keyboard.press("End")
    assert made(page, 0) == made(page, 1)
    boxes = [page.locator(".pane").nth(i).bounding_box() for i in range(2)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    assert no_overflow(page)
    page.get_by_label("Compare").uncheck()
    assert page.locator(".pane").count() == 1


def test_options_of_a_system_change_its_derivation(visit):
    page = visit("system=attardi")
    page.get_by_text("this system does not derive the tree").wait_for()
    page.get_by_label("degree", exact=True).fill("3")
    page.get_by_label("degree", exact=True).press("Enter")
    page.get_by_text("19 transitions for 9 words", exact=True).wait_for()


def test_one_root_only_is_an_option_of_every_system(visit):
    """Words left over hang on the root word then, and not on 0."""
    page = visit("system=covington")
    with page.expect_response("**/api/trace") as answer:
        page.get_by_label("single root").check()
    assert answer.value.json()["options"] == {"single_root": True}
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_label("single root").is_checked()


def test_a_shared_address_brings_the_view_back(visit):
    first = visit()
    first.get_by_role("button", name="Den Brief hat sie").click()
    first.locator(".summary", has_text="8 words").wait_for()
    with first.expect_response("**/api/trace"):
        first.get_by_label("Guide").select_option("lazy")
    first.locator(".pane:not([aria-busy]) .summary", has_text="swap").wait_for()
    first.keyboard.press("Home")
    for _ in range(7):
        first.get_by_role("button", name="One step on").click()
    seen = made(first), now(first), cells(first, "Stack"), first.locator("#count").inner_text()
    second = visit(first.url.partition("#")[2])
    assert (made(second), now(second), cells(second, "Stack"), second.locator("#count").inner_text()) == seen
    assert second.get_by_label("Guide").input_value() == "lazy"
    second.reload()
    second.wait_for_selector("html[data-ready]")
    assert second.locator("#count").inner_text() == seen[-1]


def test_everything_can_be_done_by_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert now(page) == "LEFT-ARC(DET)"
    page.keyboard.press("ArrowLeft")
    assert now(page) == "SHIFT"
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").is_visible()
    page.locator("#count", has_text=re.compile(r"^([3-9]|\d\d) /")).wait_for()  # it goes on by itself
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Play").is_visible()
    page.keyboard.press("End")
    assert page.locator("#count").inner_text() == "30 / 30"
    reached, outlined = set(), True
    for _ in range(40):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " return [e.id || e.getAttribute('aria-label') || e.tagName, s.outlineStyle] })()"
        )
        reached.add(here[0])
        outlined = outlined and (here[0] == "BODY" or here[1] != "none")
    assert {"input", "Transition system", "Guide", "Tree", "play", "slider", "compare", "theme"} <= reached
    assert outlined


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("", {"fold", "first", "back", "play", "forward", "last", "full", "theme", "Export"}),
        ("example=plain&moves=SHIFT%09SHIFT%09SHIFT&step=3", {"change", "Undo", "Export"}),
        ("text=ta+wug+zorps.+wug+fimps", {"earlier", "later"}),
        ("view=treebank&treebank=examples&f-crossing=1", {"theme", "f-reset", "Export"}),
    ],
)
def test_tools_have_icons_and_no_glyphs(visit, state, shown):
    page = visit(state)
    page.get_by_label("Export").wait_for()
    if not state:
        page.locator("#play").click()  # its icon changes
        page.locator("#full").click()
        page.locator("#full[aria-pressed=true]").wait_for()
    tools = page.locator("button:visible, summary:visible").evaluate_all(
        """all => all.map(tool => {
            const use = tool.querySelector("svg use");
            return {
                name: tool.id || tool.ariaLabel || tool.textContent.trim(),
                text: tool.textContent.trim(),
                bare: tool.matches(".tool, .buttons button"),
                icon: use && document.querySelector(`symbol${use.getAttribute("href")}`) && use.getBBox().width > 0,
            };
        })"""
    )
    assert shown <= {tool["name"] for tool in tools if tool["icon"]}
    assert all(tool["icon"] and not tool["text"] for tool in tools if tool["bare"])
    symbols = [c for tool in tools for c in tool["text"] if unicodedata.category(c) in {"Sm", "So", "Sk", "Co"}]
    assert symbols == []


def test_every_control_has_a_name(visit):
    for state in ("system2=covington", "view=treebank&treebank=examples"):
        page = visit(state)
        nameless = page.evaluate(
            "[...document.querySelectorAll('button, input, select, textarea')].filter(e => !(e.textContent.trim()"
            " || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"
        )
        assert nameless == []


@pytest.fixture
def treebank(tmp_path):
    file = tmp_path / "toy.conllu"
    file.write_text(toy_text(30), encoding="utf-8")
    return file


def test_a_treebank_is_browsed_filtered_and_a_sentence_derived(visit, treebank):
    page = visit("view=treebank")
    page.get_by_label("A treebank").set_input_files(treebank)
    page.get_by_text("30 sentences of 30").wait_for()
    sentences = toy_sentences(30)
    crossing = [sentence for sentence in sentences if not sentence.tree.is_projective()]
    assert page.locator("#tb-coverage tr", has_text=re.compile("^swap")).inner_text().count("100.0%") == 2
    page.get_by_label("crossing only").check()
    assert page.locator("#tb-count").inner_text() == f"{len(crossing)} sentences of 30"
    page.get_by_label("Label").select_option("acl")
    extraposed = [sentence for sentence in crossing if "acl" in sentence.deprels]
    assert page.locator("#tb-count").inner_text() == f"{len(extraposed)} sentences of 30"
    page.get_by_label("Label").select_option("")
    page.get_by_label("crossing only").uncheck()
    page.get_by_role("button", name="arc-eager").click()
    assert page.locator("#tb-count").inner_text() == f"{len(crossing)} sentences of 30"
    page.get_by_label("Not derived by").select_option("")
    page.get_by_label("Degree at least").fill("1")
    assert page.locator("#tb-count").inner_text() == f"{len(crossing)} sentences of 30"
    page.get_by_label("Degree at least").fill("0")
    page.get_by_label("Order").select_option("words")
    longest = max(sentences, key=len)
    assert page.locator("#tb-list .text").first.inner_text() == longest.text
    page.get_by_label("Search").fill("toy-1-17")
    assert page.locator("#tb-count").inner_text() == "1 sentence of 30"
    page.locator("#tb-detail h2", has_text="toy-1-17").wait_for()
    page.get_by_role("button", name="Derive it step by step").click()
    page.locator(".summary", has_text="transitions").wait_for()
    assert made(page) == {(head, word) for head, _, word in sentences[16].tree.arcs()}


def test_a_filtered_view_of_the_examples_is_restored_from_its_address(visit):
    page = visit("view=treebank&treebank=examples&f-crossing=1")
    page.get_by_text("6 sentences of 7").wait_for()
    page.get_by_role("button", name="Magnam puella videt navem").last.click()
    page.locator("#tb-detail h2", has_text="latin").wait_for()
    page.reload()
    page.locator("#tb-detail h2", has_text="latin").wait_for()
    assert page.get_by_label("crossing only").is_checked()


@pytest.mark.parametrize(
    "state", ["", "system2=attardi-all&step=5", "view=treebank&treebank=examples", "system=covington&example=question"]
)
def test_nothing_is_wider_than_a_phone(visit, state):
    page = visit(state, is_mobile=True, has_touch=True)
    page.set_viewport_size({"width": 390, "height": 844})
    assert no_overflow(page)
    for box in page.locator("button:visible, select:visible").all():
        place = box.bounding_box()
        assert (
            place is None or place["x"] + place["width"] <= 391 or box.evaluate("e => !!e.closest('.scroll, .chips')")
        )


def test_a_tree_wider_than_its_box_follows_the_derivation(visit):
    page = visit("step=0", is_mobile=True)
    page.set_viewport_size({"width": 390, "height": 844})
    place = "tree => tree.scrollLeft"
    assert page.locator(".tree").first.evaluate(place) == 0
    for _ in range(28):
        page.get_by_role("button", name="One step on").click()
    assert now(page) == "SHIFT"
    assert page.locator(".tree").first.evaluate(place) > 100  # the full stop is at the far end


def test_markup_in_a_treebank_is_shown_and_never_run(visit, tmp_path):
    text = FIGURE1.replace("hearing\thearing", f"{NASTY}\t{NASTY}").replace("NMOD", NASTY).replace("AUX", NASTY)
    text = text.replace("nivre2009-figure1", NASTY).replace("# text = A", f"# text = {NASTY} A")
    page = visit("system2=three-step")
    page.get_by_label("A sentence, or CoNLL-U").fill(text)
    page.get_by_role("button", name="Show").click()
    page.locator(".pane:not([aria-busy]) text.word", has_text="onerror").first.wait_for()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    file = tmp_path / f"{NASTY.replace('/', '')[:40]}.conllu"
    file.write_text(text, encoding="utf-8")
    page.get_by_role("button", name="Treebank").click()
    page.get_by_label("A treebank").set_input_files(file)
    page.locator("#tb-detail h2", has_text="onerror").wait_for()
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img, main script").count() == 0
