"""Make the pictures of playground.md, and that of a page with trees in viewers.md: python docs/screenshots.py.

Needs the extra test and Debian's chromium. The model is the bundled one or that of ``-m MODEL``; it should be one of
moves with a pipeline. Names choose some of the pictures.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).resolve().parent / "img"
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


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = ", ".join([*VIEWS, PAGE])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which pictures: {known} (default: all)")
    parser.add_argument("-m", "--model", help="model file (default: the bundled one)")
    args = parser.parse_args()
    names = args.names or [*VIEWS, PAGE]
    if unknown := set(names) - {*VIEWS, PAGE}:
        parser.error(f"there is no picture {unknown.pop()}; there are {known}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        if PAGE in names:
            shoot_page(browser)
        if set(names) & set(VIEWS):
            shoot_playground(browser, [name for name in VIEWS if name in names], args.model)
        browser.close()


def shoot_page(browser: Browser) -> None:
    """Draw sentences into a page and point at a word there."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trees.html"
        examples = FOLDER.parents[1] / "examples" / "small.conllu"
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
    """Start a server and take pictures of it."""
    serve = [sys.executable, "-m", "tanglewood", "serve", "--port", "0", "--quiet"]
    command = [*serve, *(["-m", model] if model else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", server.stdout.readline())[0]
    with urlopen(f"{address}api/systems") as answer:
        model = json.load(answer)["models"][0]["name"]
    for name in names:
        state, (width, height), dark = VIEWS[name]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            device_scale_factor=2 if width < 500 else 1,
        )
        page = context.new_page()
        page.goto(f"{address}#{state.replace('NAME', model)}")
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(600)
        page.screenshot(path=FOLDER / f"{name}.png")
        context.close()
    server.terminate()
    server.wait(20)


if __name__ == "__main__":
    main()
