"""joint-swap: SHIFT carries a tag. Its rules against a slow twin, what is offered, tags that only syntax tells."""

from __future__ import annotations

import json
from array import array
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brute_trees import all_trees, random_heads
from exhaustive import COMPILED, key, number_of, reachable_trees, trees
from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.linear.learner import LinearLearner, WordNumbers
from tanglewood.learners.tag_candidates import Tagging
from tanglewood.measure.scores import evaluate
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline, load
from tanglewood.systems import make_system
from tanglewood.text import tagger
from tanglewood.text.tagger import TaggerOptions
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.training.pipeline import prepare
from tanglewood.treebank.tag_candidates import read_candidates, with_candidates, without_candidates, write_candidates
from toy import sentences_of, toy_sentences

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP, RESHIFT = range(5)
N_TAGS = 3
quick = settings(
    max_examples=100 if COMPILED else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


class Twin:
    """The system with lists and sets, straight from the definition."""

    def __init__(self, n, offered):
        self.stack, self.buffer, self.arcs, self.tags, self.tag_column = [0], list(range(1, n + 1)), {}, {}, offered

    def actions(self):
        """All legal moves with their tags (None where a move has none)."""
        if not self.buffer and self.stack == [0]:
            return []
        found = []
        if self.buffer and self.buffer[0] not in self.tags:
            found += [(SHIFT, tag) for tag in sorted(self.tag_column[self.buffer[0]])]
        elif self.buffer:
            found.append((RESHIFT, None))
        if len(self.stack) > 1:
            i, j = self.stack[-2:]
            found += [(LEFT_ARC, None)] * (i > 0) + [(RIGHT_ARC, None)] + [(SWAP, None)] * (0 < i < j)
        return found

    def take(self, move, tag):
        if move in (SHIFT, RESHIFT):
            word = self.buffer.pop(0)
            self.stack.append(word)
            if move == SHIFT:
                self.tags[word] = tag
        elif move == SWAP:
            self.buffer.insert(0, self.stack.pop(-2))
        else:
            dependent = self.stack.pop(-2 if move == LEFT_ARC else -1)
            self.arcs[dependent] = self.stack[-1]


def offers_of(offered, n):
    """The table of a state: N_TAGS places and a number for all."""
    rows = [[*sorted(offered.get(node, ())), *[-1] * N_TAGS][:N_TAGS] for node in range(n + 1)]
    return array("i", [number for node, row in enumerate(rows) for number in (*row, node)])


offered_tags = st.sets(st.integers(0, N_TAGS - 1), min_size=1)


@quick
@given(n=st.integers(1, 8), choices=st.binary(min_size=60, max_size=60), data=st.data())
def test_rules_agree_with_the_slow_twin(n, choices, data):
    offered = {word: data.draw(offered_tags) for word in range(1, n + 1)}
    system = make_system("joint-swap")
    s, twin = system.start(n), Twin(n, offered)
    s.take_candidates(offers_of(offered, n))
    while actions := twin.actions():
        known = [(move, tag) for move in range(5) for tag in (range(N_TAGS) if move == SHIFT else [None])]
        assert [action for action in known if is_legal(system, s, *action)] == sorted(actions, key=lambda a: a[0])
        move, tag = actions[choices[s.steps % 60] % len(actions)]
        twin.take(move, tag)
        system.apply(s, move, -1 if tag is None else tag)
        assert (s.stack_nodes(), s.buffer_nodes()) == (twin.stack, twin.buffer)
        assert s.word_tags() == [twin.tags.get(word, -1) for word in range(1, n + 1)]
    assert system.is_final(s)
    assert s.word_heads() == [twin.arcs[word] for word in range(1, n + 1)]


def is_legal(system, s, move, tag):
    return system.is_legal(s, move, -1 if tag is None else tag)


@pytest.mark.parametrize("oracle", ["eager", "lazy"])
@quick
@given(heads=random_heads(12, 1), data=st.data())
def test_the_oracle_derives_every_tree_with_every_word_tagged_once(oracle, heads, data):
    n = len(heads)
    tags = data.draw(st.lists(st.integers(0, N_TAGS - 1), min_size=n, max_size=n))
    system, swap = make_system("joint-swap"), make_system("swap")
    guide, plain = system.oracle(oracle), swap.oracle(oracle)
    guide.bind([-1, *heads], [-1, *[0] * n], [-1, *tags])
    plain.bind([-1, *heads], [-1, *[0] * n])
    s, other = system.start(n), swap.start(n)
    s.take_candidates(offers_of({word: {tag} for word, tag in enumerate(tags, 1)}, n))
    taken = []
    while not system.is_final(s):
        action, wanted = guide.action(s), plain.action(other)
        assert action[0] == wanted[0] or (action[0], wanted[0]) == (RESHIFT, SHIFT)
        taken.append(action[0])
        system.apply(s, *action)
        swap.apply(other, *wanted)
    assert s.word_heads() == heads
    assert s.word_tags() == tags
    assert (taken.count(SHIFT), taken.count(RESHIFT)) == (n, taken.count(SWAP))
    assert guide.reaches_gold(s)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_trees_with_all_tags_are_reached(n):
    system = make_system("joint-swap")
    first = system.start(n)
    agenda, seen, found = [first], {key(first)}, set()
    while agenda:
        s = agenda.pop()
        if system.is_final(s):
            found.add((tuple(s.word_heads()), tuple(s.word_tags())))
        for move in range(5):
            for label in range(2 if move == SHIFT else 1):
                if system.is_legal(s, move, label):
                    after = s.copy()
                    system.apply(after, move, label)
                    if key(after) not in seen:
                        seen.add(key(after))
                        agenda.append(after)
    assert found == set(product(map(tuple, all_trees(n)), product(range(2), repeat=n)))


def test_trees_reached_are_those_of_swap():
    assert reachable_trees(make_system("joint-swap"), 4) == set(trees(4))


def test_a_gold_tag_that_is_not_offered_is_not_derived():
    system = make_system("joint-swap")
    guide = system.oracle()
    guide.bind([-1, 0], [-1, 0], [-1, 2])
    s = State(1)
    s.take_candidates(offers_of({1: {0, 1}}, 1))
    assert not guide.reaches_gold(s)


@pytest.mark.parametrize("options", [{"tag_column": "deprel"}, {"best_tags": 0}, {"tag_threshold": -1.0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        make_system("joint-swap", **options)


def test_offers_must_fit_the_sentence():
    with pytest.raises(ConfigError, match="7 numbers cannot be shared out among 3 nodes"):
        State(2).take_candidates(array("i", range(7)))


# Searching. -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("root_label", [-1, 1])
@quick
@given(n=st.integers(1, 7), data=st.data())
def test_searches_give_offered_tags_only_and_labels_of_arcs_to_arcs(width, root_label, n, data):
    """The scorer has learnt nothing, so ties decide: the first that fits."""
    offered = {word: data.draw(offered_tags) for word in range(1, n + 1)}
    actions = Actions(make_system("joint-swap", single_root=True), ["a", "root"], root_label, ["X", "Y", "Z"])
    workspace = LinearLearner(actions).model().workspace()
    workspace.encode([[("w", "w", "X", "_", "_")] * n])
    search = Search(actions, workspace.turn_to(0))
    s = State(n)
    s.take_candidates(offers_of(offered, n))
    if width == 1:
        search.greedy(s)
    else:
        Beam(search, width).parse(s)
    assert all(tag in offered[word] for word, tag in enumerate(s.word_tags(), 1))
    for head, label in zip(s.word_heads(), s.word_labels(), strict=True):
        assert 0 <= label < 2
        assert root_label < 0 or (label == root_label) == (head == 0)


# Candidates in MISC. -------------------------------------------------------------------------------------------------

LINE = "1\twug\twug\tNOUN\tN\t_\t0\troot\t_\t{}\n\n"
tag_text = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1, max_size=5)


@quick
@given(choices=st.lists(st.tuples(tag_text, st.integers(0, 900).map(lambda x: x / 100)), min_size=1, max_size=4))
def test_choices_come_back_whatever_the_tags_are(choices):
    (sentence,) = sentences_of(LINE.format("SpaceAfter=No"))
    with_tags_of = with_candidates(sentence, [choices])
    assert read_candidates(with_tags_of.misc[0]) == choices
    assert with_tags_of.misc[0] == f"SpaceAfter=No|TagChoices={write_candidates(choices)}"
    assert without_candidates(with_tags_of).to_bytes() == sentence.to_bytes()


@pytest.mark.parametrize("misc", ["_", "SpaceAfter=No", "TagChoices=", "TagChoices=NOUN", "TagChoices=NOUN:x"])
def test_what_is_no_choice_is_passed_over(misc):
    assert read_candidates(misc) == []


def tagging(**options):
    return Tagging(Actions(make_system("joint-swap", **options), ["root"], 0, ["ADJ", "NOUN", "VERB"]))


def test_the_best_few_tags_near_the_best_are_offered_and_the_gold_one_when_learning():
    (sentence,) = sentences_of(LINE.format("TagChoices=VERB:0,X:0.1,ADJ:1,NOUN:2"))
    for options, row in (
        ({"best_tags": 4, "tag_threshold": 5.0}, [2, 0, 1, -1, -1]),
        ({"best_tags": 4, "tag_threshold": 1.5}, [2, 0, -1, -1, -1]),
        ({"best_tags": 2, "tag_threshold": 5.0}, [2, -1, -1]),
    ):
        words, offers = tagging(**options).read(sentence)
        assert list(offers)[len(row) + 1 : -1] == row
        assert words == [("wug", "wug", "VERB", "N", "_")]
    _, offers = tagging(best_tags=2).read(sentence, [-1, 1])
    assert list(offers)[4:-1] == [2, 1, -1]


@pytest.mark.parametrize(("upos", "row"), [("NOUN", [1, -1, -1]), ("WORD", [-1, -1, -1])])
def test_without_choices_the_tag_in_the_column_is_the_only_one_and_unknown_ones_leave_it_open(upos, row):
    (sentence,) = sentences_of(LINE.format("_").replace("NOUN", upos))
    assert list(tagging(best_tags=2).read(sentence)[1])[4:-1] == row


def test_features_see_the_tags_given_on_the_stack_and_the_first_tags_in_the_buffer():
    words = [(form, form, "FIRST", "_", "_") for form in ("a", "b", "c")]
    table, (offset,) = WordNumbers().table([words])
    actions = Actions(make_system("joint-swap"), [], tags=["X", "Y"])
    given = FeatureSet(["s0.upos", "b0.upos", "s0-b1.between"], actions=actions)
    same = [("a", "a", "Y", "_", "_"), ("b", "b", "FIRST", "_", "_"), ("c", "c", "FIRST", "_", "_")]
    plain_table, (plain_offset,) = WordNumbers().table([same])
    plain = FeatureSet(["s0.upos", "b0.upos", "s0-b1.between"])
    given.use(table, offset)
    plain.use(plain_table, plain_offset)
    system = make_system("joint-swap")
    s = system.start(3)
    system.apply(s, number_of(system, "SHIFT"), 1)
    assert given.extract(s) == plain.extract(s)


# Learning. --------------------------------------------------------------------------------------------------------


def learnt(sentences, epochs, system="joint-swap", **choices):
    """A parser by the linear learner."""
    config = Config(system=system, learner="linear", settings={"epochs": epochs}, **choices)
    *_, last = Training(config, sentences).run()
    return last.parser


def ambiguous(n, seed):
    """Sentences in which the last word is a noun or a verb by what the first one is, any number of words between.

    The first tagger offers both, and says noun; its sentences with its own tags come second.
    """
    rng = Random(seed)
    texts, piped = [], []
    for _ in range(n):
        verbal = rng.random() < 0.5
        between = rng.randint(3, 6)
        rows = [("sog" if verbal else "tem", "VERB", 0, "root", "VERB:0")]
        rows += [("ap", "ADV", 1, "advmod", "ADV:0")] * between
        rows += [("wug", "VERB" if verbal else "NOUN", 1, "xcomp" if verbal else "obj", "NOUN:0,VERB:0.5")]
        lines = [
            f"{i}\t{form}\t{form}\t{{}}\t_\t_\t{head}\t{label}\t_\tTagChoices={choices}\n"
            for i, (form, _, head, label, choices) in enumerate(rows, 1)
        ]
        texts.append("".join(lines).format(*(row[1] for row in rows)) + "\n")
        piped.append("".join(lines).format(*(row[4].partition(":")[0] for row in rows)) + "\n")
    return sentences_of("".join(texts)), sentences_of("".join(piped))


@pytest.fixture(scope="module")
def ambiguity():
    train, piped = ambiguous(60 if COMPILED else 30, 1)
    return learnt(train, 8), learnt(piped, 8, system="swap")


@pytest.mark.parametrize("beam", [1, 8])
def test_a_tag_that_only_syntax_tells_is_right_in_the_joint_parser_and_wrong_in_the_pipeline(ambiguity, beam):
    joint, pipeline = ambiguity
    gold, piped = ambiguous(20, 2)
    in_one = evaluate(gold, joint.parse_all(gold, beam=beam))
    in_turn = evaluate(gold, pipeline.parse_all(piped, beam=beam))
    assert in_one.upos == 100 > in_turn.upos
    assert in_one.las >= in_turn.las


def test_parsed_sentences_have_tags_and_no_choices_and_gold_tags_are_not_looked_at(ambiguity):
    joint, _ = ambiguity
    gold, piped = ambiguous(5, 3)
    parsed = [sentence.to_text() for sentence in joint.parse_all(gold)]
    assert all("TagChoices" not in text for text in parsed)
    assert parsed == [sentence.to_text() for sentence in joint.parse_all(piped)]
    best = [s.to_text() for s in joint.parse_all(gold, beam=4, nbest=2, confidence=True)]
    assert all("TagChoices" not in text for text in best)


def test_the_same_seed_gives_the_same_bytes_and_a_file_gives_the_same_parser(ambiguity, tmp_path):
    joint, _ = ambiguity
    gold, _ = ambiguous(5, 3)
    joint.save(tmp_path / "one.tw")
    train, _ = ambiguous(60 if COMPILED else 30, 1)
    again = learnt(train, 8)
    again.save(tmp_path / "other.tw")
    assert (tmp_path / "one.tw").read_bytes() == (tmp_path / "other.tw").read_bytes()
    loaded = Parser.load(tmp_path / "one.tw")
    assert [s.to_text() for s in loaded.parse_all(gold)] == [s.to_text() for s in joint.parse_all(gold)]


def test_tags_may_be_those_of_the_other_column():
    train = toy_sentences(10)
    parser = learnt(train, 1, options={"tag_column": "xpos"})
    assert parser.model.actions.tags == sorted({tag for sentence in train for tag in sentence.xpos})
    for sentence, parsed in zip(train, parser.parse_all(train), strict=True):
        assert (parsed.upos, parsed.xpos) == (sentence.upos, sentence.xpos)  # one choice each


# With its tagger. -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    """A pipeline whose parser chooses tags, and the data that its parser was trained on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagger, "SIZES", (16, 8))
        options = TaggerOptions(epochs=3, layers=1, batch_words=30, rate=0.02)
        found = prepare(toy_sentences(30), toy_sentences(10, 2), folds=2, options=options, tag_column="upos")
    parser = learnt(found.train, 2)
    return Pipeline(parser, found.tagger, found.tokenizer), found


def test_the_tagger_offers_its_own_tag_first_and_others_behind_it(whole):
    pipeline, _ = whole
    forms = [sentence.forms for sentence in toy_sentences(5, 3)]
    worker = pipeline.tagger.worker()
    for plain, with_tags_of in zip(worker.tag(forms), worker.tag(forms, "upos"), strict=True):
        assert plain == [tags._replace(choices=()) for tags in with_tags_of]
        for tags in with_tags_of:
            names, behind = zip(*tags.choices, strict=True)
            assert names[0] == tags.upos
            assert len(set(names)) == len(names)
            assert list(behind[1:]) == sorted(behind[1:])


def test_the_parser_learns_gold_tags_from_choices_of_taggers_that_have_not_seen_them(whole):
    _, found = whole
    assert [s.upos for s in found.train] == [s.upos for s in toy_sentences(30)]
    assert all(read_candidates(misc) for s in (*found.train, *found.dev) for misc in s.misc)


def test_a_model_file_holds_its_tagger_so_that_words_are_enough(whole, tmp_path):
    from tanglewood.cli import main

    pipeline, _ = whole
    pipeline.save(tmp_path / "joint.tw")
    loaded = load(tmp_path / "joint.tw")
    assert loaded.tagger is not None
    assert loaded.tag_column == "upos"
    bare = [s.with_columns(*[["_"] * len(s)] * 4) for s in toy_sentences(5, 3)]
    (tmp_path / "words.conllu").write_text("".join(s.to_text() for s in bare))
    out = tmp_path / "parsed.conllu"
    assert main(["parse", "-m", str(tmp_path / "joint.tw"), str(tmp_path / "words.conllu"), "-o", str(out)]) == 0
    (parsed, *_) = sentences_of(out.read_text())
    assert set(parsed.upos) <= set(loaded.parser.model.actions.tags)
    assert "TagChoices" not in out.read_text()
    assert "TagChoices" not in "".join(s.to_text() for s in pipeline.tag_text("ta wug zorps ."))
    assert "TagChoices" not in "".join(s.to_text() for s in pipeline("ta wug zorps ."))


def test_training_on_the_command_line_learns_a_tagger_too(tmp_path, capsys, monkeypatch):
    from tanglewood.cli import main

    monkeypatch.setattr(tagger, "SIZES", (8, 4))
    path = tmp_path / "train.conllu"
    path.write_text("".join(s.to_text() for s in toy_sentences(12)))
    command = ["train", str(path), "--dev", str(path), "-o", str(tmp_path / "m.tw"), "--system", "joint-swap"]
    assert main([*command, "--learner", "linear", "--epochs", "1", "--best-tags", "2"]) == 0
    err = capsys.readouterr().err
    assert "  UPOS " in err
    assert "tagger: epoch  1/1" in err  # as few epochs as the parser has
    assert "tagger of part 1/5: epoch  1/1" in err
    pipeline = load(tmp_path / "m.tw")
    assert pipeline.tagger is not None
    assert pipeline.parser.model.actions.system.best_tags == 2
    assert "upos" in pipeline.description["dev"]


def test_cross_validation_tags_each_fold_with_a_tagger_that_has_not_seen_it(tmp_path, capsys, monkeypatch):
    from tanglewood.cli import main

    monkeypatch.setattr(tagger, "SIZES", (8, 4))
    path = tmp_path / "all.conllu"
    path.write_text("".join(s.to_text() for s in toy_sentences(12)))
    command = ["crossval", str(path), "--folds", "2", "--epochs", "1", "--system", "joint-swap", "--learner", "linear"]
    assert main([*command, "--json"]) == 0
    *folds, whole_ = json.loads(capsys.readouterr().out)
    assert len(folds) == 2
    assert 0 < whole_["upos"] < 100  # gold tags were not offered
