"""The network: embeddings and a small bidirectional LSTM over the sentence, a hidden layer over the configuration.

Everything runs on NumPy and compiled code (learners/network/core.py, ml/vectors.h); PyTorch is not needed. Sizes and
training follow the recipe of a small network that parses as well as a large one: see docs/training.md.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanglewood.checks import check_arrays, check_settings
from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ConfigError
from tanglewood.learners.base import Capabilities, Example, quiet
from tanglewood.learners.network.core import N_DISTANCES, N_FLAGS, NetworkCore, NetworkTrainer
from tanglewood.ml.adam import Adam
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.encoder import (
    OUTPUT,
    Encoder,
    Floats,
    Rng,
    Shapes,
    batch_for,
    glorot,
    new_encoder,
    normal,
    number_words,
    packed,
    packed_arrays,
    random_batches,
    rounded,
    sizes_in,
    unpacked,
)
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.products import products_with
from tanglewood.ml.vocabulary import Numbers, Vocabulary
from tanglewood.ml.words import Word, words_of
from tanglewood.treebank.sentence import Sentence

# What the network embeds of a word: names of ml/word_features.py, and the widths of their vectors.
EMBEDDED = {"lower": 64, "lemma": 64, "upos": 16, "xpos": 16, "feats": 32, "affixes": 32}
SPARSE = tuple(f"embed.{feature}" for feature in EMBEDDED)
# Most nodes, but for a longer sentence, whose products with the slots are computed together: they still lie in the
# cache when used.
PAGE = 128
KERNEL = (  # parameters whose gradients NetworkTrainer sums
    *("hidden.bias", "hidden.empty", "hidden.labels", "hidden.distance", "hidden.flags"),
    *("move.weight", "move.bias", "label.weight", "label.bias"),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the layers."""

    word: int = 128
    lstm: int = 64
    layers: int = 1
    hidden: int = 256


def new_parameters(
    sizes: Sizes, vocabulary: Vocabulary, system: TransitionSystem, n_labels: int, rng: Rng
) -> dict[str, Floats]:
    """Return freshly initialized parameters."""
    encoder = (sizes.word, sizes.lstm, sizes.layers)
    parameters = new_encoder(EMBEDDED, vocabulary, encoder, rng)
    n_slots = len(system.slots)
    slot = normal(rng, np.sqrt(2 / (n_slots * sizes.word)), sizes.word, n_slots * sizes.hidden)
    parameters[OUTPUT] = slot
    parameters["hidden.bias"] = np.zeros(sizes.hidden, np.float32)
    parameters["hidden.empty"] = normal(rng, 0.05, n_slots, sizes.hidden)
    parameters["hidden.labels"] = normal(rng, 0.05, len(system.label_slots), n_labels + 2, sizes.hidden)
    parameters["hidden.distance"] = normal(rng, 0.05, N_DISTANCES, sizes.hidden)
    parameters["hidden.flags"] = normal(rng, 0.05, N_FLAGS, sizes.hidden)
    n_sets = sum(move.labelled for move in system.moves)
    parameters["move.weight"] = glorot(rng, system.n_moves, sizes.hidden)
    parameters["move.bias"] = np.zeros(system.n_moves, np.float32)
    parameters["label.weight"] = glorot(rng, n_sets, sizes.hidden, n_labels)
    parameters["label.bias"] = np.zeros((n_sets, n_labels), np.float32)
    return parameters


