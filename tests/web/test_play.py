"""Playing the parser in the page, by mouse and by keyboard, and what a visitor takes away from it."""

from __future__ import annotations

import gzip
import re

from browsing import (
    SIZES,
    cells,
    in_sight,
    made,
    now,
    on_every_screen,
    projective,
    sentence_of,
    settled,
    show,
    step,
    word_in_sight,
)

PLAIN = "example=plain&system=arc-standard&guide=dynamic"


def moves(page):
    """The legal moves and what is said of each."""
    settled(page)
    return {
        item.locator(".name").inner_text(): " ".join(item.locator(".number").all_inner_texts())
        for item in page.locator(".moves li:not(.end)").all()
    }


def take(page, name):
    page.locator(".move", has_text=re.compile(rf"^\d?{re.escape(name)}")).click()
    settled(page)


def test_a_student_plays_the_parser_sees_what_a_move_costs_and_takes_it_back(visit):
    page = visit(f"{PLAIN}&step=2")
    whole = page.locator(".summary").inner_text()
    assert moves(page) == {"SHIFT": "costs 1 head", "LEFT-ARC(det)": "next", "RIGHT-ARC": "costs 2 heads"}
    take(page, "RIGHT-ARC")
    assert (now(page), step(page)) == ("RIGHT-ARC(nsubj)", 3)
    assert page.locator(".price").inner_text() == "costs 2 heads"
    assert page.locator(".lost").inner_text() == "2 heads lost"
    assert made(page) == {(1, 2)}
    assert page.locator(".arc.wrong").count() == 1
    page.keyboard.press("End")  # the oracle makes the best of it
    assert "2 of 6 heads are not the tree's" in page.locator(".moves .end").inner_text()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_role("button", name="Undo").is_visible()  # a link or a reload brings the play back
    page.keyboard.press("Home")
    page.locator("#slider").fill("3")
    assert now(page) == "RIGHT-ARC(nsubj)"
    take(page, "SHIFT")
    page.get_by_role("button", name="Undo").click()
    settled(page)
    assert (now(page), step(page)) == ("RIGHT-ARC(nsubj)", 3)
    page.get_by_role("button", name="Leave play").click()
    settled(page)
    assert (page.locator(".summary").inner_text(), step(page)) == (whole, 2)
    assert "moves" not in page.url
    take(page, "LEFT-ARC(det)")  # what the oracle does is a step like any other
    assert (now(page), page.locator(".price").inner_text()) == ("LEFT-ARC(det)", "costs nothing")
    assert page.locator("#count").inner_text() == "3 / 12"
    take(page, "SHIFT")
    take(page, "RIGHT-ARC")
    page.get_by_role("button", name="Undo").click()
    settled(page)
    assert (page.locator(".summary").inner_text(), step(page)) == (whole, 4)
    assert "moves" not in page.url  # all that is left is the oracle's own
    assert page.get_by_role("button", name="Undo").is_hidden()


def test_a_static_oracle_leaves_the_rest_to_the_student_who_can_go_on_to_the_end(visit):
    page = visit("example=plain&system=arc-standard&guide=static&step=2")
    assert moves(page)["RIGHT-ARC"] == "costs 2 heads"  # as the dynamic oracle of the system knows
    take(page, "RIGHT-ARC")
    assert page.get_by_text("From here the oracle does not know on").is_visible()
    for _ in range(20):
        if page.locator(".moves .end").is_visible():
            break
        page.locator(".move").last.click()
        settled(page)
    assert len(made(page)) == 6
    assert page.get_by_role("heading", name="The end").is_visible()


def test_where_no_oracle_knows_costs_the_page_says_so(visit):
    page = visit("example=plain&system=stack-swap&step=2")
    assert page.get_by_text("No oracle of stack-swap knows what a move costs.").is_visible()
    assert set(moves(page).values()) == {"", "next"}
    page = visit("system=arc-standard&step=2")
    show(page, sentence_of(151))
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Costs are left out: the sentence has more than 150 words.").wait_for()


def test_a_model_goes_on_from_a_students_move(visit):
    page = visit("example=plain&guide=model:toy&step=2")
    taken = page.locator(".move:not(.taken) .name").first.inner_text()
    take(page, taken)
    assert (now(page), step(page)) == (taken, 3)
    page.keyboard.press("End")
    assert len(made(page)) == 6


