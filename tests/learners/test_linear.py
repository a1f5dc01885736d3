"""The linear learner: templates, features, learning, models. Run as a program, prints the workload of one build."""

import subprocess
import sys
from array import array
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

EXAMPLES = 12
LABELS = ("det", "nsubj", "obj", "root")
SMALL_MOVES = (
    "s0.upos",
    "s1.upos",
    "s0.upos s1.upos",
    "s0.form s1.form",
    "s1-s0.distance",
    "s0.feats s1.feats",
    "flags",
)
SMALL_LABELS = ("d.upos h.upos", "d.feats", "d.form", "h-d.distance")


def treebank(seed=7, n_sentences=EXAMPLES, crossing=True):
    """Subject, verb, object and their determiners in any order; a determiner may be torn from its noun.

    The word itself says which determiner goes with which noun, so that the trees can be learnt perfectly.
    """
    from tanglewood.learners.base import Example

    random = Random(seed)
    examples = []
    for _ in range(n_sentences):
        subject, thing = random.sample(["fox", "tree", "hut"], 2)
        units = [
            [("the", "the", "DET", "_", "Case=Nom|Definite=Def"), (subject, subject, "NOUN", "_", "Case=Nom")],
            [("a", "a", "DET", "_", "Case=Acc|Definite=Ind"), (thing, thing, "NOUN", "_", "Case=Acc")],
            [("sees", "see", "VERB", "_", "_")],
        ]
        random.shuffle(units)
        words = [word for unit in units for word in unit]
        if crossing and random.random() < 0.5:
            words.insert(0, words.pop(next(i for i, word in enumerate(words) if word[0] == "a")))
        place = {(word[2], word[4][:8]): node for node, word in enumerate(words, start=1)}
        verb = place["VERB", "_"]
        heads, labels = [-1], [-1]
        for _, _, upos, _, feats in words:
            if upos == "VERB":
                heads.append(0)
                labels.append(LABELS.index("root"))
            elif upos == "NOUN":
                heads.append(verb)
                labels.append(LABELS.index("nsubj" if feats == "Case=Nom" else "obj"))
            else:
                heads.append(place["NOUN", feats[:8]])
                labels.append(LABELS.index("det"))
        examples.append(Example(words, heads, labels))
    return examples


def new_learner(system_name="swap", seed=1, small=False, **options):
    from tanglewood.core.actions import Actions
    from tanglewood.learners.linear.learner import LinearLearner
    from tanglewood.learners.templates import SHIPPED, Templates
    from tanglewood.systems import make_system

    actions = Actions(make_system(system_name, single_root=system_name == "swap"), LABELS, LABELS.index("root"))
    templates = Templates(SMALL_MOVES, SMALL_LABELS) if small else SHIPPED
    return LinearLearner(actions, templates=templates, seed=seed, **options)


def learn(learner, epochs, examples=None):
    system = learner.actions.system
    oracle = system.oracle("lazy" if "lazy" in system.oracles else None)
    return [learner.epoch(examples or treebank(), oracle) for _ in range(epochs)]


def parse(model, sentences):
    from tanglewood.core.search import Search
    from tanglewood.core.state import State

    workspace = model.workspace()
    workspace.encode(sentences)
    parses = []
    for index, words in enumerate(sentences):
        search = Search(model.actions, workspace.turn_to(index))
        state = State(len(words))
        search.greedy(state)
        parses.append((state.word_heads(), state.word_labels()))
    return parses


def model_bytes(model):
    return {name: memoryview(values).tobytes() for name, values in model.arrays().items()}


def workload():
    """Everything a build makes of a tiny treebank."""
    learner = new_learner()
    yield repr(learn(learner, 3))
    model = learner.model()
    yield repr({name: crc32(values) for name, values in model_bytes(model).items()})
    yield repr(model.settings()["scales"])
    yield repr(parse(model, [example.words for example in treebank(8)]))


# Learning. --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system_name", ["swap", "covington", "attardi-all"])
def test_a_tiny_treebank_is_learnt_perfectly(system_name):
    learner = new_learner(system_name)
    losses = learn(learner, 6)
    assert losses[0] > 0
    assert losses[-1] < losses[0]
    for example, (heads, labels) in zip(treebank(), parse(learner.model(), [e.words for e in treebank()]), strict=True):
        assert heads == list(example.heads[1:])
        assert labels == list(example.labels[1:])


def test_unseen_sentences_of_the_same_kind_are_parsed():
    learner = new_learner()
    learn(learner, 8, treebank(1, 60))
    unseen = treebank(2, 30)
    wrong = sum(
        head != gold
        for example, (heads, _) in zip(unseen, parse(learner.model(), [e.words for e in unseen]), strict=True)
        for head, gold in zip(heads, example.heads[1:], strict=True)
    )
    assert wrong <= 0.1 * sum(len(example.words) for example in unseen)


@pytest.mark.parametrize("name", ["swap", "three-step"])
def test_three_step_alone_has_templates_for_its_later_steps(name):
    from tanglewood.training.config import Config
    from tanglewood.training.loop import Training
    from toy import toy_sentences

    learner = Training(Config(learner="linear", system=name), toy_sentences(3)).learner
    later = [text for text in (*learner.templates.moves, *learner.templates.labels) if text.startswith("later:")]
    assert ("later:valencies" in later and "later:b0.label" in later) if name == "three-step" else not later


