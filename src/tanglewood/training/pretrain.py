"""Pretraining: an encoder that has read much text before it sees a treebank; interrupted, it goes on where it was."""

from __future__ import annotations

import hashlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tanglewood.errors import ConfigError, ModelError
from tanglewood.measure.clock import minutes
from tanglewood.ml.encoder import Ints
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.language_model import KNOWN, LanguageModel, LanguageOptions, Text, Types, batches
from tanglewood.ml.threads import one_matrix_thread
from tanglewood.pipeline import load
from tanglewood.store import load_model, save_model
from tanglewood.training.config import options_of
from tanglewood.training.pretrained import save_knowledge
from tanglewood.training.raw_text import read_texts
from tanglewood.training.session import check_left, check_output

REPORTS = 50  # how often progress is told
CHECKPOINTS = 10  # how often what was learnt so far is written
MOST_WORDS = 200_000_000  # that are read; whatever follows is left out
HELD_OUT = 300  # most sentences whose perplexity is measured
WORSE = 1.05  # how much larger than it was before the perplexity may be at the end


class Learning(Protocol):
    """Learns an encoder, on whatever machine."""

    def learn(self, sentences: Sequence[Ints], done: float) -> tuple[float, int]:
        """Learn from a batch; return the sum of losses, and of how many words."""

    def perplexity(self, sentences: Sequence[Ints]) -> float:
        """Return the perplexity of text that was not learnt from."""

    def knowledge(self) -> Knowledge:
        """Return the encoder as of now."""

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return everything that learning depends on."""

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""


@dataclass(frozen=True, slots=True)
class PretrainProgress:
    """How far pretraining is: words seen and to be seen, the mean loss since the last time, and how long it takes yet.

    The perplexity, of text that is not learnt from, is measured now and then.
    """

    words: int
    of: int
    loss: float
    seconds: float
    seconds_left: float
    perplexity: float | None = None

    def __str__(self) -> str:
        share = f"{self.words:,} of {self.of:,} words  loss {self.loss:.3f}"
        held = "" if self.perplexity is None else f"  perplexity {self.perplexity:.1f}"
        return f"{share}{held}  {self.words / max(self.seconds, 1e-9):,.0f} words/s, {minutes(self.seconds_left)} left"


class Pretraining:
    """A run from text to an encoder, which is saved as ``output``.

    Until then what is learnt is in OUTPUT.training, from where a run with ``resume`` goes on; one with ``restart``
    removes it.
    """

    def __init__(
        self,
        files: Sequence[str | Path],
        output: str | Path | None = None,
        *,
        options: LanguageOptions | None = None,
        tokenizer: str | Path | None = None,
        device: str = "cpu",
        seed: int = 1,
        resume: bool = False,
        restart: bool = False,
        warn: Callable[[str], object] = warnings.warn,
    ) -> None:
        check_output(output)
        check_left(output, resume=resume, restart=restart)
        if not isinstance(seed, int) or seed < 0:
            raise ConfigError(f"seed={seed!r}: it should be a whole number, 0 or more")
        self.files = [str(file) for file in files]
        self.output = None if output is None else Path(output)
        options = options or LanguageOptions()
        self.device = device
        self.seed = seed
        self.resume = resume
        self.warn = warn
        pipeline = None if tokenizer is None else load(tokenizer)
        if pipeline is not None and pipeline.tokenizer is None:
            raise ConfigError(f"{tokenizer}: the model has no tokenizer; it should be one of train --pipeline")
        text = read_texts(self.files, None if pipeline is None else pipeline.tokenizer, MOST_WORDS)
        self._text, self._held = _divided(text, seed)
        self.options = options.resolved(len(self._text.tokens))
        self.description = {
            "files": [Path(file).name for file in self.files],
            "tokenizer": "" if tokenizer is None else Path(tokenizer).name,
            "words": len(text.tokens),
            "text_sha256": _fingerprint(text),
            "seed": seed,
            "device": device,
            "options": asdict(self.options),
        }
        self._types = Types.of(self._text, self.options)
        self._learner = _learner(self._types, self.options, seed, device)

    @property
    def _checkpoint(self) -> Path:
        return Path(f"{self.output}.training")

    @property
    def can_resume(self) -> bool:
        """Whether a checkpoint lies beside the output."""
        return self.output is not None and self._checkpoint.exists()

    def in_words(self) -> str:
        """Say what is learnt from, and what."""
        types = self._types
        return (
            f"{len(self._text.tokens):,} words of {len(self._text.types):,} different forms; vectors of "
            f"{len(types.values[KNOWN]):,}, of which {len(types.chances):,} are predicted; "
            f"{len(self._held):,} sentences are held out"
        )

    def run(self) -> Iterator[PretrainProgress]:
        """Learn, and yield the progress now and then; at the end the encoder is saved."""
        options, learner = self.options, self._learner
        seen = passes = skipped = 0
        least: float | None = None  # perplexity so far
        if self.resume and self.can_resume:
            seen, passes, skipped, least = self._restored()
        elif self.output is not None:
            self._checkpoint.unlink(missing_ok=True)
        began, begun_at = time.perf_counter(), seen
        told, written = seen, seen
        losses, predicted = 0.0, 0
        for number in count(passes):
            order = np.random.default_rng([self.seed, number])
            for place, batch in enumerate(batches(self._text, options.batch_words, order)):
                if number == passes and place < skipped:
                    continue
                if seen >= options.words:
                    break
                loss, n = learner.learn(batch, seen / options.words)
                losses, predicted = losses + loss, predicted + n
                seen += sum(map(len, batch))
                ended = seen >= options.words
                checkpoint = ended or (seen - written) * CHECKPOINTS >= options.words
                if ended or (seen - told) * REPORTS >= options.words:
                    perplexity = learner.perplexity(self._held) if checkpoint and self._held else None
                    if perplexity is not None:
                        least = min(perplexity, least or perplexity)
                    seconds = (time.perf_counter() - began) * seen / max(seen - begun_at, 1)
                    left = max(options.words - seen, 0) * seconds / seen
                    yield PretrainProgress(seen, options.words, losses / max(predicted, 1), seconds, left, perplexity)
                    if ended and perplexity is not None and least is not None and perplexity > WORSE * least:
                        self.warn(_learnt_by_heart(perplexity, least, seen / len(self._text.tokens)))
                    told, losses, predicted = seen, 0.0, 0
                    if checkpoint and not ended:
                        written = seen
                        self._write({"seen": seen, "passes": number, "batches": place + 1, "least": least})
            if seen >= options.words:
                break
        if self.output is not None:
            save_knowledge(self.output, learner.knowledge(), self.description)
            self._checkpoint.unlink(missing_ok=True)

    def knowledge(self) -> Knowledge:
        """Return the encoder as of now."""
        return self._learner.knowledge()

    def _write(self, place: Mapping[str, Any]) -> None:
        if self.output is None:
            return
        arrays, data = self._learner.state()
        try:
            save_model(self._checkpoint, arrays, {"pretraining": self.description, "place": place, "learner": data})
        except OSError as error:  # such as a full disk: what was learnt is still in memory
            self.warn(f"{self._checkpoint}: {error.strerror or error}; pretraining goes on without it")

    def _restored(self) -> tuple[int, int, int, float | None]:
        arrays, kept = load_model(self._checkpoint)
        if kept.get("pretraining") != self.description:
            raise ModelError(
                f"{self._checkpoint}: the checkpoint is of another run (other text, options or seed); "
                "--restart removes it"
            )
        self._learner.restore(arrays, kept["learner"])
        place = kept["place"]
        return place["seen"], place["passes"], place["batches"], place["least"]


def _learnt_by_heart(perplexity: float, least: float, times: float) -> str:
    return (
        f"the perplexity of held-out text was {least:.0f} and is {perplexity:.0f} now: the text, which was read "
        f"{times:.0f} times, was learnt by heart, and a parser that begins with that is worse for it; fewer words "
        "(--words) or more text would be better"
    )


def _learner(types: Types, options: LanguageOptions, seed: int, device: str) -> Learning:
    if device == "cpu":
        return LanguageModel(types, options, seed)
    from tanglewood.training.pretrain_torch import TorchLanguageModel

    return TorchLanguageModel(types, options, seed, device)


def _divided(text: Text, seed: int) -> tuple[Text, list[Ints]]:
    """Return the text without a hundredth of its sentences, and these."""
    n = len(text.starts) - 1
    held = np.sort(np.random.default_rng([seed, n]).permutation(n)[: min(HELD_OUT, n // 100)])
    sentences = [text.tokens[text.starts[i] : text.starts[i + 1]] for i in held.tolist()]
    kept = np.ones(n, bool)
    kept[held] = False
    lengths = np.diff(text.starts)
    tokens = text.tokens[np.repeat(kept, lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths[kept])])
    return Text(text.types, text.counts, tokens, starts), sentences


def _fingerprint(text: Text) -> str:
    digest = hashlib.sha256("\n".join(text.types).encode())
    digest.update(text.tokens.tobytes())
    digest.update(text.starts.tobytes())
    return digest.hexdigest()


def options_from(settings: Mapping[str, Any]) -> LanguageOptions:
    """Return the options with these names and values, checked."""
    options: LanguageOptions = options_of(LanguageOptions, settings, "pretraining")
    return options


def pretrain(
    files: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    tokenizer: str | Path | None = None,
    device: str = "cpu",
    seed: int = 1,
    resume: bool = False,
    restart: bool = False,
    progress: Callable[[PretrainProgress], object] | bool = False,
    **settings: Any,  # noqa: ANN401 - of many types
) -> None:
    """Learn an encoder from raw text, and write it to a file for ``train(..., pretrained=output)``.

    Without a ``tokenizer`` (a model file, or "bundled") every line is a sentence, and spaces separate its words.
    ``settings`` are those of `LanguageOptions`, such as ``words=20_000_000``. ``progress`` is called with a record now
    and then; True writes lines to standard error. What an interrupted run has left needs ``resume`` or ``restart``.
    """
    named = [files] if isinstance(files, str | Path) else list(files)
    with one_matrix_thread():
        run = Pretraining(
            named,
            output,
            options=options_from(settings),
            tokenizer=tokenizer,
            device=device,
            seed=seed,
            resume=resume,
            restart=restart,
        )
        for record in run.run():
            if progress is True:
                sys.stderr.write(f"{record}\n")
            elif callable(progress):
                progress(record)
