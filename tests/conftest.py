"""What all tests share: the folder of treebanks, if there is one, and the option that runs the slow tests."""

from pathlib import Path

import pytest

from tanglewood.cli.common import use_one_matrix_thread

use_one_matrix_thread()  # before NumPy is imported: tests that run side by side would wait for each other's threads


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the repository, with treebanks and their ground truth, which are not part of it."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("no folder `shared` with treebanks beside the repository")
    return folder