def test_without_hints_neither_costs_nor_arcs_to_come_are_shown(visit):
    page = visit(f"{PLAIN}&step=2")
    assert page.locator(".arc.goal").count() == 6
    page.get_by_label("Hints").uncheck()
    assert page.locator(".arc.goal").count() == 0
    assert moves(page) == {"SHIFT": "", "LEFT-ARC": "", "RIGHT-ARC": ""}
    assert page.locator(".move.taken").count() == 0
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert not page.get_by_label("Hints").is_checked()
    take(page, "SHIFT")
    assert page.locator(".price").inner_text() == "costs 1 head"  # told when it is done


def test_the_parser_is_played_by_keyboard(visit):
    page = visit(f"{PLAIN}&step=0")
    page.keyboard.press("1")
    page.keyboard.press("1")
    assert (now(page), step(page)) == ("SHIFT", 2)
    page.keyboard.press("3")
    settled(page)
    assert now(page) == "RIGHT-ARC(nsubj)"
    page.keyboard.press("u")
    settled(page)
    assert (now(page), step(page)) == ("SHIFT", 2)
    page.locator(".move").first.focus()
    page.keyboard.press("Enter")
    settled(page)
    assert step(page) == 3
    assert page.evaluate("document.activeElement.className").startswith("move")  # ready for the next one


PLAYED = "system=arc-standard&guide=dynamic"


@on_every_screen
def test_a_move_is_taken_and_taken_back_by_mouse_on_every_screen(visit, size, direction, theme):
    page = visit(PLAYED, size=SIZES[size], color_scheme=theme)
    show(page, projective(direction))
    page.locator("#slider").fill("2")
    assert moves(page) == {"SHIFT": "costs 1 head", "LEFT-ARC(obj)": "next", "RIGHT-ARC": "costs 2 heads"}
    take(page, "RIGHT-ARC")
    assert (now(page), step(page), made(page)) == ("RIGHT-ARC(advcl:relcl)", 3, {(1, 2)})
    assert page.locator(".price").inner_text() == "costs 2 heads"
    assert page.locator(".lost").inner_text() == "2 heads lost"
    assert page.locator(".arc.wrong").count() == 1
    assert in_sight(page, ".price", ".lost", ".move", "#slider")
    page.get_by_role("button", name="Undo").click()
    settled(page)
    assert (now(page), step(page), made(page)) == ("SHIFT", 2, set())
    assert page.get_by_role("button", name="Undo").is_hidden()
    assert page.evaluate("scrollY") == 0  # nothing had to be scrolled to


@on_every_screen
def test_a_move_is_taken_and_taken_back_by_keyboard_on_every_screen(visit, size, direction, theme):
    page = visit(PLAYED, size=SIZES[size], color_scheme=theme)
    page.get_by_label("A sentence, or CoNLL-U").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(projective(direction))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#ask").wait_for(state="hidden")
    settled(page)
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert moves(page)["RIGHT-ARC"] == "costs 2 heads"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").startswith("3RIGHT-ARC"):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert in_sight(page, ":focus")
    page.keyboard.press("Enter")
    settled(page)
    assert (now(page), step(page), made(page)) == ("RIGHT-ARC(advcl:relcl)", 3, {(1, 2)})
    assert page.locator(".price").inner_text() == "costs 2 heads"
    page.keyboard.press("u")
    settled(page)
    assert (now(page), step(page), made(page)) == ("SHIFT", 2, set())


def test_arrow_keys_step_and_do_not_change_the_system(visit):
    page = visit("example=plain&step=3")
    for name in ("Transition system", "Guide", "Speed"):
        menu = page.get_by_label(name)
        before = menu.input_value()
        menu.focus()
        page.keyboard.press("ArrowRight")
        assert step(page) == 4
        page.keyboard.press("ArrowLeft")
        assert step(page) == 3
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Escape")
        assert (menu.input_value(), step(page)) == (before, 3)
    page.get_by_label("Transition system").focus()
    page.keyboard.press("End")
    assert page.locator("#count").inner_text() == "12 / 12"


