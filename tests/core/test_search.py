"""Greedy and beam search against plain searches over all moves, with a network of random weights.

The scores are computed twice: by the network's core, and by its slow twin, on which the plain searches rest.
"""

from __future__ import annotations

import numpy as np
import pytest

from exhaustive import COMPILED, everything, over_variants, with_any_and_single_root
from tanglewood.core.actions import Actions
from tanglewood.core.addresses import Addresses
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.learners.network.core import N_DISTANCES, N_FLAGS, NetworkCore, label_sets
from tanglewood.systems import make_system
from tanglewood.treebank.tree import Tree
from toy import Views, hidden_layer, log_softmax, node_at

HIDDEN = 4
MOST_DERIVATIONS = 2500 if COMPILED else 300  # the beam's insertion takes time in the square of its width
LONG = 40 if COMPILED else 12


class RandomNetwork:
    """A network of random weights for one sentence of n words, and its slow twin."""

    def __init__(self, system, n, n_labels, root_label, seed):
        rng = np.random.default_rng(seed)
        n_sets = sum(move.labelled for move in system.moves)
        shapes = {
            "hidden.bias": (HIDDEN,),
            "hidden.empty": (len(system.slots), HIDDEN),
            "hidden.labels": (len(system.label_slots), n_labels + 2, HIDDEN),
            "hidden.distance": (N_DISTANCES, HIDDEN),
            "hidden.flags": (N_FLAGS, HIDDEN),
            "move.weight": (system.n_moves, HIDDEN),
            "move.bias": (system.n_moves,),
            "label.weight": (n_sets, HIDDEN, n_labels),
            "label.bias": (n_sets, n_labels),
        }
        small = {name: rng.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}
        self.system, self.n, self.n_labels, self.root_label = system, n, n_labels, root_label
        self.sets = label_sets(system)
        actions = Actions(system, [str(label) for label in range(n_labels)], root_label)
        core = NetworkCore(small, actions)
        before = 3  # rows of another sentence
        rows = rng.normal(0, 0.6, (before + n + 1, len(system.slots) * HIDDEN)).astype(np.float32)
        core.use(rows, before)
        self.search = Search(actions, core)
        self.parameters = {name: value.astype(float) for name, value in small.items()}
        self.rows = rows[before:].astype(float)
        self.known = {}
        self.counts = np.zeros(3, int)  # moves taken, states scored, labels scored

    def _hidden(self, s):
        seen = everything(s)  # many derivations pass through the same state
        if seen not in self.known:
            self.known[seen] = hidden_layer(self.parameters, self.rows, Views(self.system, [s]))[0]
        return self.known[seen]

    def moves(self, s):
        """Logarithm of the probability of every legal move."""
        legal = self.system.legal_moves(s)
        scores = self._hidden(s) @ self.parameters["move.weight"].T + self.parameters["move.bias"]
        return dict(zip(legal, log_softmax(scores[legal]), strict=True))

    def labels(self, s, move):
        """Logarithm of the probability of every label the move may carry; {-1: 0} if it carries none."""
        if not self.system.moves[move].labelled:
            return {-1: 0.0}
        head = self.system.arc(s, move)[0]
        if head == 0 and self.root_label >= 0:
            return {self.root_label: 0.0}
        fitting = [
            label for label in range(self.n_labels) if label != self.root_label and self.system.is_legal(s, move, label)
        ]
        which = self.sets[move]
        scores = self._hidden(s) @ self.parameters["label.weight"][which] + self.parameters["label.bias"][which]
        return dict(zip(fitting, log_softmax(scores[fitting]), strict=True))

    def greedy(self):
        """The best move, then its best label, until the end."""
        s = self.system.start(self.n)
        while not self.system.is_final(s):
            moves = self.moves(s)
            move = max(moves, key=moves.get)
            labels = self.labels(s, move)
            is_open = self.system.moves[move].labelled and labels.keys() != {self.root_label}
            self.counts += [1, len(moves) > 1 or is_open, is_open]
            self.system.apply(s, move, max(labels, key=labels.get))
        return s

    def counted(self):
        """The same of the search."""
        return [self.search.moves_taken, self.search.states_scored, self.search.labels_scored]

    def derivations(self, limit):
        """All derivations as (log-probability, heads, labels), best first; None if there are more than the limit."""
        found = []
        agenda = [(0.0, self.system.start(self.n))]
        while agenda:
            score, s = agenda.pop()
            if self.system.is_final(s):
                found.append((score, s.word_heads(), s.word_labels()))
            for move, move_score in {} if self.system.is_final(s) else self.moves(s).items():
                for label, label_score in self.labels(s, move).items():
                    after = s.copy()
                    self.system.apply(after, move, label)
                    agenda.append((score + move_score + label_score, after))
            if len(found) + len(agenda) > limit:
                return None
        return sorted(found, key=lambda derivation: -derivation[0])


