"""What is shipped: the sdist holds the repository and nothing else, the wheels are those that docs/install.md tells."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_build
ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "wheels.yml"
if not WORKFLOW.exists():
    pytest.skip("the repository is not here", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEELS = PROJECT["tool"]["cibuildwheel"]
PYTHONS = ["cp311", "cp312", "cp313", "cp314", "cp314t"]
ELSEWHERE = ["cp310-manylinux_x86_64", "cp313-manylinux_i686", "cp313-win32", "pp311-manylinux_x86_64"]
MACHINES = {
    "linux": ["manylinux_x86_64", "musllinux_x86_64", "manylinux_aarch64", "musllinux_aarch64"],
    "macos": ["macosx_x86_64", "macosx_arm64"],
    "windows": ["win_amd64", "win_arm64"],
}


def is_built(identifier):
    return any(fnmatch(identifier, pattern) for pattern in WHEELS["build"]) and not any(
        fnmatch(identifier, pattern) for pattern in WHEELS["skip"]
    )


def test_every_python_has_a_wheel_for_every_machine():
    for machine in (name for names in MACHINES.values() for name in names):
        assert all(is_built(f"{python}-{machine}") for python in PYTHONS), machine
    assert not any(is_built(identifier) for identifier in ELSEWHERE)
    told = {match[1] for name in PROJECT["project"]["classifiers"] if (match := re.search(r":: 3\.(\d+)$", name))}
    assert {f"cp3{minor}" for minor in told} == {python.removesuffix("t") for python in PYTHONS}


def test_cibuildwheel_reads_it_so():
    if shutil.which("cibuildwheel") is None:
        pytest.skip("cibuildwheel is not installed")
    for platform, machines in MACHINES.items():
        archs = ",".join(dict.fromkeys(re.sub(r"^(many|musl)linux_|^macosx_|^win_", "", name) for name in machines))
        archs = archs.replace("amd64", "AMD64").replace("arm64", "ARM64") if platform == "windows" else archs
        command = ["cibuildwheel", "--print-build-identifiers", "--platform", platform, "--archs", archs, str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == {f"{python}-{machine}" for python in PYTHONS for machine in machines}


def test_the_tests_of_wheels_are_those_of_the_readme_and_have_what_they_look_at():
    told = re.search(r"<!-- test command -->\n```console\n(.*?)\n```", (ROOT / "README.md").read_text())[1]
    assert told.endswith(WHEELS["test-command"].removeprefix("python"))
    for name in WHEELS["test-sources"]:
        assert (ROOT / name).exists(), name
    extras = PROJECT["project"]["optional-dependencies"]
    for rule in WHEELS["overrides"]:
        assert set(rule["test-extras"]) < set(extras)
        assert set(rule.get("test-requires", [])) < set(extras["test"])
        for word in rule.get("test-command", "").split():
            assert not word.startswith("tests/") or (ROOT / word).exists(), word


def test_only_on_windows_some_tests_are_left_out():
    assert [rule["select"] for rule in WHEELS["overrides"] if "test-command" in rule] == ["*-win_*"]


def test_the_workflow_builds_the_sdist_first_and_publishes_without_a_password():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "sdist": None, "wheels": "sdist", "pure": "sdist", "publish": ["sdist", "wheels", "pure"],
    }  # fmt: skip
    rows = jobs["wheels"]["strategy"]["matrix"]["include"]
    assert {(row["platform"], row["arch"].lower()) for row in rows} == {
        (platform, re.sub(r"^[a-z]+_", "", name)) for platform, names in MACHINES.items() for name in names
    }
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "password" not in WORKFLOW.read_text().split("jobs:")[1]
    for uses in re.findall(r"uses: (\S+)", WORKFLOW.read_text()):
        assert re.search(r"@(v\d+|release/v\d+)$", uses), uses


# What compilers are told on Windows ---------------------------------------------------------------------------------

TARGETS = {"win-amd64": "x86_64-pc-windows-msvc", "win-arm64": "arm64-pc-windows-msvc"}


class Compiler:
    compiler_type, cc, initialized = "msvc", "cl.exe", False

    def initialize(self, platform):
        self.initialized = platform


def built(monkeypatch, platform):
    """Distutils' command after it has translated the options; with a compiler that compiles nothing."""
    build_ext = pytest.importorskip("setuptools.command.build_ext").build_ext
    from setuptools import Distribution, Extension

    told = {}
    monkeypatch.setattr("setuptools.setup", lambda **settings: told.update(settings))
    monkeypatch.setattr("shutil.which", "/llvm/{}".format)
    monkeypatch.setattr(build_ext, "build_extensions", lambda self: None)
    monkeypatch.setenv("TANGLEWOOD_PURE", "1")  # so that setup.py does not look for what is to be compiled
    runpy.run_path(str(ROOT / "setup.py"))
    command = told["cmdclass"]["build_ext"](Distribution())
    command.plat_name, command.compiler = platform, Compiler()
    command.extensions = [Extension("one", [], extra_compile_args=["-O3", "-ffp-contract=off"])]
    command.build_extensions()
    return command


