"""Make the pictures of playground.md: python docs/screenshots.py (needs the extra test and Debian's chromium).

The model is the bundled one or that of ``-m MODEL``; it should be one of moves with a pipeline.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

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


def main() -> None:
    """Start a server and take every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="model file (default: the bundled one)")
    args = parser.parse_args()
    serve = [sys.executable, "-m", "tanglewood", "serve", "--port", "0", "--quiet"]
    command = [*serve, *(["-m", args.model] if args.model else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", server.stdout.readline())[0]
    with urlopen(f"{address}api/systems") as answer:
        model = json.load(answer)["models"][0]["name"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (state, (width, height), dark) in VIEWS.items():
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
        browser.close()
    server.terminate()
    server.wait(20)


if __name__ == "__main__":
    main()
