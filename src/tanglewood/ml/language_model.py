"""An encoder learnt from raw text: each word is predicted from the words before it and those after it.

The forward half of a node's vector has seen nothing but that node and those before it, the backward half nothing but it
and those after it. So the forward half of the node before a word and the backward half of the node after it tell what
the word might be, without having seen it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanglewood.errors import ConfigError
from tanglewood.ml.adam import Adam, falling, follow
from tanglewood.ml.encoder import EMBED, Batch, Encoder, Floats, Ints, glorot, new_encoder
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.lexicon import Lexicon, folded
from tanglewood.ml.vocabulary import Vocabulary
from tanglewood.ml.word_features import FEATURES
from tanglewood.ml.words import untagged

KNOWN = "known"  # the feature that becomes the lexicon
WIDTHS = {"affixes": 32, "short_shape": 16, KNOWN: 64}
MOST_VALUES = {"affixes": 10_000, "short_shape": 200}
SIZES = (128, 64, 1)  # of the vectors of words and the outputs of LSTMs, and the number of layers
MOST = 10**12  # of any number among the options
LONGEST = 100  # words; longer sentences are cut
USUAL_WORDS, MOST_PASSES = 10_000_000, 10
UNSEEN, ROOT = 0, 1  # types of words that are not numbered, and of node 0


@dataclass(frozen=True, slots=True)
class LanguageOptions:
    """How an encoder is learnt from text."""

    words: int = 0  # seen in all passes together; 0: ten million, but the text at most ten times
    forms: int = 40_000  # that have vectors of their own
    predicted: int = 30_000  # forms that are predicted
    samples: int = 2_000  # wrong forms that the right one is compared with
    batch_words: int = 1_000
    rate: float = 2e-3
    last_rate: float = 0.02  # share of the rate that is left at the end
    drop_input: float = 0.1
    drop_form: float = 0.08  # share of the forms that are hidden
    latin: bool = False  # forms are the same without accents and with u and i for v and j

    def __post_init__(self) -> None:
        for name in ("words", "forms", "predicted", "samples", "batch_words"):
            least = 0 if name == "words" else 1
            if not least <= getattr(self, name) <= MOST:
                raise ConfigError(f"{name}={getattr(self, name)}: it should be between {least} and {MOST:,}")
        for name in ("drop_input", "drop_form"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it should be 0 or more and less than 1")
        for name in ("rate", "last_rate"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it should be more than 0, and 1 or less")

    def resolved(self, words: int) -> LanguageOptions:
        """Return the options for a text of so many words: a text that is read too often is learnt by heart."""
        return self if self.words else replace(self, words=min(USUAL_WORDS, MOST_PASSES * words))


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences as numbers of their types; what has no number has UNSEEN."""

    types: Sequence[str]  # distinct forms, from number 2 on
    counts: NDArray[np.int64]  # of all numbers
    tokens: Ints  # of all sentences, one after the other
    starts: NDArray[np.int64]  # of each sentence, and the end of the last


@dataclass(frozen=True, slots=True)
class Types:
    """What is known about each type of a text: the numbers of its features, and that by which it is predicted."""

    values: dict[str, list[str]]  # of each feature, in the order of their numbers, from number 2 on
    numbers: dict[str, Ints]  # of each type: (types, values)
    predicted: Ints  # of each type, or -1
    chances: NDArray[np.float64]  # of drawing each predicted form

    @classmethod
    def of(cls, text: Text, options: LanguageOptions) -> Types:
        """Count the values of all types; the most frequent have numbers."""
        values: dict[str, list[str]] = {}
        numbers: dict[str, Ints] = {}
        totals: Mapping[str, int] = {}
        for feature, most in ((name, MOST_VALUES.get(name, options.forms)) for name in WIDTHS):
            found = [_values_of(feature, form, latin=options.latin) for form in text.types]
            totals = _totals(found, text.counts[2:].tolist())
            kept = sorted(totals, key=lambda value: (-totals[value], value))[:most]
            values[feature] = kept
            known = {value: number for number, value in enumerate(kept, 2)}
            width = max(FEATURES[feature].several, 1) if feature in FEATURES else 1
            rows = [[UNSEEN] * width, [ROOT] * width, *([known.get(value, 0) for value in row] for row in found)]
            numbers[feature] = np.array(rows, np.int32)
        known_forms = numbers[KNOWN][:, 0]
        predicted = known_forms - 2
        predicted[(known_forms < 2) | (predicted >= options.predicted)] = -1
        frequency = np.array([totals[form] for form in values[KNOWN][: options.predicted]], np.float64) ** 0.75
        return cls(values, numbers, predicted, frequency / max(frequency.sum(), 1))


