"""The notebooks run, the gallery shows what its treebank holds, and the pages of the site are all there.

The site itself is built only where Zensical is installed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import build_site
import run_notebook
import tanglewood as tw
from build_site import DOCS, FENCE, LINK, NOTEBOOKS, ROOT, is_local

pytestmark = pytest.mark.one_build
ALL = sorted(NOTEBOOKS.glob("*.ipynb"))
GALLERY = list(tw.read(ROOT / "examples" / "gallery.conllu"))


# Notebooks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notebook", ALL, ids=lambda notebook: notebook.stem)
def test_notebooks_run_and_draw(notebook: Path):
    cells = list(run_notebook.cells(notebook))
    assert cells[0].source.startswith("# ")
    assert sum(bool(cell.picture) for cell in cells) >= 2
    assert all(cell.picture.startswith("<svg") for cell in cells if cell.picture)


@pytest.mark.parametrize("notebook", ALL, ids=lambda notebook: notebook.stem)
def test_notebooks_are_kept_without_outputs(notebook: Path):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    cells = content["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def notebook_of(path: Path, *sources: str) -> Path:
    """A notebook of code cells."""
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
    path.write_text(json.dumps({"cells": cells}))
    return path


def test_cells_share_their_names_and_show_what_jupyter_would(tmp_path: Path):
    notebook = notebook_of(
        tmp_path / "n.ipynb", "x = 2\nprint(x)", "from tanglewood import Tree\nx + 1", "Tree([0])", "None"
    )
    first, second, third, last = run_notebook.cells(notebook)
    assert (first.printed, first.value) == ("2\n", "")
    assert (second.printed, second.value) == ("", "3")
    assert third.picture.startswith("<svg")
    assert not third.value
    assert last == ("code", "None", "", "", "")
    page = run_notebook.markdown(notebook, tmp_path / "n")
    assert page.startswith("```python\nx = 2\nprint(x)\n```\n\n```text\n2\n```\n\n```python\n")
    assert page.endswith("```python\nTree([0])\n```\n\n![Picture of cell 3](n/3.svg)\n\n```python\nNone\n```\n")
    assert (tmp_path / "n" / "3.svg").read_text() == third.picture


def test_a_cell_that_fails_is_named(tmp_path: Path):
    with pytest.raises(ZeroDivisionError) as error:
        list(run_notebook.cells(notebook_of(tmp_path / "n.ipynb", "x = 0", "1 / x")))
    assert error.value.__notes__ == [f"in cell 2 of {tmp_path / 'n.ipynb'}"]


# The gallery ------------------------------------------------------------------------------------------------------


def test_the_gallery_has_twelve_languages():
    languages = [sentence.sent_id.rpartition("-")[2] for sentence in GALLERY]
    assert len(languages) == len(set(languages)) == 12


@pytest.mark.parametrize("sentence", GALLERY, ids=lambda sentence: sentence.sent_id)
def test_sentences_of_the_gallery_cross_and_are_shown_with_their_glosses(sentence: tw.Sentence):
    assert len(sentence.nonprojective) == 1
    words = [word for word in sentence if word.upos != "PUNCT"]
    assert not any(word.is_nonprojective for word in sentence if word.upos == "PUNCT")
    assert len(sentence.tree.roots()) == 1
    text = "".join(word.form + ("" if word.misc.get("SpaceAfter") == "No" else " ") for word in sentence)
    assert text.rstrip() == sentence.text
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert f"![{sentence.text}](img/gallery/{sentence.sent_id}.svg)" in page
    if sentence.sent_id.endswith("-en"):
        return
    (translation,) = (line.removeprefix("text_en = ") for line in sentence.comments if line.startswith("text_en"))
    assert f'\n"{translation}"\n' in page
    for row in ([word.misc.get("Translit", word.form) for word in words], [word.misc["Gloss"] for word in words]):
        assert f"\n| {' | '.join(row)} |\n" in page


# The site ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The pages of the site, whose notebooks have not run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_notebook, "_run", lambda source, names, notebook: run_notebook.Cell("code", source))
        folder = tmp_path_factory.mktemp("site") / "pages"
        build_site.stage(folder)
        yield folder


def test_every_link_of_the_pages_stays_among_them(pages: Path):
    found = 0
    for page in pages.rglob("*.md"):
        if page.is_relative_to(pages / "files"):
            continue
        for _, _, target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if is_local(target):
                file = (page.parent / target.partition("#")[0]).resolve()
                assert file.is_file(), f"{page}: {target}"
                assert file.is_relative_to(pages)
                found += 1
    assert found > 300
    assert (pages / "files" / "src" / "tanglewood" / "systems" / "swap.py.md").exists()


def test_the_navigation_names_every_page_but_those_of_single_results_and_files(pages: Path):
    def names(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        below = entry.values() if isinstance(entry, dict) else entry
        return [name for one in below for name in names(one)]

    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    left_out = {name for name in there if name.startswith(("files/", "reproductions/"))} | {"bench.md", "fuzz.md"}
    listed = names(config["nav"])
    assert len(listed) == len(set(listed))
    assert set(listed) == there - left_out | {"reproductions/README.md"}


def test_the_reference_has_every_public_name(pages: Path):
    text = (pages / "reference.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: tanglewood\.(\w+)$", text, re.MULTILINE)) == {*tw.__all__} - {"__version__"}


def test_links_are_moved_and_names_of_pages_become_titles():
    page = DOCS / "systems" / "swap.md"
    text, files = build_site.linked(
        "[api.md](../api.md#trees), [code](../../src/tanglewood/pipeline.py), <https://x.y>, [there](#here), [w](https://x)\n"
        "```sh\n[no](link.md)\n```\n",
        page,
    )
    assert text == (
        "[Python interface](../api.md#trees), [code](../files/src/tanglewood/pipeline.py.md), <https://x.y>, "
        "[there](#here), [w](https://x)\n```sh\n[no](link.md)\n```\n"
    )
    assert files == {DOCS / "api.md", ROOT / "src" / "tanglewood" / "pipeline.py"}
    with pytest.raises(SystemExit, match=r"docs/systems/swap.md: nowhere.md should be a file"):
        build_site.linked("[x](nowhere.md)", page)


@pytest.mark.skipif(importlib.util.find_spec("zensical") is None, reason="needs the extra docs")
def test_the_site_builds_without_warnings():
    done = subprocess.run(
        [sys.executable, "docs/build_site.py"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    home = (ROOT / "site" / "index.html").read_text(encoding="utf-8")
    assert "Documentation of tanglewood" in home
    assert "<h3" in (ROOT / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    assert (ROOT / "site" / "notebooks" / "first-steps" / "2.svg").exists()
    assert "crossing arcs in twelve languages" in (ROOT / "site" / "search.json").read_text(encoding="utf-8")
