"""The network's gradients are those of a slow twin in doubles; its LSTM, batches and optimizer those of plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError
from tanglewood.learners import learner_class
from tanglewood.learners.base import Example
from tanglewood.learners.network import learner as network
from tanglewood.learners.network.core import label_sets
from tanglewood.learners.network.learner import NetworkLearner, NetworkOptions, Sizes, vocabulary_of
from tanglewood.ml.adam import Adam
from tanglewood.ml.contexts import number_distinct
from tanglewood.ml.encoder import TimeSteps, lstm_backward, lstm_forward, number_words
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.products import Rounded
from tanglewood.ml.words import words_of
from tanglewood.systems import make_system
from toy import Recorder, Views, hidden_layer, log_softmax, toy_sentences

TINY = {"lower": 3, "lemma": 2, "upos": 2, "xpos": 2, "feats": 3, "affixes": 2}
NO_DROPOUT = {"drop_input": 0.0, "drop_context": 0.0, "drop_hidden": 0.0, "drop_form": 0.0, "drop_lemma": 0.0}
LENGTHS = [3, 1, 5, 5, 2]


class Twin:
    """The same network written plainly: embeddings, LSTM sentence by sentence, cross-entropy of given decisions."""

    def __init__(self, learner, examples):
        self.learner = learner
        self.actions = learner.actions
        self.examples = examples
        self.states, self.offsets, self.legal, self.targets, self.labels = [], [], [], [], []
        self.masks = []
        batch = learner._encoder.batch
        self.lengths = batch.lengths
        self.single = batch.single
        feats, starts = batch.bags["feats"]
        self.feats = [feats[start:end] for start, end in zip(starts, [*starts[1:], len(feats)], strict=True)]
        self.affixes = batch.several["affixes"]

    def rows(self, p):
        vectors = []
        for node, (form, lemma, upos, xpos) in enumerate(self.single):
            single = [p["embed.lower"][form], p["embed.lemma"][lemma], p["embed.upos"][upos], p["embed.xpos"][xpos]]
            sums = [p["embed.feats"][self.feats[node]].sum(0), p["embed.affixes"][self.affixes[node]].sum(0)]
            vectors.append(np.concatenate([*single, *sums]))
        inputs = np.array(vectors) * self.learner._encoder.input_mask
        words = np.maximum(inputs @ p["word.weight"] + p["word.bias"], 0)
        context = words
        for layer in range(self.learner.options.layers):
            context = self.layer(p, layer, context)
        return (context * self.learner._encoder.context_mask) @ p["hidden.slots"]

    def layer(self, p, layer, vectors):
        context = vectors.copy()
        ahead, back = f"lstm{layer}.forward", f"lstm{layer}.backward"
        width = len(p[f"{ahead}.recurrent"])
        start = 0
        for length in self.lengths:
            here = slice(start, start + length)
            start += length
            inputs = vectors[here] @ p[f"{ahead}.input"] + p[f"{ahead}.bias"]
            context[here, :width] += plain_lstm(inputs, p[f"{ahead}.recurrent"])
            inputs = vectors[here][::-1] @ p[f"{back}.input"] + p[f"{back}.bias"]
            context[here, width : 2 * width] += plain_lstm(inputs, p[f"{back}.recurrent"])[::-1]
        return context

    def decide(self, p, oracle, rng, keep):
        """Go through the sentences as training does: the best-scored move of those that cost nothing."""
        rows = self.rows(p)
        offset = 0
        for example in self.examples:
            oracle.bind(example.heads, example.labels)
            s = self.actions.system.start(len(example.words))
            while not self.actions.system.is_final(s):
                mask = np.ones(len(p["hidden.bias"]))
                if keep < 1:
                    for k in range(len(mask)):  # the minimal standard generator
                        rng = rng * 48271 % 2147483647
                        mask[k] = 1 / keep if rng / 2147483647 < keep else 0
                hidden = hidden_layer(p, rows, Views(self.actions.system, [s], [offset]))[0] * mask
                scores = hidden @ p["move.weight"].T + p["move.bias"]
                costs = oracle.costs(s)
                legal = self.actions.system.legal_moves(s)
                target = max((move for move in legal if costs[move] == 0), key=lambda move: scores[move])
                label = oracle.action(s)[1] if self.actions.system.label_matters else -1
                head, dependent = self.actions.system.arc(s, target, label)
                if dependent > 0:
                    label = example.labels[dependent]
                self.states.append(s.copy())
                self.offsets.append(offset)
                self.masks.append(mask)
                self.legal.append([move in legal for move in range(self.actions.system.n_moves)])
                self.targets.append(target)
                self.labels.append(label if self._is_learnt(target, label, head) else -1)
                self.actions.system.apply(s, target, label)
            offset += len(example.words) + 1
        self.views = Views(self.actions.system, self.states, self.offsets)
        self.legal = np.array(self.legal)
        self.masks = np.array(self.masks)

    def _is_learnt(self, move, label, head):
        """Only labels of moves that take one, and no label whose arc comes from 0: that is settled."""
        is_root = self.actions.root_label >= 0 and (head == 0 or label == self.actions.root_label)
        return self.actions.system.moves[move].labelled and not is_root

    def log_probabilities(self, p):
        hidden = hidden_layer(p, self.rows(p), self.views) * self.masks
        scores = hidden @ p["move.weight"].T + p["move.bias"]
        moves = log_softmax(np.where(self.legal, scores, -1e300))[np.arange(len(self.targets)), self.targets]
        with_label = [i for i, label in enumerate(self.labels) if label >= 0]
        sets = np.array(label_sets(self.actions.system))[[self.targets[i] for i in with_label]]
        scores = np.einsum("dh,dhl->dl", hidden[with_label], p["label.weight"][sets]) + p["label.bias"][sets]
        if self.actions.root_label >= 0:
            scores[:, self.actions.root_label] = -1e300
        labels = log_softmax(scores)[np.arange(len(with_label)), [self.labels[i] for i in with_label]]
        return moves, labels

    def loss(self, p):
        return -sum(part.sum() for part in self.log_probabilities(p))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain_lstm(inputs, recurrent):
    """One sentence, one step after the other; gates in the order input, forget, output, cell."""
    width = len(recurrent)
    output, cell = np.zeros(width), np.zeros(width)
    outputs = []
    for step in inputs:
        gates = step + output @ recurrent
        cell = sigmoid(gates[width : 2 * width]) * cell + sigmoid(gates[:width]) * np.tanh(gates[3 * width :])
        output = sigmoid(gates[2 * width : 3 * width]) * np.tanh(cell)
        outputs.append(output)
    return np.array(outputs)


def numerical_gradient(function, value, epsilon=1e-6):
    """Central differences of a function of an array, one element after the other."""
    gradient = np.zeros(value.shape)
    for place in np.ndindex(*value.shape):
        kept = value[place]
        value[place] = kept + epsilon
        above = function()
        value[place] = kept - epsilon
        gradient[place] = (above - function()) / (2 * epsilon)
        value[place] = kept
    return gradient


def examples_of(sentences):
    labels = sorted({label for sentence in sentences for label in sentence.deprels})
    return labels, [
        Example(words_of(s), list(s.tree.heads), [-1, *(labels.index(label) for label in s.deprels)]) for s in sentences
    ]


def one_epoch(monkeypatch, name, settings, with_root_label=True, sizes=(6, 2, 5), more_labels=()):
    """Run one batch through a tiny learner; return it, the twin, its parameters in doubles, gradients and loss."""
    monkeypatch.setattr(network, "EMBEDDED", TINY)
    word, lstm, hidden = sizes
    monkeypatch.setattr(network, "Sizes", lambda layers: Sizes(word, lstm, layers, hidden))
    sentences = [s for s in toy_sentences(40, seed=4) if len(s) in {4, 6} and not s.tree.is_projective()][:2]
    labels, examples = examples_of(sentences)
    labels += more_labels
    system = make_system(name, single_root=True)
    actions = Actions(system, labels, labels.index("root") if with_root_label else -1)
    learner = NetworkLearner(
        actions, vocabulary_of(sentences), NetworkOptions(arcs=False, **settings).resolved(100), seed=5
    )
    monkeypatch.setattr(network, "random_batches", lambda lengths, *_: [list(range(len(lengths)))])
    noise = np.random.default_rng(2)
    for name in learner._parameters:
        learner._parameters[name] += noise.normal(0, 0.3, learner._parameters[name].shape).astype(np.float32)
    learner._adam = Recorder(learner._parameters)
    rng = learner._moves.rng
    oracle = system.oracle(system.training_oracle())
    loss = learner.epoch(examples, oracle)
    twin = Twin(learner, examples)
    parameters = {key: value.astype(np.float64) for key, value in learner._parameters.items()}
    twin.decide(parameters, oracle, rng, 1 - learner.options.drop_hidden)
    n_words = sum(len(example.words) for example in examples)
    return twin, parameters, {key: n_words * value for key, value in learner._adam.gradients.items()}, loss


@pytest.mark.parametrize(
    ("name", "settings"),
    [("swap", NO_DROPOUT), ("swap", NO_DROPOUT | {"layers": 2}), ("swap", {}), ("covington", {}), ("three-step", {})],
    ids=["swap-without_dropout", "swap-two_layers", "swap", "covington", "three-step"],
)
def test_every_gradient_is_that_of_the_cross_entropy_of_a_slow_twin(monkeypatch, name, settings):
    twin, parameters, gradients, _ = one_epoch(monkeypatch, name, settings)
    assert len(twin.targets) > 15
    for key, value in parameters.items():
        wanted = numerical_gradient(lambda: twin.loss(parameters), value)
        np.testing.assert_allclose(gradients[key], wanted, atol=3e-4, rtol=3e-4, err_msg=key)
        assert settings or np.abs(wanted).max() > 1e-3, f"{key} has no gradient: nothing is tested"


@pytest.mark.parametrize("more", [0, 10, 70])
def test_gradients_of_a_larger_network_agree_in_random_directions(monkeypatch, more):
    """Sizes for which the kernels take whole vectors, and some that do not fill the last one."""
    more_labels = [f"more{i}" for i in range(more)]
    twin, parameters, gradients, _ = one_epoch(monkeypatch, "swap", {}, sizes=(40, 20, 70), more_labels=more_labels)
    rng = np.random.default_rng(more)
    step = 1e-6
    for key, value in parameters.items():
        for _ in range(3):
            direction = rng.normal(0, 1, value.shape)
            above, below = (
                twin.loss({**parameters, key: value + change}) for change in (step * direction, -step * direction)
            )
            wanted = (above - below) / (2 * step)
            assert (gradients[key] * direction).sum() == pytest.approx(wanted, rel=2e-3, abs=5e-3), key


def test_without_a_root_label_labels_of_arcs_from_0_are_learnt_too(monkeypatch):
    twin, parameters, gradients, _ = one_epoch(monkeypatch, "swap", NO_DROPOUT, with_root_label=False)
    for key in ("label.weight", "label.bias", "hidden.bias"):
        wanted = numerical_gradient(lambda: twin.loss(parameters), parameters[key])
        np.testing.assert_allclose(gradients[key], wanted, atol=3e-4, rtol=3e-4, err_msg=key)
    assert sum(label >= 0 for label in twin.labels) == sum(len(example.words) for example in twin.examples)


def test_the_reported_loss_is_the_missed_probability_a_decision(monkeypatch):
    twin, parameters, _, loss = one_epoch(monkeypatch, "swap", NO_DROPOUT)
    missed = sum((1 - np.exp(part)).sum() for part in twin.log_probabilities(parameters))
    assert loss == pytest.approx(missed / len(twin.targets), rel=1e-4)


def test_exploring_leaves_the_derivations_of_the_oracle_from_the_second_epoch_on():
    sentences = toy_sentences(8)
    labels, examples = examples_of(sentences)
    states = {}
    for explore in (0.0, 1.0):
        system = make_system("swap", single_root=True)
        options = NetworkOptions(explore=explore, arcs=False, **NO_DROPOUT).resolved(100)
        learner = NetworkLearner(Actions(system, labels, labels.index("root")), vocabulary_of(sentences), options, 1)
        oracle = system.oracle("lazy")
        losses = [learner.epoch(examples, oracle) for _ in range(2)]
        states[explore] = (losses[0], learner._moves.n_states)
    assert states[0.0][0] == states[1.0][0]
    assert states[0.0][1] != states[1.0][1]


def test_rare_moves_are_favoured_by_how_rare_they_are():
    sentences = toy_sentences(20)
    labels, examples = examples_of(sentences)
    system = make_system("swap", single_root=True)
    actions = Actions(system, labels, labels.index("root"))
    oracle = system.oracle("lazy")
    biases = {}
    for share in (0.0, 0.5):
        options = NetworkOptions(explore=0.0, favour_rare=share).resolved(100)
        learner = NetworkLearner(actions, vocabulary_of(sentences), options, 1)
        for _ in range(2):
            learner.epoch(examples, oracle)
        biases[share] = learner.model().parameters["move.bias"]
    counts = np.ones(system.n_moves)  # of the oracle's moves where there is a choice
    for example in examples:
        oracle.bind(example.heads, example.labels)
        s = system.start(len(example.words))
        while not system.is_final(s):
            move, label = oracle.action(s)
            counts[move] += len(system.legal_moves(s)) > 1
            system.apply(s, move, label)
    # Where several moves cost nothing the learner may choose another one than the oracle's first.
    wanted = -0.5 * np.log(counts / counts.sum())
    np.testing.assert_allclose(biases[0.5] - biases[0.0], wanted, atol=0.05)


@pytest.mark.parametrize(("n_rows", "n_in", "n_out"), [(1, 4, 64), (5, 12, 128), (6, 128, 64), (13, 128, 320)])
def test_rounded_products_are_nearly_those_of_floats(n_rows, n_in, n_out):
    rng = np.random.default_rng(n_rows)
    matrix = rng.normal(0, 0.3, (n_in, n_out)).astype(np.float32)
    matrix[:, 3] = 0
    rows = rng.normal(0, 2, (n_rows, n_in)).astype(np.float32)
    rows[0] = 0
    out = np.full((n_rows + 1, n_out), 7, np.float32)
    made = Rounded(matrix, kernels_for())
    for _ in range(2):
        made.write(rows, out)
    bound = n_in / 127 * np.abs(rows).max(1, keepdims=True) * np.abs(matrix).max(0)
    assert (np.abs(out[:n_rows] - rows @ matrix) <= bound + 1e-6).all()
    assert (out[n_rows] == 7).all()


# The LSTM. --------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[3, 18], ids="width {}".format)
def lstm(request):
    width = request.param
    rng = np.random.default_rng(7)
    inputs = rng.normal(0, 1, (sum(LENGTHS), 4 * width)).astype(np.float32)
    recurrent = rng.normal(0, 1.7 / width**0.5, (width, 4 * width)).astype(np.float32)
    return inputs, recurrent, rng.normal(0, 1, (sum(LENGTHS), width)).astype(np.float32)


def sentence_by_sentence(inputs, recurrent, *, backward):
    outputs = []
    start = 0
    for length in LENGTHS:
        here = inputs[start : start + length]
        start += length
        outputs.append(plain_lstm(here[::-1], recurrent)[::-1] if backward else plain_lstm(here, recurrent))
    return np.concatenate(outputs)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_lstm_over_a_ragged_batch_is_that_over_each_sentence(lstm, direction):
    inputs, recurrent, weights = lstm
    steps = TimeSteps(LENGTHS)
    order = getattr(steps, direction)
    outputs, memory = lstm_forward(kernels_for(), inputs[order], recurrent, steps)
    exact = inputs.astype(float), recurrent.astype(float)

    def twin():
        return sentence_by_sentence(*exact, backward=direction == "backward")

    def loss():
        return (twin() * weights).sum()

    np.testing.assert_allclose(outputs, twin()[order], atol=1e-5)
    d_gates, d_recurrent = lstm_backward(kernels_for(), weights[order], outputs, memory, recurrent, steps)
    np.testing.assert_allclose(d_gates, numerical_gradient(loss, exact[0])[order], atol=1e-4)
    np.testing.assert_allclose(d_recurrent, numerical_gradient(loss, exact[1]), atol=1e-4)


@pytest.mark.parametrize("lengths", [[1], [4], [1, 1, 1], [2, 5, 3], LENGTHS, [5, 1, 1, 4, 5, 2]])
def test_time_steps_hold_every_node_once_beside_those_of_the_same_step(lengths):
    steps = TimeSteps(lengths)
    longest_first = sorted(range(len(lengths)), key=lambda i: -lengths[i])  # of equals the first first
    forward, backward = [], []
    for t in range(max(lengths)):
        for i in longest_first:
            if t < lengths[i]:
                forward.append(sum(lengths[:i]) + t)
                backward.append(sum(lengths[: i + 1]) - 1 - t)
    assert steps.forward.tolist() == forward
    assert steps.backward.tolist() == backward
    assert steps.sizes.tolist() == [sum(length > t for length in lengths) for t in range(max(lengths))]


# Adam. ------------------------------------------------------------------------------------------------------------


def plain_adam(start, gradients, rates):
    """Adam on one row, in doubles; None is a step in which the row was not used. Returns it and its average."""
    value, average = start.astype(float), start.astype(float)
    first, second = np.zeros_like(value), np.zeros_like(value)
    for step, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        if gradient is not None:
            first = 0.9 * first + 0.1 * gradient
            second = 0.98 * second + 0.02 * gradient**2
            correct = np.sqrt(1 - 0.98**step) / (1 - 0.9**step)
            value = value - rate * correct * first / (np.sqrt(second) + 1e-8)
        average = 0.995 * average + 0.005 * value
    return value, average


@pytest.mark.parametrize("ask_often", [False, True])
def test_rows_are_updated_when_used_and_averaged_over_all_steps(ask_often):
    rng = np.random.default_rng(3)
    start = rng.normal(0, 1, (6, 4)).astype(np.float32)
    adam = Adam({"rows": start.copy()})
    used, rates = [[] for _ in start], []
    for step in range(40):
        numbers = rng.integers(0, 5, rng.integers(1, 7)).astype(np.int32)  # some twice, row 5 never
        gradients = rng.normal(0, 1, (len(numbers), 4)).astype(np.float32)
        rates.append(0.01 * (1 + step % 3))
        adam.begin(rates[-1])
        adam.update_rows("rows", numbers, gradients)
        for row in range(6):
            used[row].append(gradients[numbers == row].astype(float).sum(0) if row in numbers else None)
        if ask_often:
            adam.average(("rows",))
    averaged = adam.average(("rows",))["rows"]
    for row, gradients in enumerate(used):
        value, average = plain_adam(start[row], gradients, rates)
        np.testing.assert_allclose(adam.parameters["rows"][row], value, atol=1e-5)
        np.testing.assert_allclose(averaged[row], average, atol=1e-5)
    assert (adam.parameters["rows"][5] == start[5]).all()


def test_rows_used_in_every_step_are_updated_like_a_whole_parameter():
    rng = np.random.default_rng(4)
    start = rng.normal(0, 1, (5, 3)).astype(np.float32)
    adam = Adam({"rows": start.copy(), "whole": start.copy()})
    for _ in range(20):
        gradient = rng.normal(0, 1, start.shape).astype(np.float32)
        adam.begin(0.01)
        adam.update("whole", gradient)
        order = rng.permutation(5).astype(np.int32)
        adam.update_rows("rows", order, gradient[order])
    averaged = adam.average(("rows",))
    np.testing.assert_allclose(adam.parameters["rows"], adam.parameters["whole"], atol=1e-6)
    np.testing.assert_allclose(averaged["rows"], averaged["whole"], atol=1e-6)
    expected = [plain_adam(start[0], [None] * 20, [0.01] * 20)[0]]
    assert not np.allclose(averaged["whole"][0], expected)


@pytest.mark.parametrize("page", [1, 7, 30, 1000])
def test_the_products_of_each_node_are_computed_once(monkeypatch, page):
    monkeypatch.setattr(network, "PAGE", page)
    sentences = toy_sentences(12)
    actions = Actions.of(make_system("swap"), [sentence.tree for sentence in sentences])
    workspace = NetworkLearner.begin(actions, sentences, NetworkOptions(), 1).model().workspace()
    written = []
    write = workspace._slots.write
    monkeypatch.setattr(workspace._slots, "write", lambda rows, out: (written.append(len(rows)), write(rows, out)))
    workspace.encode([words_of(sentence) for sentence in sentences])
    for index, sentence in enumerate(sentences):
        workspace.turn_to(index)
        assert len(sentence) < written[-1] <= max(page, len(sentence) + 1)
    assert sum(written) == sum(len(sentence) + 1 for sentence in sentences)


# Words and settings. ----------------------------------------------------------------------------------------------


def test_words_are_numbered_with_0_for_the_unknown_and_1_for_the_root():
    sentences = toy_sentences(10)
    vocabulary = vocabulary_of(sentences)
    batch = number_words(vocabulary, [words_of(sentences[0]), [("Zibzab", "?", "?", "?", "Odd=Yes|Case=Nom")]])
    assert batch.lengths == [len(sentences[0]) + 1, 2]
    assert batch.single[0].tolist() == [1, 1, 1, 1]
    assert batch.single[batch.offsets[1]].tolist() == [1, 1, 1, 1]
    assert batch.single[-1].tolist() == [0, 0, 0, 0]
    feats, starts = batch.bags["feats"]
    assert feats[starts[-1] :].tolist() == [0, vocabulary.numbers["feats"]["Case=Nom"]]
    assert (batch.single[1 : batch.offsets[1]] > 1).all()
    assert vocabulary.root() == [[1], [1], [1], [1], [1], [1] * 5]
    assert vocabulary.number(("WUG", "_", "_", "_", "_"))[0] == [vocabulary.numbers["lower"]["wug"]]


def test_words_are_numbered_likewise_feature_by_feature():
    words = [word for sentence in toy_sentences(5) for word in words_of(sentence)]
    words.append(("Zibzab", "?", "?", "?", "Odd=Yes|Case=Nom"))
    vocabulary = vocabulary_of(toy_sentences(10))
    for some in (words, words[:1], []):
        twin, found = number_words(vocabulary, [some]), number_distinct(vocabulary, some)
        assert found.lengths == twin.lengths
        assert found.single.tolist() == twin.single.tolist()
        assert {name: array.tolist() for name, array in found.several.items()} == {
            name: array.tolist() for name, array in twin.several.items()
        }
        assert {name: [array.tolist() for array in arrays] for name, arrays in found.bags.items()} == {
            name: [array.tolist() for array in arrays] for name, arrays in twin.bags.items()
        }


@pytest.mark.parametrize("name", ["<unknown>", "<root>", "<UNKNOWN>"])
def test_a_word_called_like_the_unknown_or_the_root_does_not_upset_the_numbers(name):
    sentences = [s.with_tree(s.tree) for s in toy_sentences(6)]
    for sentence in sentences:
        sentence.words[0] = (sentence.words[0][0], name, name, *sentence.words[0][3:])
    vocabulary = vocabulary_of(sentences)
    for field, numbers in vocabulary.numbers.items():
        assert list(numbers.values()) == list(range(len(numbers))), field
        assert len(vocabulary.counts[field]) == len(numbers)


def test_an_unknown_learner_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown learner 'oak'; choose from network"):
        learner_class("oak", "Model")
