"""The arc head: its gradients are those of a slow twin that goes through all trees, its labels and votes obvious."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from test_network import NO_DROPOUT, Recorder, examples_of, log_softmax, numerical_gradient

from brute_trees import all_trees
from tanglewood.core.actions import Actions
from tanglewood.learners.base import Example, TreeVote
from tanglewood.learners.network import arcs
from tanglewood.learners.network.arc_core import N_KINDS, kind_of, voted_labels
from tanglewood.learners.network.arcs import WORDS, ArcHead, ArcTarget, ArcTrainer, NetworkArcs, new_arc_parameters
from tanglewood.learners.network.learner import NetworkLearner, NetworkOptions, vocabulary_of
from tanglewood.ml.kernels import kernels_for
from tanglewood.systems import make_system
from toy import toy_sentences

LABELS = ["a", "b", "c", "root"]
EXAMPLES = [
    Example([None] * 3, [-1, 2, 0, 2], [-1, 0, 3, 1]),
    Example([None] * 4, [-1, 3, 4, 0, 3], [-1, 2, 0, 3, 1]),  # 1 and 2 cross
    Example([None], [-1, 0], [-1, 3]),
]
OFFSETS = [0, 4, 9, 11]
N_WORD = 5


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(arcs, "WIDTH", 3)
    monkeypatch.setattr(arcs, "LABEL_WIDTH", 4)


def actions_of(*, single_root=True, root_label=True):
    return Actions(make_system("swap", single_root=single_root), LABELS, LABELS.index("root") if root_label else -1)


def parameters_of(seed=0):
    rng = np.random.default_rng(seed)
    made = new_arc_parameters(N_WORD, len(LABELS), rng)
    return {name: (value + rng.normal(0, 0.5, value.shape)).astype(np.float32) for name, value in made.items()}


def contexts_of(seed=1):
    return np.random.default_rng(seed).normal(0, 1, (OFFSETS[-1], N_WORD)).astype(np.float32)


def fixed_mask(_rng, shape, drop):
    """Dropout that drops the same units whenever it is asked for the same shape."""
    return (np.random.default_rng(shape).random(shape) >= drop) / (1 - drop)


class Twin:
    """The head written arc by arc, in doubles."""

    def __init__(self, actions, p, contexts, drop=0.0):
        self.actions, self.p = actions, p
        self.rows = contexts @ p[WORDS]
        shape = (len(contexts), 2 * arcs.WIDTH)
        self.mask = fixed_mask(None, shape, drop)  # the same in both turns
        self.drop = drop

    def hidden(self, sums):
        return np.maximum(sums, 0) * self.mask

    def table(self, turn, hidden, begin, end):
        w, p = arcs.WIDTH, self.p
        scores = np.full((end - begin, end - begin), -np.inf)
        for head in range(end - begin):
            for word in range(1, end - begin):
                if head != word:
                    h, d = hidden[begin + head, w:], hidden[begin + word, :w]
                    kind = kind_of(head, word)
                    scores[head, word] = (
                        h @ p["arc.pairs"][turn] @ d
                        + p["arc.heads"][turn] @ h
                        + p["arc.kinds"][turn][kind]
                        + p["arc.kind_words"][turn][kind] @ d
                        + p["arc.kind_heads"][turn][kind] @ h
                    )
        return scores

    def scores(self):
        """First and all scores of each sentence."""
        w = arcs.WIDTH
        sums = self.rows[:, : 2 * w] + self.p["arc.bias"]
        hidden = self.hidden(sums)
        likely = np.zeros_like(sums)
        first = []
        for begin, end in pairwise(OFFSETS):
            scores = self.table(0, hidden, begin, end)
            first.append(scores)
            for word in range(1, end - begin):
                shares = np.exp(log_softmax(scores[:, word][None])[0])
                for head in range(end - begin):
                    likely[begin + word, :w] += shares[head] * hidden[begin + head, w:]
                    likely[begin + head, w:] += shares[head] * hidden[begin + word, :w]
        hidden = self.hidden(sums + likely @ self.p["arc.again"])
        bounds = pairwise(OFFSETS)
        return first, [one + self.table(1, hidden, begin, end) for one, (begin, end) in zip(first, bounds, strict=True)]

    def label_scores(self, begin, heads):
        w, wide, p = arcs.WIDTH, arcs.LABEL_WIDTH, self.p
        found = []
        for word, head in enumerate(heads, 1):
            sums = self.rows[begin + word, 2 * w : 2 * w + wide] + self.rows[begin + head, 2 * w + wide :]
            sums = sums + p["arc.label_kinds"][kind_of(head, word)] + p["arc.label_bias"]
            found.append(np.maximum(sums, 0))
        return np.array(found)

    def loss(self):
        """Of all trees with the right number of roots, the gold one should be probable; so should heads and labels."""
        total = 0.0
        first, scores = self.scores()
        learnt = []  # hidden layers of the labels that are learnt, of all sentences
        labels = []
        for example, begin, one, table in zip(EXAMPLES, OFFSETS, first, scores, strict=False):
            gold, n = example.heads[1:], len(example.words)
            single = self.actions.system.single_root
            trees = [t for t in all_trees(n) if not single or t.count(0) == 1]
            values = np.array([sum(table[head, word] for word, head in enumerate(t, 1)) for t in trees])
            total -= log_softmax(values[None])[0, trees.index(gold)]
            for word, head in enumerate(gold, 1):
                total -= float(arcs.FIRST_SHARE) * log_softmax(one[:, word][None])[0, head]
            for hidden, head, label in zip(self.label_scores(begin, gold), gold, example.labels[1:], strict=True):
                if head > 0 or self.actions.root_label < 0:
                    learnt.append(hidden)
                    labels.append(label)
        hidden = np.array(learnt)
        scores = (hidden * fixed_mask(None, hidden.shape, self.drop)) @ self.p["arc.label_weight"]
        scores += self.p["arc.label_out"]
        if self.actions.root_label >= 0:
            scores[:, self.actions.root_label] = -1e300
        total -= log_softmax(scores)[np.arange(len(labels)), labels].sum()
        return total / sum(len(example.words) for example in EXAMPLES)


@pytest.mark.parametrize(  # every pair of choices once
    ("single_root", "root_label", "drop"),
    [(True, True, 0.0), (True, False, 0.3), (False, True, 0.3), (False, False, 0.0)],
)
def test_every_gradient_is_that_of_a_slow_twin(monkeypatch, single_root, root_label, drop):
    monkeypatch.setattr(arcs, "dropout_mask", lambda *given: fixed_mask(*given).astype(np.float32))
    actions = actions_of(single_root=single_root, root_label=root_label)
    parameters, contexts = parameters_of(), contexts_of()
    gradients = {name: np.full_like(value, 7) for name, value in parameters.items()}  # all are written
    trainer = ArcTrainer(parameters, gradients, actions, dropout=drop)
    d_rows = trainer.learn(
        contexts @ parameters[WORDS],
        OFFSETS,
        [ArcTarget(e.heads, e.labels) for e in EXAMPLES],
        np.random.default_rng(0),
    )
    gradients[WORDS] = contexts.T @ d_rows
    doubles = {name: value.astype(np.float64) for name, value in parameters.items()}
    for name, value in doubles.items():
        wanted = numerical_gradient(lambda: Twin(actions, doubles, contexts, drop).loss(), value, 1e-5)
        np.testing.assert_allclose(gradients[name], wanted, atol=3e-5, rtol=3e-4, err_msg=name)
        assert np.abs(wanted).max() > 1e-3, f"{name} has no gradient: nothing is tested"


@pytest.mark.parametrize("reproducible", [False, True])
def test_scores_and_labels_are_those_of_the_twin(reproducible):
    actions = actions_of()
    parameters, contexts = parameters_of(), contexts_of()
    head = ArcHead(parameters, actions, kernels_for(reproducible=reproducible))
    tables = head.score(contexts @ parameters[WORDS], OFFSETS)
    twin = Twin(actions, parameters, contexts)
    for index, (table, wanted) in enumerate(zip(tables, twin.scores()[1], strict=True)):
        here = np.isfinite(wanted)
        np.testing.assert_allclose(table[here], wanted[here], atol=1e-4)
        gold = EXAMPLES[index].heads[1:]
        hidden = twin.label_scores(OFFSETS[index], gold)
        scores = hidden @ parameters["arc.label_weight"] + parameters["arc.label_out"]
        found = head.labels(index, gold)
        for row, head_word in enumerate(gold):
            if head_word == 0:  # settled
                assert found[row].argmax() == actions.root_label
            else:
                np.testing.assert_allclose(found[row, :-1], scores[row, :-1], atol=1e-4)
                assert found[row, -1] < -1e29


def test_kinds_of_arcs_are_told_apart_by_direction_and_length():
    kinds = [kind_of(30, 30 + length) for length in (1, 2, 3, 4, 5, 6, 7, 10, 11, 20, 21, 500)]
    assert kinds == [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    assert [kind_of(30 + length, 30) for length in (1, 6, 21)] == [8, 12, 15]
    assert {kind_of(0, word) for word in (1, 5, 100)} == {16}
    assert N_KINDS == 17


def test_votes_are_added_where_trees_have_the_arc_and_count_for_labels():
    actions = actions_of()
    parameters, contexts = parameters_of(), contexts_of()
    head = ArcHead(parameters, actions)
    tables = head.score(contexts @ parameters[WORDS], OFFSETS)
    scored = NetworkArcs(tables[0], head, 0)
    votes = [TreeVote([2, 0, 2], [0, 3, 1], 0.75), TreeVote([2, 0, 1], [0, 3, -1], 0.25)]
    before = tables[0].copy()
    added = scored.with_votes(votes, 2.0) - before
    wanted = np.zeros_like(added)
    wanted[2, 1] = wanted[0, 2] = 2
    wanted[2, 3], wanted[1, 3] = 1.5, 0.5
    np.testing.assert_allclose(added, wanted, atol=1e-5)
    assert (tables[0] == before).all()
    chances = scored.label_chances([2, 0, 2])
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    for label in (0, 1, 2):
        sure = [TreeVote([2, 0, 2], [label, 3, label], 2.0)]
        assert scored.best_labels([2, 0, 2], sure) == [label, 3, label]
        assert scored.best_labels([2, 0, 1], sure)[2] == scored.best_labels([2, 0, 1])[2]  # another arc
    score = scored.tree_score([2, 0, 2], [0, 3, 1])
    arcs_of_tree = before[2, 1] + before[0, 2] + before[2, 3]
    assert score == pytest.approx(arcs_of_tree + np.log(chances[0, 0] * chances[2, 1]), abs=1e-4)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_encoder_learns_from_both_heads(monkeypatch, layers):
    """The gradient of what both heads share is the sum of what each of them sends back."""
    monkeypatch.setattr("tanglewood.learners.network.learner.random_batches", lambda lengths, *_: [range(len(lengths))])
    sentences = toy_sentences(4)
    labels, examples = examples_of(sentences)
    system = make_system("swap", single_root=True)
    actions = Actions(system, labels, labels.index("root"))
    oracle = system.oracle("lazy")
    found = {}
    joint = None
    for moves, with_arcs in ((True, True), (True, False), (False, True)):
        options = NetworkOptions(moves=moves, arcs=with_arcs, layers=layers, **NO_DROPOUT).resolved(100)
        learner = NetworkLearner(actions, vocabulary_of(sentences), options, 1)
        joint = joint or learner
        for name, value in learner._parameters.items():
            value[...] = joint._parameters[name]
        learner._adam = Recorder(learner._parameters)
        learner.epoch(examples, oracle)
        found[moves, with_arcs] = learner._adam.gradients
    for name, gradient in found[True, True].items():
        parts = [found[only][name] for only in ((True, False), (False, True)) if name in found[only]]
        np.testing.assert_allclose(gradient, sum(parts), atol=1e-5, err_msg=name)
        assert len(parts) == 2 or name.startswith(("arc.", "hidden.", "move.", "label."))
        assert np.abs(gradient).max() > 0


@pytest.mark.parametrize("seed", range(20))
def test_votes_for_labels_are_added_to_their_probabilities(seed):
    rng = np.random.default_rng(seed)
    n, n_labels, trees = 6, 4, int(rng.integers(0, 4))
    scores = rng.normal(0, 1, (n, n_labels)).astype(np.float32)
    own = rng.integers(0, 3, n).astype(np.int32)
    heads = rng.integers(0, 3, (trees, n)).astype(np.int32)
    labels = rng.integers(-1, n_labels, (trees, n)).astype(np.int32)
    weights = rng.random(trees).astype(np.float32)
    wanted = np.exp(log_softmax(scores.astype(float)))
    for tree in range(trees):
        for word in range(n):
            if heads[tree, word] == own[word] and labels[tree, word] >= 0:
                wanted[word, labels[tree, word]] += weights[tree]
    best = np.full(n, -1, np.int32)
    voted_labels(scores, own, heads, labels, weights, best)
    assert best.tolist() == wanted.argmax(1).tolist()


def test_nothing_is_learnt_about_the_arcs_of_very_long_sentences(monkeypatch):
    sentences = toy_sentences(8)
    labels, examples = examples_of(sentences)
    system = make_system("swap", single_root=True)
    actions = Actions(system, labels, labels.index("root"))
    limit = sorted(len(example.words) for example in examples)[4]
    gradients = []
    for some, most in ((examples, limit), ([e for e in examples if len(e.words) <= limit], 1000), (examples, 0)):
        monkeypatch.setattr("tanglewood.learners.network.learner.MOST_ARC_WORDS", most)
        monkeypatch.setattr("tanglewood.learners.network.learner.random_batches", lambda n, *_: [range(len(n))])
        options = NetworkOptions(moves=False, **NO_DROPOUT).resolved(100)
        learner = NetworkLearner(actions, vocabulary_of(sentences), options, 1)
        learner._adam = Recorder(learner._parameters)
        learner.epoch(some, None)
        gradients.append(learner._adam.gradients)
    for name, gradient in gradients[0].items():
        np.testing.assert_allclose(gradient, gradients[1][name], atol=1e-6, err_msg=name)
        assert np.abs(gradient).max() > 0
        assert not gradients[2][name].any()
