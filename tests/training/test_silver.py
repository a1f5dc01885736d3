"""What is learnt beside a treebank, raw text and silver trees: which sentences are taken, when, and what is refused."""

from __future__ import annotations

import gzip

import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.errors import ConfigError, ModelError, TreeError
from tanglewood.learners.arcs.learner import ArcLearner
from tanglewood.learners.linear.learner import LinearLearner
from tanglewood.learners.network import student
from tanglewood.learners.network.learner import NetworkLearner
from tanglewood.learners.network.student import StudentLearner
from tanglewood.ml.encoder import GOLD_FROM
from tanglewood.training import pipeline as learning
from tanglewood.training.config import Config
from tanglewood.training.crossval import CrossValidation
from tanglewood.training.distil import TeacherPlan, begun, train_teachers
from tanglewood.training.loop import Training
from tanglewood.training.session import Session
from tanglewood.training.silver import (
    LARGE,
    LONGEST,
    is_text,
    random_choice,
    silver_sentences,
    silver_trees,
    words_for,
)
from toy import sentences_of, toy_sentences, toy_text
from toy_pipeline import written

pytestmark = pytest.mark.usefixtures("small_training")


class Spaces:
    """Stands in for a tokenizer: lines and spaces."""

    @staticmethod
    def stream(chunks):
        text = "".join(chunks)
        yield text, [[Token(form) for form in line.split()] for line in text.splitlines()]


class Token:
    def __init__(self, form):
        self.words = (form,)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"wug {number} zorps .\n" for number in range(100)))
    return path


def test_files_of_text_and_treebanks_are_told_apart(tmp_path, text):
    bank = tmp_path / "trees"
    bank.write_text(toy_text(2))
    assert is_text(text)
    assert not is_text(bank)
    assert not is_text("-")


def test_small_treebanks_get_more_text():
    assert words_for(LARGE) == LARGE
    assert words_for(LARGE - 1) == 4 * (LARGE - 1)


def test_all_sentences_are_taken_if_there_are_few_and_a_random_choice_if_there_are_many(text):
    every = silver_sentences([str(text)], Spaces(), 10_000, 1)
    assert [sentence.forms[1] for sentence in every] == [str(number) for number in range(100)]
    assert every[0].upos == ["_"] * 4
    some = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 1)]
    assert len(some) == 20
    assert some == sorted(set(some))
    assert max(some) > 50  # not the first ones
    again = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 1)]
    other = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 2)]
    assert some == again != other


def test_each_sentence_is_as_likely_to_be_taken(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(map(str, range(10))))
    taken = [0] * 10
    for seed in range(300):
        for sentence in silver_sentences([str(path)], Spaces(), 4, seed):
            taken[int(sentence.forms[0])] += 1
    assert sum(taken) == 1200
    assert all(80 < count < 165 for count in taken)  # 120 expected, 8.5 the standard deviation


