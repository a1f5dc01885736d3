"""Files of word vectors in every format, with odd words, numbers and sizes, damaged, read and made into a lexicon."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from conll_files import unwrapped, wrapped
from engine import ACCEPTED, Broken, Case, Target
from mutations import NUMBERS, damaged
from tanglewood.errors import FormatError, ModelError
from tanglewood.ml.file_lexicon import lexicon_of
from tanglewood.ml.lexicon import Lexicon
from tanglewood.ml.vector_files import read_vectors, wanted_forms
from tanglewood.ml.vector_source import Pruning, Vectors
from tanglewood.store import dump_model, parse_model
from vector_writers import Floats, as_fasttext, as_floret, as_text, as_word2vec

WORDS = (
    *("heron", "frog", "Frog", "pond", "ponds", "sings", "12", "1984", "</s>", "<", ">", "-0.5", "nan", "\u00a0"),
    *("d\u00e9j\u00e0", "\u05e9\u05dc", "\U0001f438", "e" + "\u0301" * 30, "a" * 250, "\ufeff", "a\u2028b", "\0", '"'),
)
FORMS = ["The", "frogs", "sing", "12", "d\u00e9j\u00e0", "\U0001f438", "", "x" * 300, "Ponds", "\u05e9"]
CELLS = (b"", b" ", b"nan", b"-inf", b"1e300", b"1e-320", b"x", b"0x1p3", b"1_0", b"\xff", b"\t", b"\r", b"1,5", b"0 0")


class FileOfVectors(Target):
    """Reads a file with different limits on what is kept; what is read must be sound, and the same if it is packed."""

    suffix = ".vectors"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._wanted = wanted_forms(FORMS)

    def make(self, rng: Random) -> Case:
        """Return a file."""
        kind: Callable[[Random], bytes] = rng.choice((_text, _text, _binary, _fasttext, _fasttext, _floret))
        data = kind(rng)
        if rng.random() < 0.4:
            data = damaged(rng, data)
        return Case(wrapped(rng, data), kind.__name__)

    def check(self, data: bytes) -> str:
        """Read the file, and look words up."""
        rng = Random(hashlib.sha256(data).digest())
        rows = rng.choice((1, 2, 5, 50, 50_000))
        pruning = Pruning(self._wanted[: rng.choice((0, 3, 100))], rows, rng.choice((0, 1, 3, 64)))
        with self.file(data) as path:
            found, error = _read(path, pruning)
        plain = unwrapped(data)
        if plain is None and error is None:
            raise Broken("damaged compression goes unnoticed")
        if plain == data:
            with self.file(gzip.compress(data)) as path:
                packed, refused = _read(path, pruning)
            if (error is None) != (refused is None):
                raise Broken("a file is read packed or plain, but not both")
            if found is not None and packed is not None and found.words != packed.words:
                raise Broken("packed and plain files give other words")
        if error is not None:
            raise error
        assert found is not None
        check_vectors(found, pruning)
        check_lexicon(lexicon_of(found, pruning.width))
        return ACCEPTED


def _read(path: Path, pruning: Pruning) -> tuple[Vectors | None, FormatError | None]:
    try:
        return read_vectors(path, pruning), None
    except FormatError as error:
        if error.file != str(path):
            raise Broken("an error without its file") from error
        return None, error


def check_vectors(found: Vectors, pruning: Pruning) -> None:
    """What was read must be no more than was asked for, and finite."""
    if (
        len(found.words) > pruning.rows
        or len(set(found.words)) != len(found.words)
        or len(found.table) != len(found.words)
    ):
        raise Broken("too many words, or words twice")
    for table in (found.table, found.sample, *(() if found.pieces is None else (found.pieces,))):
        if not np.isfinite(table).all():
            raise Broken("numbers that are none")
    if found.buckets is not None and found.pieces is not None and len(found.buckets) != len(found.pieces):
        raise Broken("rows without their numbers")


def check_lexicon(lexicon: Lexicon) -> None:
    """A lexicon must survive its file, and have vectors for all forms."""
    arrays, settings, *_ = parse_model(dump_model(lexicon.arrays(), lexicon.settings()), "lexicon")
    try:
        again = Lexicon.load(arrays, settings)
    except ModelError as error:
        raise Broken(f"a lexicon cannot be loaded again: {error}") from None
    if not again.same_as(lexicon):
        raise Broken("a lexicon is another after it was stored")
    vectors = again.given([FORMS, list(lexicon.words)[:20]])
    if not np.isfinite(vectors).all() or vectors.shape != (len(FORMS) + 2 + min(len(lexicon.words), 20), lexicon.width):
        raise Broken("forms without vectors")


def _words(rng: Random) -> list[str]:
    return [
        rng.choice(WORDS) if rng.random() < 0.7 else f"w{rng.randrange(99)}" for _ in range(rng.choice((1, 3, 9, 30)))
    ]


def _table(rng: Random, rows: int) -> Floats:
    table = np.random.default_rng(rng.randrange(2**32)).normal(0, 1, (rows, rng.choice((1, 2, 5, 8, 20))))
    if rng.random() < 0.1:
        table[rng.randrange(rows)] = rng.choice((0.0, 1e5, 1e7, float("nan"), float("inf"), 1e-40))
    return table.astype(np.float32)


def _text(rng: Random) -> bytes:
    words = _words(rng)
    end = rng.choice(("\n", " \n", "\r\n"))
    data = as_text(words, _table(rng, len(words)), header=rng.random() < 0.6, end=end)
    if rng.random() < 0.3:
        cells = data.split(b" ")
        cells[rng.randrange(len(cells))] = rng.choice(CELLS)
        data = b" ".join(cells)
    return data


def _binary(rng: Random) -> bytes:
    words = _words(rng)
    data = as_word2vec(words, _table(rng, len(words)), newline=rng.choice((b"\n", b"")))
    if rng.random() < 0.2:
        data = f"{rng.choice(NUMBERS)} {rng.choice(NUMBERS)}".encode() + data[data.index(b"\n") :]
    return data


def _fasttext(rng: Random) -> bytes:
    words = _words(rng)
    least = rng.choice((0, 1, 2, 3, 5))
    odd = {}
    if rng.random() < 0.4:
        name = rng.choice(("version", "dim", "model", "buckets", "size", "count"))
        odd[name] = rng.choice([n for n in NUMBERS if -(2**31) <= n < 2**31])
    elif rng.random() < 0.3:
        odd[rng.choice(("pruned", "rows", "columns"))] = rng.choice([n for n in NUMBERS if -(2**63) <= n < 2**63])
    table = _table(rng, len(words) + rng.choice((0, 1, 7, 100)))
    return as_fasttext(words, table, least, least + rng.choice((0, 0, 2, -1, 60)), **odd)


def _floret(rng: Random) -> bytes:
    least = rng.choice((1, 2, 4))
    data = as_floret(_table(rng, rng.choice((1, 7, 100))), least, least + rng.randrange(3), rng.choice((1, 2, 4)))
    if rng.random() < 0.3:
        first, _, rest = data.partition(b"\n")
        fields = first.split(b" ")
        fields[rng.randrange(len(fields))] = rng.choice((*CELLS, *(str(number).encode() for number in NUMBERS)))
        data = b" ".join(fields) + b"\n" + rest
    return data