def _values_of(feature: str, form: str, *, latin: bool) -> list[str]:
    return [folded(form, latin=latin)] if feature == KNOWN else FEATURES[feature].values(untagged(form))


def _totals(found: Sequence[Sequence[str]], counts: Sequence[int]) -> dict[str, int]:
    """Return how often each value occurs."""
    totals: dict[str, int] = {}
    for row, count in zip(found, counts, strict=True):
        for value in row:
            totals[value] = totals.get(value, 0) + count
    return totals


def batches(text: Text, words: int, rng: np.random.Generator) -> Iterator[list[Ints]]:
    """Yield all sentences in random order, long ones cut, in batches of about as many words."""
    batch: list[Ints] = []
    size = 0
    for index in rng.permutation(len(text.starts) - 1).tolist():
        tokens = text.tokens[text.starts[index] : text.starts[index + 1]]
        for begin in range(0, len(tokens), LONGEST):
            batch.append(tokens[begin : begin + LONGEST])
            size += len(batch[-1])
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class LanguageModel:
    """Learns an encoder and a layer that predicts forms, a batch of sentences at a time."""

    def __init__(self, types: Types, options: LanguageOptions, seed: int) -> None:
        self.types = types
        self.options = options
        self._rng = np.random.default_rng(seed)
        self._parameters = new_parameters(types, self._rng)
        self._sparse = tuple(name for name in self._parameters if name.startswith((EMBED, "predict.")))
        self._gradients = {n: np.zeros_like(p) for n, p in self._parameters.items() if n not in self._sparse}
        self._adam = Adam(self._parameters)
        self._encoder = Encoder(self._parameters, types.values)
        self._cumulative = np.cumsum(types.chances)

    def learn(self, sentences: Sequence[Ints], done: float) -> tuple[float, int]:
        """Learn from a batch, when this share of all is done; return the sum of losses, and of how many words."""
        options = self.options
        self._adam.begin(falling(options.rate, options.last_rate, done))
        batch, targets, before, after = self._read(sentences, options.drop_form)
        contexts = self._encoder.forward(batch, self._rng, options.drop_input, 0)
        for gradient in self._gradients.values():
            gradient.fill(0)
        wanted = np.flatnonzero(targets >= 0)
        seen = _around(contexts, before[wanted], after[wanted])
        loss, d_seen = self._predict(seen, targets[wanted])
        d_contexts = np.zeros_like(contexts)
        half = contexts.shape[1] // 2
        d_contexts[before[wanted], :half] += d_seen[:, :half]  # each node is before one word at most, and after one
        inside = after[wanted] >= 0
        d_contexts[after[wanted][inside], half:] += d_seen[inside, half:]
        follow(self._adam, self._encoder.backward(d_contexts, self._gradients), self._gradients)
        return loss, len(wanted)

    def _read(self, sentences: Sequence[Ints], drop: float) -> tuple[Batch, Ints, Ints, Ints]:
        """Return sentences as a batch, what is to be predicted of each node, and the nodes before and after it."""
        nodes = np.concatenate([part for tokens in sentences for part in (np.array([ROOT], np.int32), tokens)])
        lengths = [len(tokens) + 1 for tokens in sentences]
        numbers = self.types.numbers
        single = np.concatenate([numbers["short_shape"], numbers[KNOWN]], axis=1)[nodes]
        if drop:
            single[(self._rng.random(len(nodes)) < drop) & (nodes != ROOT), 1] = UNSEEN
        batch = Batch(lengths, single, {"affixes": numbers["affixes"][nodes]}, {})
        targets = self.types.predicted[nodes]
        before = np.arange(-1, len(nodes) - 1, dtype=np.int32)
        after = np.arange(1, len(nodes) + 1, dtype=np.int32)
        after[np.cumsum(lengths) - 1] = -1
        return batch, targets, before, after

    def _predict(self, seen: Floats, targets: Ints) -> tuple[float, Floats]:
        """Learn which forms are right, compared with some drawn at random; return the loss and the gradient of seen.

        The scores of forms are lowered by how likely they are to be drawn (Jean et al. 2015).
        """
        if not len(targets):
            return 0.0, np.zeros_like(seen)
        draws = np.searchsorted(self._cumulative, self._rng.random(self.options.samples), side="right")
        drawn = np.unique(np.minimum(draws, len(self._cumulative) - 1)).astype(np.int32)
        likely = np.log(self.types.chances * self.options.samples + 1e-30).astype(np.float32)
        weights, bias = self._parameters["predict.weight"], self._parameters["predict.bias"]
        right = np.einsum("ij,ij->i", seen, weights[targets]) + bias[targets, 0] - likely[targets]
        wrong = seen @ weights[drawn].T
        wrong += bias[drawn, 0] - likely[drawn]
        places = np.minimum(np.searchsorted(drawn, targets), len(drawn) - 1)
        rows = np.flatnonzero(drawn[places] == targets)
        wrong[rows, places[rows]] = -1e9  # drawn, but right
        most = np.maximum(right, wrong.max(axis=1))
        wrong -= most[:, None]
        np.exp(wrong, out=wrong)
        right = np.exp(right - most)
        total = right + wrong.sum(axis=1)
        loss = float(-np.log(np.maximum(right / total, 1e-30)).sum())
        wrong /= total[:, None] * np.float32(len(targets))
        d_right = ((right / total - 1) / np.float32(len(targets)))[:, None]
        d_seen = wrong @ weights[drawn] + d_right * weights[targets]
        numbers = np.concatenate([drawn, targets])
        gradients = np.concatenate([wrong.T @ seen, d_right * seen])
        biases = np.concatenate([wrong.sum(axis=0)[:, None], d_right])
        self._adam.update_rows("predict.weight", numbers, gradients)
        self._adam.update_rows("predict.bias", numbers, biases)
        return loss, d_seen

    def perplexity(self, sentences: Sequence[Ints]) -> float:
        """Return how many forms, on average, the right one is as likely as, on text that was not learnt from."""
        averaged = self._adam.average(self._sparse)
        encoder = Encoder(averaged, self.types.values)
        loss, words = 0.0, 0
        for begin in range(0, len(sentences), 50):
            batch, targets, before, after = self._read(sentences[begin : begin + 50], 0)
            contexts = encoder.forward(batch, self._rng, 0, 0)
            wanted = np.flatnonzero(targets >= 0)
            scores = _around(contexts, before[wanted], after[wanted]) @ averaged["predict.weight"].T
            scores += averaged["predict.bias"][:, 0]
            most = scores.max(axis=1)
            right = scores[np.arange(len(wanted)), targets[wanted]]
            loss += float((np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most - right).sum())
            words += len(wanted)
        return float(np.exp(loss / max(words, 1)))

    def knowledge(self) -> Knowledge:
        """Return the averaged encoder as of now."""
        return knowledge_of(self._adam.average(self._sparse), self.types, latin=self.options.latin)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return everything that learning depends on."""
        return self._adam.state(self._sparse), {"steps": self._adam.steps, "rng": self._rng.bit_generator.state}

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        self._adam.restore(arrays, data["steps"])
        self._rng.bit_generator.state = data["rng"]


def new_parameters(types: Types, rng: np.random.Generator) -> dict[str, Floats]:
    """Return fresh parameters of an encoder and of the layer that predicts."""
    numbered = {name: {value: n for n, value in enumerate(["", " ", *kept])} for name, kept in types.values.items()}
    parameters = new_encoder(WIDTHS, Vocabulary(numbered, {}), SIZES, rng)
    parameters["predict.weight"] = glorot(rng, len(types.chances), SIZES[0])
    parameters["predict.bias"] = np.zeros((len(types.chances), 1), np.float32)
    return parameters


def knowledge_of(parameters: Mapping[str, Floats], types: Types, *, latin: bool) -> Knowledge:
    """Return what such parameters know: the vectors of forms as a lexicon, the rest as it is."""
    lexicon = Lexicon.of(types.values[KNOWN], parameters[f"{EMBED}{KNOWN}"], latin=latin)
    others = {name: values for name, values in types.values.items() if name != KNOWN}
    kept = {
        name: value.copy()
        for name, value in parameters.items()
        if name != f"{EMBED}{KNOWN}" and not name.startswith("predict.")
    }
    return Knowledge(lexicon, others, kept)


def _around(contexts: Floats, before: Ints, after: Ints) -> Floats:
    """Return the forward halves of the nodes before and the backward halves of those after, zeros if there is none."""
    half = contexts.shape[1] // 2
    seen = contexts[before]
    seen[:, half:] = contexts[after, half:]
    seen[after < 0, half:] = 0
    return seen
