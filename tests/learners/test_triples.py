"""The triple learner: scores and gradients are those of a slow twin, and its searches find what they should."""

from __future__ import annotations

from array import array
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from brute_derivations import graph
from exhaustive import COMPILED
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.network.triple_learner import TripleOptions, right_moves
from tanglewood.learners.network.triples import N_GAPS, TripleCore, TripleTrainer, moves_by_view
from tanglewood.measure.scores import evaluate
from tanglewood.ml.words import words_of
from tanglewood.options import ParseOptions
from tanglewood.parser import Parser
from tanglewood.systems import make_system
from toy import log_softmax, node_at, toy_sentences, train_parser

LABELS = ["root", "one", "two"]
HEADS = [-1, 4, 0, 2, 2, 4]  # 4 -> 1 crosses the root's arc
LABEL_NUMBERS = [-1, 1, 0, 2, 1, 1]
N = len(HEADS) - 1
HIDDEN = 5
over_systems = pytest.mark.parametrize("name", ["attardi-all", "attardi-alls0s1"])


def small(name, seed=1, single_root=True):
    """Actions, parameters of views, and rows of the nodes of a sentence."""
    rng = np.random.default_rng(seed)
    system = make_system(name, single_root=single_root)
    shapes = {
        "hidden.bias": (3, HIDDEN),
        "hidden.empty": (9, HIDDEN),
        "hidden.gaps": (3, 2 * N_GAPS, HIDDEN),
        "move.weight": (system.n_moves, HIDDEN),
        "move.bias": (system.n_moves,),
        "label.weight": (system.n_moves - 1, HIDDEN, len(LABELS)),
        "label.bias": (system.n_moves - 1, len(LABELS)),
        "rows": (N + 1, 9 * HIDDEN),
    }
    parameters = {key: rng.normal(0, 1, shape).astype(np.float32) for key, shape in shapes.items()}
    return Actions(system, LABELS, 0), parameters, parameters.pop("rows")


class Twin:
    """Scores of moves and labels by the names of the nodes that they may see, in doubles."""

    def __init__(self, system, parameters, rows):
        self.system, self.p, self.rows = system, parameters, rows
        views = moves_by_view(system.inventory)
        self.order = [move for moves in views for move in moves]
        self.views = {move: number for number, moves in enumerate(views) for move in moves}

    def hidden(self, view, nodes):
        total = self.p["hidden.bias"][view]
        for place, node in enumerate(nodes, 3 * view):
            mine = slice(place * HIDDEN, (place + 1) * HIDDEN)
            total = total + (self.p["hidden.empty"][place] if node < 0 else self.rows[node, mine])
        for number, (low, high) in enumerate(pairwise(nodes)):
            gap = next((k for k, most in enumerate([0, 1, 2, 3, 4, 6, 10, 20]) if high - low <= most), 8)
            total = total + self.p["hidden.gaps"][view, N_GAPS * number + (0 if min(low, high) < 0 else gap)]
        return np.maximum(total, 0)

    def score(self, move, nodes):
        place = self.order.index(move)
        return self.p["move.weight"][place] @ self.hidden(self.views[move], nodes) + self.p["move.bias"][place]

    def nodes(self, s, move):
        addresses = (("s1", "s0", "b0"), ("s2", "s0", "b0"), ("s2", "s1", "b0"))[self.views[move]]
        return [node_at(s, address) for address in addresses]

    def choices(self, s):
        """The scores of the legal moves of a state."""
        return {move: self.score(move, self.nodes(s, move)) for move in self.system.legal_moves(s)}

    def labels(self, s, move):
        """The log-probabilities of the labels of a move that is no arc from the root: any but root."""
        scores = self.hidden(self.views[move], self.nodes(s, move)) @ self.p["label.weight"][move - 1]
        return log_softmax((scores + self.p["label.bias"][move - 1])[1:])


def walk(system, moves):
    """The states in which the moves are taken."""
    s = system.start(N)
    for move in moves:
        yield s, move
        system.apply(s, move)


