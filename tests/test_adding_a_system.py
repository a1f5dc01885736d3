"""A system with two phases, an option and tags is one .py, one .pxd and one line of the registry, and nothing else.

It is added to a copy of the package; the copy is then asked to train it, trace it, count it and show its option.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_build

TESTS = Path(__file__).resolve().parent
ADDED = TESTS / "added"
ROOT = TESTS.parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources with the system added."""
    for name in ("msgspec", "starlette"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra: web)")
    package = tmp_path / "src" / "tanglewood"
    shutil.copytree(
        ROOT / "src" / "tanglewood", package, ignore=shutil.ignore_patterns("*.so", "__pycache__", "models", "*.c")
    )
    for name in ("tag_first.py", "tag_first.pxd"):
        shutil.copy(ADDED / name, package / "systems" / name)
    registry = package / "systems" / "__init__.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count('    "joint_swap",\n') == 1
    registry.write_text(text.replace('    "joint_swap",\n', '    "joint_swap",\n    "tag_first",\n'), encoding="utf-8")
    return tmp_path


def try_it(copy: Path, *learners: str) -> str:
    """Run what asks the copy about its system."""
    path = os.pathsep.join([str(copy / "src"), str(TESTS)])
    done = subprocess.run(
        [sys.executable, str(ADDED / "try_it.py"), *learners],
        cwd=copy, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def learners() -> list[str]:
    return ["network", "linear", "svm"]


def test_a_system_is_added_by_its_own_files_and_one_line(copy):
    assert try_it(copy, *learners()) == "interpreted"


@pytest.mark.slow
def test_it_compiles_too(copy):
    if find_spec("Cython") is None:
        pytest.skip("Cython is not installed here")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert try_it(copy, *learners()) == "compiled"
