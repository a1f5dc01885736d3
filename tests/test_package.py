"""What `import tanglewood` offers: every name is there, and loads nothing before it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tanglewood


@pytest.mark.parametrize("name", tanglewood.__all__)
def test_every_name_is_there(name):
    assert getattr(tanglewood, name) is not None
    assert name in dir(tanglewood)


@pytest.mark.parametrize(
    "name", ["Doc", "Drawing", "Sentence", "Tree", "TreeError", "Word", "coverage", "read", "stats", "trace", "write"]
)
def test_what_a_user_types_is_offered(name):
    assert name in tanglewood.__all__


def test_editors_and_type_checkers_know_every_name_and_its_home():
    tree = ast.parse(Path(tanglewood.__file__).read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = {(alias.asname, node.module) for node in guarded.body for alias in node.names}
    homes = {(name, f"tanglewood.{home}") for name, home in tanglewood._HOMES.items()}
    assert homes == {(name, module) for name, module in imports if name}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"has no attribute 'sentence'; it has .*Sentence"):
        tanglewood.sentence  # noqa: B018


def test_importing_costs_nothing():
    code = "import sys, tanglewood; print([m for m in sys.modules if m.startswith('tanglewood.') or m == 'numpy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_citation_names_this_version():
    text = (Path(__file__).resolve().parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {tanglewood.__version__}\n" in text
    assert "\ncff-version: 1.2.0\n" in f"\n{text}"
