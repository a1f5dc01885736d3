"""Second-order models of the arc learner: templates and scores of siblings, learning, parsing, model files."""

from array import array
from random import Random

import pytest
from test_arcs import SMALL_ARCS, SMALL_LABELS, SMALL_SIBLINGS, learn, new_learner, parse
from test_linear import treebank

from exhaustive import COMPILED
from tanglewood.core.actions import Actions
from tanglewood.core.state import State
from tanglewood.decoders import make_decoder
from tanglewood.decoders.base import score_table
from tanglewood.decoders.mst2 import Mst2
from tanglewood.decoders.siblings import second_order_value, sibling_table
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ConfigError, ModelError
from tanglewood.learners.arcs.core import label_table
from tanglewood.learners.arcs.learner import ArcLearner, ArcModel, ArcOptions
from tanglewood.learners.arcs.templates import SHIPPED, SIBLINGS, STACKED, ArcTemplates, by_head
from tanglewood.learners.base import Example
from tanglewood.learners.features import FeatureSet
from tanglewood.ml.words import words_of
from tanglewood.parser import Parser
from tanglewood.systems import make_system
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from toy import toy_sentences

# Templates. -------------------------------------------------------------------------------------------------------


def test_templates_without_the_head_are_told_from_those_with_it():
    assert by_head(("n.upos d.upos", "h.upos d.upos", "n-d.distance", "n.upos h-d.direction", "h-n.distance")) == (
        ["n.upos d.upos", "n-d.distance"],
        ["h.upos d.upos", "n.upos h-d.direction", "h-n.distance"],
    )


@pytest.mark.parametrize(
    ("lists", "only"),
    [
        (((*SMALL_ARCS, "n.upos"), SMALL_LABELS), "unknown address 'n'"),
        ((SMALL_ARCS, (*SMALL_LABELS, "n.upos")), "unknown address 'n'"),
        ((SMALL_ARCS, SMALL_LABELS, ("s0.upos",)), "should speak of h, d and n only"),
        ((SMALL_ARCS, SMALL_LABELS, ("flags n.upos",)), "should speak of h, d and n only"),
    ],
)
def test_only_templates_of_siblings_speak_of_the_dependent_before(lists, only):
    with pytest.raises(ConfigError, match=only):
        ArcTemplates(*lists)


def test_templates_of_ones_own_have_a_list_for_siblings(tmp_path):
    file = tmp_path / "mine.toml"
    actions = new_learner().actions
    file.write_text(f"arcs = {list(SMALL_ARCS)}\nlabels = {list(SMALL_LABELS)}\n")
    with pytest.raises(ConfigError, match=r"mine\.toml should have a list of strings, siblings"):
        ArcLearner.begin(actions, [], ArcOptions(templates=str(file), siblings=True), 1)
    file.write_text(f"{file.read_text()}siblings = {list(SMALL_SIBLINGS)}\n")
    for siblings in (True, False):
        learner = ArcLearner.begin(actions, [], ArcOptions(templates=str(file), siblings=siblings), 1)
        assert learner.templates.siblings == (SMALL_SIBLINGS if siblings else ())
    assert ArcLearner.begin(actions, [], ArcOptions(siblings=True), 1).templates.siblings == SIBLINGS
    stacked = ArcLearner.begin(actions, [], ArcOptions(siblings=True), 1, stacked=True).templates
    assert stacked == ArcTemplates(SHIPPED.arcs + STACKED.arcs, SHIPPED.labels + STACKED.labels, SIBLINGS)


# Scores and learning. ---------------------------------------------------------------------------------------------


def test_scores_of_siblings_are_the_sums_of_the_weights_of_their_features():
    """Against a twin that looks every feature up for every three nodes."""
    learner = new_learner(small=True, siblings=True)
    learn(learner, 2, search="mst2")
    model = learner.model()
    example = treebank(3)[0]
    workspace = model.workspace()
    workspace.encode([example.words])
    found = workspace.score_siblings(0)
    first, both = (
        FeatureSet(texts, ends=("h", "d", "n"))
        for texts in ([text for text in SMALL_SIBLINGS if "h." in text], SMALL_SIBLINGS)
    )
    state = State(len(example.words))
    scored = 0
    for head in range(state.n + 1):
        for word in range(1, state.n + 1):
            for nearer in range(min(head, word), max(head, word) + 1) if head != word else ():
                if nearer != word:
                    features = first if nearer == head else both
                    features.use(workspace.words, workspace.offsets[0])
                    features.sibling = -1 if nearer == head else nearer
                    (score,) = model.tables["arcs"].score(array("i", features.extract(state, head, word)))
                    assert found[head, nearer, word] == pytest.approx(score, rel=1e-5, abs=1e-6)
                    scored += score != 0
    assert scored > 5