def networks(name, options, single_root, sizes, n_labels, root_label, seeds):
    system = make_system(name, **options, single_root=single_root)
    for n in sizes:
        for seed in seeds:
            yield n, RandomNetwork(system, n, n_labels, root_label, seed)


def assert_tree(s, single_root):
    tree = Tree(s.word_heads())  # raises if it is none
    assert not single_root or len(tree.roots()) == 1


@over_variants
@with_any_and_single_root
@pytest.mark.parametrize("root_label", [1, -1])
def test_greedy_takes_the_best_legal_move_and_its_best_label(name, options, single_root, root_label):
    for n, network in networks(name, options, single_root, [1, 2, 3, 6, 9], 4, root_label, range(2)):
        s = State(n)
        network.search.greedy(s)
        wanted = network.greedy()
        assert (s.word_heads(), s.word_labels()) == (wanted.word_heads(), wanted.word_labels())
        assert s.steps == wanted.steps
        assert network.counted() == network.counts.tolist()
        assert_tree(s, single_root)


@pytest.mark.parametrize(
    ("name", "options"), [("arc-standard", {}), ("covington", {}), ("covington", {"max_degree": 0})]
)
def test_a_move_without_alternative_costs_no_call_of_the_scorer(name, options):
    """Such as SHIFT at the beginning, or in covington with the left list used up; NO-ARC always has SHIFT beside it."""
    for n, network in networks(name, options, True, [9, LONG], 3, 2, range(3)):
        network.search.greedy(State(n))
        network.greedy()
        assert network.counted() == network.counts.tolist()
        taken, scored, _ = network.counted()
        assert scored <= taken - (name == "arc-standard")


@pytest.mark.parametrize("name", ["swap", "covington", "arc-eager"])
def test_a_beam_counts_as_well(name):
    """With one label to choose from, a beam of width 1 does what greedy search does."""
    for n, network in networks(name, {}, True, [5, 9], 2, 1, range(2)):
        network.search.greedy(State(n))
        taken, scored, _ = network.counted()
        Beam(network.search, 1).parse(State(n))
        assert network.counted()[:2] == [2 * taken, 2 * scored]
        Beam(network.search, 4).parse(State(n))
        assert 4 * taken < network.counted()[0] <= 2 * taken + 4 * network.system.max_steps(n)


@over_variants
@with_any_and_single_root
def test_the_root_label_is_on_all_arcs_from_0_that_a_move_made_and_on_no_other(name, options, single_root):
    for n, network in networks(name, options, single_root, [1, 2, 5, LONG], 3, 2, range(2)):
        s = State(n)
        for parse in (network.search.greedy, Beam(network.search, 3).parse):
            parse(s)
            for head, label in zip(s.word_heads(), s.word_labels(), strict=True):
                assert label == -1 or (label == 2) == (head == 0)
            assert_tree(s, single_root)
            assert s.steps <= network.system.max_steps(n)


