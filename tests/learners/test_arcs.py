"""The arc learner: features, learning, models, guides. Run as a program, prints the workload of one build."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

SMALL_ARCS = (
    "h.upos d.upos h-d.direction",
    "h.lemma d.lemma",
    "h.feats d.feats",
    "h-d.distance",
    "d.upos h-d.direction",
)
SMALL_SIBLINGS = ("h.upos n.upos d.upos h-d.direction", "n.lemma d.lemma n-d.direction", "n.feats d.feats")
SMALL_LABELS = ("d.upos h.upos", "d.feats h-d.direction", "d.form h-d.direction", "h.upos")


def new_learner(seed=1, small=False, root=True, siblings=False, **options):
    from test_linear import LABELS

    from tanglewood.core.actions import Actions
    from tanglewood.learners.arcs.learner import ArcLearner, ArcOptions
    from tanglewood.learners.arcs.templates import SHIPPED, SIBLINGS, ArcTemplates
    from tanglewood.systems import make_system

    actions = Actions(make_system("swap", single_root=True), LABELS, LABELS.index("root") if root else -1)
    templates = ArcTemplates(SMALL_ARCS, SMALL_LABELS) if small else SHIPPED
    if siblings:
        templates = replace(templates, siblings=SMALL_SIBLINGS if small else SIBLINGS)
    return ArcLearner(actions, templates, ArcOptions(**options), seed)


def quick_learner(**options):
    """One with few templates where they are looked up by interpreted code."""
    from exhaustive import COMPILED

    return new_learner(small=not COMPILED, **options)


def learn(learner, epochs, examples=None, search="mst"):
    from test_linear import treebank

    from tanglewood.decoders import make_decoder

    decoder = make_decoder(search, learner.actions.system)
    return [learner.epoch(examples or treebank(), decoder) for _ in range(epochs)]


def parse(model, examples, search="mst"):
    from tanglewood.decoders import make_decoder

    decoder = make_decoder(search, model.actions.system)
    workspace = model.workspace()
    guesses = [example.stacked for example in examples if example.stacked]
    workspace.encode([example.words for example in examples], guesses)
    parses = []
    for index in range(len(examples)):
        arcs = workspace.score(index)
        if model.capabilities.scores_siblings:
            heads = decoder.second_order_best(arcs.scores, workspace.score_siblings(index)).heads
        else:
            heads = decoder.best(arcs.scores).heads
        parses.append((list(heads), [-1, *(arcs.labels[heads[word], word] for word in range(1, len(heads)))]))
    return parses


def workload():
    """Everything a build makes of a tiny treebank."""
    from test_linear import model_bytes, treebank

    for small in (True, False):
        learner = new_learner(small=small)
        yield repr(learn(learner, 2))
        model = learner.model()
        yield repr({name: crc32(values) for name, values in model_bytes(model).items()})
        yield repr(model.settings()["scales"])
        yield repr(parse(model, treebank(8)))
    workspace = model.workspace()
    workspace.encode([treebank(8)[0].words])
    yield repr(workspace.score(0).scores.tolist())
    second = new_learner(small=True, siblings=True)
    yield repr(learn(second, 2, search="mst2"))
    yield repr({name: crc32(values) for name, values in model_bytes(second.model()).items()})
    yield repr([parse(second.model(), treebank(8), search) for search in ("mst2", "eisner2")])
    workspace = second.model().workspace()
    workspace.encode([treebank(8)[0].words])
    yield repr(workspace.score_siblings(0).tolist())


# Templates. -------------------------------------------------------------------------------------------------------


def test_templates_are_divided_by_the_ends_they_speak_of():
    from tanglewood.learners.arcs.templates import by_side

    heads, words, pairs = by_side(
        ("h.upos h-d.direction", "d.next.upos", "h.upos d.upos", "h-d.distance", "h-d.direction", "d.upos h-d.arc")
    )
    assert heads == ["h.upos h-d.direction"]
    assert words == ["d.next.upos"]
    assert pairs == ["h.upos d.upos", "h-d.distance", "h-d.direction", "d.upos h-d.arc"]


@pytest.mark.parametrize("template", ["s0.upos", "h.upos b0.upos", "flags d.upos"])
def test_a_template_of_an_arc_speaks_of_its_ends_only(template):
    from tanglewood.errors import ConfigError
    from tanglewood.learners.arcs.templates import ArcTemplates

    with pytest.raises(ConfigError, match="should speak of h and d only"):
        ArcTemplates((template,), SMALL_LABELS)


def test_templates_of_ones_own(tmp_path):
    from test_linear import treebank

    from tanglewood.learners.arcs.learner import ArcLearner, ArcOptions

    file = tmp_path / "mine.toml"
    file.write_text(f"arcs = {list(SMALL_ARCS)}\nlabels = {list(SMALL_LABELS)}\n")
    actions = new_learner().actions
    learner = ArcLearner.begin(actions, [], ArcOptions(templates=str(file)), 1)
    assert learner.templates.arcs == SMALL_ARCS
    learn(learner, 1)
    assert parse(learner.model(), treebank())


# Scores. ----------------------------------------------------------------------------------------------------------


def test_scores_are_the_sums_of_the_weights_of_the_features():
    """Against a twin that looks every feature up for every arc."""
    from array import array

    from test_linear import treebank

    from tanglewood.core.state import State
    from tanglewood.learners.features import FeatureSet

    for root in (True, False):
        learner = new_learner(small=True, root=root)
        learn(learner, 2)
        model = learner.model()
        example = treebank(3)[0]
        workspace = model.workspace()
        workspace.encode([example.words])
        arcs = workspace.score(0)
        features = [FeatureSet(texts, ends=("h", "d")) for texts in (SMALL_ARCS, SMALL_LABELS)]
        state = State(len(example.words))
        for found in features:
            found.use(workspace.words, workspace.offsets[0])
        for head in range(state.n + 1):
            for word in range(1, state.n + 1):
                if head == word:
                    continue
                (score,) = model.tables["arcs"].score(array("i", features[0].extract(state, head, word)))
                if head == 0 and root:
                    best = model.actions.root_label
                else:
                    labels = model.tables["labels"].score(array("i", features[1].extract(state, head, word)))
                    best = max(
                        (k for k in range(len(labels)) if k != model.actions.root_label), key=lambda k: labels[k]
                    )
                    score += labels[best]
                assert arcs.scores[head, word] == pytest.approx(score, rel=1e-5, abs=1e-6)
                assert arcs.labels[head, word] == best


# Learning. --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", [True, False])
def test_a_tiny_treebank_is_learnt_perfectly(root):
    from test_linear import treebank

    learner = new_learner(root=root)
    losses = learn(learner, 8)
    assert losses[-1] < losses[0] / 4
    for example, (heads, labels) in zip(treebank(), parse(learner.model(), treebank()), strict=True):
        assert heads == list(example.heads)
        assert labels == list(example.labels)


def test_unseen_sentences_are_parsed_by_every_search():
    from test_linear import treebank

    learner = quick_learner()
    learn(learner, 5, treebank(1, 60))
    unseen = treebank(2, 30)
    found = parse(learner.model(), unseen)
    wrong = sum(
        head != gold
        for example, (heads, _) in zip(unseen, found, strict=True)
        for head, gold in zip(heads, example.heads, strict=True)
    )
    assert wrong <= 0.1 * sum(len(example.words) for example in unseen)
    projective = parse(learner.model(), unseen, "eisner")
    assert projective != found


def test_projective_trees_are_learnt_with_a_projective_search():
    from test_linear import treebank

    examples = treebank(3, 20, crossing=False)
    learner = quick_learner()
    learn(learner, 6, examples, "eisner")
    assert [heads for heads, _ in parse(learner.model(), examples, "eisner")] == [list(e.heads) for e in examples]


def test_a_guess_helps_where_it_is_right_and_is_asked_for():
    from test_linear import treebank

    from tanglewood.errors import ConfigError
    from tanglewood.learners.arcs.learner import ArcLearner, ArcOptions
    from tanglewood.learners.arcs.templates import STACKED
    from tanglewood.learners.base import StackedTree

    examples = [replace(e, stacked=StackedTree(e.heads, e.labels)) for e in treebank(1, 20)]
    actions = new_learner().actions
    learner = ArcLearner(actions, STACKED, ArcOptions(), 1, stacked=True)
    learn(learner, 3, examples)
    unseen = [replace(e, stacked=StackedTree(e.heads, e.labels)) for e in treebank(2, 10)]
    assert [heads for heads, _ in parse(learner.model(), unseen)] == [list(e.heads) for e in unseen]
    with pytest.raises(ConfigError, match="stacked on another parser"):
        parse(learner.model(), treebank(2, 10))


# Models. ----------------------------------------------------------------------------------------------------------


def test_saved_and_loaded_models_score_alike_and_seeds_decide():
    from test_linear import model_bytes, treebank

    from tanglewood.learners.arcs.learner import ArcModel

    learners = [quick_learner(seed=seed) for seed in (1, 1, 2)]
    for learner in learners:
        learn(learner, 2)
    first, twin, other = (learner.model() for learner in learners)
    assert model_bytes(first) == model_bytes(twin)
    assert model_bytes(first) != model_bytes(other)
    again = ArcModel.load(first.actions, first.arrays(), first.settings())
    assert parse(again, treebank(5)) == parse(first, treebank(5))
    assert again.settings() == first.settings()


def test_going_on_from_a_state_is_as_if_nothing_had_happened():
    from test_linear import model_bytes

    straight = quick_learner()
    losses = learn(straight, 3)
    begun = quick_learner()
    learn(begun, 1)
    arrays, data = begun.state()
    saved = {
        name: memoryview(memoryview(values).tobytes()).cast(memoryview(values).format)
        for name, values in arrays.items()
    }
    resumed = quick_learner()
    resumed.restore(saved, data)
    assert learn(resumed, 2) == losses[1:]
    assert model_bytes(resumed.model()) == model_bytes(straight.model())


def test_a_temperature_makes_confidence_the_share_of_right_heads():
    from test_linear import treebank

    from tanglewood.decoders.spanning import SpanningTree
    from tanglewood.learners.calibration import FARTHEST, at_temperature, best_temperature

    learner = quick_learner()
    learn(learner, 4, treebank(1, 30))
    model, decoder = learner.model(), SpanningTree()
    workspace = model.workspace()
    examples = treebank(2, 10)
    workspace.encode([example.words for example in examples])
    found = []
    for index, example in enumerate(examples):
        scores = workspace.score(index).scores
        found.append((scores, list(decoder.best(scores).heads[1:]), list(example.heads[1:])))

    def marginals(scores, temperature):
        return decoder.marginals(at_temperature(scores, temperature))

    assert best_temperature(marginals, found) < 1  # nearly all are right: the model may be sure
    wrong = [(scores, heads, [head + 1 for head in heads]) for scores, heads, _ in found]
    assert best_temperature(marginals, wrong) == 2.0**FARTHEST  # none is right: it should be sure of nothing


@pytest.mark.parametrize("options", [{"epochs": 0}, {"most": 0.0}, {"head_cost": 0.0}, {"label_cost": -1.0}])
def test_options_that_cannot_be_are_refused(options):
    from tanglewood.errors import ConfigError
    from tanglewood.learners.arcs.learner import ArcOptions

    with pytest.raises(ConfigError, match="should be"):
        ArcOptions(**options)


# Both builds. -----------------------------------------------------------------------------------------------------


def test_compiled_and_interpreted_builds_learn_the_same():
    import tanglewood.core.state

    if tanglewood.core.state.__file__.endswith(".py"):
        pytest.skip("this build is interpreted: there is no compiled one to compare with")
    package = Path(tanglewood.__file__).parent.parent
    run = subprocess.run(
        [sys.executable, __file__, str(package)], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == list(workload())


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from test_builds_agree import SourceOnly

    sys.meta_path.insert(0, SourceOnly(sys.argv[1]))
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n".join(workload()))
