"""The documentation says what is so: its examples run and print what is shown, its links and pictures exist.

Commands and Python blocks run in a folder of their own that has the examples in it, so that what they write does not
land in the repository. A line ``...`` in an output shown stands for any number of lines. Blocks marked ``python`` and
``console`` are run; other listings (``py``, none) are for reading.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from build_site import FENCE, LINK, NOTEBOOKS, is_local
from tanglewood import SYSTEMS

pytestmark = pytest.mark.one_build
ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BESIDE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md", "fuzz/README.md")]


class Block(NamedTuple):
    """A fenced block of a page; ``shown`` is the text block right below a Python block, if there is one."""

    page: str
    line: int
    language: str
    body: str
    shown: str | None


def blocks_of(page: str, text: str) -> list[Block]:
    """All fenced blocks of a page."""
    found = list(FENCE.finditer(text))
    blocks = []
    for match, following in pairwise([*found, None]):
        shown = None
        if following and following[1] == "text" and not text[match.end() : following.start()].strip():
            shown = following[2]
        blocks.append(Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2], shown))
    return blocks


BLOCKS = [block for page in PAGES for block in blocks_of(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))]


def parametrize(language: str) -> pytest.MarkDecorator:
    """One test a block, named by its page and line."""
    chosen = [block for block in BLOCKS if block.language == language]
    return pytest.mark.parametrize("block", chosen, ids=[f"{block.page}:{block.line}" for block in chosen])


def matches(shown: str, printed: str) -> bool:
    """Whether the output is the one shown, where a line ``...`` stands for any lines."""
    lines = shown.strip("\n").split("\n")
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def commands_of(body: str) -> list[tuple[str, str]]:
    """Each line ``$ command`` of a console block with the output shown below it."""
    first, *rest = re.split(r"^\$ ", body, flags=re.MULTILINE)
    assert not first.strip(), "a console block begins with a command"
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in rest]


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder like the repository's root, with a command `tanglewood` that runs the package under test."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "docs" / "img").mkdir(parents=True)
    command = tmp_path / "bin" / "tanglewood"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tanglewood "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command; unbuffered, so that messages stand among the output as on a screen."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip


@parametrize("python")
def test_python_blocks_run_and_print_what_is_shown(block: Block, workplace: Path):
    done = run([sys.executable, "-c", block.body], workplace)
    assert done.returncode == 0, done.stdout
    if block.shown is not None:
        assert matches(block.shown, done.stdout), f"it prints now:\n{done.stdout}"


@parametrize("console")
def test_commands_print_what_is_shown(block: Block, workplace: Path):
    own = "examples/" in block.body or block.body.startswith('$ tanglewood parse "')
    assert own, "a block that is run starts from a file of examples/ or from a text"
    for command, shown in commands_of(block.body):
        assert command.startswith("tanglewood ")
        printed = run(["sh", "-c", command], workplace).stdout
        assert matches(shown, printed), f"$ {command}\nprints now:\n{printed}"
    assert_up_to_date(workplace / "docs" / "img")


def assert_up_to_date(made: Path) -> None:
    """Every picture that was made is the one in the repository."""
    for picture in made.rglob("*.svg"):
        there = DOCS / "img" / picture.relative_to(made)
        assert picture.read_bytes() == there.read_bytes(), f"{there.name} is out of date"


def test_pictures_that_no_command_stands_beside_are_made_by_the_script(workplace: Path):
    shutil.copy(DOCS / "pictures.sh", workplace / "docs")
    done = run(["sh", "docs/pictures.sh"], workplace)
    assert done.returncode == 0, done.stdout
    assert len(list((workplace / "docs" / "img").iterdir())) == 8
    assert_up_to_date(workplace / "docs" / "img")


def test_every_picture_is_made_by_a_command():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    script = (DOCS / "pictures.sh").read_text(encoding="utf-8")
    (names,) = re.findall(r"^for name in (.*); do$", script, re.MULTILINE)
    outputs = re.findall(r"(?:-o|--plot) (?:docs/img/)?([\w./-]+)", pages + script)
    outputs += [f"{name}.svg" for name in names.split()]
    shots = (DOCS / "screenshots.py").read_text(encoding="utf-8")
    outputs += [f"{name}.png" for name in re.findall(r'^(?:    |PAGE = )"([\w-]+)"', shots, re.MULTILINE)]
    for picture in (DOCS / "img").rglob("*.*"):
        name = picture.relative_to(DOCS / "img")
        assert {name.as_posix(), f"{name.parent.as_posix()}/"} & {*outputs}, f"what makes {name}?"


def test_text_blocks_belong_to_python_blocks():
    shown = sum(block.shown is not None and block.language == "python" for block in BLOCKS)
    assert shown == sum(block.language == "text" for block in BLOCKS)
    assert shown > 5


def text_of(page: Path) -> str:
    """What is written on a page, or in the texts of a notebook, without listings."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return FENCE.sub("", text)


@pytest.mark.parametrize(
    "page", [*PAGES, *BESIDE, *sorted(NOTEBOOKS.iterdir())], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_and_pictures_exist(page: Path):
    if not page.exists():
        pytest.skip("there is no such page")
    for _, _, target in LINK.findall(text_of(page)):
        if not is_local(target) and not target.startswith("#"):
            continue
        path, _, section = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{target} does not exist"
        if section:
            assert section in sections_of(file), f"{target}: there is no such section"


def sections_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_picture_is_shown_somewhere():
    pages = [page for page in [*PAGES, ROOT / "README.md"] if page.exists()]
    shown = {(page.parent / target).resolve() for page in pages for _, _, target in LINK.findall(text_of(page))}
    assert {*(DOCS / "img").rglob("*.*")} <= shown


def test_every_system_has_a_page_and_every_page_a_link():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    named = set()
    for page in (DOCS / "systems").glob("*.md"):
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        named |= set(title.removeprefix("# ").split(", "))
        assert f"(systems/{page.name})" in index
    assert named == set(SYSTEMS)
    for page in DOCS.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index


def test_pages_name_every_option_and_oracle_of_their_systems():
    for page in (DOCS / "systems").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for name in text.partition("\n")[0].removeprefix("# ").split(", "):
            for word in [*SYSTEMS[name].options, *SYSTEMS[name].oracles]:
                assert re.search(rf"`{word}[`=]", text), f"{page.name} does not say what {word} of {name} is"


# What the checks themselves let through and what not. -------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("...\nd\n", "a\nd\n", True),
        ("a\n...\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a...\n", "ab\n", False),
        ("", "", True),
        ("", "a\n", False),
        ("[1, 2]\n", "1\n", False),
    ],
)
def test_outputs_are_compared_line_by_line(shown: str, printed: str, fits: bool):
    assert matches(shown, printed) is fits


def test_blocks_are_found_with_the_output_below_them():
    text = "x\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```console\n$ tanglewood a\nb\n$ tanglewood c\n```\n"
    python, output, console = blocks_of("page", text)
    assert (python.line, python.language, python.body, python.shown) == (3, "python", "print(1)\n", "1\n")
    assert (output.language, output.shown) == ("text", None)
    assert commands_of(console.body) == [("tanglewood a", "b\n"), ("tanglewood c", "")]


def test_a_failing_block_is_noticed(workplace: Path):
    assert run([sys.executable, "-c", "assert False"], workplace).returncode != 0
    assert "usage: tanglewood" in run(["sh", "-c", "tanglewood no-such-command"], workplace).stdout
