"""The student's gradients are those of a slow twin that spells out the loss; it learns nothing from itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_network import NO_DROPOUT, TINY, Recorder, Twin

from brute_trees import all_trees
from tanglewood.core.actions import Actions
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError
from tanglewood.learners.base import Example, StackedTree
from tanglewood.learners.network import learner as network
from tanglewood.learners.network import student as student_module
from tanglewood.learners.network.arcs import WORDS, ArcHead, ArcTarget, ArcTrainer, NetworkArcs, new_arc_parameters
from tanglewood.learners.network.core import label_sets
from tanglewood.learners.network.learner import NetworkLearner, NetworkModel, NetworkOptions, Sizes, vocabulary_of
from tanglewood.learners.network.student import StudentLearner, StudentOptions, Votes, arc_targets
from tanglewood.ml.words import words_of
from tanglewood.systems import make_system
from toy import Views, hidden_layer, log_softmax, toy_sentences

LEAST = 0.02


class SoftTwin(Twin):
    """The student written plainly: where it goes, what the teachers say there, and the cross-entropy of that."""

    def __init__(self, learner, examples, oracle, rng):
        Twin.__init__(self, learner, examples)
        self.oracle = oracle
        self.rng = rng
        self.goals = []  # for each state: probabilities of moves, and for some moves those of labels
        self.drawn_from_teachers = self.drawn_from_student = 0

    def random(self):
        self.rng = self.rng * 48271 % 2147483647  # the minimal standard generator
        return self.rng / 2147483647

    def draw(self, probabilities):
        point = self.random()
        for number, probability in enumerate(probabilities):
            point -= probability
            if probability > 0 and point < 0:
                return number
        raise AssertionError("they do not add up to 1")

    def fitting(self, s, move):
        """Which labels a move may carry; none if its label is settled."""
        head, _ = self.actions.system.arc(s, move)
        root = self.actions.root_label
        fits = [self.actions.system.is_legal(s, move, label) for label in range(self.actions.n_labels)]
        if root >= 0:
            fits[root] = False
        return np.array(fits) & (root < 0 or head != 0)

    def score(self, p, rows, s, offset, mask=1.0):
        """Probabilities of moves, and a function that gives those of a move's labels."""
        hidden = hidden_layer(p, rows, Views(self.actions.system, [s], [offset]))[0] * mask
        legal = self.actions.system.legal_moves(s)
        scores = np.full(self.actions.system.n_moves, -1e300)
        scores[legal] = (hidden @ p["move.weight"].T + p["move.bias"])[legal]

        def labels(move):
            which = label_sets(self.actions.system)[move]
            scores = hidden @ p["label.weight"][which] + p["label.bias"][which]
            return np.exp(log_softmax(np.where(self.fitting(s, move), scores, -1e300)))

        return np.exp(log_softmax(scores)), labels

    def vote(self, vote, place, s):
        """What a tree says: all moves that cost nothing are as good, and its label is the only one, if it fits."""
        tree = vote.trees[place]
        vote.oracle.bind(tree.heads, tree.labels)
        costs = vote.oracle.costs(s)
        free = [move for move in self.actions.system.legal_moves(s) if costs[move] == 0]
        moves = np.zeros(self.actions.system.n_moves)
        moves[free] = 1 / len(free)

        def labels(move):
            _, dependent = self.actions.system.arc(s, move)
            label = tree.labels[dependent]
            return np.arange(self.actions.n_labels) == label if self.fitting(s, move)[label] else None

        return moves, labels

    def opinions(self, place, s, offset):
        for teacher in self.learner._networks:
            p = {
                name: value.astype(float)
                for name, value in student_module.in_order_of(self.actions, teacher.model).items()
            }
            yield self.score(p, teacher._rows.astype(float), s, offset)
        for vote in self.learner._votes:
            yield self.vote(vote, place, s)

    def decide(self, p, explore):
        rows = self.rows(p)
        offset = 0
        system = self.actions.system
        keep = 1 - self.learner.options.drop_hidden
        for place, example in enumerate(self.examples):
            s = system.start(len(example.words))
            guided = bool(example.heads)
            while not system.is_final(s):
                mask = np.array([self.random() < keep if keep < 1 else True for _ in p["hidden.bias"]]) / keep
                own_moves, own_labels = self.score(p, rows, s, offset, mask)
                legal = system.legal_moves(s)
                target = label = -1
                if guided:
                    target, label = self.gold(example, s, legal, own_moves)
                asked = list(self.opinions(place, s, offset))
                goal = sum(moves for moves, _ in asked) / len(asked)
                labels = {}
                for move in legal:
                    if system.moves[move].labelled and self.fitting(s, move).any():
                        said = [(moves[move], of(move)) for moves, of in asked if moves[move] > 0]
                        said = [(weight, found) for weight, found in said if found is not None]
                        if said:
                            total = sum(weight for weight, _ in said)
                            labels[move] = sum(weight * found for weight, found in said) / total
                if len(legal) > 1 or labels:
                    self.states.append(s.copy())
                    self.offsets.append(offset)
                    self.masks.append(mask)
                    self.legal.append([move in legal for move in range(system.n_moves)])
                    kept = {move: said for move, said in labels.items() if goal[move] >= LEAST}
                    fitting = {move: self.fitting(s, move) for move in kept}
                    self.goals.append((goal, kept, fitting))
                own = explore > 0 and len(legal) > 1 and self.random() < explore
                move, taken = target, label
                if own:
                    self.drawn_from_student += 1
                    move = self.draw(own_moves)
                    taken = self.best(s, move, own_labels)
                elif target < 0:
                    self.drawn_from_teachers += 1
                    move = self.draw(goal)
                    taken = self.best(s, move, lambda move, said=labels, own=own_labels: said.get(move, own(move)))
                if not self.oracle.explores:
                    guided = guided and (move, taken) == (target, label)
                system.apply(s, move, taken)
            offset += len(example.words) + 1
        self.views = Views(system, self.states, self.offsets)
        self.legal = np.array(self.legal)
        self.masks = np.array(self.masks)

    def gold(self, example, s, legal, own_moves):
        """The oracle's move and label, or -1 and -1."""
        self.oracle.bind(example.heads, example.labels)
        costs = self.oracle.costs(s)
        free = [move for move in legal if costs[move] == 0]
        if not free:
            return -1, -1
        target = max(free, key=lambda move: own_moves[move])
        _, dependent = self.actions.system.arc(s, target)
        label = example.labels[dependent] if dependent > 0 else -1
        is_legal = not self.actions.system.moves[target].labelled or self.actions.system.is_legal(s, target, label)
        return (target, label) if is_legal else (-1, -1)

    def best(self, s, move, labels):
        if not self.actions.system.moves[move].labelled:
            return -1
        return int(np.argmax(labels(move))) if self.fitting(s, move).any() else self.actions.root_label

    def parts(self, p):
        """The probabilities that teachers and student give to moves, and, for each move with labels, to labels."""
        hidden = hidden_layer(p, self.rows(p), self.views) * self.masks
        scores = np.where(self.legal, hidden @ p["move.weight"].T + p["move.bias"], -1e300)
        sets = label_sets(self.actions.system)
        for row, (goal, labels, fitting), moves in zip(hidden, self.goals, log_softmax(scores), strict=True):
            yield 1.0, goal, moves
            for move, said in labels.items():
                scores = row @ p["label.weight"][sets[move]] + p["label.bias"][sets[move]]
                yield goal[move], said, log_softmax(np.where(fitting[move], scores, -1e300))

    def loss(self, p):
        return -sum(weight * (goal * np.maximum(logs, -1e4)).sum() for weight, goal, logs in self.parts(p))

    def missed(self, p):
        return sum(weight * np.maximum(goal - np.exp(logs), 0).sum() for weight, goal, logs in self.parts(p))