@pytest.mark.parametrize("platform", TARGETS)
def test_clang_cl_is_told_the_machine_and_the_options(monkeypatch, tmp_path, platform):
    monkeypatch.setenv("CC", "clang-cl")
    command = built(monkeypatch, platform)
    assert (command.compiler.cc, command.compiler.initialized) == ("/llvm/clang-cl", platform)
    options = command.extensions[0].extra_compile_args
    assert options == [f"--target={TARGETS[platform]}", "/clang:-O3", "/clang:-ffp-contract=off"]
    monkeypatch.undo()
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (tmp_path / "one.c").touch()
    command = ["clang", "--driver-mode=cl", "-###", "-Werror", *options, "/c", "one.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f'"-triple" "{TARGETS[platform]}' in done.stderr
    assert '"-O3"' in done.stderr
    assert '"-ffp-contract=off"' in done.stderr


def test_the_compiler_of_msvc_is_told_its_own_options(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    command = built(monkeypatch, "win-amd64")
    assert command.compiler.cc == "cl.exe"
    assert command.extensions[0].extra_compile_args == ["/fp:precise"]


# What is made of the sources; they are copied, since setuptools writes beside them. ----------------------------------


@pytest.fixture
def copy(tmp_path):
    """The repository without its largest files, but with something that was built in it."""
    if find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed here")
    made = "build dist found site wheelhouse .cache .git .venv .hypothesis .*_cache __pycache__ *.egg-info *.so"
    shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(*made.split()))
    for model in (tmp_path / "copy" / "src" / "tanglewood" / "models").iterdir():
        model.write_bytes(b"large")
    return tmp_path / "copy"


def setup(copy, *command, **variables):
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", *command],
        cwd=copy, env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def files_of(folder):
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def test_the_sdist_holds_the_repository_and_nothing_that_was_built(copy):
    wanted = files_of(copy)
    core = copy / "src" / "tanglewood" / "core"
    for built in ("beam.cpython-311-x86_64-linux-gnu.so", "beam.cp311-win_amd64.pyd", "_shared.c"):
        (core / built).touch()
    (core / "__pycache__").mkdir()
    (core / "__pycache__" / "beam.cpython-311.pyc").touch()
    (copy / "build").mkdir()
    (copy / "build" / "beam.c").touch()
    setup(copy, "sdist")
    (made,) = (copy / "dist").iterdir()
    with tarfile.open(made) as archive:
        found = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    assert found - wanted <= {"PKG-INFO", "setup.cfg", "src/tanglewood.egg-info/SOURCES.txt"}
    assert wanted - found == set()


def test_without_a_compiler_there_is_one_wheel_for_every_machine(copy):
    if find_spec("wheel") is None and int(__import__("setuptools").__version__.split(".")[0]) < 71:
        pytest.skip("setuptools cannot make wheels by itself before version 71")
    setup(copy, "bdist_wheel", TANGLEWOOD_PURE="1")
    (made,) = (copy / "dist").iterdir()
    assert made.name == f"tanglewood-{PROJECT['project']['version']}-py3-none-any.whl"
    names = zipfile.ZipFile(made).namelist()
    sources = {name.removeprefix("src/") for name in files_of(copy) if name.startswith("src/tanglewood/")}
    assert sources <= set(names)
    assert not [name for name in names if name.endswith((".so", ".pyd", ".c"))]
