"""Make the pictures of playground.md, and that of a page with trees in viewers.md: python docs/screenshots.py.

Needs the extra test and Debian's chromium. The model is the bundled one or that of ``-m MODEL``; it should be one of
moves with a pipeline. Names choose some of the pictures. ``--all FOLDER`` writes screens to look at, and none of these:
invented words on every size of window that the tests know, light and dark, from left to right and from right to left.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote
from urllib.request import urlopen

from playwright.sync_api import Browser, sync_playwright

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "web"))
from browsing import SIZES, WORDS, open_treebank, projective, sentence_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "img"
DESKTOP, PHONE = (1280, 800), (390, 844)
PLAYED = "example=plain&system=arc-standard&guide=dynamic"
VIEWS = {  # name -> (what stands behind #, size, dark)
    "playground": ("", DESKTOP, False),
    "playground-dark": ("example=german&step=13", DESKTOP, True),
    "playground-steps": ("example=figure1&step=21", DESKTOP, False),
    "playground-two": ("example=figure1&step=14&system2=covington", DESKTOP, False),
    "playground-scores": ("text=What+does+she+want+to+eat%3F&guide=model:NAME&step=6", DESKTOP, False),
    "playground-play": (f"{PLAYED}&moves=SHIFT%09SHIFT%09RIGHT-ARC&step=3", DESKTOP, False),
    "playground-treebank": ("view=treebank&treebank=examples&f-crossing=1", DESKTOP, False),
    "playground-phone": ("example=figure1&step=21", PHONE, False),
}
PAGE = "page"  # the picture of a page made by `draw`
SCREENS = {  # of --all: name -> what stands behind #, beside the sentence
    "played": "system=arc-standard&guide=dynamic&moves=SHIFT%09SHIFT%09RIGHT-ARC&step=3",
    "long": "system=covington&step=60",
    "two": "step=60&system2=covington",
    "treebank": "view=treebank",
}


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = ", ".join([*VIEWS, PAGE])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which pictures: {known} (default: all)")
    parser.add_argument("-m", "--model", help="model file (default: the bundled one)")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="write the screens to look at, to this folder")
    args = parser.parse_args()
    names = args.names or [*VIEWS, PAGE]
    if unknown := set(names) - {*VIEWS, PAGE}:
        parser.error(f"there is no picture {unknown.pop()}; there are {known}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        if args.all:
            shoot_screens(browser, args.all)
        else:
            if PAGE in names:
                shoot_page(browser)
            if set(names) & set(VIEWS):
                shoot_playground(browser, [name for name in VIEWS if name in names], args.model)
        browser.close()


def shoot_page(browser: Browser) -> None:
    """Draw sentences into a page and point at a word there."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trees.html"
        examples = ROOT / "examples" / "small.conllu"
        draw = [sys.executable, "-m", "tanglewood", "draw", str(examples), "--all", "--tags", "-o", str(file)]
        subprocess.run(draw, check=True)
        context = browser.new_context(viewport={"width": 900, "height": 560}, device_scale_factor=1.5)
        page = context.new_page()
        page.goto(file.as_uri())
        word = page.locator("[data-word='2']", has_text="Buch").first
        word.scroll_into_view_if_needed()
        page.evaluate(
            "word => scrollTo(0, scrollY + word.closest('figure').getBoundingClientRect().top - 24)",
            word.element_handle(),
        )
        word.hover()
        page.wait_for_timeout(400)
        page.screenshot(path=FOLDER / f"{PAGE}.png")
        context.close()


def shoot_playground(browser: Browser, names: list[str], model: str | None) -> None:
    """Take pictures of the playground."""
    with serving(model) as address:
        with urlopen(f"{address}api/systems") as answer:
            known = json.load(answer)["models"][0]["name"]
        for name in names:
            state, size, dark = VIEWS[name]
            shoot(browser, f"{address}#{state.replace('NAME', known)}", size, dark, FOLDER / f"{name}.png")


def shoot_screens(browser: Browser, folder: Path) -> None:
    """Take every screen at every size, light and dark, in both directions."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(None) as address:
        every = product(SCREENS.items(), SIZES.items(), (False, True), WORDS)
        for (name, state), (size, pixels), dark, direction in every:
            sentence = projective(direction) if name == "played" else sentence_of(59, direction)
            file = folder / f"{name}-{size}-{'dark' if dark else 'light'}-{direction}.png"
            if name == "treebank":
                shoot(browser, f"{address}#{state}", pixels, dark, file, treebank=sentence + sentence_of(9, direction))
            else:
                shoot(browser, f"{address}#{state}&conllu={quote(sentence)}", pixels, dark, file)


@contextmanager
def serving(model: str | None) -> Iterator[str]:
    """Run the playground; gives its address."""
    serve = [sys.executable, "-m", "tanglewood", "serve", "--port", "0", "--quiet"]
    command = [*serve, *(["-m", model] if model else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://\S+", server.stdout.readline())[0]
    finally:
        server.terminate()
        server.wait(20)


def shoot(browser: Browser, address: str, size: tuple[int, int], dark: bool, file: Path, treebank: str = "") -> None:
    """Take a picture of the page at an address, with a treebank opened there if one is given."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        device_scale_factor=2 if width < 500 else 1,
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    if treebank:
        open_treebank(page, treebank)
    page.wait_for_timeout(600)
    page.screenshot(path=file, full_page=bool(treebank))  # a derivation fits in the window, a treebank does not
    context.close()


if __name__ == "__main__":
    main()
