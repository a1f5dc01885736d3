"""Build the documentation as a site, in the folder site/: python docs/build_site.py (needs the extra docs).

The pages of docs/ are its source. They are copied into build/pages, where links that lead out of docs/ are made to lead
to pages too: notebooks are run and become pages, as do the other files that are linked to. The API reference is made
from the docstrings of the public names. Then Zensical builds the site as zensical.toml says; any warning is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import run_notebook
import tanglewood

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = ROOT / "examples" / "notebooks"
PAGES = ROOT / "build" / "pages"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FROM = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md", "README.md": "README.md"}
FROM |= {f"{room}/README.md": f"{room}.md" for room in ("bench", "fuzz")}
LANGUAGES = {".py": "python", ".toml": "toml"}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def place(file: Path) -> str:
    """Return where a file of the repository is among the pages."""
    path = file.relative_to(ROOT).as_posix()
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    if file.suffix == ".ipynb":
        return f"notebooks/{file.stem}.md"
    return FROM.get(path) or f"files/{path}.md"


def is_local(target: str) -> bool:
    """Whether a link leads to a file of the repository."""
    return not re.match(r"[a-z]+:|#", target)


def linked(text: str, page: Path) -> tuple[str, set[Path]]:
    """Return a page's text with links as they are among the pages, and the files they lead to.

    A link whose text is the name of a page has the page's title there.
    """
    files = set()

    def moved(link: re.Match[str]) -> str:
        sign, words, target = link.groups()
        if not is_local(target):
            return link[0]
        path, mark, section = target.partition("#")
        file = (page.parent / path).resolve()
        if not file.is_file():
            raise SystemExit(f"{page.relative_to(ROOT)}: {target} should be a file of the repository")
        files.add(file)
        if file.suffix == ".md" and words.endswith(file.name):
            words = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        there = os.path.relpath(place(file), Path(place(page)).parent)
        return f"{sign}[{words}]({there}{mark}{section})"

    parts, end = [], 0
    for block in FENCE.finditer(text):
        parts += [LINK.sub(moved, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(moved, text[end:])]), files


def page_of(file: Path, pages: Path) -> tuple[str, set[Path]]:
    """Return a file of the repository as a page, and the files it links to; a notebook's pictures are written."""
    if file.suffix == ".md":
        return linked(file.read_text(encoding="utf-8"), file)
    if file.suffix == ".ipynb":
        files: set[Path] = set()

        def moved(text: str) -> str:
            text, found = linked(text, file)
            files.update(found)
            return text

        return run_notebook.markdown(file, (pages / place(file)).with_suffix(""), moved), files
    fence, language = "`````", LANGUAGES.get(file.suffix, "text")
    body = f"{fence}{language}\n{file.read_text(encoding='utf-8')}{fence}\n"
    return f"{UNSEARCHED}# {file.name}\n\n`{file.relative_to(ROOT).as_posix()}`\n\n{body}", set()


def reference() -> str:
    """Return the page of the API reference: an entry for each public name, to be filled in from its docstring."""
    names = [name for name in sorted(tanglewood.__all__, key=str.lower) if name != "__version__"]
    errors = [name for name in names if name.endswith("Error")]
    classes = [name for name in names if name[0].isupper() and not name.isupper() and name not in errors]
    functions = [name for name in names if name not in errors + classes]
    text = (
        "# API reference\n\nEvery public name, from the docstrings; [Python interface](api.md) says how to use them.\n"
    )
    for title, group in (("Classes", classes), ("Functions", functions), ("Errors", errors)):
        entries = "".join(f"\n::: tanglewood.{name}\n    options:\n      heading_level: 3\n" for name in group)
        text += f"\n## {title}\n{entries}"
    return text


def stage(pages: Path) -> None:
    """Write all pages, with everything that they link to, into a folder."""
    shutil.rmtree(pages, ignore_errors=True)
    waiting = {*DOCS.rglob("*.md"), *NOTEBOOKS.glob("*.ipynb"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"}
    done: set[Path] = set()
    while waiting:
        file = waiting.pop()
        done.add(file)
        target = pages / place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.is_relative_to(DOCS) and file.suffix != ".md":
            shutil.copy(file, target)
            continue
        text, files = page_of(file, pages)
        target.write_text(text, encoding="utf-8")
        waiting |= files - done
    (pages / "reference.md").write_text(reference(), encoding="utf-8")
    shutil.copy(DOCS / "site.css", pages)


def main() -> int:
    """Write the pages and build the site."""
    stage(PAGES)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
