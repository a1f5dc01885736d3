"""What all tests share: the folder of treebanks, if there is one, small models, the option that runs slow tests."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import tanglewood as tw
from tanglewood.cli.common import use_one_matrix_thread

if TYPE_CHECKING:
    from tanglewood.pipeline import Pipeline

TESTS = Path(__file__).resolve().parent

use_one_matrix_thread()  # before NumPy is imported: tests that run side by side would wait for each other's threads


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_configure(config: pytest.Config) -> None:
    """Have the same commit judged by the same examples; new ones are looked for with `--slow` and by the fuzzers."""
    settings.register_profile("same examples", derandomize=True, database=None)
    if not config.getoption("--slow"):
        settings.load_profile("same examples")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ordinary = tw.compiled() and "TANGLEWOOD_BOUNDSCHECK" not in os.environ
    for item in items:
        if item.get_closest_marker("slow") and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))
        if not ordinary and (item.get_closest_marker("one_build") or not has_compiled_modules(room_of(item.path))):
            item.add_marker(pytest.mark.skip(reason="of code that is the same in every build; run in the compiled one"))


def room_of(path: Path) -> Path:
    """The folder of the package that a test belongs to: the package itself, if the test stands beside the folders."""
    return TESTS.parent / "src" / "tanglewood" / path.relative_to(TESTS).parent


@cache
def has_compiled_modules(room: Path) -> bool:
    return not room.is_dir() or any(room.rglob("*.pxd"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the repository, with treebanks and their ground truth, which are not part of it."""
    folder = TESTS.parents[1] / "shared"
    if not folder.is_dir():
        pytest.skip("no folder `shared` with treebanks beside the repository")
    return folder


@pytest.fixture(scope="session")
def few(request: pytest.FixtureRequest) -> int | None:
    """How many sentences of a treebank are compared with other people's slow programs; with `--slow` all."""
    return None if request.config.getoption("--slow") else 200


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    """A small pipeline of the toy language."""
    from toy_pipeline import toy_pipeline

    return toy_pipeline()


@pytest.fixture(scope="module")
def model(pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its file."""
    path = tmp_path_factory.mktemp("pipeline") / "toy.tw"
    pipeline.save(path)
    return path


@pytest.fixture(scope="module")
def bare(pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """Its parser alone, a model of tagged words, as it comes from its file."""
    path = tmp_path_factory.mktemp("bare") / "bare.tw"
    type(pipeline)(pipeline.parser).save(path)
    return tw.load(path)


@pytest.fixture
def small_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small networks and taggers trained, without warnings that little data would bring."""
    from tanglewood.text import tagger
    from tanglewood.training import loop
    from toy import small_network

    small_network(monkeypatch)
    monkeypatch.setattr(tagger, "SIZES", (8, 4))
    for name in ("RARE_ARCS", "RARE_LABEL"):  # everything is rare in so few sentences
        monkeypatch.setattr(loop, name, 0)
