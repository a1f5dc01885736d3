"""A lexicon of the vectors of a file: reduced to fewer numbers, and as large as other embeddings are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanglewood.ml.lexicon import Lexicon
from tanglewood.ml.vector_source import Floats, Vectors

SPREAD = 0.3  # standard deviation of all numbers
LARGEST = 100.0  # no number of a vector that is meant comes near it


def principal_components(table: Floats, width: int) -> NDArray[np.float64]:
    """Return the directions in which centred vectors differ most, as columns, the most important first."""
    wide = table.astype(np.float64)
    _, directions = np.linalg.eigh(wide.T @ wide)
    chosen: NDArray[np.float64] = directions[:, ::-1][:, :width]
    largest = np.abs(chosen).argmax(axis=0)
    chosen *= np.sign(chosen[largest, np.arange(chosen.shape[1])])  # they could as well point the other way
    return chosen


def lexicon_of(vectors: Vectors, width: int) -> Lexicon:
    """Return the lexicon of vectors, reduced to ``width`` numbers (0: all that they have).

    Unknown forms have the mean of all words, which is zero, since every vector has the mean taken off. That, the
    reduction and the scale are the same for words and for pieces, so that a mean of pieces is still a vector of a word.
    """
    mean = vectors.sample.mean(axis=0, dtype=np.float64)
    sample = (vectors.sample - mean).astype(np.float32)
    dim = vectors.sample.shape[1]
    turned = np.eye(dim) if not width or width >= dim else principal_components(sample, width)
    spread = float((sample @ turned).std())
    turned = turned * (SPREAD / spread if spread > 0 else 1.0)

    def reduced(table: Floats) -> Floats:
        found: Floats = np.clip((table - mean) @ turned, -LARGEST, LARGEST).astype(np.float32)
        return found

    rows = [np.zeros((2, turned.shape[1]), np.float32), reduced(vectors.table)]
    if vectors.pieces is not None:
        rows.append(reduced(vectors.pieces))
    return Lexicon.of(vectors.words, np.concatenate(rows), subwords=vectors.subwords, buckets=vectors.buckets)
