"""A browser, a server for it, and pages in which nothing may go wrong."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

from playground import ToyModel
from tanglewood.pipeline import Pipeline
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from toy import toy_sentences, train_parser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60_000  # milliseconds; a busy machine is slow


@contextmanager
def serving(playground):
    """Run a server in a thread; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(make_app(playground), log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        end = time.monotonic() + 30
        while not server.started:
            assert time.monotonic() < end
            time.sleep(0.02)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def address():
    parser = train_parser(toy_sentences(12), system="swap")
    with serving(Playground({"toy": ToyModel(Pipeline(parser))})) as place:
        yield place


@pytest.fixture(scope="module")  # not longer: while it is there, no other test can run an event loop
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'tanglewood[test]'")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open the page at some state; whatever goes wrong in it fails the test."""
    wrong, contexts = [], []

    def open_(state="", *, size=(1200, 900), **choices):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **choices)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{address}#{state}" if state else address)
        page.wait_for_selector("html[data-ready]")
        return page

    open_.wrong = wrong
    yield open_
    for context in contexts:
        context.close()
    assert wrong == []