def test_every_move_has_one_view_and_the_views_are_those_that_the_chart_knows():
    system = make_system("attardi-all")
    views = moves_by_view(system.inventory)
    named = [{system.moves[move].name for move in view} for view in views]
    assert named == [
        {"SHIFT", "s1>s0", "s0>s1", "b0>s0", "b0>s1"},
        {"s2>s0", "s0>s2", "b0>s2"},
        {"s2>s1", "s1>s2"},
    ]


@over_systems
def test_tables_and_states_have_the_scores_of_the_twin(name):
    actions, parameters, rows = small(name)
    core = TripleCore(parameters, actions)
    core.use(np.vstack([rows[:1] * 9, rows]), 1)
    system = actions.system
    table = np.zeros(system.exact_moves().shape(N), np.float32)
    core.fill(table)
    twin = Twin(system, parameters, rows)
    search = Search(actions, core)
    rng = Random(1)
    seen = set()
    for _ in range(30):
        s = system.start(N)
        while not system.is_final(s):
            for move, _, score in search.weigh(s) if s.depth > 1 else ():
                a, b, j = twin.nodes(s, move)
                j = N + 1 if j < 0 else j
                assert score == table[move, j * (j - 1) // 2 + b, a]
                assert score == pytest.approx(twin.choices(s)[move], abs=1e-4)
                seen.add(move)
            system.apply(s, rng.choice(system.legal_moves(s)))
    assert len(seen) == system.n_moves


def gradients_like(parameters):
    return {key: np.zeros_like(value) for key, value in parameters.items()}


def check_gradients(loss, parameters, rows, gradients, d_rows):
    """Compare with central differences of the loss in random directions; it reads the parameters in doubles."""
    rng = np.random.default_rng(3)
    doubles = {key: value.astype(np.float64) for key, value in parameters.items()} | {"rows": rows.astype(np.float64)}
    tested = 0
    for key, found in (gradients | {"rows": d_rows}).items():
        for _ in range(10):
            step = 1e-6 * rng.normal(0, 1, found.shape) * (rng.random(found.shape) < 0.2)
            wanted = (loss(doubles | {key: doubles[key] + step}) - loss(doubles | {key: doubles[key] - step})) / 2e-6
            assert (found * step).sum() / 1e-6 == pytest.approx(wanted, abs=1e-3, rel=1e-3), key
        tested += np.abs(found).max() > 1e-3
    assert tested == len(gradients) + 1


def label_loss(twin, s, move):
    """Of the label of the right move; arcs from the root have no choice."""
    head, word = twin.system.arc(s, move)
    return 0.0 if word <= 0 or head == 0 else -twin.labels(s, move)[LABEL_NUMBERS[word] - 1]


def learning(name):
    actions, parameters, rows = small(name)
    gradients, d_rows = gradients_like(parameters), np.zeros_like(rows)
    trainer = TripleTrainer(parameters, gradients, actions, dropout=0.0, seed=1)
    trainer.use(rows, 0)
    trainer.use_gradient(d_rows)
    oracle = actions.system.oracle("static")
    oracle.bind(HEADS, LABEL_NUMBERS)
    moves = right_moves(actions.system, oracle, N)
    assert moves is not None
    return actions, parameters, rows, gradients, d_rows, trainer, oracle, moves


def twin_of(system, doubles):
    return Twin(system, doubles, doubles["rows"])


@over_systems
def test_gradients_of_single_moves_are_those_of_their_cross_entropy(name):
    actions, parameters, rows, gradients, d_rows, trainer, oracle, moves = learning(name)
    trainer.learn(Search(actions, trainer), oracle, State(N), 0)

    def loss(doubles):
        twin, total = twin_of(actions.system, doubles), 0.0
        for s, move in walk(actions.system, moves):
            choices = twin.choices(s)
            scores = log_softmax(np.array(list(choices.values())))
            total += label_loss(twin, s, move) - scores[list(choices).index(move)]
        return total

    check_gradients(loss, parameters, rows, gradients, d_rows)


@over_systems
def test_gradients_of_derivations_are_those_of_their_difference(name):
    actions, parameters, rows, gradients, d_rows, trainer, oracle, moves = learning(name)
    system = actions.system
    table = np.zeros(system.exact_moves().shape(N), np.float32)
    trainer.turn_to(0)
    trainer.fill(table)
    found = system.exact_moves().best(table, HEADS, 1.0).moves
    assert found != moves
    search = Search(actions, trainer)
    trainer.follow(search, oracle, State(N), moves, -1.0, True)
    trainer.follow(search, oracle, State(N), found, 1.0, False)

    def value(twin, derivation):
        return sum(twin.choices(s)[move] for s, move in walk(system, derivation) if len(system.legal_moves(s)) > 1)

    def loss(doubles):
        twin = twin_of(system, doubles)
        labels = sum(label_loss(twin, s, move) for s, move in walk(system, moves))
        return value(twin, found) - value(twin, moves) + labels

    check_gradients(loss, parameters, rows, gradients, d_rows)


def test_dropped_units_are_the_same_in_all_of_a_sentence():
    actions, parameters, rows = small("attardi-alls0s1")
    trainer = TripleTrainer(parameters, gradients_like(parameters), actions, dropout=0.5, seed=1)
    trainer.use(rows, 0)
    tables = np.zeros((3, *actions.system.exact_moves().shape(N)), np.float32)
    trainer.turn_to(0)
    trainer.fill(tables[0])
    trainer.fill(tables[1])
    trainer.turn_to(0)
    trainer.fill(tables[2])
    assert (tables[0] == tables[1]).all()
    assert (tables[0] != tables[2]).any()


@pytest.fixture(scope="module", params=["attardi-all", "attardi-alls0s1"])
def parser(request):
    return train_parser(toy_sentences(20), system=request.param, learner="triples", settings={"epochs": 4})


def value_of(search, n, moves):
    """The sum of the scores of all moves that are not forced."""
    system, total = search.system, 0.0
    s = system.start(n)
    for move in moves:
        scores = {legal: score for legal, _, score in search.weigh(s)}
        total += scores[move] if len(scores) > 1 else 0.0
        system.apply(s, move)
    return total


def test_exact_search_finds_the_best_derivation_and_a_wide_beam_the_same(parser):
    system, workspace = parser.model.actions.system, parser.model.workspace()
    sentences = [s for s in toy_sentences(40, seed=3) if len(s) <= (6 if COMPILED else 4)][:10]
    assert len(sentences) > 2
    workspace.encode([words_of(sentence) for sentence in sentences])
    for index, sentence in enumerate(sentences):
        n = len(sentence)
        search = Search(parser.model.actions, workspace.turn_to(index))
        found = system.exact_moves().best(workspace.tables(index))
        assert found.value == pytest.approx(value_of(search, n, found.moves), abs=1e-3)
        state = State(n)
        wide = Beam(search, len(graph(system.name, n, system.single_root)), normalized=False, weighs_labels=False)
        best = wide.parse(state)[0]
        assert best == pytest.approx(found.value, abs=1e-3)
        assert state.word_heads() == list(found.heads)[1:]
        parsed = parser.parse(sentence, search="exact-moves")
        assert list(parsed.heads) == list(found.heads)


def test_it_learns_and_its_searches_can_be_asked_for(parser):
    sentences = toy_sentences(10, seed=2)
    for options in ({"search": "greedy"}, {"beam": 8}, {"search": "exact-moves"}, {"reproducible": True}):
        parsed = list(parser.parse_all(sentences, ParseOptions(**options)))
        assert [len(sentence.tree) for sentence in parsed] == list(map(len, sentences))
    shown = next(parser.parse_all(sentences, search="exact-moves", show_search=True))
    assert "search = exact-moves, proof: chart" in shown.comments


@pytest.mark.skipif(not COMPILED, reason="twelve epochs take their time when interpreted")
def test_whole_derivations_are_learnt_and_the_epoch_is_chosen_by_exact_search():
    """Moves that were learnt one by one do for greedy search, but their sums say little about derivations."""
    train, dev = toy_sentences(80), toy_sentences(30, seed=9)
    las = {}
    for margin in (0.0, 0.5):
        learnt = train_parser(train, dev, learner="triples", settings={"epochs": 12, "margin": margin})
        las[margin] = evaluate(dev, learnt.parse_all(dev, search="exact-moves")).las
        assert learnt.description["dev"]["las"] == pytest.approx(las[margin], abs=0.01)
    assert las[0.5] > max(95, las[0.0] + 10)


def test_sentences_beyond_the_limits_fall_back_on_the_beam_and_say_so(parser):
    sentence = toy_sentences(1)[0]
    for limits in ({"max_length": len(sentence) - 1}, {"max_memory": 100}):
        worker = parser.worker(ParseOptions(search="exact-moves", **limits))
        ((parsed,),) = worker.parse([sentence])
        assert f"search = beam instead of exact-moves: {len(sentence)} words are beyond the limit" in parsed.comments
        assert worker.fallbacks == 1
        assert parsed.tree == parser.parse(sentence, beam=8)
    narrow = parser.worker(ParseOptions(search="exact-moves", beam=1, max_length=1))
    assert any(one.startswith("search = greedy instead of") for one in narrow.parse([sentence])[0][0].comments)


def test_other_models_and_systems_have_no_such_search(parser):
    network = train_parser(toy_sentences(4), settings={"epochs": 1})
    with pytest.raises(ConfigError, match="'exact-moves' is for models that score moves by three nodes"):
        network.parse(toy_sentences(1)[0], search="exact-moves")
    for wrong in ({"nbest": 2, "beam": 4}, {"confidence": True}, {"min_risk": True}):
        with pytest.raises(ConfigError):
            list(parser.parse_all(toy_sentences(1), search="exact-moves", **wrong))
    with pytest.raises(ConfigError, match="no exact search over the moves of swap"):
        train_parser(toy_sentences(4), learner="triples", system="swap")
    with pytest.raises(ConfigError, match="needs the reduces"):
        train_parser(toy_sentences(4), learner="triples", system="attardi")


def test_the_model_is_the_same_from_its_file(tmp_path, parser):
    parser.save(tmp_path / "model.tw")
    loaded = Parser.load(tmp_path / "model.tw")
    sentences = toy_sentences(5, seed=5)
    parsed, again = (
        [sentence.tree for sentence in one.parse_all(sentences, search="exact-moves")] for one in (parser, loaded)
    )
    assert parsed == again


def test_scores_without_bounds_are_refused(parser):
    changed = {key: value.copy() for key, value in parser.model.parameters.items()}
    changed["move.weight"] = np.full_like(changed["move.weight"], 3e38)
    changed["hidden.bias"] = np.ones_like(changed["hidden.bias"])
    broken = Parser(type(parser.model)(parser.model.actions, parser.model.vocabulary, changed), parser.description)
    with pytest.raises(ModelError, match="too large"), np.errstate(all="ignore"):
        broken.parse(toy_sentences(1)[0], search="exact-moves")


@pytest.mark.parametrize(
    "wrong", [{"arcs": True}, {"moves": False}, {"margin": 2.0}, {"cost": -1.0}, {"explore": 0.3}, {"favour_rare": 0.2}]
)
def test_settings_that_it_cannot_have_are_refused(wrong):
    with pytest.raises(ConfigError):
        TripleOptions(**wrong)


def test_long_sentences_are_learnt_move_by_move_and_uncovered_trees_not_at_all():
    crossing = toy_sentences(12)
    shorter = train_parser(crossing, learner="triples", settings={"epochs": 2, "margin": 1.0, "chart_words": 0})
    local = train_parser(crossing, learner="triples", settings={"epochs": 2, "margin": 0.0})
    margin = train_parser(crossing, learner="triples", settings={"epochs": 2, "margin": 1.0})
    weights = [one.model.parameters["move.weight"] for one in (shorter, local, margin)]
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()
    system = make_system("attardi-alls0s1")
    oracle = system.oracle("static")
    oracle.bind([-1, 3, 4, 5, 6, 0, 1])
    reached = oracle.reaches_gold(State(6))
    assert (right_moves(system, oracle, 6) is not None) == reached
    assert isinstance(right_moves(system, oracle, 6), array if reached else type(None))
