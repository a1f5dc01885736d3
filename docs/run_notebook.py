"""Run a notebook and write it as Markdown, with what its cells print and show: python docs/run_notebook.py NOTEBOOK.

Cells are plain Python. They run in one process, in the notebook's folder, as in Jupyter: what a cell prints is shown,
and so is the value of its last line, as a picture if it has one. Notebooks are kept without outputs, so that nothing
shown can be out of date and changes can be read; the site shows what the code of today prints.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """A cell: Markdown, or code with what it printed, the value of its last line as text, and its picture."""

    kind: str
    source: str
    printed: str = ""
    value: str = ""
    picture: str = ""


def cells(notebook: Path) -> Iterator[Cell]:
    """Give the cells of a notebook, code after it was run; an error says in which cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield Cell("markdown", source)
            continue
        try:
            yield _run(source, names, notebook)
        except BaseException as error:
            error.add_note(f"in cell {number} of {notebook}")
            raise


def _run(source: str, names: dict[str, Any], notebook: Path) -> Cell:
    body = ast.parse(source, notebook.name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.chdir(notebook.parent):
        exec(compile(ast.Module(body, []), notebook.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)
        picture = value._repr_svg_() if hasattr(value, "_repr_svg_") else None
        text = "" if value is None or picture else repr(value)
    return Cell("code", source, printed.getvalue(), text, picture or "")


def markdown(notebook: Path, pictures: Path, moved: Callable[[str], str] = str) -> str:
    """Run a notebook and return it as Markdown; its pictures are written into a folder beside the page.

    ``moved`` changes the links of its texts to fit the place of the page.
    """
    parts = []
    for number, cell in enumerate(cells(notebook), 1):
        if cell.kind == "markdown":
            parts.append(moved(cell.source))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        shown = "\n".join(text.rstrip("\n") for text in (cell.printed, cell.value) if text)
        if shown:
            parts.append(f"```text\n{shown}\n```")
        if cell.picture:
            pictures.mkdir(parents=True, exist_ok=True)
            (pictures / f"{number}.svg").write_text(cell.picture, encoding="utf-8")
            parts.append(f"![Picture of cell {number}]({pictures.name}/{number}.svg)")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    source = Path(sys.argv[1]).resolve()
    sys.stdout.write(markdown(source, Path(os.curdir) / f"{source.stem}-pictures"))
