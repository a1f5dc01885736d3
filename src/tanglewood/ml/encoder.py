"""The encoder of the network: embeddings and a small bidirectional LSTM over the sentence, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import Layout, check_halves
from tanglewood.errors import ModelError
from tanglewood.ml.dense import lstm_add_steps, lstm_backward_steps, lstm_forward_steps
from tanglewood.ml.kernels import Kernels, kernels_for
from tanglewood.ml.products import linear
from tanglewood.ml.vocabulary import Numbers, Vocabulary
from tanglewood.ml.word_features import ANY, FEATURES
from tanglewood.ml.words import Word

if TYPE_CHECKING:
    from tanglewood.ml.contextual import Contextual
    from tanglewood.ml.lexicon import Lexicon

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Numbered = NDArray[np.int64]  # nodes or sentences by their numbers
Lengths = Sequence[int] | Numbered  # of sentences
OUTPUT = "hidden.slots"  # the weights that contexts are multiplied by in the end
EMBED = "embed."  # prefix of the names of embeddings
DIRECTIONS = ("forward", "backward")
GOLD_FROM = 0.85  # share of the epochs after which only sentences are learnt whose annotation is the treebank's


def new_encoder(
    embedded: Mapping[str, int], vocabulary: Vocabulary, sizes: tuple[int, int, int], rng: Rng
) -> dict[str, Floats]:
    """Return fresh parameters; ``sizes`` are those of word vectors and LSTMs, and the number of LSTM layers.

    Of the features that the vocabulary has numbers for, ``embedded`` has the widths.
    """
    n_word, n_lstm, n_layers = sizes
    parameters = {
        f"{EMBED}{feature}": normal(rng, 0.1 if size > 32 else 0.2, len(vocabulary.numbers[feature]), size)
        for feature, size in ((feature, embedded[feature]) for feature in vocabulary.numbers)
    }
    width = sum(table.shape[1] for table in parameters.values())
    parameters["word.weight"] = glorot(rng, width + vocabulary.given_width, n_word)
    parameters["word.bias"] = np.zeros(n_word, np.float32)
    for lstm in (f"lstm{layer}.{direction}" for layer in range(n_layers) for direction in DIRECTIONS):
        parameters[f"{lstm}.input"] = glorot(rng, n_word, 4 * n_lstm)
        parameters[f"{lstm}.recurrent"] = glorot(rng, n_lstm, 4 * n_lstm)
        bias = np.zeros(4 * n_lstm, np.float32)
        bias[n_lstm : 2 * n_lstm] = 1  # forget gates begin open
        parameters[f"{lstm}.bias"] = bias
    return parameters


class Shapes:
    """Stands in for a generator of random numbers where only the shapes of parameters matter."""

    def uniform(self, _low: float, _high: float, shape: tuple[int, ...]) -> Floats:
        """Return zeros that take no room."""
        return np.broadcast_to(np.float32(0), shape)

    normal = uniform


Rng = np.random.Generator | Shapes


def glorot(rng: Rng, *shape: int) -> Floats:
    """Return random weights that keep the size of what they are multiplied by (Glorot and Bengio 2010)."""
    bound = float(np.sqrt(6 / (shape[-2] + shape[-1])))
    return rng.uniform(-bound, bound, shape).astype(np.float32, copy=False)


def normal(rng: Rng, scale: float, *shape: int) -> Floats:
    """Return random weights of this standard deviation."""
    return rng.normal(0.0, scale, shape).astype(np.float32, copy=False)


def rounded(parameters: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the parameters with embeddings as precise as 16 bits can be: all that a model keeps of them."""
    return {
        name: value.astype(np.float16).astype(np.float32) if name.startswith(EMBED) else value.copy()
        for name, value in parameters.items()
    }


def packed(parameters: Mapping[str, Floats]) -> dict[str, NDArray[Any]]:
    """Return rounded parameters for a model file: embeddings, which are most of it, as the bits of 16-bit floats."""
    return {
        name: value.astype(np.float16).view(np.int16) if name.startswith(EMBED) else value
        for name, value in parameters.items()
    }


def packed_arrays(parameters: Mapping[str, Floats]) -> dict[str, Layout]:
    """Return what the arrays of a model file with such parameters must be."""
    return {name: Layout("h" if name.startswith(EMBED) else "f", p.shape) for name, p in parameters.items()}