def test_what_is_too_long_or_not_there_is_left_out(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("x " * (LONGEST + 1) + "\nwug zorps\n")
    assert [sentence.forms for sentence in silver_sentences([str(path)], Spaces(), 100, 1)] == [["wug", "zorps"]]
    path.write_text("x " * (LONGEST + 1))
    with pytest.raises(ConfigError, match="no sentence"):
        silver_sentences([str(path)], Spaces(), 100, 1)


def test_a_pipeline_learns_from_text_and_ends_with_gold_trees(text, monkeypatch):
    sentences = toy_sentences(12)
    learnt = []

    def epoch(self, examples, oracle):
        if isinstance(self, StudentLearner):
            learnt.append((sum(bool(e.heads) for e in examples), sum(not e.heads for e in examples)))
        return plain(self, examples, oracle)

    plain = NetworkLearner.epoch
    monkeypatch.setattr(NetworkLearner, "epoch", epoch)
    model = tw.train(sentences, pipeline=True, folds=2, distil=1, epochs=8, unlabelled=text)
    description = model.description
    assert 0 < description["unlabelled_words"] <= words_for(sum(map(len, sentences))) + LONGEST
    assert [gold for gold, _ in learnt] == [12] * 8
    assert [silver > 0 for _, silver in learnt] == [number < GOLD_FROM * 8 for number in range(8)]


def test_raw_text_without_a_pipeline_is_refused_before_anything_is_learnt(text, tmp_path, capsys):
    bank = tmp_path / "trees.conllu"
    bank.write_text(toy_text(5))
    out = tmp_path / "x.tw"
    assert main(["train", str(bank), "-o", str(out), "--distil", "1", "--epochs", "1", "--unlabelled", str(text)]) == 1
    assert "text.txt: raw text, which only a pipeline splits and tags (--pipeline)" in capsys.readouterr().err
    assert not out.exists()


# Silver trees. ------------------------------------------------------------------------------------------------------

QUICK = {"epochs": 8, "batch_words": 20, "rate": 0.01}
N_SILVER = 9


def renamed(text):
    """The same sentences with a word that no treebank has."""
    return text.replace("wug", "splorp")


@pytest.fixture
def parsed(tmp_path, monkeypatch):
    """A file of silver trees."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(toy_text(12))
    (tmp_path / "parsed.conllu").write_text(renamed(toy_text(N_SILVER, seed=5)))
    return "parsed.conllu"


def bytes_of(model, path):
    model.save(path)
    return path.read_bytes()


def ids(sentences):
    return [sentence.sent_id for sentence in sentences]


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        (NetworkLearner, {}),
        (LinearLearner, {"learner": "linear", "settings": {"epochs": 8}}),
        (ArcLearner, {"search": "mst", "settings": {"epochs": 8}}),
        (StudentLearner, {"distil": 1}),
        (NetworkLearner, {"system": "arc-standard", "pseudo_projective": "head+path"}),
    ],
    ids=["network", "linear", "arcs", "student", "pseudo-projective"],
)
def test_every_learner_learns_the_trees_and_ends_with_those_of_the_treebank(parsed, monkeypatch, kind, choices):
    learnt = []
    plain = kind.epoch

    def epoch(self, examples, teacher):
        if type(self) is kind:
            assert all(example.heads for example in examples)
            learnt.append([sum(example.gold is gold for example in examples) for gold in (True, False)])
        return plain(self, examples, teacher)

    monkeypatch.setattr(kind, "epoch", epoch)
    training = begun(Config(**{"settings": QUICK, **choices}, silver=parsed), toy_sentences(40))
    assert len(list(training.run())) == 8
    few = len(training.silver.examples)
    assert few == N_SILVER or (training.warnings and few > 0)
    assert learnt == [[40, few if number < GOLD_FROM * 8 else 0] for number in range(8)]
    numbers = {label: number for number, label in enumerate(training.actions.labels)}
    if "pseudo_projective" not in choices:
        for example, sentence in zip(training.silver.examples, tw.read(parsed), strict=True):
            assert list(example.heads) == list(sentence.tree.heads)
            assert [numbers[label] for label in sentence.deprels] == list(example.labels)[1:]


def test_where_there_is_one_epoch_it_has_them(parsed):
    training = Training(Config(learner="linear", settings={"epochs": 1}, silver=parsed), toy_sentences(12))
    assert training.examples_of_epoch is training.examples
    assert sum(not example.gold for example in training.examples) == N_SILVER


def test_the_words_of_the_trees_are_known_and_counted(parsed):
    sentences = toy_sentences(12)
    training = Training(Config(silver=parsed), sentences).prepare()
    assert "splorp" in training.learner.vocabulary.numbers["lower"]
    silver = list(tw.read(parsed))
    description = training.description
    assert description["silver"] == (parsed,)
    assert (description["silver_sentences"], description["train_sentences"]) == (N_SILVER, 12)
    huge = Training(Config(silver=parsed), sentences, silver=silver * 10_000)
    assert (training.options.epochs, huge.options.epochs) == (25, 12)


def test_models_without_silver_trees_do_not_speak_of_them():
    assert not any("silver" in name for name in Config(silver_words=5).as_dict())
    assert not any("silver" in name for name in Training(Config(), toy_sentences(12)).prepare().description)


def test_as_many_words_as_asked_for_are_taken_always_the_same_in_their_order():
    lines = "".join(f"1\t{number}\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for number in range(200))
    many, train = sentences_of(lines), toy_sentences(2)

    def taken(**choices):
        shares = choices.pop("shares", 1)
        found = silver_trees(Config(silver="parsed.conllu", **choices), train, iter(many), shares=shares)
        return [int(sentence.forms[0]) for sentence in found]

    some = taken(silver_words=30)
    assert len(some) == 30
    assert some == sorted(some) == taken(silver_words=30) != taken(silver_words=30, seed=2)
    assert len(taken(silver_words=30, shares=2)) == 60
    assert len(taken()) == words_for(sum(map(len, train)))
    assert taken(silver_words=1000) == list(range(200))


def test_no_more_is_held_than_is_taken_and_nothing_that_is_too_long():
    class Counted(list):
        alive = most = 0

        def __init__(self, *values):
            super().__init__(*values)
            Counted.alive += 1
            Counted.most = max(Counted.most, Counted.alive)

        def __del__(self):
            Counted.alive -= 1

    found = random_choice((Counted("x" * (1 + n % (2 * LONGEST))) for n in range(5000)), 200, 1)
    assert 0 < max(map(len, found)) <= LONGEST
    assert Counted.most <= len(found) + 2


def test_trees_that_the_parser_could_not_give_are_left_out_and_told(tmp_path):
    text = toy_text(4, seed=5)
    other = text.replace("\tpunct\t", "\tpoint\t")
    several = text.replace("\tpunct\t", "\troot\t")
    (tmp_path / "parsed.conllu").write_text(text + other)
    config = Config(silver=tmp_path / "parsed.conllu")
    training = Training(config, toy_sentences(12)).prepare()
    assert training.description["silver_sentences"] == 4
    assert any("4 of 8 silver sentences are left out: they have labels (point) or" in one for one in training.warnings)
    (tmp_path / "parsed.conllu").write_text(text + several)  # the label of the root belongs to roots
    assert len(Training(config, toy_sentences(12)).silver.sentences) == 4
    two = "1\twug\t_\t_\t_\t_\t0\troot\t_\t_\n2\tdax\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "parsed.conllu").write_text(text + two)
    assert len(Training(config, toy_sentences(12)).silver.sentences) == 4
    (tmp_path / "parsed.conllu").write_text(other)
    with pytest.raises(
        ConfigError, match=r"4 of 4 silver sentences have labels \(point\) .* annotated as the training"
    ):
        Training(config, toy_sentences(12)).prepare()


def test_labels_that_would_be_taken_for_decorations_are_left_out(tmp_path):
    text = toy_text(4, seed=5)
    (tmp_path / "parsed.conllu").write_text(text + text.replace("\tpunct\t", "\tpunct|obj\t"))
    config = Config(silver=tmp_path / "parsed.conllu", pseudo_projective="head")
    found = Training(config, toy_sentences(40)).silver.sentences
    assert 0 < len(found) <= 4
    assert not any("|" in label for sentence in found for label in sentence.deprels)


@pytest.mark.parametrize("stop", [3, 7], ids=["with silver", "in the last epoch"])
@pytest.mark.parametrize(
    "more", [{}, {"distil": 1}, {"pipeline": True, "folds": 2}], ids=["plain", "student", "pipeline"]
)
def test_a_resumed_run_ends_with_the_same_bytes(parsed, tmp_path, more, stop):
    data = (toy_sentences(12), toy_sentences(3, seed=2))
    if "pipeline" in more:
        data = (written(12, 1), written(3, 2))
        (tmp_path / parsed).write_bytes(b"".join(sentence.to_bytes() for sentence in written(8, 5)))
    choices = {**QUICK, **more, "silver": parsed, "output": "model.tw"}
    wanted = bytes_of(tw.train(*data, **choices), tmp_path / "whole.tw")

    def interrupted(progress):
        if (progress.part, progress.epoch) == ("parser", stop + 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tw.train(*data, **choices, progress=interrupted)  # before that epoch is saved
    heard = []
    tw.train(*data, **choices, resume=True, progress=heard.append)
    assert [one.epoch for one in heard if one.part == "parser"] == list(range(stop + 1, 9))
    assert (tmp_path / "model.tw").read_bytes() == wanted


def test_a_student_that_is_resumed_at_the_end_has_asked_about_all_examples(parsed, tmp_path, monkeypatch):
    """Also those that are no longer learnt: so vectors and targets are computed as if nothing had happened."""
    asked = []
    plain = student._Network.encode
    monkeypatch.setattr(
        student._Network, "encode", lambda self, examples: asked.append(list(examples)) or plain(self, examples)
    )
    sentences, more = toy_sentences(12), toy_sentences(4, seed=7)
    tw.train(sentences, learner="linear", epochs=1).save("linear.tw")
    tw.train(sentences, epochs=1, favour_rare=0.0, batch_words=20).save("network.tw")
    (tmp_path / "more.conllu").write_bytes(b"".join(sentence.to_bytes() for sentence in more))
    files = {"distil_from": ["linear.tw", "network.tw"], "unlabelled": "more.conllu", "silver": parsed}
    config = Config(**files, settings=QUICK)
    run, resumed = begun(config, sentences), begun(config, sentences)
    for progress in run.run():
        if progress.epoch == 7:
            run.save_checkpoint("checkpoint")
    resumed.prepare().resume("checkpoint")
    assert resumed.examples_of_epoch == resumed.examples[:12]
    *_, last = resumed.run()
    assert [len(examples) for examples in asked] == [12 + N_SILVER + 4] * 2
    models = [{name: bytes(value) for name, value in one.model.arrays().items()} for one in (run.best[1], last.parser)]
    assert models[0] == models[1]
    everything = [*sentences, *tw.read(parsed), *more]
    assert [[word[0] for word in example.words] for example in run.examples] == [s.forms for s in everything]
    trees = [sentence.tree.heads for sentence in tw.load("linear.tw").parse(everything)]
    assert [vote.heads for vote in run.learner._votes[0].trees] == trees


def test_parts_of_a_run_with_other_trees_are_refused(parsed, tmp_path):
    train = written(12, 1)
    data = [written(8, seed) for seed in (5, 6)]

    def write(sentences):
        (tmp_path / parsed).write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))

    def interrupt(progress):
        if progress.part == "parser":
            raise KeyboardInterrupt

    choices = {"pipeline": True, "folds": 2, "epochs": 1, "silver": parsed, "output": "model.tw"}
    write(data[0])
    with pytest.raises(KeyboardInterrupt):
        tw.train(train, **choices, progress=interrupt)
    write(data[1])
    with pytest.raises(ModelError, match="the part is of another training run"):
        tw.train(train, **choices, resume=True)
    write([*data[0][:1], data[1][1], *data[0][2:]])  # what the taggers learn from is the same
    with pytest.raises(KeyboardInterrupt):
        tw.train(train, **choices, resume=True, progress=interrupt)


def test_a_pipeline_has_its_taggers_learn_from_one_half_and_tags_the_other(parsed, tmp_path, monkeypatch):
    silver = written(7, 5)
    (tmp_path / parsed).write_bytes(b"".join(sentence.to_bytes() for sentence in silver))
    learnt = []
    plain = learning.train_tagger

    def train_tagger(train, *arguments, **named):
        given = named.get("silver") or arguments[-1]
        learnt.append([sentence.to_bytes() for sentence in given])
        assert all(sentence.upos != ["_"] * len(sentence) for sentence in given)
        yield from plain(train, *arguments, **named)

    monkeypatch.setattr(learning, "train_tagger", train_tagger)
    session = Session(Config(silver=parsed, folds=2, settings={"epochs": 1}), written(12, 1), pipeline=True)
    model = session.run()
    assert learnt == [[sentence.to_bytes() for sentence in silver[::2]]] * 3
    found = session.training.silver.sentences
    assert [s.forms for s in found] == [s.forms for s in silver[1::2]]
    assert [s.tree for s in found] == [s.tree for s in silver[1::2]]
    tagged = model.tagger.worker().tag([sentence.forms for sentence in found])
    assert [s.upos for s in found] == [[tag.upos for tag in tags] for tags in tagged]
    assert [s.lemmas for s in found] == [[tag.lemma for tag in tags] for tags in tagged]


def test_a_pipeline_that_goes_on_tags_them_all_with_its_own_tagger(parsed, tmp_path):
    tw.train(written(12, 1), pipeline=True, folds=2, epochs=1, output="old.tw")
    silver = written(7, 5)
    (tmp_path / parsed).write_bytes(b"".join(sentence.to_bytes() for sentence in silver))
    model = tw.train(written(6, 3), begin_from="old.tw", epochs=1, silver=parsed)
    assert model.description["silver_sentences"] == 7
    without_tags = [s.with_columns(*(["_"] * len(s) for _ in range(4))) for s in silver]
    (tmp_path / parsed).write_bytes(b"".join(sentence.to_bytes() for sentence in without_tags))
    again = tw.train(written(6, 3), begin_from="old.tw", epochs=1, silver=parsed)
    assert again.description["silver_sha256"] == model.description["silver_sha256"]


def test_teachers_learn_from_them_too(parsed):
    config = Config(distil=1, silver=parsed, settings=QUICK)
    silver = list(tw.read(parsed))
    (teacher,) = train_teachers(config, toy_sentences(12), (), TeacherPlan(), silver=silver)
    assert teacher.parser.description["silver_sentences"] == N_SILVER
    assert "splorp" in teacher.parser.model.vocabulary.numbers["lower"]


def test_the_command_gives_the_same_bytes_from_a_compressed_file_and_skips_what_is_malformed(parsed, tmp_path, capfd):
    text = (tmp_path / parsed).read_text()
    wanted = bytes_of(tw.train("train.conllu", learner="linear", epochs=2, silver=parsed), tmp_path / "library.tw")
    (tmp_path / "more.gz").write_bytes(gzip.compress(f"{text}1\twug\n\n".encode()))
    command = ["train", "train.conllu", "-o", "command.tw", "--learner", "linear", "--epochs", "2"]
    assert main([*command, "--silver", parsed]) == 0
    assert (tmp_path / "command.tw").read_bytes() == wanted
    assert "also learning from 9 sentences with another parser's trees, " in capfd.readouterr().err
    assert main([*command, "--silver", "more.gz"]) == 1
    assert "more.gz:" in capfd.readouterr().err
    assert main([*command, "--silver", parsed, "--silver", "more.gz", "--on-error", "skip"]) == 0
    assert "1 sentence left out because of errors" in capfd.readouterr().err
    assert tw.load("command.tw").description["silver_sentences"] == 2 * N_SILVER


def test_one_may_cross_validate_with_them_stack_on_and_go_on_with_a_model(parsed, monkeypatch):
    sentences = toy_sentences(12)
    validation = CrossValidation(Config(learner="linear", silver=parsed, settings={"epochs": 1}), sentences, 2)
    assert len(list(validation.run())) == 2
    tw.train(sentences, epochs=1, silver=parsed, output="old.tw")
    stacked = tw.train(sentences, search="mst", stacked="old.tw", epochs=1, folds=2)
    assert list(stacked.parse("train.conllu"))
    model = tw.train(sentences, begin_from="old.tw", epochs=1, silver=parsed)
    assert model.description["silver_sentences"] == N_SILVER


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"learner": "liblinear"}, "the liblinear learner has only one"),
        ({"learner": "svm"}, "the svm learner has only one"),
        ({"search": "mst", "stacked": "old.tw"}, "silver trees do not go with stacked"),
        ({"system": "joint-swap"}, "joint-swap gives tags by its moves, and learns no silver ones"),
        ({"silver_words": -1}, "silver_words=-1: it should be a whole number, 0 or more"),
    ],
)
def test_choices_that_do_not_go_with_silver_trees_are_refused_at_once(monkeypatch, choices, message):
    monkeypatch.setattr("tanglewood.training.session.sentences_from", lambda _: pytest.fail("read"))
    with pytest.raises(ConfigError, match=message):
        tw.train("train.conllu", silver="parsed.conllu", **choices)


@pytest.mark.parametrize("pipeline", [False, True])
def test_files_without_silver_trees_are_refused_before_anything_is_learnt(
    parsed, text, tmp_path, monkeypatch, pipeline
):
    monkeypatch.setattr("tanglewood.training.session.prepare", lambda *_, **__: pytest.fail("learnt taggers"))
    (tmp_path / "empty.conllu").write_text("")
    (tmp_path / "bare.conllu").write_text("1\twug\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    (tmp_path / "other.conllu").write_text(toy_text(3).replace("punct", "point"))
    for file, error, message in (
        (text, ConfigError, r"text\.txt: raw text, where sentences with tags and trees are expected.*--unlabelled"),
        ("empty.conllu", ConfigError, r"empty\.conllu: there is no sentence; silver data should have some"),
        ("bare.conllu", TreeError, r"bare\.conllu:1: word 1 has no head"),
        ("other.conllu", ConfigError, r"3 of 3 silver sentences have labels \(point\)"),
        ("none.conllu", OSError, r"none\.conllu"),
    ):
        with pytest.raises(error, match=message):
            tw.train("train.conllu", silver=str(file), pipeline=pipeline)
