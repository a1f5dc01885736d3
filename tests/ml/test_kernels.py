"""Reproducible kernels: the same bits from every family that the machine has, and from their plain twins."""

from __future__ import annotations

import pickle
from hashlib import sha256
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.arithmetic import VARIABLE, Arithmetic, available, chosen
from tanglewood.cli import main
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.learners.network.arcs import new_arc_parameters
from tanglewood.learners.network.learner import NetworkModel, Sizes, new_parameters, vocabulary_of
from tanglewood.ml import vectors_plain
from tanglewood.ml.dense import dense_rows, lstm_forward_steps
from tanglewood.ml.encoder import Encoder, Shapes, TimeSteps
from tanglewood.ml.kernels import Kernels
from tanglewood.ml.products import Rounded, Unrounded, linear, products_with
from tanglewood.ml.vocabulary import Vocabulary
from tanglewood.ml.words import untagged, words_of
from tanglewood.options import ParseOptions
from tanglewood.systems import make_system
from tanglewood.text import tagger
from toy import toy_sentences

PLAIN = SimpleNamespace(reproducible=True)  # all that the twins want to know
TEXT = """The ferry to the island leaves at noon, unless the wind that nobody had asked for comes back. We were told \
about a lighthouse yesterday which no one has painted since 1962. "Which of the two keys did you say opens it?" asked \
Mr. Ortega, who'd lost his own. Not that it matters: I'll e-mail the harbour master (again!) & hope.

What are you waiting for? Soup was eaten, songs were sung, and a parcel arrived for Ana that weighed 3.5 kg."""


@pytest.fixture(params=available())
def kernels(request):
    """The reproducible kernels of each family."""
    return Kernels(Arithmetic(request.param, True))


def odd_numbers(rng, shape, scale=1.0):
    """Random numbers, among them zeros of both signs, denormal and large ones."""
    numbers = rng.normal(0, scale, shape).astype(np.float32)
    odd = np.array([0, -0.0, 1e-40, -3e-42, 1e-45, 2e-38, 1e9, -7e11], np.float32)
    places = rng.random(shape) < 0.2
    numbers[places] = rng.choice(odd, places.sum())
    return numbers


@pytest.mark.parametrize(("n_rows", "n_in", "n_out"), [(1, 1, 1), (3, 5, 15), (4, 16, 16), (13, 33, 77), (7, 64, 200)])
def test_linear_layers_are_summed_in_the_same_order(kernels, n_rows, n_in, n_out):
    rng = np.random.default_rng(n_out)
    rows, weights, bias = (odd_numbers(rng, shape) for shape in ((n_rows, n_in), (n_in, n_out), (n_out,)))
    twin = np.zeros((n_rows + 1, n_out), np.float32)
    vectors_plain.dense_layer(PLAIN, twin, bias, weights, rows)
    out = np.zeros_like(twin)
    dense_rows(kernels, out, bias, weights, rows)
    assert out.tobytes() == twin.tobytes()
    assert linear(kernels, np.asfortranarray(rows), weights, bias).tobytes() == twin[:-1].tobytes()
    for row, sums in zip(rows, twin, strict=False):  # and in which order
        total = bias.copy()
        for value, weight in zip(row, weights, strict=True):
            total += value * weight
        assert total.tobytes() == sums.tobytes()


