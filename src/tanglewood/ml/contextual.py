"""Vectors of words in their sentences, which a large encoder has computed elsewhere; found by the sentence's forms."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import Layout, Shape, Whole, check_arrays, check_halves, check_settings
from tanglewood.errors import ConfigError, ModelError

Floats = NDArray[np.float32]
Source = Callable[[Sequence[Sequence[str]]], Sequence[Floats]]  # sentences' forms -> a row for each word
MOST_WIDTH = 1 << 14
SHAPE: Shape = {"encoder": str, "width": Whole(1, MOST_WIDTH)}
LAYOUTS = {  # of a file: all rows, as the bits of 16-bit floats, where those of each sentence begin, and its key
    "vectors": Layout("h", ("words", "width")),
    "starts": Layout("i", ("sentences",), starts="words"),
    "keys": Layout("q", ("sentences",)),
}
SHOWN = 60  # letters of a sentence that a message shows


class Contextual:
    """What a model needs to know of an encoder's vectors, and where they come from, once that is known."""

    def __init__(self, encoder: str, width: int, source: Source | None = None, names: tuple[str, ...] = ()) -> None:
        self.encoder = encoder
        self.width = width
        self.source = source
        self.names = names  # of the files, or of the encoder, that it comes from

    def __reduce__(self) -> tuple[Any, ...]:
        return Contextual, (self.encoder, self.width, None, self.names)  # processes open their own

    def given(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the vectors of the nodes of sentences, each with its node 0 first, which has zeros."""
        if self.source is None:
            raise ConfigError(
                f"the model has learnt from vectors of {self.encoder}, and needs those of what it parses: --contextual "
                "names a file of them, which tanglewood embed makes, or the encoder"
            )
        nothing = np.zeros((1, self.width), np.float32)
        parts: list[Floats] = []
        for forms, rows in zip(sentences, self.source(sentences), strict=True):
            if rows.shape != (len(forms), self.width):
                raise ConfigError(
                    f"an encoder gave {rows.shape[-1]} numbers a word; the model has learnt from {self.encoder}, which "
                    f"gives {self.width}"
                )
            parts += (nothing, rows)
        return np.concatenate(parts) if parts else np.zeros((0, self.width), np.float32)

    def settings(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"encoder": self.encoder, "width": self.width}

    @classmethod
    def load(cls, settings: object) -> Contextual:
        """Rebuild it from such data, as yet without a source."""
        check_settings(settings, SHAPE, "contextual")
        assert isinstance(settings, dict)
        return cls(settings["encoder"], settings["width"])


def key_of(forms: Sequence[str]) -> int:
    """Return the number that a sentence is found by."""
    digest = hashlib.blake2b("\t".join(forms).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class KeptVectors:
    """The vectors of a file: a source."""

    def __init__(
        self, name: str, vectors: NDArray[np.int16], starts: NDArray[np.int32], keys: NDArray[np.int64]
    ) -> None:
        self.name = name
        self._vectors = vectors
        self._starts = starts
        self._places = {key: place for place, key in enumerate(keys.tolist())}

    @classmethod
    def load(cls, name: str, arrays: Mapping[str, memoryview], width: int) -> KeptVectors:
        """Take the arrays of a file."""
        check_arrays(arrays, LAYOUTS, {"width": width})
        vectors, starts, keys = (np.asarray(arrays[part]) for part in LAYOUTS)
        return cls(name, vectors, starts, keys)

    def has(self, forms: Sequence[str]) -> bool:
        """Whether the file has the vectors of a sentence."""
        return key_of(forms) in self._places

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Return the rows of each sentence."""
        return [self._rows(forms) for forms in sentences]

    def _rows(self, forms: Sequence[str]) -> Floats:
        place = self._places.get(key_of(forms), -1)
        if place < 0:
            text = " ".join(forms)
            raise ConfigError(
                f"{self.name} has no vectors of the sentence {text[:SHOWN]!r}{'...' if len(text) > SHOWN else ''}; it "
                "should be made from the same file: tanglewood embed"
            )
        rows = self._vectors[self._starts[place] : self._starts[place + 1]].view(np.float16).astype(np.float32)
        if len(rows) != len(forms):
            raise ModelError(f"{self.name}: a sentence of {len(forms)} words has {len(rows)} vectors")
        check_halves("vectors", rows)
        return rows
