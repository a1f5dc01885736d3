"""Words in their sentences: those that are wanted have the same vectors, whatever is left out for the others."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanglewood.ml.contexts import Contexts
from tanglewood.ml.encoder import Wanted, new_encoder
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.vocabulary import Vocabulary
from tanglewood.ml.words import untagged

FORMS = ["dax", "Wug", "blick", "42", "."]
WIDTHS = {"lower": 8, "last": 4}


@cache
def contexts(layers):
    vocabulary = Vocabulary.of(map(untagged, FORMS), WIDTHS, {})
    parameters = new_encoder(WIDTHS, vocabulary, (16, 8, layers), np.random.default_rng(1))
    return Contexts(vocabulary, parameters, kernels_for(reproducible=True))


@pytest.mark.parametrize("layers", [1, 2, 3])
@given(st.lists(st.lists(st.sampled_from(FORMS), min_size=1, max_size=9), min_size=1, max_size=7), st.data())
@settings(max_examples=20, deadline=None)
def test_what_is_wanted_is_as_if_all_were(layers, sentences, data):
    words = [list(map(untagged, forms)) for forms in sentences]
    everything, offsets = contexts(layers).of(words)
    ranges = [data.draw(st.tuples(st.integers(0, len(w)), st.integers(0, len(w))).map(sorted)) for w in words]
    begins, lasts = np.array(ranges).T
    places = contexts(layers).number(word for sentence in words for word in sentence)
    order = np.insert(places, np.array(offsets[:-1]) - np.arange(len(words)), 0)  # node 0 before every sentence
    some = contexts(layers).at(order, [len(w) + 1 for w in words], Wanted(begins, lasts + 1))
    for offset, begin, last in zip(offsets, begins, lasts, strict=False):
        wanted = slice(offset + begin, offset + last + 1)
        assert np.array_equal(some[wanted], everything[wanted])
