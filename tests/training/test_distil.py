"""Distillation: teachers are trained once, the student learns from them, and an interrupted run goes on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

import tanglewood as tw
from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ConfigError, FormatError, ModelError
from tanglewood.learners.network import learner as network
from tanglewood.learners.network.learner import NetworkLearner, Sizes
from tanglewood.learners.network.student import StudentLearner
from tanglewood.packages.wheel import command_of
from tanglewood.training import distil
from tanglewood.training.config import Config
from tanglewood.training.crossval import CrossValidation
from tanglewood.training.distil import TeacherPlan, begun, teacher_config, train_teachers
from tanglewood.training.loop import Training
from tanglewood.training.progress import Progress, TeacherProgress
from tanglewood.training.student import Taught, Teacher
from tanglewood.treebank.conllu import read
from toy import sentences_of, toy_sentences, toy_text, train_parser
from toy_pipeline import written

N_TRAIN = 30 if COMPILED else 8
QUICK = {"epochs": 3, "batch_words": 20, "rate": 0.01}
BARE = "1\twug\t_\t_\t_\t_\t_\t_\t_\t_\n2\tzorps\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
pytestmark = pytest.mark.usefixtures("small_training")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(toy_text(N_TRAIN))
    (tmp_path / "dev.conllu").write_text(toy_text(5, seed=2))
    (tmp_path / "more.conllu").write_text(toy_text(4, seed=3) + BARE)
    return tmp_path


def bytes_of(model, path):
    model.save(path)
    return path.read_bytes()


def train(**choices):
    return tw.train("train.conllu", "dev.conllu", **{**QUICK, **choices})


def epochs_of(heard):
    return [(one.part, one.epoch) for one in heard]


# The whole run. -----------------------------------------------------------------------------------------------------


def test_teachers_are_trained_then_the_student_and_everybody_hears_of_it(files):
    heard = []
    model = train(distil=2, progress=heard.append)
    teachers = [("teacher 1/2", 1), ("teacher 1/2", 2), ("teacher 2/2", 1), ("teacher 2/2", 2)]
    assert epochs_of(heard) == [*teachers, ("parser", 1), ("parser", 2), ("parser", 3)]
    assert {type(one) for one in heard} == {TeacherProgress, Progress}
    assert all(one.scores.las >= 0 for one in heard)
    left = [one.run_left for one in heard[:4]]
    assert min(left) > 0
    assert f"{heard[0]}".startswith("teacher 1/2: epoch  1/2  loss ")
    assert f"{heard[0]}".endswith(" with all that follows")
    about = model.description
    assert (about["distil"], about["teachers"], about["settings"]) == (2, 2, QUICK)
    found = train_teachers(
        Config(distil=2, settings=QUICK), toy_sentences(N_TRAIN), toy_sentences(5, seed=2), TeacherPlan()
    )
    assert about["teachers_sha256"] == [teacher.sha256 for teacher in found]
    assert [teacher.parser.description["seed"] for teacher in found] == [1001, 1002]


def test_the_command_and_the_library_give_the_same_bytes_and_another_seed_others(files, capfd):
    models = [
        bytes_of(train(distil=2, unlabelled="more.conllu", seed=seed), files / "library.tw") for seed in (1, 1, 2)
    ]
    options = [f"--set={key}={value}" for key, value in QUICK.items()]
    command = ["train", "train.conllu", "--dev", "dev.conllu", "-o", "command.tw", "--distil", "2", *options]
    assert main([*command, "--unlabelled", "more.conllu"]) == 0
    assert (files / "command.tw").read_bytes() == models[0] == models[1] != models[2]
    err = capfd.readouterr().err
    assert "training 2 teachers, then the student\nteacher 1/2: epoch  1/2  loss " in err
    assert "learning from 2 teachers, also in 5 sentences without trees, " in err
    assert sorted(path.name for path in files.iterdir() if path.suffix != ".conllu") == ["command.tw", "library.tw"]


@pytest.mark.skipif(not COMPILED, reason="learns networks of full size")
def test_the_number_of_processes_changes_nothing(files, monkeypatch, capfd):
    monkeypatch.setattr(network, "Sizes", Sizes)  # what is patched here is not in other processes
    (files / "train.conllu").write_text(toy_text(12))
    small = ["--distil", "3", "--epochs", "2", "--unlabelled", "more.conllu"]
    for name in ("1", "2"):
        command = ["train", "train.conllu", "--dev", "dev.conllu", "-o", f"{name}.tw", "-j", name, *small]
        assert main(command) == 0
        err = capfd.readouterr().err
        assert all(f"teacher {number}/3: epoch  1/1  loss " in err for number in (1, 2, 3))
        assert not (files / f"{name}.tw.parts").exists()
    assert (files / "1.tw").read_bytes() == (files / "2.tw").read_bytes()


@pytest.mark.skipif(not COMPILED, reason="learns too little in little time")
def test_a_student_learns_what_its_teacher_says(files):
    sentences, dev = toy_sentences(4 * N_TRAIN), toy_sentences(10, seed=2)
    settings = {**QUICK, "epochs": 8}
    good = train_parser(sentences, settings={**settings, "favour_rare": 0.0})
    config = Config(distil_from="good.tw", settings=settings)
    training = Training(config, sentences, dev, taught=Taught([teacher_in("good.tw", good)]))
    first, *_, last = training.run()
    assert last.loss < 0.7 * first.loss
    wanted, found = ([parsed.tree.heads for parsed in one.parse_all(dev)] for one in (good, last.parser))
    same = sum(one == other for heads in zip(wanted, found, strict=True) for one, other in zip(*heads, strict=True))
    assert same > 0.7 * sum(map(len, wanted))


def teacher_in(name, parser):
    parser.save(name)
    return Teacher.of(name, Path(name).read_bytes())


# Settings. ----------------------------------------------------------------------------------------------------------


def test_what_is_said_about_the_student_is_not_said_about_teachers():
    config = Config(distil=3, seed=7, unlabelled="more.conllu", settings={"explore": 0.5, "layers": 3})
    first, last = teacher_config(config, 1), teacher_config(config, 3)
    assert first == Config(seed=7001, settings={"layers": 3, "favour_rare": 0.0})
    assert last == replace(first, seed=7003)
    told = replace(config, settings={"epochs": 9})  # and not how many layers: as many as a student usually has
    assert teacher_config(told, 1).settings == {"layers": 2, "epochs": 5, "favour_rare": 0.0}
    options = config.learner_options()
    assert (options.explore, options.layers, options.drop_hidden) == (0.5, 3, 0.175)
    assert first.learner_options().explore == 0.3


def test_models_without_teachers_do_not_speak_of_them(files):
    about = train(epochs=1).description
    assert not {"distil", "distil_from", "unlabelled", "teachers"} & set(about)


def test_files_may_be_given_one_by_one_or_as_a_list(files):
    assert Config(distil=1, unlabelled=files / "more.conllu").unlabelled == (str(files / "more.conllu"),)
    assert Config(distil_from=["a.tw", "b.tw"]).distil_from == ("a.tw", "b.tw")
    for name in ("distil_from", "unlabelled"):
        with pytest.raises(ConfigError, match=f"{name}=3: it should be the name of a file, or a list of names"):
            Config(**{name: 3})


# Interruptions. -----------------------------------------------------------------------------------------------------


def interrupt(monkeypatch, kind, seed, epoch):
    """Press Ctrl-C in the middle of an epoch of a teacher or the student."""
    plain = kind._learn

    def learn(self, *arguments):
        plain(self, *arguments)
        if type(self) is kind and self.seed == seed and self._epochs == epoch - 1:
            raise KeyboardInterrupt

    begin = NetworkLearner.__init__

    def remember(self, actions, vocabulary, options, seed, *more):
        self.seed = seed
        begin(self, actions, vocabulary, options, seed, *more)

    monkeypatch.setattr(kind, "_learn", learn)
    monkeypatch.setattr(NetworkLearner, "__init__", remember)


@pytest.mark.parametrize(
    ("kind", "seed", "epoch", "kept", "rest"),
    [
        (NetworkLearner, 1001, 1, [], ["1:1", "1:2", "2:1", "2:2", "s1", "s2", "s3"]),
        (NetworkLearner, 1002, 2, ["teacher-1.tw", "teacher-2.training"], ["2:2", "s1", "s2", "s3"]),
        (StudentLearner, 1, 2, ["teacher-1.tw", "teacher-2.tw"], ["s2", "s3"]),
    ],
    ids=["at once", "second teacher", "student"],
)
def test_a_resumed_run_ends_with_the_same_bytes(files, monkeypatch, capfd, kind, seed, epoch, kept, rest):
    choices = {"distil": 2, "unlabelled": ["more.conllu"], "output": "model.tw"}
    wanted = bytes_of(train(**choices), files / "whole.tw")
    with monkeypatch.context() as patch:
        interrupt(patch, kind, seed, epoch)
        with pytest.raises(KeyboardInterrupt):
            train(**choices)
    assert sorted(path.name for path in (files / "model.tw.parts").iterdir()) == kept
    heard = []
    train(**choices, resume=True, progress=heard.append)
    names = {"teacher 1/2": "1:", "teacher 2/2": "2:", "parser": "s"}
    assert [f"{names[part]}{number}" for part, number in epochs_of(heard)] == rest
    assert (files / "model.tw").read_bytes() == wanted
    assert not (files / "model.tw.parts").exists()


def test_teachers_of_an_interrupted_run_may_be_named(files, monkeypatch):
    """They lie where a new run begins by clearing up."""
    with monkeypatch.context() as patch:
        interrupt(patch, StudentLearner, 1, 1)
        with pytest.raises(KeyboardInterrupt):
            train(distil=2, output="model.tw")
    teachers = sorted(map(str, Path("model.tw.parts").glob("teacher-*.tw")))
    assert len(teachers) == 2
    assert train(distil_from=teachers, output="model.tw", restart=True).description["teachers"] == 2


def test_an_old_checkpoint_does_not_stand_in_the_way_of_a_new_run(files, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 1, 2)
        with pytest.raises(KeyboardInterrupt):
            train(output="model.tw")
    assert Path("model.tw.training").exists()
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 1001, 1)
        with pytest.raises(KeyboardInterrupt):
            train(distil=1, output="model.tw", restart=True)
    assert train(distil=1, output="model.tw", resume=True).description["teachers"] == 1


def test_teachers_that_score_no_arcs_teach_sentences_without_trees_too(files):
    plain = train_parser(toy_sentences(N_TRAIN), settings={"favour_rare": 0.0, "arcs": False})
    plain.save("moves.tw")
    model = train(distil_from="moves.tw", unlabelled="more.conllu")
    assert model.parser.model.capabilities.scores_arcs
    assert list(model.parse("dev.conllu"))


def test_an_interrupted_command_says_what_is_kept(files, monkeypatch, capfd):
    options = [f"--set={key}={value}" for key, value in QUICK.items()]
    command = ["train", "train.conllu", "-o", "model.tw", "--distil", "2", *options]
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 1002, 1)
        assert main(command) == 130
    assert capfd.readouterr().err.endswith("\ninterrupted: what was finished is kept; --resume goes on\n")
    assert main([*command, "--resume"]) == 0
    err = capfd.readouterr().err
    assert "teacher 1/2: taken from the run before\n" in err
    assert "teacher 1/2: epoch" not in err
    assert "teacher 2/2: epoch  1/2" in err


@pytest.mark.parametrize("other", [{"seed": 2}, {"rate": 0.02}, {"system": "covington"}])
def test_teachers_of_another_run_are_refused_and_those_of_an_older_one_not_taken_unasked(files, monkeypatch, other):
    with monkeypatch.context() as patch:
        interrupt(patch, NetworkLearner, 1002, 1)
        with pytest.raises(KeyboardInterrupt):
            train(distil=2, output="model.tw")
    with pytest.raises(ModelError, match=r"teacher-1\.tw: the teacher is of another training run .* with --restart"):
        train(distil=2, output="model.tw", resume=True, **other)
    heard = []
    train(distil=2, output="model.tw", restart=True, progress=heard.append, **other)
    assert epochs_of(heard)[0] == ("teacher 1/2", 1)


# Teachers that are there. -------------------------------------------------------------------------------------------


def test_models_that_are_there_are_teachers_whatever_their_kind(files):
    """A network is asked; of a linear and a graph-based model, and of another system, the trees count."""
    sentences = toy_sentences(N_TRAIN)
    train_parser(sentences, settings={"favour_rare": 0.0}).save("same.tw")
    tw.train(sentences, learner="linear", epochs=1).save("linear.tw")
    tw.train(sentences, search="mst", epochs=1).save("arcs.tw")
    train_parser(sentences, system="arc-standard", pseudo_projective="head").save("other.tw")
    paths = ["same.tw", "linear.tw", "arcs.tw", "other.tw"]
    config = Config(distil_from=paths, unlabelled="more.conllu", settings=QUICK)
    training = begun(config, sentences).prepare()
    assert len(training.learner._networks) == 1
    assert len(training.learner._votes) == 3
    parsed = [s.tree for s in tw.load("linear.tw").parse([*sentences, *read("more.conllu", trees=False)])]
    assert [list(tree.heads) for tree in training.learner._votes[0].trees] == [list(tree.heads) for tree in parsed]
    *_, last = training.run()
    about = last.parser.description
    assert about["teachers"] == 4
    assert about["teachers_sha256"][0] == hashlib.sha256((files / "same.tw").read_bytes()).hexdigest()
    assert list(about["distil_from"]) == paths
    assert about["unlabelled_sentences"] == 5


def test_labels_in_another_order_are_mapped_by_name(files, monkeypatch):
    """The student of a teacher whose labels are numbered otherwise is that of the teacher itself."""
    sentences = toy_sentences(N_TRAIN)
    plain = train_parser(sentences, settings={"favour_rare": 0.0})
    taught = Taught([teacher_in("plain.tw", plain)])
    config = Config(distil_from="plain.tw", settings={**QUICK, "epochs": 2})
    runs = [Training(config, sentences, taught=taught)]
    actions = plain.model.actions
    order = list(range(actions.n_labels))[::-1]
    parameters = dict(plain.model.parameters)
    parameters["hidden.labels"] = parameters["hidden.labels"][:, [0, 1, *(2 + i for i in order)]].copy()
    parameters["label.weight"] = parameters["label.weight"][:, :, order].copy()
    parameters["label.bias"] = parameters["label.bias"][:, order].copy()
    parameters["arc.label_weight"] = parameters["arc.label_weight"][:, order].copy()
    parameters["arc.label_out"] = parameters["arc.label_out"][order].copy()
    root = len(order) - 1 - actions.root_label
    turned = type(actions)(actions.system, actions.labels[::-1], root)
    parser = type(plain)(type(plain.model)(turned, plain.model.vocabulary, parameters), plain.description)
    runs.append(Training(config, sentences, taught=Taught([teacher_in("turned.tw", parser)])))
    models = []
    for run in runs:
        *_, last = run.run()
        assert len(run.learner._networks) == 1
        models.append({name: value.tobytes() for name, value in last.parser.model.arrays().items()})
    assert models[0] == models[1]


def test_a_pipeline_tags_sentences_that_have_no_tags(files, monkeypatch):
    seen = []
    plain = StudentLearner._follow

    def follow(self, trainer, example, *arguments):
        seen.append(example)
        plain(self, trainer, example, *arguments)

    monkeypatch.setattr(StudentLearner, "_follow", follow)
    data = [written(N_TRAIN, 1), written(3, 2)]
    heard = []
    model = tw.train(*data, pipeline=True, folds=2, distil=1, unlabelled="more.conllu", progress=heard.append, **QUICK)
    more = list(read("more.conllu", trees=False))
    words = {tuple(word[0] for word in example.words): example.words for example in seen if not example.heads}
    assert len(words) == 5
    assert all(word[2] != "_" for word in words["wug", "zorps"])
    assert [word[2] for word in words[tuple(more[0].forms)]] == more[0].upos
    assert [one.part for one in heard][-4:] == ["teacher 1/1", "parser", "parser", "parser"]
    assert model("Dax zorps.").sentences
    assert model.description["settings"]["layers"] == 2
    as_they_are = begun(Config(distil=1, unlabelled="more.conllu", settings=QUICK), toy_sentences(4)).prepare()
    assert {word[2] for word in as_they_are.examples[-1].words} == {"_"}


@pytest.mark.parametrize(
    ("choices", "words", "teachers"),
    [
        ({}, 9_999, 0),
        ({}, 10_000, 3),
        ({}, 59_999, 3),
        ({}, 60_000, 0),
        ({"distil": 0}, 20_000, 0),
        ({"distil": 5}, 20_000, 5),
        ({"distil_from": "a.tw"}, 20_000, None),
        ({"begin_from": "a.tw"}, 20_000, 0),
        ({"learner": "linear"}, 20_000, 0),
        ({"learner": "network", "search": "mst"}, 20_000, 0),
        ({"settings": {"moves": False}}, 20_000, 0),
        ({"system": "joint-swap"}, 20_000, 0),
        ({"system": "covington", "pretrained": "a.pre.tw"}, 20_000, 3),
    ],
)
def test_which_pipelines_have_teachers_unless_told_otherwise(choices, words, teachers):
    assert Config(**choices).for_text(words).distil == teachers


def test_a_pipeline_of_a_small_treebank_has_teachers_and_a_parser_of_tagged_words_has_none(monkeypatch):
    monkeypatch.setattr("tanglewood.training.config.TAUGHT", range(1, 1000))
    data = [written(N_TRAIN, 1), written(3, 2)]
    taught = tw.train(*data, pipeline=True, folds=2, epochs=1)
    assert (taught.description["distil"], taught.description["teachers"]) == (3, 3)
    words, text = tw.train(*data, epochs=1), tw.train(*data, pipeline=True, folds=2, epochs=1, distil=0)
    assert not {"teachers", "distil"} & set(words.description)
    assert "teachers" not in text.description
    assert "--distil 0" in command_of(text)  # without it, the command would train teachers


def test_a_system_that_gives_tags_learns_from_teachers_too(files):
    model = train(system="joint-swap", distil=1, unlabelled="more.conllu", folds=2, epochs=1)
    assert model.description["teachers"] == 1
    assert list(model.parse("dev.conllu"))


def test_a_static_oracle_is_left_when_the_student_goes_its_own_way(files):
    model = train(system="arc-standard", distil=1)
    assert model.description["oracle"] == "static"


def test_one_may_stack_on_a_student_and_cross_validate_one(files):
    sentences = toy_sentences(N_TRAIN)
    train(distil=1, output="student.tw")
    stacked = tw.train(sentences, search="mst", stacked="student.tw", epochs=1, folds=2)
    assert list(stacked.parse("dev.conllu"))
    validation = CrossValidation(Config(distil=1, settings={**QUICK, "epochs": 1}), sentences, 2)
    assert len(list(validation.run())) == 2
    with pytest.raises(ConfigError, match="may have learnt from the sentences that are held out; distil=5"):
        list(CrossValidation(Config(distil_from="student.tw"), sentences, 2).run())


# What is refused. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"unlabelled": "more.conllu"}, r"unlabelled sentences are for distillation.*--distil 5"),
        ({"distil": 2, "distil_from": "a.tw"}, "distil trains new teachers and distil_from takes models .* choose one"),
        ({"distil": 2, "learner": "linear"}, "the linear learner cannot learn from teachers; choose from network"),
        ({"distil": 2, "search": "mst"}, "the arcs learner cannot learn from teachers; choose from network"),
        ({"distil": 2, "search": "mst", "learner": "network"}, "teachers are for networks that score moves"),
        ({"distil": 2, "moves": False}, "teachers are for networks that score moves"),
        ({"distil": -1}, "distil=-1: it should be a whole number, 0 or more"),
        ({"distil": "many"}, "distil='many': it should be a whole number"),
        ({"distil": 1000}, "at most 100 teachers"),
        ({"distil": 2, "favour": 1}, "the network learner has no setting 'favour'"),
    ],
)
def test_choices_that_do_not_go_together_are_refused_at_once(monkeypatch, choices, message):
    monkeypatch.setattr("tanglewood.training.session.sentences_from", lambda _: pytest.fail("read"))
    with pytest.raises(ConfigError, match=message):
        tw.train("train.conllu", **choices)


def test_files_that_are_not_there_or_empty_or_no_models_are_refused_before_anything_is_learnt(files, monkeypatch):
    monkeypatch.setattr(distil, "train_teachers", lambda *_: pytest.fail("trained"))
    (files / "empty.conllu").write_text("")
    (files / "bad.conllu").write_text("1\twug\n\n")
    for choices, error, message in (
        ({"distil": 2, "unlabelled": "none.conllu"}, OSError, r"none\.conllu"),
        ({"distil": 2, "unlabelled": "empty.conllu"}, ConfigError, r"empty\.conllu: there is no sentence"),
        ({"distil": 2, "unlabelled": "bad.conllu"}, FormatError, r"bad\.conllu:1"),
        ({"distil_from": "none.tw"}, OSError, r"none\.tw"),
        ({"distil_from": ["more.conllu"]}, ModelError, r"more\.conllu: not a tanglewood model"),
        ({"distil_from": str(files)}, ConfigError, "a folder, not a tanglewood model"),
    ):
        with pytest.raises(error, match=message):
            train(**choices)


@pytest.mark.parametrize("pipeline", [False, True])
def test_teachers_that_cannot_teach_are_refused_with_what_would_be_right(files, monkeypatch, pipeline):
    if pipeline:
        monkeypatch.setattr("tanglewood.training.session.prepare", lambda *_, **__: pytest.fail("learnt taggers"))
    others = toy_text(N_TRAIN)
    for label in ("nsubj", "det", "amod", "obj", "advmod", "acl"):
        others = others.replace(f"\t{label}\t", f"\t{label.upper()}\t")
    train_parser(sentences_of(others)).save("labels.tw")
    tw.train("train.conllu", learner="linear", epochs=1).save("linear.tw")
    with pytest.raises(ConfigError, match=r"labels\.tw: 6 of the teacher's 9 labels .*ACL, .*, \.\.\.\).* same labels"):
        train(distil_from="labels.tw", pipeline=pipeline)
    with pytest.raises(ConfigError, match=r"linear\.tw: the teacher is not a network of the stack-swap .* swap"):
        train(distil_from="linear.tw", system="stack-swap", pipeline=pipeline)
    with pytest.raises(ConfigError, match=r"the static oracle of arc-eager .* --oracle dynamic can"):
        train(distil_from="linear.tw", system="arc-eager", oracle="static", pipeline=pipeline)
    with pytest.raises(ConfigError, match=r"linear\.tw: the teacher should be a network of the joint-swap .* tags"):
        train(distil_from="linear.tw", system="joint-swap", pipeline=pipeline)


def test_teachers_that_favour_rare_moves_are_noticed(files):
    train_parser(toy_sentences(N_TRAIN)).save("usual.tw")
    with pytest.warns(UserWarning, match=r"usual\.tw favours rare moves already.*--set favour_rare=0"):
        train(distil_from="usual.tw")
    train(distil_from="usual.tw", favour_rare=0.0)  # warnings are errors here


def test_training_alone_does_not_train_teachers():
    with pytest.raises(ConfigError, match="teachers have to be trained first"):
        Training(Config(distil=2), toy_sentences(3)).prepare()