def test_every_system_can_be_trained_and_parses():
    from tanglewood.systems import SYSTEMS

    for name in SYSTEMS:
        learner = new_learner(name)
        learn(learner, 1)
        for example, (heads, _) in zip(treebank(), parse(learner.model(), [e.words for e in treebank()]), strict=True):
            assert len(heads) == len(example.words)
            assert all(head >= 0 for head in heads), name


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    models = []
    for seed in (1, 1, 2):
        learner = new_learner(seed=seed)
        learn(learner, 2)
        models.append(model_bytes(learner.model()))
    assert models[0] == models[1]
    assert models[0] != models[2]


def test_a_model_does_not_change_when_learning_goes_on():
    learner = new_learner()
    learn(learner, 1)
    model = learner.model()
    before = model_bytes(model)
    learn(learner, 1)
    assert model_bytes(model) == before
    assert model_bytes(learner.model()) != before


def test_learning_goes_on_from_a_saved_state_as_if_nothing_had_happened():
    import json

    whole = new_learner()
    learn(whole, 1)
    arrays, data = whole.state()
    saved = {name: memoryview(values.tobytes()).cast(values.typecode) for name, values in arrays.items()}
    data = json.loads(json.dumps(data))
    losses = learn(whole, 2)
    resumed = new_learner(seed=99)
    resumed.restore(saved, data)
    assert learn(resumed, 2) == losses
    assert model_bytes(resumed.model()) == model_bytes(whole.model())


def test_tables_grow_without_forgetting():
    from tanglewood.ml.linear_weights import LearningWeights

    weights = LearningWeights(3)
    random = Random(5)
    twin: dict[int, list[float]] = {}
    size = len(weights.tables()[0])
    for _ in range(60):
        weights.reserve()
        keys = array("i", [random.randrange(1 << 31) for _ in range(3000)])
        good, bad = random.sample(range(3), 2)
        weights.update(keys, good, bad, 0.25, 1.0)
        for key in keys:
            row = twin.setdefault(key, [0.0, 0.0, 0.0])
            row[good] += 0.25
            row[bad] -= 0.25
    assert len(weights.tables()[0]) > size
    for key in random.sample(sorted(twin), 500):
        assert weights.score(array("i", [key])) == twin[key]
    keys = array("i", random.sample(sorted(twin), 50))
    assert weights.score(keys) == [sum(twin[key][i] for key in keys) for i in range(3)]


# Models. ----------------------------------------------------------------------------------------------------------


def test_a_loaded_model_parses_the_same():
    import json

    from tanglewood.learners.linear.learner import LinearModel

    learner = new_learner()
    learn(learner, 2)
    model = learner.model()
    arrays = {}
    for name, values in model.arrays().items():
        view = memoryview(values)
        arrays[name] = memoryview(view.tobytes()).cast("B").cast(view.format)  # read-only, as from a file
    loaded = LinearModel.load(model.actions, arrays, json.loads(json.dumps(model.settings())))
    sentences = [example.words for example in treebank(3, 30)]
    assert parse(loaded, sentences) == parse(model, sentences)
    assert model_bytes(loaded) == model_bytes(model)


def test_an_untrained_model_parses():
    assert len(parse(new_learner().model(), [treebank()[0].words])) == 1


def test_quantised_scores_are_close_to_the_averages():
    from tanglewood.ml.linear_weights import LearningWeights, Weights

    weights = LearningWeights(4)
    random = Random(3)
    known = array("i", random.sample(range(1 << 31), 400))
    for time in range(1, 200):
        keys = array("i", random.sample(list(known), 20))
        good, bad = random.sample(range(4), 2)
        weights.update(keys, good, bad, random.random(), float(time))
    largest = weights.largest(200.0)
    exact = Weights(*weights.freeze(200.0, largest / 100_000, 0.0, 1), 4, largest / 100_000, 100_000)
    close = Weights(*weights.freeze(200.0, largest / 1024, 0.0, 1), 4, largest / 1024)
    pruned = Weights(*weights.freeze(200.0, largest / 1024, 0.1 * largest, 1), 4, largest / 1024)
    asked = array("i", random.sample(list(known), 30))
    differences = [abs(a - b) for a, b in zip(exact.score(asked), close.score(asked), strict=True)]
    assert 0 < max(differences) <= 30 * largest / 1024
    assert len(pruned) < len(close)
    unknown = array("i", [key for key in range(1000) if key not in known])
    assert close.score(unknown) == [0.0] * 4


def test_averages_are_those_of_all_moments():
    from tanglewood.ml.linear_weights import LearningWeights

    weights = LearningWeights(2)
    keys = array("i", [5])
    history = []
    current = 0.0
    for time in range(1, 9):
        if time in (2, 3, 7):
            weights.update(keys, 0, 1, 1.0, float(time))
            current += 1.0
        history.append(current)
    # The step made at time t counts from the next moment on: (T - t) of T moments.
    assert weights.largest(8.0) == pytest.approx(sum(history[:-1]) / 8)


def test_too_many_labels_give_an_error():
    from tanglewood.core.actions import Actions
    from tanglewood.errors import ConfigError
    from tanglewood.learners.linear.learner import LinearLearner
    from tanglewood.systems import make_system

    with pytest.raises(ConfigError, match="at most 4096 labels"):
        LinearLearner(Actions(make_system("swap"), [str(i) for i in range(5000)], -1))


def test_compiled_and_interpreted_builds_agree():
    import tanglewood.core.state

    if tanglewood.core.state.__file__.endswith(".py"):
        pytest.skip("this build is interpreted: there is no compiled one to compare with")
    package = Path(tanglewood.__file__).parent
    run = subprocess.run(
        [sys.executable, __file__, str(package.parent)], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == list(workload())


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from test_builds_agree import SourceOnly

    sys.meta_path.insert(0, SourceOnly(sys.argv[1]))
    for line in workload():
        print(line)