def unpacked(arrays: Mapping[str, memoryview]) -> dict[str, NDArray[Any]]:
    """Return the parameters of a model file, whose arrays must have been checked."""
    parameters: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name.startswith(EMBED):
            parameters[name] = np.asarray(array).view(np.float16).astype(np.float32)
            check_halves(name, parameters[name])
        else:
            parameters[name] = np.array(array)
    return parameters


def sizes_in(arrays: Mapping[str, memoryview]) -> tuple[int, int, int]:
    """Return the sizes of word vectors and LSTMs, and the number of LSTM layers, that the arrays of a model show."""
    try:
        n_word, n_lstm = len(arrays["word.bias"]), len(arrays["lstm0.forward.recurrent"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"the model lacks the array {error}") from None
    if 2 * n_lstm != n_word:
        raise ModelError(f"word vectors have {n_word} numbers; they should have two for each of {n_lstm} in an LSTM")
    return n_word, n_lstm, count_layers(arrays)


def batch_for(words: int) -> int:
    """Return how many words a batch should have for this many words of training data."""
    return 100 if words < 100_000 else 200


def random_batches(lengths: Sequence[int], words: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield the indices of sentences of these lengths in random order, in batches of about ``words`` words."""
    batch: list[int] = []
    size = 0
    for index in rng.permutation(len(lengths)).tolist():
        batch.append(index)
        size += lengths[index]
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def count_layers(parameters: Mapping[str, Any]) -> int:
    """Return how many LSTM layers these parameters make up."""
    return len({name.partition(".")[0] for name in parameters if name.startswith("lstm")})


@dataclass(slots=True)
class Batch:
    """Numbered words of some sentences, one after the other, each with its node 0 first."""

    lengths: list[int]  # nodes per sentence, including node 0
    single: Ints  # numbers of the features that have one value: (nodes, features)
    several: dict[str, Ints]  # of those that have a fixed number of values: (nodes, values)
    bags: dict[str, tuple[Ints, Ints]]  # of those that have any number: all, and where those of each node begin
    given: Floats | None = None  # vectors of all nodes that are not learnt

    @property
    def offsets(self) -> list[int]:
        """Where each sentence begins."""
        return [0, *np.cumsum(self.lengths)[:-1].tolist()]


def number_words(
    vocabulary: Vocabulary, sentences: Sequence[Sequence[Word]], known: dict[Word, Numbers] | None = None
) -> Batch:
    """Look up all words of a batch; ``known`` remembers them for callers that look them up again and again."""
    root = vocabulary.root()
    known = {} if known is None else known
    found: list[Numbers] = []
    for words in sentences:
        for word in words:
            if word not in known:
                known[word] = vocabulary.number(word)
        found.append(root)
        found.extend(map(known.__getitem__, words))
    single: list[Ints] = []
    several: dict[str, Ints] = {}
    bags: dict[str, tuple[Ints, Ints]] = {}
    for name, rows in zip(vocabulary.numbers, zip(*found, strict=True), strict=True):
        kind = FEATURES[name].several
        flat = np.fromiter(chain.from_iterable(rows), np.int32)
        if kind == ANY:
            sizes = np.fromiter(map(len, rows), np.int32, len(rows))
            bags[name] = flat, (np.cumsum(sizes) - sizes).astype(np.int32)
        elif kind:
            several[name] = flat.reshape(-1, kind)
        else:
            single.append(flat)
    given = given_vectors(vocabulary, sentences)
    return Batch([len(words) + 1 for words in sentences], np.stack(single, axis=1), several, bags, given)


def given_vectors(
    vocabulary: Vocabulary, sentences: Sequence[Sequence[Word]], *, contextual: bool = True
) -> Floats | None:
    """Return the vectors of all nodes that are not learnt, if there are any: of their forms, then of their contexts."""
    parts: list[Lexicon | Contextual | None] = [vocabulary.lexicon, vocabulary.contextual if contextual else None]
    forms = [[word[0] for word in words] for words in sentences]
    found = [part.given(forms) for part in parts if part is not None]
    return np.concatenate(found, axis=1) if found else None


class Wanted(NamedTuple):
    """Nodes whose contexts are wanted: the first of each sentence, and the one after the last."""

    begins: Numbered
    ends: Numbered


class TimeSteps:
    """The nodes of a batch sorted by time step, so that one step of an LSTM serves all sentences.

    Sentences are sorted by length, longest first; step t holds the t-th node of every sentence that has one.
    """

    def __init__(self, lengths: Lengths) -> None:
        lengths = np.asarray(lengths)
        ends = np.cumsum(lengths)
        self.forward, self.sizes = _by_step(ends - lengths, lengths, 1)
        self.backward, _ = _by_step(ends - 1, lengths, -1)

    def before(self) -> Ints:
        """Return, for every row but those of the first step, the row of the same sentence one step before."""
        rows = np.arange(self.sizes[0], self.sizes.sum())
        return (rows - np.repeat(self.sizes[:-1], self.sizes[1:])).astype(np.int32)


def _by_step(edges: Numbered, lengths: Numbered, way: int) -> tuple[Numbered, Ints]:
    """Return the nodes by time step, from the edge of every sentence on, and how many sentences have each step."""
    longest_first = edges[np.argsort(-lengths, kind="stable")]
    sizes = (len(lengths) - np.cumsum(np.bincount(lengths))[:-1]).astype(np.int32)
    return np.concatenate([longest_first[:size] + way * t for t, size in enumerate(sizes)]), sizes


def lstm_forward(
    kernels: Kernels, inputs: Floats, recurrent: Floats, steps: TimeSteps
) -> tuple[Floats, tuple[Floats, ...]]:
    """Run an LSTM over inputs already multiplied by its input weights; gates are input, forget, output, cell.

    Returns the outputs, and the gates, cells and squashed cells that going backwards needs. Works in place.
    """
    outputs, cells, squashed = np.empty((3, len(inputs), len(recurrent)), np.float32)
    lstm_forward_steps(kernels, inputs, cells, squashed, outputs, recurrent, steps.sizes)
    return outputs, (inputs, cells, squashed)


def lstm_backward(
    kernels: Kernels,
    d_outputs: Floats,
    outputs: Floats,
    memory: tuple[Floats, ...],
    recurrent: Floats,
    steps: TimeSteps,
) -> tuple[Floats, Floats]:
    """Return the gradients of the inputs and of the recurrent weights."""
    gates, cells, squashed = memory
    d_gates = np.empty_like(gates)
    transposed = np.ascontiguousarray(recurrent.T)
    lstm_backward_steps(
        kernels, gates, cells, squashed, d_outputs.copy(), np.zeros_like(cells), d_gates, transposed, steps.sizes
    )
    return d_gates, outputs[steps.before()].T @ d_gates[steps.sizes[0] :]


class Encoder:
    """Turns numbered words into vectors of words in their context, and carries gradients back."""

    def __init__(
        self, parameters: Mapping[str, Floats], features: Iterable[str], kernels: Kernels | None = None
    ) -> None:
        self.parameters = parameters
        self.kernels = kernels or kernels_for()
        self.features = list(features)  # in the order of their vectors
        self.n_layers = count_layers(parameters)
        # What `forward` leaves for `backward`.
        self.batch: Batch
        self.steps: TimeSteps
        self.layer_inputs: list[Floats]
        self.memory: list[dict[str, tuple[Floats, tuple[Floats, ...]]]]
        self.input_mask: Floats
        self.embedded: Floats
        self.word_vectors: Floats
        self.context_mask: Floats
        self.context: Floats

    def embed(self, batch: Batch) -> Floats:
        """Concatenate the embeddings of every node."""
        columns = iter(batch.single.T)
        parts = []
        for feature in self.features:
            table = self.parameters[f"{EMBED}{feature}"]
            if feature in batch.bags:
                numbers, starts = batch.bags[feature]
                parts.append(self._sum_bags(table, numbers, starts))
            elif feature in batch.several:
                first, *others = batch.several[feature].T
                sums = table[first]
                for other in others:
                    sums += table[other]
                parts.append(sums)
            else:
                parts.append(table[next(columns)])
        if batch.given is not None:
            parts.append(batch.given)
        return np.concatenate(parts, axis=1)

    def _sum_bags(self, table: Floats, numbers: Ints, starts: Ints) -> Floats:
        """Return the sum of each bag's rows of a table; no bag is empty."""
        if not self.kernels.reproducible:
            found: Floats = np.add.reduceat(table[numbers], starts)
            return found
        sizes = np.diff(starts, append=len(numbers))
        sums = table[numbers[starts]]
        for place in range(1, sizes.max()):  # one of each bag at a time, so that they are added in order
            longer = np.flatnonzero(sizes > place)
            sums[longer] += table[numbers[starts[longer] + place]]
        return sums

    def words(self, embedded: Floats) -> Floats:
        """Return the vectors of words without context."""
        vectors = linear(self.kernels, embedded, self.parameters["word.weight"], self.parameters["word.bias"])
        return np.maximum(vectors, 0, out=vectors)

    def word_sums(self, embedded: Floats) -> Floats:
        """Return what the first columns of the embedded words add to their vectors."""
        weight = self.parameters["word.weight"][: embedded.shape[1]]
        return linear(self.kernels, embedded, weight, self.parameters["word.bias"])

    def with_contextual(self, sums: Floats, given: Floats) -> Floats:
        """Return the vectors of words, of such sums and of the columns that were not yet embedded."""
        weight = self.parameters["word.weight"][-given.shape[1] :]
        vectors = linear(self.kernels, given, weight, np.zeros(weight.shape[1], np.float32))
        vectors += sums
        return np.maximum(vectors, 0, out=vectors)

    def inputs(self, layer: int, direction: str, vectors: Floats) -> Floats:
        """Return what vectors contribute to the gates of the LSTM of one layer and direction."""
        lstm = f"lstm{layer}.{direction}"
        return linear(self.kernels, vectors, self.parameters[f"{lstm}.input"], self.parameters[f"{lstm}.bias"])

    def add_contexts(
        self,
        words: Floats,
        inputs: Mapping[str, Floats],
        places: Ints,
        lengths: Lengths,
        wanted: Wanted | None = None,
    ) -> None:
        """Encode for parsing: add their contexts to the vectors of words of sentences with node 0.

        What node i contributes to the gates of the first LSTMs is in row ``places[i]`` of the inputs. If only some
        nodes are wanted, the others may be left without a part of their contexts.
        """
        lengths = np.asarray(lengths)
        steps = TimeSteps(lengths)
        order = {"forward": (steps.forward, steps.sizes), "backward": (steps.backward, steps.sizes)}
        for layer in range(self.n_layers):
            if wanted is not None and layer == self.n_layers - 1:
                # No layer needs what comes after this one, so its LSTMs stop where nothing more is wanted.
                ends = np.cumsum(lengths)
                order = {
                    "forward": _by_step(ends - lengths, wanted.ends, 1),
                    "backward": _by_step(ends - 1, lengths - wanted.begins, -1),
                }
            if layer == 0:
                gates = {direction: (inputs[direction], places[nodes]) for direction, (nodes, _) in order.items()}
            else:
                gates = {d: self._gates(layer, d, words, nodes) for d, (nodes, _) in order.items()}
            for direction, (nodes, sizes) in order.items():
                self._add_layer(f"lstm{layer}.{direction}", words, *gates[direction], nodes.astype(np.int32), sizes)

    def _gates(self, layer: int, direction: str, words: Floats, nodes: Numbered) -> tuple[Floats, Ints]:
        """Return what nodes contribute to the gates of an LSTM, and the row of each."""
        if len(nodes) == len(words):
            return self.inputs(layer, direction, words), nodes.astype(np.int32)
        return self.inputs(layer, direction, words[nodes]), np.arange(len(nodes), dtype=np.int32)

    def _add_layer(self, lstm: str, words: Floats, inputs: Floats, rows: Ints, nodes: Ints, sizes: Ints) -> None:
        """Add the outputs of an LSTM to the vectors of nodes, by time step, without what going backwards needs."""
        recurrent = self.parameters[f"{lstm}.recurrent"]
        width = len(recurrent)
        column = DIRECTIONS.index(lstm.partition(".")[2]) * width
        two_steps = 2 * sizes[0]
        gates = np.empty((two_steps, 4 * width), np.float32)
        rest = np.empty((3, two_steps, width), np.float32)
        lstm_add_steps(self.kernels, words, column, inputs, rows, nodes, recurrent, sizes, gates, *rest)

    def _layer(
        self, layer: int, context: Floats, gates: Mapping[str, Floats], steps: TimeSteps
    ) -> tuple[Floats, dict[str, tuple[Floats, tuple[Floats, ...]]]]:
        """Add the outputs of both LSTMs of a layer to the vectors; return also what going backwards needs."""
        added = context.copy()
        memory = {}
        for place, direction in enumerate(DIRECTIONS):
            order = getattr(steps, direction)
            recurrent = self.parameters[f"lstm{layer}.{direction}.recurrent"]
            outputs, left = lstm_forward(self.kernels, gates[direction][order], recurrent, steps)
            added[order, place * len(recurrent) : (place + 1) * len(recurrent)] += outputs
            memory[direction] = outputs, left
        return added, memory

    def forward(self, batch: Batch, rng: np.random.Generator, drop_input: float, drop_context: float) -> Floats:
        """Encode a batch for training, with dropout, and remember what going backwards needs."""
        self.batch = batch
        embedded = self.embed(batch)
        self.input_mask = dropout_mask(rng, embedded.shape, drop_input)
        self.embedded = embedded * self.input_mask
        self.word_vectors = self.words(self.embedded)
        self.steps = TimeSteps(batch.lengths)
        self.layer_inputs = []
        self.memory = []
        context = self.word_vectors
        for layer in range(self.n_layers):
            self.layer_inputs.append(context)
            gates = {direction: self.inputs(layer, direction, context) for direction in DIRECTIONS}
            context, memory = self._layer(layer, context, gates, self.steps)
            self.memory.append(memory)
        self.context_mask = dropout_mask(rng, context.shape, drop_context)
        self.context = context * self.context_mask
        return self.context

    def _layer_backward(self, layer: int, d_context: Floats, gradients: dict[str, Floats]) -> Floats:
        """Write the gradients of a layer's LSTMs; return that of the vectors that came in."""
        d_inputs = d_context.copy()
        for place, direction in enumerate(DIRECTIONS):
            lstm = f"lstm{layer}.{direction}"
            recurrent = self.parameters[f"{lstm}.recurrent"]
            width = len(recurrent)
            order = getattr(self.steps, direction)
            outputs, memory = self.memory[layer][direction]
            d_outputs = d_context[order, place * width : (place + 1) * width]
            d_gates, d_recurrent = lstm_backward(self.kernels, d_outputs, outputs, memory, recurrent, self.steps)
            gradients[f"{lstm}.recurrent"][...] = d_recurrent
            gradients[f"{lstm}.input"][...] = self.layer_inputs[layer][order].T @ d_gates
            gradients[f"{lstm}.bias"][...] = d_gates.sum(0)
            d_inputs[order] += d_gates @ self.parameters[f"{lstm}.input"].T
        return d_inputs

    def output_back(self, name: str, d_rows: Floats, gradients: dict[str, Floats]) -> Floats:
        """Write the gradient of a matrix that contexts were multiplied by; return that of the contexts."""
        np.dot(self.context.T, d_rows, out=gradients[name])
        d_context: Floats = d_rows @ self.parameters[name].T
        return d_context

    def backward(self, d_context: Floats, gradients: dict[str, Floats]) -> Iterator[tuple[str, Ints, Floats]]:
        """Write gradients of the dense parameters; yield those of embeddings as (name, numbers, one row per number)."""
        p = self.parameters
        d_words = d_context * self.context_mask
        for layer in range(self.n_layers - 1, -1, -1):
            d_words = self._layer_backward(layer, d_words, gradients)
        d_words *= self.word_vectors > 0
        gradients["word.weight"][...] = self.embedded.T @ d_words
        gradients["word.bias"][...] = d_words.sum(0)
        d_embedded = ((d_words @ p["word.weight"].T) * self.input_mask).astype(np.float32, copy=False)
        start = 0
        columns = iter(self.batch.single.T)
        for feature in self.features:
            name = f"{EMBED}{feature}"
            size = p[name].shape[1]
            d_feature = d_embedded[:, start : start + size]
            start += size
            if feature in self.batch.bags:
                numbers, starts = self.batch.bags[feature]
                yield name, numbers, np.repeat(d_feature, np.diff(np.append(starts, len(numbers))), axis=0)
            elif feature in self.batch.several:
                several = self.batch.several[feature]
                yield name, several.ravel(), np.repeat(d_feature, several.shape[1], axis=0)
            else:
                yield name, next(columns), d_feature


def unknown_chances(counts: Sequence[int], share: float) -> NDArray[np.float64]:
    """Return how likely values that occur so often are taken for unknown ones: share / (share + count)."""
    return np.array([share / (share + count) if share else 0.0 for count in counts])


def dropout_mask(rng: np.random.Generator, shape: tuple[int, ...], drop: float) -> Floats:
    """Return what to multiply by: 0 with probability ``drop``, elsewhere as much more than 1 as makes up for that."""
    if drop == 0:
        return np.ones(shape, np.float32)
    return ((rng.random(shape, np.float32) >= drop) / np.float32(1 - drop)).astype(np.float32)