@pytest.mark.parametrize(("n_rows", "n_in", "n_out"), [(1, 4, 64), (5, 12, 128), (6, 128, 64), (13, 512, 320)])
def test_products_of_integers_are_the_same(kernels, n_rows, n_in, n_out):
    rng = np.random.default_rng(n_rows)
    matrix = odd_numbers(rng, (n_in, n_out), 0.3)
    matrix[:, 3] = 0
    rows = odd_numbers(rng, (n_rows, n_in), 2)
    rows[n_rows // 2] = rng.choice([1e-40, 1e-45, 0], n_in)
    rows[-1] = rng.choice([3e25, -3e25, 1], n_in)
    rows[0] = np.clip(rows[0], -3, 3)
    made = products_with(matrix, kernels)
    assert isinstance(made, Rounded)
    out = np.full((n_rows + 1, n_out), 7, np.float32)
    for _ in range(2):
        made.write(rows, out)
    whole = np.rint(matrix / made.scales).astype(np.int64)
    for row, found in zip(rows, out, strict=False):
        largest = np.abs(row).max()
        factor = np.float32(127) / largest if largest > 1e-30 else np.float32(0)
        inputs = np.trunc(row * factor + np.float32(128) + np.float32(0.5)).astype(np.int64) - 128
        assert (
            (inputs @ whole).astype(np.float32) * (largest / np.float32(127) * made.scales)
        ).tobytes() == found.tobytes()
    assert (out[n_rows] == 7).all()


def test_a_matrix_that_does_not_fit_is_not_rounded(kernels):
    rng = np.random.default_rng(4)
    matrix, rows = odd_numbers(rng, (6, 70)), odd_numbers(rng, (3, 6))
    made = products_with(matrix, kernels)
    assert isinstance(made, Unrounded)
    out = np.zeros((3, 70), np.float32)
    made.write(rows, out)
    assert out.tobytes() == linear(kernels, rows, matrix, np.zeros(70, np.float32)).tobytes()


@pytest.mark.parametrize("family", available())
def test_integers_are_multiplied_by_default_where_they_are_faster(family):
    """With the same bytes as reproducibly, whatever else is fused."""
    rng = np.random.default_rng(9)
    matrix, rows = odd_numbers(rng, (64, 128)), odd_numbers(rng, (5, 64))
    made = [products_with(matrix, Kernels(Arithmetic(family, reproducible))) for reproducible in (False, True)]
    assert [isinstance(one, Rounded) for one in made] == [family not in {"portable", "neon"}, True]
    if isinstance(made[0], Rounded):
        found = np.zeros((2, 5, 128), np.float32)
        for one, out in zip(made, found, strict=True):
            one.write(rows, out)
        assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("width", [3, 16, 21, 32])
def test_lstms_are_the_same(kernels, width):
    lengths = [4, 1, 6, 6, 2, 5, 3, 6, 6, 4, 6, 7, 3]  # steps of more rows than a tile has, and of fewer
    rng = np.random.default_rng(width)
    inputs = odd_numbers(rng, (sum(lengths), 4 * width), 3)
    recurrent = odd_numbers(rng, (width, 4 * width))
    recurrent[np.abs(recurrent) > 1e6] = 40
    sizes = TimeSteps(lengths).sizes

    def run(kernels, step):
        arrays = [inputs.copy(), *np.zeros((3, len(inputs), width), np.float32)]
        if step is None:
            lstm_forward_steps(kernels, *arrays, recurrent, sizes)
        else:
            start, before = 0, -1
            for size in sizes.tolist():
                step(kernels, *arrays, recurrent, start, before, size)
                start, before = start + size, start
        return b"".join(array.tobytes() for array in arrays)

    assert run(kernels, None) == run(PLAIN, vectors_plain.lstm_step)


@pytest.mark.parametrize("width", [3, 16, 32])
def test_contexts_for_parsing_are_those_of_all_steps_at_once(kernels, width):
    """Parsing holds two time steps, and looks up what words contribute to gates; training has all in arrays."""
    lengths = [4, 1, 6, 2, 5, 3, 6, 6, 7]
    rng = np.random.default_rng(width)
    shapes = {"input": (2 * width, 4 * width), "recurrent": (width, 4 * width), "bias": (4 * width,)}
    parameters = {
        f"lstm{layer}.{direction}.{name}": rng.normal(0, 0.3, shape).astype(np.float32)
        for layer in range(2)
        for direction in ("forward", "backward")
        for name, shape in shapes.items()
    }
    encoder = Encoder(parameters, (), kernels)
    table = rng.normal(0, 1, (7, 2 * width)).astype(np.float32)
    places = rng.integers(0, 7, sum(lengths)).astype(np.int32)
    found = table[places]
    encoder.add_contexts(
        found, {name: encoder.inputs(0, name, table) for name in ("forward", "backward")}, places, lengths
    )
    twin = table[places]
    for layer in range(2):
        gates = {name: encoder.inputs(layer, name, twin) for name in ("forward", "backward")}
        twin, _ = encoder._layer(layer, twin, gates, TimeSteps(lengths))
    assert found.tobytes() == twin.tobytes()


def test_sigmoid_and_tanh_are_right_to_the_seventh_digit(kernels):
    x = np.concatenate([np.linspace(-40, 40, 4001), [-1e30, 1e30, 1e-40, 0]]).astype(np.float32)
    gates = np.zeros((len(x), 4), np.float32)
    gates[:, 2] = gates[:, 3] = x  # output gate and cell
    cells, squashed, outputs = np.zeros((3, len(x), 1), np.float32)
    lstm_forward_steps(
        kernels, gates, cells, squashed, outputs, np.zeros((1, 4), np.float32), np.array([len(x)], np.int32)
    )
    np.testing.assert_allclose(gates[:, 2], 1 / (1 + np.exp(-x.astype(float).clip(-700, 700))), rtol=0, atol=1.5e-7)
    np.testing.assert_allclose(gates[:, 3], np.tanh(x.astype(float)), rtol=0, atol=2e-7)


def test_nothing_is_fused(kernels):
    """(1 + e)(1 + e) - (1 + 2e) is 0 if the product is rounded, and e^2 if not."""
    e = np.float32(2**-12)
    rows, weights = np.full((1, 1), 1 + e, np.float32), np.full((1, 64), 1 + e, np.float32)
    bias = np.full(64, -(1 + 2 * e), np.float32)
    assert (linear(kernels, rows, weights, bias) == 0).all()


def test_bags_are_summed_in_order(kernels):
    rng = np.random.default_rng(5)
    table = odd_numbers(rng, (50, 3))
    sizes = rng.integers(1, 30, 20)
    numbers = rng.integers(0, 50, sizes.sum()).astype(np.int32)
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    sums = Encoder({}, (), kernels)._sum_bags(table, numbers, starts)
    for start, size, found in zip(starts, sizes, sums, strict=True):
        total = table[numbers[start]].copy()
        for number in numbers[start + 1 : start + size]:
            total += table[number]
        assert total.tobytes() == found.tobytes()


# A network with the same random weights everywhere: whatever the machine and the build, its scores are these. ---------

SCORES = {  # by the size of the hidden layer; with 72 nothing is rounded to integers, 320 is more than MOST_USED inputs
    64: "9a96b496a0958a7eaccc4b208e2d8f4028e72ec2c234192ef42048359e3508d6",
    72: "56fc807121091fb3c05a42f175b1a5aa2e67455eb914c55859a64a9e73284640",
    320: "75808275b32c28961709cd09eadd58fa3f8026ea0cdd4e88560a79b7ca272fc3",
}


def seeded(shapes, seed):
    """Weights of these shapes from Python's own generator, which never changes."""
    rng = Random(seed)
    parameters = {}
    for name, array in shapes.items():
        scale = 0.8 if name.startswith(("embed", "move", "label")) else 0.35
        values = [scale * (2 * rng.random() - 1) for _ in range(array.size)]
        parameters[name] = np.array(values, np.float32).reshape(array.shape)
    return parameters


def seeded_model(hidden):
    """A network with such weights."""
    system = make_system("swap")
    actions = Actions(system, [f"l{number}" for number in range(21)], 0)
    vocabulary = vocabulary_of(toy_sentences(12, 1))
    moves = seeded(new_parameters(Sizes(32, 16, 2, hidden, arcs=False), vocabulary, actions, Shapes()), hidden)
    return NetworkModel(actions, vocabulary, moves | seeded(new_arc_parameters(32, 21, Shapes()), 5))


def scores_of(model):
    """The scores of all moves on the way of greedy search, and those of the beam, as text that tells every bit."""
    sentences = toy_sentences(6, 2)
    workspace = model.workspace(reproducible=True)
    workspace.encode([words_of(sentence) for sentence in sentences])
    found = []
    for index, sentence in enumerate(sentences):
        search = Search(model.actions, workspace.turn_to(index))
        s = model.actions.system.start(len(sentence))
        while not model.actions.system.is_final(s):
            found += [f"{move} {label} {score.hex()}" for move, label, score in search.weigh(s)]
            move, label = search.choose(s)
            model.actions.system.apply(s, move, label)
        found += [score.hex() for score in Beam(search, 4).parse(State(len(sentence)))]
    return "\n".join(found)


@pytest.mark.parametrize("hidden", SCORES)
@pytest.mark.parametrize("family", available())
def test_scores_are_the_same_on_every_machine_and_interpreted(monkeypatch, family, hidden):
    monkeypatch.setenv(VARIABLE, family)
    assert sha256(scores_of(seeded_model(hidden)).encode()).hexdigest() == SCORES[hidden]


ARCS = "2b00d6b69816e0c38bfe31ca9b953faa46c142c3d14c33f9db3f00304b274c32"


@pytest.mark.parametrize("family", available())
def test_arcs_are_the_same_on_every_machine_and_interpreted(monkeypatch, family):
    monkeypatch.setenv(VARIABLE, family)
    sentences = toy_sentences(6, 2)
    workspace = seeded_model(64).workspace(reproducible=True)
    workspace.encode([words_of(sentence) for sentence in sentences])
    found = []
    for index, sentence in enumerate(sentences):
        arcs = workspace.score(index)
        heads = list(sentence.tree.heads[1:])
        found += [score.hex() for row in arcs.scores[:, 1:].tolist() for score in row]
        found += [chance.hex() for row in arcs.label_chances(heads).tolist() for chance in row]
        found.append(arcs.tree_score(heads, [1] * len(heads)).hex())
    assert sha256("\n".join(found).encode()).hexdigest() == ARCS


TAGS = "35f68b231f3995b7abb0f8245bf4ef351b20bd28078ccddd66089d58d8cb2be5"


@pytest.mark.parametrize("family", available())
def test_tags_are_the_same_on_every_machine_and_interpreted(monkeypatch, family):
    forms = [sentence.forms for sentence in toy_sentences(12, 1)]
    words = [untagged(form) for sentence in forms for form in sentence]
    vocabulary = Vocabulary.of(words, tagger.EMBEDDED, tagger.LEAST)
    sizes = {"upos": 7, "xpos": 19, "feats": 30, "rule": 2}
    classes = {column: [f"{column}{number}" for number in range(size)] for column, size in sizes.items()}
    classes["rule"] = ["=/0//0/", "=/0//1/"]
    rng = Random(1)
    together = np.array([[rng.randrange(sizes[column]) for column in tagger.COLUMNS[:3]] for _ in range(40)], np.int32)
    parameters = seeded(tagger.new_parameters(vocabulary, classes, (32, 16, 2), Shapes()), 3)
    monkeypatch.setenv(VARIABLE, family)
    made = tagger.Tagger(vocabulary, classes, together, {}, parameters)
    found = made.worker(reproducible=True).tag([*forms, ["unheard-of", "Words!"]], "xpos")
    lines = [f"{tags[:4]} {[(name, gap.hex()) for name, gap in tags.choices]}" for some in found for tags in some]
    assert sha256("\n".join(lines).encode()).hexdigest() == TAGS


# The bundled model. ---------------------------------------------------------------------------------------------------


def parsed(nlp, **options):
    """Tags, trees, confidence and log-probabilities of the text, from a worker of its own."""
    worker = nlp.worker(ParseOptions(**options))
    sentences = [sentence for piece in nlp.pieces([TEXT]) for sentence in worker.parse(piece).sentences()]
    best = [worker.nbest(sentence) for sentence in sentences[:3]] if "nbest" in options else []
    scores = [(tree.heads, tree.labels, score.hex()) for trees in best for tree, score in trees]
    return "".join(sentence.to_text() for sentence in sentences), scores


def test_the_bundled_model_gives_the_same_trees_with_every_family(monkeypatch):
    nlp = tw.load()
    greedy, best = [], []
    for family in available():
        monkeypatch.setenv(VARIABLE, f"{family},reproducible")
        greedy.append(parsed(nlp, beam=1))
        best.append(parsed(nlp, beam=4, nbest=2, confidence=True))
        monkeypatch.setenv(VARIABLE, family)
        greedy.append(parsed(nlp, beam=1, reproducible=True))
    assert all(one == greedy[0] for one in greedy)
    assert all(one == best[0] for one in best)
    assert greedy[0][0].count("\troot\t") >= 6


@pytest.fixture
def asked(monkeypatch):
    """Whether kernels were asked for that are reproducible: an answer for each time that some were."""
    answers = []

    def spy(*, reproducible=False):
        answers.append(reproducible)
        return chosen(reproducible=reproducible)

    monkeypatch.setattr("tanglewood.ml.kernels.chosen", spy)
    return answers


@pytest.mark.parametrize("reproducible", [False, True])
def test_the_option_reaches_tagger_and_parser_in_other_processes_too(asked, reproducible):
    nlp = tw.load()
    worker = nlp.worker(ParseOptions(reproducible=reproducible))
    pickle.loads(pickle.dumps(worker))
    assert asked == [reproducible] * 4
    trees = list(nlp.parse_words([["Rain", "falls"]] * 3, reproducible=reproducible, processes=2))
    assert [list(tree.tree.heads[1:]) for tree in trees] == [[2, 0]] * 3


@pytest.mark.parametrize("command", [["parse"], ["draw"], ["stats"], ["find", "--form", "falls"], ["trace"]])
def test_commands_that_parse_have_the_option(asked, capsys, command):
    assert main([*command, "Rain falls ."]) == 0
    assert set(asked) == {False}
    asked.clear()
    assert main([*command, "--reproducible", "Rain falls ."]) == 0
    assert set(asked) == {True}


def test_a_trace_follows_reproducible_moves(asked, capsys, tmp_path):
    model = tmp_path / "model.tw"
    tw.load().save(model)
    assert main(["trace", "-m", str(model), "--reproducible", "Rain falls ."]) == 0
    assert set(asked) == {True}
