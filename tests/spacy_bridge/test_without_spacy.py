"""Where spaCy is not installed, what needs it says how to get it."""

from __future__ import annotations

import sys

import pytest

from tanglewood.errors import MissingExtraError
from tanglewood.spacy_bridge.docs import to_spacy
from toy import toy_sentences


def test_without_spacy_the_extra_is_named(monkeypatch):
    for name in ("spacy", "spacy.tokens"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tanglewood\[spacy\]'"):
        to_spacy(toy_sentences(1), None)