@over_variants
@with_any_and_single_root
def test_a_beam_that_holds_everything_finds_what_exhaustive_search_finds(name, options, single_root):
    tried = []
    for n, network in networks(name, options, single_root, [1, 2, 3, 4], 1, -1, range(1)):
        wanted = network.derivations(MOST_DERIVATIONS)
        if wanted is None:
            continue
        tried.append(n)
        beam = Beam(network.search, len(wanted))
        s = State(n)
        scores = beam.parse(s)
        np.testing.assert_allclose(scores, [score for score, *_ in wanted], atol=1e-4)
        assert [s.word_heads(), s.word_labels()] == list(wanted[0][1:])
        # In the order of their scores; those whose scores are all but equal may change places.
        for rank in sorted({0, len(wanted) // 2, len(wanted) - 1}):
            beam.restore(s, rank)
            close = [heads for score, heads, _ in wanted if abs(score - wanted[rank][0]) < 1e-4]
            assert s.word_heads() in close
    assert {1, 2} <= set(tried)


@pytest.mark.parametrize("root_label", [-1, 0])
@pytest.mark.parametrize("name", ["swap", "arc-eager", "covington", "three-step", "two-planar"])
def test_the_beam_follows_two_labels_an_arc(name, root_label):
    n_labels = 2 if root_label < 0 else 3  # besides the root label, two
    for n, network in networks(name, {}, True, [1, 2], n_labels, root_label, range(3)):
        wanted = network.derivations(4000)
        s = State(n)
        beam = Beam(network.search, len(wanted) + 5)  # a beam that never gets full
        np.testing.assert_allclose(beam.parse(s), [score for score, *_ in wanted], atol=1e-4)
        assert [s.word_heads(), s.word_labels()] == list(wanted[0][1:])


@over_variants
@with_any_and_single_root
def test_a_beam_of_one_is_greedy_search_if_there_is_one_label(name, options, single_root):
    for n, network in networks(name, options, single_root, [1, 2, 5, LONG], 1, -1, range(2)):
        greedy, beam = State(n), State(n)
        network.search.greedy(greedy)
        (score,) = Beam(network.search, 1).parse(beam)
        assert greedy.word_heads() == beam.word_heads()
        assert greedy.word_labels() == beam.word_labels()
        assert greedy.steps == beam.steps
        assert score <= 0


@over_variants
@with_any_and_single_root
def test_ranked_derivations_are_trees_with_falling_scores(name, options, single_root):
    for n, network in networks(name, options, single_root, [1, 4, LONG], 3, 0, range(1)):
        beam = Beam(network.search, 5)
        s = State(n)
        scores = beam.parse(s)
        assert scores == sorted(scores, reverse=True)
        assert all(score <= 1e-6 for score in scores)
        best = (s.word_heads(), s.word_labels())
        for rank in range(len(scores)):
            beam.restore(s, rank)
            assert_tree(s, single_root)
            assert network.system.is_final(s)
            fresh = State(n)
            beam.restore(fresh, rank)
            assert everything(fresh) == everything(s)
            assert rank or (s.word_heads(), s.word_labels()) == best


def plain_beam(search, n, width):
    """The beam's scores and final states, best first, with a copy of the whole state for every candidate."""
    beam = [(0.0, search.system.start(n))]
    while not all(search.system.is_final(s) for _, s in beam):
        candidates = []
        for score, s in beam:
            if search.system.is_final(s):
                candidates.append((score, s, -1, -1))
                continue
            weighed = search.weigh(s)
            for move, label, gain in weighed:
                candidates.append((score + (gain if len(weighed) > 1 else 0.0), s, move, label))
        candidates.sort(key=lambda candidate: -candidate[0])
        beam = []
        for score, s, move, label in candidates[:width]:
            after = s.copy()
            if move >= 0:
                search.system.apply(after, move, label)
            beam.append((score, after))
    return [score for score, _ in beam], [everything(s) for _, s in beam]


@over_variants
@with_any_and_single_root
def test_a_beam_that_copies_only_what_it_must_is_a_beam_that_copies_everything(name, options, single_root):
    for n, network in networks(name, options, single_root, [1, 6, LONG], 3, 2, range(1 + COMPILED)):
        for width in (2, 3, 9):
            scores, states = plain_beam(network.search, n, width)
            for long in (n, n + 1):
                beam = Beam(network.search, width, normalized=False, weighs_labels=False, long=long)
                s = State(n)
                assert beam.parse(s) == scores
                assert everything(s) == states[0]
                for rank, wanted in enumerate(states):
                    beam.restore(s, rank)
                    assert everything(s) == wanted


def test_a_wider_beam_is_no_worse_than_greedy_on_average():
    system = make_system("swap", single_root=True)
    gain = []
    for seed in range(30):
        network = RandomNetwork(system, 8, 2, 0, seed)
        s = State(8)
        gain.append(Beam(network.search, 16).parse(s)[0] - Beam(network.search, 1).parse(s)[0])
    assert sum(g > 1e-6 for g in gain) > 5
    assert sum(gain) > 0


def test_finished_derivations_wait_for_longer_ones():
    """With swap, derivations of the same sentence differ in length; a short one must stay in the beam to the end."""
    system = make_system("swap")
    network = RandomNetwork(system, 3, 1, -1, 0)
    beam = Beam(network.search, 10_000)
    s = State(3)
    steps = []
    for rank in range(len(beam.parse(s))):
        beam.restore(s, rank)
        steps.append(s.steps)
    assert len(set(steps)) > 1


@pytest.mark.parametrize("width", [1, 2, 7])
def test_a_beam_serves_sentences_of_any_length_one_after_the_other(width):
    system = make_system("swap", single_root=True)
    network = RandomNetwork(system, 12, 3, 0, 1)
    shared = Beam(network.search, width)
    for n in (3, 12, 1, 7, 12):
        alone, again = State(n), State(n)
        scores = Beam(network.search, width).parse(alone)
        assert shared.parse(again) == scores
        assert again.word_heads() == alone.word_heads()


@over_variants
def test_a_move_that_is_forced_costs_nothing(name, options):
    network = RandomNetwork(make_system(name, **options, single_root=True), 1, 1, -1, 3)
    s = State(1)
    scores = Beam(network.search, 500).parse(s)
    assert np.exp(scores).sum() == pytest.approx(1, abs=1e-5)  # nothing was pruned: probabilities sum to 1


@over_variants
def test_a_search_whose_only_label_is_the_root_label_still_gives_trees(name, options):
    """As after training on one-word sentences only: no label fits an arc between words."""
    for n, network in networks(name, options, True, [1, 2, 3], 1, 0, range(2)):
        greedy, beam = State(n), State(n)
        network.search.greedy(greedy)
        assert_tree(greedy, True)
        Beam(network.search, 4).parse(beam)
        assert_tree(beam, True)
        assert network.system.is_final(beam)


# Addresses. -------------------------------------------------------------------------------------------------------

ALL_ADDRESSES = [
    f"{start}{steps}"
    for start in ("s0", "s1", "s3", "b0", "b1", "a0", "a1")
    for steps in ("", ".left1", ".left2", ".right1", ".right2", ".head", ".left1.left1", ".head.right1", ".right1.head")
]


@over_variants
def test_addresses_find_the_nodes_that_looking_at_all_words_finds(name, options):
    system = make_system(name, **options)
    addresses = Addresses(ALL_ADDRESSES)
    rng = np.random.default_rng(6)
    for _ in range(5):
        s = system.start(7)
        while not system.is_final(s):
            system.apply(s, int(rng.choice(system.legal_moves(s, 0))), 0)
            assert addresses.nodes(s) == [node_at(s, address) for address in ALL_ADDRESSES]


@pytest.mark.parametrize("name", ["", "s", "d0", "s10", "s0.", "s0.left3", "s0.left1.left1.left1", "s0 .left1", "S0"])
def test_an_unknown_address_says_what_an_address_looks_like(name):
    with pytest.raises(ConfigError, match=r"unknown address .*s0\.\.s9.*left1"):
        Addresses(["s0", name])
