"""What tests look for in the page, and sentences to show there."""

from __future__ import annotations

import re

import pytest

SIZES = {"1280x800": (1280, 800), "1366x768": (1366, 768), "phone": (390, 844)}
WORDS = {
    "ltr": ["wug", "blick", "dax", "zorp", "fimp", "tove"],
    "rtl": ["ווג", "בליק", "דקס", "זורפ", "פימפ", "טוב"],
}


def sentence_of(n, direction="ltr", crossing_from=1):
    """CoNLL-U of n invented words: each depends on its neighbour towards the middle; two of four arcs cross."""
    words = [WORDS[direction][k % 6] for k in range(n)]
    root = (n + 1) // 2
    rows = []
    for word in range(1, n + 1):
        towards = 1 if word < root else -1
        reach = 2 if word % 4 < 2 and abs(word - root) > 2 and word >= crossing_from else 1
        head = 0 if word == root else word + reach * towards
        label = ("nsubj", "obj", "advcl:relcl")[word % 3] if head else "root"
        rows.append(f"{word}\t{words[word - 1]}\t_\tNOUN\t_\t_\t{head}\t{label}\t_\t_")
    return "\n".join([f"# sent_id = {direction}-{n}", f"# text = {' '.join(words)}", *rows, "", ""])


def projective(direction):
    """CoNLL-U of seven words without crossing arcs, so that arc-standard's dynamic oracle knows what moves cost."""
    return sentence_of(7, direction, crossing_from=8)


def on_every_screen(test):
    """Run a test at every size, in both directions, light and dark; it takes `size`, `direction` and `theme`."""
    sizes = pytest.mark.parametrize("size", SIZES)
    return sizes(pytest.mark.parametrize("direction", WORDS)(pytest.mark.parametrize("theme", ["light", "dark"])(test)))


def open_treebank(page, text):
    content = {"name": "invented.conllu", "mimeType": "text/plain", "buffer": text.encode()}
    page.get_by_label("A treebank").set_input_files(content)
    page.locator("#tb-detail text.word").first.wait_for()


def show(page, text):
    """Type something, or paste it, and have it shown."""
    if not page.locator("#ask").is_visible():
        page.get_by_role("button", name="Change").click()
    page.get_by_label("A sentence, or CoNLL-U").fill(text)
    page.get_by_role("button", name="Show").click()
    page.locator("#ask").wait_for(state="hidden")
    settled(page)


def settled(page):
    """Wait until nothing is being asked for."""
    page.locator("#main [aria-busy]").first.wait_for(state="detached")


def made(page, pane=0):
    """The arcs that are shown as made, as (head, dependent)."""
    found = page.locator(".pane").nth(pane).locator("svg .arc:not(.unmade)")
    return {tuple(pair) for pair in found.evaluate_all("all => all.map(a => [+a.dataset.head, +a.dataset.dependent])")}


def cells(page, name):
    return page.get_by_label(name).locator("li").evaluate_all("all => all.map(cell => cell.firstChild.textContent)")


def now(page):
    return page.locator(".now strong").first.inner_text()


def step(page):
    return int(re.match(r"\d+", page.locator("#count").inner_text())[0])


def no_overflow(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def in_sight(page, *selectors):
    """Which of the things are not in the window, whole and uncovered."""
    return (
        page.evaluate(
            """all => all.filter(selector => {
            const found = [...document.querySelectorAll(selector)].find(one => one.checkVisibility());
            if (!found) return true;
            const box = found.getBoundingClientRect();
            const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
            return !box.height || box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth
                || !(found.contains(at) || at?.contains(found));
        })""",
            list(selectors),
        )
        == []
    )


def word_in_sight(page, number, place=".pane"):
    """Whether a word of a tree is inside its box."""
    return page.evaluate(
        """([number, place]) => {
            const box = document.querySelector(`${place} .tree`).getBoundingClientRect();
            const word = document.querySelectorAll(`${place} text.word`)[number - 1].getBoundingClientRect();
            return word.left >= box.left - 1 && word.right <= box.right + 1 && word.bottom <= box.bottom + 1
                && word.top >= box.top - 1;
        }""",
        [number, place],
    )