def test_the_speed_of_play_is_chosen_and_remembered(visit):
    page = visit("example=plain&step=0")
    page.evaluate(
        "(set => { window.paces = []; window.setInterval = (f, ms) => (paces.push(ms), set(f, ms)); })(setInterval)"
    )
    page.keyboard.press(" ")
    page.get_by_label("Speed").select_option("4")
    page.get_by_label("Speed").select_option("0.5")
    assert page.evaluate("paces") == [700, 175, 1400]
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_label("Speed").input_value() == "0.5"


def test_full_screen_shows_the_derivation_larger(visit):
    page = visit("example=plain&step=3", size=(1200, 900))
    before = page.locator(".tree svg").bounding_box()["width"]
    page.get_by_role("button", name="Full screen").click()
    page.locator("#full[aria-pressed=true]").wait_for()
    page.wait_for_function(f"document.querySelector('.tree svg').getBoundingClientRect().width > {1.2 * before}")
    page.keyboard.press("ArrowRight")
    assert step(page) == 4
    page.get_by_role("button", name="Full screen").click()
    page.locator("#full[aria-pressed=false]").wait_for()


def test_a_tree_is_taken_away_as_svg_png_tikz_and_link(visit, tmp_path):
    page = visit("step=17", permissions=["clipboard-read", "clipboard-write"])
    show(page, sentence_of(7))
    page.keyboard.press("ArrowLeft")
    saved = {}
    for name in ("SVG", "PNG", "TikZ for LaTeX"):
        page.locator(".menu summary").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        saved[file.suffix] = file.read_bytes()
        assert file.stem == f"ltr-7-swap-{step(page)}"
    assert saved[".svg"].startswith(b"<svg ")
    assert saved[".svg"].count(b'data-dependent="') == len(made(page)) == 6  # as it is shown, the root arc to come
    assert b"opacity" not in saved[".svg"]
    assert saved[".png"].startswith(b"\x89PNG")
    width = float(re.search(rb'width="(\d+)"', saved[".svg"])[1])
    assert int.from_bytes(saved[".png"][16:20], "big") == 2 * width
    assert saved[".tex"].count(rb"\depedge") == 6
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Link to this view").click()
    page.get_by_text("The link is copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.locator(".menu summary").click()
    page.keyboard.press("Escape")
    assert not page.get_by_role("button", name="PNG").is_visible()


def test_back_returns_within_the_page(visit, tmp_path):
    page = visit("example=plain")
    page.get_by_label("Transition system").select_option("covington")
    settled(page)
    page.get_by_role("button", name="Treebank").click()
    file = tmp_path / "small.conllu"
    file.write_text(sentence_of(9) + sentence_of(5), encoding="utf-8")
    page.get_by_label("A treebank").set_input_files(file)
    page.get_by_text("2 sentences of 2").wait_for()
    page.get_by_label("Search").fill("ltr-5")
    page.locator("#tb-detail h2", has_text="ltr-5").wait_for()
    page.get_by_role("button", name="Derive it step by step").click()
    page.locator(".summary", has_text="5 words").wait_for()
    assert page.locator("#ask").is_hidden()
    page.go_back()
    page.get_by_text("1 sentence of 2").wait_for()  # the file is still there
    page.go_back()
    page.locator(".summary", has_text="6 words").wait_for()
    settled(page)
    assert page.get_by_label("Transition system").input_value() == "covington"
    page.go_back()
    page.wait_for_function("document.querySelector('[aria-label=\"Transition system\"]').value === 'swap'")
    page.go_forward()
    page.wait_for_function("document.querySelector('[aria-label=\"Transition system\"]').value === 'covington'")
    settled(page)


def test_an_answer_that_is_given_up_halfway_is_no_answer(visit):
    """As when Back is pressed twice in a row: the first view's answer may have begun."""
    page = visit("example=plain")
    outcome = page.evaluate(
        """async () => {
            const { post } = await import("/static/dom.js");
            const giveUp = new AbortController(), ask = window.fetch;
            window.fetch = async (...request) => {
                const response = await ask(...request);
                giveUp.abort();
                return response;
            };
            return post("parse", { text: "ta wug zorps" }, giveUp.signal).then(JSON.stringify, (error) => error.name);
        }"""
    )
    assert outcome == "AbortError"


def test_the_input_unfolds_again_and_wants_a_sentence(visit):
    page = visit("example=plain")
    assert not page.locator("#ask").is_visible()
    page.get_by_role("button", name="Change").click()
    assert page.evaluate("document.activeElement.id") == "input"
    page.get_by_role("button", name="Fold away").click()
    assert not page.locator("#ask").is_visible()
    page.get_by_role("button", name="Change").click()
    page.get_by_label("A sentence, or CoNLL-U").fill("  ")
    page.get_by_role("button", name="Show").click()
    assert "There is nothing to show yet" in page.get_by_role("alert").inner_text()
    assert cells(page, "Stack, top last") == ["ROOT"]


def test_a_treebanks_large_tree_is_opened_at_its_first_crossing_and_filters_are_reset(visit, tmp_path):
    page = visit("view=treebank")
    file = tmp_path / "large.conllu"
    file.write_text(sentence_of(4) + sentence_of(59, crossing_from=40), encoding="utf-8")
    page.get_by_label("A treebank").set_input_files(file)
    page.get_by_text("2 sentences of 2").wait_for()
    assert page.get_by_role("button", name="Reset the filters").is_hidden()
    page.get_by_label("crossing only").check()
    page.get_by_label("Order").select_option("words")
    page.locator("#tb-detail h2", has_text="ltr-59").wait_for()
    assert page.locator("#tb-detail .tree").evaluate("e => e.scrollWidth > 2 * e.clientWidth")
    assert word_in_sight(page, 40, "#tb-detail")
    assert not word_in_sight(page, 1, "#tb-detail")
    page.locator("#tb-detail .tree").evaluate("e => { e.scrollLeft = 0; }")
    page.get_by_label("Order").select_option("crossing")
    page.wait_for_timeout(300)  # the sentence is the same: nothing draws it again, or scrolls it back
    assert word_in_sight(page, 1, "#tb-detail")
    page.get_by_label("Degree at least").fill("50")
    assert page.get_by_text("No sentence passes these filters.").is_visible()
    page.get_by_role("button", name="Reset the filters").click()
    assert page.locator("#tb-count").inner_text() == "2 sentences of 2"
    assert not page.get_by_label("crossing only").is_checked()
    assert page.get_by_role("button", name="Reset the filters").is_hidden()
    assert "f-" not in page.url


FILES = {
    "empty.conllu": (b"", "empty.conllu is empty"),
    "blank.conllu": (b"\n \n\n", "blank.conllu has nothing in it but blank space"),
    "comments.conllu": (b"# text = x\n\n", "comments.conllu"),
    "picture.conllu": (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "picture.conllu is not text in UTF-8"),
    "wide.conllu": ("1\tä".encode("utf-16"), "wide.conllu is not text in UTF-8"),
    "zeros.conllu": (b"1\x00\x00\n", "zeros.conllu is no text"),
    "named.conllu.gz": (b"1\tx\n", "named.conllu.gz is not compressed with gzip"),
    "broken.conllu.gz": (gzip.compress(sentence_of(9).encode() * 99)[:60], "broken.conllu.gz is damaged"),
    "letter.txt": (
        b"Dear reader,\nthis is no treebank.\n",
        "No sentence of letter.txt could be read; the first error is on line 1",
    ),
}


def test_files_that_are_empty_or_cannot_be_read_say_so(visit):
    page = visit("view=treebank")
    for name, (content, said) in FILES.items():
        page.get_by_label("A treebank").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})
        page.locator("#tb-problem", has_text=said).wait_for()
    assert page.locator("#tb-errors").is_visible()  # of the letter; there is nothing to count or to filter
    for part in ("#tb-stats", "#filters", "#tb-count", "#tb-coverage"):
        assert page.locator(part).is_hidden()
    packed = gzip.compress(sentence_of(9).encode())  # whatever its name
    page.get_by_label("A treebank").set_input_files({"name": "x.conllu", "mimeType": "text/plain", "buffer": packed})
    page.get_by_text("1 sentence of 1").wait_for()
    assert page.locator("#tb-problem").is_hidden()
    assert page.locator("#filters").is_visible()
