"""The feature models of the papers: their templates, and the addresses and atoms that they need."""

from random import Random

import pytest

from tanglewood.core.actions import Actions
from tanglewood.core.addresses import Addresses
from tanglewood.learners.feature_models import feature_templates
from tanglewood.learners.features import FeatureSet
from tanglewood.measure.scores import evaluate
from tanglewood.ml.word_table import WordNumbers
from tanglewood.systems import make_system
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from toy import sentences_of, toy_sentences, toy_text


def templates_of(name, system):
    return feature_templates(name, make_system(system), toy_sentences(5))


def test_the_models_have_as_many_features_as_the_papers_say():
    assert len(templates_of("nivre2006", "arc-eager")) == 20
    assert len(templates_of("nivre2007", "covington")) == 22
    passes = [text for text in templates_of("lacroix2014", "three-step") if text.startswith("later:")]
    assert len(passes) == 13
    assert len(templates_of("lacroix2014", "arc-eager")) == 14  # those of MaltParser's NivreEager.xml


def test_nodes_are_those_that_arcs_join():
    assert {"s0.form", "b0.form", "b3.xpos", "s1.xpos", "s0.head.form"} <= {*templates_of("nivre2006", "arc-eager")}
    assert {"s1.form", "s0.form", "u2.xpos", "s2.xpos", "s0.right1.label"} <= {*templates_of("nivre2006", "swap")}
    only_swap = {*templates_of("nivre2006", "swap")} - {*templates_of("nivre2006", "arc-standard")}
    assert only_swap == {"b0.xpos"}  # a word that was put back; elsewhere it is u0
    assert not any("head" in text for text in templates_of("nivre2006", "swap"))


def test_columns_without_values_are_left_out():
    lines = [line.split("\t") for line in toy_text(3).split("\n")]
    bare = "\n".join("\t".join([*c[:2], "_", c[3], "_", "_", *c[6:]]) if len(c) == 10 else c[0] for c in lines)
    found = feature_templates("nivre2006", make_system("arc-eager"), sentences_of(bare))
    assert not any(column in text for text in found for column in ("lemma", "feats", "xpos"))
    assert found.count("s0.upos") == 1


@pytest.mark.parametrize("tagged", [0.1, 0.9])
def test_a_stray_tag_is_no_tagset(tagged):
    random = Random(1)
    lines = [line.split("\t") for line in toy_text(20).split("\n")]
    for columns in lines:
        if len(columns) == 10 and random.random() > tagged:
            columns[4] = "_"
    found = feature_templates("nivre2006", make_system("arc-eager"), sentences_of("\n".join(map("\t".join, lines))))
    assert ("b3.xpos" in found, "b3.upos" in found) == (tagged > 0.5, tagged < 0.5)


def test_the_linear_learner_takes_feature_models_with_their_pairs():
    train = toy_sentences(12)
    settings = {"features": "lacroix2014", "epochs": 3}
    training = Training(Config(learner="linear", system="three-step", settings=settings), train)
    moves = training.learner.templates.moves
    assert "later:b0.form b0.head.form" in moves
    assert not any("s0.form" in text and "later" in text for text in moves)
    *_, last = training.run()
    assert evaluate(train, last.parser.parse_all(train)).las > 80


def test_context_nodes_are_those_without_a_head_between_top_and_front():
    """Nivre 2007: root nodes of the graph over i+1..j-1, the one closest to i on top."""
    system, random = make_system("covington"), Random(5)
    addresses = Addresses(["c0", "c1", "c2"])
    seen = 0
    for _ in range(60):
        s = system.start(8)
        while not system.is_final(s):
            expected = [-1, -1, -1]
            if s.depth and s.n_buffer:
                i, j = s.stack_nodes()[-1], s.buffer_nodes()[0]
                roots = [k for k in range(i + 1, j) if not i < s.heads[k] < j]
                expected = [*roots, -1, -1, -1][:3]
                seen += len(roots) > 1
            assert addresses.nodes(s) == expected
            system.apply(s, random.choice(system.legal_moves(s)))
    assert seen > 100


@pytest.mark.parametrize("name", ["swap", "arc-standard", "arc-eager", "attardi-all", "covington"])
def test_unread_words_are_those_that_were_never_on_the_stack(name):
    system, random = make_system(name), Random(6)
    addresses = Addresses(["u0", "u1", "u2"])
    put_back = 0
    for _ in range(60):
        s = system.start(7)
        been = {*s.stack_nodes()}
        while not system.is_final(s):
            unread = [node for node in s.buffer_nodes() if node not in been]
            assert addresses.nodes(s) == [*unread, -1, -1, -1][:3]
            put_back += len(unread) < len(s.buffer_nodes())
            system.apply(s, random.choice(system.legal_moves(s)))
            been |= {*s.stack_nodes()}
    assert (put_back > 100) == (name == "swap")


def test_valencies_and_labels_of_a_side_are_features():
    system, random = make_system("three-step"), Random(3)
    actions = Actions(system, [])
    valencies, side = (FeatureSet([f"later:{atom}"], actions=actions) for atom in ("valencies", "b0.head.sidelabels"))
    words = [(f"w{i}", "_", "X", "_", "_") for i in range(7)]
    table, (offset,) = WordNumbers().table([words])
    seen = {"valencies": {}, "side": {}}
    for _ in range(40):
        s = system.start(7)
        for features in (valencies, side):
            features.use(table, offset)
        while not system.is_final(s):
            word = s.buffer_nodes()[0] if s.n_buffer else -1
            head = s.heads[word] if word > 0 else -1
            below = [k for k in range(1, 8) if s.heads[k] == head and (k > head if s.phase == 2 else k < head)]
            labels = {
                "valencies": {label for _, label in system.aside(s)},
                "side": {s.labels[k] for k in below} if head >= 0 else {"none"},
            }
            for name, features in (("valencies", valencies), ("side", side)):
                keys = features.extract(s)
                expected = labels[name] if s.phase else set()
                assert len(keys) == len({*keys}) == len(expected)
                if len(keys) == 1:
                    assert seen[name].setdefault(*expected, keys[0]) == keys[0]
            choices = [(m, label) for label in range(3) for m in system.legal_moves(s, label)]
            system.apply(s, *random.choice(choices))
    assert all(len({*keys.values()}) == len(keys) > 1 for keys in seen.values())
