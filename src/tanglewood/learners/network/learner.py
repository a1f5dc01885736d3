"""The network: embeddings and a small bidirectional LSTM over the sentence, a hidden layer over the configuration.

Everything runs on NumPy and compiled code (learners/network/core.py, ml/vectors.h); PyTorch is not needed. Sizes and
training follow the recipe of a small network that parses as well as a large one: see docs/training.md.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tanglewood.checks import Real, Shape, check_arrays, check_settings
from tanglewood.core.actions import Actions
from tanglewood.core.oracle import Oracle
from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.system import TransitionSystem
from tanglewood.decoders.limits import MOST_ARC_WORDS
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.base import Capabilities, Example, Votes, quiet
from tanglewood.learners.network.arcs import WORDS, ArcHead, ArcTarget, ArcTrainer, NetworkArcs, new_arc_parameters
from tanglewood.learners.network.core import N_DISTANCES, N_FLAGS, NetworkCore, NetworkTrainer
from tanglewood.ml.adam import Adam, falling, follow
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.contextual import Contextual
from tanglewood.ml.encoder import (
    EMBED,
    OUTPUT,
    Batch,
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
    unknown_chances,
    unpacked,
)
from tanglewood.ml.kernels import Kernels, kernels_for
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.lexicon import taken_out
from tanglewood.ml.products import products_with
from tanglewood.ml.vocabulary import Numbers, Vocabulary
from tanglewood.ml.words import Word, words_of
from tanglewood.treebank.sentence import Sentence

# What the network embeds of a word: names of ml/word_features.py, and the widths of their vectors.
EMBEDDED = {"lower": 64, "lemma": 64, "upos": 16, "xpos": 16, "feats": 32, "affixes": 32}
EXTRA = {"short_shape": 16}  # what it embeds as well if the encoder was pretrained
# Most nodes, but for a longer sentence, whose products with the slots are computed together: they still lie in the
# cache when used.
PAGE = 128
ARC_PAGE = 512  # likewise nodes whose arcs are scored together
CALIBRATION: Shape = {"temperature": Real(least=1e-6), "calibrated": bool}  # settings of models that score arcs
VOTES: Shape = {"votes?": {name: Real(least=0.0) for name in Votes._fields}}  # of those that score moves, too
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
    hidden: int = 256  # of moves; 0: none are scored
    arcs: bool = True


def new_parameters(sizes: Sizes, vocabulary: Vocabulary, actions: Actions, rng: Rng) -> dict[str, Floats]:
    """Return fresh parameters: of the encoder, of moves if they have a hidden layer, and of arcs if they are scored."""
    parameters = new_encoder(EMBEDDED | EXTRA, vocabulary, (sizes.word, sizes.lstm, sizes.layers), rng)
    if sizes.hidden:
        parameters |= _new_moves(sizes, actions.system, actions.n_labels, rng)
    if sizes.arcs:
        parameters |= new_arc_parameters(sizes.word, len(actions.labels), rng)
    return parameters


def _new_moves(sizes: Sizes, system: TransitionSystem, n_labels: int, rng: Rng) -> dict[str, Floats]:
    parameters = {}
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


def vocabulary_of(sentences: Sequence[Sentence], knowledge: Knowledge | None = None) -> Vocabulary:
    """Number what the network embeds; affixes that occur once are left out."""
    words = (word for sentence in sentences for word in words_of(sentence))
    return Vocabulary.of(words, EMBEDDED, {"affixes": 2}, knowledge)


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
    drop_vectors: float = 0.05  # probability of taking a form that has a vector for one that has none
    # The likeliest move is seldom a rare one, such as SWAP: few crossing arcs are found, though most of those found are
    # right. So the score of a move is raised by this share of -log of how frequent the move is.
    favour_rare: float = 0.2
    arcs: bool = True  # whether arcs are scored beside the moves
    moves: bool = True  # false: arcs alone, a graph-based model

    def __post_init__(self) -> None:
        for name in ("drop_input", "drop_context", "drop_hidden", "drop_vectors"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: it should be 0 or more and less than 1")
        if not 0 <= self.explore <= 1:
            raise ConfigError(f"explore={self.explore}: a probability is between 0 and 1")
        if not 0 <= self.favour_rare <= 1:
            raise ConfigError(f"favour_rare={self.favour_rare}: it should be between 0 (not at all) and 1")
        if not (self.arcs or self.moves):
            raise ConfigError("arcs=false and moves=false leave nothing to learn")
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
        self._contexts = np.zeros((0, 0), np.float32)
        self._offsets = [0]  # where each sentence begins in them, and where the last one ends
        self._page_begin = self._page_end = 0
        self.temperature = model.temperature
        self.votes = model.votes
        if OUTPUT in model.parameters:
            self._slots = products_with(model.parameters[OUTPUT], kernels)
            self._core = model.core(kernels)
            self._page = np.zeros((0, model.parameters[OUTPUT].shape[1]), np.float32)
        if WORDS in model.parameters:
            self._arc_words = products_with(model.parameters[WORDS], kernels)
            self._arcs = ArcHead(model.parameters, model.actions, kernels)
            self._arcs_begin = self._arcs_end = 0  # sentences whose arcs are scored
            self._tables: list[Floats] = []

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Compute the vectors of all nodes in their context."""
        self._contexts, self._offsets = self._words.of(sentences)
        self._page_begin = self._page_end = 0
        self._arcs_begin = self._arcs_end = 0

    def score(self, index: int) -> NetworkArcs:
        """Return the scores of the arcs of one of the encoded sentences."""
        if not self._arcs_begin <= index < self._arcs_end:
            self._score_arcs(index)
        table = self._tables[index - self._arcs_begin]
        if not np.isfinite(table).all():
            raise ModelError("the model's weights are too large: they give arcs scores without bounds")
        return NetworkArcs(table, self._arcs, index - self._arcs_begin)

    def _score_arcs(self, first: int) -> None:
        """Score the arcs of some sentences from the first on, of about as many words as are worth the calls."""
        last = first + 1
        begin = self._offsets[first]
        while last + 1 < len(self._offsets) and self._offsets[last + 1] - begin <= ARC_PAGE:
            last += 1
        offsets = [offset - begin for offset in self._offsets[first : last + 1]]
        rows = np.empty((offsets[-1], self._arcs.parameters[WORDS].shape[1]), np.float32)
        self._arc_words.write(self._contexts[begin : begin + offsets[-1]], rows)
        self._tables = self._arcs.score(rows, offsets)
        self._arcs_begin, self._arcs_end = first, last

    def turn_to(self, index: int) -> MoveScorer:
        """Return the scorer, set to one of the encoded sentences."""
        begin, end = self._offsets[index : index + 2]
        if begin < self._page_begin or end > self._page_end:
            self._turn_page(begin, end)
        core: MoveScorer = self._core
        self._core.use(self._page, begin - self._page_begin)
        return core

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

    def __init__(
        self,
        actions: Actions,
        vocabulary: Vocabulary,
        parameters: Mapping[str, Floats],
        *,
        temperature: float = 1.0,
        calibrated: bool = False,
        votes: Votes | None = None,
    ) -> None:
        self.actions = actions
        self.vocabulary = vocabulary
        self.parameters = parameters
        self.temperature = temperature
        self.calibrated = calibrated
        self.votes = votes or Votes()

    new_parameters = staticmethod(new_parameters)

    def core(self, kernels: Kernels) -> Any:  # noqa: ANN401 - a MoveScorer with `use`
        """Return a scorer of moves."""
        return NetworkCore(self.parameters, self.actions, kernels)

    @property
    def capabilities(self) -> Capabilities:
        """The model scores moves by their log-probabilities, up to a constant, or arcs, or both."""
        moves = OUTPUT in self.parameters
        return Capabilities(
            scores_moves=moves, scores_arcs=WORDS in self.parameters, beam=moves, calibrated=self.calibrated
        )

    def workspace(self, *, reproducible: bool = False) -> NetworkWorkspace:
        """Return a workspace for one thread."""
        return NetworkWorkspace(self, reproducible=reproducible)

    def arrays(self) -> Mapping[str, Any]:
        """Return the parameters, with embeddings packed, and the lexicon's vectors."""
        lexicon = self.vocabulary.lexicon
        return packed(self.parameters) | ({} if lexicon is None else lexicon.arrays())

    def settings(self) -> dict[str, Any]:
        """Return the vocabulary (values in the order of their numbers), the temperature of arcs, the worth of votes."""
        settings: dict[str, Any] = {"vocabulary": self.vocabulary.settings()}
        if WORDS in self.parameters:
            settings |= {"temperature": self.temperature, "calibrated": self.calibrated}
            if OUTPUT in self.parameters:
                settings["votes"] = self.votes._asdict()
        if self.vocabulary.lexicon is not None:
            settings["lexicon"] = self.vocabulary.lexicon.settings()
        if self.vocabulary.contextual is not None:
            settings["contextual"] = self.vocabulary.contextual.settings()
        return settings

    @classmethod
    def load(cls, actions: Actions, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> NetworkModel:
        """Rebuild the model, and check that everything has the right size."""
        arcs = any(name.startswith("arc.") for name in arrays)
        moves = not arcs or any(name.startswith("hidden.") for name in arrays)
        known = {"vocabulary": dict, "lexicon?": dict, "contextual?": dict}
        check_settings(settings, known | (CALIBRATION if arcs else {}) | (VOTES if arcs and moves else {}))
        lexicon, arrays = taken_out(arrays, settings)
        contextual = Contextual.load(settings["contextual"]) if "contextual" in settings else None
        vocabulary = Vocabulary.load(settings["vocabulary"], EMBEDDED, EXTRA, lexicon, contextual)
        word, lstm, layers = sizes_in(arrays)
        hidden = (getattr(arrays.get("hidden.bias"), "shape", None) or (1,))[-1] if moves else 0
        sizes = Sizes(word=word, lstm=lstm, layers=layers, hidden=hidden, arcs=arcs)
        check_arrays(arrays, packed_arrays(cls.new_parameters(sizes, vocabulary, actions, Shapes())))
        calibration = {name: settings[name] for name in CALIBRATION} if arcs else {}
        return cls(actions, vocabulary, unpacked(arrays), votes=Votes(**settings.get("votes", {})), **calibration)


class NetworkLearner:
    """Learns a network, one epoch at a time, also from the states that its own errors lead to."""

    model_class: ClassVar[type[NetworkModel]] = NetworkModel
    kernel: ClassVar[tuple[str, ...]] = KERNEL

    def __init__(
        self,
        actions: Actions,
        vocabulary: Vocabulary,
        options: NetworkOptions,
        seed: int,
        knowledge: Knowledge | None = None,
    ) -> None:
        self.actions = actions
        self.vocabulary = vocabulary
        self.options = options
        self._rng = np.random.default_rng(seed)
        usual = Sizes(layers=options.layers)
        sizes = replace(usual, arcs=options.arcs, hidden=usual.hidden if options.moves else 0)
        self._parameters = self.model_class.new_parameters(sizes, vocabulary, actions, self._rng)
        if knowledge is not None:
            knowledge.give_to(self._parameters, vocabulary)
        self._sparse = tuple(f"{EMBED}{feature}" for feature in vocabulary.numbers)
        self._gradients = {name: np.zeros_like(p) for name, p in self._parameters.items() if name not in self._sparse}
        self._adam = Adam(self._parameters)
        self._encoder = Encoder(self._parameters, vocabulary.numbers)
        self._moves: NetworkTrainer | None = None
        self._arcs: ArcTrainer | None = None
        if sizes.hidden:
            self._moves = self._new_trainer(seed)
            self._search = Search(actions, self._moves)
        if sizes.arcs:
            self._arcs = ArcTrainer(self._parameters, self._gradients, actions, dropout=options.drop_hidden)
        self._epochs = 0
        self._known: dict[Word, Numbers] = {}
        self.tell = quiet
        unseen = {"lower": options.drop_form, "lemma": options.drop_lemma}  # the first two columns of a batch
        self._unknown = [unknown_chances(vocabulary.counts[field], share) for field, share in unseen.items()]

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: NetworkOptions,
        seed: int,
        *,
        stacked: bool = False,
        knowledge: Knowledge | None = None,
    ) -> NetworkLearner:
        """Return a learner that has seen the words of the training data, and nothing else but what is known before."""
        return cls(actions, vocabulary_of(sentences, knowledge), options, seed, knowledge)

    def _new_trainer(self, seed: int) -> NetworkTrainer:
        return NetworkTrainer(
            self._parameters, self._gradients, self.actions, dropout=self.options.drop_hidden, seed=seed
        )

    def _may_explore(self, oracle: Oracle) -> bool:
        """Whether something can be learnt in states that the oracle's own moves do not lead to."""
        return oracle.explores

    def epoch(self, examples: Sequence[Example], teacher: Any) -> float:  # noqa: ANN401 - an Oracle if there are moves
        """Go through the examples once in random order; return the mean probability that right decisions lack."""
        options = self.options
        if self._moves is not None:
            self._moves.explore = options.explore if self._epochs and self._may_explore(teacher) else 0.0
            self._moves.loss, self._moves.n_states = 0.0, 0
            self._moves.move_counts = array("i", bytes(4 * self.actions.system.n_moves))
        if self._arcs is not None:
            self._arcs.loss, self._arcs.n_decisions = 0.0, 0
        lengths = [len(example.words) for example in examples]
        batches = list(random_batches(lengths, options.batch_words, self._rng))
        for number, batch in enumerate(batches):
            done = (self._epochs + number / len(batches)) / options.epochs
            self._adam.begin(falling(options.rate, options.last_rate, done))
            self._learn([examples[index] for index in batch], teacher)
        self._epochs += 1
        loss, decisions = 0.0, 0
        if self._moves is not None:
            loss, decisions = loss + self._moves.loss, decisions + self._moves.n_states
        if self._arcs is not None:
            loss, decisions = loss + self._arcs.loss, decisions + self._arcs.n_decisions
        return loss / max(decisions, 1)

    def _learn(self, examples: Sequence[Example], teacher: Any) -> None:  # noqa: ANN401 - see epoch
        options = self.options
        batch = number_words(self.vocabulary, [example.words for example in examples], self._known)
        for column, unknown in enumerate(self._unknown):
            numbers = batch.single[:, column]
            numbers[self._rng.random(len(numbers)) < unknown[numbers]] = 0
        if self.vocabulary.lexicon is not None:
            self.vocabulary.lexicon.hide(batch.given, options.drop_vectors, self._rng)
        contexts = self._encoder.forward(batch, self._rng, options.drop_input, options.drop_context)
        for gradient in self._gradients.values():
            gradient.fill(0)
        d_contexts = np.zeros_like(contexts)
        if self._moves is not None:
            d_rows = self._learn_moves(self._moves, contexts @ self._parameters[OUTPUT], batch, examples, teacher)
            d_contexts += self._encoder.output_back(OUTPUT, d_rows, self._gradients)
        if self._arcs is not None:
            d_rows = self._learn_arcs(self._arcs, contexts @ self._parameters[WORDS], batch, examples)
            d_contexts += self._encoder.output_back(WORDS, d_rows, self._gradients)
        follow(self._adam, self._encoder.backward(d_contexts, self._gradients), self._gradients)

    def _learn_moves(
        self, trainer: NetworkTrainer, rows: Floats, batch: Batch, examples: Sequence[Example], oracle: Oracle
    ) -> Floats:
        """Write the gradients of the parameters of moves; return that of the rows."""
        d_rows = np.zeros_like(rows)
        trainer.use(rows, 0)
        trainer.use_gradient(d_rows)
        for example, offset in zip(examples, batch.offsets, strict=True):
            self._follow(trainer, example, oracle, offset)
        n_words = np.float32(sum(len(example.words) for example in examples))
        d_rows /= n_words
        for name in self.kernel:
            self._gradients[name] /= n_words
        return d_rows

    def _learn_arcs(self, trainer: ArcTrainer, rows: Floats, batch: Batch, examples: Sequence[Example]) -> Floats:
        """Write the gradients of the parameters of arcs; return that of the rows.

        Sentences that are very long, or about whose arcs nothing is known, are left out.
        """
        d_rows = np.zeros_like(rows)
        targets = [self._arc_target(example) if len(example.words) <= MOST_ARC_WORDS else None for example in examples]
        lengths = [length for length, target in zip(batch.lengths, targets, strict=True) if target is not None]
        if lengths:
            learnt = np.repeat([target is not None for target in targets], batch.lengths)
            offsets = [0, *np.cumsum(lengths).tolist()]
            known = [target for target in targets if target is not None]
            d_rows[learnt] = trainer.learn(rows[learnt], offsets, known, self._rng)
        return d_rows

    def _arc_target(self, example: Example) -> ArcTarget | None:
        """Return what to learn about the arcs of a sentence, if that is known."""
        return ArcTarget(example.heads, example.labels)

    def _follow(self, trainer: NetworkTrainer, example: Example, oracle: Oracle, offset: int) -> None:
        """Learn from a derivation of one of the sentences that are encoded."""
        example.bind(oracle)
        trainer.learn(self._search, oracle, example.state(), offset)

    def model(self) -> NetworkModel:
        """Return the averaged model as of now."""
        averaged = rounded(self._adam.average(self._sparse))
        if self._moves is not None:
            counts = np.asarray(self._moves.move_counts) + 1
            averaged["move.bias"] -= (self.options.favour_rare * np.log(counts / counts.sum())).astype(np.float32)
        return self.model_class(self.actions, self.vocabulary, averaged)

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return everything that learning depends on."""
        arrays = self._adam.state(self._sparse)
        data = {
            "epochs": self._epochs,
            "steps": self._adam.steps,
            "rng": self._rng.bit_generator.state,
        }
        if self._moves is not None:
            data |= {"trainer": self._moves.rng, "move_counts": list(self._moves.move_counts)}
        return arrays, data

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        self._epochs = data["epochs"]
        self._adam.restore(arrays, data["steps"])
        self._rng.bit_generator.state = data["rng"]
        if self._moves is not None:
            self._moves.rng = data["trainer"]
            self._moves.move_counts = array("i", data["move_counts"])