class Remembering(Mst2):
    """Remembers the tree that was found last."""

    def second_order_best(self, scores, siblings):
        self.found = Mst2.second_order_best(self, scores, siblings)
        return self.found


def test_a_step_brings_the_gold_tree_up_to_the_tree_that_was_found():
    """Features of all parts differ, so that the step is exactly as long as it has to be."""
    labels = ("root", "dep")
    actions = Actions(make_system("swap", single_root=True), labels, 0)
    templates = ArcTemplates(
        ("h.form d.form",), ("h.form d.form",), ("n.form d.form n-d.direction", "h.form n.form d.form")
    )
    learner = ArcLearner(actions, templates, ArcOptions(most=1e9), 1)
    n = 6
    words = [(letter, letter, "X", "_", "_") for letter in "abcdef"]
    table, offsets = learner.numbers.table([words])
    rng = Random(1)
    steps = 0
    for _ in range(40):
        gold = list(SpanningTree(single_root=True).sample(score_table(n, 0.0), rng).heads)
        decoder = Remembering(single_root=True)
        learner.trainer.use(table, offsets[0], State(n))
        learner.trainer.learn(gold, [-1, *(int(head != 0) for head in gold[1:])], decoder)
        scores, siblings, space = score_table(n), sibling_table(n), array("i", bytes(8 * (n + 1)))
        learner.trainer.fill(scores, label_table(n))
        learner.trainer.fill_siblings(siblings)
        values = [
            second_order_value(scores, siblings, array("i", heads), space) for heads in (gold, decoder.found.heads)
        ]
        if list(decoder.found.heads) != gold:
            assert values[0] == pytest.approx(values[1], abs=1e-4)
            steps += 1
    assert steps > 20


def test_what_no_arc_alone_can_tell_is_learnt_from_siblings():
    """Tags of arcs are the same in both sentences: only the dependent before says where the last one goes."""
    examples = [
        Example(
            [("v", "v", "V", "_", "_"), (form, form, "A", "_", "_"), ("b", "b", "B", "_", "_")], heads, [-1, 0, 1, 1]
        )
        for form, heads in (("left", [-1, 0, 1, 1]), ("right", [-1, 0, 1, 2]))
    ]
    actions = Actions(make_system("swap", single_root=True), ("root", "dep"), 0)
    right = {}
    for search, siblings in (("mst", ()), ("mst2", ("n.lemma d.upos",)), ("eisner2", ("n.lemma d.upos",))):
        templates = ArcTemplates(("h.upos d.upos h-d.direction",), ("d.upos",), siblings)
        learner = ArcLearner(actions, templates, ArcOptions(most=1.0), 1)
        learn(learner, 10, examples, search)
        found = parse(learner.model(), examples, search)
        right[search] = [heads for heads, _ in found] == [list(example.heads) for example in examples]
    assert right == {"mst": False, "mst2": True, "eisner2": True}


def test_a_tiny_treebank_is_learnt_perfectly():
    learner = new_learner(small=not COMPILED, siblings=True)
    losses = learn(learner, 8, search="mst2")
    assert losses[-1] < losses[0] / 4
    for example, (heads, labels) in zip(treebank(), parse(learner.model(), treebank(), "mst2"), strict=True):
        assert heads == list(example.heads)
        assert labels == list(example.labels)


def test_a_sentence_beyond_the_limits_is_learnt_from_by_its_arcs():
    """As if the model were a first-order one: to the last bit."""
    first, second = new_learner(small=True), new_learner(small=True, siblings=True)
    decoder = make_decoder("mst2", second.actions.system, max_words=1)
    assert second.epoch(treebank(), decoder) == first.epoch(treebank(), make_decoder("mst", first.actions.system))
    assert {name: bytes(values) for name, values in second.model().arrays().items()} == {
        name: bytes(values) for name, values in first.model().arrays().items()
    }


