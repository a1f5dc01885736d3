"""What tests of corpora share."""

from pathlib import Path

import pytest
from corpora import make_corpus


@pytest.fixture
def corpus_here(tmp_path, monkeypatch):
    """The folder `in`, a small corpus, in a new folder to work in."""
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"))
