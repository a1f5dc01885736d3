"""The learners of the papers: LIBSVM and LIBLINEAR, scored by the core as they score themselves.

Run as a program, prints the workload of one build.
"""

import subprocess
import sys
from array import array
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

SYSTEMS = ("swap", "arc-eager", "arc-hybrid", "attardi", "covington", "three-step")
SURE = {"cost": 10.0, "tolerance": 0.001, "threshold": 40}  # enough for a few sentences


def need_sklearn(learner="liblinear"):
    """Skip what cannot be done without scikit-learn: training liblinear, and comparing with LIBSVM's own results."""
    if learner == "liblinear":
        pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'tanglewood[svm]'")


def trained(train, learner="svm", **choices):
    from tanglewood.training.config import Config
    from tanglewood.training.loop import Training

    settings = {**SURE, **choices.pop("settings", {})}
    training = Training(Config(learner=learner, settings=settings, **choices), train)
    (progress,) = training.run()
    return training, progress


def las(parser, sentences):
    from tanglewood.measure.scores import evaluate

    return evaluate(sentences, parser.parse_all(sentences)).las


# Random binary problems. ---------------------------------------------------------------------------------------------


def random_problem(seed, n_classes):
    """Rows of features, and classes that depend on them with some noise; every class occurs."""
    random = Random(seed)
    n_features = random.randint(4, 30)
    rows, classes = [], []
    for i in range(random.randint(40, 120)):
        row = sorted(random.sample(range(1, n_features + 1), random.randint(1, n_features // 2)))
        noise = random.random() < 0.1
        classes.append(i if i < n_classes else random.randrange(n_classes) if noise else sum(row[:2]) % n_classes)
        rows.append(array("i", row))
    return rows, classes


def learner_of(name, options, n_classes):
    """A learner whose features are given, not taken from configurations: only its last steps are used."""
    from tanglewood.core.actions import Actions
    from tanglewood.learners import learner_class
    from tanglewood.systems import make_system

    options = learner_class(name, "Options")(**options)
    actions = Actions(make_system("swap"), ["dep"], -1)
    wide = [f"s0.feats b{i}.feats" for i in range(3)]  # room for many features
    return learner_class(name, "Learner")(actions, wide, [], options, 1)


def trained_core(name, seed, n_classes, **options):
    """Train on a random problem; return rows, classes, the core, and the rows as scikit-learn takes them."""
    import numpy as np

    rows, classes = random_problem(seed, n_classes)
    learner = learner_of(name, options, n_classes)
    numbers = list(dict.fromkeys(classes))
    learner._gather = lambda *_: ([instances], {-1: 0}, [(0, -1)] * n_classes)
    from tanglewood.learners.svm.learner import Instances

    instances = Instances(rows, classes)
    learner.epoch([], None)
    matrix = np.zeros((len(rows), max(max(row) for row in rows) + 1))
    for place, row in zip(matrix, rows, strict=True):
        place[row] = 1
    return rows, [numbers.index(number) for number in classes], learner.model().core(), matrix


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_decision_values_and_predictions_are_those_of_libsvm(seed, n_classes):
    need_sklearn()
    import numpy as np
    from sklearn.svm import SVC

    gamma, coef0 = ((0.2, 0.0), (0.2, 0.3), (1.0, 1.0))[seed % 3]
    options = {"gamma": gamma, "coef0": coef0, "cost": 0.5, "tolerance": 0.01}
    rows, classes, core, matrix = trained_core("svm", seed, n_classes, **options)
    twin = SVC(C=0.5, kernel="poly", degree=2, gamma=gamma, coef0=coef0, tol=0.01, decision_function_shape="ovo")
    twin.fit(matrix, classes)
    theirs = twin.decision_function(matrix).reshape(len(rows), -1) * (-1 if n_classes == 2 else 1)
    ours = np.array([core.decisions(0, row) for row in rows])
    assert ours.shape == (len(rows), n_classes * (n_classes - 1) // 2)
    assert np.abs(ours - theirs).max() < 1e-6
    votes = [core.class_values(0, row) for row in rows]
    assert [vote.index(max(vote)) for vote in votes] == list(twin.predict(matrix))


@pytest.mark.parametrize("seed", range(3))
def test_votes_are_counted_pair_by_pair_and_the_first_of_equals_leads(seed):
    rows, _, core, _ = trained_core("svm", seed, 5)
    for row in rows:
        votes = [0] * 5
        for (one, other), value in zip(combinations(range(5), 2), core.decisions(0, row), strict=True):
            votes[one if value > 0 else other] += 1
        values = core.class_values(0, row)
        order = sorted(range(5), key=lambda place: -values[place])
        assert order == sorted(range(5), key=lambda place: (-votes[place], place))


def test_features_never_seen_and_repeated_ones_change_nothing():
    rows, _, core, _ = trained_core("svm", 3, 4)
    for row in rows:
        assert core.decisions(0, array("i", [*row, *row, 9999])) == core.decisions(0, row)


def test_more_features_than_there_is_room_for_are_refused():
    from tanglewood.errors import ConfigError

    *_, core, _ = trained_core("svm", 3, 4)
    with pytest.raises(ConfigError, match="there are 1 parts"):
        core.decisions(0, array("i", range(5000)))
    with pytest.raises(ConfigError, match="there are 1 parts"):
        core.class_values(1, array("i", [1]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 4])
def test_values_are_those_of_liblinear(seed, n_classes):
    need_sklearn()
    import numpy as np
    from sklearn.svm import LinearSVC

    rows, classes, core, matrix = trained_core("liblinear", seed, n_classes, cost=0.1, tolerance=0.1)
    twin = LinearSVC(multi_class="crammer_singer", C=0.1, tol=0.1, fit_intercept=False, random_state=1)
    used = np.unique(np.concatenate(rows))
    twin.fit(matrix[:, used], classes)
    theirs = twin.decision_function(matrix[:, used])
    ours = np.array([core.class_values(0, row) for row in rows])
    if n_classes == 2:
        ours = ours[:, 1] - ours[:, 0]
    assert np.abs(ours - theirs).max() < 1e-5  # weights are kept in single precision


# Parsers. ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["svm", "liblinear"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_training_trees_are_learnt_as_far_as_the_system_covers_them(system, learner):
    need_sklearn(learner)
    from tanglewood.core.state import State
    from toy import toy_sentences

    train = toy_sentences(16)
    features = "lacroix2014" if system == "three-step" else "nivre2007"
    training, progress = trained(train, learner, system=system, settings={"features": features})
    covered = []
    for sentence, example in zip(train, training.examples, strict=True):
        training.teacher.bind(example.heads, example.labels)
        if training.teacher.reaches_gold(State(len(sentence))):
            covered.append(sentence)
    assert len(covered) > 3
    assert progress.loss < 0.05
    assert las(progress.parser, covered) > 99


@pytest.mark.parametrize("features", ["nivre2006", "nivre2007", "lacroix2014"])
def test_every_system_is_trained_with_every_feature_model(features):
    from tanglewood.systems import SYSTEMS as ALL
    from toy import toy_sentences

    others = toy_sentences(5, seed=2)
    for name in ALL:
        _, progress = trained(toy_sentences(6), system=name, settings={"features": features})
        assert [len(parsed.tree) for parsed in progress.parser.parse_all(others)] == [len(other) for other in others]


def bytes_of(parser, path):
    parser.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("learner", ["svm", "liblinear"])
def test_the_same_data_give_the_same_bytes_and_the_model_comes_back_from_its_file(learner, tmp_path):
    need_sklearn(learner)
    from tanglewood.parser import Parser
    from toy import toy_sentences

    train, others = toy_sentences(12), toy_sentences(20, seed=9)
    first, second = (trained(train, learner)[1].parser for _ in range(2))
    path = tmp_path / "model.tw"
    assert bytes_of(first, path) == bytes_of(second, path)
    found, again = (list(parser.parse_all(others)) for parser in (first, Parser.load(path)))
    assert [one.tree for one in found] == [other.tree for other in again]
    assert [one.tree for one in first.parse_all(others, threads=2)] == [one.tree for one in found]
    assert bytes_of(Parser.load(path), tmp_path / "again.tw") == path.read_bytes()


@pytest.mark.parametrize("learner", ["svm", "liblinear"])
def test_templates_of_ones_own_are_taken_as_they_are(learner, tmp_path):
    need_sklearn(learner)
    from toy import toy_sentences

    moves = ["s0.upos s1.upos", "s0.feats s1.feats", "s0.form b0.feats", "s1.form"]
    (tmp_path / "mine.toml").write_text(f'moves = {moves}\nlabels = ["d.upos"]\n')
    _, progress = trained(toy_sentences(8), learner, settings={"templates": str(tmp_path / "mine.toml")})
    assert progress.parser.model.settings()["templates"] == moves


def test_a_finished_run_is_resumed_from_its_checkpoint(tmp_path):
    from toy import toy_sentences

    training, progress = trained(toy_sentences(8))
    training.save_checkpoint(tmp_path / "checkpoint")
    from tanglewood.training.loop import Training

    other = Training(training.config, toy_sentences(8))
    other.resume(tmp_path / "checkpoint")
    assert list(other.run()) == []
    assert bytes_of(other.best[1], tmp_path / "a") == bytes_of(progress.parser, tmp_path / "b")


def test_parts_are_split_by_the_next_token_and_small_ones_put_together():
    from toy import toy_sentences

    def parts(threshold, split="pos"):
        model = trained(toy_sentences(20), settings={"threshold": threshold, "split": split})[1].parser.model
        return model.arrays()["parts.keys"].tolist(), model.arrays()["parts.numbers"].tolist()

    keys, numbers = parts(1)
    assert len(keys) > 4
    assert keys[-1] == -1  # nothing was left over, so that other keys belong to a part that there is
    assert numbers[-1] in numbers[:-1]
    keys, numbers = parts(25)
    assert 1 < len(keys) < 5
    assert sorted(numbers) == list(range(len(keys)))
    assert parts(10**6) == parts(1, split="") == ([-1], [0])


@pytest.mark.parametrize("threads", [1, 2])
def test_long_epochs_tell_how_far_they_are(threads, monkeypatch, capsys, tmp_path):
    from tanglewood.cli import main
    from tanglewood.training.config import Config
    from tanglewood.training.loop import Training
    from toy import toy_sentences, toy_text

    settings = {**SURE, "threshold": 5, "threads": threads}
    shares = []
    list(Training(Config(learner="svm", settings=settings), toy_sentences(20)).run(tell=shares.append))
    assert len(shares) > 2  # one a pair of classes
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == pytest.approx(1)

    (tmp_path / "train.conllu").write_text(toy_text(20))
    words = ["train", str(tmp_path / "train.conllu"), "-o", str(tmp_path / "model.tw"), "--learner", "svm"]
    assert main(words) == 0
    assert "%" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(words) == 0
    assert "epoch 1: 100%, 0:00 left" in capsys.readouterr().err


def test_tags_are_learnt_where_the_system_gives_them():
    """The first candidate of every word is wrong, and so is its column when it is parsed."""
    from tanglewood.treebank.tag_candidates import with_candidates
    from toy import toy_sentences

    def swapped(tag):
        return "VERB" if tag == "NOUN" else "NOUN"

    gold = toy_sentences(20)
    train = [with_candidates(s, [[(swapped(tag), 0.0), (tag, 0.5)] for tag in s.upos]) for s in gold]
    blind = [s.with_columns(s.lemmas, list(map(swapped, s.upos)), s.xpos, s.feats) for s in train]
    parser = trained(train, system="joint-swap")[1].parser
    assert [s.upos for s in parser.parse_all(blind)] == [s.upos for s in gold]


def test_an_svm_has_no_beam_and_liblinear_has_one():
    need_sklearn()
    from tanglewood.errors import ConfigError
    from toy import toy_sentences

    train = toy_sentences(8)
    with pytest.raises(ConfigError, match="counts votes"):
        list(trained(train)[1].parser.parse_all(train, beam=4))
    with pytest.raises(ConfigError, match="counts votes"):
        trained(train, beam=4)
    assert len(list(trained(train, "liblinear")[1].parser.parse_all(train, beam=4))) == 8


def test_scikit_learn_is_asked_for_where_it_is_needed(monkeypatch):
    from tanglewood.errors import MissingExtraError
    from toy import toy_sentences

    monkeypatch.setattr("tanglewood.learners.svm.learner.find_spec", lambda _: None)
    with pytest.raises(
        MissingExtraError, match=r"liblinear learner is trained by scikit-learn: pip install 'tanglewood\[svm\]'"
    ):
        trained(toy_sentences(4), "liblinear")
    trained(toy_sentences(4), "svm")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 2}, "trained in one go"),
        ({"cost": 0.0}, "cost and tolerance"),
        ({"threshold": 0}, "threshold"),
        ({"features": "oak"}, "unknown feature model 'oak'; choose from nivre2006, nivre2007, lacroix2014"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    from tanglewood.errors import ConfigError
    from toy import toy_sentences

    with pytest.raises(ConfigError, match=message):
        trained(toy_sentences(4), settings=settings)


# Compiled and interpreted. -------------------------------------------------------------------------------------------


def workload():
    """What the learners make of a toy treebank: checksums of models, and trees."""
    from zlib import crc32

    from toy import toy_sentences

    for learner in ("svm", "liblinear"):
        for system in ("swap", "three-step"):
            _, progress = trained(toy_sentences(6), learner, system=system, settings={"features": "lacroix2014"})
            arrays = progress.parser.model.arrays()
            yield f"{learner} {system} {progress.loss} {[(name, crc32(arrays[name])) for name in sorted(arrays)]}"
            yield from (str(parsed.tree) for parsed in progress.parser.parse_all(toy_sentences(6, seed=4)))


def test_the_compiled_build_does_what_the_sources_do_interpreted():
    need_sklearn()
    import tanglewood

    if not tanglewood.compiled():
        pytest.skip("this build is interpreted: there is no compiled one to compare with")
    ours = list(workload())
    done = subprocess.run(
        [sys.executable, __file__, str(Path(tanglewood.__file__).parents[1])],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert done.stdout.splitlines() == ours


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from test_builds_agree import SourceOnly

    sys.meta_path.insert(0, SourceOnly(sys.argv[1]))
    import tanglewood

    assert not tanglewood.compiled()
    print("\n".join(workload()))
