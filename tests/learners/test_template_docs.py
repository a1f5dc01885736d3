"""The page about templates says all that there is, and the sample file can be trained with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tanglewood.core.addresses import LISTS, STEPS
from tanglewood.learners.templates import ATTRIBUTES, PAIR_ATTRIBUTES, SIBLING, Templates

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*ATTRIBUTES, *PAIR_ATTRIBUTES, *SIBLING, "flags", "valencies", "first:", "later:"])
def test_the_page_names_everything(name):
    assert f"`{name}`" in PAGE


def test_the_page_names_every_address():
    for letter in LISTS:
        assert f"`{letter}0`" in PAGE
    for step in filter(None, STEPS):
        assert f"`{step}`" in PAGE


def test_the_sample_has_templates_of_all_kinds():
    sample = Templates.read(ROOT / "examples" / "templates.toml")
    assert len(sample.moves) > 10
    assert len(sample.labels) > 5