# Parsers. ---------------------------------------------------------------------------------------------------------


def trained(search):
    sentences, epochs = (25, 2) if COMPILED else (6, 1)
    *_, last = Training(Config(search=search, settings={"epochs": epochs}), toy_sentences(sentences)).run()
    return last.parser


@pytest.fixture(scope="module")
def second_order():
    return trained("mst2")


@pytest.fixture(scope="module")
def first_order():
    return trained("mst")


def heads_of(parsed):
    return [list(sentence.tree.heads) for sentence in parsed]


def test_a_parser_finds_what_its_decoder_finds_and_is_saved_and_loaded(second_order, tmp_path):
    sentences = toy_sentences(10 if COMPILED else 3, seed=2)
    for search in ("mst2", "eisner2"):
        decoder = make_decoder(search, second_order.model.actions.system)
        workspace = second_order.model.workspace()
        workspace.encode([words_of(sentence) for sentence in sentences])
        expected = [
            list(decoder.second_order_best(workspace.score(index).scores, workspace.score_siblings(index)).heads)
            for index in range(len(sentences))
        ]
        found = heads_of(second_order.parse_all(sentences, search=search))
        assert [heads[1:] for heads in found] == [heads[1:] for heads in expected]
        assert heads_of(second_order.parse_all(sentences, search=search, threads=2)) == found
    second_order.save(tmp_path / "second.tw")
    again = Parser.load(tmp_path / "second.tw")
    assert again.model.capabilities.scores_siblings
    assert heads_of(again.parse_all(sentences)) == heads_of(second_order.parse_all(sentences, search="mst2"))
    assert not COMPILED or heads_of(again.parse_all(sentences)) != heads_of(
        second_order.parse_all(sentences, search="eisner2")
    )


def test_comments_tell_of_the_search_and_its_limits(second_order):
    sentence = toy_sentences(1)[0]
    (parsed,) = second_order.parse_all([sentence], show_search=True)
    assert "# search = mst2, proof: local-optimum" in parsed.to_text()
    (parsed,) = second_order.parse_all([sentence], search="eisner2", show_search=True)
    assert "# search = eisner2, proof: projective-chart" in parsed.to_text()
    (parsed,) = second_order.parse_all([sentence], max_length=2)
    assert f"# search = mst instead of mst2: {len(sentence)} words are beyond the limit" in parsed.to_text()


def test_orders_are_not_mixed(second_order, first_order):
    sentences = toy_sentences(2)
    with pytest.raises(ConfigError, match=r"'mst' is for models that score arcs; .* siblings and takes mst2, eisner2"):
        list(second_order.parse_all(sentences, search="mst"))
    with pytest.raises(ConfigError, match=r"'mst2' is for models that score arcs and siblings; .* graph-based"):
        list(first_order.parse_all(sentences, search="mst2"))
    for option in ("confidence", "min_risk"):
        with pytest.raises(ConfigError, match="no sums over trees"):
            list(second_order.parse_all(sentences, **{option: True}))


def test_a_file_whose_templates_and_search_do_not_go_together_is_refused(second_order, first_order):
    for parser, search in ((second_order, "mst"), (first_order, "mst2")):
        arrays, settings = parser.contents()
        described = {**settings, "description": {**settings["description"], "search": search}}
        with pytest.raises((ConfigError, ModelError), match="is for models that score"):
            Parser.from_contents(arrays, described)
    model = second_order.model
    settings = model.settings()
    for odd in ("n.upos", [7], ["s0.upos"], [" ".join(["n.feats d.feats h.feats"])]):
        with pytest.raises((ConfigError, ModelError)):
            ArcModel.load(
                model.actions, model.arrays(), {**settings, "templates": {**settings["templates"], "siblings": odd}}
            )


def test_the_search_says_whether_siblings_are_learnt():
    assert Config(search="mst2").completed().settings == {"siblings": True}
    assert Config(search="mst2").completed().learner == "arcs"
    assert Config(search="mst").completed().settings == {}
    with pytest.raises(ConfigError, match="is for learners that score siblings, not for network"):
        Config(search="eisner2", learner="network").completed()
    with pytest.raises(ConfigError, match="goes with a second-order search: mst2, eisner2"):
        Config(search="mst", settings={"siblings": True}).completed()
