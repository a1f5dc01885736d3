"""Vectors of forms that come from elsewhere than the treebank: a table that stays as it is, eight bits a number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import MOST_WEIGHT, Layout, Shape, check_arrays, check_settings
from tanglewood.errors import ModelError
from tanglewood.ml.subwords import Pieces, Subwords
from tanglewood.ml.vocabulary import ROOT, UNKNOWN

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
LEVELS = 127  # of a number in either direction
LEAST = 1e-30  # vectors without a larger number are taken for 0: smaller ones have no scale of their own in 32 bits
SHAPE: Shape = {"words": [str], "latin": bool, "subwords?": dict}
LAYOUTS = {"lexicon.rows": Layout("b", ("rows", "width")), "lexicon.scales": Layout("f", ("rows",))}
SUBWORD_LAYOUTS = {"lexicon.buckets": Layout("i", ("buckets",), least=0)}  # only if there are subwords
NAMES = (*LAYOUTS, *SUBWORD_LAYOUTS)
SHARED = "parser's"  # in the settings of a tagger whose lexicon is that of the parser and stands there
DIGIT = re.compile(r"\d")
GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
APOSTROPHE = re.compile("[\u2019\u02bc\u1fbd\u1fbf]")
LATIN = {ord("v"): "u", ord("j"): "i"}


def folded(form: str, *, latin: bool = False) -> str:
    """Return a form as it is looked up last: in small letters, with one kind of digit and of apostrophe.

    A Greek grave accent, which an acute one becomes before another word, is an acute one. With ``latin`` letters have
    no accents, and v and j are u and i.
    """
    text = DIGIT.sub("0", unicodedata.normalize("NFC", form.lower()))
    if not text.isascii():
        text = APOSTROPHE.sub("'", text)
        if latin:
            text = "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
        elif GREEK.search(text):
            text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).replace("\u0300", "\u0301"))
    return text.translate(LATIN) if latin else text


class Lexicon:
    """A table of vectors: row 0 for unknown forms, row 1 for the root, then one for each of ``words``.

    A form is looked up as it is written, then in small letters, then folded. If it is still not found, and there are
    ``subwords``, it has the mean of those of its pieces whose rows are in the table; they stand at the end, and
    ``buckets`` are their numbers, in ascending order.
    """

    def __init__(
        self,
        words: Sequence[str],
        rows: NDArray[np.int8],
        scales: Floats,
        *,
        latin: bool = False,
        subwords: Subwords | None = None,
        buckets: Ints | None = None,
    ) -> None:
        self.words = words
        self.rows = rows
        self.scales = scales
        self.latin = latin
        self.subwords = subwords
        self.buckets = np.zeros(0, np.int32) if buckets is None else buckets
        self._numbers = {word: number for number, word in enumerate(words, 2)}

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        vectors: Floats,
        *,
        latin: bool = False,
        subwords: Subwords | None = None,
        buckets: Ints | None = None,
    ) -> Lexicon:
        """Return the lexicon of vectors, those of unknown forms and of the root first, rounded to eight bits."""
        largest = np.abs(vectors).max(axis=1)
        scales = np.where(largest > LEAST, largest / LEVELS, 0).astype(np.float32)
        rows = np.rint(vectors / np.where(scales, scales, 1)[:, None]).astype(np.int8)
        return cls(words, rows, scales, latin=latin, subwords=subwords, buckets=buckets)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.words, self.rows, self.scales, self.latin, self.subwords, self.buckets)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.rows.shape[1])

    @cached_property
    def vectors(self) -> Floats:
        """All vectors, as floats."""
        return self.rows.astype(np.float32) * self.scales[:, None]

    def _place(self, form: str) -> int:
        """Return the row of a form that is not found as it is written."""
        numbers = self._numbers
        lower = form.lower()
        return numbers[lower] if lower in numbers else numbers.get(folded(form, latin=self.latin), 0)

    @cached_property
    def _pieces(self) -> Pieces | None:
        if self.subwords is None:
            return None
        begin = 2 + len(self.words)
        return Pieces(self.subwords, self.buckets, self.rows[begin:], self.scales[begin:])

    def knows(self, form: str) -> bool:
        """Whether a form has a vector of its own."""
        return form in self._numbers or self._place(form) > 0

    def places(self, sentences: Iterable[Sequence[str]]) -> Ints:
        """Return the rows of the nodes of sentences, whose forms are given, each with its node 0 first."""
        numbers, other = self._numbers, self._place
        found: list[int] = []
        for forms in sentences:  # what was found is not remembered: whoever looks up often remembers more than that
            found.append(1)
            found += [numbers[form] if form in numbers else other(form) for form in forms]
        return np.array(found, np.int32)

    def given(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the vectors of the nodes of sentences, whose forms are given, each with its node 0 first."""
        places = self.places(sentences)
        vectors: Floats = self.vectors[places]
        if self._pieces is not None and not places.all():
            forms = [form for forms in sentences for form in ("", *forms)]
            nodes = np.flatnonzero(places == 0).astype(np.int32)
            self._pieces.write_means([forms[node] for node in nodes.tolist()], nodes, vectors)
        return vectors

    def hide(self, given: Floats | None, share: float, rng: np.random.Generator) -> None:
        """Put the vector of unknown forms in the place of a share of some vectors, for learning what to do then."""
        assert given is not None
        given[rng.random(len(given)) < share, : self.width] = self.vectors[0]

    def same_as(self, other: Lexicon | None) -> bool:
        """Whether another lexicon says the same of every form."""
        if self is other or other is None:
            return other is not None
        own, others = self.arrays(), other.arrays()
        return (
            self.settings() == other.settings()
            and own.keys() == others.keys()
            and all(np.array_equal(own[name], others[name]) for name in own)
        )

    def arrays(self) -> dict[str, Any]:
        """Return the table, for a model file."""
        arrays: dict[str, Any] = dict(zip(LAYOUTS, (self.rows, self.scales), strict=True))
        if self.subwords is not None:
            arrays |= dict(zip(SUBWORD_LAYOUTS, (self.buckets,), strict=True))
        return arrays

    def settings(self) -> dict[str, Any]:
        """Return the rest, as plain data."""
        more = {} if self.subwords is None else {"subwords": self.subwords.settings()}
        return {"words": list(self.words), "latin": self.latin, **more}

    @classmethod
    def load(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Lexicon:
        """Rebuild the lexicon from its arrays and settings, which are checked."""
        words = settings["words"]
        subwords, buckets = None, np.zeros(0, np.int32)
        layouts = LAYOUTS
        if "subwords" in settings:
            subwords = Subwords.load(settings["subwords"])
            layouts = LAYOUTS | SUBWORD_LAYOUTS
            buckets = np.array(arrays.get("lexicon.buckets", buckets))
        check_arrays(arrays, layouts, {"rows": len(words) + 2 + buckets.size})
        if len({UNKNOWN, ROOT, *words}) != len(words) + 2:
            raise ModelError("the lexicon has a word twice")
        if subwords is not None and ((np.diff(buckets) <= 0).any() or (buckets >= subwords.buckets).any()):
            raise ModelError(f"the lexicon's buckets should rise, and be less than {subwords.buckets}")
        rows, scales = (np.array(arrays[name]) for name in LAYOUTS)
        if not rows.size or float(np.abs(scales).max()) * LEVELS > MOST_WEIGHT:
            raise ModelError("the lexicon has no vectors, or numbers that are too large")
        return cls(words, rows, scales, latin=settings["latin"], subwords=subwords, buckets=buckets)


def without_lexicon(arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arrays and settings of a model whose lexicon is another part's, and so is not stored again."""
    return {name: array for name, array in arrays.items() if name not in NAMES}, {**settings, "lexicon": SHARED}


def _again(
    words: Sequence[str],
    rows: NDArray[np.int8],
    scales: Floats,
    latin: bool,
    subwords: Subwords | None,
    buckets: Ints,
) -> Lexicon:
    """Rebuild a pickled lexicon."""
    return Lexicon(words, rows, scales, latin=latin, subwords=subwords, buckets=buckets)


def taken_out(
    arrays: Mapping[str, memoryview], settings: Mapping[str, Any], shared: Lexicon | None = None
) -> tuple[Lexicon | None, dict[str, memoryview]]:
    """Return the lexicon of a model, if the settings have one, and the arrays that are not a part of it.

    The settings may say that it is another part's lexicon: ``shared``.
    """
    if "lexicon" not in settings:
        return None, dict(arrays)
    if settings["lexicon"] == SHARED:
        if shared is None:
            raise ModelError("the lexicon should be that of the parser, which has none")
        return shared, dict(arrays)
    check_settings(settings["lexicon"], SHAPE, "lexicon")
    own = {name: array for name, array in arrays.items() if name in NAMES}
    return Lexicon.load(own, settings["lexicon"]), {name: arrays[name] for name in arrays if name not in NAMES}
