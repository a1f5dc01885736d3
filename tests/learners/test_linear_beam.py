"""Learning whole derivations with a beam: against a slow twin, and what comes of it."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import replace
from random import Random

import pytest

from exhaustive import COMPILED
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.learners.linear.learner import LinearLearner, LinearOptions, feature_sets
from tanglewood.learners.templates import Templates
from tanglewood.measure.scores import evaluate
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import words_of
from tanglewood.parser import Parser
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from toy import toy_sentences

STEP = 2.0**-8  # sums of it are exact
TEMPLATES = Templates(("s0.upos s1.upos", "s0.form", "b0.form"), ("d.form h.upos", "d.upos"), ("b0.suffix2", "s0.upos"))
LABELS = 2  # best ones that a beam follows


class Twin:
    """The same learner with dictionaries and lists of whole derivations."""

    def __init__(self, actions, width):
        self.actions, self.system, self.width = actions, actions.system, width
        self.moves, self.labels, self.tags = feature_sets(actions, TEMPLATES)
        self.weights = {"moves": defaultdict(float), "labels": defaultdict(float)}

    def features(self, s, move, label):
        """The features of an action: (table, key, class) for the move where there is a choice, and for the label."""
        found = []
        if len(self.system.legal_moves(s)) > 1:
            found += [("moves", key, move) for key in self.moves.extract(s)]
        head, dependent = self.system.arc(s, move)
        if label >= 0 and not (head == 0 and self.actions.root_label >= 0):
            tags = self.system.moves[move].tags
            keys = self.tags.extract(s, -1, -1, move + 1) if tags else self.labels.extract(s, head, dependent, move + 1)
            found += [("labels", key, label) for key in keys]
        return found

    def score(self, s, move, label):
        return sum(self.weights[table][key, which] for table, key, which in self.features(s, move, label))

    def successors(self, s):
        """All that a beam looks at, in its order."""
        for move in self.system.legal_moves(s):
            head, _ = self.system.arc(s, move)
            root = self.actions.root_label
            if not self.system.moves[move].labelled:
                yield move, -1
            elif head == 0 and root >= 0:
                yield move, root
            else:
                names = self.actions.tags if self.system.moves[move].tags else self.actions.labels
                fitting = [n for n in range(len(names)) if self.system.is_legal(s, move, n)]
                if not self.system.moves[move].tags:
                    fitting = [label for label in fitting if label != root]
                fitting.sort(key=lambda label: -self.score(s, move, label))
                yield from ((move, label) for label in fitting[:LABELS] or [-1])

    def begin(self, example):
        s = self.system.start(len(example.words))
        if example.tag_candidates is not None:
            s.take_candidates(example.tag_candidates)
        return s

    def learn(self, example, oracle):
        example.bind(oracle)
        gold, state = [(0.0, [])], self.begin(example)
        while not self.system.is_final(state):
            move, label = oracle.action(state)
            label = label if self.system.moves[move].labelled else -1
            gold.append((gold[-1][0] + self.score(state, move, label), [*gold[-1][1], (move, label)]))
            self.system.apply(state, move, label)
        beam = [(0.0, [], self.begin(example))]
        violations = []
        for right, actions in gold[1:]:
            candidates = []
            for score, history, s in beam:
                if self.system.is_final(s):
                    candidates.append((score, history, s))
                    continue
                for move, label in self.successors(s):
                    after = s.copy()
                    self.system.apply(after, move, label)
                    candidates.append((score + self.score(s, move, label), [*history, (move, label)], after))
            beam = sorted(candidates, key=lambda item: -item[0])[: self.width]
            if beam[0][1] != actions:
                violations.append((beam[0][0] - right, actions, beam[0][1]))
        if violations:
            _, actions, guess = max(violations, key=lambda violation: violation[0])
            same = next(i for i, pair in enumerate(zip(actions, [*guess, None], strict=False)) if pair[0] != pair[1])
            for history, step in ((actions, STEP), (guess, -STEP)):
                s = self.begin(example)
                for place, (move, label) in enumerate(history):
                    for table, key, which in self.features(s, move, label) if place >= same else ():
                        self.weights[table][key, which] += step
                    self.system.apply(s, move, label)


def weights_of(learnt):
    """What is in a table that is being learnt, from how it is laid out: slots of 4 ints, entries of 3 floats."""
    slots, pool = (list(part) for part in learnt.tables())
    found = {}
    for at in range(0, len(slots), 4):
        if slots[at] >= 0:
            for entry in range(3 * slots[at + 1], 3 * (slots[at + 1] + slots[at + 2]), 3):
                found[slots[at], int(pool[entry])] = pool[entry + 1]
    return {key: value for key, value in found.items() if value}


@pytest.mark.parametrize("width", [2, 5])
@pytest.mark.parametrize("system", ["swap", "joint-swap", "arc-eager"])
def test_weights_are_those_of_the_slow_twin(system, width):
    config = Config(system=system, learner="linear", settings={"epochs": 1})
    training = Training(config, toy_sentences(5, 4))
    actions, examples, oracle = training.actions, training.examples, training.teacher
    if system == "joint-swap":  # all tags are offered for all words
        offers = array("i", [*range(len(actions.tags)), 0])
        examples = [replace(example, tag_candidates=offers * (len(example.words) + 1)) for example in examples]
    learner = LinearLearner(actions, templates=TEMPLATES, train_beam=width, most=STEP)
    twin = Twin(actions, width)
    words, offsets = WordNumbers().table([example.words for example in examples])
    rng = Random(1)
    for _ in range(3):
        learner.epoch(examples, oracle)
        order = list(range(len(examples)))
        rng.shuffle(order)
        for index in order:
            for features in (twin.moves, twin.labels, twin.tags):
                features.use(words, offsets[index])
            twin.learn(examples[index], oracle)
    for name, learnt in (("moves", learner.trainer.learnt_moves), ("labels", learner.trainer.learnt_labels)):
        assert weights_of(learnt) == {key: value for key, value in twin.weights[name].items() if value}
        assert weights_of(learnt)


@pytest.fixture(scope="module")
def trained():
    config = Config(system="swap", learner="linear", settings={"epochs": 4, "train_beam": 4})
    return [progress.parser for progress in Training(config, toy_sentences(60 if COMPILED else 30)).run()]


def test_a_model_that_learnt_with_a_beam_parses_with_it_and_well(trained):
    parser = trained[-1]
    unseen = toy_sentences(20, 2)
    parsed = [sentence.to_text() for sentence in parser.parse_all(unseen)]
    assert parsed == [sentence.to_text() for sentence in parser.parse_all(unseen, beam=4)]
    assert evaluate(unseen, parser.parse_all(unseen)).las > 90


def test_its_file_says_so(trained, tmp_path):
    trained[-1].save(tmp_path / "model.tw")
    loaded = Parser.load(tmp_path / "model.tw")
    unseen = toy_sentences(10, 2)
    assert loaded.model.beam == 4
    assert [s.to_text() for s in loaded.parse_all(unseen)] == [s.to_text() for s in trained[-1].parse_all(unseen)]


def test_the_same_seed_gives_the_same_bytes_also_after_a_break(tmp_path):
    config = Config(system="swap", learner="linear", settings={"epochs": 2, "train_beam": 3})
    whole, first, second = (Training(config, toy_sentences(10)) for _ in range(3))
    *_, last = whole.run()
    last.parser.save(tmp_path / "whole.tw")
    next(first.run())
    first.save_checkpoint(tmp_path / "checkpoint")
    second.resume(tmp_path / "checkpoint")
    *_, last = second.run()
    last.parser.save(tmp_path / "resumed.tw")
    assert (tmp_path / "whole.tw").read_bytes() == (tmp_path / "resumed.tw").read_bytes()


def test_scores_are_added_as_they_are(trained):
    """The score of the best derivation is the sum of its moves' and labels' scores, and no log-probability."""
    (sentence,) = toy_sentences(1, 3)
    parser = trained[-1]
    actions = parser.model.actions
    workspace = parser.model.workspace()
    workspace.encode([words_of(sentence)])
    search = Search(actions, workspace.turn_to(0))
    plain, normalized = Beam(search, 4, normalized=False), Beam(search, 4)
    assert plain.parse(State(len(sentence)))[0] > 0 >= normalized.parse(State(len(sentence)))[0]


def test_a_beam_helps_a_model_that_learnt_greedily_too():
    """Its scores are sharp enough to be taken for logarithms of probabilities."""
    config = Config(system="swap", learner="linear", settings={"epochs": 4})
    *_, last = Training(config, toy_sentences(40)).run()
    unseen = toy_sentences(20, 2)
    greedy, beam = (evaluate(unseen, last.parser.parse_all(unseen, beam=width)).las for width in (1, 8))
    assert beam >= greedy - 2


def test_a_beam_without_width_is_refused():
    with pytest.raises(ConfigError, match="a beam of width 0 holds nothing to learn from"):
        LinearOptions(train_beam=0)
