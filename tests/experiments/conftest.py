"""An invented treebank, and runs of all experiments on it, made once."""

import pytest
from toy_runs import SIZES, command

from tanglewood.cli import main
from tanglewood.experiments import PAPERS
from toy import toy_text


@pytest.fixture(scope="session")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "Danish-toy"
    folder.mkdir()
    for part, (size, seed) in SIZES.items():
        (folder / f"{part}.conllu").write_text(toy_text(size, seed))
    return folder


@pytest.fixture(scope="session")
def finished(treebank, tmp_path_factory):
    """The folders of finished runs, by paper."""
    folders = {}
    for paper in PAPERS:
        folders[paper] = tmp_path_factory.mktemp("runs") / f"{paper}-toy"
        assert main(command(paper, treebank, folders[paper])) == 0
    return folders
