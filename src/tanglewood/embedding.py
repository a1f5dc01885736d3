"""Vectors of a large encoder from Hugging Face: computed by PyTorch in a process of its own, kept in files.

The encoder stays as it is. The vector of a word is the mean of those of its pieces, and that of a piece the mean of the
last four layers.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from tanglewood import __version__
from tanglewood.checks import PLAIN, Shape, check_settings
from tanglewood.errors import ConfigError, ModelError, TanglewoodError
from tanglewood.ml.contextual import SHAPE, Contextual, Floats, KeptVectors, Source, key_of
from tanglewood.store import load_model, save_model

LAYERS = 4  # of which the mean is taken, the last ones
AT_ONCE = 32  # sentences that the encoder reads together
ASKED = 32 * AT_ONCE  # sentences that it is asked about, of which it reads those of like length together
SETTINGS: Shape = {"tanglewood": str, "contextual": {**SHAPE, "layers": PLAIN}}
NEEDED = "vectors of encoders need PyTorch and transformers: pip install 'tanglewood[contextual]'"


class Encoder:
    """An encoder of the package transformers: a name that it knows, or a folder."""

    def __init__(self, name: str, device: str = "") -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ImportError:
            raise ConfigError(NEEDED) from None
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        self._torch = torch
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(name, use_fast=True, add_prefix_space=True)
            self._model = AutoModel.from_pretrained(name, dtype=torch.float32).to(self._device).eval()
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"{name}: no encoder that transformers can load: {reason}") from None
        if not self._tokenizer.is_fast:
            raise ConfigError(f"{name}: its tokenizer does not say which word a piece belongs to (no fast tokenizer)")
        self.width = int(self._model.config.hidden_size)
        self._most = min(int(getattr(self._tokenizer, "model_max_length", 512)), 4096)

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Return a row for each word of each sentence."""
        order = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
        found: dict[int, Floats] = {}
        for begin in range(0, len(order), AT_ONCE):
            some = order[begin : begin + AT_ONCE]
            found |= zip(some, self._vectors([sentences[place] for place in some]), strict=True)
        return [found[place] for place in range(len(sentences))]

    def _vectors(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        torch = self._torch
        pieces = self._tokenizer(
            [list(forms) for forms in sentences],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=self._most,
            return_tensors="pt",
        )
        with torch.no_grad():
            output = self._model(**pieces.to(self._device), output_hidden_states=True)
        rows = torch.stack(output.hidden_states[-LAYERS:]).mean(0).float().cpu().numpy()
        return [_by_words(rows[i], pieces.word_ids(i), len(forms)) for i, forms in enumerate(sentences)]


def _by_words(rows: Floats, words: Sequence[int | None], count: int) -> Floats:
    """Return the mean of the rows of each word; zeros for words without pieces, as beyond the longest text."""
    sums = np.zeros((count, rows.shape[1]), np.float32)
    sizes = np.zeros(count, np.float32)
    for row, word in zip(rows, words, strict=True):
        if word is not None:
            sums[word] += row
            sizes[word] += 1
    sums /= np.maximum(sizes, 1)[:, None]
    return sums


class EncoderProcess:
    """An encoder in a process of its own, so that nothing of PyTorch is loaded here; ends with this one."""

    def __init__(self, name: str, device: str = "") -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, name, device), daemon=True)
        self._process.start()
        theirs.close()
        self.width: int = self._answer()

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Return a row for each word of each sentence."""
        self._pipe.send([list(forms) for forms in sentences])
        found: list[Floats] = self._answer()
        return found

    def _answer(self) -> Any:  # noqa: ANN401 - of two kinds
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise ConfigError(f"the encoder's process ended with status {self._process.exitcode}") from None
        if isinstance(answer, TanglewoodError):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(5)
        self._process.kill()


def _serve(pipe: Connection, name: str, device: str) -> None:
    """Answer requests until there are no more."""
    try:
        encoder = Encoder(name, device)
        pipe.send(encoder.width)
        while True:
            pipe.send(encoder(pipe.recv()))
    except TanglewoodError as error:
        pipe.send(error)
    except (EOFError, KeyboardInterrupt):
        pass


def save_vectors(path: str | Path, encoder: str, width: int, sentences: Iterable[tuple[Sequence[str], Floats]]) -> int:
    """Write the vectors of sentences to a file, each sentence once; return how many there are."""
    rows: dict[int, Any] = {}
    starts = [0]
    for forms, vectors in sentences:
        key = key_of(forms)
        if key not in rows:
            rows[key] = vectors.astype(np.float16).view(np.int16)
            starts.append(starts[-1] + len(forms))
    arrays = {
        "vectors": np.concatenate([*rows.values()]) if rows else np.zeros((0, width), np.int16),
        "starts": np.array(starts, np.int32),
        "keys": np.array([*rows], np.int64),
    }
    save_model(
        path,
        arrays,
        {"tanglewood": __version__, "contextual": {"encoder": encoder, "width": width, "layers": LAYERS}},
    )
    return len(rows)


def load_vectors(path: str | Path) -> tuple[Contextual, KeptVectors]:
    """Read a file of vectors."""
    arrays, settings = load_model(path)
    try:
        if "contextual" not in settings:
            raise ModelError("not a file of an encoder's vectors, as tanglewood embed makes them")
        check_settings(settings, SETTINGS)
        about = settings["contextual"]
        kept = KeptVectors.load(str(path), arrays, about["width"])
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return Contextual(about["encoder"], about["width"], kept), kept


class _Several:
    """Sources one after the other: the first that has a sentence counts."""

    def __init__(self, sources: Sequence[KeptVectors]) -> None:
        self._sources = sources

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        return [self._one(forms) for forms in sentences]

    def _one(self, forms: Sequence[str]) -> Floats:
        for source in self._sources:
            if source.has(forms):
                return source([forms])[0]
        return self._sources[-1]([forms])[0]  # says that it has none


@lru_cache(maxsize=2)
def contextual_of(names: tuple[str, ...]) -> Contextual:
    """Return the vectors of some files, or of an encoder, which is started."""
    if any(not Path(name).is_file() for name in names):
        if len(names) > 1:
            raise ConfigError(f"{', '.join(names)}: several files of vectors, or one encoder, but not both")
        process = EncoderProcess(names[0])
        return Contextual(names[0], process.width, process, names)
    found = [load_vectors(name) for name in names]
    first = found[0][0]
    for name, (other, _) in zip(names, found, strict=True):
        if other.settings() != first.settings():
            raise ConfigError(f"{name}: vectors of {other.encoder}, but {names[0]} has those of {first.encoder}")
    return Contextual(first.encoder, first.width, _Several([kept for _, kept in found]), names)


def embedded(source: Source, sentences: Iterable[Sequence[str]]) -> Iterator[tuple[Sequence[str], Floats]]:
    """Yield sentences and their vectors."""
    some: list[Sequence[str]] = []
    for forms in sentences:
        some.append(forms)
        if len(some) == ASKED:
            yield from zip(some, source(some), strict=True)
            some = []
    if some:
        yield from zip(some, source(some), strict=True)


def attach(name: str, *models: object) -> None:
    """Let models that have learnt from an encoder's vectors take those of what they parse from a file or an encoder."""
    found = contextual_of((name,))
    needed = [model.vocabulary.contextual for model in models if hasattr(model, "vocabulary")]
    if not any(needed):
        raise ConfigError(f"contextual={name!r}: the model has not learnt from vectors of an encoder")
    for contextual in filter(None, needed):
        if (contextual.width, Path(contextual.encoder).name) != (found.width, Path(found.encoder).name):
            raise ConfigError(
                f"{name}: vectors of {found.encoder}, {found.width} numbers each; the model has learnt from those of "
                f"{contextual.encoder}, {contextual.width} each"
            )
        contextual.source = found.source