def random_parameters(learner, seed):
    noise = np.random.default_rng(seed)
    return {
        name: value + noise.normal(0, 0.3, value.shape).astype(np.float32)
        for name, value in learner._parameters.items()
    }


def teacher_of(system, labels, vocabulary, seed):
    """A network that nobody has trained."""
    learner = NetworkLearner(
        Actions(system, labels, labels.index("root")), vocabulary, NetworkOptions().resolved(9), seed
    )
    return NetworkModel(learner.actions, vocabulary, random_parameters(learner, seed))


def tree_for(rng, n, n_labels):
    """Any tree with one root."""
    heads = [-1] * (n + 1)
    order = rng.permutation(n) + 1
    for place, word in enumerate(order.tolist()):
        heads[word] = int(rng.choice(order[:place])) if place else 0
    return StackedTree(heads, [-1, *rng.integers(0, n_labels, n).tolist()])


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(network, "EMBEDDED", TINY)
    monkeypatch.setattr(network, "Sizes", lambda layers: Sizes(6, 2, layers, 7))
    monkeypatch.setattr(network, "random_batches", lambda lengths, *_: [list(range(len(lengths)))])


def one_epoch(name, settings, *, n_networks=2, n_votes=0, explore=0.7):
    """Run one batch through a tiny student, two sentences with trees and two without; return it and its twin."""
    found = [s for s in toy_sentences(60, seed=4) if len(s) in {4, 5} and not s.tree.is_projective()][:4]
    labels = sorted({label for sentence in found for label in sentence.deprels})
    examples = [
        Example(words_of(s), list(s.tree.heads), [-1, *(labels.index(label) for label in s.deprels)]) for s in found[:2]
    ]
    examples += [Example(words_of(s), (), ()) for s in found[2:]]
    system = make_system(name, single_root=True)
    actions = Actions(system, labels, labels.index("root"))
    vocabulary = vocabulary_of(found)
    teachers = [
        teacher_of(system, labels[::-1] if number % 2 else labels, vocabulary_of(found[: 2 + number]), 10 + number)
        for number in range(n_networks)
    ]
    rng = np.random.default_rng(3)
    oracle = system.oracle(system.training_oracle())
    votes = [
        Votes(system.oracle(system.training_oracle()), [tree_for(rng, len(e.words), len(labels)) for e in examples])
        for _ in range(n_votes)
    ]
    options = StudentOptions(**settings, explore=explore, arcs=False).resolved(100)
    learner = StudentLearner(actions, vocabulary, options, 5, teachers, votes)
    for key, value in random_parameters(learner, 2).items():
        learner._parameters[key][...] = value
    learner._adam = Recorder(learner._parameters)
    learner._epochs = 1  # from the second on it goes its own way
    begin = learner._moves.rng
    loss = learner.epoch(examples, oracle)
    twin = SoftTwin(learner, examples, oracle, begin)
    parameters = {key: value.astype(np.float64) for key, value in learner._parameters.items()}
    twin.decide(parameters, explore)
    n_words = sum(len(example.words) for example in examples)
    return twin, parameters, {key: n_words * value for key, value in learner._adam.gradients.items()}, loss