def vocabulary_of(sentences: Sequence[Sentence]) -> Vocabulary:
    """Number what the network embeds; affixes that occur once are left out."""
    return Vocabulary.of((word for sentence in sentences for word in words_of(sentence)), EMBEDDED, {"affixes": 2})


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """How the network is trained; the defaults are right for a Universal Dependencies treebank."""

    epochs: int = 0  # 0: 25 for a small treebank, fewer for a large one
    layers: int = 1  # of LSTMs
    batch_words: int = 0  # 0: 100 for a small treebank, more for a large one
    rate: float = 2e-3
    last_rate: float = 0.02  # share of the rate that is left at the end
    explore: float = 0.3  # probability of following the model's own move, from the second epoch on
    drop_input: float = 0.2
    drop_context: float = 0.3
    drop_hidden: float = 0.35
    drop_form: float = 0.4  # a form seen n times is taken for unknown with probability 0.4 / (0.4 + n)
    drop_lemma: float = 0.3
    # The likeliest move is seldom a rare one, such as SWAP: few crossing arcs are found, though most of those found are
    # right. So the score of a move is raised by this share of -log of how frequent the move is.
    favour_rare: float = 0.2

    def __post_init__(self) -> None:
        for name in ("drop_input", "drop_context", "drop_hidden"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it should be 0 or more and less than 1")
        if not 0 <= self.explore <= 1:
            raise ConfigError(f"explore={self.explore}: a probability is between 0 and 1")
        if not 0 <= self.favour_rare <= 1:
            raise ConfigError(f"favour_rare={self.favour_rare}: it should be between 0 (not at all) and 1")
        if self.layers < 1:
            raise ConfigError(f"layers={self.layers}: there should be 1 or more")
        if min(self.epochs, self.batch_words) < 0 or self.rate <= 0:
            raise ConfigError("epochs and batch_words should be 0 (chosen for you) or more, the rate more than 0")

    def resolved(self, words: int) -> NetworkOptions:
        """Return the options, with those left open chosen for this many words of training data."""
        return replace(
            self,
            epochs=self.epochs or max(12, min(25, 3_000_000 // max(words, 1))),
            batch_words=self.batch_words or batch_for(words),
        )


class NetworkWorkspace:
    """The rows of some sentences and a scorer of their states, for one thread."""

    def __init__(self, model: NetworkModel, *, reproducible: bool = False) -> None:
        kernels = kernels_for(reproducible=reproducible)
        self._words = Contexts(model.vocabulary, model.parameters, kernels)
        self._slots = products_with(model.parameters[OUTPUT], kernels)
        self._core = NetworkCore(model.parameters, model.actions, kernels)
        self._contexts = np.zeros((0, 0), np.float32)
        self._offsets = [0]  # where each sentence begins in them, and where the last one ends
        self._page = np.zeros((0, model.parameters[OUTPUT].shape[1]), np.float32)
        self._page_begin = self._page_end = 0

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Compute the vectors of all nodes in their context."""
        self._contexts, self._offsets = self._words.of(sentences)
        self._page_begin = self._page_end = 0

    def turn_to(self, index: int) -> MoveScorer:
        """Return the scorer, set to one of the encoded sentences."""
        begin, end = self._offsets[index : index + 2]
        if begin < self._page_begin or end > self._page_end:
            self._turn_page(begin, end)
        self._core.use(self._page, begin - self._page_begin)
        return self._core

    def _turn_page(self, begin: int, least: int) -> None:
        """Compute the products with the slots of the nodes of whole sentences, at least from ``begin`` to ``least``."""
        end = max(least, self._offsets[bisect_right(self._offsets, begin + PAGE) - 1])
        size = end - begin
        if size > len(self._page):
            self._page = np.empty((size, self._page.shape[1]), np.float32)
        self._slots.write(self._contexts[begin:end], self._page)
        self._page_begin, self._page_end = begin, end


class NetworkModel:
    """Learnt parameters and the vocabulary they belong to."""

    def __init__(self, actions: Actions, vocabulary: Vocabulary, parameters: Mapping[str, Floats]) -> None:
        self.actions = actions
        self.vocabulary = vocabulary
        self.parameters = parameters

    @property
    def capabilities(self) -> Capabilities:
        """The model scores moves by their log-probabilities, up to a constant."""
        return Capabilities(scores_moves=True)

    def workspace(self, *, reproducible: bool = False) -> NetworkWorkspace:
        """Return a workspace for one thread."""
        return NetworkWorkspace(self, reproducible=reproducible)

    def arrays(self) -> Mapping[str, Any]:
        """Return the parameters, with embeddings packed."""
        return packed(self.parameters)

    def settings(self) -> dict[str, Any]:
        """Return the vocabulary: values in the order of their numbers."""
        return {"vocabulary": self.vocabulary.settings()}

    @classmethod
    def load(cls, actions: Actions, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> NetworkModel:
        """Rebuild the model, and check that everything has the right size."""
        check_settings(settings, {"vocabulary": dict})
        vocabulary = Vocabulary.load(settings["vocabulary"], EMBEDDED)
        word, lstm, layers = sizes_in(arrays)
        hidden = len(arrays["hidden.bias"]) if "hidden.bias" in arrays else 0
        sizes = replace(Sizes(), word=word, lstm=lstm, layers=layers, hidden=hidden)
        wanted = new_parameters(sizes, vocabulary, actions.system, actions.n_labels, Shapes())
        check_arrays(arrays, packed_arrays(wanted))
        return cls(actions, vocabulary, unpacked(arrays))


class NetworkLearner:
    """Learns a network, one epoch at a time, also from the states that its own errors lead to."""

    def __init__(self, actions: Actions, vocabulary: Vocabulary, options: NetworkOptions, seed: int) -> None:
        self.actions = actions
        self.vocabulary = vocabulary
        self.options = options
        self._rng = np.random.default_rng(seed)
        self._parameters = new_parameters(
            Sizes(layers=options.layers), vocabulary, actions.system, actions.n_labels, self._rng
        )
        self._gradients = {name: np.zeros_like(p) for name, p in self._parameters.items() if name not in SPARSE}
        self._adam = Adam(self._parameters)
        self._encoder = Encoder(self._parameters, EMBEDDED)
        self._trainer = NetworkTrainer(
            self._parameters, self._gradients, actions, dropout=options.drop_hidden, seed=seed
        )
        self._search = Search(actions, self._trainer)
        self._epochs = 0
        self._known: dict[Word, Numbers] = {}
        self.tell = quiet
        unseen = {"lower": options.drop_form, "lemma": options.drop_lemma}  # the first two columns of a batch
        self._unknown = [
            np.array([share / (share + count) if share else 0.0 for count in vocabulary.counts[field]])
            for field, share in unseen.items()
        ]

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: NetworkOptions,
        seed: int,
        *,
        stacked: bool = False,
    ) -> NetworkLearner:
        """Return a learner that has seen the words of the training data, and nothing else."""
        return cls(actions, vocabulary_of(sentences), options, seed)

    def epoch(self, examples: Sequence[Example], oracle: Oracle) -> float:
        """Go through the examples once in random order; return the mean probability that right decisions lack."""
        options = self.options
        trainer = self._trainer
        trainer.explore = options.explore if self._epochs and oracle.explores else 0.0
        trainer.loss, trainer.n_states = 0.0, 0
        trainer.move_counts = array("i", bytes(4 * self.actions.system.n_moves))
        lengths = [len(example.words) for example in examples]
        batches = list(random_batches(lengths, options.batch_words, self._rng))
        for number, batch in enumerate(batches):
            done = (self._epochs + number / len(batches)) / options.epochs
            self._adam.begin(options.rate * (1 - (1 - options.last_rate) * min(done, 1)))
            self._learn([examples[index] for index in batch], oracle)
        self._epochs += 1
        return trainer.loss / max(trainer.n_states, 1)

    def _learn(self, examples: Sequence[Example], oracle: Oracle) -> None:
        options = self.options
        batch = number_words(self.vocabulary, [example.words for example in examples], self._known)
        for column, unknown in enumerate(self._unknown):
            numbers = batch.single[:, column]
            numbers[self._rng.random(len(numbers)) < unknown[numbers]] = 0
        rows = self._encoder.forward(batch, self._rng, options.drop_input, options.drop_context)
        d_rows = np.zeros_like(rows)
        for gradient in self._gradients.values():
            gradient.fill(0)
        self._trainer.use(rows, 0)
        self._trainer.use_gradient(d_rows)
        for example, offset in zip(examples, batch.offsets, strict=True):
            example.bind(oracle)
            self._trainer.learn(self._search, oracle, example.state(), offset)
        n_words = np.float32(sum(len(example.words) for example in examples))
        d_rows /= n_words
        for name in KERNEL:
            self._gradients[name] /= n_words
        for name, numbers, gradients in self._encoder.backward(d_rows, self._gradients):
            self._adam.update_rows(name, numbers, gradients)
        for name, gradient in self._gradients.items():
            self._adam.update(name, gradient)

    def model(self) -> NetworkModel:
        """Return the averaged model as of now."""
        averaged = rounded(self._adam.average(SPARSE))
        counts = np.asarray(self._trainer.move_counts) + 1
        averaged["move.bias"] -= (self.options.favour_rare * np.log(counts / counts.sum())).astype(np.float32)
        return NetworkModel(self.actions, self.vocabulary, averaged)

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return everything that learning depends on."""
        adam = self._adam
        groups = {"value": self._parameters, "first": adam.first, "second": adam.second, "averaged": adam.averaged}
        arrays: dict[str, Any] = {f"{group}/{k}": v for group, values in groups.items() for k, v in values.items()}
        arrays |= {f"touched/{name}": adam.touched[name] for name in SPARSE}
        data = {
            "epochs": self._epochs,
            "steps": adam.steps,
            "rng": self._rng.bit_generator.state,
            "trainer": self._trainer.rng,
            "move_counts": list(self._trainer.move_counts),
        }
        return arrays, data

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        adam = self._adam
        groups: dict[str, Mapping[str, Any]] = {
            "value": self._parameters,
            "first": adam.first,
            "second": adam.second,
            "averaged": adam.averaged,
        }
        for group, values in {**groups, "touched": adam.touched}.items():
            for name, value in values.items():
                if f"{group}/{name}" in arrays:
                    value[...] = np.asarray(arrays[f"{group}/{name}"])
        self._epochs = data["epochs"]
        adam.steps = data["steps"]
        self._rng.bit_generator.state = data["rng"]
        self._trainer.rng = data["trainer"]
        self._trainer.move_counts = array("i", data["move_counts"])