WAYS = {
    "swap": ("swap", {"settings": NO_DROPOUT}),
    "dropout": ("swap", {"settings": {}}),
    "votes": ("swap", {"settings": {}, "n_votes": 1}),
    "only-votes": ("swap", {"settings": NO_DROPOUT, "n_networks": 0, "n_votes": 2}),
    "never-own": ("swap", {"settings": NO_DROPOUT, "explore": 0.0}),
    "dynamic": ("arc-eager", {"settings": NO_DROPOUT, "n_votes": 1}),
    "static": ("arc-standard", {"settings": NO_DROPOUT, "explore": 0.3}),
    "labels-matter": ("three-step", {"settings": {}}),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_is_that_of_a_twin_that_spells_out_the_loss(tiny, way):
    name, choices = WAYS[way]
    twin, parameters, gradients, loss = one_epoch(name, **choices)
    assert len(twin.states) > 12
    assert twin.drawn_from_teachers
    assert bool(twin.drawn_from_student) == (way != "never-own")
    assert twin.rng == twin.learner._moves.rng, "the twin went another way"
    rng = np.random.default_rng(8)
    for key, value in parameters.items():
        for _ in range(3):
            direction = rng.normal(0, 1, value.shape)
            above, below = (twin.loss({**parameters, key: value + step * direction}) for step in (1e-6, -1e-6))
            wanted = (above - below) / 2e-6
            assert (gradients[key] * direction).sum() == pytest.approx(wanted, rel=2e-3, abs=5e-3), key
    n_states = twin.learner._moves.n_states
    assert loss == pytest.approx(twin.missed(parameters) / n_states, rel=1e-3)


@pytest.mark.parametrize(("kept", "most"), [(np.float32, 1e-5), (np.float16, 2e-2)])
@pytest.mark.parametrize("name", ["swap", "covington", "three-step"])
def test_who_is_taught_by_an_equal_learns_nothing(tiny, monkeypatch, name, kept, most):
    monkeypatch.setattr(student_module, "KEPT", kept)
    sentences = toy_sentences(6)
    labels = sorted({label for sentence in sentences for label in sentence.deprels})
    actions = Actions(make_system(name, single_root=True), labels, labels.index("root"))
    vocabulary = vocabulary_of(sentences)
    options = StudentOptions(arcs=False, **NO_DROPOUT).resolved(9)
    equal = NetworkLearner(actions, vocabulary, NetworkOptions(arcs=False, layers=options.layers).resolved(9), 5)
    model = NetworkModel(actions, vocabulary, random_parameters(equal, 1))
    learner = StudentLearner(actions, vocabulary, options, 5, [model])
    for key, value in model.parameters.items():
        learner._parameters[key][...] = value
    learner._adam = Recorder(learner._parameters)
    examples = [
        Example(words_of(s), list(s.tree.heads), [-1, *(labels.index(label) for label in s.deprels)]) for s in sentences
    ]
    oracle = actions.system.oracle(actions.system.training_oracle())
    for _ in range(2):
        assert learner.epoch(examples, oracle) < most
    assert max(np.abs(value).max() for value in learner._adam.gradients.values()) < most


def test_vectors_of_teachers_are_computed_once_for_the_same_examples(tiny, monkeypatch):
    encoded = []
    plain = student_module._Network.encode
    monkeypatch.setattr(
        student_module._Network, "encode", lambda self, examples: encoded.append(len(examples)) or plain(self, examples)
    )
    twin, *_ = one_epoch("swap", NO_DROPOUT)
    assert encoded == [4, 4]  # by two teachers
    twin.learner.epoch(twin.examples, twin.oracle)
    assert encoded == [4, 4]
    twin.learner.epoch(twin.examples[1:3], twin.oracle)  # as in the last epochs, which leave some out
    assert encoded == [4, 4]
    twin.learner.epoch([*twin.examples[:2], replace(twin.examples[0])], twin.oracle)
    assert encoded == [4, 4, 3, 3]
    assert {part.dtype for part in twin.learner._networks[0]._contexts} == {np.dtype(np.float16)}


def test_only_networks_of_the_same_system_and_labels_can_be_asked(tiny):
    sentences = toy_sentences(6)
    labels = sorted({label for sentence in sentences for label in sentence.deprels})
    vocabulary = vocabulary_of(sentences)
    actions = Actions(make_system("swap", single_root=True), labels, labels.index("root"))

    def can_ask(name="swap", names=labels, **options):
        return StudentLearner.can_ask(teacher_of(make_system(name, **options), names, vocabulary, 1), actions)

    assert can_ask()
    assert can_ask(names=labels[::-1])
    assert can_ask(single_root=True)
    assert not can_ask("arc-standard")
    assert not can_ask(names=labels[1:])
    assert not can_ask(names=[*labels, "more"])
    options = NetworkOptions(moves=False).resolved(9)  # of arcs alone
    learnt = NetworkLearner(actions, vocabulary, options, 1)
    assert not StudentLearner.can_ask(NetworkModel(actions, vocabulary, learnt._parameters), actions)


def test_without_a_teacher_there_is_no_student(tiny):
    with pytest.raises(ConfigError, match="no teacher to learn from"):
        one_epoch("swap", {}, n_networks=0)


@pytest.mark.parametrize(("words", "epochs"), [(20_000, 50), (200_000, 30), (10_000_000, 24)])
def test_a_student_learns_twice_as_long_with_half_the_dropout(words, epochs):
    usual, options = NetworkOptions(), StudentOptions()
    assert options.resolved(words).epochs == epochs == 2 * usual.resolved(words).epochs
    for name in ("drop_input", "drop_context", "drop_hidden"):
        assert getattr(options, name) == getattr(usual, name) / 2
    assert StudentOptions(epochs=7).resolved(words).epochs == 7
    assert options.resolved(words).batch_words == usual.resolved(words).batch_words
    assert (options.explore, options.favour_rare) == (0.7, 0.2)


# The arcs. --------------------------------------------------------------------------------------------------------


def test_targets_of_arcs_are_the_mean_of_what_teachers_say(tiny, monkeypatch):
    monkeypatch.setattr(student_module, "KEPT", np.float32)
    sentences = [s for s in toy_sentences(60, seed=4) if len(s) in {4, 5}][:4]
    labels = sorted({label for sentence in sentences for label in sentence.deprels})
    system = make_system("swap", single_root=True)
    actions = Actions(system, labels, labels.index("root"))
    vocabulary = vocabulary_of(sentences)
    models = [teacher_of(system, names, vocabulary, 1 + place) for place, names in enumerate((labels, labels[::-1]))]
    gold = [Example(words_of(s), list(s.tree.heads), actions.label_numbers(s.tree)) for s in sentences[:2]]
    examples = [*gold, *(Example(words_of(s), (), ()) for s in sentences[2:])]
    rng = np.random.default_rng(3)
    votes = [[tree_for(rng, len(example.words), len(labels)) for example in examples]]
    targets = arc_targets(examples, models, votes, actions)
    for place, (example, target) in enumerate(zip(examples, targets, strict=True)):
        n = len(example.words)
        trees = [heads for heads in all_trees(n) if heads.count(0) == 1]
        wanted = np.zeros((n + 1, n + 1))
        scored = []
        for model in models:
            workspace = model.workspace()
            workspace.encode([example.words])
            scored.append(workspace.score(0))
            values = np.array([sum(scored[-1].scores[h, w] for w, h in enumerate(heads, 1)) for heads in trees])
            for heads, weight in zip(trees, np.exp(log_softmax(values[None])[0]), strict=True):
                wanted[heads, np.arange(1, n + 1)] += weight / 3
        vote = votes[0][place]
        wanted[vote.heads[1:], np.arange(1, n + 1)] += 1 / 3
        np.testing.assert_allclose(target.chances, wanted, atol=1e-4)
        if example.heads:
            assert target.heads == example.heads
        else:  # the best tree by all of them
            best = max(trees, key=lambda heads: sum(np.log(wanted[h, w] + 1e-9) for w, h in enumerate(heads, 1)))
            assert target.heads[1:] == best
        for word, head in enumerate(target.heads[1:]):
            parts = [one.label_chances(target.heads[1:])[word] for one in scored]
            said = parts[0] + parts[1][::-1]  # whose labels are numbered the other way round
            if vote.heads[word + 1] == head:
                said[vote.labels[word + 1]] += 1
            np.testing.assert_allclose(target.label_chances[word], said / said.sum(), atol=1e-5)


def test_without_a_teacher_of_arcs_gold_trees_are_learnt(tiny):
    sentences = toy_sentences(3)
    labels = sorted({label for sentence in sentences for label in sentence.deprels})
    actions = Actions(make_system("swap", single_root=True), labels, labels.index("root"))
    examples = [Example(words_of(s), list(s.tree.heads), actions.label_numbers(s.tree)) for s in sentences]
    vocabulary = vocabulary_of(sentences)
    options = NetworkOptions(arcs=False).resolved(9)
    model = NetworkModel(actions, vocabulary, NetworkLearner(actions, vocabulary, options, 1)._parameters)
    targets = arc_targets(examples, [model], [], actions)
    assert targets == [ArcTarget(example.heads, example.labels) for example in examples]


def test_soft_targets_are_learnt_as_such():
    """The error is what the head says less what it should say: none if it says just that."""
    labels = ["a", "b", "root"]
    actions = Actions(make_system("swap", single_root=True), labels, 2)
    rng = np.random.default_rng(1)
    parameters = new_arc_parameters(8, 3, rng)
    rows = rng.normal(0, 1, (6, 8)).astype(np.float32) @ parameters[WORDS]
    head = ArcHead(parameters, actions)
    (table,) = head.score(rows, [0, 6])
    chances = np.asarray(SpanningTree(single_root=True).marginals(table)).astype(np.float32)
    heads = [-1, 3, 3, 0, 3, 4]
    said = NetworkArcs(table, head, 0).label_chances(heads[1:])
    gradients = {name: np.zeros_like(value) for name, value in parameters.items()}
    trainer = ArcTrainer(parameters, gradients, actions, dropout=0.0)
    trainer.learn(rows, [0, 6], [ArcTarget(heads, (), chances, said)], rng)
    assert trainer.loss < 1e-4
    for name in ("arc.label_weight", "arc.label_out", "arc.label_kinds", "arc.label_bias"):
        assert np.abs(gradients[name]).max() < 1e-6
    # What the second turn adds is right as it is; the first by itself has another loss.
    assert np.abs(gradients["arc.pairs"][1]).max() < 1e-6
    trainer.learn(rows, [0, 6], [ArcTarget(heads, (-1, 0, 0, 2, 1, 1))], rng)
    assert trainer.loss > 1
    assert np.abs(gradients["arc.pairs"][1]).max() > 1e-4
